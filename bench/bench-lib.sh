# Sourced by the benchmarks: a private folder, studies from a line, clocks.

set -eu
: "${HPOTUNE:?is the program to measure}"
: "${BENCH_TRIAL:?is bench/short-trial}"
HPOTUNE_SHIM=${HPOTUNE_SHIM:-$(dirname "$HPOTUNE")/hpotune-shim}
export HPOTUNE_SHIM
bench_dir=$(mktemp -d "${TMPDIR:-/tmp}/hpotune-bench.XXXXXX")
trap 'rm -rf "$bench_dir"' EXIT
cd "$bench_dir"

now() { # seconds
	date +%s.%N
}

since() { # seconds: how long ago that was
	awk -v a="$1" -v b="$(now)" 'BEGIN { printf "%.3f", b - a }'
}

calc() { # expression
	awk "BEGIN { printf \"%.4g\", $1 }"
}

# study NAME ARGV-JSON TRIALS PARALLEL [MORE-JSON]: NAME.json
study() {
	cat >"$1.json" <<EOF
{ "study": "$1", "objective": { "metric": "v", "goal": "maximize" },
  "parameters": { "x": { "type": "float", "min": 0, "max": 1 } },
  "strategy": { "name": "random", "seed": 1 },
  "trial": { "command": $2, "grace": 5, "gpus": 0, "max_steps": ${6:-5} },
  ${5:+$5,}
  "limits": { "trials": $3, "parallel": $4 } }
EOF
}

# row NAME OURS PEER RATIO TARGET
row() {
	printf '| %s | %s | %s | %s | %s |\n' "$@"
}

# The value at a percentile of the numbers on standard input.
percentile() { # percent
	sort -n | awk -v p="$1" '{ a[NR] = $1 }
	    END { i = int(NR * p / 100 + 0.999999); print a[i < 1 ? 1 : i] }'
}
