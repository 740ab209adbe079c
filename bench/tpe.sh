#!/bin/sh
# Row tpe: 1,000 suggestions, 40 parameters, in one process and in memory, with
# the 24 candidates of Optuna, and with our own default.
# Optuna 5 and Rustuna run in the same call when $BENCH_PYTHON has them.
set -eu
: "${BENCH_TPE:?is bench/tpe-speed}"
here=$(cd "$(dirname "$0")" && pwd)
n=${1-1000}
dims=${2-40}

peer() { # module kind: seconds, or nothing
	[ -n "${BENCH_PYTHON-}" ] || return 0
	"$BENCH_PYTHON" "$here/tpe_optuna.py" "$1" "$n" "$dims" "$2" \
	    2>/dev/null | tail -n 1
}

for kind in float mixed; do
	ours=$("$BENCH_TPE" "$n" "$dims" "$kind" 24)
	for module in optuna rustuna; do
		theirs=$(peer $module $kind)
		ratio=
		[ -z "$theirs" ] ||
		    ratio=$(awk "BEGIN { printf \"%.3g\", $theirs / $ours }")
		reach='≥ 20'
		[ $module = optuna ] || reach='> 1'
		printf '| tpe, %s suggestions, %s parameters (%s), s | %s | %s | %s | %s |\n' \
		    "$n" "$dims" "$kind" "$ours" "$module ${theirs:--}" \
		    "${ratio:--}" "$reach"
	done
	printf '| the same, with the candidates of our default, s | %s | - | - | - |\n' \
	    "$("$BENCH_TPE" "$n" "$dims" "$kind")"
done
