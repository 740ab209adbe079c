#!/bin/sh
# A study on a real Slurm: run, report, what a trial is given, stop by a rule
# with its grace, a server that is killed and one that goes on.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
. "$TOP_SRCDIR/tests/support/sh/slurm.sh"
need sqlite3
cluster_up

cat >trial <<'END'
#!/bin/sh
env >"$HPOTUNE_OUTPUT_DIR/env"
cat "$CONFIG" >"$HPOTUNE_OUTPUT_DIR/config"
for step in 1 2 3; do
	echo "hpotune: step=$step loss=$1"
	echo "{\"step\": $step, \"other\": $step}" >>"$HPOTUNE_METRICS"
done
printf 'step,val\n1,5\n2,6\n' >"$HPOTUNE_OUTPUT_DIR/log.csv"
END
chmod +x trial
echo 'x: {x}' >config.in
unset PYTHONUNBUFFERED
MARK="it's one"
export MARK
slurm_study run '"trials": 4, "parallel": 4' \
    '"files": { "config.yaml": "config.in" }, "cpus": 1,
    "env": { "GIVEN": "a \"b\" $c", "CONFIG": "{file:config.yaml}" },
    "metrics": [ { "from": "csv", "path": "log.csv" } ]' \
    ', "gpus": "a100:1", "setup": "SET=up; export SET"'
ok 'check accepts it' quietly "$HPOTUNE" check run.json
ok 'four trials run as jobs' quietly timeout 300 "$HPOTUNE" start run.json ||
    diag "$(cat err)" "$(cat cluster/log/slurmctld.log)"
is "$(sql run.db 'SELECT count(*), sum(reports) FROM trials
    WHERE state = '"'completed'")" '4|12' 'all report'
is "$(sql run.db "SELECT count(*) FROM metrics WHERE name = 'other'")" 12 \
    'by the metrics file too'
is "$(sql run.db "SELECT count(*), sum(value) FROM metrics WHERE name = 'val'")" \
    '8|44.0' 'and by a file of the trial'
like "$(sql run.db 'SELECT place FROM attempts')" '^n[1-4] job [0-9]+$' \
    'the place is node and job'
given=$(cat run.d/trials/1/output/env)
like "$given" '^PYTHONUNBUFFERED=1$' 'Python does not hold its output back'
like "$given" "^MARK=it's one\$" 'the environment of the server is passed on'
like "$given" '^GIVEN=a "b" \$c$' 'and that of the study'
is "$(cat run.d/trials/1/output/config)" \
    "x: $(sql run.db 'SELECT x FROM results WHERE trial = 1')" \
    'and a file that was made of a template'
like "$given" '^SET=up$' 'and what setup exports'
like "$given" '^CUDA_VISIBLE_DEVICES=[01]$' 'and its GPU'
like "$given" '^SM_NUM_GPUS=1$' '… counted'
unlike "$given" '^SLURM_GET_USER_ENV=' \
    'no login shell of the user runs on the node before it'
is "$(grep -rla 'MARK=' cluster/state)" '' \
    'Slurm is not given the environment of the server'
like "$given" '^HPOTUNE_CHECKPOINT_DIR=/.*/run\.d/trials/1/checkpoint$' \
    'and its folders'
is "$(stat -c %a run.d/trials/1/attempt-1/env.sh)" 600 \
    'no other user can read its environment'
ok 'no job is left' retry no_job_left

is "$(sql run.db 'SELECT DISTINCT gpus, gpu_seconds > 0 FROM attempts')" \
    '1|1' 'the GPUs of a job are counted'
is "$(sql run.db 'SELECT DISTINCT cpus, cpu_seconds / cpus = seconds
    FROM attempts')" '1|1' 'and its cores'
like "$("$HPOTUNE" status run.json)" '[0-9] GPU hours, [0-9.e-]+ CPU hours' \
    'status has their hours'
cat >trial <<'END'
#!/bin/sh
echo "hpotune: step=1 loss=$1"
sleep 60
END
slurm_study hours '"trials": 4, "parallel": 2, "gpu_hours": 0.002' \
    '"grace": 5, "max_run": "1h", "retries": 1' ', "gpus": 2, "nodes": 2'
