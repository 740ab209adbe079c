#!/bin/sh
# "when" with several parameters: whoever suggests a setting, it has what its
# conditions say and nothing else.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"

need sqlite3

study() { # name strategy trials [more]
	cat >"$1.json" <<END
{
  "study": "$1",
  "objective": { "metric": "loss", "goal": "minimize" },
  "parameters": {
    "mom":    { "type": "float", "min": 0, "max": 1, "default": 0.5,
                "when": { "opt": ["sgd"], "nest": [true] } },
    "either": { "type": "int", "min": 0, "max": 2, "default": 1,
                "when": [{ "opt": ["adam"] }, { "layers": [3], "opt": ["sgd"] }] },
    "wide":   { "type": "int", "min": 1, "max": 2,
                "when": "layers >= 2 and not (rate < 0.1 or nest)" },
    "opt":    { "type": "choice", "values": ["sgd", "adam"] },
    "nest":   { "type": "choice", "values": [false, true], "when": { "opt": ["sgd"] } },
    "layers": { "type": "int", "min": 1, "max": 3 },
    "rate":   { "type": "float", "min": 0, "max": 1 }
  },
  "strategy": $2,
  "stopping": "none",
  "trial": { "command": ["sh", "-c", "echo hpotune: step=1 loss=\$(({trial} % 3))"] },
  ${4-}
  "limits": { "trials": $3, "parallel": 1 }
}
END
}
# The same conditions in SQL; "is" is 0 or 1 also for NULL.
p() { echo "json_extract(params, '\$.$1')"; }
mom="$(p opt) = 'sgd' AND $(p nest) IS 1"
either="$(p opt) = 'adam' OR $(p layers) = 3"
wide="$(p layers) >= 2 AND $(p rate) >= 0.1 AND $(p nest) IS 0"
broken="sum(($(p nest) IS NOT NULL) <> ($(p opt) = 'sgd'))
    + sum(($(p mom) IS NOT NULL) <> ($mom))
    + sum(($(p either) IS NOT NULL) <> ($either))
    + sum(($(p wide) IS NOT NULL) <> ($wide))"
branches="min(count(DISTINCT $mom), count(DISTINCT $either), count(DISTINCT $wide))"

# The results, for which no process is started, say nothing about the settings, so
# a model may prefer any branch: the seeds are such that it comes to all.
for strategy in random sobol tpe gp cmaes nsga2 bohb auto; do
	seed=3
	[ $strategy != gp ] || seed=8
	study "$strategy" "{ \"name\": \"$strategy\", \"seed\": $seed }" 40 \
	    '"backend": { "name": "pretend", "steps": 1, "noise": 10,
	    "seconds_per_step": 0.001 },'
	"$HPOTUNE" start --quiet "$strategy.json" 2>err || note "$(cat err)"
	is "$(sql "$strategy.db" "SELECT count(*), $broken, $branches FROM trials")" '40|0|2' \
	    "$strategy: no trial violates a condition, and each is met in some trials"
done

# opt = sgd: nest true: 2 mom x (2 layers + 1 layer x 3 either) x 2 rate = 20, nest
# false: layers 1: 2; layers 2: 1 + 2 wide; layers 3: (1 + 2 wide) x 3; adam: 18.
study grid '{ "name": "grid", "levels": 2 }' 100
sed -i 's/"default": [0-9.]*,//' grid.json
ok 'the grid runs' quietly "$HPOTUNE" start --quiet grid.json
is "$(sql grid.db "SELECT count(*), count(DISTINCT params), $broken FROM trials")" \
    '52|52|0' 'the grid has each setting once'

like "$("$HPOTUNE" check random.json)" 'when opt is sgd, and nest is true' \
    'check shows a condition of two parameters in words'
like "$("$HPOTUNE" check random.json | tr -s ' \n' ' ')" \
    'when opt is adam; or layers is 3, and opt is sgd' 'and alternatives'
"$HPOTUNE" report random.json >report.out
like "$(cat "$(cat report.out)")" 'opt is sgd, and nest is true' 'the report has it, too'

# Requested settings.
fails 'enqueue refuses a value under a condition that does not hold' 1 \
    quietly "$HPOTUNE" enqueue random.json opt=sgd nest=false mom=0.5
like "$(cat err)" 'mom has no value when opt is "sgd" and nest is false: its condition is opt is sgd, and nest is true$' \
    'the error has the condition'
fails 'and one under an expression' 1 \
    quietly "$HPOTUNE" enqueue random.json rate=0.05 wide=1
like "$(cat err)" 'wide has no value when rate is 0.05: its condition is layers >= 2 and not \(rate < 0\.1 or nest\)$' \
    'its error has the expression'
study asked '{ "name": "random", "seed": 1 }' 4
"$HPOTUNE" start --quiet --trials 1 asked.json
ok 'a part of a setting is queued' \
    quietly "$HPOTUNE" enqueue asked.json mom=0.25 opt=sgd nest=true
ok 'and another' quietly "$HPOTUNE" enqueue asked.json wide=2 layers=2 opt=sgd \
    nest=false rate=0.5
ok 'the study runs' "$HPOTUNE" start --quiet --trials 3 asked.json
is "$(sql asked.db "SELECT $(p mom), $(p wide) FROM trials WHERE trial IN (2, 3)
    ORDER BY trial" | tr '\n' ' ')" '0.25| |2 ' 'queued values are kept'
"$HPOTUNE" ask asked.json >asked.out 2>&1
is "$(sql asked.db "SELECT count(*), $broken FROM trials")" '4|0' \
    'so it is with a trial that a program asked for'

# Trials of another study that have too much or too little do not fit.
study warm '{ "name": "tpe", "seed": 4 }' 6 '"warm_start": ["random.db"],'
like "$("$HPOTUNE" check warm.json)" 'warm start  *40 of 40 trials of random\.db' \
    'trials of a study with the same conditions are taken over'
sed 's/"layers": \[3\]/"layers": [2]/' warm.json >other.json
like "$("$HPOTUNE" check other.json)" 'warm start [0-9]* of 40 trials of random\.db' \
    'under another condition some do not fit'

# The conditions of a study may change when what was tried has a place.
cp random.json changed.json
sed -i 's/"study": "random"/"study": "changed"/' changed.json
"$HPOTUNE" start --quiet --trials 5 changed.json
is "$("$HPOTUNE" start --quiet --trials 6 changed.json 2>&1)" '' 'the study goes on'
sed -i 's/rate < 0.1 or nest/nest or rate < 0.1/' changed.json
ok 'a condition may be written in another way' \
    quietly "$HPOTUNE" start --quiet --trials 7 changed.json

# Exports have the settings as they are.
"$HPOTUNE" export --format csv random.json >out.csv
is "$(sqlite3 :memory: '.mode csv' '.import out.csv t' \
    "SELECT sum((mom <> '') <> (opt = 'sgd' AND nest IN ('true', '1'))) FROM t")" 0 \
    'a table has no value of an inactive parameter'

done_testing
