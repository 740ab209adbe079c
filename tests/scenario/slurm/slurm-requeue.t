#!/bin/sh
# Jobs that Slurm takes back: the prolog of a node fails, a site requeues jobs for their
# exit status or at a preemption, whatever they ask for.  No trial is lost by it, none
# runs twice, and no job stays in the queue.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
. "$TOP_SRCDIR/tests/support/sh/slurm.sh"
. "$TOP_SRCDIR/tests/support/sh/slurm-ledger.sh"
need sqlite3
cat >prolog <<END
#!/bin/sh
[ ! -e "$dir/broken-\$SLURMD_NODENAME" ]
END
chmod 755 prolog
chmod 755 .
cluster_up "Prolog=$dir/prolog" RequeueExit=3
ledger_trial 2

nodes() { # state node …
	nodes_state=$1
	shift
	for one; do
		scontrol update nodename="$one" state="$nodes_state" reason=test
	done
}

touch broken-n1
nodes drain n2 n3 n4
slurm_study prolog '"trials": 2, "parallel": 2' \
    '"cpus": 1, "grace": 5, "retries": 0' ''
server prolog.json
ok 'the prolog of the only node fails' retry sql_is prolog.db \
    "SELECT count(*) > 0 FROM attempts WHERE end_class = 'lost'" 1
rm broken-n1
nodes resume n1 n2 n3 n4
reap "$server"
is $? 0 'the study ends on other nodes'
is "$(ledger_faults prolog 2)" '' 'each trial has run once'
like "$(sql prolog.db "SELECT why FROM attempts WHERE end_class = 'lost'")" \
    'could not be started on n1 \(CANCELLED.*is .* there, and the node in order' \
    'the reason names the node'
ok 'no job is left' retry no_job_left

: >ledger
: >hold
slurm_study back '"trials": 2, "parallel": 2' \
    '"cpus": 1, "grace": 5, "retries": 0' ''
server back.json
ok 'two trials run' retry sql_is back.db \
    "SELECT count(*) FROM trials WHERE state = 'running'" 2
job=$(job_of back 1.1)
scontrol update jobid="$job" requeue=1
scontrol requeue "$job"
ok 'one that is put back into the queue is preempted' retry sql_is back.db \
    'SELECT end_class FROM attempts WHERE trial = 1 AND attempt = 1' spot
rm hold
reap "$server"
is $? 0 'the study ends'
is "$(ledger_faults back 2)" '' 'nothing runs twice at once'
is "$(sql back.db 'SELECT count(*) FROM attempts')" 3 'in one more attempt'
like "$(sql back.db "SELECT why FROM attempts WHERE end_class = 'spot'")" \
    'put its job back into the queue' 'and the reason says it'
ok 'no job is left' retry no_job_left

: >ledger
slurm_study left '"trials": 1, "parallel": 1' \
    '"cpus": 1, "grace": 5, "retries": 0' \
    ', "setup": "echo no such module >&2; exit 3"'
server left.json
reap "$server"
is $? 1 'a setup that fails is not begun again by Slurm'
is "$(sql left.db 'SELECT end_class FROM attempts')" error 'its attempt has failed'
like "$(sql left.db 'SELECT why FROM trials')" \
    'before its supervisor began: no such module' 'in its words'
is "$(wc -l <ledger)" 0 'nothing has run'
ok 'no job is left' retry no_job_left
done_testing
