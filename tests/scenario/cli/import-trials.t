#!/bin/sh
# Trials of other tools, in CSV, in a storage of Optuna and in a folder of Ray
# Tune, become a study.json that begins with them.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3

runs() { # study warm what: it can be run, with these trials
	sed -i -e 's|"./train"|"sh", "-c", "echo hpotune: step=1 '"$4"'=1"|' \
	    -e 's/, "{params}"//' -e 's/"trials": 100/"trials": 1/' "$1"
	is "$("$HPOTUNE" check "$1" 2>&1 | sed -n 's/^warm start //p')" "$2" \
	    "$3: its trials are used"
	quietly "$HPOTUNE" start -q "$1"
	is "$?" 0 "$3: it runs" || diag "$(cat err)"
}

wrong() { # status error what argument …
	wrong_want="$1:hpotune: $2"
	wrong_what=$3
	shift 3
	quietly "$HPOTUNE" import "$@"
	is "$?:$(cat err)" "$wrong_want" "$wrong_what"
}

# CSV: as Optuna's data frames have it, and with quotes and a byte order mark.
printf '\357\273\277number,value,params_lr,params_opt,params_n,state\r\n' >a.csv
cat >>a.csv <<'END'
0,0.5,0.001,adam,1,COMPLETE
1,0.3,1.0,"a,""b""",2,COMPLETE
2,,3.5,"two
lines",3,FAIL
3,0.1,2,adam,9,RUNNING
END
quietly "$HPOTUNE" import csv a.csv --goal minimize -o csv.json
is "$?:$(cat csv.json)" '0:{
  "study": "a",
  "objective": { "metric": "value", "goal": "minimize", "value": "last" },
  "parameters": {
    "lr": { "type": "float", "min": 0.001, "max": 3.5, "scale": "log" },
    "opt": { "type": "choice", "values": ["adam", "a,\"b\"", "two\nlines"] },
    "n": { "type": "int", "min": 1, "max": 3 }
  },
  "trial": {
    "command": ["./train", "{params}"]
  },
  "limits": {
    "trials": 100
  },
  "warm_start": [
    "csv-trials.json"
  ]
}' 'csv: parameters, their types and ranges' || diag "$(cat err)"
like "$(cat err)" '^hpotune: note: lr: its range is that of the trials: 0.001 to 3.5$' \
    'csv: a range that was guessed is noted'
runs csv.json '3 of 3 trials of csv-trials.json' csv value
is "$(sql a.db 'SELECT group_concat(objective) FROM warm')" '0.5,0.3' \
    'csv: with their results'

# Other columns are parameters, but those that tools add; or those that are named.
printf 'trial,loss,x,when,duration\n1,2,0.5,a,7\n2,3,0.25,b,8\n' >b.csv
quietly "$HPOTUNE" import csv b.csv --goal maximize --metric loss
is "$(sed -n 's/^    "\([a-z]*\)": {.*/\1/p' out | tr '\n' ' ')" 'x when ' \
    'csv: columns that tools add are no parameters'
quietly "$HPOTUNE" import csv b.csv --goal maximize --metric loss --params x,trial
is "$(sed -n 's/^    "\([a-z_]*\)": {.*/\1/p' out | tr '\n' ' ')" 'trial_ x ' \
    'csv: the parameters can be named'
printf '\357\273\277x;loss\r\n0,25;2\r\n0,5;"3;1"\r\n' >e.csv
quietly "$HPOTUNE" import csv e.csv --goal minimize --metric loss
is "$(grep type out)" '    "x": { "type": "float", "min": 0.25, "max": 0.5 }' \
    'csv: semicolons and decimal commas' || diag "$(cat err)"
printf 'x\tloss\ta,b\n1\t2\tc,d\n2\t3\t1,5\n' >e.csv
quietly "$HPOTUNE" import csv e.csv --goal minimize --metric loss
fails 'csv: a comma in the first line separates' 1 test -s out
printf 'x\tloss\tb\n1\t2\tc,d\n2\t3\te\n' >e.csv
quietly "$HPOTUNE" import csv e.csv --goal minimize --metric loss
like "$(cat out)" '"b": \{ "type": "choice", "values": \["c,d", "e"\] \}' \
    'csv: tabs'
