#!/bin/sh
# Studies whose study.json changes between runs: ranges, choices, new parameters,
# target, limits, stopping, strategy; what no longer fits is kept and told; what
# may not change says what to do.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3

cat >first <<'END_STUDY'
{ "study": "s", "objective": { "metric": "loss", "goal": "minimize" },
  "parameters": {
    "lr": { "type": "float", "min": 0.01, "max": 0.1 },
    "opt": { "type": "choice", "values": ["sgd", "adam"] } },
  "enqueue": [ { "lr": 0.02, "opt": "sgd" }, { "lr": 0.05, "opt": "adam" }, { "lr": 0.09, "opt": "sgd" }, { "lr": 0.04, "opt": "adam" } ],
  "strategy": { "name": "random", "seed": 3 }, "stopping": "none",
  "trial": { "command": ["sh", "-c", "echo hpotune: loss=$1", "x", "{lr}"],
    "env": { "TOKEN": "hush" } },
  "limits": { "trials": 4, "parallel": 1 } }
END_STUDY
cp first study.json
edit() { # sed-expression: of the study as it is
	sed "$1" study.json >new && mv new study.json
}
goes_on() { # what
	ok "$1" quietly "$HPOTUNE" start study.json
}
refused() { # pattern what: start and check say the same
	fails "start: $2" 2 quietly "$HPOTUNE" start study.json
	like "$(cat err)" "$1" "$2: says why and what to do"
	fails "check: $2" 2 quietly "$HPOTUNE" check study.json
	like "$(cat err)" "$1" "$2: check says the same"
}
goes_on 'a study with four trials'
is "$(sql s.db 'SELECT count(*) FROM changes')" 0 'nothing has changed'

# A wider range, and one more choice: all trials still fit.
edit 's/"max": 0.1 /"max": 0.5 /; s/"adam"\] }/"adam", "lion"] }/; s/"trials": 4/"trials": 6/'
ok 'check accepts it' quietly "$HPOTUNE" check study.json
is "$(sed -n '/^changed/,$p' out)" 'changed    parameters.lr.max: 0.5, was 0.1
           parameters.opt.values: ["sgd","adam","lion"], was ["sgd","adam"]
           limits.trials: 6, was 4' 'and lists what has changed'
is "$(sql s.db 'SELECT count(*) FROM changes')" 0 'and records nothing'
goes_on 'a wider range'
is "$(sql s.db 'SELECT key, old, new, trials, outside FROM changes')" \
    'parameters.lr.max|0.1|0.5|4|0
parameters.opt.values|["sgd","adam"]|["sgd","adam","lion"]|4|0
limits.trials|4|6|4|' 'each change is a row of the view'
is "$(sql s.db 'SELECT count(*) FROM trials WHERE outside IS NOT NULL')" 0 \
    'all trials are in it'

# The list of enqueue must be of the space, too, though it is not read again.
cp study.json before
edit 's/"max": 0.5 /"max": 0.045 /'
refused 'enqueue\[1\].lr: expected a number from 0.01 to 0.045' 'enqueue'
cp before study.json
edit '/"enqueue"/d'

# A narrower one: two trials no longer fit.  They keep their results, the
# strategy does not see them, and the log says so.
edit 's/"max": 0.5 /"max": 0.045 /; s/"lion"/"sophia"/; s/"trials": 6/"trials": 7/'
"$HPOTUNE" check study.json >out
like "$(cat out)" '^ +enqueue: not given, was \[.*\]; it is read at the first start only: hpotune enqueue adds settings$' \
    'check: a key that has no effect any more'
like "$(cat out)" '^ +[0-9] of 6 trials are outside of the changed space.*: 2, 3' \
    'check: the trials that no longer fit'
like "$("$HPOTUNE" check --json study.json)" \
    '"changes":\["parameters.lr.max: 0.045, was 0.5",' 'and in JSON'
goes_on 'a narrower range'
like "$(cat out err)" 'trials are outside of the changed space.*: 2, 3' \
    'the log names those outside'
is "$(sql s.db 'SELECT trial, outside FROM trials WHERE trial < 5')" \
    '1|
2|lr is 0.05, not a number from 0.01 to 0.045
3|lr is 0.09, not a number from 0.01 to 0.045
4|' 'and the view trials says why'
is "$(sql s.db 'SELECT count(*) FROM results WHERE trial IN (2, 3)')" 2 \
    'they are in results'
like "$("$HPOTUNE" show 3)" '^outside of the space: lr is 0.09' 'show says it'
outside=$(sql s.db 'SELECT count(outside) FROM trials')
like "$("$HPOTUNE" status)" "^$outside outside of the space" 'status counts them'
is "$(sql s.db "SELECT max(json_extract(params, '\$.lr')) <= 0.045
    FROM trials WHERE trial = 7")" 1 'the new trial is of the new space'
