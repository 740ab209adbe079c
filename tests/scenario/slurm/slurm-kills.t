#!/bin/sh
# kill -9 of the server, of the controller of Slurm and of nodes at random
# moments over a study, with answers of sbatch that are lost: nothing runs twice,
# nothing is lost, no job and no open row is left.  SLURM_KILLS=500 kills more
# often, SLURM_SEED=N repeats the order, SLURM_PER_JOB=2 has jobs of 2 trials.
# SLURM_PACK=3: a program of hpotune-pack has 3 trials at once, and it and what serves
# it are killed, too.
# SLURM_SITE=1, by root: the study is that of an ordinary user in a hidden partition,
# the controller another one's, and jobs of others preempt trials, with a grace.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
. "$TOP_SRCDIR/tests/support/sh/slurm.sh"
. "$TOP_SRCDIR/tests/support/sh/slurm-ledger.sh"
need sqlite3
where=
if [ -n "${SLURM_SITE-}" ]; then
	. "$TOP_SRCDIR/tests/support/sh/slurm-site.sh"
	site_up
	site_add 'PartitionName=secret Nodes=ALL Hidden=YES MaxTime=INFINITE State=UP PriorityTier=1 PreemptMode=CANCEL GraceTime=10'
	where=', "partition": "secret"'
else
	cluster_up
fi
PATH=$(cluster wrap):$PATH
kills=${SLURM_KILLS:-30}
trials=$((kills + 10))

pack=
if [ -n "${SLURM_PACK-}" ]; then
	ledger_program
	pack=", \"pack\": $SLURM_PACK, \"max_steps\": 6, \"retries\": 1000"
else
	ledger_trial 5 ${where:+1}
fi
seed=${SLURM_SEED:-$$}
diag "SLURM_SEED=$seed"
# The next number below $1 in $random.
next() {
	seed=$(((seed * 1103515245 + 12345) % 2147483648))
	random=$((seed / 65536 % $1))
}

slurm_study kills "\"trials\": $trials, \"parallel\": 8" "\"grace\": 5$pack" \
    "${pack:+, \"time\": \"1h\"}${SLURM_PER_JOB:+, \"trials_per_job\": $SLURM_PER_JOB}$where"
# A packed program reads its parameters.
[ -z "$pack" ] || sed -i 's/, "{x}"//' kills.json
[ -z "$where" ] || site_give
server kills.json
n=0 servers=0 controllers=0 lost=0 failed=0 preempted=0 programs=0
# Processes of hpotune-pack that serve a program of this study, and the programs.
serving() {
	for pid in $(pgrep -f 'bin/hpotune-pack-[0-9a-f]* serve'); do
		case $(readlink "/proc/$pid/exe") in
		"$dir"/kills.d/bin/*)
			echo "$pid"
			pgrep -P "$pid"
			;;
		esac
	done
}
# The most jobs that could begin a trial, as the controller has them: those that a
# controller remembers although their trial has begun do nothing.
most=0
waiting_count() {
	[ "${SLURM_PER_JOB:-1}$pack" = 1 ] || return
	waiting=$(squeue --all --noheader --states=PENDING --format=%j 2>err |
	    sed -n 's|^hp-kills-[^-]*-\([0-9]*\)[.]\([0-9]*\)-.*|\1/attempt-\2|p' |
	    while read -r of; do
		[ -e "kills.d/trials/$of/claim" ] || echo "$of"
	    done | wc -l)
	[ "$waiting" -le $most ] || most=$waiting
}
while [ $n -lt "$kills" ]; do
	n=$((n + 1))
	next 20
	sleep "$((random / 10)).$((random % 10))"
	waiting_count
	next 9
	# 4 controllers, 4 servers, a node; at a site a job of others for one of each.
	if [ -n "$where" ] && { [ "$random" = 3 ] || [ "$random" = 7 ]; }; then
		preempted=$((preempted + 1))
		next 4
		sbatch --partition=urgent --nodelist=n$((random + 1)) \
		    --exclusive --time=1 --output=/dev/null --chdir=/ \
		    --wrap='sleep 1' >out 2>err || :
	elif [ -n "$pack" ] && [ "$random" -gt 5 ] && serving >some && [ -s some ]; then
		programs=$((programs + 1))
		next "$(wc -l <some)"
		kill -9 "$(sed -n $((random + 1))p some)" 2>err || :
	elif [ "$random" -lt 4 ]; then
		controllers=$((controllers + 1))
		next 4
		[ "$random" != 0 ] || {
			lost=$((lost + 1))
			printf . >>"$dir/cluster/lose"
			chmod 666 "$dir/cluster/lose"
		}
		cluster crash
		next 10
		sleep "0.$random"
		cluster controller
	elif [ "$random" -eq 8 ]; then
		failed=$((failed + 1))
		next 4
		node=n$((random + 1))
		cluster fail $node 2>err || :
		next 10
		sleep "0.$random"
		cluster heal $node 2>err || :
	elif kill -0 "$server" 2>/dev/null; then
		servers=$((servers + 1))
		kill -9 "$server"
		reap "$server"
		server kills.json
	else
		break
	fi
done
diag "kills: $controllers of the controller, $servers of the server, $failed of nodes; $programs of packed programs or what serves them; $lost answers of sbatch lost; $preempted preemptions; $most jobs waited at most"
for node in n1 n2 n3 n4; do
	scontrol update nodename=$node state=resume 2>err || :
done
reap "$server" || "$HPOTUNE" start kills.json --quiet >out 2>err ||
    diag "$(cat err)"

diag "attempts: $(sql kills.db 'SELECT end_class || " " || count(*) FROM attempts
    GROUP BY end_class' | tr '\n' ';')"
# Why each attempt of a trial that had several ended.
diag "$(sql kills.db 'SELECT trial, attempt, end_class, why FROM attempts
    WHERE trial IN (SELECT trial FROM attempts WHERE attempt > 1)')"
is "$(ledger_faults kills $trials)" '' 'nothing ran twice, nothing is lost'
is "$(sql kills.db "SELECT count(*) FROM trials WHERE state = 'completed'")" \
    $trials 'all trials are completed'
# A report of a packed program that was written and not yet read goes with it.
[ -n "$pack" ] || is "$(sql kills.db 'SELECT count(*) FROM (SELECT DISTINCT trial, step
    FROM metrics)')" $((5 * trials)) 'every report is there'
[ "$most" -le 8 ]
verdict $? 'no more jobs waited than trials may run'
ok 'no job is left' retry no_job_left

done_testing
