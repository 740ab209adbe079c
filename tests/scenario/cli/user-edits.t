#!/bin/sh
# What the user does to recorded trials: notes and tags, retries, forgetting, and
# the queue; with a server and with none, and over kills.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3

# It fails while x is less than 3 and the file mend is missing; its checkpoint
# holds the number of attempts; the ledger, each attempt that was started.
cat >trial <<'EOF'
#!/bin/sh
echo "$HPOTUNE_TRIAL $HPOTUNE_ATTEMPT" >>ledger
before=$(cat "$HPOTUNE_CHECKPOINT_DIR/n" 2>/dev/null)
echo "${before:-0}" | sed 's/$/+1/' | tr -d '\n' >"$HPOTUNE_CHECKPOINT_DIR/n"
x=${1#--x=}
echo "hpotune: step=1 score=$x"
[ "$x" -ge 3 ] || [ -e mend ] || exit 7
while [ -e hold ]; do
	sleep 0.02
done
echo "hpotune: step=2 score=$x gain=$x"
EOF
chmod +x trial
touch ledger

objective='"objective": { "metric": "score", "goal": "maximize" }'
make_study() { # name limits [objectives]
	cat >"$1.json" <<-EOF
	{ "study": "$1",
	  ${3-$objective},
	  "parameters": { "x": { "type": "int", "min": 1, "max": 6 } },
	  "enqueue": [ { "x": 1 }, { "x": 2 }, { "x": 3 }, { "x": 4 },
	    { "x": 5 }, { "x": 6 } ],
	  "strategy": "grid", "stopping": "none",
	  "trial": { "command": ["./trial", "{params}"], "retries": 0 },
	  "limits": { "parallel": 2, $2 } }
	EOF
}
says() { # pattern command …: it succeeds and says so
	pattern=$1
	shift
	quietly "$HPOTUNE" "$@"
	is $? 0 "$*: succeeds"
	like "$(cat out)" "$pattern" "$*: answers"
}
refuses() { # status pattern command …
	want=$1
	pattern=$2
	shift 2
	quietly "$HPOTUNE" "$@"
	is $? "$want" "$*: fails"
	like "$(cat err)" "$pattern" "$*: says why"
}
twice() { # attempts that were started more than once
	sort ledger | uniq -d
}

# Six trials, of which the first two fail.
make_study s '"trials": 6'
ok 'a study with two failed trials ends' quietly "$HPOTUNE" start s.json
is "$(sql s.db 'SELECT group_concat(trial) FROM trials
    WHERE state = '"'failed'")" 1,2 'the first two have failed'

# Notes and tags, no server running.
says 'trial 3 has the note' note s.json 3 a good "one, isn't it"
says 'trial 3 has: good, slow' tag 3 slow good
says 'trial 3 has: good, late' tag 3 late --remove slow
says 'trial 4 has: good' tag s.json 4 good
is "$(sql s.db "SELECT note || '|' || tags FROM trials WHERE trial = 3")" \
    "a good one, isn't it|good, late" 'the view trials has both'
is "$(sql s.db "SELECT text FROM notes JOIN tags USING (trial)
    WHERE tag = 'late'")" "a good one, isn't it" 'and SQL finds them'
says "^note: a good one, isn't it" show 3
like "$(cat out)" '^tags: good, late' 'show has the tags'
quietly "$HPOTUNE" trials --tag good
is "$(grep -c 'good' out)" 2 'trials --tag lists two'
quietly "$HPOTUNE" trials --tag "it's"
is "$(cat out err)" '' 'a tag that no trial has: none'
says 'trial 4 has no tags' tag 4 -r good
says 'trial 3 has no note' note 3 ''
is "$(sql s.db 'SELECT count(*) FROM notes')" 0 'the note is gone'
refuses 2 'expected a tag after the trial' tag 3
refuses 2 'not enough arguments' note s.json
refuses 2 'expected a text' note s.json 3
refuses 1 'there is no trial 9' note 9 nothing
refuses 1 'there is no trial 9' tag 9 nothing
refuses 1 'a tag is one word without a comma' tag 3 'two words'
refuses 1 'a tag is one word without a comma' tag 3 a,b
refuses 1 'a note is a text of at most 2000 bytes' note 3 \
    "$(printf '%2001s' long | tr ' ' x)"

# Retries, no server running: the next start does them.
refuses 1 'trial 3 cannot be retried: it has completed' retry 3
refuses 1 'there is no trial 9' retry 9
refuses 2 'retry: expected a trial, or --failed$' retry s.json
refuses 2 'forget: expected a trial$' forget s.json
refuses 2 'exclude each other' retry --failed 1
says 'trial 1 is retried by the next start' retry 1
is "$(sql s.db 'SELECT state FROM trials WHERE trial = 1')" waiting 'it waits'
refuses 1 'it has not ended: it is waiting' retry 1
touch mend
ok 'the study goes on' quietly "$HPOTUNE" start s.json
is "$(sql s.db 'SELECT state, attempts FROM trials WHERE trial = 1')" \
    'completed|2' 'the retried trial completes'
is "$(cat s.d/trials/1/checkpoint/n)" '0+1+1' 'from its checkpoint'
is "$(sql s.db 'SELECT trial, attempt, state FROM retries')" '1|1|failed' \
    'the end it had is in the view retries'
is "$(sql s.db 'SELECT completed, failed FROM study')" '5|1' 'counts are right'
like "$("$HPOTUNE" show 1)" 'ends before it was retried' 'show has its first end'

# With a server: all that failed, at once; and over kills.
make_study k '"trials": 6'
rm -f mend ledger
touch hold
server k.json
ok 'two have failed, others run' retry sql_is k.db \
    "SELECT (SELECT count(*) FROM trials WHERE state = 'failed') = 2 AND
    (SELECT count(*) FROM trials WHERE state = 'running') = 2" 1
touch mend
says '^2 trials are retried: 1, 2' retry k.json --failed
says 'no trial has failed' retry k.json --failed
rm hold
reap $server
is $? 0 'the study ends'
is "$(sql k.db 'SELECT completed FROM study')" 6 'all complete'
is "$(twice)" '' 'no attempt ran twice'

fail_program=$TOP_BUILDDIR/tests/torture/hpotune-fail
for point in tuner.before_commit tuner.after_commit local.after_spawn; do
	rm -f mend ledger hold fail.log
	name=$(echo "$point" | tr -d ._ | cut -c 1-20)
	make_study "$name" '"trials": 6'
	quietly "$HPOTUNE" start "$name.json"
	touch mend
	HPOTUNE_FAIL="$point=kill" HPOTUNE_FAIL_LOG=fail.log \
	    quietly "$fail_program" retry "$name.json" --failed
	state=$(sql "$name.db" 'SELECT group_concat(state) FROM trials
	    WHERE trial < 3')
	if [ "$point" = tuner.before_commit ]; then
		is "$state" failed,failed "$point: nothing is recorded"
	else
		is "$state" waiting,waiting "$point: the retry is recorded"
	fi
	quietly "$HPOTUNE" retry "$name.json" --failed
	# The server is killed, too, as it starts them.
	rm -f fail.log
	HPOTUNE_FAIL="$point=kill" HPOTUNE_FAIL_LOG=fail.log \
	    quietly "$fail_program" start "$name.json"
	ok "$point: the next server ends the study" \
	    quietly "$HPOTUNE" start "$name.json"
	is "$(sql "$name.db" 'SELECT completed FROM study')" 6 \
	    "$point: all complete"
	is "$(twice)" '' "$point: no attempt ran twice"
	is "$(sql "$name.db" 'SELECT count(*) FROM attempts')" \
	    "$(wc -l <ledger)" "$point: each attempt ran"
done

# A limit that ends the study says so; one that failures reached does not, for
# retried trials have not failed.
make_study f '"failed_trials": 2, "trials": 6'
rm -f mend ledger
fails 'a limit on failed trials' 1 quietly "$HPOTUNE" start f.json
touch mend
says '2 trials are retried: 1, 2' retry f.json --failed
ok 'it goes on' quietly "$HPOTUNE" start f.json
is "$(sql f.db "SELECT count(*) FROM trials WHERE trial < 3 AND
    state = 'completed'")" 2 'and they complete'
make_study w '"trials": 6'
rm -f mend
quietly "$HPOTUNE" start w.json
make_study w '"trials": 6, "wall_time": 0.01'
ok 'it is over' quietly "$HPOTUNE" start w.json
refuses 1 'trial 1 cannot be retried: limits.wall_time was reached' \
    retry w.json 1

# A forgotten trial: not the best, not in results, not taught to anyone.
says 'trial 6 no longer counts' forget s.json 6
is "$(sql s.db 'SELECT best_trial, forgotten, completed, trials FROM study')" \
    '5|1|4|6' 'another one is the best'
is "$(sql s.db 'SELECT trial FROM best')" 5 'also in the view best'
is "$(sql s.db 'SELECT trials, median FROM medians WHERE step = 2')" '4|3.5' \
    'the medians are those of the others'
is "$(sql s.db 'SELECT count(*) FROM results WHERE trial = 6')" 0 \
    'it is not in results'
is "$(sql s.db 'SELECT state, forgotten FROM trials WHERE trial = 6')" \
    'completed|1' 'it is in trials'
like "$("$HPOTUNE" show s.json 6)" '^forgotten: ' 'show says so'
like "$("$HPOTUNE" trials s.json)" 'completed, forgotten' 'trials says so'
like "$("$HPOTUNE" status s.json)" '^1 forgotten' 'status counts it'
refuses 1 'trial 6 cannot be retried: it has completed' retry s.json 6
quietly "$HPOTUNE" best s.json --json
like "$(cat out)" '"trial": *5' 'best prints the other one'
sed -i 's/"trials": 6/"trials": 8/' s.json
ok 'more trials are allowed' quietly "$HPOTUNE" start s.json
is "$(sql s.db 'SELECT json_extract(params, '"'\$.x'"') FROM trials
    WHERE trial > 6')" 6 'the forgotten setting is tried again, no other'
is "$(sql s.db "SELECT trials FROM medians WHERE step = 2")" 5 \
    'and still are'
says 'trial 6 counts again' forget --undo s.json 6
is "$(sql s.db 'SELECT best_trial FROM study')" 6 'it is the best again'
refuses 1 'there is no trial 9' forget s.json 9

# While a server runs: it reads the study again, and adopts what runs.
make_study m '"trials": 6'
rm -f ledger
touch mend hold
server m.json
ok 'two run' retry sql_is m.db \
    "SELECT count(*) FROM trials WHERE state = 'running'" 2
refuses 1 'trial 1 has not ended: hpotune stop it first' forget m.json 1
says 'being stopped' stop m.json 1
ok 'it is cancelled' retry sql_is m.db \
    "SELECT state FROM trials WHERE trial = 1" cancelled
says 'trial 1 no longer counts' forget m.json 1
refuses 1 'it is forgotten: hpotune forget --undo first' retry m.json 1
says 'trial 1 counts again' forget m.json 1 -u
says 'trial 1 is retried' retry m.json 1
rm hold
reap $server
is $? 0 'the study ends'
is "$(sql m.db 'SELECT completed FROM study')" 6 'all complete'
is "$(twice)" '' 'no attempt ran twice'

# One that a rule had stopped: no rule stops it again.  The steps are
# slow enough for a busy machine to stop some before they end.
cat >r.json <<'EOF'
{ "study": "r",
  "objective": { "metric": "loss", "goal": "minimize" },
  "parameters": { "lr": { "type": "float", "min": 1e-4, "max": 1,
    "scale": "log" } },
  "strategy": { "name": "random", "seed": 3 },
  "stopping": { "rule": "median", "warmup_steps": 3, "min_trials": 3,
    "second_look": 0 },
  "trial": { "command": ["./train", "{params}"], "max_steps": 30 },
  "backend": { "name": "pretend", "seconds_per_step": 0.005 },
  "limits": { "trials": 30, "parallel": 3 } }
EOF
quietly "$HPOTUNE" start r.json
stopped=$(sql r.db "SELECT min(trial) FROM trials WHERE state = 'stopped'")
says "trial $stopped is retried by the next start" retry r.json "$stopped"
ok 'it runs' quietly "$HPOTUNE" start r.json
is "$(sql r.db "SELECT state, attempts, step FROM trials
    WHERE trial = $stopped")" 'completed|2|30' 'to its end'
ok 'replay reads a study with a retry' quietly "$HPOTUNE" replay r.db

# The front of two objectives without one of its members, and with it again.
make_study p '"trials": 6' '"objectives": [
    { "metric": "score", "goal": "maximize" },
    { "metric": "gain", "goal": "maximize" } ]'
ok 'a study with two objectives ends' quietly "$HPOTUNE" start p.json
is "$(sql p.db 'SELECT group_concat(trial) FROM front')" 6 'the front'
says 'no longer counts' forget p.json 6
is "$(sql p.db 'SELECT group_concat(trial) FROM front')" 5 'the front without trial 6'
says 'counts again' forget p.json 6 --undo
is "$(sql p.db 'SELECT group_concat(trial) FROM front')" 6 'the front with trial 6 again'

# The queue.
says 'no setting waits' enqueue s.json --list
quietly "$HPOTUNE" enqueue s.json x=1
quietly "$HPOTUNE" enqueue s.json x=2
quietly "$HPOTUNE" enqueue s.json x=3
like "$("$HPOTUNE" status s.json)" '^3 in the queue' 'status counts them'
says '^ *7 +enqueue +\{"x":1\}' enqueue s.json --list
quietly "$HPOTUNE" enqueue s.json --list --json
is "$(sqlite3 :memory: "SELECT json_array_length(readfile('out'))")" 3 \
    'the list as JSON'
says 'setting 8 of the queue is dropped' enqueue s.json --clear 8
refuses 1 'no setting 8 waits in the queue' enqueue s.json --clear 8
is "$(sql s.db 'SELECT id, state FROM queue WHERE id > 5')" '6|tried
7|waiting
8|dropped
9|waiting' 'the view queue has them'
says '2 settings of the queue are dropped' enqueue s.json --clear
says '0 settings' enqueue s.json --clear
refuses 2 'expected NAME=VALUE' enqueue s.json
done_testing
