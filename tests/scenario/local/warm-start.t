#!/bin/sh
# warm_start: strategies learn from trials of other studies, which are not used
# otherwise.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"

need sqlite3

# A study of 24 trials, some of which fail or are stopped.
cat >old.json <<'END'
{ "study": "old",
  "objective": { "metric": "loss", "goal": "minimize" },
  "parameters": {
    "x": { "type": "float", "min": 0, "max": 1 },
    "n": { "type": "int", "min": 1, "max": 8 },
    "opt": { "type": "choice", "values": ["a", "b", "c"] } },
  "strategy": { "name": "random", "seed": 3 },
  "trial": { "command": ["true"], "max_steps": 10, "retries": 0 },
  "backend": { "name": "pretend", "seconds_per_step": 0.001, "fail": 0.2 },
  "limits": { "trials": 24, "parallel": 2 } }
END
# The study $1 from the same, with the edits that follow.
study() { # name sed-expression …
	name=$1
	shift
	sed -e "s/\"old\"/\"$name\"/; s/\"random\", \"seed\": 3/\"tpe\", \"seed\": 1/" \
	    -e 's/"limits"/"warm_start": ["old.db"], "limits"/' \
	    -e 's/"parallel": 2/"parallel": 1/' "$@" old.json >"$name.json"
}

"$HPOTUNE" start -q old.json
all=$(sql old.db "SELECT count(*) FROM trials")
is "$all" 24 'a study to learn from'
ok 'some of its trials were stopped, others failed' test "$(sql old.db "SELECT
    count(DISTINCT state) FROM trials")" -eq 3

study same
like "$("$HPOTUNE" check same.json)" '^warm start 24 of 24 trials of old\.db$' \
    'check states how many would be taken'
like "$("$HPOTUNE" check --json same.json)" \
    '"warm_start":\[\{"source":"old.db","trials":24,"taken":24\}\]' 'as JSON, too'
ok 'and makes nothing' test ! -e same.db
"$HPOTUNE" start -q -n 6 same.json
is "$(sql same.db 'SELECT count(*) FROM trials')" 6 \
    'they do not count among the trials'
is "$(sql same.db 'SELECT trials FROM study')" 6 'view study does not count them'
is "$(sql same.db 'SELECT source, trial, state, objective, step, params
    FROM warm')" "$(sql old.db "SELECT 'old.db', trial, state, objective, step,
    params FROM trials ORDER BY trial")" 'all is there, in its order'
is "$(sql same.db 'SELECT best FROM study')" \
    "$(sql same.db "SELECT min(objective) FROM trials
    WHERE state = 'completed'")" 'the best is one of our own'
like "$(sql same.db "SELECT text FROM events WHERE text LIKE 'warm%'")" \
    '^warm_start: 24 of 24 trials of old\.db$' 'an event reports it'

# Learnt from at once, not after so many startup trials.
study cold -e 's/"warm_start": \["old.db"\], //'
"$HPOTUNE" start -q -n 6 cold.json
ok 'the first point is another one than without' test \
    "$(sql same.db 'SELECT params FROM trials LIMIT 1')" != \
    "$(sql cold.db 'SELECT params FROM trials LIMIT 1')"
# A study that stops nothing sees nothing of the others' curves.
is "$(sql same.db 'SELECT max(trials) FROM medians')" 6 \
    'rules do not compare trials with them'

# Nobody needs the old file any more, and a restart changes nothing.
study twice
"$HPOTUNE" start -q -n 3 twice.json
mv old.db away.db
mv old.d away.d
"$HPOTUNE" start -q -n 6 twice.json
is "$(sql twice.db 'SELECT params FROM trials')" \
    "$(sql same.db 'SELECT params FROM trials')" \
    'a restart without the old file gives the same points'
is "$(sql twice.db 'SELECT count(*) FROM warm')" 24 'they are taken once'
like "$("$HPOTUNE" check twice.json)" \
    '^warm start 24 trials, taken at the first start$' 'as check prints'
sed -i 's/\["old.db"\]/["away.db"]/' twice.json
"$HPOTUNE" start -q -n 7 twice.json
is "$(sql twice.db 'SELECT count(*) FROM warm')" 24 \
    'another list later changes nothing'
like "$(sql twice.db "SELECT text FROM events WHERE text LIKE '%warm_start:%'")" \
    'away.db.*; it is read at the first start only$' 'which is reported'
mv away.db old.db
mv away.d old.d

# Another space: what does not fit is left out, what is new has its default.
study other -e 's/"max": 1 }/"max": 0.5 }/' \
    -e 's/, "b", "c"\] }/, "b"], "default": "a" }/' \
    -e 's/"n": {[^}]*}/"m": { "type": "int", "min": 1, "max": 9, "default": 5 }, &/' \
    -e 's/"n": {[^}]*}/"f": { "type": "fixed", "value": "z" }/'
