#!/bin/sh
# Trials of several processes on this machine: their environment, whose output
# counts, which one caused a failure, and that they end together.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3

HPOTUNE_GPU_LOCKS=$dir/locks
export HPOTUNE_GPU_LOCKS
unset OMP_NUM_THREADS
ranks=$TOP_BUILDDIR/hpotune-ranks

make_study() { # name trial-keys [top-keys]
	cat >"$1.json" <<-END
	{ "study": "$1",
	  "objective": { "metric": "score", "goal": "maximize" },
	  "parameters": { "x": { "type": "float", "min": 0, "max": 1 } },
	  "strategy": "random", "stopping": "none",
	  "backend": { "name": "local", "gpus": 0 },
	  "trial": { "command": ["./$1"], "launcher": "ranks", "retries": 0,
	    $2 },
	  "limits": { "trials": 1, "parallel": 1 } }
	END
	{ echo '#!/bin/sh'; cat; } >"$1"
	chmod +x "$1"
}
run() { # name
	timeout 300 "$HPOTUNE" start "$1.json" --quiet >"$1.out" 2>"$1.err"
}
# How many processes have the folder of a study in their environment.
alive() { # study
	grep -lz "^HPOTUNE_CHECKPOINT_DIR=$dir/$1\.d/" /proc/[0-9]*/environ \
	    2>/dev/null | wc -l
}
none_alive() {
	[ "$(alive "$1")" -eq 0 ]
}
all_there() { # pattern number: so many files
	[ "$(ls $1 2>/dev/null | wc -l)" -eq "$2" ]
}

# ---- what each is told ---------------------------------------------------------------

make_study told '"processes": 3, "cpus": 1,
    "metrics": [ { "name": "score", "regex": "score is ([0-9]+)" } ]' <<'END'
env >"$HPOTUNE_OUTPUT_DIR/env-$RANK"
echo "I am $RANK, score is 10$RANK"
echo "hpotune: step=5 score=20$RANK"
[ "$RANK" != 0 ] || echo '{"step": 7, "score": 300}' >>"$HPOTUNE_METRICS"
echo "error of $RANK" >&2
END
ok 'a trial of three processes' run told
out=told.d/trials/1/output
log=told.d/trials/1/attempt-1
for k in 0 1 2; do
	is "$(grep -E '^(RANK|LOCAL_RANK|WORLD_SIZE|LOCAL_WORLD_SIZE|GROUP_RANK|MASTER_ADDR|OMP_NUM_THREADS)=' \
	    $out/env-$k | sort | tr '\n' ' ')" \
	    "GROUP_RANK=0 LOCAL_RANK=$k LOCAL_WORLD_SIZE=3 MASTER_ADDR=127.0.0.1 OMP_NUM_THREADS=1 RANK=$k WORLD_SIZE=3 " \
	    "the names of rank $k"
done
is "$(cat $out/env-? | grep '^MASTER_PORT=' | sort -u | wc -l)" 1 \
    'all have the same port'
port=$(sed -n 's/^MASTER_PORT=//p' $out/env-0)
low=$(cut -f 1 /proc/sys/net/ipv4/ip_local_port_range)
ok 'below those of the kernel' test "$port" -ge 1024 -a "$port" -lt "$low"
is "$(grep -l '^HPOTUNE_METRICS=' $out/env-?)" $out/env-0 \
    'rank 0 alone has the metrics file'
is "$(grep -l '^TF_CONFIG=' $out/env-?)" '' 'no rank has TF_CONFIG'
is "$(sql told.db 'SELECT step, value FROM metrics ORDER BY 1')" '1|100.0
5|200.0
7|300.0' 'metrics are those of rank 0'
is "$(cat $log/log)" 'I am 0, score is 100
hpotune: step=5 score=200
error of 0' 'its output is the log'
is "$(cat $log/rank-1.log)" 'I am 1, score is 101
hpotune: step=5 score=201
error of 1' 'the others have theirs'
is "$("$HPOTUNE" logs told.db 1 --rank 1)" "$(cat $log/rank-1.log)" \
    'which the command logs prints'
fails 'of a rank that there is' 1 quietly "$HPOTUNE" logs told.db 1 --rank 7
is "$(stat -c %a $log/rank-1.log $log/rank-2.log | sort -u)" 600 'private'
ok '… of each' test -s $log/rank-2.log
is "$(stat -c '%a %F' locks)" '1777 directory' 'locks are in a folder of all'
is "$(stat -c %a locks/* | sort -u)" 666 '… and may be used by all'

