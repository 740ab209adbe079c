#!/bin/sh
# Commands that change several things, killed before every seventh of their system
# calls (KILL_STEP=1: of each): the same command completes what one has begun, and
# then all is as after one that was not killed.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
. "$TOP_SRCDIR/tests/support/sh/kills.sh"
need sqlite3

mkdir whole
cd whole || exit 99
cat >s.json <<'END1'
{ "study": "s", "objective": { "metric": "loss", "goal": "minimize" },
  "parameters": { "x": { "type": "int", "min": 1, "max": 4 } },
  "strategy": { "name": "grid", "shuffle": false, "seed": 4 },
  "trial": { "command": ["sh", "-c", "cd \"$HPOTUNE_CHECKPOINT_DIR\" && mkdir -p a/b && echo {x} >a/b/model && [ {x} -ne 2 ] && echo hpotune: step=1 loss={x}"], "retries": 0 },
  "limits": { "trials": 4, "parallel": 1 } }
END1
"$HPOTUNE" start --quiet s.json
sed -i 's/"trial":/"keep": { "best": 1 }, "trial":/' s.json
printf 'x,v\n1,2\n3,4\n' >trials.csv
ok 'a study' sql_is s.db 'SELECT count(*) FROM trials' 4
cd ..

# What the folder holds: rows of trials, files, and texts that were written.
state() {
	for db in *.db; do
		sql "$db" "SELECT trial, state, forgotten, note FROM trials
		    ORDER BY trial"
		sql "$db" "SELECT count(DISTINCT text) FROM events
		    WHERE area = 'checkpoint'"
	done
	find . -name 'model' -o -name 'trash' -o -name '*-trials.json' -o \
	    -name 'out.json' | sort
	cat out.json out-trials.json 2>/dev/null
}
completes() { # call command …
	completes_call=$1
	shift
	timeout 300 "$@" >../out 2>../err
	state >../got
	cmp -s ../got ../want || wrong="$wrong $completes_call"
}
total=0
survives() { # what command …
	survives_what=$1
	shift
	rm -rf at
	cp -a whole at
	cd at || exit 99
	timeout 300 "$@" >../out 2>../err
	state >../want
	cd ..
	wrong=
	kill_each "$survives_what" "${KILL_STEP:-7}" completes "$@"
	is "$wrong" '' "$survives_what: $kills kills are survived"
	total=$((total + kills))
}
survives forget "$HPOTUNE" forget s.json 2 3
survives retry "$HPOTUNE" retry s.json 2
survives clean "$HPOTUNE" clean s.json
survives note "$HPOTUNE" note s.json 1 a note
survives import "$HPOTUNE" import csv --metric v --goal minimize --params x \
    --output out.json trials.csv
ok "$total kills" [ $total -gt 20 ]
done_testing