printf 'val loss,a b,a_b\n1,2,3\n2,3,4\n' >d.csv
quietly "$HPOTUNE" import csv d.csv --goal minimize --metric 'val loss' -o d.json
is "$(grep type d.json; grep -o '"params.*' d-trials.json)" \
    '    "a_b": { "type": "int", "min": 2, "max": 3 },
    "a_b_2": { "type": "int", "min": 3, "max": 4 }
"params": {"a_b": 2, "a_b_2": 3}},
"params": {"a_b": 3, "a_b_2": 4}}]}' 'csv: of two names that become one the second gets a number'
like "$(cat err)" 'note: a_b: its name is a_b_2 here' 'csv: of which a note tells'
printf 'loss,lr,LR,lr\n1,2,3,4\n2,3,4,5\n' >d.csv
quietly "$HPOTUNE" import csv d.csv --goal minimize --metric loss
is "$(grep -o '^    "[a-zA-Z_0-9]*": { "type' out)" '    "lr": { "type
    "LR_2": { "type
    "lr_2_2": { "type' 'csv: as where they differ in case only, or are the same' ||
    diag "$(cat out err)"
like "$(cat err)" 'note: lr: an earlier column has this name: here it is lr_2' \
    'csv: a column that is there twice'
printf 'val loss,a b\n1,2\n2,3\n' >d.csv
mkdir odd
quietly "$HPOTUNE" import csv d.csv --goal minimize --metric 'val loss' \
    -o odd/study.json
like "$(cat err)" 'objective.metric: val loss is val_loss here' \
    'csv: names that are none here get another one'
runs odd/study.json '2 of 2 trials of study-trials.json' d val_loss
wrong 2 'b.csv: name the column of the objective with --metric: trial, loss, x, when, duration' \
    'csv: the objective must be named' csv b.csv --goal minimize
wrong 2 'b.csv: it has no column los: trial, loss, x, when, duration' \
    'csv: a column that is not there' csv b.csv --goal minimize --metric los
wrong 2 'import: give --goal minimize or --goal maximize' 'csv: the goal, too' \
    csv b.csv --metric loss
# The values say what a column is: not quotes, and not the point that pandas
# writes where an int is missing.
printf '%s\n' '"Name","State","bits","note","loss"' \
    '"a","finished","2","x","0.5"' '"b","finished","6","","1e1"' \
    '"c","crashed","4","7",""' '"d","running","9","",""' >q.csv
quietly "$HPOTUNE" import csv q.csv --goal minimize --metric loss -o q.json
is "$(grep type q.json)" '    "bits": { "type": "int", "min": 2, "max": 6 },
    "note": { "type": "choice", "values": ["x", "7"] }' \
    'csv: all fields in quotes' || diag "$(cat err)"
is "$(sed -n 's/.*"trial": //p' q-trials.json)" \
    '1, "state": "completed", "objective": 0.5, "params": {"bits": 2, "note": "x"}},
2, "state": "completed", "objective": 10, "params": {"bits": 6}},
3, "state": "failed", "params": {"bits": 4, "note": "7"}}]}' \
    'csv: where all are quoted, an empty one is missing'
like "$(cat err)" 'note: 1 of 4 rows are left out by their state: "running"$' \
    'csv: rows that are left out are counted'
like "$(cat err)" 'note: parameters: bits, note: results among them are left out with --params' \
    'csv: columns that were taken for parameters are named'
printf '"x","loss"\n"",1\n"a",2\n' >q.csv
quietly "$HPOTUNE" import csv q.csv --goal minimize --metric loss
like "$(cat out)" '"values": \["", "a"\]' 'csv: otherwise it is a text'
cat >p.csv <<'END'
value,params_n,params_m,params_f,params_b,state
0.5,99.0,2.0,1.0,True,COMPLETE
0.3,54.0,2.5,3.0,None,COMPLETE
nan,,1.0,2.0,False,COMPLETE
"0,7",1.0,1.5,2.0,False,COMPLETE
END
quietly "$HPOTUNE" import csv p.csv --goal minimize -o p.json
is "$(grep type p.json)" '    "n": { "type": "int", "min": 1, "max": 99 },
    "m": { "type": "float", "min": 1, "max": 2.5 },
    "f": { "type": "float", "min": 1, "max": 3 },
    "b": { "type": "choice", "values": [true, null, false] }' \
    'csv: 99.0 is an int where one is missing' || diag "$(cat err)"
