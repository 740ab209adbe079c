#!/bin/sh
# Trials that reach max_run: trial.on_max_run, and the result in views, best,
# report, export and the next server.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"

need sqlite3

cat >train <<'END'
#!/bin/sh
[ "$1" = mute ] || printf 'hpotune: step=%s loss=%s\n' 1 0.5 2 0.25
[ "$1" = mute ] || [ "$1" = one ] || echo 'hpotune: step=2 size=7'
exec sleep 100
END
chmod +x train

one='"objective": { "metric": "loss", "goal": "minimize" }'
two='"objectives": [ { "metric": "loss", "goal": "minimize" },
      { "metric": "size", "goal": "minimize" } ]'
study() { # name kind trial-member [objective]
	cat >"$1.json" <<-END
	{ "study": "$1",
	  ${4:-$one},
	  "parameters": { "x": { "type": "float", "min": 0, "max": 1 } },
	  "strategy": { "name": "random", "seed": 1 },
	  "stopping": "none",
	  "backend": "local",
	  "trial": { "command": ["./train", "$2"], "max_steps": 10, "gpus": 0,
	    "max_run": "1s", "grace": "1s" $3 },
	  "limits": { "trials": 1 } }
	END
}
study default all ''
study completed all ', "on_max_run": "completed"'
study failed all ', "on_max_run": "failed"'
study mute mute ', "on_max_run": "completed"'
study both all ', "on_max_run": "completed"' "$two"
study one one ', "on_max_run": "completed"' "$two"
waits=
for name in default completed failed mute both one; do
	server "$name.json"
	waits="$waits $server"
done
for server in $waits; do
	reap "$server"
done

row() { # name
	sql "$1.db" "SELECT state, objective, step, end_class, t.why
	    FROM trials AS t JOIN (SELECT trial, end_class FROM attempts)
	    USING (trial)"
}
why='timeout|max_run was reached'
is "$(row default)" "stopped|0.25|2|$why" 'stopped where no reason is given'
is "$(row completed)" "completed|0.25|2|$why" 'completed as asked'
is "$(row failed)" "failed|0.25|2|$why" 'failed as asked'
is "$(row mute)" "failed|||$why" 'without a value it has failed'
is "$(row both)" "completed|0.25|2|$why" 'completed with all objectives'
is "$(row one)" "stopped|0.25|2|$why" 'not with one of two'
is "$(sql both.db 'SELECT count(*) FROM front') $(sql one.db \
    'SELECT count(*) FROM front')" '1 0' 'the front has what completed'
is "$(sql default.db 'SELECT state, stopped, failed, best FROM study')" \
    'finished|1|0|0.25' 'the study counts it'
is "$(sql failed.db 'SELECT state, stopped, failed FROM study')" \
    'failed|0|1' 'or its failure'
is "$(sql default.db 'SELECT steps_run, steps_skipped FROM savings')" '2|0' \
    'its steps are not saved ones'
like "$("$HPOTUNE" best default.json)" '0\.25' 'best shows it'
like "$("$HPOTUNE" export default.db --json)" '"state": ?"stopped"' \
    'the export has its state'
ok 'a report' quietly "$HPOTUNE" report default.db --output=page.html
like "$(cat page.html)" '1 of 1: 1 stopped early' 'counts it as stopped'
unlike "$(cat page.html)" 'did not end well' 'and as no failure'
ok 'a report of the failure' quietly "$HPOTUNE" report failed.db \
    --output=failed.html
like "$(cat failed.html)" '<td>timeout</td>' 'has its class'

# The next server reads the same.
sed -i 's/"trials": 1/"trials": 2/' default.json
ok 'it goes on' "$HPOTUNE" start default.json --quiet
is "$(sql default.db 'SELECT state, stopped, best_trial FROM study')" \
    'finished|2|1' 'with the stopped trial of the first run'
sed 's/"max_run": "1s"/"max_run": "1s", "on_max_run": "kept"/' default.json >x.json
like "$("$HPOTUNE" check x.json 2>&1)" \
    'trial.on_max_run: expected .*stopped.*completed.*failed' 'another word'
done_testing