# A value of one's own is left alone, and cores are shared.
rm -rf told.d told.db*
OMP_NUM_THREADS=5 run told
is "$(sed -n 's/^OMP_NUM_THREADS=//p' $out/env-2)" 5 'threads as the user says'

# With several GPUs there is a process for each, and all see all of them.
make_study each '"gpus": 2, "batch": { "global": 6 }' <<'END'
echo "$RANK of $WORLD_SIZE: $HPOTUNE_BATCH of $HPOTUNE_GLOBAL_BATCH on" \
    "$HPOTUNE_GPU_UUIDS, $OMP_NUM_THREADS" >"$HPOTUNE_OUTPUT_DIR/$RANK"
echo 'hpotune: score=1'
END
sed -i 's/"gpus": 0 }/"gpus": { "simulate": 2 } }/' each.json
like "$("$HPOTUNE" check each.json)" '^launcher +ranks: 2 processes$' \
    'one process for each GPU'
ok 'they run' run each
is "$(cat each.d/trials/1/output/[01] | sed 's/, [1-9][0-9]*$//')" \
    '0 of 2: 3 of 6 on SIM-0,SIM-1
1 of 2: 3 of 6 on SIM-0,SIM-1' 'see all GPUs, and have a share of the batch'

# ---- the first to fail ---------------------------------------------------------------

make_study cause '"processes": 3, "grace": 5,
    "metrics": [ { "name": "score", "regex": "score ([0-9]+)" } ]' <<'END'
echo $$ >>$HPOTUNE_OUTPUT_DIR/pids
case $RANK in
0)	echo 'hpotune: score=1'
	trap 'echo yes >$HPOTUNE_OUTPUT_DIR/told; exit 1' TERM ;;
1)	trap '' TERM ;;
2)	until [ "$(wc -l <$HPOTUNE_OUTPUT_DIR/pids)" = 3 ] &&
	    grep -q score= "${HPOTUNE_OUTPUT_DIR%/output}/attempt-1/log"; do
		sleep 0.02
	done
	printf 'a progress bar\rscore 77 \033[31mbad\033[0m thing\n\n' >&2
	exit 5 ;;
esac
while :; do sleep 0.1; done
END
run cause
is $? 1 'a rank fails'
is "$(sql cause.db 'SELECT exit_code, end_class FROM attempts')" '5|error' \
    'the trial ends as the first that failed'
want='rank 2 ended with status 5: score 77 \x1b[31mbad\x1b[0m thing'
is "$(sql cause.db 'SELECT why FROM trials')" "$want" \
    '… which is the reason, with the last that it said'
is "$(tail -n 1 cause.d/trials/1/attempt-1/log)" "hpotune-ranks: $want" \
    'the log has it, too'
is "$(sql cause.db 'SELECT count(*) FROM metrics')" 1 \
    'what is quoted there is no report'
is "$(cat cause.d/trials/1/output/told)" yes 'the others got SIGTERM'
ok 'and those that are deaf to it SIGKILL' retry none_alive cause

# A launcher that frames what it says, and Open MPI's to root.
mkdir bin
cat >bin/mpirun <<'END'
#!/bin/sh
echo '--------------------------------------------------------'
cat mpirun.says
echo '--------------------------------------------------------'
exit 1
END
chmod +x bin/mpirun
make_study framed '"processes": 2' <<'END'
END
sed -i 's/"launcher": "ranks"/"launcher": "mpirun"/' framed.json
echo 'There are not enough slots' >mpirun.says
PATH=$dir/bin:$PATH run framed
is "$(sql framed.db 'SELECT why FROM trials')" \
    'the launcher ended with status 1: There are not enough slots' \
    'what frames the words of a launcher is not the reason'
rm -r framed.db* framed.d
cat >mpirun.says <<'END'
mpirun has detected an attempt to run as root.

You can override this protection by setting two environment variables: the
variable OMPI_ALLOW_RUN_AS_ROOT=1 and OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1.
We reiterate our advice against doing so.
END
PATH=$dir/bin:$PATH run framed
as_root='the launcher ended with status 1: as root, Open MPI needs OMPI_ALLOW_RUN_AS_ROOT=1 and OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 in trial.env'
is "$(sql framed.db 'SELECT why FROM trials')" "$as_root" \
    'where it refuses root the reason names the variables to set'

# PyTorch's, where it was built without libuv as Debian 13's is.
rm -r framed.db* framed.d
cat >mpirun.says <<'END'
    result = self._store_builder(timeout)