like "$(cat err)" 'params_n: an int: all values are whole' 'csv: of which a note tells'
like "$(cat err)" 'value: 1 of 4 rows have no number there: line 5 has "0,7"$' \
    'csv: a result that is no number is named'
like "$(cat err)" 'b: .params. writes true, false and null; a program that expects True' \
    'csv: the words of Python'
like "$(sed -n 3p p-trials.json)" '"state": "failed", "params"' 'csv: NaN has failed'
like "$(cat err)" '1 of 4 trials ended with NaN or infinity' 'csv: and is counted'
printf 'lr,loss,status\n1,2,FINISHED\n2,nan,FINISHED\n3,4,FAILED\n' >s.csv
quietly "$HPOTUNE" import csv s.csv --goal minimize --metric loss -o s.json
is "$(sed -n 's/.*"state": //p' s-trials.json)" '"completed", "objective": 2, "params": {"lr": 1}},
"failed", "params": {"lr": 2}},
"failed", "objective": 4, "params": {"lr": 3}}]}' 'csv: a column named status'
printf '%b\n' 'commit\tval_bpb\tmemory_gb\tstatus\tdescription' \
    'a1b2c3d\t0.997900\t44.0\tkeep\tbaseline' 'b2c3d4e\t0.993200\t44.2\tkeep\tlr, to 0.04' \
    'c3d4e5f\t1.005000\t44.0\tdiscard\tswitch to "GeLU"' \
    'd4e5f6a\t0.000000\t0.0\tcrash\tdouble model width (OOM)' >results.tsv
quietly "$HPOTUNE" import csv results.tsv --goal minimize --metric val_bpb -o loop.json
is "$(grep type loop.json; sed -n 's/.*"state": //p' loop-trials.json)" \
    '    "commit": { "type": "choice", "values": ["a1b2c3d", "b2c3d4e", "c3d4e5f", "d4e5f6a"] }
"completed", "objective": 0.9979, "params": {"commit": "a1b2c3d"}},
"completed", "objective": 0.9932, "params": {"commit": "b2c3d4e"}},
"completed", "objective": 1.005, "params": {"commit": "c3d4e5f"}},
"failed", "params": {"commit": "d4e5f6a"}}]}' \
    'csv: the commits of a loop; one that crashed has no value' || diag "$(cat err)"
like "$(cat err)" 'note: parameters: commit; a program that runs it gets --commit=' \
    'csv: of which a note tells'
printf 'Start Time,Run ID,Source Type,Status,lr,loss\n2025,a,LOCAL,FINISHED,1,2\n' >s.csv
quietly "$HPOTUNE" import csv s.csv --goal minimize --metric loss
is "$(grep type out)" '    "lr": { "type": "fixed", "value": 1 }' 'csv: columns of MLflow'
printf 'mean_fit_time,param_C,params,mean_test_score\n0.1,1,"{}",0.9\n0.2,2,"{}",0.8\n' >s.csv
quietly "$HPOTUNE" import csv s.csv --goal maximize --metric mean_test_score
is "$(grep type out)" '    "C": { "type": "int", "min": 1, "max": 2 }' \
    'csv: cv_results_ of scikit-learn'
printf 'loss,x\n1,%5000s\n2,b\n' a >s.csv
wrong 2 'import: the study that it would be is not valid: same.json:5:41: parameters.x.values[0]: a text of more than 4096 bytes' \
    'nothing is written that check refuses' csv s.csv --goal minimize --metric loss -o same.json
fails 'no file' 1 test -e same.json
printf 'loss,x\n1,2\n1,2,3\n' >c.csv
wrong 2 'c.csv:3: it has 3 fields, and the first line 2' \
    'csv: a line with too many fields' csv c.csv --goal minimize --metric loss
: >empty.csv
wrong 2 'empty.csv: its first line does not name columns' 'csv: an empty file' \
    csv empty.csv --goal minimize
printf 'loss,x\n' >none.csv
wrong 2 'none.csv: it has no trials' 'csv: a table without rows' \
    csv none.csv --goal minimize --metric loss
wrong 1 'missing.csv: No such file or directory' 'csv: a file that is not there' \
    csv missing.csv --goal minimize

