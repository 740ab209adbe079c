#!/bin/sh
# Jobs of several trials: each has a place with its own GPUs, the next trial
# comes when one ends, and what happens to the job happens to its trials alone.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
. "$TOP_SRCDIR/tests/support/sh/slurm.sh"
. "$TOP_SRCDIR/tests/support/sh/slurm-ledger.sh"
need sqlite3
cluster_up

slurm_study nodes '"trials": 2' '"cpus": 1' \
    ', "trials_per_job": 2, "nodes": 2'
"$HPOTUNE" check nodes.json >out 2>err
like "$(cat err)" 'trials_per_job: a job of several trials has one node' \
    'not with several nodes'

cat >trial <<'END'
#!/bin/sh
env >"$HPOTUNE_OUTPUT_DIR/env"
echo begin >>"$HPOTUNE_OUTPUT_DIR/$CUDA_VISIBLE_DEVICES"
echo "hpotune: step=1 loss=$1"
# The first two are there at the same time.
until [ "$HPOTUNE_TRIAL" -gt 2 ] ||
    [ -e "$HPOTUNE_OUTPUT_DIR/../../$((3 - HPOTUNE_TRIAL))/output/env" ]; do
	sleep 0.05
done
[ "$HPOTUNE_TRIAL" != 3 ] || exit 3
END
chmod +x trial
slurm_study run '"trials": 8, "parallel": 4' \
    '"cpus": 1, "gpus": 1, "retries": 0' \
    ', "trials_per_job": 2, "time": "1h", "setup": "SET=up; export SET"'
ok 'check accepts it' quietly "$HPOTUNE" check run.json
ok 'eight trials run' quietly timeout 300 "$HPOTUNE" start run.json ||
    diag "$(cat err)"
is "$(sql run.db 'SELECT state, count(*) FROM trials GROUP BY state')" \
    'completed|7
failed|1' 'one of them fails, and the others complete'
is "$(sql run.db 'SELECT count(DISTINCT place) FROM attempts')" 2 \
    'in two jobs'
is "$(sql run.db 'SELECT DISTINCT gpus, cpus FROM attempts')" '1|1' \
    'each with one GPU and one core'
given=$(cat run.d/trials/1/output/env)
like "$given" '^SM_NUM_GPUS=1$' 'which is what a trial is given'
like "$given" '^CUDA_VISIBLE_DEVICES=[01]$' '… by number'
like "$given" '^SET=up$' 'with what setup exports'
like "$given" '^HPOTUNE_DEADLINE=[0-9]+$' 'and the deadline of the job'
is "$(cat run.d/trials/[12]/output/[01] | wc -l)" 2 'two trials ran side by side'
is "$(find run.d/trials/1/output run.d/trials/2/output -name '[01]' |
    sed 's|.*/||' | sort | tr '\n' ' ')" '0 1 ' 'on different GPUs'
ok 'the jobs end with the study' retry no_job_left
is "$(sql run.db "SELECT why LIKE 'exit status 3%' FROM trials
    WHERE state = 'failed'")" 1 'a failure is that of the program'

# The server dies while trials run and wait in the folder of a job.
ledger_trial 10
slurm_study server '"trials": 6, "parallel": 6' '"cpus": 1' \
    ', "trials_per_job": 2, "extra": ["--exclusive"]'
server server.json
ok 'trials are up' retry sql_is server.db \
    'SELECT count(*) > 3 FROM attempts WHERE started IS NOT NULL' 1
kill -9 "$server"
reap "$server"
server server.json
reap "$server"
is "$(ledger_faults server 6)" '' \
    'after a kill of the server nothing ran twice, nothing is lost'
is "$(sql server.db 'SELECT count(*) FROM attempts')" 6 'one attempt each'
ok 'no job is left of it' retry no_job_left

# All processes of a job die, as when its memory is used up; its node lives.
kill_job() { # id
	grep -lz "^SLURM_JOB_ID=$1\$" /proc/[0-9]*/environ 2>/dev/null |
	    cut -d/ -f3 >pids
	# Stopped first: none of them reports that another one died.
	# shellcheck disable=SC2046 # words of a list
	kill -STOP $(cat pids) 2>/dev/null
	# shellcheck disable=SC2046 # words of a list
	kill -9 $(cat pids) 2>/dev/null
}
: >ledger
slurm_study dies '"trials": 4, "parallel": 4' '"cpus": 1, "grace": 1' \
    ', "trials_per_job": 2'
touch hold
server dies.json
ok 'four trials are up' retry sql_is dies.db \
    'SELECT count(*) FROM attempts WHERE started IS NOT NULL' 4
kill_job "$(sql dies.db 'SELECT substr(place, 8) FROM attempts WHERE trial = 1')"
rm hold
reap "$server"
is "$(sql dies.db 'SELECT state, count(*) FROM trials GROUP BY state')" \
    'completed|4' 'when a job is killed its trials run again'
