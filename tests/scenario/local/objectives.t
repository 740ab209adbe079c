#!/bin/sh
# Several objectives and constraints: the front while the study runs, after a
# kill and a restart, and the output of the commands.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"

need sqlite3

# The last report counts.  Trial 3 never says its recall, trial 6 not what it
# takes, trial 9 ends with a number that is none.
cat >trial.sh <<'END'
x=$1 y=$2
[ "$HPOTUNE_TRIAL" != 6 ] || { echo "hpotune: step=1 acc=1"; exit; }
echo "hpotune: step=1 acc=9 ms=0"
awk -v x="$x" -v y="$y" -v n="$HPOTUNE_TRIAL" 'BEGIN {
	ms = n == 9 ? "nan" : 100 * x * x + 10 * y
	printf "hpotune: step=2 acc=%.6f ms=%s", x, ms
	if (n != 3)
		printf " recall=%.6f", 1 - y
	printf "\n"
}'
while test -e hold; do sleep 0.1; done
END
cat >study.json <<'END'
{ "study": "two",
  "objectives": [ { "metric": "acc", "goal": "maximize" },
    { "metric": "ms", "goal": "minimize" } ],
  "constraints": [ { "metric": "ms", "max": 60 },
    { "metric": "recall", "min": 0.2 } ],
  "parameters": { "x": { "type": "float", "min": 0, "max": 1 },
    "y": { "type": "float", "min": 0, "max": 1 } },
  "strategy": { "name": "sobol", "seed": 3 },
  "trial": { "command": ["sh", "trial.sh", "{x}", "{y}"] },
  "limits": { "trials": 24, "parallel": 2 } }
END

# The front as it should be, from what the trials reported.
front_right() {
	is "$(sql two.db 'SELECT trial FROM front ORDER BY trial' | tr '\n' ' ')" \
	    "$(sql two.db "
	WITH last AS (SELECT trial, name, value FROM metrics AS m WHERE step =
		(SELECT max(step) FROM metrics AS n WHERE n.trial = m.trial AND
		n.name = m.name)),
	point AS (SELECT a.trial, a.value AS acc, b.value AS ms,
		c.value AS recall FROM last AS a
		JOIN trials AS t ON t.trial = a.trial AND t.state = 'completed'
		JOIN last AS b ON b.trial = a.trial AND b.name = 'ms'
		JOIN last AS c ON c.trial = a.trial AND c.name = 'recall'
		WHERE a.name = 'acc' AND b.value <= 60 AND c.value >= 0.2)
	SELECT trial FROM point AS p WHERE NOT EXISTS (SELECT 1 FROM point AS q
		WHERE q.acc >= p.acc AND q.ms <= p.ms AND
		(q.acc > p.acc OR q.ms < p.ms)) ORDER BY trial" |
		tr '\n' ' ')" "$1"
}

like "$("$HPOTUNE" check)" '^ +minimize ms$' 'check names each objective'
like "$("$HPOTUNE" check)" '^constraint ms at most 60$' 'and constraint'
like "$("$HPOTUNE" check)" '^warning .*sobol.*constraints' \
    'and that the strategy makes nothing of them'
ok 'a first run' "$HPOTUNE" start --quiet --trials 12
front_right 'the front is what no other trial beats'
like "$(sql two.db 'SELECT count(*) FROM front')" '^[2-9]$' 'of some trials'
is "$(sql two.db "SELECT metric, goal, best_trial, best FROM study")" \
    'acc, ms|maximize, minimize||' 'the study has two and no best'
is "$(sql two.db 'SELECT count(*) FROM best')" 0 'view best is empty with two objectives'
is "$(sql two.db "SELECT state, why FROM trials WHERE trial = 6")" \
    'failed|it ended without a report of ms; it reported acc' \
    'a trial without a report of one has failed'
is "$(sql two.db "SELECT end_class FROM attempts WHERE trial IN (6, 9)
    ORDER BY trial" | tr '\n' ' ')" 'no-report diverged ' 'with its classes'
is "$(sql two.db "SELECT metric, violation FROM outcomes WHERE trial = 3 AND
    violation > 0")" 'recall|Inf' 'a metric that never came breaks its bound'
is "$(sql two.db "SELECT count(*) FROM events WHERE level = 'warning' AND
    text LIKE '%without a finite report of recall%'")" 1 \
    'which is reported once'
is "$(sql two.db "SELECT count(*) FROM outcomes AS o WHERE value IS NOT
    (SELECT value FROM metrics AS m WHERE m.trial = o.trial AND name = metric
    ORDER BY step DESC LIMIT 1)")" 0 'outcomes are the last reports'

# Killed while two run, whose last reports are recorded already.
: >hold
server
ok 'the second run gets on' retry sql_is two.db "SELECT count(*) FROM metrics
    WHERE trial IN (13, 14) AND step = 2 AND name = 'recall'" 2
kill -9 $server
reap $server 2>/dev/null
rm hold
ok 'it goes on after a kill' "$HPOTUNE" start --quiet
is "$(sql two.db 'SELECT trials FROM study')" 24 'the resumed study has all its trials'
front_right 'with the right front'
is "$(sql two.db "SELECT count(*) FROM outcomes AS o WHERE value IS NOT
    (SELECT value FROM metrics AS m WHERE m.trial = o.trial AND name = metric
    ORDER BY step DESC LIMIT 1)")" 0 'and the last reports'