# Conditions that the trials show: of a choice, of a whole number, of one that has
# a condition itself; lists; a table whose fields are all in quotes.
cat >w.csv <<'END'
"loss","kind","n-layers","units1","units2","depth","shape","clip"
"1","mlp","1","8","","","[8, 8]","None"
"2","mlp","2","9","7","","[4]","0.5"
"3","mlp","3","3","4","","[4]","1"
"4","mlp","2","8","5","","[8,8]","None"
"5","tree","","","","3","[4]","1"
"6","tree","","","","4","[4]","1"
END
quietly "$HPOTUNE" import csv w.csv --goal minimize --metric loss -o w.json
is "$(grep type w.json)" '    "kind": { "type": "choice", "values": ["mlp", "tree"] },
    "n-layers": { "type": "int", "min": 1, "max": 3, "when": { "kind": ["mlp"] } },
    "units1": { "type": "int", "min": 3, "max": 9, "when": { "kind": ["mlp"] } },
    "shape": { "type": "choice", "values": [[8, 8], [4]] },
    "clip": { "type": "choice", "values": [null, 0.5, 1] },
    "units2": { "type": "int", "min": 4, "max": 7, "when": "n-layers >= 2" },
    "depth": { "type": "int", "min": 3, "max": 4, "when": { "kind": ["tree"] } }' \
    'csv: conditions, lists, and numbers beside None' || diag "$(cat err w.json)"
like "$(cat err)" 'units2: "when": it was there where n-layers >= 2, and only then' \
    'csv: a condition of a whole number is noted'
runs w.json '6 of 6 trials of w-trials.json' w loss

# A storage of Optuna: ours, which Optuna reads, with conditions.
cat >study.json <<'END'
{ "study": "from-optuna",
  "objective": { "metric": "acc", "goal": "maximize", "value": "last" },
  "parameters": {
    "lr": { "type": "float", "min": 1e-5, "max": 1, "scale": "log" },
    "n": { "type": "int", "min": 1, "max": 9, "step": 2 },
    "opt": { "type": "choice", "values": ["sgd", null, 3, true] },
    "m": { "type": "float", "min": 0, "max": 1, "step": 0.25,
      "when": { "opt": ["sgd"] } } },
  "strategy": { "name": "random", "seed": 1 },
  "trial": { "command": ["true", "{params}"], "max_steps": 5 },
  "backend": { "name": "pretend", "seconds_per_step": 0.001 },
  "limits": { "trials": 30 } }
END
quietly "$HPOTUNE" start -q study.json
quietly "$HPOTUNE" export --format optuna -o storage.db study.json
mkdir optuna
quietly "$HPOTUNE" import optuna storage.db -o optuna/study.json
is "$?:$(sed -n '/objective/p; /parameters/,/^  }/p' optuna/study.json)" \
    '0:  "objective": { "metric": "acc", "goal": "maximize", "value": "last" },
  "parameters": {
    "lr": { "type": "float", "min": 1e-05, "max": 1, "scale": "log" },
    "n": { "type": "int", "min": 1, "max": 9, "step": 2 },
    "opt": { "type": "choice", "values": ["sgd", null, 3, true] },
    "m": { "type": "float", "min": 0, "max": 1, "step": 0.25, "when": { "opt": ["sgd"] } }
  },' 'optuna: goal, ranges and the condition' || diag "$(cat err)"
runs optuna/study.json '30 of 30 trials of study-trials.json' optuna acc
is "$(sql optuna/from-optuna.db 'SELECT group_concat(state || printf("%.12g",
    objective)) FROM (SELECT * FROM warm ORDER BY trial)')" \
    "$(sql from-optuna.db 'SELECT group_concat(state || printf("%.12g",
    objective)) FROM (SELECT * FROM trials ORDER BY trial)')" \
    'optuna: with the results and states of the trials'

# Several objectives, which warm_start reads from the list; also with a bound.
cat >pair.json <<'END'
{ "study": "pair",
  "objectives": [ { "metric": "acc", "goal": "maximize" },
    { "metric": "ms", "goal": "minimize" } ],
  "parameters": { "x": { "type": "float", "min": 0, "max": 1 },
    "trial-size": { "type": "int", "min": 1, "max": 9 } },
  "strategy": { "name": "random", "seed": 1 },
  "trial": { "command": ["sh", "-c", "echo hpotune: step=1 acc={x} ms=2"] },
  "limits": { "trials": 4, "parallel": 1 } }
