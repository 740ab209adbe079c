#!/bin/sh
# Rows memory, resume, queries: a study of 100,000 trials of 20 steps, made by
# the pretend backend in a real server.
. "$(dirname "$0")/bench-lib.sh"

n=${1:-100000}

rss_kb() { # pid
	awk '/^VmRSS/ { print $2 }' "/proc/$1/status"
}

finished() {
	sqlite3 -readonly big.db 'SELECT completed + stopped FROM study' \
	    2>/dev/null || echo 0
}

cat >big.json <<EOF
{ "study": "big", "objective": { "metric": "v", "goal": "maximize" },
  "parameters": {
    "lr": { "type": "float", "min": 1e-4, "max": 0.3, "scale": "log" },
    "width": { "type": "int", "min": 16, "max": 256 } },
  "strategy": { "name": "random", "seed": 1 },
  "stopping": { "rule": "median", "warmup_steps": 20 },
  "trial": { "command": ["none"], "max_steps": 20 },
  "backend": { "name": "pretend", "seconds_per_step": 0, "slots": 64 },
  "limits": { "trials": $((n * 2)) } }
EOF

wait_for() { # trials
	while [ "$(finished)" -lt "$1" ]; do
		sleep 0.1
	done
}

"$HPOTUNE" start big.json --detach --quiet
pid=$(sed -n 's/^pid \([0-9]*\) .*/\1/p' big.d/lock)
# The slope from a third of the way, past what caches take.
wait_for $((n / 3))
third=$(rss_kb "$pid") third_at=$(finished)
wait_for $((n * 9 / 10))
most=$(rss_kb "$pid") most_at=$(finished)
wait_for "$n"
"$HPOTUNE" pause big.json >/dev/null
while [ "$(sqlite3 -readonly big.db 'SELECT running FROM study')" -gt 0 ]; do
	sleep 0.1
done
full=$(rss_kb "$pid") full_at=$(finished)
"$HPOTUNE" stop big.json >/dev/null
"$HPOTUNE" resume big.json >/dev/null # a pause outlives its server
row "memory at $full_at trials of 20 steps, MiB" "$(calc "$full / 1024")" \
    - - "≤ 64"
row "bytes per further trial" \
    "$(calc "($most - $third) * 1024 / ($most_at - $third_at)")" - - "≤ 200"

# One more trial: what a restart costs.
began=$(now)
"$HPOTUNE" start big.json --quiet --trials $((full_at + 1))
row "resume with $full_at trials, run one more, end, s" "$(since "$began")" \
    - - "≤ 1"

worst=0
for view in study trials results best curves metrics medians stops attempts \
    savings events; do
	began=$(now)
	sqlite3 -readonly big.db "SELECT * FROM $view LIMIT 20" >/dev/null
	took=$(calc "$(since "$began") * 1000")
	echo "view $view: $took ms" >&2
	worst=$(awk -v a="$worst" -v b="$took" 'BEGIN { print (a > b ? a : b) }')
done
row "slowest view, LIMIT 20, sqlite3 started, ms" "$worst" - - "≤ 50"