for command in importance report best trials status 'export -f optuna -o o.db'; do
	# shellcheck disable=SC2086 # it has words
	ok "$command reads it" quietly "$HPOTUNE" $command study.json
done

# A strategy suggests what it does when they are forgotten.
for copy in kept forgotten; do
	mkdir $copy
	cp -r s.db s.d $copy
	sed 's/"name": "random"/"name": "tpe", "n_startup_trials": 2/
	    s/"trials": 7/"trials": 9/' study.json >$copy/study.json
done
ok 'two are forgotten' quietly "$HPOTUNE" forget forgotten/study.json 2 3
for copy in kept forgotten; do
	ok "$copy: with tpe" quietly "$HPOTUNE" start $copy/study.json
done
is "$(sql kept/s.db 'SELECT params FROM trials WHERE trial > 7')" \
    "$(sql forgotten/s.db 'SELECT params FROM trials WHERE trial > 7')" \
    'both suggest the same'

# Wide again: they fit again.
edit 's/"max": 0.045 /"max": 0.5 /; s/"trials": 7/"trials": 8/'
goes_on 'the range as before'
is "$(sql s.db "SELECT count(*) FROM trials WHERE outside IS NOT NULL AND
    trial < 5")" 0 'all fit again'

# A new parameter needs the value that the old trials had.
edit 's/"opt": {/"drop": { "type": "float", "min": 0, "max": 1 }, &/; s/"trials": 8/"trials": 9/'
refused 'parameters.drop: it is new, and trial 1 had no such parameter: give it a "default"' \
    'a new parameter without a default'
edit 's/"max": 1 }, "opt"/"max": 1, "default": 0.25 }, "opt"/'
goes_on 'with a default'
is "$(sql s.db 'SELECT DISTINCT "drop" FROM results WHERE trial < 9')" 0.25 \
    'earlier trials have it'
is "$(sql s.db 'SELECT "drop" <> 0.25 FROM results WHERE trial = 9')" 1 \
    'the new one has its own'
is "$(sql s.db "SELECT old IS NULL, new FROM changes
    WHERE key = 'parameters.drop'")" \
    '1|{"type":"float","min":0,"max":1,"default":0.25}' 'its row'

# A parameter cannot go; it can be fixed.
cp study.json before
edit 's/"drop": {[^}]*}, //'
refused 'parameters.drop: it is missing, .* "type": "fixed"' 'a parameter less'
cp before study.json
edit 's/"drop": {[^}]*}/"drop": { "type": "fixed", "value": 0.25 }/; s/"trials": 9/"trials": 10/'
goes_on 'a fixed one instead'
is "$(sql s.db 'SELECT group_concat(trial) FROM trials
    WHERE outside IS NOT NULL')" 9 'the one with another value is outside'

# A queued setting that the space no longer has: the event says which.
ok 'a setting in the queue' quietly "$HPOTUNE" enqueue study.json opt=sophia lr=0.02
edit 's/"sophia"/"lion"/; s/"trials": 10/"trials": 11/'
goes_on 'without a queued choice'
is "$(sql s.db "SELECT text FROM events WHERE area = 'enqueue'")" \
    'a queued setting was dropped: opt: expected one of "sgd", "adam", "lion": {"lr":0.02,"opt":"sophia"}' \
    'a queued setting that no longer fits is dropped, and an event says so'

# A narrower range and a new parameter, which stands before it, in one edit: also
# while a trial waits that has all of it.
sed 's/"study": "s"/"study": "both"/; s/"trials": 4/"trials": 5/
    s/echo hpotune/case $1 in 0.04) exec sleep 1000;; esac; &/' first >both.json
server both.json
ok 'a trial in the new range runs' retry sql_is both.db \
    "SELECT state FROM trials WHERE trial = 4" running
