#!/bin/sh
# examples/sagemaker gives the same curves here and, as training jobs, on the
# stand-in AWS; only the name and the backend differ.  The queries of
# hpotune-sagemaker(7) run, and the policy it prints allows all calls made.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
. "$TOP_SRCDIR/tests/support/sh/standin.sh"

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
	timeout 300 "$HPOTUNE" start "example/$1.json" --quiet --trials 4 \
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

# ---- the code folder has studies in it ----------------------------------------------

mkdir beside
cp example/src/train.py beside
sed 's/"code": "src\/"/"code": "."/; s/src\/train.py/train.py/
    s/"spirals-far"/"beside"/' example/far.json >beside/beside.json
mkdir beside/other.d beside/mine.d beside/kept
: >beside/other.db
: >beside/other.db-wal
: >beside/mine.d/data
: >beside/lone.db
ok 'code beside two studies' timeout 300 "$HPOTUNE" start beside/beside.json \
    --quiet --trials 1 --state beside/kept
is "$(tar -tzf aws/s3/standin/hpotune/beside-*/code/*/code.tar.gz | sort |
    tr '\n' ' ')" \
    './ ./beside.json ./kept/ ./lone.db ./mine.d/ ./mine.d/data ./train.py ' \
    'all of it is sent, but what the studies keep'

# ---- hpotune-sagemaker(7) ----------------------------------------------------------

page=$TOP_SRCDIR/man/hpotune-sagemaker.7
# The marked displays, as files query-NUMBER and policy-NUMBER; and their marks.
awk '
/^\.\\" (query: |policy)/ { mark = $2; more = $3; next }
/^\.Bd/ && mark { n++; inside = 1; sub(/:/, "", mark); print mark, n, more
    mark = mark "-" n; next }
/^\.Ed/ { inside = 0; mark = "" }
inside { gsub(/\\&/, ""); print >mark }
' "$page" >marks
while read -r kind number mark <&3; do
	[ "$kind" = query ] || continue
	sql example/spirals-far.db "$(cat "query-$number")" >answer
	is $? 0 "query $number: $(head -n 1 "query-$number")"
	[ "$mark" = any ] || ok '… has an answer' test -s answer
done 3<marks
is "$(grep -c '^query' marks)" "$(grep -c '^SELECT' "$page")" \
    'every query was asked'
cat policy-* >policy.json
ok 'the policy is JSON' "$python" -c 'import json
json.load(open("policy.json"))'
grep -rhoE --include='*.c' '"[A-Z][a-z]+[A-Z][A-Za-z]+"' \
    "$TOP_SRCDIR/trials/sagemaker" "$TOP_SRCDIR/trials/notify" | tr -d '"' |
    grep -E '^(Create|Delete|Describe|Filter|Get|List|Put|Receive|Remove|Set|Stop)[A-Z]' |
    grep -vx ReceiveMessageWaitTimeSeconds | # an attribute of a queue
    sort -u >operations
ok 'the program has operations of SageMaker' grep -qx CreateTrainingJob operations
while read -r operation; do
	# A batch needs the right to do one.
	operation=${operation%Batch}
	ok "the policy allows $operation" grep -q ":$operation\"" policy.json
done <operations
ok 'the policy allows Publish' grep -q '"sns:Publish"' policy.json
done_testing
