#!/bin/sh
# "where": conditions that every setting satisfies, whoever suggests it.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"

need sqlite3

study() { # name strategy trials [more]
	cat >"$1.json" <<END
{
  "study": "$1",
  "objective": { "metric": "loss", "goal": "minimize" },
  "parameters": {
    "layers": { "type": "int", "min": 1, "max": 64 },
    "width":  { "type": "int", "min": 16, "max": 1024, "scale": "log" },
    "opt":    { "type": "choice", "values": ["sgd", "adam"] },
    "mom":    { "type": "float", "min": 0, "max": 1, "when": { "opt": ["sgd"] } }
  },
  "where": ["layers * width <= 4096", "mom < 0.5"],
  "strategy": $2,
  "stopping": "none",
  "trial": { "command": ["sh", "-c", "echo hpotune: step=1 loss={layers}"] },
  ${4-}
  "limits": { "trials": $3, "parallel": 2 }
}
END
}
outside="json_extract(params, '\$.layers') * json_extract(params, '\$.width')
    > 4096 OR ifnull(json_extract(params, '\$.mom'), 0) >= 0.5"

study first '{ "name": "tpe", "seed": 4 }' 20
is "$("$HPOTUNE" check first.json | sed -n '/^where/,/^objective/p' |
    sed 's/about [0-9.]*/about N/')" 'where      layers * width <= 4096
           mom < 0.5
           (about N % of all settings)
objective  minimize loss' 'check shows the conditions, and how many settings satisfy them'

"$HPOTUNE" start --quiet --trials 3 first.json
fails 'enqueue refuses a setting that satisfies a condition not' 1 \
    quietly "$HPOTUNE" enqueue first.json layers=64 width=65
like "$(cat err)" 'the setting does not satisfy layers \* width <= 4096$' \
    'the error has the condition'
fails 'try refuses such a setting' 2 quietly "$HPOTUNE" try first.json opt=sgd mom=0.5
like "$(cat err)" 'the setting does not satisfy mom < 0\.5$' \
    'its error has the condition, too'

ok 'a setting of which a part is open is queued' \
    quietly "$HPOTUNE" enqueue first.json layers=64 opt=sgd
ok 'the study runs' "$HPOTUNE" start --quiet first.json
is "$(sql first.db "SELECT count(*), sum($outside) FROM trials")" '20|0' \
    'every trial satisfies the conditions'
is "$(sql first.db "SELECT json_extract(params, '\$.layers'),
    json_extract(params, '\$.opt') FROM trials WHERE trial = 4")" '64|sgd' \
    'the queued setting kept its values'

# A study without conditions is the source.
study old '{ "name": "random", "seed": 2 }' 30
sed -i '/"where"/d' old.json
"$HPOTUNE" start --quiet old.json
inside=$(sql old.db "SELECT count(*) - sum($outside) FROM trials")
study warm '{ "name": "tpe", "seed": 4 }' 5 '"warm_start": ["old.db"],'
like "$("$HPOTUNE" check warm.json)" \
    "warm start $inside of 30 trials of old\\.db; .* do not fit \\(not where layers" \
    'trials of other studies that satisfy a condition not are left out'

# The user's own strategy.
cat >own <<'END'
#!/usr/bin/env python3
import json, sys
for line in sys.stdin:
    m = json.loads(line)
    if m["type"] == "study":
        open("own.where", "w").write(json.dumps(m["where"]))
    if m["type"] == "ask":
        print(json.dumps({"params": {"layers": 60 if m["redraw"] < 2 else m["trial"],
            "width": 1000 if m["redraw"] < 2 else 16, "opt": "adam"}}), flush=True)
END
chmod +x own
study own '{ "name": "external", "command": ["./own"] }' 3
ok 'a study with its own strategy runs' "$HPOTUNE" start --quiet own.json
is "$(cat own.where)" '["layers * width <= 4096", "mom < 0.5"]' \
    'the strategy gets the conditions'
is "$(sql own.db "SELECT group_concat(json_extract(params, '\$.layers')),
    sum($outside) FROM trials")" '1,2,3|0' \
    'it is asked again when its setting does not satisfy them'
is "$(sql own.db 'SELECT group_concat(redraws) FROM suggestions')" '2,2,2' \
    'such settings count as redraws'

# Conditions may change; the queue may hold settings from before.
"$HPOTUNE" enqueue own.json layers=3 width=800 >/dev/null
sed -i 's/4096/2048/; s/"trials": 3/"trials": 5/' own.json
ok 'the study goes on with another condition' "$HPOTUNE" start --quiet own.json
is "$(sql own.db "SELECT text FROM events WHERE area = 'enqueue'")" \
    'a queued setting was dropped: it does not satisfy layers * width <= 2048: {"layers":3,"width":800}' \
    'a queued setting that is no longer allowed is dropped, and an event says so'

done_testing
