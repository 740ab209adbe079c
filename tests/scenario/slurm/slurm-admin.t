#!/bin/sh
# What an administrator does to jobs and nodes: hold and release, requeue, drain,
# suspend, another partition: no trial is lost or runs twice, and the reason is said.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
. "$TOP_SRCDIR/tests/support/sh/slurm.sh"
. "$TOP_SRCDIR/tests/support/sh/slurm-ledger.sh"
need sqlite3
cluster_up
ledger_trial 10

# Nodes are full, so that jobs wait.
for n in n1 n2 n3 n4; do
	scontrol update nodename=$n state=drain reason='a new disk'
done
slurm_study held '"trials": 2, "parallel": 2' '"cpus": 1, "grace": 5' ''
server held.json
two_wait() {
	[ "$(squeue --me --noheader --states=PENDING | wc -l)" -eq 2 ]
}
ok 'two jobs wait' retry two_wait
shows() { # text: status and why say it
	"$HPOTUNE" status held.json | grep -q "$1"
}
ok 'status says that the nodes are drained' retry shows 'pending: ReqNodeNotAvail'
job=$(squeue --me --noheader --format=%A | head -n 1)
scontrol hold "$job"
ok 'a job that is held is said' retry shows 'JobHeld'
for n in n1 n2 n3 n4; do
	scontrol update nodename=$n state=resume
done
ok 'the other one runs' retry sql_is held.db \
    "SELECT count(*) FROM trials WHERE state IN ('running', 'completed')" 1
is "$(sql held.db 'SELECT count(*) FROM attempts WHERE started IS NOT NULL')" 1 \
    'the one that is held does not'
scontrol release "$job"
reap "$server"
is "$(ledger_faults held 2)" '' 'after its release it runs, once'
is "$(sql held.db 'SELECT count(*) FROM attempts')" 2 'one attempt each'

: >ledger
: >hold
slurm_study again '"trials": 3, "parallel": 3' '"cpus": 1, "grace": 5, "retries": 0' ''
server again.json
ok 'three trials run' retry sql_is again.db \
    "SELECT count(*) FROM trials WHERE state = 'running'" 3
set -- $(squeue --me --noheader --format=%A)
scontrol requeue "$1" >>admin.out 2>&1
scontrol requeuehold "$2" >>admin.out 2>&1
ok 'another one is suspended' quietly scontrol suspend "$3"
says() { # text
	"$HPOTUNE" status again.json | grep -q "$1"
}
ok 'status says it' retry says "Slurm job $3, SUSPENDED: its processes stand still"
kill -9 "$server"
reap "$server" 2>/dev/null
ok 'it is resumed' quietly scontrol resume "$3"
server again.json
goes_on() {
	! says SUSPENDED
}
ok 'a server that was away meanwhile says it no more' retry goes_on
ok 'it is suspended again' quietly scontrol suspend "$3"
ok 'status says that, too' retry says "Slurm job $3, SUSPENDED"
scontrol resume "$3"
ok 'and that it goes on' retry goes_on
cat admin.out >&2
rm hold
reap "$server"
is $? 0 'requeued, held and suspended: the study ends'
is "$(ledger_faults again 3)" '' 'nothing ran twice, nothing is lost'
ok 'no job is left' retry no_job_left
done_testing