is "$(ledger_faults dies 4)" '' 'nothing runs twice at once'
is "$(sql dies.db "SELECT count(*) FROM attempts WHERE end_class = 'lost'")" 2 \
    'and the two of that job were lost'
ok 'no job is left of this one' retry no_job_left

: >ledger
slurm_study node '"trials": 4, "parallel": 4' '"cpus": 1' \
    ', "trials_per_job": 2'
touch hold
server node.json
ok 'four more are up' retry sql_is node.db \
    'SELECT count(*) FROM attempts WHERE started IS NOT NULL' 4
node=$(sql node.db 'SELECT substr(place, 1, 2) FROM attempts WHERE trial = 1')
cluster fail "$node"
cluster heal "$node"
rm hold
reap "$server"
is "$(sql node.db 'SELECT state, count(*) FROM trials GROUP BY state')" \
    'completed|4' 'when a node fails its trials run elsewhere'
is "$(sql node.db "SELECT count(*) FROM attempts WHERE attempt > 1 AND
    place LIKE '$node %'")" 0 'and not on that node again'
is "$(ledger_faults node 4)" '' 'nothing of it is lost'
ok 'no job is left then' retry no_job_left

ledger_trial 10
slurm_study cancel '"trials": 4, "parallel": 4' '"cpus": 1' \
    ', "trials_per_job": 2'
touch hold
server cancel.json
ok 'again four are up' retry sql_is cancel.db \
    'SELECT count(*) FROM attempts WHERE started IS NOT NULL' 4
"$HPOTUNE" slurm gc cancel.json >out 2>err
is "$(grep -c 'hp-cancel' out)" 2 'gc lists the two jobs'
is "$(grep hp-cancel out | grep -c owned)" 2 'as those of attempts that run'
"$HPOTUNE" stop cancel.json 1 >out 2>err
ok 'a stop ends one trial' retry sql_is cancel.db \
    "SELECT state FROM trials WHERE trial = 1" cancelled
is "$(sql cancel.db "SELECT count(*) FROM trials WHERE state = 'running'")" 3 \
    'and not the others of its job'
job=$(sql cancel.db "SELECT substr(place, 8) FROM attempts WHERE trial = 1")
scancel "$job"
ok 'its other trial ends while the hold is there' retry sql_is cancel.db \
    "SELECT count(*) FROM trials WHERE state = 'cancelled'" 2
rm hold
reap "$server"
is "$(sql cancel.db 'SELECT state, count(*) FROM trials
    GROUP BY state')" 'cancelled|2
completed|2' "somebody's scancel of a job ends its trials alone"

# A job whose trials do not begin: each says so, and uses its retries.
slurm_study setup '"trials": 1, "failed_trials": 1' '"cpus": 1, "retries": 0' \
    ', "trials_per_job": 2, "setup": "echo no such module >&2; exit 3"'
server setup.json
ok 'setup that fails is quoted' retry grep -q \
    'could not start this trial .*: no such module' server.out server.err
kill "$server"
reap "$server"

# A minute is the shortest limit of Slurm: here it is that of the partition, as
# the study says none.
cat >trial <<'END'
#!/bin/sh
echo $((HPOTUNE_DEADLINE - $(date +%s))) >>"${0%/*}/left"
# Not between a report and its checkpoint.
trap told=yes TERM
told=
step=$(cat "$HPOTUNE_CHECKPOINT_DIR/step" 2>/dev/null || echo 0)
while :; do
	step=$((step + 1))
	echo $step >"$HPOTUNE_CHECKPOINT_DIR/step"
	echo "hpotune: step=$step loss=$1"
	[ ! -e "${0%/*}/go" ] || exit 0
	sleep 0.2
	[ -z "$told" ] || exit 143
done
END
slurm_study wall '"trials": 2' '"grace": 2, "cpus": 1' \
    ', "trials_per_job": 2, "partition": "short"'
server wall.json
ok 'the limit of the job is reached: second attempts' retry sql_is \
    wall.db "SELECT count(*) FROM attempts WHERE attempt = 2
    AND started IS NOT NULL" 2
ok 'the signal is not due in the first half of a minute' \
    awk '$1 < 30 { bad = 1 } END { exit bad || NR < 2 }' left
touch go
reap "$server"
is "$(sql wall.db 'SELECT group_concat(DISTINCT end_class) FROM attempts
    WHERE attempt = 1')" spot 'which continue for free'
is "$(sql wall.db 'SELECT trial FROM metrics GROUP BY trial
    HAVING count(*) <> max(step)')" '' 'from their checkpoints'
ok 'no job is left at the end' retry no_job_left
done_testing
