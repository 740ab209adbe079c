#!/bin/sh
# Rows of what is to be seen on a machine with a GPU that is lent for minutes, in at
# most 8 of them: what has not ended then is cut off.  Each part by itself:
#	bench/gpu-lent.sh packed gp server resume stray shared energy suspend pack
# $HPOTUNE is the program, $BENCH_MLP examples/fashion-mnist/mlp-cuda.  packed, gp and
# suspend run bench/pack-kernel, bench/gp-kernel and bench/gpu-suspend beside it, and
# $BENCH_PYTHON with torch where it is given.  Without a GPU, FAKE_GPUS_FILE=none runs
# it against the fake driver, with $BENCH_MLP=mlp: the rows then say only that the
# script works.  BENCH_SMALL=yes: small sizes.
set -eu
: "${BENCH_MLP:?is examples/fashion-mnist/mlp-cuda}"
if [ -z "${BENCH_LIMITED-}" ]; then
	# What hangs is ended with all that it has started.
	BENCH_LIMITED=yes
	export BENCH_LIMITED
	exec timeout --kill-after=10 "${BENCH_LIMIT:-480}" sh "$0" "$@"
fi
trap 'exit 143' TERM
: "${BENCH_TRIAL:=unused}"
here=$(cd "$(dirname "$0")" && pwd)
. "$here/bench-lib.sh"
options=${BENCH_MLP_OPTIONS:---train-size=30000}
# shellcheck disable=SC2086 # words of a list
list=$(printf ' "%s",' $options)
mlp=$BENCH_MLP
mps=
tools=$(dirname "$HPOTUNE")/bench
device=cuda
hold_first=
: "${BENCH_SMALL:=no}"

if [ "${FAKE_GPUS_FILE-}" = none ]; then
	fake=$(dirname "$HPOTUNE")/tests/fake
	mkdir contexts
	echo "gpu name=H200 memory=143771MiB reserved=615MiB energy=1000
	    contexts $bench_dir/contexts" | sed 's/^[[:space:]]*//' >gpus
	printf '#!/bin/sh\necho 577MiB >%s/contexts/$$\nexec %s --device=cpu "$@"\n' \
	    "$bench_dir" "$BENCH_MLP" >mlp
	# Others than mlp: their size, and what they run.
	printf '#!/bin/sh\necho 8MiB >%s/contexts/$$\nexec "$@"\n' \
	    "$bench_dir" >holds
	chmod +x mlp holds
	mlp=$bench_dir/mlp hold_first=$bench_dir/holds
	CUDA_VISIBLE_DEVICES=GPU-0
	export CUDA_VISIBLE_DEVICES
	device=
	FAKE_GPUS_FILE=$bench_dir/gpus
	HPOTUNE_NVML=$fake/libnvidia-ml.so.1 HPOTUNE_CUDA=$fake/libcuda.so.1
	HPOTUNE_GPU_LOCKS=$bench_dir/locks
	export FAKE_GPUS_FILE HPOTUNE_NVML HPOTUNE_CUDA HPOTUNE_GPU_LOCKS
fi

# gpu_study NAME TRIALS COMMAND-JSON TRIAL-KEYS BACKEND-KEYS
gpu_study() {
	cat >"$1.json" <<END
{ "study": "$1", "objective": { "metric": "val_accuracy", "goal": "maximize" },
  "parameters": { "lr": { "type": "float", "min": 0.01, "max": 0.1 } },
  "strategy": { "name": "random", "seed": 1 }, "stopping": "none",
  "trial": { "command": $3, "gpus": 1, "grace": 5$4 },
  "backend": { "name": "local"$5 }, "limits": { "trials": $2 } }
END
}

sql() {
	sqlite3 "$1.db" "$2"
}

# until_sql NAME QUERY WANT: for at most 60 s
until_sql() {
	tries=0
	until [ "$(sql "$1" "$2" 2>/dev/null)" = "$3" ]; do
		tries=$((tries + 1))
		[ $tries -lt 600 ] || return 1
		sleep 0.1
	done
}

# ratio_of A B: how many times A is B, or -
ratio_of() {
	case $1$2 in
	*[!0-9.]* | '') echo - ;;
	*) calc "$1 / $2" ;;
	esac
}

