#!/bin/sh
# trial.reads, trial.metrics with "from": what programs write to files and to
# standard output is read without a change, and after a restart nothing is read
# twice or lost.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3

recorded=$(cd "$TOP_SRCDIR" && pwd)/tests/data/metrics
study() { # name metric keys-of-trial
	cat >"$1.json" <<EOF
{ "study": "$1", "objective": { "metric": "$2", "goal": "minimize" },
  "parameters": { "x": { "type": "float", "min": 0, "max": 1 } },
  "trial": { $3, "gpus": 0 }, "limits": { "trials": 2, "parallel": 2 } }
EOF
}
reads() { # preset file metric
	study "$1" "$3" '"command": ["cat", "'"$recorded/$2"'"], "reads": "'"$1"'"'
	ok "$1: a program that prints as it does" \
	    "$HPOTUNE" start --quiet "$1.json"
}
reads lightgbm lightgbm.txt valid/binary_logloss
is "$(sql lightgbm.db "SELECT name, group_concat(step), min(value) FROM metrics
    WHERE trial = 1 GROUP BY name")" 'train/auc|1,2,3|0.995463
train/binary_logloss|1,2,3|0.471465
valid/auc|1,2,3|1.0
valid/binary_logloss|1,2,3|0.45522' 'lightgbm: all metrics with their steps'
reads xgboost xgboost.txt eval-logloss
is "$(sql xgboost.db "SELECT group_concat(objective) FROM results")" \
    '0.23103,0.23103' 'xgboost: each trial has its result'
reads keras keras-1.txt val_loss
is "$(sql keras.db "SELECT step, value FROM metrics WHERE trial = 1 AND
    name = 'val_loss'")" '1|0.9072
2|0.9004
3|0.8937' 'keras: the epoch is in another line'
reads fasttext fasttext.txt avg.loss

# Files as libraries have written them, in folders of their own choice.
printf '#!/bin/sh\nmkdir -p "$(dirname "$2")" && cp "$1" "$2"\n' >put
chmod +x put
writes() { # name recorded path metric keys-of-trial
	study "$1" "$4" '"command": ["{study_dir}/put", "'"$recorded/$2"'",
	    "'"$3"'"], "workdir": "{output_dir}", '"$5"
	ok "$1: a program that writes as it does" \
	    "$HPOTUNE" start --quiet "$1.json"
	sql "$1.db" "SELECT group_concat(step || '=' || round(value, 4), ' ')
	    FROM metrics WHERE trial = 1 AND name = '$4'" >curve
}
writes sb3 sb3.csv logs/progress.csv rollout/ep_rew_mean '"reads": "sb3"'
is "$(tail -n 1 curve)" '128=17.7143 256=17.8333 384=19.9474 512=19.4231' \
    'sb3: steps are time steps, wherever their column stands'
writes mmengine mmengine.json 20261127_063048/vis_data/scalars.json accuracy \
    '"reads": "mmengine"'
is "$(tail -n 1 curve)" '1=0.84 2=0.88 3=0.885 4=0.88' \
    'mmengine: a folder with a time in its name'
writes ultralytics ultralytics.csv runs/train/results.csv val/cls_loss \
    '"reads": "ultralytics"'
is "$(tail -n 1 curve)" '1=0.5988 2=0.5988 3=0.5988' 'ultralytics: the epoch'
writes monitor sb3-monitor.csv logs/monitor.csv r \
    '"metrics": [ { "from": "csv", "path": "logs" } ]'
is "$(tail -n 1 curve)" '1=16.0 2=11.0 3=17.0' \
    'monitor: a comment stands before the header'
writes catboost-learn catboost-learn.tsv catboost_info/learn_error.tsv Logloss \
    '"metrics": [ { "from": "csv", "path": "*/learn_error.tsv" } ]'
is "$(tail -n 1 curve)" '0=0.6019 1=0.53 2=0.4916 3=0.4561' \
    'catboost: tabs, and a pattern of its folder'
writes keras-lines keras-2.txt out/train.log val_loss \
    '"metrics": [ { "path": "out/*.log", "reads": "keras" } ]'
is "$(tail -n 1 curve)" '1=0.9072 2=0.9004 3=0.8937' \
    'keras: lines that are in a file'
