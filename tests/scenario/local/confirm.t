#!/bin/sh
# The key confirm: when the search is over, the best setting and a baseline run
# again on seeds that the search has not used, until the evidence decides.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3

# Takes --x X [--seed N].  The loss of x, and of other seeds than the first some
# noise; acc goes with the loss, except for x = c.  x = n is as good as a but for
# its first seed, and f fails with others.  With HOLDS, x = b waits for that file
# from the fourth seed on.
cat >trial <<'END'
#!/bin/sh
x=$2 seed=${4:-1} loss=100
case $x in b) loss=50;; c) loss=40;; n) loss=$((99 + seed % 2 * 2));; esac
if [ "$x" = b ] && [ "$seed" -gt 3 ] && [ -n "$HOLDS" ]; then
	until [ -e "$HOLDS" ]; do sleep 0.05; done
fi
[ "$x$seed" != n1 ] || loss=1
[ "$x$seed" != f1 ] || loss=1
[ "$x" != f ] || [ "$seed" -eq 1 ] || exit 3
acc=$((200 - loss))
[ "$x" != c ] || acc=50
[ "$seed" -eq 1 ] || loss=$((loss + seed * 7 % 5))
echo "hpotune: step=1 loss=$loss acc=$acc"
END
chmod +x trial
study() { # name values keys [parallel]
	cat >"$1.json" <<END
{ "study": "$1", "objective": { "metric": "loss", "goal": "minimize" },
  "parameters": { "x": { "type": "choice", "values": [$2], "default": "a" } },
  "strategy": { "name": "grid", "seed": 1 }, "stopping": "none",
  $3
  "trial": { "command": ["./trial", "{params:words}"], "retries": 0,
    "env": { "HOLDS": "${HOLDS-}" } },
  "limits": { "trials": 9, "parallel": ${4-1} } }
END
}
run() { # name
	ok "$1 runs" quietly timeout 300 "$HPOTUNE" start -q "$1.json" ||
	    diag "$(cat err)"
}
own='"confirm": { "parameter": "seed" },'
used="SELECT group_concat(x || seed, ' ') FROM (SELECT x, seed FROM results
    ORDER BY trial)"

# Better: decided by five pairs, which is the least at 5 %.
study good '"a", "b"' "$own"
like "$("$HPOTUNE" check good.json)" '^confirm    loss of the best setting,'\
' beside the defaults: up to 10 pairs, seed from 2 on, at alpha 0.05$' \
    'check says what will be'
run good
is "$(sql good.db "SELECT kind, verdict, trial, baseline, metric, goal, alpha,
    replicates, looks, difference, better > 20, ended IS NULL, trials
    FROM contests")" \
    'confirm|better|2|1|loss|minimize|0.05|10|5|50.0|1|0|3, 4, 5, 6, 7, 8, 9, 10, 11, 12' \
    'the best setting is better than the defaults'
is "$(sql good.db "$used")" 'a1 b1 b2 a2 b3 a3 b4 a4 b5 a5 b6 a6' \
    'both ran on the same seeds, of which the search had none'
is "$(sql good.db 'SELECT setting, begun, replicates, trials, value, rank
    FROM settings ORDER BY rank')" '2|1|1|2|50.0|1
1|1|1|1|100.0|2' 'these runs are not part of the settings'
is "$(sql good.db 'SELECT best_trial, best FROM study')" '2|50.0' \
    'nor of the best'
like "$("$HPOTUNE" best good.db)" '^confirmed: better than the baseline, trial '\
'1, by at least [0-9.]+ at 95 %, mean difference of loss 50; 5 looks, e-value '\
'21\.[0-9]$' 'best says so'
like "$("$HPOTUNE" best --json good.db)" \
    '"confirmed":\{"contest":1,.*"verdict":"better"' 'as JSON'
like "$("$HPOTUNE" status good.db)" '^ +confirmed: better than' 'status says so'
like "$("$HPOTUNE" status good.db)" '^trials 2 of 9, and 10 to confirm: ' \
    'and counts them for themselves'
ok 'report' quietly "$HPOTUNE" report good.db -o report.html
like "$(cat report.html)" 'confirmed: better than the baseline' 'the report too'
run good
is "$(sql good.db 'SELECT count(*) FROM trials')" 12 \
    'what is decided is not begun again'

# Requests.
fails 'it has its verdict' 1 quietly "$HPOTUNE" confirm good.json
like "$(cat err)" 'setting 2 has its verdict \(contest 1\)' 'which is named'
fails 'the baseline itself' 1 quietly "$HPOTUNE" confirm good.json 1
like "$(cat err)" 'is the baseline itself' 'is not confirmed'
fails 'an unknown trial' 1 quietly "$HPOTUNE" confirm good.json 77
like "$(cat err)" 'there is no trial 77' 'is none'

# A best value that was luck is not shown to be better.
study luck '"a", "n"' "$own"
run luck
is "$(sql luck.db 'SELECT verdict, looks, trial, better < 20 AND worse < 20
    FROM contests')" 'not shown|10|2|1' 'all pairs, and no verdict'
