#!/bin/sh
# How long a GPU waits between two trials, and how much of the time 64 of them
# wait.  Simulated ones: nothing has to be released, so what is measured is
# everything but the check of the memory.
. "$(dirname "$0")/bench-lib.sh"

# study_on NAME GPUS MS TRIALS
study_on() {
	cat >"$1.json" <<EOF
{ "study": "$1", "objective": { "metric": "v", "goal": "maximize" },
  "parameters": { "x": { "type": "float", "min": 0, "max": 1 } },
  "strategy": { "name": "random", "seed": 1 }, "stopping": "none",
  "trial": { "command": ["$BENCH_TRIAL", "held", "$3"], "gpus": 1 },
  "backend": { "name": "local", "gpus": { "simulate": $2 } },
  "limits": { "trials": $4 } }
EOF
	rm -f held
	"$HPOTUNE" start --quiet "$1.json" >/dev/null
	[ "$(wc -l <held)" -eq "$4" ]
}

# Milliseconds between one trial's end and the next one's first instruction.
gaps() {
	sort -k 1,1n -k 2,2n held | awk '$1 == gpu { print ($2 - end) / 1000 }
	    { gpu = $1; end = $3 }'
}

# floor WHAT COLUMN: of the syncs and program starts that are the protocol's
floor() {
	awk -v what="$1" -v column="$2" -F '\t' '$1 == what { print $column }' floor.txt
}

study_on gap 2 50 400
mkdir floor
(cd floor && "${BENCH_FLOOR:?is bench/slot-floor}" 400) >floor.txt
ours=$(gaps | percentile 50)
row 'GPU slot: end of one trial to the first instruction of the next, ms, p50' \
    "$ours" "its syncs and starts alone $(floor all 2)" \
    "$(calc "$ours / $(floor all 2)")" '≤ 3'
row 'the same, p99' "$(gaps | percentile 99)" "$(floor all 3)" - '≤ 6'

trials=${BENCH_GPU_TRIALS:-10000}
study_on many 64 1000 "$trials"
# Up to the moment when the last trial begins: after it there is no more work.
idle=$(awk '{ from[NR] = $2; to[NR] = $3
    if (NR == 1 || $2 < first) first = $2; if ($2 > last) last = $2 }
    END { for (i = 1; i <= NR; i++) run += (to[i] < last ? to[i] : last) - from[i]
	printf "%.2f", 100 * (1 - run / (64 * (last - first))) }' held)
row "64 simulated GPUs, $trials trials of 1 s: slots idle, %" "$idle" - - '≤ 1'
