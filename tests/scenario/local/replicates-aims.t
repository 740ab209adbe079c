#!/bin/sh
# Replicates with several objectives and with constraints: each aim of a setting
# is what its replicates come to; the best ones are a front of settings, and those
# that have lost against one of them get no further replicates.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3

# Seeds differ by up to 3; b is half as good as a in nothing but its time.
cat >trial <<'END'
#!/bin/sh
case $1 in a) loss=10 ms=40;; b) loss=20 ms=20;; c) loss=40 ms=60;;
d) loss=15 ms=90;; e) loss=5 ms=200;; esac
case $2 in 1) n=0;; 2) n=3;; 3) n=1;; 4) n=2;; esac
case $1$2 in b3|c2|e1) n=$(($n + 1));; esac
echo saved >"$HPOTUNE_CHECKPOINT_DIR/model"
echo "hpotune: step=1 loss=$(($loss + $n)) ms=$(($ms + $n))"
END
cat >told <<'END'
#!/bin/sh
sed 's/.*"trial":\([0-9]*\).*/\1/' >>"told.$1"
END
chmod +x trial told
study() { # name values aims replicates
	cat >"$1.json" <<END
{ "study": "$1", $3
  "parameters": { "x": { "type": "choice", "values": [$2] } },
  "replicates": $4,
  "strategy": { "name": "grid", "seed": 1 }, "stopping": "none",
  "keep": { "best": 1 }, "hooks": { "best": ["./told", "$1"] },
  "trial": { "command": ["./trial", "{x}", "{seed}"] },
  "enqueue": [ $(echo "$2" | sed 's/"[^"]*"/{ "x": & }/g') ],
  "limits": { "parallel": 1, "trials": 100 } }
END
	ok "$1 runs" quietly timeout 300 "$HPOTUNE" start -q "$1.json" ||
	    diag "$(cat err)"
}
two='"objectives": [ { "metric": "loss", "goal": "minimize" },
    { "metric": "ms", "goal": "minimize" } ],'
most='"objective": { "metric": "loss", "goal": "minimize" },
  "constraints": [ { "metric": "ms", "max": 100 } ],'

study front '"a", "b", "c", "d"' "$two" '{ "parameter": "seed", "count": 4 }'
is "$(sql front.db "SELECT params ->> 'x', state, begun, front, rank FROM settings
    ORDER BY setting")" 'a|completed|4|1|
b|completed|4|1|
c|behind|1|0|
d|behind|1|0|' 'a setting that is worse in both has lost after one replicate' ||
    diag "$(sql front.db 'SELECT * FROM settings')"
is "$(sql front.db 'SELECT trial, loss, ms, x FROM front ORDER BY trial')" \
    '1|11.5|41.5|a
5|21.75|21.75|b' 'the front has the means of settings'
is "$(sql front.db 'SELECT metric, value, round(standard_error, 3)
    FROM setting_outcomes WHERE setting = 1')" 'loss|11.5|0.645
ms|41.5|0.645' 'with standard errors'
"$HPOTUNE" best front.db >out
like "$(cat out)" '^ +1 +11.5 +41.5 ' 'best prints them'
like "$("$HPOTUNE" status front.db)" '2 trials, loss 11.5 to 21.75, ms 21.75 to' \
    'so does status' || diag "$("$HPOTUNE" status front.db)"
like "$("$HPOTUNE" best --json front.db)" '"trial":5,"loss":21.75,"ms":21.75' \
    'and best --json'
ok 'report' quietly "$HPOTUNE" report front.db -o front.html
like "$(cat front.html)" '21.75' 'and the report'

is "$(echo front.d/trials/*/checkpoint/model)" \
    'front.d/trials/1/checkpoint/model front.d/trials/5/checkpoint/model' \
    'the checkpoints of the front stay'
is "$(cat told.front)" 1 'the hook is told of the best one by the first objective'

# A trial that is forgotten leaves its setting, and the front.
ok 'forget' quietly "$HPOTUNE" forget front.db 3
is "$(sql front.db 'SELECT trial, loss FROM front ORDER BY trial')" '5|21.75' \
    'of those with the most replicates' ||
    diag "$(sql front.db 'SELECT * FROM settings')"
ok 'again' quietly timeout 300 "$HPOTUNE" start -q front.json
is "$(sql front.db 'SELECT loss, x FROM front ORDER BY x')" '11.5|a
21.75|b' 'until its replicate has been tried again'

# A value of the worst replicate, of each aim.
study worst '"a", "b"' "$two" \
    '{ "parameter": "seed", "count": 4, "aggregate": "worst", "racing": false }'
is "$(sql worst.db 'SELECT loss, ms FROM front ORDER BY loss')" '13.0|43.0
23.0|23.0' 'the worst of each objective'

# The best one is too slow, beyond doubt.
study slow '"a", "b", "e", "d"' "$most" '{ "parameter": "seed", "count": 4 }'
is "$(sql slow.db "SELECT params ->> 'x', state, begun, round(violation, 1), rank
    FROM settings ORDER BY setting")" 'a|completed|4|0.0|1
b|behind|3|0.0|2
e|behind|1|101.0|4
d|behind|1|0.0|3' 'one that breaks a constraint gets no more' ||
    diag "$(sql slow.db 'SELECT * FROM settings')"
is "$(sql slow.db 'SELECT best_trial, best FROM study')" '1|11.5' \
    'and is not the best'
is "$(sql slow.db "SELECT mean, violation FROM setting_outcomes WHERE setting = 3
    AND metric = 'ms'")" '201.0|101.0' 'its violation is recorded'
study none '"e"' "$most" '{ "parameter": "seed", "count": 3 }'
is "$(sql none.db 'SELECT state, replicates, round(violation, 3) FROM settings')" \
    'completed|3|101.667' 'without a better one it gets all' ||
    diag "$(sql none.db 'SELECT * FROM settings')"
done_testing
