#!/bin/sh
# Rows of search quality: bench/search.py on known functions, and on LCBench
# where $BENCH_DATA has it; Optuna 5 in the same run when $BENCH_PYTHON has it,
# and Syne Tune 0.16 where it has that.
#	search.sh [SEEDS [TRIALS]]
set -eu
: "${BENCH_SEARCH:?is bench/search-loop}"
here=$(cd "$(dirname "$0")" && pwd)
[ -n "${BENCH_PYTHON-}" ] || exit 0
lcbench=
[ ! -e "${BENCH_DATA-}/lcbench/model.onnx" ] || lcbench=$BENCH_DATA/lcbench

"$BENCH_PYTHON" "$here/search.py" "$BENCH_SEARCH" ${lcbench:+--lcbench "$lcbench"} \
    --seeds "${1-20}" --trials "${2-100}" 2>/dev/null
[ -n "$lcbench" ] || exit 0
echo
echo 'With stopping rules, the epochs of as many full trials:'
echo
"$BENCH_PYTHON" "$here/search.py" "$BENCH_SEARCH" --lcbench "$lcbench" \
    --seeds "${1-20}" --trials "$((${2-100} / 2))" --equal-epochs \
    --tools tpe,optuna:TPESampler 2>/dev/null
"$BENCH_PYTHON" -c 'import scipy, syne_tune' 2>/dev/null || exit 0
echo
echo 'Against tools that search and stop together, 25 full trials:'
echo
"$BENCH_PYTHON" "$here/search.py" "$BENCH_SEARCH" --lcbench "$lcbench" \
    --seeds "$(((${1-20} + 3) / 4))" --trials 25 --equal-epochs \
    --tools tpe,auto,optuna:TPESampler,syne:ASHA,syne:BORE,freeze:thaw 2>/dev/null