"$HPOTUNE" start -q -n 1 other.json
is "$(sql other.db 'SELECT source, trial, params FROM warm')" \
    "$(sql old.db "SELECT 'old.db', trial,
    json_object('x', json_extract(params, '\$.x'), 'm', 5, 'f', 'z',
	'opt', json_extract(params, '\$.opt'))
    FROM trials WHERE json_extract(params, '\$.x') <= 0.5
    AND json_extract(params, '\$.opt') <> 'c' ORDER BY trial")" \
    'those within the bounds, with defaults for what is new'
like "$(sql other.db "SELECT text FROM events WHERE text LIKE 'warm%'")" \
    'left out: [0-9]+ that do not fit \((x is 0\.[0-9]+, not a number from 0 to 0\.5|opt is "c", not one of "a", "b")\); their n is ignored$' \
    'and the others are accounted for'
study child -e 's/"max": 8/&, "when": { "opt": ["a", "b"] }/'
"$HPOTUNE" start -q -n 1 child.json
is "$(sql child.db "SELECT count(*), max(params LIKE '%\"n\"%') FROM warm
    WHERE params LIKE '%\"c\"%'")" \
    "$(sql old.db "SELECT count(*), 0 FROM trials WHERE params LIKE '%\"c\"%'")" \
    'a parameter that is not active here is passed over'

# The same metric under another goal.
study turned -e 's/"minimize"/"maximize"/'
"$HPOTUNE" start -q -n 1 turned.json
is "$(sql turned.db "SELECT trial, objective FROM warm
    WHERE state = 'completed'")" "$(sql old.db "SELECT t.trial, max(value)
    FROM trials AS t JOIN curves USING (trial) WHERE state = 'completed'
    GROUP BY t.trial")" 'under the other goal the best report is another one'
study last -e 's/"minimize"/"minimize", "value": "last"/'
"$HPOTUNE" start -q -n 1 last.json
is "$(sql last.db "SELECT trial, objective FROM warm
    WHERE state = 'completed'")" "$(sql old.db "SELECT t.trial, value
    FROM trials AS t JOIN curves USING (trial, step)
    WHERE state = 'completed'")" 'and where the last report counts, that one'

# Who failed by no fault of its own, and who was cancelled, says nothing.
cp old.db lost.db
sqlite3 lost.db "UPDATE t_attempt SET end_class = 'lost' WHERE end_class = 'error';
    DROP TRIGGER t_trial_move; UPDATE t_trial SET state = 'cancelled'
    WHERE trial = (SELECT min(trial) FROM t_trial WHERE state = 'completed')"
failed=$(sql old.db "SELECT failed FROM study")
study blame -e 's/old.db/lost.db/'
like "$("$HPOTUNE" check blame.json)" \
    "^warm start $((23 - failed)) of 24 trials of lost.db; left out: 1 cancelled or still running, $failed failed by no fault of their own$" \
    'check counts trials left out: lost ones and cancelled ones'

# Two at once, in the order of the list; one that learnt itself hands only its
# own trials on.
study two -e 's/"old.db"/"same.db", "old.db"/'
"$HPOTUNE" start -q -n 1 two.json
is "$(sql two.db 'SELECT source, count(*) FROM warm GROUP BY 1')" \
    'old.db|24
same.db|6' 'two studies'
is "$(sql two.db 'SELECT source, trial FROM warm LIMIT 1')" 'same.db|1' \
    'the first of the list is the oldest'

# Several objectives and a bound: told by name, the last report of each.
cat >wide.json <<'END'
{ "study": "wide",
  "objectives": [ { "metric": "loss", "goal": "minimize" },
    { "metric": "size", "goal": "maximize" } ],
  "constraints": [ { "metric": "ms", "max": 20 } ],
  "parameters": { "x": { "type": "float", "min": 0, "max": 1 } },
  "strategy": { "name": "nsga2", "seed": 1 },
  "limits": { "trials": 50 } }
END
"$HPOTUNE" ask --count 3 wide.json >out
"$HPOTUNE" tell wide.json 1 loss=1 size=5 ms=10 >out
"$HPOTUNE" tell wide.json 1 loss=2 size=4 ms=30 --done >out
"$HPOTUNE" tell wide.json 2 loss=0.5 size=3 --done >out
sed 's/"wide"/"wider"/; s/"limits"/"warm_start": ["wide.db"], &/' wide.json \
    >wider.json
ok 'several objectives' quietly "$HPOTUNE" ask wider.json
is "$(sql wider.db 'SELECT trial, objective, metrics FROM t_warm')" \
    '1|2.0|{"loss":2,"size":4,"ms":30}
2|0.5|{"loss":0.5,"size":3,"ms":null}' 'and bounds, by the last reports'
like "$(sql wider.db "SELECT text FROM events WHERE text LIKE 'warm%'")" \
    '2 of 3 trials of wide.db; left out: 1 cancelled or still running$' 'of those that are over'
sed 's/"wide"/"one"/; s/"limits"/"warm_start": ["wide.db"], &/
    s/"objectives": .*/"objective": { "metric": "size", "goal": "minimize" },/
    /"metric": "size", "goal": "maximize"/d; s/nsga2/tpe/' wide.json >one.json
ok 'one of them' quietly "$HPOTUNE" ask one.json
is "$(sql one.db 'SELECT trial, objective, step FROM warm')" '1|4.0|2
2|3.0|1' 'which was not the first there'

