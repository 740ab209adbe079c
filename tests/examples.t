#!/bin/sh
# examples/sagemaker runs here and, as training jobs, on the stand-in AWS, with
# the same curves; and nothing but the name and the backend differs.

. "$TOP_SRCDIR/tests/lib.sh"
. "$TOP_SRCDIR/tests/standin.sh"

need sqlite3 python3 tar gzip
cp -r "$TOP_SRCDIR/examples/sagemaker" example
chmod -R u+w example

rest() { # file: without comments, name and backend
	sed '/^ *\/\//d; /"study":/d; /"backend": {.*}/d
	    /"backend": {/,/^  },/d' "$1"
}
is "$(rest example/far.json)" "$(rest example/study.json)" \
    'the two studies differ in name and backend alone'
like "$(rest example/far.json)" '"command"' '… and have a trial'

run() { # name: its study, four trials of it
	timeout 120 "$HPOTUNE" start "example/$1.json" --quiet --trials 4 \
	    >"$1.out" 2>"$1.err" || { diag "$(cat "$1.err")"; return 1; }
}
ok 'here' run study
standin --bucket standin \
    --faults '{"spot_interrupt": {"p": 0.5, "max": 1, "seconds": 0.5}}'
sed -i 's/"pace": 20/"pace": 50/' example/far.json
ok 'there' run far

# Whichever of the two a rule has stopped earlier ends the comparison.
sql example/spirals-far.db "ATTACH 'example/spirals.db' AS here;
    SELECT count(*), sum(a.value <> b.value) FROM curves AS a
    JOIN here.curves AS b USING (trial, step)" >both
like "$(cat both)" '^[4-9][0-9]\|0$' 'the same curves'
is "$(sql example/spirals-far.db 'SELECT count(*) FROM trials
    WHERE state IN ("completed", "stopped")')" 4 'all trials'
like "$(sql example/spirals-far.db 'SELECT cost > 0 FROM costs')" 1 \
    'they cost something'
proved_clean 'the example'
done_testing
