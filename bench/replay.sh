#!/bin/sh
# The rows of stopping: what rules save and kill on recorded curves.
#	BENCH_DATA has taskset/*.csv.gz, and lcbench/ with the surrogate's
#	model.onnx, which needs onnxruntime in BENCH_PYTHON.
#	The rows of long schedules are made by cosine.py, which needs numpy.
#	BENCH_LONG is a folder of what long-curves.py has prepared, if any.
#	BENCH_SEEDS studies are drawn from each file (100).
# The peer is what Optuna decides by default, through the preset that is tested
# against it.  A row reads: share of steps saved / share of studies whose best
# trial was stopped / regret; then the same after the second look.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/bench-lib.sh"
seeds=${BENCH_SEEDS:-100}

# The figures of one rule: "61.2 % / 0.017 / 0.10 %; 59.1 % / 0.011 / 0.02 %".
figures() { # rule file ...
	rule=$1
	shift
	"$HPOTUNE" replay --seeds "$seeds" --rule "$rule" "$@" | tail -n 1 |
	    awk '{ print $(NF - 9), "% /", $(NF - 7), "/", $(NF - 6), "%;",
		$(NF - 4), "% /", $(NF - 2), "/", $(NF - 1), "%" }'
}

rows() { # name target file ...
	name=$1
	target=$2
	shift 2
	peer=$(figures optuna "$@")
	for rule in careful narrow '{"rule": "narrow", "halving_steps": "30%"}' \
	    median '{"rule": "median", "warmup_steps": "10%"}' vizier; do
		row "stopping, $name, $rule" "$(figures "$rule" "$@")" \
		    "Optuna: $peer" '' "$target"
	done
}

if [ -z "${BENCH_DATA-}" ] || ! [ -d "$BENCH_DATA/taskset" ]; then
	row stopping 'not measured: BENCH_DATA has no taskset' '' '' \
	    '>= 70 % / <= 0.01'
	exit 0
fi
rows TaskSet '>= 70 % / <= 0.01' "$BENCH_DATA"/taskset/*.csv.gz

python=${BENCH_PYTHON:-python3}
if ! "$python" -c 'import onnxruntime, numpy' 2>/dev/null; then
	row 'stopping, LCBench' 'not measured: no onnxruntime' '' '' \
	    '>= 70 % / <= 0.01'
	exit 0
fi
for task in 3945 7593 34539 126025 126026 126029 146212 167104 167149 167152
do
	"$python" "$here/lcbench.py" "$BENCH_DATA/lcbench" $task >lcbench-$task.csv
done
rows LCBench '>= 70 % / <= 0.01' --goal maximize lcbench-*.csv

for task in 1 2 3 4 5 6; do
	"$python" "$here/cosine.py" $task >cosine-$task.csv
done
rows 'warm-up and cosine' '>= 25 % / <= 0.05' cosine-*.csv

if [ -z "${BENCH_LONG-}" ]; then
	row 'stopping, long runs' 'not measured: BENCH_LONG is not set' '' '' \
	    '>= 20 % / <= 0.05'
	exit 0
fi
# A file has 20 to 200 runs, of which a study has 100 or all.
seeds=8
for source in algoperf-v06 nanogpt optimizers deepobs dopamine control; do
	rows $source '>= 20 % / <= 0.05' "$BENCH_LONG/$source"-*.csv
done
set --
for file in "$BENCH_LONG"/algoperf-*.csv; do
	case $file in
	*/algoperf-v06-*) ;;
	*) set -- "$@" "$file" ;;
	esac
done
rows 'AlgoPerf 0.5' '>= 20 % / <= 0.05' "$@"