like "$("$HPOTUNE" check hours.json)" \
    '^GPU hours  at most 0\.002 \(limits\.gpu_hours, and one grace\)$' \
    'check prints the most that a study can use'
sed 's/, "gpu_hours": 0.002//' hours.json >much.json
like "$("$HPOTUNE" check much.json)" \
    '^GPU hours  at most 32\.04 \(4 trials of 2 attempts, each at most 4\.006\)$' \
    'without the limit, too'
ok 'limits.gpu_hours ends a study' quietly timeout 300 "$HPOTUNE" start hours.json
is "$(sql hours.db "SELECT count(*) FROM trials WHERE state = 'cancelled'
    AND why LIKE 'limits.gpu_hours was reached: %'")" 2 'its trials are stopped'
is "$(sql hours.db 'SELECT sum(gpu_seconds) BETWEEN 6 AND 400 FROM attempts')" 1 \
    'when they have used it'
sed 's/"gpus": 2, //' hours.json >none.json
"$HPOTUNE" check none.json >out 2>err
like "$(cat err)" 'limits\.gpu_hours: no trial has GPUs' 'it needs GPUs'

cat >trial <<'END'
#!/bin/sh
trap 'echo saved >"$HPOTUNE_CHECKPOINT_DIR/saved"; exit 0' TERM
echo "hpotune: step=1 loss=$1"
while :; do sleep 0.1; done
END
slurm_study rule '"trials": 2, "parallel": 2' '"grace": 40' '' \
    '{ "rule": "threshold", "lower": 5 }'
ok 'a rule stops trials' quietly timeout 300 "$HPOTUNE" start rule.json
is "$(sql rule.db "SELECT count(*) FROM trials WHERE state = 'stopped'")" 2 \
    'they are stopped'
is "$(cat rule.d/trials/*/checkpoint/saved)" 'saved
saved' 'each has saved a checkpoint'
ok 'no job of them is left' retry no_job_left

# The server is killed while trials run; the next one follows them.
cat >trial <<'END'
#!/bin/sh
echo "$HPOTUNE_ATTEMPT_UUID" >>"${0%/*}/ledger"
echo "hpotune: step=1 loss=$1"
until [ -e "${0%/*}/go" ]; do sleep 0.1; done
echo "hpotune: step=2 loss=$1"
END
slurm_study adopt '"trials": 3, "parallel": 3' '"grace": 40' ''
server adopt.json
ok 'three trials report' retry sql_is adopt.db \
    'SELECT count(*) FROM metrics WHERE step = 1' 3
kill -9 "$server"
reap "$server"
touch go
ok 'the next server goes on with them' quietly timeout 300 "$HPOTUNE" start \
    adopt.json
is "$(sql adopt.db "SELECT count(*), max(attempts), sum(reports) FROM trials
    WHERE state = 'completed'")" '3|1|6' 'in their first attempts'
is "$(sort ledger | uniq -c | awk '{ print $1 }' | tr '\n' ' ')" '1 1 1 ' \
    'each has run once'

# The user stops a trial that runs, and one that waits in the queue.
rm go
slurm_study user '"trials": 2, "parallel": 2' '"grace": 5, "cpus": 2' \
    ', "extra": ["--nodelist=n1"]'
server user.json
ok 'one runs' retry sql_is user.db \
    "SELECT count(*) FROM trials WHERE state = 'running'" 1
ok 'the other shows why it waits' retry sql_is user.db \
    "SELECT count(*) FROM attempts WHERE place LIKE 'Slurm job%pending: %'" 1
ok 'as the reason of its trial, too' retry sql_is user.db \
    "SELECT count(*) FROM trials WHERE state = 'starting'
    AND why LIKE 'Slurm job%pending: %'" 1
like "$("$HPOTUNE" status user.json)" 'pending: ' 'and in status'
ok 'both are stopped' quietly "$HPOTUNE" stop user.json 1 2
ok 'and cancelled' retry sql_is user.db \
    "SELECT count(*) FROM trials WHERE state = 'cancelled'" 2
ok 'with their jobs' retry no_job_left
reap "$server"

done_testing
