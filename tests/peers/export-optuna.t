#!/bin/sh
# A study exported as an Optuna storage: Optuna 5 opens it, finds what hpotune
# has recorded, and continues it.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3
find_python 'optuna>=5'

# Each check of the script is a test.
checked() { # database what
	"$HPOTUNE" export "$1" --json -o "$2.json" &&
	    "$HPOTUNE" export "$1" --format optuna -o "$2.optuna" >out 2>&1
	is "$?,$(cat out)" 0, "$2: is written"
	sql "$1" 'SELECT json_group_array(trial) FROM front' >"$2.json.front"
	timeout 300 "$python" "$TOP_SRCDIR/tests/peers/export_optuna.py" \
	    "$2.optuna" "$2.json" >found 2>errors || diag "$(tail -n 5 errors)"
	while IFS='	' read -r got what; do
		is "$got" ok "$2: $what"
	done <found
	is "$(wc -l <found)" 13 "$2: all was looked at"
}

# Every kind of parameter, stopped trials, and a failed one, a cancelled one,
# two that run, one that waits for a second attempt, one for its first.
cat >study.json <<'END'
{
  "study": "kinds",
  "objective": { "metric": "loss", "goal": "minimize" },
  "parameters": {
    "lr": { "type": "float", "min": 1e-5, "max": 1, "scale": "log" },
    "keep": { "type": "float", "min": 0.5, "max": 0.999,
	"scale": "reverse-log" },
    "drop": { "type": "float", "min": 0, "max": 1, "step": 0.3 },
    "third": { "type": "float", "min": 0.1, "max": 0.8, "step": 0.1 },
    "x": { "type": "float", "min": -3, "max": 7 },
    "n": { "type": "int", "min": 2, "max": 21, "step": 3 },
    "width": { "type": "int", "min": 1, "max": 4096, "scale": "log" },
    "kind": { "type": "choice",
	"values": ["a", "b \"c\"", "", null, true, 3, 2.5] },
    "batch": { "type": "choice", "values": [8, 16, 32], "ordered": true },
    "depth": { "type": "int", "min": 1, "max": 9,
	"when": { "kind": ["a", ""] } },
    "epochs": { "type": "fixed", "value": 10 }
  },
  "strategy": { "name": "random", "seed": 3 },
  "trial": { "command": ["true", "{params}"], "max_steps": 10 },
  "backend": { "name": "pretend", "seconds_per_step": 0.001 },
  "limits": { "trials": 60 }
}
END
quietly "$HPOTUNE" start --quiet study.json
is $? 0 'a study is run'
told() { # end report …: a trial that is asked for; end "" = it goes on
	told_end=$1
	shift
	told_trial=$("$HPOTUNE" ask study.json | sed -n 's/^trial=//p')
	for told_report in "$@" $told_end; do
		quietly "$HPOTUNE" tell study.json "$told_trial" $told_report
	done
}
sed -i 's/"trials": 60/"trials": 90/' study.json
told '' 'step=0 loss=0.5'
quietly "$HPOTUNE" tell study.json "$told_trial" --failed --why 'it said "no"'
told --stopped 'step=0 loss=7' 'step=3 loss=6'
told --stopped 'step=1 loss=0.1' 'step=3 loss=nan'
told --done 'step=1 loss=inf'
told '' 'step=1 loss=-0.25'
told '' 'step=1 loss=0.75'
quietly "$HPOTUNE" stop --now study.json "$told_trial"
told --done 'step=4 loss=0.5' 'step=2 loss=0.125'
sqlite3 kinds.db <<'END'
INSERT INTO t_trial (trial, state, cause, last_step, reports, steps_run,
    steps_skipped, seconds, attempts, failures, free_retries, alone,
    not_before_us, begin_seq, source, params)
SELECT (SELECT max(trial) FROM t_trial) + n, 'waiting', 'none', -1, 0, 0, 0, 0,
    2 - n, 0, 0, 0, 0, 0, 'strategy', params
FROM t_trial, (SELECT 1 AS n UNION SELECT 2) WHERE trial = 5;
INSERT INTO t_attempt (trial, attempt, uuid, state, backend, slot, started_us,
    ended_us, end_class, log_offset, metrics_offset, log_skip, metrics_skip,
    max_rss, cpu_us)
SELECT max(trial) - 1, 1, 'x', 'ended', 'pretend', 0, 1e15 + 1, 1e15 + 2, 'lost',
    0, 0, 0, 0, 0, 0 FROM t_trial;
END
is "$(sql kinds.db 'SELECT group_concat(state || n, " ") FROM
    (SELECT state, count(*) AS n FROM trials WHERE trial > 60
    GROUP BY state ORDER BY state)')" \
    'cancelled1 completed1 failed2 running1 stopped2 waiting2' \
    'there are trials of all kinds'
checked kinds.db kinds
is "$(sql kinds.optuna "SELECT group_concat(intermediate_value_type || n) FROM
    (SELECT intermediate_value_type, count(*) AS n
    FROM trial_intermediate_values WHERE intermediate_value IS NULL
    GROUP BY 1 ORDER BY 1)")" INF_POS1,NAN1 'kinds: what is not finite'

is "$(sql kinds.optuna "SELECT param_name, distribution_json ->>
    '\$.attributes.high' FROM trial_params WHERE trial_id = 1 AND
    param_name IN ('drop', 'n') ORDER BY 1")" 'drop|0.9
n|20' 'kinds: a range ends at its last value'

# A study that maximizes, by the best report, with a bound on another metric.
mkdir bound
cat >bound/study.json <<'END'
{
  "study": "bound",
  "objective": { "metric": "score", "goal": "maximize" },
  "constraints": [ { "metric": "ms", "max": 5 } ],
  "parameters": { "x": { "type": "float", "min": 0, "max": 1 } },
  "strategy": "random", "stopping": "none",
  "limits": { "trials": 20 }
}
END
for reports in 'score=0.5 ms=3' 'score=0.9 ms=7' 'score=0.7 ms=5' 'score=0.8'
do
	trial=$("$HPOTUNE" ask bound/study.json | sed -n 's/^trial=//p')
	quietly "$HPOTUNE" tell bound/study.json "$trial" step=1 $reports --done
done
checked bound/bound.db bound

# Several objectives.
mkdir wide
sed -e 's/"bound"/"wide"/' -e 's/"objective": {\(.*\)}/"objectives": [ {\1},\
    { "metric": "size", "goal": "minimize" } ]/' bound/study.json \
    >wide/study.json
for reports in 'score=0.5 size=3 ms=3' 'score=0.9 size=5 ms=4' \
    'score=0.4 size=4 ms=1' 'score=1 size=1 ms=7' 'score=0.2 ms=1'; do
	trial=$("$HPOTUNE" ask wide/study.json | sed -n 's/^trial=//p')
	quietly "$HPOTUNE" tell wide/study.json "$trial" step=1 $reports --done
done
checked wide/wide.db wide

done_testing
