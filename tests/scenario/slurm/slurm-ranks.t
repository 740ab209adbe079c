#!/bin/sh
# Trials of several processes in one job, on one node and over several: their
# environment, whose output counts, a stop that reaches all, and that they end
# together when one fails.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
. "$TOP_SRCDIR/tests/support/sh/slurm.sh"
need sqlite3
cluster_up

# mpirun refuses root outside of a container.
OMPI_ALLOW_RUN_AS_ROOT=1
OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM
unset OMP_NUM_THREADS RANK WORLD_SIZE

# What each rank does is up to $DO and its number.
cat >trial <<'END'
#!/bin/sh
trap 'echo "$RANK" >"$HPOTUNE_CHECKPOINT_DIR/rank-$RANK"; exit 7' TERM
env >"$HPOTUNE_OUTPUT_DIR/env-$RANK"
until [ "$(ls "$HPOTUNE_OUTPUT_DIR"/env-* | wc -l)" = "$WORLD_SIZE" ]; do
	sleep 0.05
done
echo "hpotune: step=1 loss=$RANK.5"
echo "this is $RANK"
case $DO$RANK in
fail3)	echo 'it is broken' >&2; exit 5 ;;
esac
[ "$DO" != end ] || exit 0
while :; do sleep 0.1; done
END
chmod +x trial
names='^(RANK|LOCAL_RANK|WORLD_SIZE|LOCAL_WORLD_SIZE|GROUP_RANK|SLURMD_NODENAME)='
run() { # name launcher keys-of-backend what [stopping]
	slurm_study "$1" '"trials": 1' \
	    "\"grace\": 40, \"retries\": 0, \"launcher\": \"$2\", \"processes\": 2,
	    \"env\": { \"DO\": \"$4\", \"PET_REDIRECTS\": \"9:3\", \"PET_TEE\": \"9:3\" }" "$3" ${5+"$5"}
	timeout 300 "$HPOTUNE" start "$1.json" --quiet >out 2>err
}
told() { # study rank
	grep -hE "$names" "$1.d/trials/1/output/env-$2" | sort | tr '\n' ' '
}

launcher_one() { # launcher
	ok "$1: two ranks on one node" run "$1-one" "$1" '' end ||
	    diag "$(cat err "$1-one.d/trials/1/attempt-1"/*.out "$1-one.d/trials/1/attempt-1/log")"
	is "$(sql "$1-one.db" 'SELECT value FROM metrics')" 0.5 'rank 0 reports'
	like "$(told "$1-one" 1)" \
	    '^GROUP_RANK=0 LOCAL_RANK=1 LOCAL_WORLD_SIZE=2 RANK=1 SLURMD_NODENAME=n[1-4] WORLD_SIZE=2 $' \
	    'rank 1 has its number'
}

launcher_two() { # launcher
	ok "$1: four ranks on two nodes" run "$1-two" "$1" ', "nodes": 2' end ||
	    diag "$(cat err "$1-two.d/trials/1/attempt-1"/*.out "$1-two.d/trials/1/attempt-1/log")"
	is "$(sql "$1-two.db" 'SELECT value FROM metrics')" 0.5 'rank 0 reports'
	for k in 0 1 2 3; do
		is "$(told "$1-two" $k)" \
		    "GROUP_RANK=$((k / 2)) LOCAL_RANK=$((k % 2)) LOCAL_WORLD_SIZE=2 RANK=$k SLURMD_NODENAME=n$((k / 2 + 1)) WORLD_SIZE=4 " \
		    "the number of rank $k"
	done
	is "$(cat "$1"-two.d/trials/1/output/env-* | grep -E '^MASTER_(ADDR|PORT)=' |
	    sort | uniq -c | awk '{ print $1 }' | tr '\n' ' ')" '4 4 ' \
	    'all have one address'
	is "$(grep -l '^HPOTUNE_METRICS=' "$1"-two.d/trials/1/output/env-?)" \
	    "$1-two.d/trials/1/output/env-0" 'one has the metrics file'
	like "$("$HPOTUNE" logs "$1-two.json" 1 --rank 3)" '^this is 3$' \
	    'the others have a log each'
	unlike "$(cat "$1-two.d/trials/1/attempt-1/log")" 'this is 3' \
	    'which is not that of the trial'

	ok "$1: a rule stops them" run "$1-stop" "$1" ', "nodes": 2' stop \
	    '{ "rule": "threshold", "upper": 0 }'
	is "$(cat "$1"-stop.d/trials/1/checkpoint/rank-* 2>&1)" '0
