#!/bin/sh
# hpotune try: one trial in the foreground, what is read of it, and nothing
# left behind; hpotune check --log does the same for a log that exists.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"

need sqlite3

mkdir study tmp
TMPDIR=$PWD/tmp
export TMPDIR
cat >study/study.json <<'END'
{ "study": "demo",
  "objective": { "metric": "loss", "goal": "minimize" },
  "parameters": {
    "lr": { "type": "float", "min": 1e-4, "max": 1, "scale": "log" },
    "n": { "type": "int", "min": 1, "max": 9 } },
  "strategy": { "name": "random", "seed": 1 },
  "trial": { "command": ["sh", "trial.sh", "{lr}", "{n}"], "retries": 3,
    "metrics": [ { "name": "loss", "regex": "loss: ([0-9.]+)" },
      { "name": "accuracy", "regex": "acc=([0-9.]+)" } ],
    "step_regex": "^epoch ([0-9]+)" },
  "limits": { "trials": 20, "parallel": 4 } }
END
cat >study/trial.sh <<'END'
echo "lr $1, n $2"
for i in 1 2 3; do echo "epoch $i loss: 0.$((9 - i))"; done
echo '{ "step": 4, "val": 0.25 }' >>"$HPOTUNE_METRICS"
echo 'hpotune: step=x loss=3'
printf 'a \007\033[31mred\033[0m end, loss: 0.05'
END
# What the study's folder and the temporary one hold.
left() {
	(cd study && find . | sort) && (cd tmp && find . | sort)
}
try() { # option …
	(cd study && "$HPOTUNE" try "$@" >../out 2>../err)
}

left >before
try lr=0.125
is $? 0 'a trial that reports all that is needed' || diag "$(cat err)"
like "$(cat out)" '^setting: lr=0.125 n=[1-9]$' 'its setting: the rest by the strategy'
like "$(cat out)" '^lr 0.125, n [1-9]$' 'what it writes is shown'
is "$(grep -A 1 '^epoch 2' out)" 'epoch 2 loss: 0.7
    read: step 2, loss 0.7' 'and under a line what was read of it'
is "$(grep -A 1 'step=x' out)" 'hpotune: step=x loss=3
    not read: a value is not a number' 'or why nothing was'
is "$(grep -A 1 METRICS out)" '$HPOTUNE_METRICS: { "step": 4, "val": 0.25 }
    read: step 4, val 0.25' 'and of the file of metrics'
is "$(grep -A 1 red out)" 'a \x07red end, loss: 0.05
    read: loss 0.05' 'a line without an end, without colours and made harmless'
like "$(cat out)" '^completed after [0-9.]*m?s$' 'how it ended'
like "$(cat out)" '^objective: loss 0.05$' 'its result'
like "$(cat out)" '^loss  *4  *1 to 3  *0.05  *0.05  *0.8$' 'the sum of a metric'
like "$(cat out)" '^val  *1  *4  *0.25 ' 'and of another one'
like "$(cat out)" '^missing: metric accuracy: its pattern in trial.metrics matched no line$' \
    'a pattern that matched nothing is named'
is "$(wc -c <err)" 0 'nothing on standard error'
left >after
ok 'nothing is left of it' cmp before after

try --json n=4 lr=0.5
is $? 0 'as JSON'
is "$(sqlite3 :memory: "SELECT json_extract(readfile('out'), '\$.state'),
    json_extract(readfile('out'), '\$.params.n'),
    json_extract(readfile('out'), '\$.objective'),
    json_extract(readfile('out'), '\$.metrics[0].reports'),
    json_array_length(readfile('out'), '\$.missing')")" \
    'completed|4|0.05|4|1' 'with setting, result, metrics and what is missing'
is "$(sqlite3 :memory: "SELECT json_type(readfile('out'), '\$.why')")" null \
    'try --json: no reason is null'