n=$(sql two.db 'SELECT count(*) FROM front')
"$HPOTUNE" best >out
is "$(wc -l <out)" $((n + 1)) 'best prints the front'
like "$(head -n 1 out)" 'trial +acc +ms +parameters' 'under its heads'
is "$("$HPOTUNE" best --json | grep -o '"trial":' | wc -l)" "$n" \
    'and as JSON'
like "$("$HPOTUNE" status)" "^front $n trials, acc .* to .*, ms .* to " \
    'status sums it up'
like "$("$HPOTUNE" status)" 'maximize acc, minimize ms' 'and names the goals'
like "$("$HPOTUNE" start)" "^front: $n trials" 'start prints the front at its end'
like "$("$HPOTUNE" trials)" 'trial +state +acc +ms +violation' \
    'trials has a column for each'
like "$("$HPOTUNE" trials --json)" '"outcomes":{"acc":[0-9.]*,"ms":' \
    'as JSON by name'
like "$("$HPOTUNE" show "$(sql two.db 'SELECT min(trial) FROM front')")" \
    'on the front' 'show lists the trials of the front'
like "$("$HPOTUNE" show 3)" '^recall +keep +0.2 +inf$' \
    'and what a trial breaks'
for command in status trials 'show 3' best check; do
	is "$("$HPOTUNE" $command --json >out; sqlite3 :memory: \
	    "SELECT json_valid(CAST(readfile('out') AS TEXT))")" 1 \
	    "$command --json is JSON"
done

# What was recorded would mean something else.
for change in 's/"max": 60/"max": 61/' 's/"minimize"/"maximize"/' \
    's/ { "metric": "acc", "goal": "maximize" },/ /; s/objectives.*/objectives": [/' \
    '/"constraints"/,/recall/d'; do
	sed -i.good "$change" study.json
	fails "refused: $change" 2 "$HPOTUNE" start --quiet 2>err
	mv study.json.good study.json
done
like "$(cat err)" 'constraints: .* in the study.s database, not given in' \
    'which states what differs'

# One objective: the best keeps the constraints; so must the target.
cat >one.json <<'END'
{ "study": "one",
  "objective": { "metric": "loss", "goal": "minimize", "target": 0.25 },
  "constraints": [ { "metric": "kb", "max": 4 } ],
  "parameters": { "x": { "type": "int", "min": 1, "max": 9 } },
  "strategy": "random",
  "trial": { "command": ["sh", "-c",
    "echo hpotune: loss=$(({x} - 1)) kb=$((8 - {x}))"] },
  "enqueue": [ { "x": 1 }, { "x": 3 }, { "x": 7 }, { "x": 5 }, { "x": 4 } ],
  "limits": { "trials": 4, "parallel": 1 } }
END
like "$("$HPOTUNE" start one.json --trials 2)" \
    '^best: trial 2 with loss 2, though kb 5 is above 4' \
    'none keeps it: the least broken is best'
like "$("$HPOTUNE" best one.json)" 'of this one kb 5 is above 4' \
    'and best reports it'
sed -e 's/"one"/"both"/' -e 's/"max": 4 }/& , { "metric": "loss", "min": 9 }/' \
    -e 's/, "target": 0.25//' one.json >both.json
like "$("$HPOTUNE" start both.json --trials 2)" \
    '^best: trial 2 with loss 2, though kb 5 is above 4, loss 2 is below 9' \
    'all that it breaks is named'
"$HPOTUNE" start --quiet one.json
is "$(sql one.db "SELECT best_trial, best, trials, state FROM study")" \
    '4|4.0|4|finished' 'the best of those that keep it; no target was reached'
is "$(sql one.db 'SELECT trial, loss, x FROM front')" '4|4.0|5' \
    'the front of one objective'

# In a row without anything new on the front, over a restart.
sed -e 's/"two"/"same"/; s/"trials": 24/"trials": 50, "no_improvement": 5/' \
    -e '/"constraints"/,/recall/d' study.json >same.json
cat >trial.sh <<'END'
echo "hpotune: acc=1 ms=$((HPOTUNE_TRIAL % 2))"
END
"$HPOTUNE" start --quiet same.json --trials 3
"$HPOTUNE" start --quiet same.json
is "$(sql same.db 'SELECT trials <= 9, state FROM study')" '1|finished' \
    'no_improvement counts trials that bring nothing new'
is "$(sql same.db 'SELECT DISTINCT trial % 2 FROM front')" 0 \
    'equals are on the front together'

# A front that nobody is on.
sed -e 's/"two"/"nobody"/; s/"trials": 24/"trials": 2/' study.json >nobody.json
"$HPOTUNE" start --quiet nobody.json 2>err
is "$("$HPOTUNE" best nobody.json 2>&1)" \
    'hpotune: nobody: no trial satisfies all constraints yet' \
    'best gives the reason for having none'
is "$("$HPOTUNE" best --json nobody.json)" '{"front":[]}' 'as JSON'

done_testing
