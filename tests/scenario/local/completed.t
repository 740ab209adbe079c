#!/bin/sh
# limits.completed: so many trials complete, whatever fails or is stopped.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3

study() { # name limits [backend]
	cat >"$1.json" <<END
{ "study": "$1", "objective": { "metric": "loss", "goal": "minimize" },
  "parameters": { "x": { "type": "float", "min": 0, "max": 1 } },
  "strategy": { "name": "random", "seed": 1 },
  "stopping": { "rule": "median", "min_trials": 3, "warmup_steps": 1,
    "second_look": 0 },
  "trial": { "command": ["true"], "retries": 0, "max_steps": 5 },
  "backend": { "name": "pretend", "steps": 5, "seconds_per_step": 0.002,
    "seed": 2, "slots": 4 ${3-} },
  "limits": { $2 } }
END
}
count() { # study state
	sql "$1.db" "SELECT count(*) FROM trials WHERE state = '$2'"
}

study some '"completed": 12' ', "fail": 0.5'
like "$("$HPOTUNE" check some.json)" \
    '^trials     until 12 have completed, whatever fails or is stopped$' \
    'check says when the study is over'
like "$("$HPOTUNE" check --json some.json)" '"trials":null,"completed":12,' \
    'and for programs'
quietly "$HPOTUNE" start -q some.json
is "$?:$(count some completed)" '0:12' 'so many complete' || diag "$(cat err)"
is "$(sql some.db "SELECT sum(state = 'failed') > 0, sum(state = 'stopped') > 0,
    sum(state = 'cancelled') FROM trials")" '1|1|0' \
    'others fail or are stopped, and none is cancelled'
like "$("$HPOTUNE" status some.json)" '^ended: 12 of [0-9]+ trials have completed \(limits.completed\)$' \
    'status says why it has ended'
like "$("$HPOTUNE" status some.json)" '^trials [0-9]+: 12 of 12 completed, ' \
    'and counts them'
"$HPOTUNE" report -o r.html some.json
like "$(cat r.html)" '12 of 12 completed' 'the report, too'

# It goes on when the limit is raised; a setting of the user waits for that.
like "$("$HPOTUNE" enqueue some.json x=0.5)" \
    'the setting is kept, but limits.completed is reached: it is tried when more than 12 may complete' \
    'a setting that is added waits'
quietly "$HPOTUNE" ask some.json
like "$(cat err)" 'limits.completed is reached: 12 trials have completed' \
    'a program that asks is told'
study some '"completed": 13' ', "fail": 0'
quietly "$HPOTUNE" start -q some.json
is "$?:$(count some completed):$(sql some.db \
    "SELECT count(*) FROM trials WHERE params ->> 'x' = 0.5")" '0:13:1' \
    'a greater limit continues it' || diag "$(cat err)"

# The log, where no terminal shows the screen: when, what setting, what result and
# the best so far.
study lines '"completed": 3'
sed -i 's/"slots": 4/"slots": 1/' lines.json
"$HPOTUNE" start lines.json >out 2>err
like "$(sed -n 1p err)" '^20[0-9-]{8} [0-9:]{8} trial: 1 starting: x=0\.[0-9]+$' \
    'the log has the day, the time and the setting'
like "$(grep ' 1 completed' err)" \
    ' trial: 1 completed: loss ([0-9.e-]+); best \1, trial 1$' \
    'and the result of each trial with the best so far'

# With limits.trials the first of both ends it.
study both '"completed": 5, "trials": 3'
like "$("$HPOTUNE" check both.json)" '^trials     3, or until 5 have completed' \
    'check says both'
quietly "$HPOTUNE" start -q both.json
is "$(sql both.db 'SELECT count(*) FROM trials')" 3 'limits.trials ends it first'
study last '"completed": 2, "trials": 30'
quietly "$HPOTUNE" start -q last.json
is "$(sql last.db 'SELECT count(*) FROM trials')" 2 'or limits.completed'

# Of a program that always fails none would ever complete.
study none '"completed": 5' ', "fail": 1'
sed -i 's/"max_steps": 5/"max_steps": 50/' none.json # none has all of its steps
quietly "$HPOTUNE" start -q none.json
is "$?:$(sql none.db "SELECT state FROM study")" '1:failed' \
    'a study in which nothing completes ends'
like "$("$HPOTUNE" status none.json)" \
    '^ended: 10[0-9] trials failed and none completed: limits.failed_trials' \
    'after a hundred failures'
done_testing