# Microseconds for a picture of a network: ours, torch, torch with a graph.
part_packed() {
	[ -n "$device" ] || return 0
	for size in '1 32 50000' '64 32 50000' '256 32 50000' '1024 32 10000' \
	    '64 256 50000'; do
		# shellcheck disable=SC2086 # three words
		set -- $size
		ours=$(timeout 30 "$tools/pack-kernel" "$1" "$2" 2 "$3" $device) ||
		    ours='does not end'
		plain=- graph=-
		if [ -n "${BENCH_PYTHON-}" ]; then
			for mode in '' graph; do
				peer=$(timeout 40 "$BENCH_PYTHON" \
				    "$here/pack-peer.py" "$1" "$2" 2 "$3" \
				    cuda $mode 2>/dev/null) || peer=failed
				[ -n "$mode" ] && graph=$peer || plain=$peer
			done
		fi
		ratio="$(ratio_of "$plain" "$ours"); $(ratio_of "$graph" "$ours")"
		row "packed, $1 of $2, us a picture: ours, torch, its graph" \
		    "$ours" "$plain; $graph" "$ratio" '≥ 2; ≥ 2'
	done
}

# Kernels of gp: a core and the GPU.
part_gp() {
	sizes='200 700 1000 4000'
	[ "$BENCH_SMALL" = no ] || sizes=30
	for n in $sizes; do
		core=$(timeout 60 "$tools/gp-kernel" "$n") || core='does not end'
		gpu=-
		[ -z "$device" ] ||
		    gpu=$(timeout 60 "$tools/gp-kernel" $device "$n") ||
		    gpu=failed
		row "gp, $n trials" "$gpu" "$core" - -
	done
}

# A process that holds so much is suspended, and goes on with the same memory.
part_suspend() {
	sizes='2048 20480 61440'
	[ "$BENCH_SMALL" = no ] || sizes=8
	for mib in $sizes; do
		rm -f feed && mkfifo feed
		$hold_first "$tools/gpu-suspend" hold "$mib" <feed >hold.out &
		holder=$!
		exec 9>feed
		until grep -q . hold.out || ! kill -0 $holder 2>/dev/null; do
			sleep 0.05
		done
		said=$("$tools/gpu-suspend" probe $holder) || :
		exec 9>&-
		wait $holder || :
		row "suspended with $mib MiB by $(id -un)" "$said" - - \
		    "memory after: $(tail -n 1 hold.out)"
	done
}

# The server is killed while trials hold the GPU, and started again.
part_server() {
	gpu_study killed 2 "[\"$mlp\",$list \"--epochs=20\", \"{params}\"]" \
	    ', "retries": 0' ''
	"$HPOTUNE" start --quiet killed.json >/dev/null 2>&1 &
	server=$!
	until_sql killed 'SELECT min(reports, 2) FROM trials WHERE trial = 1' 2
	kill -9 $server
	wait $server 2>/dev/null || :
	t=$(now)
	"$HPOTUNE" start --quiet killed.json >/dev/null 2>&1 &
	server=$!
	until_sql killed "SELECT count(*) FROM trials WHERE trial = 1 AND
	    state IN ('running', 'completed')" 1
	back=$(since "$t")
	wait $server || :
	row 'kill -9 of the server: the next one has the trial, s' "$back" - - -
	row '... trials completed of 2 and attempts' "$(sql killed \
	    "SELECT sum(state = 'completed') || ' and ' ||
	    (SELECT count(*) FROM attempts) FROM trials")" - - '2 and 2'
}

# The trainer is killed in the second half, and goes on from its checkpoint.
part_resume() {
	mkdir -p whole parts
	run="$mlp $options --epochs=6 --lr=0.05 --dropout=0.1 --hidden=128"
	$run --checkpoint-dir=whole >whole.out 2>/dev/null
	$run --checkpoint-dir=parts >parts.out 2>/dev/null &
	trainer=$!
	until [ "$(grep -c val_accuracy parts.out)" -ge 3 ]; do
		sleep 0.01
		kill -0 $trainer 2>/dev/null || break
	done
	kill -9 $trainer 2>/dev/null || :
	wait $trainer 2>/dev/null || :
	$run --checkpoint-dir=parts >rest.out 2>/dev/null
	same=no
	[ "$(tail -n 1 whole.out)" = "$(tail -n 1 rest.out)" ] && same=yes
	row "the trainer killed after $(grep -c val_accuracy parts.out) of 6" \
	    "$same" - - 'the same last line: yes'
}

