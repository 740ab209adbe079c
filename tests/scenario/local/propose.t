#!/bin/sh
# hpotune propose: settings run beside the standing baseline on its seeds, and are
# kept, discarded or undecided; what is kept is the next baseline.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3

# Takes --x X --y Y [--seed N].  The loss falls with x and has noise of the seed and
# of x and the seed; x = 9 fails.  With HOLDS, x = 5 waits for that file from the
# fourth seed on.
cat >trial <<'END'
#!/bin/sh
x=$2 seed=${6:-1}
if [ "$x" = 5 ] && [ "$seed" -gt 3 ] && [ -n "$HOLDS" ]; then
	until [ -e "$HOLDS" ]; do sleep 0.05; done
fi
[ "$x" != 9 ] || exit 3
echo "hpotune: step=1 loss=$((1000 - x * 40 + seed * 37 % 11 + x * seed * 29 % 13))"
END
chmod +x trial
own='"confirm": { "parameter": "seed", "replicates": 20 },'
study() { # name keys [parallel]
	cat >"$1.json" <<END
{ "study": "$1", "objective": { "metric": "loss", "goal": "minimize" },
  "parameters": { "x": { "type": "int", "min": 0, "max": 9, "default": 3 },
    "y": { "type": "int", "min": 0, "max": 1, "default": 0 } },
  "strategy": { "name": "random", "seed": 1 }, "stopping": "none",
  $2
  "trial": { "command": ["./trial", "{params:words}"], "retries": 0,
    "env": { "HOLDS": "${HOLDS-}" } },
  "limits": { "trials": 1, "parallel": ${3-1} } }
END
}
run() { # name
	ok "$1 runs" quietly timeout 300 "$HPOTUNE" start -q "$1.json" ||
	    diag "$(cat err)"
}
propose() { # name operand ...
	ok "propose $*" quietly "$HPOTUNE" propose "$@" || diag "$(cat err)"
}
refused() { # text name operand ...
	wanted=$1
	shift
	fails "propose $*" 1 quietly "$HPOTUNE" propose "$@"
	like "$(cat err)" "$wanted" 'says why not'
}
verdicts="SELECT proposal, verdict, json_extract(params, '\$.x')
    FROM proposals ORDER BY proposal"

# One proposal after the other.
study one "$own"
run one
propose one.json x=2
like "$(cat out)" \
    '^proposal 1 runs with the next start beside the baseline, setting 1$' \
    'it has a number'
refused 'setting 1 is the baseline itself' one.json x=3
refused 'the same setting is proposal 1, which is open' one.json x=2
refused 'seed is the parameter of replicates' one.json seed=3
fails 'no setting' 2 quietly "$HPOTUNE" propose one.json
fails 'an unknown parameter' 2 quietly "$HPOTUNE" propose one.json z=1
printf '{ "x": 5 }\n' >five.json
ok 'of a file' quietly "$HPOTUNE" propose --json -f five.json one.json
like "$(cat out)" '"data": *\{"proposal":2,"params":\{"x":5,"y":0\}' \
    'the rest is as in the baseline'
propose one.json x=9
run one
is "$(sql one.db "$verdicts")" '1|discarded|2
2|kept|5
3|discarded|9' 'the better one is kept'
is "$(sql one.db "SELECT seeds, difference < 0, why LIKE 'mean difference %'
    FROM proposals WHERE proposal = 1")" '1|1|1' \
    'what is clearly worse costs one run'
is "$(sql one.db "SELECT why FROM proposals WHERE proposal = 3")" \
    'its run of pair 1 failed' 'a program that fails is discarded'
is "$(sql one.db "SELECT seeds >= 12, e_value >= 1 / level, least > 0,
    ended IS NOT NULL, trials LIKE '%, %' FROM proposals WHERE proposal = 2")" \
    '1|1|1|1|1' 'and what is kept is proved'
like "$("$HPOTUNE" verdict one.db 2)" 'kept .* x=5 y=0 .* 1 / level is' \
    'verdict says it'
like "$("$HPOTUNE" verdict --json one.db 2)" \
    '^\{"proposal":2,"verdict":"kept",' 'as JSON'
fails 'an unknown proposal' 1 quietly "$HPOTUNE" verdict one.db 77
kept='baseline: trial [0-9]+ since proposal 2; of 3 proposals 1 was kept'
like "$("$HPOTUNE" status one.db)" "$kept" 'status has the baseline'
like "$("$HPOTUNE" status one.db)" \
    "^trials 1 of 1, and $(sql one.db 'SELECT count(*) - 1 FROM trials') for proposals: " \
    'status counts the runs for proposals apart'
like "$("$HPOTUNE" best one.db)" "^$kept$" 'and best'
"$HPOTUNE" best one.db >best
like "$(sed '1,/^again: /d' best | tr '\n' ' ')" \
    '^what proposal 2 has made the baseline: +x +5 +y +0 +seed +2 baseline again: ' \
    'with its parameters'