END
quietly "$HPOTUNE" start -q pair.json
quietly "$HPOTUNE" export --format optuna -o pair.optuna pair.json
mkdir several
quietly "$HPOTUNE" import optuna pair.optuna -o several/study.json
like "$("$HPOTUNE" check several/study.json 2>&1)" \
    '^warm start 4 of 4 trials of study-trials.json' \
    'optuna: trials of several objectives' || diag "$(cat err several/*)"
like "$(cat several/study.json)" '"metric": "acc", "goal": "maximize"' \
    'optuna: with their names'
(cd several && sed 's|"./train", "{params}"|"true"|; s|"limits": {|& "trials": 1 },|
    /"trials": 100/,/}/d' study.json >s.json && "$HPOTUNE" ask s.json >ask)
is "$(sql several/pair.db "SELECT count(*), min(metrics ->> 'ms'),
    sum(abs(objective - (metrics ->> 'acc'))) FROM t_warm")" '4|2|0.0' \
    'optuna: with all values' || diag "$(cat several/s.json)"
# Constraints, of which Optuna has values only; one trial is without them, and
# one has what is no JSON.
sed -e '/"objectives"/,/\],/c\  "objective": { "metric": "acc", "goal": "maximize" },\
  "constraints": [ { "metric": "ms", "max": 20 }, { "metric": "mb", "min": 3 } ],' \
    -e 's/"pair"/"bounds"/; s/ms=2"/ms=2 mb=1"/' pair.json >bounds.json
quietly "$HPOTUNE" start -q bounds.json
quietly "$HPOTUNE" export --format optuna -o bounds.optuna bounds.json
sqlite3 bounds.optuna "DELETE FROM trial_system_attributes WHERE trial_id = 1;
    UPDATE trial_system_attributes SET value_json = '[NaN, 1]'
    WHERE trial_id = 2 AND key = 'constraints'"
mkdir bounds
quietly "$HPOTUNE" import optuna bounds.optuna -o bounds/study.json
is "$?:$(sed -n '/objective/p; /constraints/,/\]/p' bounds/study.json)" \
    '0:  "objective": { "metric": "acc", "goal": "maximize", "value": "last" },
  "constraints": [
    { "metric": "constraint_0", "max": 0 },
    { "metric": "constraint_1", "max": 0 }
  ],' 'optuna: constraints' || diag "$(cat err)"
like "$(cat err)" 'note: constraints: the program reports constraint_0' \
    'optuna: whose names are given here'
(cd bounds && sed 's|"./train", "{params}"|"true"|' study.json >s.json &&
    "$HPOTUNE" ask s.json >ask)
is "$(sql bounds/bounds.db "SELECT count(*), sum(objective = metrics ->> 'acc'),
    group_concat(ifnull(metrics ->> 'constraint_0', '-') || ' ' ||
    ifnull(metrics ->> 'constraint_1', '-')) FROM t_warm")" \
    '4|4|- -,- -,-18 2,-18 2' 'optuna: with the values of the trials'

cat >wide.json <<'END'
{ "study": "wide",
  "objectives": [ { "metric": "ms", "goal": "minimize" },
    { "metric": "acc", "goal": "maximize" } ],
  "constraints": [ { "metric": "acc", "min": 0.1 } ],
  "parameters": { "x": { "type": "float", "min": 0, "max": 1 } },
  "warm_start": ["list.json"],
  "trial": { "command": ["true"] },
  "limits": { "trials": 4 } }
END
"$HPOTUNE" export --format json pair.json >list.json
like "$("$HPOTUNE" check wide.json 2>&1)" '^warm start 4 of 4 trials of list.json' \
    'the list of export, too' || diag "$(cat wide.json)"
sed -i 's/"goal": "maximize"/"goal": "minimize"/' wide.json
like "$("$HPOTUNE" check wide.json 2>&1)" \
    'the goal of acc is maximize, and here it is minimize' \
    'with the goals of this study'
sed -i 's/"ms"/"seconds"/' wide.json
like "$("$HPOTUNE" check wide.json 2>&1)" \
    'no trial there has an outcome of seconds' 'and all of its metrics'
sqlite3 storage.db "INSERT INTO studies VALUES (2, 'other')"
wrong 2 'storage.db: it has several studies: name one with --study: from-optuna, other' \
    'optuna: one of several studies must be named' optuna storage.db
wrong 2 'storage.db: it has no study othr: from-optuna, other' \
    'optuna: a study that is not there' optuna storage.db --study othr
