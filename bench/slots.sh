#!/bin/sh
# slots.sh [PRETENDED [REAL]]: what many running trials cost the server: trials
# that are pretended, with one report a second each, and processes of sleep,
# without reports.
. "$(dirname "$0")/bench-lib.sh"

pretended=${1:-10000}
real=${2:-1000}

cpu_ms() { # pid
	awk -v hz="$(getconf CLK_TCK)" \
	    '{ sub(/.*\) /, ""); print ($12 + $13) * 1000 / hz }' "/proc/$1/stat"
}
rss_mib() { # pid
	awk '/^VmRSS/ { printf "%.3g", $2 / 1024 }' "/proc/$1/status"
}
running() { # study
	sqlite3 -readonly "$1.db" "SELECT count(*) FROM attempts
	    WHERE state = 'running' AND started IS NOT NULL" 2>/dev/null || echo 0
}

# slots NAME N: start the study NAME.json and measure it with N running trials
slots() {
	began=$(now)
	"$HPOTUNE" start "$1.json" --detach --quiet
	pid=$(sed -n 's/^pid \([0-9]*\) .*/\1/p' "$1.d/lock")
	while [ "$(running "$1")" -lt "$2" ]; do
		sleep 0.2
	done
	row "$1: server, until $2 trials run, ms of CPU a trial (s)" \
	    "$(calc "$(cpu_ms "$pid") / $2") ($(since "$began"))" - - -
	before=$(cpu_ms "$pid") began=$(now)
	sleep 15
	used=$(calc "($(cpu_ms "$pid") - $before) / $(since "$began") / 10")
	row "$1: server, % of a core for 1,000 of $2 running trials" \
	    "$(calc "$used * 1000 / $2")" - - -
	row "$1: server, MiB" "$(rss_mib "$pid")" - - -
	"$HPOTUNE" stop "$1.json" --now >/dev/null
}

cat >pretended.json <<END
{ "study": "pretended", "objective": { "metric": "v", "goal": "maximize" },
  "parameters": { "x": { "type": "float", "min": 0, "max": 1 } },
  "strategy": { "name": "random", "seed": 1 },
  "trial": { "command": ["none"], "max_steps": 1000 },
  "backend": { "name": "pretend", "seconds_per_step": 1, "slots": $pretended },
  "limits": { "trials": $pretended } }
END
slots pretended "$pretended"
study real '["sleep", "300"]' "$real" "$real"
slots real "$real"