# A study that exists is not touched.
(cd study && quietly "$HPOTUNE" start -q -n 2)
sum=$(sql study/demo.db 'SELECT count(*), sum(objective) FROM trials')
left >before
try
is $? 0 'beside a study that has run'
left >after
ok 'nothing is left there, too' cmp before after
is "$(sql study/demo.db 'SELECT count(*), sum(objective) FROM trials')" \
    "$sum" 'and the study is what it was'

# Trials that are of no use.
echo 'echo epoch 1 of 3; echo loss of money >&2; exit 3' >study/trial.sh
try
is $? 1 'a trial that fails'
like "$(cat out)" '^failed after .*: .*exit status 3' 'and why'
like "$(cat out)" '^missing: objective loss: its pattern in trial.metrics matched no line; it stands in the line "loss of money" without a number behind it$' \
    'and that its objective was not read'
is "$(grep -c '^loss of money' out)" 1 'it is not tried again'
sed -i 's/"metrics.*$//; /accuracy/d; /step_regex/d; s/"retries": 3,/"retries": 3 },/' \
    study/study.json
echo 'exit 0' >study/trial.sh
try
is $? 1 'a trial without output'
like "$(cat out)" 'print "hpotune: step=N loss=VALUE", or give trial.metrics a pattern$' \
    'a trial without a report: try prints how to report'
cat >study/trial.sh <<'END'
printf '  5%% loss 9\r 50%%\tloss 3\r          \r 99%%\tloss 2\r'
printf 'Best Loss of all\t= none\n'
END
try
is "$(sed -n '2,3p' out)" '...  99%	loss 2
Best Loss of all	= none' 'of a progress bar the last two texts are shown'
like "$(cat out)" '^missing: objective loss: no line reports it; give trial.metrics \{"name": "loss", "regex": "loss \+\(-\?inf\|nan\|\[-\+\.0-9eE\]\+\)"\}, which reads " 99%	loss 2"$' \
    'a line that has the metric: a pattern for it'
like "$(cat out)" 'its last line: Best Loss of all = none$' 'its last line, with a blank for a tab'
sed -i 's/"retries": 3 },/"retries": 3, "metrics": [ { "name": "loss", "regex": "Loss = (.*)" } ] },/' \
    study/study.json
try
like "$(cat out)" '^missing: objective loss: its pattern in trial.metrics matched no line; give trial.metrics .*, which reads ' \
    'also where the pattern of the study does not match'
sed -i 's/, "metrics": .*/ },/' study/study.json
echo 'echo hpotune: val_loss=1' >study/trial.sh
try
like "$(cat out)" '^missing: objective loss: no line reports it; the trial reports val_loss$' \
    'a trial with other metrics: their names'
sed -i 's/"retries": 3 },/"retries": 3, "reads": "tensorboard" },/' study/study.json
echo 'exit 0' >study/trial.sh
try
like "$(cat out)" '^missing: objective loss: no line reports it, and no file of the trial$' \
    'a trial without the files that are named'
sed -i 's/"reads": "tensorboard" },/"metrics": [ { "from": "csv", "path": "m.csv" } ] },/' \
    study/study.json
cat >study/trial.sh <<'END'
echo hpotune: acc=7
printf 'step,loss,acc\n1,0.5,\n2,,0.1\n2,0.25,\n' >"$HPOTUNE_OUTPUT_DIR/m.csv"
END
try
is $? 0 'a trial that writes its metrics to a file'
is "$(grep -A 9 read out | sed '/^$/,$d')" '    read: acc 7
    read from a file: step 1, loss 0.5
    read from a file: step 2, loss 0.25' \
    'what was read of it, without what a line has reported'
like "$(cat out)" '^loss +2  1 to 2 +0.25 +0.25 +0.5$' 'and the sum of it'
sed -i 's/, "metrics": .*/ },/' study/study.json
echo 'echo hpotune: loss=nan' >study/trial.sh
try
is $? 1 'no number at all'
like "$(cat out)" '^missing: objective loss: no report is a finite number$' \
    'is named'

