#!/bin/sh
# Replicates: a setting is tried once for each seed, its value is what they come
# to together, and further ones are begun only for settings that may be the best.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3

# The loss of x and seed: the seeds differ by more than a and b.
cat >trial <<'END'
#!/bin/sh
case $1 in b) base=101;; c) base=500;; d) base=700;; *) base=100;; esac
case $2 in 1) noise=10;; 2) noise=31;; 3) noise=22;; 4) noise=3;; esac
case $1$2 in b2) noise=32;; e1) noise=13;; e2) noise=28;; esac
[ "$1$2" != "$WAITS" ] || sleep 100
echo saved >"$HPOTUNE_CHECKPOINT_DIR/model"
[ "$1$2" != "$FAILS" ] || exit 3
echo "hpotune: step=1 loss=$(($base + $noise))"
if [ "$1$2" = "$STOPS" ]; then
	echo 'hpotune: step=2 loss=9999'
	sleep 100
fi
END
chmod +x trial
study() { # name values trials replicates [members]
	cat >"$1.json" <<END
{ "study": "$1", "objective": { "metric": "loss", "goal": "minimize",
    "value": "last" },
  "parameters": { "x": { "type": "choice", "values": [$2] } },
  "replicates": $4,
  "strategy": { "name": "grid", "seed": 1 }, "stopping": "none",
  "trial": { "command": ["./trial", "{x}", "{seed}"], "retries": 0,
    "env": { "FAILS": "${FAILS-}", "STOPS": "${STOPS-}",
      "WAITS": "${WAITS-}" } },
  ${5-"\"enqueue\": [ $(echo "$2" | sed 's/"[^"]*"/{ "x": & }/g') ],"}
  "limits": { "trials": $3, "parallel": 1 } }
END
}
run() { # name
	ok "$1 runs" quietly timeout 300 "$HPOTUNE" start -q "$1.json" ||
	    diag "$(cat err)"
}

rule() { # name rule program [max_steps]
	sed -e 's/"stopping": "none"/"stopping": { "rule": '"$(echo "$2" |
	    tr -d '\n')"' }/' -e 's|"./trial"|"./'"$3"'"|' \
	    -e 's/"retries": 0/"retries": 0'"${4+, \"max_steps\": $4}/" \
	    "$1.json" >"$1.new" && mv "$1.new" "$1.json"
}

# All replicates of each.
study all '"a", "b"' 10 '{ "parameter": "seed", "count": 4, "racing": false }'
like "$("$HPOTUNE" check all.json)" \
    '^replicates seed is 1, 2, 3, 4: the mean counts$' 'check has a line'
run all
is "$(sql all.db "SELECT setting, state, value, replicates, begun, trials, params,
    rank, trial FROM settings ORDER BY rank")" \
    '1|completed|116.5|4|4|1, 2, 3, 4|{"x":"a"}|1|1
2|completed|117.75|4|4|5, 6, 7, 8|{"x":"b"}|2|5' 'one setting after the other'
is "$(sql all.db 'SELECT trial, setting, replicate FROM trials
    WHERE trial IN (4, 5)')" '4|1|4
5|2|1' 'trials have their setting'
is "$(sql all.db 'SELECT group_concat(seed) FROM results')" 1,2,3,4,1,2,3,4 \
    'each has its value of the parameter'
is "$(sql all.db 'SELECT round(standard_error, 3) FROM settings WHERE rank = 1')" \
    6.225 'the standard error of the mean'
is "$(sql all.db 'SELECT best_trial, best FROM study')" '1|116.5' \
    'the best value is that of the setting'
like "$(sql all.db 'SELECT why FROM t_study')" 'all 2 settings' \
    'the grid ends after the last replicate'
"$HPOTUNE" best all.db >out
is "$(sed -n 2,3p out)" 'setting 1: mean 116.5 +- 6.2 over 4 replicates
better than setting 2, mean 117.75, beyond chance: p = 0.0077, paired over 4 replicates' \
    'best compares by pairs'
like "$("$HPOTUNE" best --json all.db)" \
    '^\{"setting":2,.*"rank":2,"violation":0,"front":0\}\],"p":0.00769' 'as JSON'
like "$("$HPOTUNE" status all.db)" '^best loss 116.5  trial 1  x=a' \
    'status has the value'
like "$("$HPOTUNE" status all.db)" 'setting 1: mean .*; better than setting 2' \
    'and the comparison'
like "$("$HPOTUNE" show all.db 6 | sed -n '/^replicates of/,/^$/p')" \
    '2 +2 +6  completed +133' 'show has the replicates of its setting'
ok 'report' quietly "$HPOTUNE" report all.db -o report.html
like "$(cat report.html)" 'better than setting 2' 'the report compares them, too'

# Other values than the mean.
for what in '"median" 116.0' '"worst" 131.0' '0 103.0' '0.25 108.25'; do
	study aggregate '"a"' 4 '{ "parameter": "seed", "count": 4,
	    "aggregate": '"${what% *}"' }'
	rm -rf aggregate.db* aggregate.d
	quietly timeout 300 "$HPOTUNE" start -q aggregate.json
	is "$(sql aggregate.db 'SELECT value FROM settings')" "${what#* }" \
	    "aggregate ${what% *}"
done

# The best checkpoint is that of the best trial, not of its luckiest replicate.
study kept '"b", "a"' 10 '{ "parameter": "seed", "count": 4, "racing": false }'
sed -i 's/"stopping"/"keep": { "best": 1 }, &/' kept.json
run kept
is "$(ls kept.d/trials/*/checkpoint/model) $(sql kept.db 'SELECT trial FROM best')" \
    'kept.d/trials/5/checkpoint/model 5' 'keep ranks settings'
study pair '"b", "c", "a"' 20 '{ "parameter": "seed", "count": 4, "racing": false }'
sed -i 's/"stopping"/"keep": { "best": 2 }, &/' pair.json
run pair
is "$(echo pair.d/trials/*/checkpoint/model)" \
    'pair.d/trials/1/checkpoint/model pair.d/trials/9/checkpoint/model' \
    'the second best is that of another setting'

# The race: what is far behind gets one.
study race '"a", "e", "c", "d"' 20 '{ "parameter": "seed", "values": [1, 2, 3, 4] }'
run race
is "$(sql race.db "SELECT params, state, begun FROM settings ORDER BY setting")" \
    '{"x":"a"}|completed|4
{"x":"e"}|completed|4
{"x":"c"}|behind|1
{"x":"d"}|behind|1' 'settings that may be the best get all'

# A rule stops a replicate, one fails: its setting is over.
STOPS=a2 WAITS=a1
study stopped '"a", "b"' 8 '{ "parameter": "seed", "count": 4, "racing": false }'
sed -i 's/"stopping": "none"/"stopping": { "rule": "threshold", "upper": 5000 }/;
    s/"parallel": 1/"parallel": 2/' stopped.json
run stopped
STOPS='' WAITS=''
is "$(sql stopped.db 'SELECT state, replicates, begun, rank IS NULL FROM settings
    WHERE setting = 1')" 'stopped|0|2|1' \
    'a setting one of whose replicates was stopped has ended'
is "$(sql stopped.db 'SELECT state, why FROM trials WHERE trial = 1')" \
    "cancelled|replicate 2 of its setting, trial 2, was stopped" \
    'what ran beside it says why it ended'
is "$(sql stopped.db 'SELECT state, replicates FROM settings WHERE setting = 2')" \
    'completed|4' 'the other one has all'
FAILS=a2
study failed '"a", "b"' 8 '{ "parameter": "seed", "count": 4, "racing": false }'
run failed
is "$(sql failed.db 'SELECT state, begun, rank FROM settings
    ORDER BY setting')" 'failed|2|
completed|4|1' 'so has one of which a replicate failed'
FAILS=
sed -i 's/"FAILS": "a2"/"FAILS": ""/' failed.json
ok 'retry' quietly "$HPOTUNE" retry failed.json 2
run failed
is "$(sql failed.db 'SELECT state, begun FROM settings
    ORDER BY setting')" 'completed|4
completed|4' 'after a retry it is whole'
ok 'forget' quietly "$HPOTUNE" forget failed.json 3
is "$(sql failed.db 'SELECT replicates FROM settings ORDER BY setting')" '4
3' 'a forgotten trial is none of its setting' ||
    diag "$(sql failed.db 'SELECT * FROM settings')"
sed -i 's/"trials": 8/"trials": 9/' failed.json
run failed
is "$(sql failed.db 'SELECT trials FROM settings WHERE setting = 2')" '9, 4, 5, 6' \
    'and its replicate is tried again' ||
    diag "$(sql failed.db 'SELECT trial, setting, replicate FROM trials')"

# Rules compare first replicates: a fold that is hard for all stops nobody.
cat >fold <<'END'
#!/bin/sh
case $2 in hard) add=500;; *) add=0;; esac
for step in 1 2 3; do
	echo "hpotune: step=$step loss=$(($1 + $add))"