torch.distributed.DistStoreError: use_libuv was requested but PyTorch was built without libuv support, run with USE_LIBUV=0 to disable it.
END
PATH=$dir/bin:$PATH run framed
is "$(sql framed.db 'SELECT why FROM trials')" \
    'the launcher ended with status 1: this PyTorch has no libuv, which its torchrun needs: use launcher ranks, with USE_LIBUV=0 in trial.env' \
    'where torchrun cannot start the reason names what can'

make_study signal '"processes": 2, "grace": 1' <<'END'
[ $RANK = 0 ] || kill -SEGV $$
while :; do sleep 0.1; done
END
run signal
is "$(sql signal.db 'SELECT signal, end_class, trials.why FROM attempts
    JOIN trials USING (trial)')" \
    '11|error|rank 1 was ended by signal 11 (Segmentation fault)' \
    'the same with a signal'

make_study early '"processes": 2' <<'END'
[ $RANK = 0 ] || { echo $$ >early-1; exit 0; }
until [ -e early-1 ] && ! kill -0 "$(cat early-1)" 2>/dev/null; do
	sleep 0.02
done
echo 'hpotune: score=3'
END
ok 'a rank may end well before the others' run early

make_study none '"processes": 2' <<'END'
END
printf '\177ELF' >none
sed -i 's/"retries": 0/"retries": 2/' none.json
run none
is "$(sql none.db 'SELECT attempts, state, why FROM trials')" \
    '1|failed|cannot run ./none: Exec format error (it is no program for this machine)' \
    'a command that cannot be executed is tried once'

# ---- stopped by a rule ---------------------------------------------------------------

make_study ruled '"processes": 3, "grace": 60' <<'END'
trap 'echo $RANK >$HPOTUNE_CHECKPOINT_DIR/rank-$RANK; exit 0' TERM
: >"$HPOTUNE_OUTPUT_DIR/ready-$RANK"
until [ "$(ls "$HPOTUNE_OUTPUT_DIR"/ready-* | wc -l)" = 3 ]; do sleep 0.1; done
echo 'hpotune: step=1 score=1'
while :; do sleep 0.1; done
END
sed -i 's/"stopping": "none"/"stopping": {"rule": "threshold", "upper": 0}/' \
    ruled.json
ok 'a rule stops it' run ruled
is "$(sql ruled.db 'SELECT trials.state, end_class, signal FROM trials
    JOIN attempts USING (trial)')" 'stopped|stopped|' 'it is stopped'
is "$(cat ruled.d/trials/1/checkpoint/*)" '0
1
2' 'each rank had the time to save'
ok 'nothing is left' retry none_alive ruled

# ---- kills ------------------------------------------------------------------------

