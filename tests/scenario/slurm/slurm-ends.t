#!/bin/sh
# How jobs end on a real Slurm, and what the attempt is then: cancelled by
# somebody, preempted, its node failed, its time over, not started.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
. "$TOP_SRCDIR/tests/support/sh/slurm.sh"
need sqlite3
cluster_up

# Counts on from its checkpoint, until the file go is there.
cat >trial <<'END'
#!/bin/sh
# Not between a report and its checkpoint.
trap told=yes TERM
told=
step=$(cat "$HPOTUNE_CHECKPOINT_DIR/step" 2>/dev/null || echo 0)
echo "$SLURMD_NODENAME" >>"$HPOTUNE_OUTPUT_DIR/nodes"
while :; do
	step=$((step + 1))
	echo "hpotune: step=$step loss=$1"
	echo $step >"$HPOTUNE_CHECKPOINT_DIR/step"
	echo "${HPOTUNE_DEADLINE-none}" >"$HPOTUNE_OUTPUT_DIR/deadline"
	[ ! -e "${0%/*}/go" ] || exit 0
	sleep 0.2
	[ -z "$told" ] || exit 143
done
END
chmod +x trial
up() { # study number
	retry sql_is "$1.db" "SELECT reports > 0 FROM trials WHERE trial = 1" 1
}
ends() { # study
	sql "$1.db" 'SELECT end_class FROM attempts ORDER BY attempt'
}

why() { # what the server has said
	cat server.out server.err
}

slurm_study cancel '"trials": 1' '"grace": 5' ''
server cancel.json
ok 'a trial is up' up cancel
scancel "$(job_of cancel 1.1)"
reap "$server"
is "$(ends cancel)" user "somebody's scancel ends the trial"
is "$(sql cancel.db 'SELECT state FROM trials')" cancelled '… as cancelled'
like "$(sql cancel.db 'SELECT why FROM trials')" \
    '^job [0-9]+ was cancelled in Slurm .*Slurm has no accounting here' \
    'the reason reports it'
is "$(cat cancel.d/trials/1/output/deadline)" none 'it had no limit'

# Answers of programs of Slurm that this cluster cannot give: an accounting, and
# a job that had no memory.
mkdir fake
cat >fake/sacct <<'END'
#!/bin/sh
name=$(squeue --noheader --states=all --format=%j --jobs="${*##* }")
echo "other|CANCELLED by 77"
echo "$name|CANCELLED by 4294967"
END
cat >fake/squeue <<END
#!/bin/sh
$(command -v squeue) "\$@" | sed 's/|COMPLETED|[^|]*|/|OUT_OF_MEMORY|OutOfMemory|/'
END
chmod +x fake/*
cluster_path=$PATH
PATH=$PWD/fake:$PATH
slurm_study who '"trials": 1' '"grace": 5' ', "time": "1h"'
server who.json
ok 'a trial is up beside an accounting' up who
scancel "$(job_of who 1.1)"
reap "$server"
like "$(sql who.db 'SELECT why FROM trials')" \
    'cancelled in Slurm \(scancel\) by user 4294967: ' 'it says who has cancelled'
late=$(($(cat who.d/trials/1/output/deadline) - $(date +%s)))
like "$late" '^3[0-5][0-9][0-9]$' 'its deadline is before the limit of its job'
mv trial counts
printf '#!/bin/sh\necho "hpotune: step=1 loss=$1"; exit 1\n' >trial
chmod +x trial
slurm_study memory '"trials": 1' '"grace": 5, "retries": 0' ''
server memory.json
reap "$server"
is "$(ends memory)" oom 'a job that had no memory'
mv counts trial
PATH=$cluster_path

slurm_study preempt '"trials": 1' '"grace": 5, "cpus": 2' \
    ', "partition": "main", "extra": ["--nodelist=n1"]'
server preempt.json
ok 'another is up' up preempt
sbatch --partition=urgent --nodelist=n1 --cpus-per-task=2 --output=/dev/null \
    --wrap='sleep 2' >/dev/null
ok 'it is preempted and continues' retry sql_is preempt.db \
    "SELECT count(*) FROM attempts WHERE attempt = 2
    AND started IS NOT NULL" 1
touch go
reap "$server"
is "$(ends preempt)" 'spot
ok' 'a preempted attempt is a free retry'
is "$(sql preempt.db 'SELECT state FROM trials')" completed 'and completes'
like "$(why)" \
    'preempted by another job of Slurm' 'the reason reports it'

rm go
slurm_study node '"trials": 1' '"grace": 5' ''
server node.json
ok 'one more is up' up node
node=$(cat node.d/trials/1/output/nodes)
# Whatever find looks at has just closed a descriptor.
mkdir closing
printf '#!/bin/sh\n%s "$@"\nexit 1\n' "$(command -v find)" >closing/find
chmod +x closing/find
(PATH=$PWD/closing:$PATH; cluster fail "$node")
# shellcheck disable=SC2012 # for links
is "$(ls -l /proc/[0-9]*/fd 2>/dev/null |
    grep -c "$PWD/cluster/log/$node.log")" 0 'no daemon of its node is left'
ok 'its node fails: a second attempt' retry sql_is node.db \
    'SELECT count(*) FROM attempts WHERE attempt = 2' 1
cluster heal "$node"
ok 'which begins' retry sql_is node.db \
    "SELECT count(*) FROM attempts WHERE attempt = 2
    AND started IS NOT NULL" 1
touch go
reap "$server"
is "$(ends node)" 'lost
ok' 'a failed node is a free retry'
like "$(why)" \
    "its node $node failed" 'the reason names the node'
is "$(sort node.d/trials/1/output/nodes | uniq | wc -l)" 2 'on another node'

slurm_study setup '"trials": 1, "failed_trials": 1' '"grace": 5' \
    ', "setup": "echo no such module >&2; exit 3"'
server setup.json
ok 'a job that ends before its supervisor says its last words' retry \
    grep -q 'before its supervisor began: no such module' server.out server.err
kill "$server"
reap "$server"

# A minute is the shortest limit of Slurm.
rm go
slurm_study wall '"trials": 1' '"grace": 2' ', "partition": "short"'
server wall.json
ok 'the limit of the partition is reached: a second attempt' retry sql_is \
    wall.db "SELECT count(*) FROM attempts WHERE attempt = 2
    AND started IS NOT NULL" 1
touch go
reap "$server"
is "$(ends wall)" 'spot
ok' 'which continues for free'
is "$(sql wall.db 'SELECT count(*) = max(step) FROM metrics')" 1 \
    'from its checkpoint'

ok 'no job is left' retry no_job_left
done_testing
