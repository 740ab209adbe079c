#!/bin/sh
# growth.sh [TRIALS …]: how costs grow with the trials of a study. One study of
# pretended trials with 20 reports each is continued to each number of trials;
# there its commands are measured by their CPU time and by the most memory they
# had, which other work on the machine changes less than the clock.
. "$(dirname "$0")/bench-lib.sh"

HPOTUNE_WORKER=${HPOTUNE_WORKER:-$(dirname "$HPOTUNE")/hpotune-worker}
export HPOTUNE_WORKER
[ $# -gt 0 ] || set -- 1000 10000 100000 1000000

# meter COMMAND …: what it took, to meter.txt
meter() {
	"${BENCH_METER:?is bench/meter}" "$@" >meter.txt
}
cpu_ms() {
	awk '{ printf "%.4g", $1 }' meter.txt
}
mib() {
	awk '{ printf "%.3g", $2 }' meter.txt
}

# json STRATEGY: big.json
json() {
	cat >big.json <<-END
	{ "study": "big", "objective": { "metric": "v", "goal": "maximize" },
	  "parameters": {
	    "lr": { "type": "float", "min": 1e-4, "max": 0.3, "scale": "log" },
	    "width": { "type": "int", "min": 16, "max": 256 } },
	  "strategy": { "name": "$1", "seed": 1 },
	  "stopping": { "rule": "median", "warmup_steps": 20 },
	  "trial": { "command": ["none"], "max_steps": 20 },
	  "backend": { "name": "pretend", "seconds_per_step": 0, "slots": 64 },
	  "limits": { "trials": 100 } }
	END
}

# put WHAT VALUE: a further column of the row WHAT
put() {
	printf '| %s ' "$2" >>"row.$1"
}

before=0
for n in "$@"; do
	json random
	meter "$HPOTUNE" start big.json --quiet --trials "$n"
	put 01 "$(awk -v n=$((n - before)) '{ printf "%.3g", $1 * 1e3 / n }' \
	    meter.txt)"
	put 02 "$(mib)"
	put 03 "$(calc "$(stat -c %s big.db) / $n")"
	before=$n

	n=$((n + 1))
	meter "$HPOTUNE" start big.json --quiet --trials "$n"
	put 04 "$(cpu_ms)"
	put 05 "$(mib)"

	worst=0
	for view in $(sqlite3 -readonly big.db \
	    "SELECT name FROM sqlite_schema WHERE type = 'view' AND name <> 't_billed'"); do # a trigger's
		meter sqlite3 -readonly big.db "SELECT * FROM $view LIMIT 20"
		worst=$(awk -v a="$worst" -v name="$view" '{
		    split(a, was, " "); now = $1
		    if (now > was[1]) printf "%.3g (%s)", now, name
		    else print a }' meter.txt)
	done
	put 06 "$worst"
	meter "$HPOTUNE" status big.json
	put 07 "$(cpu_ms)"
	meter "$HPOTUNE" trials big.json
	put 08 "$(cpu_ms), $(mib)"
	meter "$HPOTUNE" report big.json -o big.html
	put 09 "$(cpu_ms), $(mib)"
	meter "$HPOTUNE" export big.json
	put 10 "$(cpu_ms), $(mib)"
	for strategy in tpe auto; do
		json "$strategy"
		n=$((n + 100))
		meter "$HPOTUNE" start big.json --quiet --trials "$n"
		put 11$strategy "$(cpu_ms)"
	done
	before=$n
done

printf '| what'
printf ' | %s' "$@"
printf ' |\n|---'
for n in "$@"; do
	printf '|---'
done
printf '|\n'
line() {
	printf '| %s %s|\n' "$2" "$(cat "row.$1")"
}
line 01 'a further trial with 20 reports, us of CPU'
line 02 'server at its end, MiB'
line 03 'database, bytes a trial'
line 04 'start again, one more trial, end, ms of CPU'
line 05 'the same, MiB'
line 06 'slowest view, LIMIT 20, sqlite3 started, ms of CPU'
line 07 '`status`, ms of CPU'
line 08 '`trials`, ms of CPU, MiB'
line 09 '`report`, ms of CPU, MiB'
line 10 '`export`, ms of CPU, MiB'
line 11tpe 'start again, 100 trials of `tpe`, end, ms of CPU'
line 11auto 'the same with `auto`, ms of CPU'