cat >wait <<'END'
#!/bin/sh
trap '' TERM
(trap '' TERM; while [ -e wait ]; do sleep 0.1; done) &
echo 'hpotune: step=1 score=1'
echo "$RANK $HPOTUNE_ATTEMPT" >>ledger
until [ -e go ]; do sleep 0.05; [ -e wait ] || exit 1; done
[ $RANK != 0 ] || echo 'hpotune: step=2 score=2'
END
chmod +x wait
make_study killed '"processes": 3' <wait
server killed.json
ok 'three ranks are up' retry all_there 'killed.d/trials/1/attempt-1/rank-?.log' 2
retry grep -q '^2 1' ledger
keeper() { # study
	for keeper_exe in /proc/[0-9]*/exe; do
		[ "$(readlink "$keeper_exe")" = "$ranks" ] || continue
		keeper_pid=${keeper_exe#/proc/}
		keeper_pid=${keeper_pid%/exe}
		grep -qz "^HPOTUNE_CHECKPOINT_DIR=$dir/$1\.d/" \
		    "/proc/$keeper_pid/environ" && echo "$keeper_pid"
	done
}
kill -9 "$(keeper killed)"
reap $server
is $? 1 'kill -9 of their keeper is the end of the trial'
is "$(sql killed.db 'SELECT signal, end_class FROM attempts')" '9|error' \
    '… killed'
ok 'nothing is left of it' retry none_alive killed

rm -f ledger
make_study adopted '"processes": 3' <wait
server adopted.json
begun() {
	[ -e ledger ] && [ "$(wc -l <ledger)" = 3 ]
}
ok 'three ranks are up' retry begun
kill -9 $server
reap $server 2>/dev/null
ok 'kill -9 of the server ends no rank' test "$(alive adopted)" -ge 5
server adopted.json
ok 'the next one finds them' retry sql_is adopted.db \
    "SELECT state FROM trials" running
: >go
reap $server
is $? 0 'and finishes the study'
is "$(sort ledger)" '0 1
1 1
2 1' 'nobody began twice'
is "$(sql adopted.db 'SELECT attempts, objective FROM trials')" '1|2.0' \
    'in one attempt'
rm -f go wait

# ---- ports ------------------------------------------------------------------------

# Other tests lease ports, too, for as long as their trials run.
HPOTUNE_GPU_LOCKS=$PWD/locks
export HPOTUNE_GPU_LOCKS

make_study ports '"processes": 1' <<'END'
echo $MASTER_PORT >port-$HPOTUNE_TRIAL
until [ "$(ls port-* | wc -l)" = 3 ] || ! [ -e ports ]; do sleep 0.1; done
echo 'hpotune: score=1'
END
sed -i 's/"trials": 1, "parallel": 1/"trials": 3, "parallel": 3/' ports.json
ok 'three trials at once' run ports
is "$(sort -u port-* | wc -l)" 3 'each has ports of its own'

# The block of the first slot is leased, and that of the second is listened on.
mkdir lessor
printf '#!/bin/sh\necho $MASTER_PORT >lessor/port\nexec sleep 300\n' >lease
chmod +x lease
background lessor "$ranks" start dir=lessor ports=1 place=0 -- ./lease
lessor=$child
ok 'somebody leases a block' retry test -s lessor/port
first=$(cat lessor/port)
make_study block '"processes": 1' <<'END'
echo $MASTER_PORT >block-port
echo 'hpotune: score=1'
END
ok 'a trial whose block is leased' run block
next=$(cat block-port)
ok 'has another one' test "$next" -ne "$first"
if command -v python3 >/dev/null; then
	background listen python3 -c "
import socket, time
s = socket.socket()
s.bind(('127.0.0.1', $next + 3))
s.listen()
open('listening', 'w').close()
time.sleep(300)"
	retry test -e listening
	rm -rf block.d block.db*
	ok 'a port of that is listened on' run block
	ok 'so it has another one' test "$(cat block-port)" -ne "$next"
else
	skip 'a port that is listened on' 'python3 is not installed'
fi
# Other tests may use the ports themselves meanwhile, so the lock is looked at.
is_leased() {
	! python3 -c "
import fcntl, sys
with open(sys.argv[1], 'r+') as f:
    fcntl.lockf(f, fcntl.LOCK_EX | fcntl.LOCK_NB)" \
	    "$(find locks -name "ports-$first")" 2>/dev/null
}
if command -v python3 >/dev/null; then
	ok 'the block is still leased' is_leased
	kill $lessor
	reap $lessor 2>/dev/null
	fails 'who is gone leases nothing' 1 is_leased
else
	skip 'the end of a lease' 'python3 is not installed'
	kill $lessor
	reap $lessor 2>/dev/null
fi

# ---- parameter servers -----------------------------------------------------------------

make_study servers '"processes": 3, "parameter_servers": 2, "grace": 1' <<'END'
echo "$TF_CONFIG" >"$HPOTUNE_OUTPUT_DIR/tf-${RANK-ps}-$$"
if [ -z "${RANK-}" ]; then
	echo "serving ${HPOTUNE_METRICS-without metrics}"
	trap '' TERM
	while [ -e servers ]; do sleep 0.1; done
fi
[ $RANK = 0 ] || exit 0
until [ "$(ls "$HPOTUNE_OUTPUT_DIR"/tf-* | wc -l)" = 5 ]; do sleep 0.1; done
echo 'hpotune: score=1'
END
ok 'a chief, two workers, two parameter servers' run servers
is "$(sql servers.db 'SELECT state FROM trials')" completed \
    'the end of the servers, which wait forever, is no failure'
ok 'they are gone' retry none_alive servers
is "$(cat servers.d/trials/1/attempt-1/ps-1.log)" 'serving without metrics' \
    'each has a log'
sed 's/127.0.0.1:[0-9]*/A/g' servers.d/trials/1/output/tf-* >tasks
cluster='{"cluster":{"chief":["A"],"worker":["A","A"],"ps":["A","A"]},"task":'
is "$(sort tasks)" "$cluster"'{"type":"chief","index":0}}
'"$cluster"'{"type":"ps","index":0}}
'"$cluster"'{"type":"ps","index":1}}
'"$cluster"'{"type":"worker","index":0}}
'"$cluster"'{"type":"worker","index":1}}' 'TF_CONFIG says who is who'
is "$(cat servers.d/trials/1/output/tf-* | grep -o ':[0-9][0-9]*"' | sort -u |
    wc -l)" 5 'all have ports of their own'

