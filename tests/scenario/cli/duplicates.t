#!/bin/sh
# A setting that was tried is not tried again: another one is suggested, or its
# result is reused; and the study ends when no setting is left.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"

need sqlite3

study() { # name strategy trials [more]
	cat >"$1.json" <<END
{
  "study": "$1",
  "objective": { "metric": "m", "goal": "minimize" },
  "parameters": {
    "n": { "type": "int", "min": 1, "max": 4 },
    "c": { "type": "choice", "values": ["a", "b", "c"] },
    "k": { "type": "int", "min": 0, "max": 1, "when": { "c": ["b"] } }
  },
  "strategy": $2,
  "stopping": "none",
  "trial": { "command": ["true"], "max_steps": 2 },
  "backend": { "name": "pretend", "seconds_per_step": 0.001 },
  ${4-}
  "limits": { "trials": $3, "parallel": 2 }
}
END
}
settings() { # db: trials, different settings
	sql "$1" 'SELECT count(*), count(DISTINCT params) FROM trials'
}

# 4 x (1 + 2 + 1) settings.
for name in random sobol tpe grid; do
	study all "{ \"name\": \"$name\", \"seed\": 4 }" 40
	like "$("$HPOTUNE" check all.json)" '^trials +16: ' \
	    "$name: check knows how many there are"
	ok "$name: a study of a small space" "$HPOTUNE" start --quiet all.json
	is "$(settings all.db)" '16|16' "$name: each setting once"
	is "$(sql all.db 'SELECT state, why FROM t_study')" \
	    'finished|all 16 settings of the space were tried' \
	    "$name: and it says why it ended"
	ok "$name: started again" "$HPOTUNE" start --quiet all.json
	is "$(settings all.db)" '16|16' "$name: nothing is left"
	rm -rf all.db all.d
done

# The same whether it was interrupted or not.
study whole '{ "name": "random", "seed": 5 }' 14
study parts '{ "name": "random", "seed": 5 }' 14
"$HPOTUNE" start --quiet whole.json
for trials in 3 8 11 14; do
	"$HPOTUNE" start --quiet --trials "$trials" parts.json
done
is "$(sql parts.db 'SELECT params FROM trials ORDER BY trial')" \
    "$(sql whole.db 'SELECT params FROM trials ORDER BY trial')" \
    'a restart changes nothing'
is "$(sql whole.db 'SELECT sum(redraws) > 0, count(same_as) FROM suggestions')" \
    '1|0' 'what was known is counted'

# What the user wants is never refused, and is not suggested again.
study wish '{ "name": "grid", "shuffle": false }' 30 '"enqueue": [
    { "n": 2, "c": "a" }, { "n": 2, "c": "a" }, { "n": 3, "c": "c" } ],'
ok 'settings of the queue' "$HPOTUNE" start --quiet wish.json
is "$(settings wish.db)" '17|16' 'are tried, and no other one twice'
is "$(sql wish.db "SELECT count(*) FROM suggestions
    WHERE source = 'enqueue'")" 3 'even when they are the same'

# Reuse.
study reuse '{ "name": "random", "seed": 5, "duplicates": "reuse" }' 14
sed 's/"parallel": 2/"parallel": 1/' reuse.json >r && mv r reuse.json
ok 'a study that uses results again' "$HPOTUNE" start --quiet reuse.json
is "$(sql reuse.db "SELECT count(*) FROM trials WHERE state = 'completed'")" 14 \
    'has its trials'
is "$(sql reuse.db 'SELECT count(*) > 0, sum(a.params <> b.params),
    sum(a.objective <> b.objective), sum(a.attempts)
    FROM suggestions AS s JOIN trials AS a USING (trial)
    JOIN trials AS b ON b.trial = s.same_as')" '1|0|0|0' \
    'some ended at once with the result of an earlier one'
is "$(sql reuse.db "SELECT count(*) FROM suggestions AS s JOIN trials AS t
    USING (trial) WHERE why = 'the result of trial ' || same_as")" \
    "$(sql reuse.db 'SELECT count(same_as) FROM suggestions')" 'and say which'
is "$(sql reuse.db 'SELECT count(*) FROM attempts')" \
    "$(sql reuse.db 'SELECT count(DISTINCT params) FROM trials')" \
    'each setting ran once'
study again '{ "name": "random", "seed": 5, "duplicates": "reuse" }' 14
sed 's/"parallel": 2/"parallel": 1/' again.json >r && mv r again.json
for trials in 3 8 9 11 14; do
	"$HPOTUNE" start --quiet --trials "$trials" again.json
done
is "$(sql again.db 'SELECT params, objective, why FROM trials ORDER BY trial')" \
    "$(sql reuse.db 'SELECT params, objective, why FROM trials ORDER BY trial')" \
    'a restart changes nothing'

# Several objectives are used again, too.
cat >front.json <<'END'
{
  "study": "front",
  "objectives": [ { "metric": "m", "goal": "minimize" },
    { "metric": "o", "goal": "maximize" } ],
  "constraints": [ { "metric": "n", "max": 2 } ],
  "parameters": { "n": { "type": "int", "min": 1, "max": 6 } },
  "strategy": { "name": "random", "seed": 5, "duplicates": "reuse" },
  "trial": { "command": [ "echo", "hpotune: m={n} o={n} n={n}" ] },
  "limits": { "trials": 9, "parallel": 1 }
}
END
ok 'two objectives' "$HPOTUNE" start --quiet front.json
is "$(sql front.db "SELECT count(*) > 0, sum(a.value <> b.value)
    FROM suggestions AS s JOIN outcomes AS a USING (trial)
    JOIN outcomes AS b ON b.trial = s.same_as AND b.metric = a.metric")" \
    '1|0' 'are used again'
is "$(sql front.db "SELECT sum(o.violation) > 0, sum(t.violation <> o.violation)
    FROM suggestions AS s JOIN outcomes AS o USING (trial)
    JOIN t_trial AS t USING (trial) WHERE same_as AND o.metric = 'n'")" '1|0' \
    'with what they break'

# A wrong word.
study wrong '{ "name": "random", "duplicates": "keep" }' 5
fails 'another word' 2 "$HPOTUNE" check wrong.json 2>err
like "$(cat err)" 'strategy.duplicates: .*resample.*reuse' 'is an error'

done_testing
