#!/bin/sh
# The grace of a preemption: Slurm tells at its begin only what srun has started.
# Every program saves in it all the same, and none that was told so is completed.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
. "$TOP_SRCDIR/tests/support/sh/slurm.sh"
need sqlite3
cluster_up
echo 'PartitionName=low Nodes=ALL MaxTime=INFINITE State=UP PriorityTier=1 PreemptMode=CANCEL GraceTime=50' \
    >>cluster/etc/slurm.conf
scontrol reconfigure

# Counts on from its checkpoint, which it only saves when it is told to end.
cat >trial <<'END'
#!/bin/sh
at=$HPOTUNE_CHECKPOINT_DIR/step
step=$(cat "$at" 2>/dev/null || echo 0)
# Not between two lines: what it saves is what it has reported.
trap told=yes TERM
told=
while :; do
	step=$((step + 1))
	echo "hpotune: step=$step loss=0.5"
	[ ! -e "$at" ] || exit 0
	sleep 0.2
	[ -n "$told" ] || continue
	# Longer than the time between the end of the grace and a kill.
	sleep ${SAVES:-0}
	echo $step >"$at"
	exit 0
done
END
chmod +x trial

preempted() { # study keys-of-trial keys-of-backend what
	slurm_study "$1" "\"trials\": 1${limits-}" "\"grace\": 60, \"cpus\": 1, \"retries\": 0$2" \
	    ", \"partition\": \"low\", \"extra\": [\"--nodelist=n1\"]$3"
	[ -z "${command-}" ] || sed -i "s|\"command\": .*{x}\"\]|\"command\": [$command]|" "$1.json"
	server "$1.json"
	ok "$4: it is up" retry sql_is "$1.db" 'SELECT reports > 2 FROM trials' 1
	other=$(sbatch --parsable --partition=urgent --nodelist=n1 --exclusive \
	    --output=/dev/null --wrap=true)
	[ -z "${alone-}" ] || without_server "$1"
	ok 'it is told and continues in another attempt' retry sql_is "$1.db" \
	    'SELECT count(*) FROM attempts WHERE started IS NOT NULL' 2
	reap "$server"
	is "$(sql "$1.db" "SELECT group_concat(end_class) FROM
	    (SELECT end_class FROM attempts ORDER BY attempt)")" spot,ok \
	    'one is preempted, the next one completes'
	is "$(sql "$1.db" 'SELECT count(*) = max(step) FROM metrics')" 1 \
	    'from the step that was saved in the grace'
	like "$(cat server.out server.err)" 'preempted by another job of Slurm' \
	    'the reason says so'
	ok 'the other job has run' retry is_over "$other"
}
without_server() { # study
	kill -9 "$server"
	reap "$server"
	ok 'without a server it ends' retry is_over "$other"
	server "$1.json"
}
is_over() { # job
	[ "$(squeue --noheader --states=all --format=%T --jobs="$1")" = COMPLETED ]
}

preempted alone '' '' 'a trial'
preempted several '' ', "trials_per_job": 2' 'in a job of several trials'
preempted launched ', "launcher": "srun", "processes": 1' '' 'by the launcher srun'
command='"srun", "./trial"'
preempted srun '' '' 'by srun in its command'
# The last look: a program that Slurm itself has told may end before anybody else is.
command='"srun", "--ntasks=1", "./trial"'
preempted inner '' ', "trials_per_job": 2' 'by srun in a job of several trials'
command=

# A study of ten thousand jobs: the server asks once for all of them, since each for itself
# would ask too seldom.  Without a server a job asks for itself.
mkdir bin
{
	echo '#!/bin/sh'
	printf '%s "$@" || exit\n' "$(command -v squeue)"
	printf 'case "$*" in\n*--Format=JobID*) cat %s ;;\nesac\n' "$dir/others"
} >bin/squeue
chmod +x bin/squeue
for number in $(seq 999); do
	printf '%-21s%-31s%-200s\n' $((100000 + number)) N/A "hp-other-$number.1-0"
done >others
path=$PATH
PATH=$dir/bin:$PATH
SAVES=6
export SAVES
limits=', "parallel": 10000'
preempted many '' '' 'one of ten thousand jobs'
limits=
PATH=$path
alone=yes
preempted nobody '' '' 'a job without a server'
alone=
unset SAVES
# Where nobody can preempt it, nobody asks.
slurm_study never '"trials": 1' '"grace": 5' ', "partition": "urgent"'
touch stay
server never.json
ok 'one that nobody can preempt is up' retry sql_is never.db \
    'SELECT reports > 0 FROM trials' 1
like "$(cat never.d/trials/1/attempt-1/job.sh)" "'?preempt-ms'?=0 " \
    'its supervisor never asks'
kill "$server"
reap "$server"
ok 'no job is left' retry no_job_left
done_testing
