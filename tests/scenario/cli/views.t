#!/bin/sh
# What a stranger guesses in the shell of SQLite works: names of the objective and
# of parameters, why an attempt ended, which parameter matters.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3

cat >s.json <<'END'
{ "study": "s", "objective": { "metric": "loss", "goal": "minimize" },
  "parameters": { "lr": { "type": "float", "min": 0, "max": 1 },
    "noise": { "type": "float", "min": 0, "max": 1 },
    "kind": { "type": "choice", "values": ["a", "b"] },
    "step": { "type": "fixed", "value": 7 } },
  "strategy": { "name": "random", "seed": 1 }, "stopping": "none",
  "trial": { "command": ["sh", "-c",
    "echo hpotune: step=1 loss={lr}; [ $HPOTUNE_TRIAL != 2 ] || exit 3"],
    "retries": 0 },
  "limits": { "trials": 40, "parallel": 4 } }
END
quietly "$HPOTUNE" start -q s.json
is "$(sql s.db 'SELECT count(*) FROM results WHERE loss = objective')" 40 \
    'results: the objective has its own name, too' || diag "$(cat err)"
is "$(sql s.db 'SELECT trial FROM results ORDER BY loss LIMIT 1')" \
    "$(sql s.db 'SELECT trial FROM best')" 'by which rows are sorted'
is "$(sql s.db 'SELECT loss = objective, lr = (params ->> '"'lr'"'), kind, step,
    "params.step" FROM best' | sed 's/[ab]|/K|/')" '1|1|K|1|7' \
    'best: the objective and the parameters; a column keeps its name'
is "$(sql s.db 'SELECT why, reports FROM attempts WHERE trial = 2')" \
    'exit status 3|1' 'attempts: why, and how much was reported'
is "$(sql s.db "SELECT value FROM parameters WHERE trial = 3 AND parameter = 'lr'")" \
    "$(sql s.db 'SELECT lr FROM results WHERE trial = 3')" 'parameters: one by one'
is "$(sql s.db 'SELECT parameter FROM importance LIMIT 1')" lr \
    'importance: the parameter that matters is the first'
is "$(sql s.db "SELECT importance > 0.8, trials FROM importance WHERE parameter = 'lr'")" \
    '1|39' 'of the completed trials'
is "$(sql s.db "SELECT importance < 0.3 FROM importance WHERE parameter = 'noise'")" 1 \
    'one that does not matter is behind'
is "$(sql s.db "SELECT importance IS NULL FROM importance WHERE parameter = 'step'")" 1 \
    'one that does not vary has none'
is "$("$HPOTUNE" export | head -n 1)" 'trial,state,objective,lr,noise,kind,step' \
    'export has the objective once'
is "$("$HPOTUNE" export --table importance | head -n 1)" 'parameter,importance,trials' \
    'a new view can be exported'

# A parameter with the name of the metric keeps it; several objectives have none.
sed 's/"study": "s"/"study": "t"/; s/"noise"/"Loss"/; s/"trials": 40/"trials": 3/' s.json >t.json
quietly "$HPOTUNE" start -q t.json
is "$(sql t.db "SELECT count(*) FROM pragma_table_info('results')")" 7 \
    'no second column of a name' || diag "$(cat err)"
sed 's/"study": "s"/"study": "u"/; s/"objective": {[^}]*}/"objectives": [{"metric": "loss", "goal": "minimize"}, {"metric": "ms", "goal": "minimize"}]/
    s/step=1 loss/step=1 ms=1 loss/; s/"trials": 40/"trials": 3/' s.json >u.json
quietly "$HPOTUNE" start -q u.json
is "$(sql u.db "SELECT group_concat(name) FROM pragma_table_info('results')")" \
    trial,state,objective,lr,noise,kind,step,loss,ms \
    'several objectives have their names' || diag "$(cat err)"
is "$(sql u.db 'SELECT count(*) > 0 FROM front WHERE loss > 0 AND ms = 1')" 1 'it has'
done_testing