is "$(sed -n 's/^baseline again: //p' best | sh | head -n 1)" \
    "$("$HPOTUNE" logs "one.db" "$(sql one.db 'SELECT trial FROM proposals
	WHERE proposal = 2')" | head -n 1)" 'which its command runs again'
like "$("$HPOTUNE" best --json one.db)" \
    '"baseline": ?\{"trial": ?[0-9]+,"proposal": ?2,"params": ?\{"x": ?5,' \
    'also as JSON'
is "$(sql one.db "SELECT count(*) FROM trials WHERE replicate = 1")" 1 \
    'the search has its own trials'

# The next one is compared with what was kept.
refused 'is the baseline itself' one.json x=5
propose one.json x=2
propose one.json x=8 y=1
run one
is "$(sql one.db "SELECT p.verdict, p.baseline = k.trial FROM proposals AS p,
    proposals AS k WHERE k.proposal = 2 AND p.proposal > 3 ORDER BY p.proposal")" \
    'discarded|1
kept|1' 'by another baseline, and the same setting once more'
is "$(sql one.db "SELECT sum(level) < 0.05 * 0.9 * 5 / 100 + 1e-9 FROM proposals
    WHERE verdict <> 'kept'")" 1 'the levels of all are what five may have'
is "$(sql one.db "SELECT level > (SELECT level FROM proposals WHERE proposal = 1)
    FROM proposals WHERE proposal = 4")" 1 'that of the kept one was passed on'

# Too few replicates, and no baseline.
study few '"confirm": { "parameter": "seed", "replicates": 11 },'
run few
refused 'nothing could be kept: after 0 contests the .* takes 13 replicates' few.json x=5
study none ''
run none
refused 'study.json has no confirm' none.json x=5

# What is better by less than can be shown is undecided.
study less '"confirm": { "parameter": "seed", "replicates": 13 },'
sed -i 's/x \* 40 /x \/ 4 * 4 /' trial
run less
propose less.json x=5
run less
like "$(sql less.db 'SELECT verdict FROM proposals')" \
    '^(undecided|discarded)$' 'little is not kept'
sed -i 's/x \/ 4 \* 4 /x * 40 /' trial

# One that was looked at when another one was kept is judged once more, beside that.
HOLDS=$dir/on
study on "$own" 3
run on
propose on.json x=5
server on.json
ok 'its runs wait' retry sql_is on.db "SELECT looks FROM contests" 2
propose on.json x=8
ok 'another one is kept meanwhile' retry sql_is on.db \
    "SELECT verdict FROM proposals WHERE proposal = 2" kept
is "$(sql on.db "SELECT verdict, why FROM proposals WHERE proposal = 1")" \
    'undecided|another one was kept: proposal 3 goes on beside that' \
    'the first one ends'
: >"$HOLDS"
wait "$child"
is "$(sql on.db "SELECT n.verdict, n.trial = o.trial, n.baseline = k.trial,
    n.level <> o.level FROM proposals AS n, proposals AS o, proposals AS k
    WHERE n.proposal = 3 AND o.proposal = 1 AND k.proposal = 2")" \
    'discarded|1|1|1' 'its setting is judged beside what was kept'

# Two who propose at once, to a server: each setting once.
HOLDS=$dir/two
study two "$own" 3
run two
propose two.json x=5
server two.json
ok 'a run waits' retry sql_is two.db "SELECT looks FROM contests" 2
for who in 1 2; do
	for x in 4 6 7 8; do
		"$HPOTUNE" propose two.json x=$x >out.$who.$x 2>&1
		echo $? >rc.$who.$x
	done &
	eval "pid$who=\$!"
done
wait "$pid1"
wait "$pid2"
is "$(cat rc.1.4 rc.2.4 | sort | tr '\n' ' ')$(
    cat rc.1.8 rc.2.8 | sort | tr '\n' ' ')" '0 1 0 1 ' 'one of both proposes it'
is "$(sql two.db "SELECT count(*), count(DISTINCT params) FROM proposals AS n
    WHERE NOT EXISTS (SELECT 1 FROM proposals AS o WHERE
    o.why LIKE '% proposal ' || n.proposal || ' goes on %')")" '5|5' \
    'and each is there once'
: >"$HOLDS"
wait "$child"
is "$(sql two.db "SELECT count(*) FROM proposals WHERE verdict = 'open'")" 0 \
    'all are decided'
is "$(sql two.db "SELECT count(*) FROM proposals AS o WHERE
    o.why LIKE 'another one was kept: proposal %' AND (SELECT count(*) FROM
    proposals AS n WHERE n.params = o.params AND n.proposal > o.proposal AND
    o.why LIKE '% proposal ' || n.proposal || ' goes on %' AND
    n.baseline <> o.baseline) <> 1")" 0 'one that goes on has another baseline'
is "$(sql two.db "SELECT total(iif(verdict = 'kept', 0, level)) <
    0.05 * 0.9 * count(*) / 100 + 1e-9 FROM proposals")" 1 \
    'and a level of its own'
