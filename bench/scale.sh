#!/bin/sh
# Rows memory, resume, queries: a study of 100,000 trials of 20 steps, made by
# the pretend backend in a real server.
. "$(dirname "$0")/lib.sh"

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
  "limits": { "trials": $((n + 1)) } }
EOF

# Pausing keeps the server there when it has done what there is to do.
"$HPOTUNE" start big.json --detach --quiet
pid=$(sed -n 's/^pid \([0-9]*\) .*/\1/p' big.d/lock)
half=
while [ -d "/proc/$pid" ]; do
	done=$(finished)
	if [ -z "$half" ] && [ "$done" -ge $((n / 2)) ]; then
		half=$(rss_kb "$pid") half_at=$done
	fi
	if [ "$done" -ge $((n * 9 / 10)) ]; then
		full=$(rss_kb "$pid") full_at=$done
		[ "$done" -lt "$n" ] || break
	fi
	sleep 0.1
done
while [ -d "/proc/$pid" ]; do
	sleep 0.1
done
row "memory at $full_at trials, MiB" "$(calc "$full / 1024")" - - "≤ 64"
row "bytes per further trial" \
    "$(calc "($full - $half) * 1024 / ($full_at - $half_at)")" - - "≤ 200"

# Three more trials: what a restart costs before the first is placed.
began=$(now)
"$HPOTUNE" start big.json --quiet --trials $((n + 2))
row "resume with $n trials, s" "$(since "$began")" - - "≤ 1"

worst=0
for view in study trials results best curves metrics medians stops attempts \
    savings events; do
	began=$(now)
	sqlite3 -readonly big.db "SELECT * FROM $view LIMIT 20" >/dev/null
	took=$(calc "$(since "$began") * 1000")
	echo "view $view: $took ms" >&2
	worst=$(awk -v a="$worst" -v b="$took" 'BEGIN { print a > b ? a : b }')
done
row "slowest view, LIMIT 20, sqlite3 started, ms" "$worst" - - "≤ 50"
