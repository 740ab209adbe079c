#!/bin/sh
# gp compares the improvement per second: of two equal valleys it searches the
# cheap one, durations come from the database, and a process that knows only
# that comes to the settings of a server.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"

need sqlite3

# The loss of a setting, with all its digits.
cat >valleys <<'END'
#!/bin/sh
awk -v x="$1" -v y="$2" 'BEGIN {
	a = (x - 0.2)^2; b = (x - 0.8)^2
	printf "hpotune: loss=%.17g\n", (a < b ? a : b) + (y - 0.4)^2 }'
END
chmod +x valleys
study() { # name strategy limits
	cat >"$1.json" <<END
{ "study": "$1",
  "objective": { "metric": "loss", "goal": "minimize" },
  "parameters": { "x": { "type": "float", "min": 0, "max": 1 },
    "y": { "type": "float", "min": 0, "max": 1 } },
  "strategy": { $2 },
  "stopping": "none",
  "trial": { "command": ["./valleys", "{x}", "{y}"] },
  "limits": { $3 } }
END
}
# Trials of the study, run by this loop.  They are recorded as if they took
# exp(5 x) seconds, or those in the file $3.
loop() { # name trials [file]
	for i in $(seq "$2"); do
		eval "$("$HPOTUNE" ask "$1.json" 2>>asked)"
		loss=$(./valleys "$x" "$y")
		"$HPOTUNE" tell "$1.json" "$trial" --done "${loss#*: }" >>told
		us=$(awk -v x="$x" 'BEGIN { printf "%d", 1e6 * exp(5 * x) }')
		test $# -lt 3 || us=$(sed -n "${i}p" "$3")
		sqlite3 "$1.db" "UPDATE t_attempt SET started_us = ended_us - $us
		    WHERE trial = $trial"
	done
}
settings='SELECT trial, x, y FROM results ORDER BY trial'
gp='"name": "gp", "seed": 3'

study usual "$gp" '"trials": 22'
study aware "$gp, \"cost_aware\": true" '"trials": 22'
loop usual 22
loop aware 22
is "$(sql aware.db "$settings LIMIT 6")" "$(sql usual.db "$settings LIMIT 6")" \
    'the first trials are the same'
found='SELECT min(trial) FROM trials WHERE objective < 0.001'
is "$(sql aware.db "SELECT round(x, 1) FROM results WHERE trial = ($found)")" 0.2 \
    'with cost_aware the first good setting is in the cheap valley'
is "$(sql usual.db "SELECT round(x, 1) FROM results WHERE trial = ($found)")" 0.8 \
    'without it in the other one'
seconds="SELECT CAST(sum(seconds) AS INT) FROM trials WHERE trial <= ($found)"
ok 'it was found in less time' test "$(sql aware.db "$seconds")" -lt \
    "$(sql usual.db "$seconds")"
seconds='SELECT CAST(sum(seconds) AS INT) FROM trials'
ok 'and as many trials took less' test "$(sql aware.db "$seconds")" -lt \
    "$(sql usual.db "$seconds")"

# With a limit of time, and auto, it is the default.
study server '"name": "auto", "seed": 5' '"trials": 15, "parallel": 1,
    "wall_time": "1h"'
study fresh '"name": "auto", "seed": 5' '"trials": 15, "parallel": 1,
    "wall_time": "1h"'
study blind '"name": "gp", "seed": 5, "cost_aware": false' '"trials": 15,
    "parallel": 1, "wall_time": "1h"'
loop server 11
"$HPOTUNE" start -q server.json
sql server.db 'SELECT ended_us - started_us FROM t_attempt ORDER BY trial' >took
is "$(wc -l <took)" 15 'a server goes on with what a loop began'
loop fresh 15 took
is "$(sql fresh.db "$settings")" "$(sql server.db "$settings")" \
    'a new process for each trial comes to the same settings'
is "$(sql fresh.db 'SELECT group_concat(DISTINCT strategy) FROM suggestions')" \
    gp,middle 'from gp, as the trials are long'
loop blind 11
is "$(sql blind.db "$settings LIMIT 6")" "$(sql server.db "$settings LIMIT 6")" \
    'without durations the start is the same'
ok 'and what follows is not' test "$(sql blind.db "$settings LIMIT 1 OFFSET 10")" != \
    "$(sql server.db "$settings LIMIT 1 OFFSET 10")"

# Bad input.
sed 's/"cost_aware": true/"cost_aware": 3/' aware.json >wrong.json
fails 'a value that is not true or false' 2 quietly "$HPOTUNE" check wrong.json
like "$(cat err)" 'cost_aware: expected true or false' 'is an error that names the key'
sed 's/"name": "gp"/"name": "tpe"/' aware.json >wrong.json
fails 'the option with another strategy' 2 quietly "$HPOTUNE" check wrong.json
like "$(cat err)" 'cost_aware' 'is one, too'

done_testing