done
if [ "$1" -ge 150 ] && [ "$2" = easy ]; then
	sleep 100
fi
END
chmod +x fold
study folds '"140", "130", "120", "110", "150"' 20 \
    '{ "parameter": "seed", "values": ["easy", "hard"], "racing": false }'
rule folds '"median", "min_trials": 2, "warmup_steps": 0, "guard": false,
    "second_look": 0' fold
run folds
is "$(sql folds.db "SELECT params ->> 'x', state, replicates FROM settings
    ORDER BY setting")" '140|completed|2
130|completed|2
120|completed|2
110|completed|2
150|stopped|0' 'a hard fold is compared with nothing' ||
    diag "$(sql folds.db 'SELECT * FROM stops')"
# The trial that is stopped had reported one, two or three steps by then.
like "$(sql folds.db "SELECT group_concat(trials) FROM medians")" \
    '^5,[45],[45]$' \
    'the medians are those of first replicates'
like "$("$HPOTUNE" importance --json folds.db)" '"trials":4,' \
    'importance is that of first replicates'
like "$("$HPOTUNE" replay --json folds.db --rule none)" '"trials":5,' \
    'replay has the first replicates'

# A second look at the first replicate: the setting goes on as if it had not
# been stopped.
cat >again <<'END'
#!/bin/sh
saved=$HPOTUNE_CHECKPOINT_DIR/step
if [ "$2" != 1 ] || [ -e "$saved" ]; then
	echo 'hpotune: step=3 loss=5'
	echo 'hpotune: step=4 loss=5'
	exit 0
