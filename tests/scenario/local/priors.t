#!/bin/sh
# Priors and steps on a log scale: every strategy keeps to them, and so do
# settings of the user.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3

study() { # strategy
	cat >"$1.json" <<E
{ "study": "$1", "objective": { "metric": "loss", "goal": "minimize" },
  "parameters": {
    "batch": { "type": "int", "min": 8, "max": 1024, "step": 8,
               "scale": "log" },
    "width": { "type": "float", "min": 0.1, "max": 10, "step": 0.1,
               "scale": "log", "mean": 0, "sd": 1 },
    "lr":    { "type": "float", "scale": "log", "mean": -7, "sd": 1.5 },
    "opt":   { "type": "choice", "values": ["a", "b"], "weights": [9, 1] } },
  "where": ["batch * width <= 2000"],
  "strategy": { "name": "$1", "seed": 1 }, "stopping": "none",
  "trial": { "command": ["true"] },
  "backend": { "name": "pretend", "steps": 1, "seconds_per_step": 0.001 },
  "limits": { "trials": 24, "parallel": 2 } }
E
}
for s in random sobol grid tpe gp cmaes nsga2 bohb; do
	study $s
	ok "$s runs" quietly timeout 300 "$HPOTUNE" start -q $s.json
	is "$(sql $s.db "SELECT count(*), sum(batch % 8),
	    sum(abs(width * 10 - round(width * 10)) > 1e-6),
	    sum(batch * width > 2000) FROM results")" '24|0|0|0' \
	    "$s: whole steps under the condition"
done
is "$(sql sobol.db "SELECT sum(opt = 'a') FROM results")" 22 \
    'nine of ten points of Sobol have the choice with the weight 9'
is "$(sql sobol.db "SELECT sum(lr < exp(-7)) BETWEEN 10 AND 14,
    sum(lr BETWEEN exp(-8.5) AND exp(-5.5)) BETWEEN 14 AND 19 FROM results")" \
    '1|1' 'half of them are below the mean, two of three within one sd'
"$HPOTUNE" check random.json >out
like "$(cat out)" 'a, b; weights 9, 1' 'check has the weights'
like "$(cat out)" 'normal logarithm, mean -7, sd 1.5' 'and the distribution'
"$HPOTUNE" enqueue random.json batch=12 >out 2>err
is "$? $(cat err)" \
    '2 hpotune: batch: expected a whole number from 8 to 1024 in steps of 8' \
    'a value between two steps is none'

# A prior may change; trials outside of bounds that follow from it stay.
sed -i 's/"sd": 1.5/"sd": 2/; s/"trials": 24/"trials": 25/' random.json
ok 'a changed prior' quietly timeout 300 "$HPOTUNE" start -q random.json
is "$(sql random.db "SELECT key, old, new, outside FROM changes
    WHERE key LIKE '%sd'")" 'parameters.lr.sd|1.5|2|0' 'is recorded'

done_testing
