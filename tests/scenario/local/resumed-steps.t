#!/bin/sh
# A library whose lines have no step of the trial goes on from a checkpoint: the
# second attempt continues the steps of the first, also by another server, and one
# that begins anew replaces them.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3

recorded=$(cd "$TOP_SRCDIR" && pwd)/tests/data/metrics
cp "$recorded/hf-1.txt" "$recorded/hf-2.txt" .
sed '/continued/,$d' "$recorded/xgboost-continued.txt" >xgb-1.txt
sed '1,/continued/d' "$recorded/xgboost-continued.txt" >xgb-2.txt

# The first attempt prints one file and fails; the next prints the first line of
# another, waits for a file "go" where it is asked to, and prints the rest.
cat >train <<'END'
#!/bin/sh
c=$HPOTUNE_CHECKPOINT_DIR/c
if [ ! -e "$c" ]; then
	: >"$c"
	cat "$1"
	exit 1
fi
head -n 1 "$2"
while [ -n "$3" ] && [ ! -e "$3" ]; do sleep 0.05; done
sed 1d "$2"
END
chmod +x train
study() { # name metric reads first second [go]
	cat >"$1.json" <<EOF
{ "study": "$1", "objective": { "metric": "$2", "goal": "minimize" },
  "parameters": { "x": { "type": "float", "min": 0, "max": 1 } },
  "trial": { "command": ["{study_dir}/train", "{study_dir}/$4",
      "{study_dir}/$5", "${6-}"],
    "reads": "$3", "gpus": 0 }, "limits": { "trials": 1 } }
EOF
}
curve() {
	sql "$1.db" 'SELECT step, round(value, 5) FROM curves ORDER BY 1' |
	    tr '\n' ' '
}
six='0|0.48949 1|0.37046 2|0.30039 3|0.24941 4|0.21617 5|0.18869 '

study hf eval_loss hf hf-1.txt hf-2.txt
ok 'transformers: a training that is resumed' "$HPOTUNE" start --quiet hf.json
is "$(curve hf)" '1|0.6409 2|0.5927 3|0.5512 4|0.515 ' \
    'its epochs go on, and the evaluation at the end is none'
is "$(sql hf.db "SELECT group_concat(step) FROM (SELECT step FROM metrics
    WHERE name = 'loss' ORDER BY 1)")" 1,2,3,4,5,6,7,8 'its losses, too'

study hf-again eval_loss hf hf-1.txt hf-1.txt
"$HPOTUNE" start --quiet hf-again.json 2>/dev/null
is "$(curve hf-again)" '1|0.6409 2|0.5927 ' \
    'transformers: a training that begins anew replaces its epochs'

study xgb eval-logloss xgboost xgb-1.txt xgb-2.txt
ok 'XGBoost: a model that is continued' "$HPOTUNE" start --quiet xgb.json
is "$(curve xgb)" "$six" 'its rounds go on'
is "$(sql xgb.db "SELECT attempt, text FROM events WHERE area = 'report'")" \
    '2|its steps begin at 0 again, but its eval-logloss is near that of step 2 of an earlier attempt: they are counted from 3' \
    'which an event says'
is "$(sql xgb.db "SELECT group_concat(step) FROM (SELECT step FROM metrics
    WHERE name = 'eval-error' ORDER BY 1)")" 0,1,2,3,4,5 'of every metric'

study xgb-again eval-logloss xgboost xgb-1.txt xgb-1.txt
"$HPOTUNE" start --quiet xgb-again.json 2>/dev/null
is "$(curve xgb-again)" '0|0.48949 1|0.37046 2|0.30039 ' \
    'XGBoost: a model that begins anew replaces its rounds'

# A checkpoint of round 1, which the first attempt has passed: its line comes again.
{ sed -n 3p xgb-1.txt; cat xgb-2.txt; } |
    awk '{ sub(/[0-9]+/, NR - 1); print }' >xgb-3.txt
study xgb-behind eval-logloss xgboost xgb-1.txt xgb-3.txt
"$HPOTUNE" start --quiet xgb-behind.json 2>/dev/null
is "$(curve xgb-behind)" "$six" 'XGBoost: a model of an earlier round goes on there'

# The server is killed while the second attempt runs.
killed() { # name reports
	server "$1.json"
	retry sql_is "$1.db" 'SELECT count(*) FROM metrics' "$2"
	kill -9 "$server"
	reap "$server" 2>/dev/null
	: >go
	ok "$1: a server that goes on after a kill" \
	    "$HPOTUNE" start --quiet "$1.json"
	rm go
}
study xgb-killed eval-logloss xgboost xgb-1.txt xgb-2.txt "$PWD/go"
killed xgb-killed 8
is "$(curve xgb-killed)" "$six" 'XGBoost: the rounds go on'
sed 1d hf-2.txt >hf-3.txt
study hf-killed eval_loss hf hf-1.txt hf-3.txt "$PWD/go"
killed hf-killed "$(sql hf.db 'SELECT count(*) + 4 FROM metrics
    WHERE attempt = 1')"
is "$(curve hf-killed)" '1|0.6409 2|0.5927 3|0.5512 4|0.515 ' \
    'transformers: the epochs go on'
done_testing
