#!/bin/sh
# View medians with the rule begun has all trials that reached a step, and those
# that were stopped before it, also when nobody reports any more.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"

need sqlite3

cat >study.json <<'END'
{
  "study": "begun",
  "objective": { "metric": "loss", "goal": "minimize" },
  "parameters": { "x": { "type": "float", "min": 0, "max": 1 } },
  "strategy": { "name": "random", "seed": 5 },
  "stopping": { "rule": "begun", "second_look": "0%" },
  "trial": { "command": ["sh", "trial.sh"], "max_steps": 8 },
  "limits": { "trials": 3, "parallel": 1 }
}
END
cat >trial.sh <<END
go=$PWD/go
END
cat >>trial.sh <<'END'
if [ "$HPOTUNE_TRIAL" = 3 ]; then
	echo "hpotune: step=1 loss=3"
	until [ -e "$go" ]; do sleep 0.05; done
	for step in 2 3 4; do echo "hpotune: step=$step loss=nan"; done
	exec sleep 600
fi
for step in $(seq 8); do
	echo "hpotune: step=$step loss=$HPOTUNE_TRIAL"
done
END

"$HPOTUNE" start --quiet study.json 2>start.err &
server=$!
ok 'the third trial is in the view' retry sh -c \
    '[ "$(sqlite3 begun.db "SELECT trials FROM medians WHERE step = 1" \
    2>/dev/null)" = 3 ]'
is "$(sql begun.db 'SELECT trials, median, pool FROM medians WHERE step = 8')" \
    '2|1.5|begun' 'but not at a step that it has not reached'
touch go
wait $server
is "$(sql begun.db 'SELECT state, step FROM trials WHERE trial = 3')" \
    'stopped|4' 'it diverges, and is stopped'
is "$(sql begun.db 'SELECT trials, median FROM medians WHERE step = 8')" \
    '3|2.0' 'so it counts at all later ones, as the worst'

# A study that began when median was the default keeps it, unless it names one.
sed 's/"begun",$/"former",/; /"stopping"/d; s/"trials": 3/"trials": 1/' \
    study.json >former.json
ok 'a study of one trial' quietly "$HPOTUNE" start former.json
is "$(sql former.db 'SELECT rule FROM study')" begun 'has the default rule'
sqlite3 former.db "UPDATE t_study SET rule = 'median'"
sed -i 's/"trials": 1/"trials": 2/' former.json
ok 'an earlier version has begun it' quietly "$HPOTUNE" start former.json
is "$(sql former.db 'SELECT rule FROM study')" median 'it keeps that rule'
is "$(sql former.db 'SELECT DISTINCT pool FROM medians')" reached \
    'and its pool'
like "$("$HPOTUNE" check former.json)" '^stopping   median$' 'check says so'
sed -i 's/"strategy"/"stopping": "begun", &/; s/"trials": 2/"trials": 3/' \
    former.json
ok 'one that names a rule' quietly "$HPOTUNE" start former.json
is "$(sql former.db 'SELECT rule FROM study')" begun 'has that one'

done_testing
