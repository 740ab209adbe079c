#!/bin/sh
# The backend slurm on a private cluster of this machine: time until all slots
# are filled, from a report to SIGTERM, calls of squeue, CPU and memory of the
# server with many jobs, short trials beside Optuna with submitit (of the Python
# $BENCH_PYTHON), Fashion-MNIST under preemption and a failed node, and what is lost
# and run twice after kills.
#	slurm.sh [KILLS [JOBS]]: how many kills (500), jobs at once (1000)
here=$(cd "$(dirname "$0")" && pwd)
. "$here/bench-lib.sh"
kills=${1:-500} jobs=${2:-1000}
PATH=$PATH:/usr/sbin:/sbin
command -v slurmctld >/dev/null || {
	echo 'no rows of slurm: slurmctld is not installed' >&2
	exit 0
}
cluster=$here/../tests/support/slurm/slurm-cluster
SLURM_CLUSTER_CPUS=$((jobs / 4 + 20))
export SLURM_CLUSTER_CPUS
server=
trap 'exit 1' INT TERM
trap 'kill -9 $server 2>/dev/null || :; sh "$cluster" down "$bench_dir/cluster"
    rm -rf "$bench_dir"' EXIT
eval "$(sh "$cluster" up "$bench_dir/cluster" 'MaxJobCount=20000' \
    'SchedulerParameters=sched_interval=1,bf_interval=1,default_queue_depth=5000,sched_max_job_start=0')"
mkdir bin
cat >bin/squeue <<END
#!/bin/sh
echo >>"$bench_dir/calls"
exec $(command -v squeue) "\$@"
END
chmod +x bin/squeue
PATH=$bench_dir/bin:$PATH

cluster_study() { # name trials stopping keys-of-backend
	cat >"$1.json" <<END
{ "study": "$1", "objective": { "metric": "loss", "goal": "minimize" },
  "parameters": { "x": { "type": "float", "min": 0, "max": 1 } },
  "strategy": { "name": "random", "seed": 1 }, "stopping": $3,
  "trial": { "command": ["./trial"], "grace": 5 },
  "backend": { "name": "slurm"$4 },
  "limits": { "trials": $2, "parallel": $2 } }
END
}
running() { # study: how many
	sqlite3 -readonly "$1.db" "SELECT count(*) FROM trials
	    WHERE state = 'running'" 2>/dev/null || echo 0
}
cpu_s() { # pid: seconds of CPU so far, with those of its tools
	awk -v hz="$(getconf CLK_TCK)" '{ print ($14 + $15) / hz }' \
	    "/proc/$1/stat"
}
end() {
	kill "$server"
	wait "$server" || :
	scancel --me
	until [ -z "$(squeue --me -h)" ]; do sleep 0.5; done
}

# ---- slots -------------------------------------------------------------------------

printf '#!/bin/sh\necho "hpotune: step=1 loss=1"\nexec sleep 600\n' >trial
chmod +x trial
cluster_study fill 50 '"none"' ''
began=$(now)
for n in $(seq 50); do
	sbatch --output=/dev/null --export=NIL ./trial >/dev/null
done
until [ "$(squeue -h -t RUNNING | wc -l)" -ge 50 ]; do sleep 0.05; done
bare=$(since "$began")
scancel --me
until [ -z "$(squeue --me -h)" ]; do sleep 0.5; done
began=$(now)
"$HPOTUNE" start fill.json --quiet 2>fill.err &
server=$!
until [ "$(squeue -h -t RUNNING | wc -l)" -ge 50 ]; do sleep 0.05; done
row 'slurm: 50 jobs run, s (sbatch in a loop beside it)' "$(since "$began")" \
    "$bare" "$(calc "$(since "$began") / $bare")" '≤ 5'
until [ "$(running fill)" -ge 50 ]; do
	kill -0 $server
	sleep 0.05
done
row 'slurm: their 50 trials run, s' "$(since "$began")" - - -
end

# ---- from a report to SIGTERM ------------------------------------------------------

