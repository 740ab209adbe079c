#!/bin/sh
# usage: live.sh [STUDIES [TRIALS]]
#
# Stopping in studies that train: STUDIES (40) of examples/fashion-mnist, each once with
# the default rule and once with none, four trials at a time, the same settings in both.
# Prints the share of the steps that the rule has saved, in how many studies the best
# setting was lost to it, and by how much the best value is worse then.

: "${BENCH_TRIAL:=true}"
here=$(cd "$(dirname "$0")" && pwd)
. "$here/bench-lib.sh"
train=${TRAIN:-$here/../examples/fashion-mnist/train}
export OPENBLAS_NUM_THREADS=1
live() { # name seed more
	cat >"$1.json" <<END
{ "study": "$1",
  "objective": { "metric": "val_accuracy", "goal": "maximize" },
  "parameters": {
      "lr": { "type": "float", "min": 1e-4, "max": 0.3, "scale": "log" },
      "hidden": { "type": "int", "min": 16, "max": 128, "scale": "log" },
      "batch": { "type": "choice", "values": [32, 64, 128, 256], "ordered": true },
      "dropout": { "type": "float", "min": 0, "max": 0.5 },
      "optimizer": { "type": "choice", "values": ["sgd", "adam"] } },
  "strategy": { "name": "random", "seed": $2 }, $3
  "trial": { "command": ["$train", "--train-size=4000", "--validation-size=1000",
      "--epochs=15", "{params}"], "max_steps": 15 },
  "limits": { "trials": ${trials}, "parallel": 4 } }
END
	"$HPOTUNE" start -q "$1.json" >/dev/null
}
studies=${1:-40}
trials=${2:-24}
n=0
while [ $((n += 1)) -le "$studies" ]; do
	live "rule$n" $n ''
	live "none$n" $n '"stopping": "none",'
	# Steps of both, and the best of both.
	sqlite3 -separator ' ' "rule$n.db" "ATTACH 'none$n.db' AS n;
	    SELECT (SELECT sum(step) FROM trials), (SELECT sum(step) FROM n.trials),
	        (SELECT max(objective) FROM trials WHERE state = 'completed'),
	        (SELECT max(objective) FROM n.trials WHERE state = 'completed')"
done | tee "${LIVE_ROWS:-rows}" | awk '{ ours += $1; all += $2; if ($3 < $4) lost++
	d = $4 - $3; sum += d; if (d > worst) worst = d }
	END { printf "%d studies: %.1f %% of the steps saved, the best lost in %d, " \
	    "worse by %.4f at most, %.5f in the mean\n", NR, 100 * (1 - ours / all),
	    lost, worst, sum / NR }'
