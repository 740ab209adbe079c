#!/bin/sh
# Row gp: fit and suggestion on n trials; Optuna's GPSampler and BoTorch in the
# same call when $BENCH_PYTHON has them (with torch).  One thread each.
#	gp.sh [N ...]
set -eu
: "${BENCH_SEARCH:?is bench/search-loop}"
here=$(cd "$(dirname "$0")" && pwd)
[ -n "${BENCH_PYTHON-}" ] || exit 0
OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1
export OPENBLAS_NUM_THREADS OMP_NUM_THREADS
[ $# -gt 0 ] || set -- 200 1000

one() { # tool n [options]: seconds value, or nothing
	"$BENCH_PYTHON" "$here/gp.py" "$BENCH_SEARCH" "$@" 2>/dev/null || :
}

for n; do
	for options in '{}' '{"candidates": 2048}'; do
		read -r ours value <<END
$(one ours "$n" "$options")
END
		for tool in optuna botorch; do
			peer=$(one $tool "$n")
			[ -n "$peer" ] || continue
			printf '| gp, n = %s, %s, s (value found) | %s (%s) | %s %s (%s) | %s | ≥ 10 |\n' \
			    "$n" "$options" "$ours" "$value" $tool ${peer% *} \
			    "${peer#* }" \
			    "$(awk "BEGIN { printf \"%.3g\", ${peer% *} / $ours }")"
		done
	done
done