cat >trial <<'END'
#!/bin/sh
trap 'echo "$(date +%s.%N) $began" >>"${0%/*}/stops"; exit 0' TERM
sleep 2
began=$(date +%s.%N)
echo "hpotune: step=1 loss=1"
while :; do sleep 0.1; done
END
cluster_study stop 40 '{ "rule": "threshold", "upper": 0 }' ''
"$HPOTUNE" start stop.json --quiet 2>stop.err
awk '{ print $1 - $2 }' stops >latency
row 'slurm: report to SIGTERM, median s' "$(percentile 50 <latency)" - - -
row 'slurm: report to SIGTERM, p95 s' "$(percentile 95 <latency)" - - '≤ 3'

# ---- many jobs ---------------------------------------------------------------------

printf '#!/bin/sh\necho "hpotune: step=1 loss=1"\nexec sleep 6000\n' >trial
cluster_study many "$jobs" '"none"' ''
began=$(now)
"$HPOTUNE" start many.json --quiet 2>many.err &
server=$!
until [ "$(running many)" -ge "$jobs" ]; do
	kill -0 $server
	sleep 1
done
row "slurm: $jobs slots filled, s" "$(since "$began")" - - -
sleep 30
: >calls
before=$(cpu_s $server)
sleep 120
row "slurm: squeue calls a minute, $jobs jobs run" \
    "$(calc "$(wc -l <calls) / 2")" - - '≤ 6'
row "slurm: server CPU, $jobs jobs run, % of a core" \
    "$(calc "($(cpu_s $server) - $before) / 1.2")" - - '≤ 1'
row "slurm: server memory, $jobs jobs run, MiB" \
    "$(calc "$(awk '/^VmRSS/ { print $2 }' /proc/$server/status) / 1024")" \
    - - '≤ 64'
end

# ---- short trials, beside Optuna with submitit -------------------------------------

# A driver that is killed three times, and started again.
killed() { # command ...
	for k in 1 2 3; do
		"$@" >killed.out 2>&1 &
		server=$!
		sleep 2.5
		kill -9 $server 2>/dev/null || :
		wait $server 2>/dev/null || :
	done
	"$@" >killed.out 2>&1
}
cat >trial <<'END'
#!/bin/sh
echo "begin $HPOTUNE_TRIAL" >>"${0%/*}/$HPOTUNE_STUDY.ledger"
for step in 1 2 3; do
	sleep 0.3
	echo "hpotune: step=$step loss=1"
done
echo "end $HPOTUNE_TRIAL" >>"${0%/*}/$HPOTUNE_STUDY.ledger"
END
short() { # name keys-of-backend
	cluster_study "$1" 40 '"none"' "$2"
	sed -i 's/"parallel": 40/"parallel": 8/' "$1.json"
}
chmod +x trial
peer=$here/slurm-peer.py
python=${BENCH_PYTHON:-python3}
short alone ''
began=$(now)
"$HPOTUNE" start alone.json --quiet
ours=$(calc "40 * 60 / $(since "$began")")
short shared ', "trials_per_job": 8'
began=$(now)
"$HPOTUNE" start shared.json --quiet
shared=$(calc "40 * 60 / $(since "$began")")
theirs=- lost=- twice=-
if "$python" -c 'import optuna, submitit' 2>/dev/null; then
	began=$(now)
	"$python" "$peer" peer.db 40 8 "$bench_dir/peer.ledger" >/dev/null 2>&1
	theirs=$(calc "40 * 60 / $(since "$began")")
	killed "$python" "$peer" dead.db 40 8 "$bench_dir/dead.ledger"
	lost=$(($(grep -c end dead.ledger) - 40))
	twice=$(($(grep -c begin dead.ledger) - 40))
else
	echo 'no row of submitit: pip install optuna submitit' >&2
fi
ratio() { # ours theirs
	[ "$2" = - ] && echo - || calc "$1 / $2"
}
row 'slurm: trials of 1 s a minute, 8 at once (Optuna, submitit)' "$ours" \
    "$theirs" "$(ratio "$ours" "$theirs")" -
row 'slurm: … with trials_per_job 8' "$shared" "$theirs" \
    "$(ratio "$shared" "$theirs")" -