1
2
3' 'each has saved its part'

	quietly run "$1-fail" "$1" ', "nodes": 2' fail
	is "$(sql "$1-fail.db" 'SELECT trials.state, end_class FROM trials
	    JOIN attempts USING (trial)')" 'failed|error' "$1: a rank fails"
	is "$(sql "$1-fail.db" 'SELECT why FROM trials')" \
	    'rank 3 ended with status 5: it is broken' 'the reason names it'
	ok 'no process is left' retry none_left "$1-fail"
	ok 'nor a job' retry no_job_left
}
none_left() { # study
	! grep -lz "^HPOTUNE_CHECKPOINT_DIR=$dir/$1\.d/" /proc/[0-9]*/environ \
	    >/dev/null 2>&1
}

launcher_one ranks
launcher_two ranks
is "$(sed -n 's/^OMP_NUM_THREADS=//p' ranks-two.d/trials/1/output/env-3)" 1 \
    'cores are shared by the ranks of a node'
launcher_two srun
if command -v mpirun >/dev/null; then
	launcher_two mpirun
else
	skip 'mpirun' 'NOT RUN: mpirun is not installed'
fi
# In $torch, by its whole path since names are given to others below: one whose
# torchrun can make its store, which it cannot without libuv.
find_torch() {
	for torch in ${HPOTUNE_TEST_TORCH-} python3 /usr/bin/python3; do
		torch=$("$torch" -c 'import sys, torch.distributed as d
d.TCPStore("127.0.0.1", 0, 1, True)
print(sys.executable)' 2>/dev/null) && return
	done
	return 1
}
if find_torch; then
	mkdir bin
	PATH=$dir/bin:$PATH
	printf '#!/bin/sh\nexec "%s" -m torch.distributed.run "$@"\n' "$torch" \
	    >bin/torchrun
	chmod +x bin/torchrun
	launcher_one torchrun
	launcher_two torchrun
else
	skip 'torchrun' 'NOT RUN: no Python with a torch that has libuv ($HPOTUNE_TEST_TORCH)'
fi

# A program that starts its ranks itself is given all nodes.
cat >trial <<'END'
#!/bin/sh
srun sh -c 'echo "$SLURMD_NODENAME $GIVEN $CUDA_VISIBLE_DEVICES"' |
    sort >"$HPOTUNE_OUTPUT_DIR/nodes"
echo "hpotune: step=1 loss=$1"
END
slurm_study self '"trials": 1' '"env": { "GIVEN": "here" }' \
    ', "nodes": 3, "gpus": "a100:2"'
ok 'a program uses three nodes by srun' quietly timeout 300 "$HPOTUNE" start \
    self.json
is "$(cat self.d/trials/1/output/nodes)" 'n1 here 0,1
n2 here 0,1
n3 here 0,1' 'with its environment and GPUs'

slurm_study wrong '"trials": 1' \
    '"launcher": "ranks", "processes": 2, "parameter_servers": 1' ', "nodes": 2'
fails 'parameter servers on several nodes' 2 quietly "$HPOTUNE" check wrong.json
slurm_study wrong '"trials": 1' '"launcher": "srun"' ''
fails 'an unknown number of ranks' 2 quietly "$HPOTUNE" check wrong.json
sed 's/"name": "slurm"/"name": "local"/' wrong.json >local.json
fails 'srun on this machine' 2 quietly "$HPOTUNE" check local.json

done_testing