# Interrupted.
echo 'echo hpotune: loss=1; exec sleep 600' >study/trial.sh
background trial "$HPOTUNE" try study/study.json
retry grep -q 'read: loss 1' trial.out
kill -INT "$child"
reap "$child"
is $? 3 'interrupted, it ends'
left >after
ok 'and nothing is left' cmp before after

# Bad input: one clear error, and nothing is begun.
refused() { # what pattern option …
	refused_what=$1
	refused_pattern=$2
	shift 2
	try "$@"
	is $? 2 "$refused_what"
	like "$(cat err)" "^hpotune: $refused_pattern" "$refused_what: it says so"
	is "$(wc -l <err) $(wc -c <out)" '1 0' "$refused_what: in one line"
}
refused 'no such parameter' 'size: the study has no such parameter$' size=3
refused 'out of range' 'n: expected .*1 to 9' n=10
refused 'given twice' 'n: is given twice$' n=1 n=2
refused 'no value' 'two: expected NAME=VALUE$' study.json n=1 two
sed 's/"limits"/"backend": "pretend", "limits"/' study/study.json >study/far.json
left >after2
refused 'another backend' \
    '.*far.json: try runs a trial on this machine, and the backend pretend runs none here$' \
    far.json
sed 's/"sh"/"no-such-program"/' study/study.json >study/none.json
left >after2
try none.json
is $? 1 'a program that does not exist'
like "$(cat err)" '^hpotune: .*no-such-program' 'is named before anything begins'
left >after
ok 'refusals leave nothing' cmp after after2

# A log that exists.
cat >study/log.json <<'END'
{ "study": "log",
  "objective": { "metric": "loss", "goal": "minimize" },
  "parameters": { "n": { "type": "int", "min": 1, "max": 9 } },
  "trial": { "command": ["true"],
    "metrics": [ { "name": "loss", "regex": "loss: ([0-9.]+)" } ],
    "step_regex": "^epoch ([0-9]+)" },
  "limits": { "trials": 20 } }
END
printf 'begin\nepoch 1 loss: 0.5\nepoch 2 loss: 0.25' >log
is "$("$HPOTUNE" check --log log study/log.json)" 'begin
epoch 1 loss: 0.5
    read: step 1, loss 0.5
epoch 2 loss: 0.25
    read: step 2, loss 0.25
metric  reports   steps  last  least  greatest
loss          2  1 to 2  0.25   0.25       0.5' 'a log, line by line, and the sum'
is "$("$HPOTUNE" check --json --log - study/log.json <log)" \
    '{"metrics": [{"name": "loss", "reports": 2, "first_step": 1, "last_step": 2, "last": 0.25, "least": 0.25, "greatest": 0.5}], "missing": []}' \
    'from standard input, as JSON'
head -n 1 log >short
fails 'a log without the objective' 1 \
    "$HPOTUNE" check --log short study/log.json
awk 'BEGIN { for (i = 0; i < 70000; i++) printf "x"; print " loss: 1";
    print "epoch 7 loss: 2" }' >long
is "$("$HPOTUNE" check --log long study/log.json | sed -n '1p;$p')" \
    '    not read: a line of more than 65536 bytes
loss          1      7     2      2         2' 'a line that is too long'
fails 'a log that does not exist' 1 "$HPOTUNE" check --log none study/log.json

# check prints what a number has come to: 30 is not half an hour.
cat >units.json <<'END'
{ "study": "units", "objective": { "metric": "loss", "goal": "minimize" },
  "parameters": { "x": { "type": "float", "min": 0, "max": 1 } },
  "trial": { "command": ["true", "{x}"], "max_run": 30, "grace": 5, "gpus": 0 },
  "limits": { "trials": 4 } }
END
like "$("$HPOTUNE" check units.json)" \
    '^attempt +at most 30s \(trial.max_run\), then SIGTERM, and SIGKILL after 5s$' \
    'check: the longest attempt'

done_testing