like "$("$HPOTUNE" best luck.db)" \
    '^not confirmed: not shown to be better than the baseline, trial 1, mean' \
    'best says that'

# Nothing is better than the defaults.
study same '"a"' "$own"
run same
like "$("$HPOTUNE" best same.db)" \
    '^not confirmed: the best setting is the baseline itself$' \
    'the baseline needs no contest'

# By a metric that the strategy never sees the best is worse.
study report '"a", "c"' '"confirm": { "parameter": "seed", "report": "acc",
    "goal": "maximize", "baseline": 1 },'
run report
is "$(sql report.db 'SELECT verdict, metric, goal, difference FROM contests')" \
    'worse|acc|maximize|-50.0' 'another metric decides'
like "$("$HPOTUNE" best report.db)" \
    '^not confirmed: worse than the baseline, trial 1, mean' 'and best says it'

# Runs that fail are pairs that are lost; they do not end the study.
study failing '"a", "f"' "$own"
sed -i 's/"trials": 9/&, "failed_trials": 1/' failing.json
run failing
is "$(sql failing.db "SELECT verdict, looks, difference IS NULL FROM contests")" \
    'worse|5|1' 'a setting that fails on other seeds is worse'

# A target ends the search, and not the study.
study target '"a", "b", "c"' "$own"
sed -i 's/"goal": "minimize"/&, "target": 60/' target.json
run target
is "$(sql target.db 'SELECT verdict FROM contests')
$(sql target.db 'SELECT count(*) FROM trials WHERE replicate = 1')
$(sql target.db 'SELECT why FROM t_study')" 'better
2
the target 60 was reached by trial 2' 'what reached the target is confirmed'

# With the key replicates the seeds begin behind those of the search.
study more '"a", "b"' '"replicates": { "parameter": "seed", "count": 2,
    "racing": false }, "confirm": { "alpha": 0.2, "replicates": 4 },'
run more
is "$(sql more.db "SELECT verdict, looks FROM contests")" 'better|3' \
    'a greater alpha takes fewer pairs'
is "$(sql more.db "$used")" 'a1 a2 b1 b2 b3 a3 b4 a4 b5 a5' \
    'the search has its own seeds'
study more '"a", "b"' '"replicates": { "parameter": "seed", "count": 2,
    "racing": false },'
run more
is "$(sql more.db 'SELECT replicates FROM settings ORDER BY rank LIMIT 1')" 2 \
    'the key may be taken out again'

# A study that has ended is confirmed later: its trials had the first seed.
study later '"a", "b", "c"' ''
run later
is "$(sql later.db 'SELECT count(*) FROM trials')" 3 'three trials'
fails 'without the key' 1 quietly "$HPOTUNE" confirm later.json
like "$(cat err)" 'study.json has no confirm' 'there is no baseline'
study later '"a", "b", "c"' "$own"
ok 'with it' quietly "$HPOTUNE" confirm later.json 2
like "$(cat out)" '^setting 2 runs again with the next start beside the '\
'baseline, setting 1$' 'the next start confirms'
run later
is "$(sql later.db 'SELECT trial, verdict FROM contests ORDER BY contest')" \
    '2|better
3|better' 'the setting that was named, and the best one'
is "$(sql later.db "SELECT trials FROM contests WHERE contest = 2")" \
    '5, 7, 9, 11, 13, 14, 15, 16, 17, 18' 'the runs of the baseline serve again'

# Programs that ask for trials get those of the contest, too.
sed -e 's/"study": "good"/"study": "asked"/' -e '/"trial":/d' -e '/"env":/d' \
    good.json >asked.json
told=0
while quietly "$HPOTUNE" ask --json asked.json; do
	told=$((told + 1))
	trial=$(sed 's/.*"trial": *\([0-9]*\).*/\1/' out)
	loss=100
	! grep -q '"x": *"b"' out || loss=50
	[ $told -lt 40 ] && quietly "$HPOTUNE" tell asked.json "$trial" \
	    "loss=$loss" --done || break
done
is "$(sql asked.db 'SELECT verdict, looks, trial FROM contests')" 'better|5|2' \
    'their reports decide it'

# A server that is killed between two runs goes on; the verdict is the same.
HOLDS=$dir/go
study killed '"a", "b"' "$own" 2
server killed.json
ok 'two pairs are looked at' retry sql_is killed.db \
    'SELECT looks FROM contests' 2
kill -9 "$child"
wait "$child" 2>/dev/null
is "$(sql killed.db 'SELECT verdict FROM contests')" open 'it is not decided'
like "$("$HPOTUNE" best killed.db)" \
    '^not confirmed yet: 2 of 10 pairs with the baseline, trial 1; 2 looks' \
    'best says how far it is'
: >go
run killed
evidence='SELECT verdict, looks, better, worse, difference, least FROM contests'
is "$(sql killed.db "$evidence")" "$(sql good.db "$evidence")" \
    'the same verdict as without a kill'
is "$(sql killed.db "SELECT count(*), count(DISTINCT setting || '-' || replicate)
    FROM trials WHERE replicate BETWEEN 2 AND 6")" '10|10' 'no run came twice'

done_testing
