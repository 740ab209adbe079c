#!/bin/sh
# Rows overhead, sleeps, report to decision, stop latency, start.  Optuna and
# Syne Tune run in the same call when $BENCH_PYTHON can import them.
. "$(dirname "$0")/bench-lib.sh"
here=$(cd "$OLDPWD" && cd "$(dirname "$0")" && pwd)

peer() { # script argument …: its one number, or nothing
	[ -n "${BENCH_PYTHON-}" ] || return 0
	"$BENCH_PYTHON" "$here/$1" "$2" "$3" "$BENCH_TRIAL" 2>"$1.err" |
	    tail -n 1
}

bench_overhead() {
	n=2000
	study over "[\"$BENCH_TRIAL\", \"reports\", \"5\"]" $n 8
	began=$(now)
	"$HPOTUNE" start over.json --quiet
	ours=$(calc "$n / $(since "$began")")
	mkdir -p bare
	bare=$("$BENCH_BARE" $n 8 "$bench_dir/bare" "$BENCH_TRIAL" reports 5)
	bare=$(calc "$n / $bare")
	row "overhead, trials/s" "$ours" "bare loop $bare" \
	    "$(calc "$bare / $ours")" "≥ 300/s; within 2 of the bare loop"
	for tool in optuna syne_tune; do
		theirs=$(peer "overhead_$tool.py" 100 8)
		[ -z "$theirs" ] || row "overhead, trials/s" "$ours" \
		    "$tool $theirs" "$(calc "$ours / $theirs")" "≥ 20"
	done
}

bench_sleeps() {
	n=1000
	study sleeps "[\"$BENCH_TRIAL\", \"sleep\", \"1000\"]" $n 16
	began=$(now)
	"$HPOTUNE" start sleeps.json --quiet
	ours=$(since "$began")
	row "1,000 one-second trials, 16 parallel, s" "$ours" "floor 62.5" \
	    "$(calc "$ours / 62.5")" "≤ 1.02 (Ray: 1.14)"
}

bench_reports() {
	study flood "[\"$BENCH_TRIAL\", \"reports\", \"20000\"]" 64 64 \
	    '"stopping": { "rule": "median", "warmup_steps": 19000 }' 20001
	began=$(now)
	"$HPOTUNE" start flood.json --quiet
	took=$(since "$began")
	n=$(sqlite3 flood.db 'SELECT count(*) FROM metrics')
	row "reports/s recorded and judged, 64 writers" \
	    "$(calc "$n / $took")" "Ray, published: 500" \
	    "$(calc "$n / $took / 500")" "≥ 200,000/s"
}

bench_stop() {
	study stops "[\"$BENCH_TRIAL\", \"stopme\", \"$bench_dir/lat\"]" 200 2 \
	    '"stopping": { "rule": "threshold", "upper": 1, "warmup_steps": 0 }'
	"$HPOTUNE" start stops.json --quiet
	row "stop latency p50, ms" \
	    "$(calc "$(percentile 50 <lat) / 1000")" - - "≤ 5"
	row "stop latency p99, ms" \
	    "$(calc "$(percentile 99 <lat) / 1000")" - - "≤ 20"
}

bench_start() {
	i=0
	while [ $i -lt 20 ]; do
		i=$((i + 1))
		study "start$i" "[\"$BENCH_TRIAL\", \"when\", \"$bench_dir/at\"]" 1 1
		before=$(date +%s%N)
		"$HPOTUNE" start "start$i.json" --quiet
		echo "$(tail -n 1 at) $before" |
		    awk '{ print ($1 * 1000 - $2) / 1e6 }' >>starts
	done
	theirs=
	[ -z "${BENCH_PYTHON-}" ] || theirs=$("$BENCH_PYTHON" -c '
import time; t = time.perf_counter(); import optuna
print(f"{(time.perf_counter() - t) * 1e3:.0f}")' 2>/dev/null || :)
	ours=$(percentile 50 <starts)
	row "start to first trial, ms (median of 20)" "$(calc "$ours")" \
	    "${theirs:+optuna, import alone $theirs}" \
	    "${theirs:+$(calc "$theirs / $ours")}" "≤ 30"
}

for bench in ${*:-overhead sleeps reports stop start}; do
	"bench_$bench"
done