kill -INT "$server"
reap "$server"
sed 's/"max": 0.1 /"max": 0.045 /; /"enqueue"/d; s/exec sleep 1000/true/
    s/"lr": {/"a": { "type": "int", "min": 0, "max": 3, "default": 2 }, &/' \
    both.json >new && mv new both.json
ok 'both are taken' quietly "$HPOTUNE" start both.json
is "$(sql both.db "SELECT trial, state, outside, json_extract(params, '\$.a')
    FROM trials WHERE trial < 5")" \
    '1|completed||2
2|completed|lr is 0.05, not a number from 0.01 to 0.045|
3|completed|lr is 0.09, not a number from 0.01 to 0.045|
4|completed||2' 'and in effect'
sed 's/"trials": 5/"trials": 6/; s/0.045/0.03/
    s/"lr"/"aa": { "type": "float", "min": 0, "max": 1 }, &/' both.json >wrong.json
fails 'a new one without a default is refused also then' 2 \
    quietly "$HPOTUNE" start wrong.json
like "$(cat err)" 'parameters.aa: it is new, and trial 1 had no such parameter' \
    'by its own reason'

# A trial that is not over must fit.
sed 's/echo hpotune/exec sleep 1000; &/' first |
    sed 's/"study": "s"/"study": "r"/' >r.json
server r.json
ok 'a trial runs' retry sql_is r.db \
    "SELECT state FROM trials WHERE trial = 1" running
kill -INT "$server"
reap "$server"
sed 's/"min": 0.01/"min": 0.03/; /"enqueue"/d' r.json >new && mv new r.json
fails 'a space without a trial that waits' 2 quietly "$HPOTUNE" start r.json
like "$(cat err)" 'trial 1, which is waiting, has no setting .* stop it first, hpotune stop 1' \
    'says to stop it'
ok 'which can be done' quietly "$HPOTUNE" stop r.json 1
sed 's/exec sleep 1000; //' r.json >new && mv new r.json
ok 'then it goes on' quietly "$HPOTUNE" start r.json
is "$(sql r.db 'SELECT state, outside IS NOT NULL FROM trials WHERE trial = 1')" \
    'cancelled|1' 'the stopped trial is outside'
is "$(sql r.db "SELECT count(*) FROM events WHERE text LIKE '%queued setting%'")" \
    0 'the queue still fits'

# Strategy, seed, target, stopping.
edit 's/"name": "random", "seed": 3/"name": "tpe"/; s/"stopping": "none"/"stopping": "median"/; s/"goal": "minimize"/&, "target": 0.001/; s/"trials": 11/"trials": 12/; s/hush/quiet/'
goes_on 'another strategy, rule and target, and no seed'
is "$(sql s.db 'SELECT strategy, seed, rule FROM study')" 'tpe|3|median' \
    'are in the view study'
is "$(sql s.db "SELECT key, old, new FROM changes WHERE key LIKE 'strategy%' OR
    key LIKE 'objective%' OR key LIKE 'stopping%' ORDER BY key")" \
    'objective.target||0.001
stopping|"none"|"median"
strategy.name|"random"|"tpe"
strategy.seed|3|' 'and of the view changes'
is "$(sql s.db "SELECT key, old, new FROM changes WHERE key LIKE 'trial.env%'")" \
    'trial.env.TOKEN|…|…' 'values of variables are not recorded'
edit 's/"name": "tpe"/"name": "pbt"/; s/"trials": 12/"trials": 14/'
refused 'strategy: the trials of a population go on from each other' \
    'a strategy of populations'

# A grid of a changed space begins again, and repeats nothing.
sed '/"enqueue"/d; s/"study": "s"/"study": "g"/
    s/"lr": {[^}]*}/"lr": { "type": "choice", "values": [1, 2] }/
    s/{ "name": "random", "seed": 3 }/{ "name": "grid", "shuffle": false }/
    s/"trials": 4/"trials": 100/' first >g.json
ok 'a grid of four' quietly "$HPOTUNE" start g.json
is "$(sql g.db 'SELECT count(*) FROM trials')" 4 'four'
sed 's/"values": \[1, 2\]/"values": [1, 2, 3]/' g.json >new && mv new g.json
ok 'a grid of six' quietly "$HPOTUNE" start g.json
is "$(sql g.db 'SELECT count(*), count(DISTINCT params) FROM trials')" '6|6' \
    'two more, no setting twice'

# A kill in the transaction: nothing, or all.
for point in tuner.before_commit tuner.after_commit; do
	sed "s/\"values\": \\[1, 2, 3/&, $point/; s/, tuner.before_commit/, 4/
	    s/, tuner.after_commit/, 5/" g.json >new && mv new g.json
	HPOTUNE_FAIL="$point=kill" HPOTUNE_FAIL_LOG=fail.log quietly \
	    "$TOP_BUILDDIR/tests/torture/hpotune-fail" start g.json
	ok "$point: the next start goes on" quietly "$HPOTUNE" start g.json
done
is "$(sql g.db 'SELECT count(*), count(DISTINCT params) FROM trials')" '10|10' \
    'all settings of the grid, once each'

# A program that asks finds a changed space, too.
sed '/"enqueue"/d; s/"study": "s"/"study": "a"/' first >a.json
ok 'a trial is asked for' quietly "$HPOTUNE" ask a.json
ok 'and told' quietly "$HPOTUNE" tell a.json 1 loss=1 --done
sed 's/"min": 0.01/"min": 0.2/; s/"max": 0.1/"max": 0.3/' a.json >new && mv new a.json
ok 'another one, of the changed space' quietly "$HPOTUNE" ask a.json
is "$(sql a.db "SELECT trial, json_extract(params, '\$.lr') >= 0.2,
    outside IS NULL FROM trials")" '1|0|0
2|1|1' 'has its range'

# Another metric stays another study.
edit 's/"metric": "loss"/"metric": "cost"/; s/"pbt"/"tpe"/'
refused 'objective.metric: "loss" in the study.s database, "cost" in study.json' \
    'another metric'
done_testing
