#!/bin/sh
# limits.convergence: a study ends when a model finds nothing left to gain.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"

need sqlite3 awk

cat >f.sh <<'END'
awk "BEGIN { printf \"hpotune: step=1 loss=%.9g\\n\",
    ($1 - 0.3) ^ 2 + ($2 - 0.6) ^ 2 }"
END
cat >rough.sh <<'END'
awk "BEGIN { printf \"hpotune: step=1 loss=%.9g\\n\",
    sin(999 * $1) * sin(999 * $2) }"
END
# Smooth in both parameters: a process knows it after some twenty points.
cat >base.json <<'END'
{ "study": "NAME",
  "objective": { "metric": "loss", "goal": "minimize" },
  "parameters": { "x": { "type": "float", "min": 0, "max": 1 },
    "y": { "type": "float", "min": 0, "max": 1 } },
  "strategy": { "name": "gp", "seed": 5, "candidates": 1024 }, "stopping": "none",
  "trial": { "command": ["sh", "f.sh", "{x}", "{y}"] },
  "limits": { "trials": 60, "parallel": 1, "convergence": true } }
END
study() { # name sed-expression …
	study_name=$1
	shift
	sed -e "s/NAME/$study_name/" "$@" base.json >"$study_name.json"
}
study one -e 's/true/{ "min_trials": 8 }/'
"$HPOTUNE" start -q one.json >out 2>err
is $? 0 'a study' || diag "$(cat err)"
n=$(sql one.db 'SELECT count(*) FROM trials')
ok 'ends before its limit' test "$n" -gt 8 -a "$n" -lt 60
like "$(sql one.db 'SELECT state, why FROM t_study')" \
    "^finished\\|converged after $n trials \\(limits\\.convergence\\): according to the model no setting improves on the best by more than [0-9.e-]+; a difference of [0-9.e-]+ is within the noise or irrelevant$" \
    'and gives the reason'
is "$(sql one.db "SELECT count(*) FROM events
    WHERE text LIKE 'converged after $n trials%'")" 1 'an event has it'
like "$("$HPOTUNE" status one.json)" 'converged after' 'status prints the reason'
quietly "$HPOTUNE" report one.json
ok 'and the report' grep -q 'converged after' one.html
"$HPOTUNE" start -q one.json >out 2>&1
is "$? $(sql one.db 'SELECT count(*) FROM trials')" "0 $n" \
    'started again it has converged as before'

# Servers that end on the way: the same decision.
study two -e 's/true/{ "min_trials": 8 }/'
"$HPOTUNE" start -q -n 7 two.json
"$HPOTUNE" start -q -n 9 two.json
"$HPOTUNE" start -q two.json
is "$(sql two.db 'SELECT count(*), t_study.why FROM t_study, trials')" \
    "$(sql one.db 'SELECT count(*), t_study.why FROM t_study, trials')" \
    'after restarts it converges at the same trial'

# Without it, and where more is wanted, the study goes on.
study more -e 's/"convergence": true/"convergence": false/' \
    -e "s/60/$((n + 1))/"
"$HPOTUNE" start -q more.json
is "$(sql more.db 'SELECT count(*) FROM trials')" $((n + 1)) 'not where it is false'
study late -e 's/true/{ "min_trials": 32 }/' -e 's/60/40/'
"$HPOTUNE" start -q late.json
is "$(sql late.db 'SELECT count(*) FROM trials')" 32 'a study does not converge before min_trials'
study one -e 's/true/false/' -e "s/60/$((n + 2))/"
"$HPOTUNE" start -q one.json
is "$(sql one.db 'SELECT count(*) FROM trials')" $((n + 2)) \
    'taken out, it continues'

# Of what nobody can foresee nothing is said.
study rough -e 's/f\.sh/rough.sh/; s/60/30/'
"$HPOTUNE" start -q rough.json
like "$(sql rough.db 'SELECT count(*), t_study.why FROM t_study, trials')" \
    '^30\|all 30 trials are done$' 'a rough function does not converge'

# Who asks for trials is told.
study asked -e 's/"trial": {.*//' -e 's/true/{ "min_trials": 5, "error": 9 }/'
"$HPOTUNE" ask --count 5 asked.json >out
for i in 1 2 3 4 5; do
	"$HPOTUNE" tell asked.json $i loss=0.$i --done >out
done
"$HPOTUNE" ask asked.json >out 2>err
is $? 1 'no trial is added'
like "$(cat err)" 'converged after 5 trials \(limits\.convergence\)' 'and why'

# It needs the worker.
study worker -e 's/"gp", "seed": 5, "candidates": 1024/"sobol"/'
HPOTUNE_WORKER=/nonexistent "$HPOTUNE" start -q worker.json >out 2>err
is $? 1 'without hpotune-worker it is not begun'
like "$(cat err)" '^hpotune: limits\.convergence: /nonexistent' \
    'which is reported'

wrong() { # what error sed-expression …
	wrong_what=$1
	wrong_error=$2
	shift 2
	study wrong "$@"
	like "$("$HPOTUNE" check wrong.json 2>&1)" "$wrong_error" "$wrong_what"
}
wrong 'a number' 'limits\.convergence: expected true, false or an object, not a number' \
    -e 's/true/5/'
wrong 'an option that is not known' 'limits\.convergence\.tolerence: .*tolerance' \
    -e 's/true/{ "tolerence": 0.1 }/'
wrong 'too much' 'limits\.convergence\.tolerance: ' \
    -e 's/true/{ "tolerance": 2 }/'
wrong 'two objectives' \
    'limits\.convergence: it is for studies with one objective and no constraints' \
    -e 's/"objective": .*/"objectives": [ { "metric": "loss", "goal":\
	"minimize" }, { "metric": "b", "goal": "minimize" } ],/' \
    -e 's/"gp", "seed": 5, "candidates": 1024/"nsga2"/'

done_testing
