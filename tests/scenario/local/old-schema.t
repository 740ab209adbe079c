#!/bin/sh
# A database of an earlier version: readers use it as it is, the next start
# migrates it without loss.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"

need sqlite3

cat >study.json <<'END'
{
  "study": "old",
  "objective": { "metric": "loss", "goal": "minimize" },
  "parameters": { "x": { "type": "float", "min": 0, "max": 1 } },
  "strategy": { "name": "random", "seed": 5 },
  "stopping": "median",
  "trial": { "command": ["true"], "max_steps": 3 },
  "backend": { "name": "pretend", "seconds_per_step": 0.01, "slots": 2 },
  "limits": { "trials": 5 }
}
END

newest=$(set -- "$TOP_SRCDIR"/schema/[0-9]*.sql && echo $#)

# Views with their columns, as a reader has them: VIEW COLUMN, in order of name.
# Those of results, best and front are the study's, too (schema-views.c).
columns() { # database
	for view in $views; do
		"$HPOTUNE" sql --json "$1" "SELECT * FROM $view" >rows.json ||
		    echo "$view cannot be read"
		sqlite3 :memory: "SELECT '$view ' || value
		    FROM json_each(readfile('rows.json'), '$.columns')"
	done | LC_ALL=C sort
}
views=$(sed -n '/^\.Sh THE VIEWS/,/^\.Sh QUERIES/s/^\.Ss //p' \
    "$TOP_SRCDIR/man/hpotune-db.5" | grep -v -e results -e best -e front)
ok 'there are views' test "$(echo "$views" | wc -l)" -gt 30

scenario() { # file, version
	rm -rf old.db* old.d
	sqlite3 old.db <"$TOP_SRCDIR/tests/data/$1"
	# Journal modes are no part of a dump.
	sqlite3 old.db 'PRAGMA journal_mode = WAL' >/dev/null
	was=$(sql old.db 'SELECT trial, objective, state FROM t_trial')

	like "$("$HPOTUNE" best old.db)" '^trial [13], completed: loss 0' \
	    "schema $2: a reader reads it"
	for command in status trials 'show --json' 'status --json' 'show' \
	    'trials --json' 'export --json' \
	    'export --force --output=old.optuna --format=optuna'; do
		ok "$command does" sh -c \
		    '"$HPOTUNE" $0 old.db $1 >/dev/null' "$command" \
		    "$(case $command in show*) echo 1 ;; esac)"
	done
	columns old.db >old.columns
	like "$("$HPOTUNE" sql old.db 'SELECT DISTINCT forgotten,
	    typeof(git_commit) AS t FROM best')" '0 +null' 'with what a trial is'
	is "$(sql old.db 'PRAGMA user_version')" "$2" 'and leaves it as it is'
	ok 'even where it may not write' sh -c 'chmod 400 old.db &&
	    "$HPOTUNE" replay old.db --rule none >/dev/null'
	chmod 600 old.db

	mkdir -m 700 old.d
	ok 'the next start brings it up to date' \
	    "$HPOTUNE" start --quiet study.json
	is "$(sql old.db 'SELECT schema_version FROM study')" "$newest" 'to this schema'
	is "$(sql old.db 'SELECT trial, objective, state FROM t_trial
	    WHERE trial <= 3')" "$was" 'with its trials as they were'
	is "$(sql old.db 'SELECT trials, completed + stopped FROM study')" \
	    '5|5' 'and continues'
	is "$(sql old.db 'SELECT cost, committed FROM costs')" '|' 'for nothing'
	is "$(sql old.db 'SELECT (SELECT count(*) FROM gpus), gpu_seconds,
	    energy_joules, gpu_utilization FROM attempts LIMIT 1')" '0|||' \
	    'and without a GPU'
	is "$(sql old.db 'PRAGMA integrity_check')" ok 'in one piece'
	columns old.db >new.columns
	is "$(cat old.columns)" "$(cat new.columns)" \
	    'before that readers had the same columns'
	ok 'readers read it' sh -c '"$HPOTUNE" best old.db >/dev/null'
}

scenario study-schema-1.sql 1
scenario study-schema-3.sql 3

done_testing
