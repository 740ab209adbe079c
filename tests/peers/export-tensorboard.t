#!/bin/sh
# A study exported for TensorBoard: its server finds the parameters with their
# types and ranges, the sessions of the HParams page, and all metrics.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3
find_python tensorboard

cat >study.json <<'END'
{ "study": "board", "objective": { "metric": "val/loss", "goal": "minimize" },
  "parameters": {
    "lr": { "type": "float", "min": 1e-5, "max": 1, "scale": "log" },
    "n": { "type": "int", "min": 1, "max": 4 },
    "opt": { "type": "choice", "values": ["a", "b \"c\"", null] },
    "flag": { "type": "choice", "values": [true, false] },
    "size": { "type": "choice", "values": [0.5, 2], "when": { "flag": [true] } },
    "fix": { "type": "fixed", "value": "é" } },
  "stopping": "none", "strategy": { "name": "random", "seed": 1 },
  "limits": { "trials": 5 } }
END
for end in --done --failed --stopped --done ''; do
	trial=$("$HPOTUNE" ask study.json | sed -n 's/^trial=//p')
	for report in 'step=0 val/loss=0.5 acc=0.25' 'step=200 val/loss=nan' \
	    'step=4000 val/loss=-0.125'; do
		quietly "$HPOTUNE" tell study.json "$trial" $report
	done
	[ -z "$end" ] || quietly "$HPOTUNE" tell study.json "$trial" "$end"
done
quietly "$HPOTUNE" forget study.json 4
ok 'a folder is written' quietly "$HPOTUNE" export --format tensorboard -o logs
timeout 300 "$python" "$TOP_SRCDIR/tests/peers/export_tensorboard.py" logs \
    trial-5 >found 2>errors || diag "$(tail -n 5 errors)"
is "$(grep -E '^(name|hparam|metric) ' found)" 'name board
hparam fix DATA_TYPE_STRING ["\u00e9"]
hparam flag DATA_TYPE_BOOL [true, false]
hparam lr DATA_TYPE_FLOAT64 {"minValue": 1e-05, "maxValue": 1.0}
hparam n DATA_TYPE_FLOAT64 {"minValue": 1.0, "maxValue": 4.0}
hparam opt DATA_TYPE_STRING ["a", "b \"c\"", "null"]
hparam size DATA_TYPE_FLOAT64 [0.5, 2.0]
metric val/loss minimize' 'parameters have their types, and the metric its goal'
is "$(grep -E '^trial-[0-9] STATUS' found | sed 's/ {.*//')" 'trial-1 STATUS_SUCCESS
trial-2 STATUS_FAILURE
trial-3 STATUS_SUCCESS
trial-5 STATUS_RUNNING' 'each trial that counts is a session with its state'
is "$(sed -n 's/^\(trial-[0-9]\) STATUS_[A-Z]* \({.*}\) {.*/\1 \2/p' found |
    "$python" -c '
import json, sys
for line in sys.stdin:
    name, _, params = line.partition(" ")
    params = {k: "null" if v is None else v for k, v in json.loads(params).items()
              if v not in ("", None)}
    print(name, json.dumps(params, sort_keys=True))')" \
    "$(sqlite3 board.db "SELECT 'trial-' || trial || ' ' || params FROM trials
    WHERE NOT forgotten" | "$python" -c '
import json, sys
for line in sys.stdin:
    name, _, params = line.partition(" ")
    params = {k: "null" if v is None else float(v) if type(v) is int else v
              for k, v in json.loads(params).items()}
    print(name, json.dumps(params, sort_keys=True))')" \
    'with its parameters'
is "$(grep '^trial-1 [av]' found)" 'trial-1 acc [[0, 0.25]]
trial-1 val/loss [[0, 0.5], [200, '"'NaN'"'], [4000, -0.125]]' \
    'all metrics are there, with steps'
done_testing