wrong 2 'a.db: it is no storage of Optuna: no such table: studies' \
    'optuna: another database' optuna a.db
wrong 2 'a.csv: it is no storage of Optuna: file is not a database' \
    'optuna: no database' optuna a.csv
wrong 1 'missing.db: it cannot be read' 'optuna: a file that is not there' \
    optuna missing.db

# Lists among the choices, and results that are no numbers: Optuna has null then.
cp from-optuna.db keep.db
"$HPOTUNE" export --format optuna -o lists.optuna study.json
sqlite3 lists.optuna "UPDATE trial_params SET distribution_json =
    replace(distribution_json, '\"sgd\"', '[64, [true, \"a\"]]');
    UPDATE trial_values SET value = NULL, value_type = 'INF_POS' WHERE trial_id = 1"
mkdir lists
quietly "$HPOTUNE" import optuna lists.optuna -o lists/study.json
like "$(cat lists/study.json)" '"values": \[\[64, \[true, "a"\]\], null, 3, true\]' \
    'optuna: a list' || diag "$(cat err lists/study.json)"
like "$(cat err)" 'note: opt: a value that is a list or an object: HPOTUNE_PARAMS' \
    'optuna: of which a note tells'
like "$(cat err)" '1 of 30 trials ended with NaN or infinity' 'optuna: infinity has failed'
runs lists/study.json '30 of 30 trials of study-trials.json' lists acc

# The study's database is not the storage that it comes from.
"$HPOTUNE" export --format optuna -o lists/new-name.db study.json
sqlite3 lists/new-name.db "UPDATE studies SET study_name = 'New name'"
quietly "$HPOTUNE" import optuna lists/new-name.db -o lists/name.json
like "$(head -n 2 lists/name.json; cat err)" '"study": "new-name-2"' \
    'optuna: a storage of the same name stays beside the study'
like "$(cat err)" 'study: it is named new-name-2, because new-name.db is the file that is imported' \
    'optuna: of which a note tells'
runs lists/name.json '30 of 30 trials of name-trials.json' name acc