is "$(sql two.db "SELECT count(*) FROM (SELECT 1 FROM trials GROUP BY setting,
    replicate HAVING count(*) > 1)")" 0 'no run came twice'
is "$(sql two.db "SELECT json_extract(params, '\$.x') FROM proposals AS k
    WHERE verdict = 'kept' AND trial NOT IN (SELECT baseline FROM proposals
    WHERE verdict = 'kept')")" 8 'the best one is the baseline at last'

# A server that is killed between two pairs goes on; the verdict is the same.
HOLDS=$dir/go
study killed "$own" 2
run killed
propose killed.json x=2
propose killed.json x=5
propose killed.json x=9
server killed.json
ok 'two pairs are looked at' retry sql_is killed.db \
    'SELECT seeds FROM proposals WHERE proposal = 2' 2
kill -9 "$child"
wait "$child" 2>/dev/null
is "$(sql killed.db "SELECT verdict FROM proposals WHERE proposal = 2")" open \
    'it is not decided'
refused 'which is open' killed.json x=5
: >go
run killed
evidence='SELECT proposal, verdict, seeds, e_value, difference, least, level
    FROM proposals WHERE proposal < 4'
is "$(sql killed.db "$evidence")" "$(sql one.db "$evidence")" \
    'the same verdicts as without a kill'

# A run that is far behind the baseline in its second half is stopped: this one
# would never end.  In its first half it may be.  One at a time: the runs that show
# the noise have ended when it reports.
cat >steps <<'END'
#!/bin/sh
x=$2 seed=${4:-1} step=1
while [ $step -le 8 ]; do
	loss=$((1000 - step * 10 - x * 40 + seed * 37 % 11))
	[ "$x" != 1 ] || [ $step -gt 3 ] || loss=5000
	[ "$x" != 1 ] || [ $step -le 3 ] || loss=$((loss - 40))
	echo "hpotune: step=$step loss=$loss"
	[ "$x" != 0 ] || [ $step -lt 6 ] || sleep 1000
	step=$((step + 1))
done
END
chmod +x steps
cat >behind.json <<'END'
{ "study": "behind", "objective": { "metric": "loss", "goal": "minimize" },
  "parameters": { "x": { "type": "int", "min": 0, "max": 9, "default": 2 } },
  "strategy": { "name": "random", "seed": 1 }, "stopping": "none",
  "confirm": { "parameter": "seed", "replicates": 13 },
  "trial": { "command": ["./steps", "{params:words}"], "grace": 0.1 },
  "limits": { "trials": 1, "parallel": 1 } }
END
run behind
propose behind.json x=0
propose behind.json x=1
run behind
is "$(sql behind.db "SELECT verdict, seeds, why FROM proposals
    WHERE proposal = 1")" 'discarded|1|its run of pair 1 was stopped' \
    'a run that is far behind is stopped'
is "$(sql behind.db "SELECT rule, verdict, step >= 4, threshold < value, why LIKE
    'at step % it is behind all runs of the baseline%' FROM stops")" \
    'propose|stop|1|1|1' 'by the noise of the baseline'
like "$(sql behind.db "SELECT count(*) FROM results WHERE x = 1 AND
    state = 'completed'")" '^[1-9]' 'and none in its first half'

# At the last step nothing is saved: a run that has reported it completes, however
# late it ends.
cat >last <<'END'
#!/bin/sh
x=$2 seed=${4:-1} step=1
while [ $step -le 8 ]; do
	loss=$((1000 - step * 10 + seed * 37 % 11))
	[ "$x" != 1 ] || [ $step -lt 8 ] || loss=5000
	echo "hpotune: step=$step loss=$loss"
	step=$((step + 1))
done
until [ "$x" != 1 ] || [ "$(sqlite3 -readonly "$DB" "SELECT count(*) FROM curves
    WHERE trial = $HPOTUNE_TRIAL AND step = 8")" = 1 ]; do
	sleep 0.05
done
END
chmod +x last
sed -e 's/"behind"/"last"/; s|"\./steps"|"./last"|' \
    -e "s|\"grace\"|\"env\": { \"DB\": \"$dir/last.db\" }, &|" behind.json >last.json
run last
propose last.json x=1
run last
is "$(sql last.db "SELECT verdict, seeds, difference < 0, why LIKE
    'mean difference %', (SELECT count(*) FROM stops) FROM proposals")" \
    'discarded|1|1|1|0' 'a run at its last step is not stopped'

# examples/propose: random edits of a baseline.
cp -r "$TOP_SRCDIR/examples/propose" example
chmod -R u+w example
mkdir bin
printf '#!/bin/sh\nexec "%s" "$@"\n' "$HPOTUNE" >bin/hpotune
chmod +x bin/hpotune
(cd example && PATH=$dir/bin:$PATH timeout 300 ./night 3) >out 2>err
verdict $? 'examples/propose' || diag "$(cat err)"
like "$(sql example/referee.db "SELECT count(*) || ' ' || sum(verdict <> 'open')
    FROM proposals")" '^(1 1|2 2|3 3)$' 'judges what it proposes'

done_testing