# Errors: one clause, and nothing is made.
no() { # name what error sed-expression …
	no_name=$1
	no_what=$2
	no_error=$3
	shift 3
	study "$no_name" "$@"
	no_said=$("$HPOTUNE" start -q "$no_name.json" 2>&1)
	is "$?:$no_said" "2:hpotune: $no_name.json:10:18: $no_error" "$no_what"
	is "$(find . -name "$no_name.*" | sort | tr '\n' ' ')" \
	    "./$no_name.json " 'nothing was made'
}
echo hello >text.db
sqlite3 strange.db 'CREATE TABLE t (x)'
cp old.db newer.db
sqlite3 newer.db 'PRAGMA user_version = 99'
cp old.db empty.db
sqlite3 empty.db "DROP TRIGGER t_trial_gone; DELETE FROM t_attempt;
    DELETE FROM t_stop; DELETE FROM t_trial"
no e1 'no file' \
    "warm_start[0]: $dir/none.db: No such file or directory" -e 's/old.db/none.db/'
no e2 'no database' \
    "warm_start[0]: $dir/text.db: not a database of hpotune" -e 's/old.db/text.db/'
no e3 "another program's" \
    "warm_start[0]: $dir/strange.db: a database of another program" \
    -e 's/old.db/strange.db/'
no e4 'a newer one' \
    "warm_start[0]: $dir/newer.db: made by a newer hpotune (schema 99, this program supports $(sql old.db 'PRAGMA user_version'))" \
    -e 's/old.db/newer.db/'
no e5 'its own' "warm_start[0]: this is the study's own database" \
    -e 's/old.db/.\/e5.db/'
no e6 'no trials' 'warm_start[0]: it has no trials' -e 's/old.db/empty.db/'
no e7 'no trial that fits' \
    'warm_start[0]: 0 of 24 trials of old.db; left out: 24 that do not fit (y is missing); their x is ignored' \
    -e 's/"x"/"y"/'
no e8 'another metric' \
    'warm_start[0]: no trial there has reported accuracy: its objective is loss' \
    -e 's/"loss"/"accuracy"/'
study e9 -e 's/"old.db"/"old.db", "old.db"/'
is "$("$HPOTUNE" check e9.json 2>&1)" \
    "hpotune: e9.json:10:28: warm_start[1]: this database is given twice" \
    'the same one twice'

# Strategies that look at nothing can be started so, and it is said.
for strategy in random grid sobol; do
	study "$strategy" -e "s/\"tpe\"/\"$strategy\"/" -e '/"x": {/d'
	like "$("$HPOTUNE" check "$strategy.json")" \
	    "their x is ignored; $strategy does not use them$" \
	    "$strategy: check says that it does not look"
	ok "$strategy: it runs" "$HPOTUNE" start -q -n 2 "$strategy.json"
done

# The trials of a tuning job of SageMaker, as its list is printed.
job() { # status objective-status value params [reason]
	printf '%s{ "TrainingJobName": "j", "TrainingJobArn": "a",
    "TrainingJobStatus": "%s", "ObjectiveStatus": "%s",
    "TunedHyperParameters": { %s }, "FailureReason": "%s",
    "FinalHyperParameterTuningJobObjectiveMetric": { "Type": "Minimize",
	"MetricName": "%s", "Value": %s } }\n' \
	    "$comma" "$1" "$2" "$4" "${5-}" "${metric:-loss}" "$3"
	comma=,
}
{
	echo '{ "TrainingJobSummaries": ['
	comma=
	job Completed Succeeded 0.5 '"x": "0.25", "n": "3", "opt": "\"b\""'
	job Stopped Succeeded 0.7 '"x": "0.5", "n": "4", "opt": "c"'
	job Failed Failed 0 '"x": "1", "n": "4", "opt": "a"' 'AlgorithmError: 1'
	job Failed Failed 0 '"x": "1", "n": "4", "opt": "a"' 'CapacityError: 1'
	job InProgress Pending 0 '"x": "1", "n": "4", "opt": "a"'
	job Completed Succeeded 0.1 '"x": "2", "n": "4", "opt": "a"'
	metric=other job Completed Succeeded 0.1 '"x": "1", "n": "4", "opt": "a"'
	echo '] }'
} >parent.json
study amt -e 's/"old.db"/"parent.json"/'
like "$("$HPOTUNE" check amt.json)" '^warm start 3 of 7 trials of parent\.json' \
    'trials of a tuning job would be taken'
"$HPOTUNE" start -q -n 1 amt.json
is "$(sql amt.db 'SELECT trial, state, objective, params FROM warm')" \
    '1|completed|0.5|{"x":0.25,"n":3,"opt":"b"}
2|completed|0.7|{"x":0.5,"n":4,"opt":"c"}
3|failed||{"x":1,"n":4,"opt":"a"}' 'and are learnt from'
study job -e 's/"old.db"/"old.json"/'
"$HPOTUNE" check job.json >out 2>err
is $? 2 'a file that is no such list'
like "$(cat err)" 'no TrainingJobSummaries' 'it reports this'

done_testing