writes pattern keras-2.txt out/train.log acc '"metrics": [
    { "path": "out/train.log", "name": "acc",
      "regex": " - accuracy: ([.0-9]+)" } ]'
is "$(tail -n 1 curve | cut -d ' ' -f 1)" "1=$(sed -n \
    's/.* - accuracy: \([.0-9]*\) .*/\1/p' "$recorded/keras-2.txt" | head -n 1)" \
    'a pattern of a file'

# Nothing is found: where a program that writes elsewhere would have to run.
missed() { # name keys-of-trial
	study "$1" loss '"command": ["true"], "retries": 0, '"$2"
	"$HPOTUNE" start --quiet "$1.json" 2>/dev/null
	sql "$1.db" 'SELECT why FROM trials WHERE trial = 1'
}
found='it ended without a report: nothing that trial.reads and trial.metrics name was found'
is "$(missed elsewhere '"reads": "tensorboard"')" "$found in {output_dir}: a \
program that writes to its working folder needs \"workdir\": \"{output_dir}\"" \
    'no file, and the program runs in the folder of study.json'
is "$(missed there '"reads": "lightning", "workdir": "{output_dir}"')" "$found" \
    'no file, and it runs in a folder of its own'
is "$(missed named '"metrics": [ { "from": "csv",
    "path": "{output_dir}/a.csv" } ]')" "$found" \
    'no file, and its path names the folder'
is "$(missed lines '"reads": "keras"')" "$found" 'no line'

# Half a row, the rest later; then the file is written anew with a new column.
cat >train <<'END'
#!/bin/sh
mkdir -p lightning_logs/version_0
cd lightning_logs/version_0
printf 'epoch,step,loss\n0,5,0.' >metrics.csv
[ -n "$1" ] || sleep 0.4
printf '5\n1,9,0.4\n' >>metrics.csv
while [ -n "$1" ] && [ ! -e "$1" ]; do sleep 0.05; done
printf 'epoch,step,loss,val\n0,5,0.5,\n1,9,0.4,\n1,9,,0.3\n' >metrics.csv
END
chmod +x train
study lightning loss '"command": ["{study_dir}/train"],
    "workdir": "{output_dir}", "reads": "lightning"'
ok 'lightning: a file that is written anew' \
    "$HPOTUNE" start --quiet lightning.json
is "$(sql lightning.db "SELECT name, step, value FROM metrics WHERE trial = 2
    ORDER BY 1, 2")" 'epoch|5|0.0
epoch|9|1.0
loss|5|0.5
loss|9|0.4
val|9|0.3' 'lightning: every value once'

"$HPOTUNE" show lightning.json 2 >out
like "$(cat out)" '^trial 2: completed, loss 0.4 at step 9, 2 reports' \
    'show: the step of the best value'
like "$(cat out)" '^val  *1  *9  *0.3  *0.3  *9  *0.3  *9$' \
    'show: every metric, with the steps of its least and greatest value'

# The server is killed after it has read a part.
study again loss '"command": ["{study_dir}/train", "'"$PWD/go"'"],
    "workdir": "{output_dir}", "metrics": [ { "from": "csv",
    "path": "lightning_logs", "tag": "val", "name": "val_loss" } ]'
server again.json
retry sql_is again.db 'SELECT count(*) FROM metrics' 8
kill -9 "$server"
reap "$server" 2>/dev/null
: >go
ok 'a server that goes on after a kill' "$HPOTUNE" start --quiet again.json
is "$(sql again.db "SELECT trial, name, count(*), max(step) FROM metrics
    GROUP BY 1, 2 ORDER BY 1, 2")" '1|epoch|2|9
1|loss|2|9
1|val_loss|1|9
2|epoch|2|9
2|loss|2|9
2|val_loss|1|9' 'nothing is read twice, nothing is lost, a tag has its name'

# try and check --log show what is read.
"$HPOTUNE" try lightning.json >out
is $? 0 'try: a metric of a file is enough'
like "$(cat out)" '^loss  *2  *5 to 9  *0.4  *0.4  *0.5$' \
    'try: what the files gave is in the table'
"$HPOTUNE" check lightgbm.json --log "$recorded/lightgbm.txt" >out
like "$(cat out)" 'read: step 3, train/binary_logloss 0.471465' \
    'check --log: the lines of trial.reads are read'
done_testing
