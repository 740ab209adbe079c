#!/bin/sh
# Another name for a study: its files, its row, study.json; and over kills.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3

write() { # name: study.json
	cat >study.json <<-END_STUDY
	{ // the name is "study" here
	  "trial": { "command": ["sh", "-c", "echo hpotune: loss=\$1; \$2", "x",
	    "{x}", "true"], "env": { "study": "$1" } },
	  "study" : "$1", "objective": { "metric": "loss", "goal": "minimize" },
	  "parameters": { "x": { "type": "int", "min": 0, "max": 99 } },
	  "limits": { "trials": 3 } } // the end
	END_STUDY
}
refused() { # status pattern operand …
	want=$1
	pattern=$2
	shift 2
	fails "rename $*: fails" "$want" quietly "$HPOTUNE" rename "$@"
	like "$(cat err)" "$pattern" "rename $*: says why"
}

write first
refused 2 'does not exist yet' other
ok 'a study' quietly "$HPOTUNE" start study.json
refused 2 'the study has this name already' first
refused 2 'Other: the name of a study has' Other
refused 2 'expected the new name' study.json
touch taken.db
refused 2 'taken.db: exists already' study.json taken
rm taken.db
mkdir taken.d
refused 2 'taken.d: exists already' study.json taken
rmdir taken.d
cp study.json was
ok 'another name' quietly "$HPOTUNE" rename second
is "$(cat out)" 'the study first is now called second' 'is answered'
is "$(echo *.db *.d)" 'second.db second.d' 'its files have it'
is "$(diff was study.json)" '4c4
<   "study" : "first", "objective": { "metric": "loss", "goal": "minimize" },
---
>   "study" : "second", "objective": { "metric": "loss", "goal": "minimize" },' \
    'of study.json the name alone has changed'
is "$(sql second.db 'SELECT name FROM study')" second 'the view study has it'
is "$(sql second.db 'SELECT key, old, new FROM changes')" \
    'study|"first"|"second"' 'and the view changes'
is "$("$HPOTUNE" logs 2)" "$(cat second.d/trials/2/attempt-1/log)" \
    'logs are found'
sed -i 's/"trials": 3/"trials": 4/' study.json
ok 'the study goes on' quietly "$HPOTUNE" start
is "$(sql second.db 'SELECT count(*) FROM trials')" 4 'with one trial more'
is "$(sql second.db "SELECT count(*) FROM changes WHERE key = 'study'")" 1 \
    'the name is no change of study.json'

# Named by its database: study.json is the user's.
ok 'by the database' quietly "$HPOTUNE" rename second.db third
like "$(cat out)" 'second is now called third: set "study" in its study.json' 'says so'
write third
sed -i 's/"trials": 3/"trials": 4/' study.json
ok 'then it is that study' quietly "$HPOTUNE" start

# Not while a server runs, and not over trials that run.
sed -i 's/"true"\]/"sleep 1000"]/; s/"trials": 4/"trials": 5/' study.json
server study.json
ok 'a trial runs' retry sql_is third.db \
    "SELECT count(*) FROM trials WHERE state = 'running'" 1
refused 1 'already served' fourth
kill -9 "$server"
reap "$server"
refused 2 'trial 5 has not ended' fourth
ok 'it is stopped' quietly "$HPOTUNE" stop --now 5
ok 'the next start records its end' quietly "$HPOTUNE" start study.json
is "$(sql third.db 'SELECT state FROM trials WHERE trial = 5')" cancelled \
    'it is cancelled'

# A kill after each step: the same command goes on.
last=third
for step in database dir db; do
	HPOTUNE_FAIL="rename.$step=kill" HPOTUNE_FAIL_LOG=fail.log quietly \
	    "$TOP_BUILDDIR/tests/torture/hpotune-fail" rename study.json "s-$step"
	like "$(cat study.json)" "\"study\" : \"$last\"" "$step: killed before the end"
	ok "$step: the same command goes on" quietly "$HPOTUNE" rename \
	    study.json "s-$step"
	is "$(echo *.db *.d) $(sql "s-$step.db" 'SELECT name FROM study')" \
	    "s-$step.db s-$step.d s-$step" "$step: all have the new name"
	like "$(cat study.json)" "\"study\" : \"s-$step\"" "$step: study.json, too"
	last=s-$step
done
sed -i 's/"sleep 1000"\]/"true"]/; s/"trials": 5/"trials": 6/' study.json
ok 'it is the same study' quietly "$HPOTUNE" start
is "$(sql s-db.db 'SELECT count(*) FROM trials')" 6 'with all its trials'

# A study that was never started takes no other's name.
write none
refused 2 'does not exist yet' study.json s-db
is "$(grep -c '"none"' study.json)" 2 'its file is as it was'
done_testing
