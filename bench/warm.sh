#!/bin/sh
# usage: warm.sh [TRIALS [SECONDS]]
#
# What a start costs a program that imports: trials of SECONDS (0.2) of a processor,
# in two slots, warm and cold; beside them two Python processes that import once and
# call the same function, which is the floor, and Optuna and Ray Tune with two workers,
# where Python has them.  PYTHON (python3) has the modules in MODULES (numpy
# sklearn.linear_model).  A tenth of the trials are started cold, and their wall time
# is given for all.

: "${BENCH_TRIAL:=true}"
here=$(cd "$(dirname "$0")" && pwd)
. "$here/bench-lib.sh"
trials=${1:-200}
seconds=${2:-0.2}
python=${PYTHON:-python3}
modules=${MODULES:-numpy sklearn.linear_model}
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1

cat >train.py <<END
import argparse
import time
$(for m in $modules; do echo "import $m"; done)

def objective(x):
    end = time.process_time() + $seconds
    while time.process_time() < end:
        pass
    return 1 - (x - 0.3) ** 2

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--x", type=float)
    print("hpotune: step=1 score=%r" % objective(parser.parse_args().x))
END
cat >floor.py <<END
from train import objective
for i in range($((trials / 2))):
    objective(i / 1000)
END
study() { # name trials warm
	cat >"$1.json" <<END
{ "study": "$1",
  "objective": { "metric": "score", "goal": "maximize" },
  "parameters": { "x": { "type": "float", "min": 0, "max": 1 } },
  "strategy": { "name": "random", "seed": 1 }, "stopping": "none",
  "trial": { "command": ["$python", "train.py", "--x={x}"], "warm": $3 },
  "limits": { "trials": $2, "parallel": 2 } }
END
}
took() { # command …: seconds
	took_began=$(date +%s.%N)
	"$@" >out 2>&1 || { cat out >&2; exit 1; }
	date +%s.%N | awk -v began="$took_began" '{ printf "%.2f\n", $1 - began }'
}
two() {
	"$python" floor.py &
	"$python" floor.py
	wait $!
}
"$python" -c 'import train'
study cold $((trials / 10)) false
study warm "$trials" true
floor=$(took two)
warm=$(took "$HPOTUNE" start -q warm.json)
cold=$(took "$HPOTUNE" start -q cold.json)
for peer in optuna ray; do
	"$python" -c "import $peer" 2>/dev/null || continue
	seconds=$(took env PYTHONPATH=. "$python" "$here/warm-peers.py" $peer "$trials")
	echo "$peer: $seconds s"
done
awk -v floor="$floor" -v warm="$warm" -v cold="$cold" -v n="$trials" 'BEGIN {
	cold *= 10
	printf "%d trials: floor %.1f s, warm %.1f s, cold %.1f s\n", n, floor, warm,
	    cold
	printf "warm is %.2f times the floor, %.1f times as fast as cold\n",
	    warm / floor, cold / warm
}'