fi
echo 'hpotune: step=1 loss=1'
echo 2 >"$saved"
echo 'hpotune: step=2 loss=9999'
sleep 100
END
chmod +x again
study looked '"a"' 9 '{ "parameter": "seed", "count": 2 }'
rule looked '"threshold", "upper": 5000, "second_look": "100%"' again 4
run looked
is "$(sql looked.db 'SELECT state, replicates, value FROM settings')" \
    'completed|2|5.0' 'after its second look a setting gets the others' ||
    diag "$(sql looked.db 'SELECT * FROM trials; SELECT * FROM stops')"
is "$(sql looked.db "SELECT trial, verdict FROM stops ORDER BY time")" '1|stop
1|resume' 'which is recorded'

# A rule that pauses: a setting whose first replicate is paused waits with it.
study paused '"140", "130", "120", "110", "150", "160"' 20 \
    '{ "parameter": "seed", "values": ["easy", "hard"], "racing": false }'
rule paused '"asha", "min_resource": 1, "reduction_factor": 2,
    "promote": true, "second_look": 0' fold 3
sed -i 's/ -ge 150/ -ge 999/' fold
run paused
is "$(sql paused.db "SELECT count(*) FROM settings WHERE
    (state = 'completed') <> (replicates = 2) OR state NOT IN
    ('completed', 'stopped')")" 0 'a setting is paused, and goes on, as a whole'
is "$(sql paused.db "SELECT count(*) FROM settings WHERE state = 'stopped' AND
    begun > 1")" 0 'its others are not begun meanwhile' ||
    diag "$(sql paused.db 'SELECT * FROM settings; SELECT * FROM stops')"

# Settings of the user, and trials that another program runs.
study asked '"a", "b"' 20 '{ "parameter": "seed", "count": 2, "racing": false }' \
    '"enqueue": [ { "x": "b" } ],'
is "$("$HPOTUNE" ask --json asked.json | sed 's/.*"params":\({[^}]*}\).*/\1/')" \
    '{"x":"b","seed":1}' 'ask gives the first replicate of what is enqueued'
is "$("$HPOTUNE" ask --json asked.json | sed 's/.*"params":\({[^}]*}\).*/\1/')" \
    '{"x":"b","seed":2}' 'then the second'
quietly "$HPOTUNE" tell asked.json 1 loss=1 --completed
"$HPOTUNE" enqueue asked.json x=a seed=2 >out 2>err
is "$? $(cat err)" '1 hpotune: seed is the parameter of replicates: a setting is tried with all its values' \
    'enqueue takes no value of the parameter'

# What does not go together, or does not change.
refused() { # text
	"$HPOTUNE" check study.json >out 2>err
	is "$? $(sed 's/study.json:[0-9]*:[0-9]*: //' err)" "2 hpotune: $1" "$1"
}
again() { # replicates [members]
	study study '"a"' 4 "$1" "${2-}"
}
good='{ "parameter": "seed", "count": 2 }'
again '{ "parameter": "seed" }'
refused 'replicates: expected one of count and values'
again '{ "parameter": "x", "count": 2 }'
refused 'replicates.parameter: x is one of parameters: leave it out there, its values are those of the replicates'
again '{ "parameter": "trial", "count": 2 }'
refused 'replicates.parameter: a parameter may not be named trial: {trial} in a command means something else'
again '{ "parameter": "seed", "values": [1, 1] }'
refused 'replicates.values[1]: this value is given twice'
again '{ "parameter": "seed", "count": 2, "aggregate": "mode" }'
refused 'replicates.aggregate: expected mean, median or worst'
again "$good" '"warm_start": ["old.db"],'
refused 'replicates: cannot be combined with warm_start: trials of other studies are no replicates'
again "$good"
sed -i 's/"name": "grid"/"name": "grid", "duplicates": "reuse"/' study.json
refused 'replicates: cannot be combined with strategy.duplicates reuse: a setting has several results'
again "$good" '"enqueue": [ { "x": "a", "seed": 1 } ],'
refused 'enqueue[0]: seed is the parameter of replicates: a setting is tried with all its values'
sed -i 's/"count": 4/"count": 3/' all.json
"$HPOTUNE" start all.json >out 2>err
like "$(cat err)" 'replicates: \["seed",\[1,2,3,4\],null\] in the study.s database, \["seed",\[1,2,3\],null\] in study.json' \
    'their number cannot change'

done_testing