short dies ''
killed "$HPOTUNE" start dies.json --quiet
row 'slurm: results lost by 3 kills of the driver' \
    "$(($(grep -c end dies.ledger) - 40))" "$lost" - 0
row 'slurm: jobs beyond 40 trials after them' \
    "$(($(grep -c begin dies.ledger) - 40))" "$twice" - 0

# ---- Fashion-MNIST: preemption and a failed node change no curve -----------------------

mlp=$(dirname "$HPOTUNE")/examples/fashion-mnist/mlp
rough() { # study: jobs of others preempt, and a node fails
	while ! [ "$(running "$1")" -ge 3 ]; do sleep 0.2; done
	for k in 1 2 3; do
		sleep 4
		sbatch --partition=urgent --nodelist=n1 --output=/dev/null \
		    --cpus-per-task="$SLURM_CLUSTER_CPUS" --wrap='sleep 2'
		sleep 4
		sh "$cluster" fail "$bench_dir/cluster" n2
		sh "$cluster" heal "$bench_dir/cluster" n2
	done >rough.out 2>&1
}
fashion() { # name
	cat >"$1.json" <<END
{ "study": "$1", "objective": { "metric": "val_accuracy", "goal": "maximize" },
  "parameters": {
    "lr": { "type": "float", "min": 1e-4, "max": 0.3, "scale": "log" },
    "hidden": { "type": "int", "min": 16, "max": 128, "scale": "log" },
    "dropout": { "type": "float", "min": 0, "max": 0.5 },
    "optimizer": { "type": "choice", "values": ["sgd", "adam"] } },
  "strategy": { "name": "random", "seed": 7 }, "stopping": "none",
  "trial": { "command": ["$mlp", "--train-size=10000", "--epochs=20",
      "--device=cpu", "{params}"], "grace": 10, "max_steps": 20,
    "env": { "OPENBLAS_NUM_THREADS": "1" } },
  "backend": { "name": "slurm" },
  "limits": { "trials": 12, "parallel": 4 } }
END
}
curves() { # study
	sqlite3 -readonly "$1.db" 'SELECT trial, step, value FROM curves
	    ORDER BY 1, 2' >"$1.curves"
}
if [ -x "$mlp" ] && [ -r /usr/share/datasets/fashion-mnist ]; then
	fashion calm
	"$HPOTUNE" start calm.json --quiet
	fashion storm
	rough storm &
	"$HPOTUNE" start storm.json --quiet
	wait $! || :
	curves calm
	curves storm
	row 'slurm: Fashion-MNIST, further attempts (preempted, node failed)' \
	    "$(sqlite3 -readonly storm.db 'SELECT count(*) - 12 FROM attempts')" \
	    - - -
	row "slurm: … points of $(wc -l <calm.curves) that differ from a calm study" \
	    "$(diff calm.curves storm.curves | grep -c '^[<>]' || :)" - - 0
	row 'slurm: … best trial (that of the calm study)' \
	    "$(sqlite3 -readonly storm.db 'SELECT trial FROM best')" \
	    "$(sqlite3 -readonly calm.db 'SELECT trial FROM best')" - -
fi

# ---- kills -------------------------------------------------------------------------

[ "$kills" -gt 0 ] || exit 0
TOP_SRCDIR=$(cd "$here/.." && pwd)
TOP_BUILDDIR=$(cd "$(dirname "$HPOTUNE")" && pwd)
HPOTUNE_RANKS=$TOP_BUILDDIR/hpotune-ranks
HPOTUNE_WORKER=$TOP_BUILDDIR/hpotune-worker
SLURM_KILLS=$kills
SLURM_CLUSTER_CPUS=2
export TOP_SRCDIR TOP_BUILDDIR HPOTUNE HPOTUNE_RANKS HPOTUNE_WORKER \
    SLURM_KILLS SLURM_CLUSTER_CPUS
sh "$TOP_SRCDIR/tests/scenario/slurm/slurm-kills.t" >kills.out 2>kills.err ||
    cat kills.out >&2
row "slurm: $(sed -n 's/^# kills: //p' kills.out)" \
    "$(grep -c '^not ok' kills.out || :) faults" - - '0 faults'
