#!/bin/sh
# Doubts about what a study measures: in the terminal, in status, on the page,
# each once.  tests/unit/tuner/t_study_doubts.c has the conditions.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3

study() { # name objective trials keys-of-trial command
	cat >"$1.json" <<-EOF
	{ "study": "$1", "objective": $2,
	  "parameters": { "x": { "type": "float", "min": 0, "max": 1 } },
	  "trial": { "command": $5$4 }, "stopping": "none",
	  "limits": { "trials": $3, "parallel": 1 } }
	EOF
}
loss='{ "metric": "loss", "goal": "minimize" }'
doubts() { # name
	sql "$1.db" "SELECT trial, substr(text, 1, instr(text, ': ') - 1)
	    FROM events WHERE area = 'doubt' ORDER BY trial"
}

# Nothing depends on the setting: in every place, and once.
study same "$loss" 7 '' \
    '["sh", "-c", "for s in 1 2 3; do echo hpotune: step=$s loss=0.$((9-s)); done"]'
"$HPOTUNE" start -n 6 same.json >out 2>&1
is "$(doubts same)" '|all results are equal' 'a study that measures nothing'
is "$(grep -c 'warning: doubt: all results are equal: 5 trials' out)" 1 \
    'the terminal has it once'
"$HPOTUNE" start same.json >out 2>&1
is "$(grep -c 'all results are equal' out)" 0 'the next server does not say it again'
is "$("$HPOTUNE" status same.db | grep -c '^doubt: all results are equal: 5 trials .* its parameters?$')" \
    1 'status has it'
is "$("$HPOTUNE" status --json same.db >status.json; sqlite3 :memory: \
    "SELECT json_extract(readfile('status.json'), '\$.doubts[0].text') LIKE
    'all results are equal: %',
    json_array_length(readfile('status.json'), '\$.doubts')")" '1|1' \
    'and its JSON'
"$HPOTUNE" report -o page.html same.db
ok 'and the page' grep -q '<dd>all results are equal: 5' page.html

# The same program, which uses its setting.
study own "$loss" 7 '' \
    '["sh", "-c", "for s in 1 2 3; do echo hpotune: step=$s loss={x}; done"]'
"$HPOTUNE" start -q own.json 2>err
is "$(doubts own)" '' 'one that uses its setting is not doubted'
unlike "$("$HPOTUNE" status own.db)" '^doubt' 'nor in status'

# The attempts of a trial: the second begins with what the first has left.
cat >train <<'EOF'
#!/bin/sh
# train file how: reports to 6, and fails at 3 the first time
c=$HPOTUNE_CHECKPOINT_DIR/epoch e=0
[ "$1" = keep ] && [ -f "$c" ] && e=$(cat "$c")
while [ $e -lt 6 ]; do
	e=$((e + 1))
	case $2 in
	none) echo "loss=$((10 - e))" ;;
	step) echo "step=$e loss=$((10 - e))" ;;
	esac
	[ "$1" = nothing ] || echo $e >"$c"
	[ $e -ne 3 ] || [ "$HPOTUNE_ATTEMPT" -gt 1 ] || exit 1
done
EOF
chmod +x train
reads=', "retries": 1, "step_regex": "step=([0-9]+)", "metrics": [ { "name": "loss", "regex": "loss=([0-9.]+)" } ]'
for how in 'keep step' 'keep none' 'again step' 'nothing step' 'nothing none'; do
	name=$(echo "$how" | tr ' ' -)
	# shellcheck disable=SC2086
	study "$name" "$loss" 1 "$reads" \
	    "[\"{study_dir}/train\", \"${how% *}\", \"${how#* }\"]"
	"$HPOTUNE" start "$name.json" >"$name.out" 2>&1
done
is "$(doubts keep-step)" '' 'a program that goes on with its steps'
is "$(doubts keep-none)" '1|steps begin again' 'one that prints no step'
like "$(cat keep-none.out)" \
    'warning: doubt: trial 1: steps begin again: its attempt 2 began with the checkpoint of one that had come to step 3, and its first report is of step 1, counted here' \
    'with the steps'
is "$(doubts again-step)" '1|steps begin again' 'one that does not read its checkpoint'
is "$(doubts nothing-step)$(doubts nothing-none)" '' \
    'one without checkpoints begins again'

# Folds: each of them begins with step 1.
study folds "$loss" 1 '' \
    '["sh", "-c", "for f in 1 2; do for s in 1 2 3; do echo hpotune: step=$s loss=0.$f$s; done; done"]'
"$HPOTUNE" start -q folds.json 2>err
is "$(doubts folds)" '1|steps are repeated' 'one attempt trains several times'
study once "$loss" 1 '' \
    '["sh", "-c", "for s in 1 2 3 1 4 3 5 5; do echo hpotune: step=$s loss=0.$s; done"]'
"$HPOTUNE" start -q once.json 2>err
is "$(doubts once)" '' 'a value that is printed again'

# A crash after the work, of which nothing says that it is done.
for max in '' ', "max_steps": 3'; do
	study "ends${max:+-max}" "$loss" 2 ", \"retries\": 0$max" \
	    '["sh", "-c", "for s in 1 2 3; do echo hpotune: step=$s loss={x}; done; exit 3"]'
	"$HPOTUNE" start -q "ends${max:+-max}.json" 2>err
done
is "$(doubts ends)" '|trials end badly after the same step' 'max_steps is not known'
is "$(doubts ends-max)" '' 'it is'

# A goal that cannot be meant: by the name, and by all curves.
for metric in accuracy score neg_accuracy; do
	study "$metric" "{ \"metric\": \"$metric\", \"goal\": \"minimize\" }" 5 '' \
	    "[\"sh\", \"-c\", \"for s in 1 2 3; do echo hpotune: step=\$s $metric=0.\$((s)){trial}; done\"]"
	"$HPOTUNE" start -q "$metric.json" 2>err
done
is "$(doubts accuracy)" '|the goal is against the metric' 'accuracy is minimized'
is "$(doubts score)$(doubts neg_accuracy)" '' 'names that do not tell'
study falls '{ "metric": "val_acc", "goal": "minimize" }' 5 '' \
    '["sh", "-c", "for s in 1 2 3; do echo hpotune: step=$s val_acc=0.$((9-s)){trial}; done"]'
"$HPOTUNE" start -q falls.json 2>err
is "$(doubts falls)" '' 'nor an accuracy that falls'
done_testing