# A trial leaves a process in a session of its own, with memory on the GPU.
part_stray() {
	cat >leaves.sh <<END
#!/bin/sh
setsid "$mlp" $options --epochs=1000 >stray 2>&1 &
until grep -q val_accuracy stray; do sleep 0.05; done
echo 'hpotune: step=1 val_accuracy=0.5'
END
	chmod +x leaves.sh
	gpu_study stray 2 '["./leaves.sh"]' ', "retries": 0' ''
	t=$(now)
	"$HPOTUNE" start --quiet stray.json >/dev/null 2>&1 || :
	row 'two trials that each leave a process with memory, s' \
	    "$(since "$t")" - - -
	row '... completed, GPUs out of service' "$(sql stray \
	    "SELECT sum(state = 'completed') || ', ' || (SELECT count(*) FROM gpus
	    WHERE state = 'quarantined') FROM trials")" - - '2, 0'
}

mps_start() {
	command -v nvidia-cuda-mps-control >/dev/null || return 1
	CUDA_MPS_PIPE_DIRECTORY=$bench_dir/mps CUDA_MPS_LOG_DIRECTORY=$bench_dir/mps
	export CUDA_MPS_PIPE_DIRECTORY CUDA_MPS_LOG_DIRECTORY
	mkdir -p mps
	nvidia-cuda-mps-control -d
	mps=yes
}

mps_stop() {
	[ -z "$mps" ] || echo quit | nvidia-cuda-mps-control >/dev/null
	mps=
	unset CUDA_MPS_PIPE_DIRECTORY CUDA_MPS_LOG_DIRECTORY
}

# shared_s K NAME: seconds of 16 trials, K at a time on the GPU
shared_s() {
	gpu_study "$2" 16 \
	    "[\"$mlp\",$list \"--epochs=5\", \"--hidden=64\", \"{params}\"]" \
	    ', "gpu_memory": "2GiB"' ", \"trials_per_gpu\": $1"
	t=$(now)
	timeout 90 "$HPOTUNE" start --quiet "$2.json" >/dev/null 2>&1 || :
	[ "$(sql "$2" "SELECT sum(state = 'completed') FROM trials")" -eq 16 ] &&
	    since "$t" || echo 'not ended'
}

part_shared() {
	sizes='1 2 4 8'
	[ "$BENCH_SMALL" = no ] || sizes='1 8'
	for k in $sizes; do
		slices=$(shared_s $k slices$k)
		other=-
		if [ $k -gt 1 ] && mps_start; then
			other=$(shared_s $k mps$k)
			mps_stop
		fi
		row "16 trials, $k at a time: time slices, MPS, s" "$slices" \
		    "$other" - -
	done
}

# joules NAME: of a trial, the median of those that were long enough to be known
joules() {
	sql "$1" 'SELECT energy_joules FROM trials
	    WHERE energy_joules IS NOT NULL' | percentile 50 | grep . || echo unknown
}

part_energy() {
	[ -e slices1.db ] || shared_s 1 slices1 >/dev/null
	row 'energy of a trial, alone on the GPU, J (median)' \
	    "$(joules slices1)" - - -
	[ ! -e slices8.db ] ||
	    row '... one of eight' "$(joules slices8)" - - -
}

# The README's command.
part_pack() {
	sed "s|\"./mlp\"|\"$mlp\"|; s| \"--train-size=30000\",|$list|" \
	    "$here/../examples/fashion-mnist/pack.json" >pack.json
	t=$(now)
	"$HPOTUNE" start --quiet pack.json >/dev/null 2>&1 || :
	row 'fashion-mnist/pack.json, s' "$(since "$t")" - - -
	row '... trials, stopped, best' "$(sqlite3 fashion-pack.db \
	    "SELECT count(*) || ', ' || sum(state = 'stopped') || ', ' ||
	    round(max(objective), 4) FROM trials")" - - -
}

[ $# -gt 0 ] || set -- packed gp server resume stray shared energy suspend pack
began=$(now)
for part; do
	if [ "$(since "$began" | cut -d . -f 1)" -gt "${BENCH_SECONDS:-450}" ]; then
		row "$part" 'no time left' - - -
	else
		part_"$part" || row "$part" failed - - -
	fi
done
mps_stop
row 'all parts, s' "$(since "$began")" - - '≤ 480'