# Ray Tune: NaN, a line that is half, a trial that failed, one that waits.
mkdir -p ray/f_1 ray/f_2 ray/f_3 ray/f_4
echo '{"opt": {"lr": 0.5}, "layers": [8, 8], "n": 2}' >ray/f_1/params.json
cat >ray/f_1/result.json <<'END'
{"loss": 2.5, "acc": NaN, "why": "no \"NaN\"", "training_iteration": 1}
{"loss": 1.5, "acc": -Infinity, "training_iteration": 2}
{"loss": 0.5, "ac
END
echo '{"opt": {"lr": 0.25}, "layers": [4], "n": 2}' >ray/f_2/params.json
echo '{"loss": 3, "training_iteration": 1}' >ray/f_2/result.json
cp ray/f_2/* ray/f_3
echo 'ValueError' >ray/f_3/error.txt
cp ray/f_2/params.json ray/f_4
quietly "$HPOTUNE" import ray ray/ --metric loss --goal minimize -o ray.json
is "$?:$(sed -n '/study"/p; /parameters/,/^  }/p' ray.json)" '0:  "study": "ray",
  "parameters": {
    "opt.lr": { "type": "float", "min": 0.25, "max": 0.5 },
    "layers": { "type": "choice", "values": [[8, 8], [4]] },
    "n": { "type": "fixed", "value": 2 }
  },' 'ray: nested parameters, and lists' || diag "$(cat err)"
runs ray.json '3 of 3 trials of ray-trials.json' ray loss
is "$(sql ray.db 'SELECT state, objective, step FROM warm')" 'completed|1.5|2
completed|3.0|1
failed|3.0|1' 'ray: the last reports that are whole'
# The last report counts, also when it is NaN; earlier ones do not.
mkdir -p nan/f_1 nan/f_2
cp ray/f_1/params.json nan/f_1
cp ray/f_2/params.json nan/f_2
printf '{"loss": 2, "training_iteration": 1}\n{"loss": NaN, "training_iteration": 2}\n' |
    tee nan/f_1/result.json | head -1 >nan/f_2/result.json
quietly "$HPOTUNE" import ray nan --metric loss --goal minimize -o nan.json
is "$?:$(grep -o '"state": "[a-z]*", "[a-z]*": [0-9]*' nan-trials.json | paste -sd ' ')" \
    '0:"state": "failed", "step": 2 "state": "completed", "objective": 2' \
    'ray: a trial that ended with NaN has failed'
like "$(cat err)" 'note: 1 of 2 trials ended with NaN or infinity' 'ray: of which a note tells'
like "$(cat err)" 'note: layers: a value that is a list' 'ray: as of lists'
wrong 2 'ray: no folder in it is a trial with params.json and reports of los in result.json' \
    'ray: a metric that is not there' ray ray --metric los --goal minimize
wrong 1 'missing: No such file or directory' 'ray: a folder that is not there' \
    ray missing --metric loss --goal minimize
echo '{' >ray/f_4/params.json
quietly "$HPOTUNE" import ray ray --metric loss --goal minimize
like "$?:$(cat err)" '^2:hpotune: ray/f_4/params.json:2:1: ' \
    'ray: a file that is no JSON'

# The list of trials, and what export --format json writes, start other studies.
sed -e 's/"from-optuna"/"again"/' -e 's/"strategy"/"warm_start": ["t.json"],\n&/' \
    study.json >again.json
"$HPOTUNE" export --json from-optuna.db -o t.json
is "$("$HPOTUNE" check again.json | sed -n 's/^warm start //p')" \
    '30 of 30 trials of t.json; random does not use them' \
    'trials that were exported start another study'
sed 's/"maximize"/"minimize"/' again.json >goal.json
quietly "$HPOTUNE" check goal.json
like "$(cat err)" 'warm_start\[0\]: its goal is maximize, and the goal here is minimize$' \
    'its goal must be the same'
sed 's/"acc"/"f1"/' again.json >metric.json
quietly "$HPOTUNE" check metric.json
like "$(cat err)" 'warm_start\[0\]: its objective is acc and not f1$' \
    'and its objective'
# A loop of commits: hashes are names, and what took no memory has not run.
printf 'commit\tval_bpb\tmemory_gb\tstatus\n3038052\t0.96\t5\tkeep\n0012345\t0.9\t5\tdiscard\n12e4567\t0.8\t5\tdiscard\nab1\t0.0\t0.0\tdiscard\n' >hashes.tsv
quietly "$HPOTUNE" import csv hashes.tsv --metric val_bpb --goal minimize -o hashes.json
is "$(sed -n 's/.*"values": //p' hashes.json)" '["3038052", "0012345", "12e4567", "ab1"] }' \
    'csv: commits are texts, whatever they look like'
like "$(cat err)" '^hpotune: note: 1 of 4 rows have failed: 0 is their val_bpb and their memory' \
    'csv: what has not run has failed'
is "$(grep -c '"failed"' hashes-trials.json)" 1 'csv: it has no value'

# Numbers among texts stay numbers where they stay as they are.
printf 'loss,x\n1,auto\n2,10\n3,0.50\n4,007\n5,1e2\n' >mixed.csv
quietly "$HPOTUNE" import csv mixed.csv --metric loss --goal minimize
is "$(sed -n 's/.*"x": .*"values": //p' out)" '["auto", 10, 0.5, "007", "1e2"] }' \
    'csv: 007 and 1e2 among texts are texts'

# Other results are no parameters; the curves of a chart are no trials.
printf 'Name,val_acc,test_acc,loss_weight,precision,lr\na,0.5,0.41,0.5,16,0.1\nb,0.6,0.52,0.7,32,0.2\n' >runs.csv
quietly "$HPOTUNE" import csv runs.csv --metric val_acc --goal maximize
is "$(sed -n 's/^    "\([a-z_]*\)": { "type.*/\1/p' out | tr '\n' ' ')" 'loss_weight precision lr ' \
    'csv: results by their names are left out'
like "$(cat err)" '^hpotune: note: test_acc: it is left out as a result' 'csv: with a note'
quietly "$HPOTUNE" import csv runs.csv --metric val_acc --goal maximize --params test_acc,lr
like "$(cat out)" '"test_acc": { "type"' 'csv: but not those that are named'
printf '"Step","a - loss","a - loss__MIN","a - loss__MAX"\n"1","0.5","0.5","0.5"\n' >chart.csv
wrong 2 'chart.csv: it is a chart of W&B, whose rows are steps of curves, without parameters: export the table of the runs' \
    'csv: a chart is refused' csv chart.csv --metric 'a - loss' --goal minimize
done_testing