# Workers that wait for a chief go with it.
make_study coordinator '"processes": 2, "parameter_servers": 1, "grace": 1' \
    <<'END'
[ "${RANK-}" != 0 ] || { echo 'hpotune: score=1'; exit 0; }
while [ -e coordinator ]; do sleep 0.1; done
END
ok 'workers that wait for ever end with the chief' run coordinator
is "$(sql coordinator.db 'SELECT state FROM trials')" completed 'and well'

# ---- the example -----------------------------------------------------------------------

cp -r "$TOP_SRCDIR/examples/distributed/parameter-server" .
chmod -R u+w parameter-server
study=parameter-server/study.json
ok 'check accepts the example' quietly "$HPOTUNE" check "$study"
if command -v python3 >/dev/null; then
	ok 'it runs' quietly timeout 300 "$HPOTUNE" start "$study" --quiet \
	    --trials 2
	is "$(sql parameter-server/parameter-server.db 'SELECT trial, reports
	    FROM trials WHERE state = "completed"')" '1|10
2|10' 'to the end'
else
	skip 'it runs' 'python3 is not installed'
fi

# Ranks behind a shell and a pipe hear a stop, and the failure of another rank.
cat >program.sh <<'END'
trap 'echo heard >>$HPOTUNE_CHECKPOINT_DIR/heard-$RANK
kill $!
sleep 0.3
echo saved >>$HPOTUNE_CHECKPOINT_DIR/saved-$RANK
echo ended
exit 1' TERM
echo 'hpotune: step=1 score=1'
: >"$HPOTUNE_OUTPUT_DIR/up-$RANK"
sleep 1000 &
wait
END
make_study behind '"processes": 3, "grace": "20s"' <<'END'
sh program.sh | cat
true
END
server behind.json
ok 'ranks behind a shell' retry all_there 'behind.d/trials/1/output/up-?' 3
quietly "$HPOTUNE" stop behind.db
reap $server
is "$(cd behind.d/trials/1/checkpoint && cat heard-? saved-? | sort | uniq -c |
    sed 's/^ *//')" '3 heard
3 saved' 'each hears the stop once, and saves'
is "$(tail -n 1 behind.d/trials/1/attempt-1/log)" ended 'what it prints arrives'
make_study other '"processes": 2, "grace": "20s"' <<'END'
if [ "$RANK" = 1 ]; then
	until [ -e "$HPOTUNE_OUTPUT_DIR/up-0" ]; do sleep 0.05; done
	exit 7
fi
sh program.sh
true
END
fails 'a rank fails' 1 run other
is "$(cat other.d/trials/1/checkpoint/*)" 'heard
saved' 'the other one hears it behind its shell, and saves'

# ---- what check says -------------------------------------------------------------------

make_study plan '"processes": 4' </dev/null
like "$("$HPOTUNE" check plan.json)" '^launcher +ranks: 4 processes$' \
    'check prints how they are started'
sed -i 's/"processes": 4/"cpus": 1/' plan.json
fails 'how many, is not said' 2 quietly "$HPOTUNE" check plan.json
like "$(cat err)" \
    'plan.json:6:[0-9]+: trial.launcher: the number of processes' \
    '… and where'
sed -i 's/"cpus": 1/"processes": 2, "batch": { "global": 7 }/' plan.json
fails 'a batch that does not divide' 2 quietly "$HPOTUNE" check plan.json
like "$(cat err)" '7 does not divide by the 2 replicas' '… reports it'
sed -i 's/"ranks"/"torchrun"/; s/, "batch": { "global": 7 }//' plan.json
sed -i 's/"processes": 2/"processes": 2, "env": {"PATH": "\/none"}/' plan.json
fails 'a launcher that is not there' 1 quietly "$HPOTUNE" check plan.json
like "$(cat err)" 'trial.launcher: python3: not found in PATH' '… is named'
like "$(cat out)" \
    'python3 -m torch.distributed.run .*--nproc_per_node=2 .*--max_restarts=0' \
    'with what would have run'
sed -i 's/"torchrun"/"mpirun"/' plan.json
fails 'the same' 1 quietly "$HPOTUNE" check plan.json
like "$(cat err)" 'trial.launcher: mpirun: not found in PATH' 'for mpirun'
done_testing
