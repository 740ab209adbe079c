#!/bin/sh
# Packed trials: one program runs several, and their rows look like those of any
# trial.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3

packed=$TOP_BUILDDIR/tests/tools/packed-program

make_study() { # name trials parallel pack [rule [grace [command]]]
	cat >"$1.json" <<-END
	{ "study": "$1",
	  "objective": { "metric": "loss", "goal": "minimize" },
	  "parameters": { "x": { "type": "float", "min": -1, "max": 1 } },
	  "strategy": { "name": "random", "seed": 3 },
	  "stopping": ${5:-\"none\"},
	  "trial": { "command": ["${7:-$packed}"], "pack": $4,
	    "max_steps": 6, "grace": ${6:-20} },
	  "limits": { "trials": $2, "parallel": $3 } }
	END
	rm -f starts heard hold deaf crash noise
}
run() { # study
	quietly timeout 300 "$HPOTUNE" start "$1.json" --quiet ||
	    { diag "$(cat err)"; return 1; }
}
starts() { # number: so many programs were started
	[ "$(wc -l <starts)" -eq "$1" ]
}
# A program that is left without trials, by a server that is slow, ends after 5 s.
few_starts() { # least most: so many programs
	[ "$(wc -l <starts)" -ge "$1" ] && [ "$(wc -l <starts)" -le "$2" ]
}
# Processes that serve a place of a study, and their programs.
serving() { # study
	grep -lz "^HPOTUNE_PACK_DIR=$dir/$1\.d/" /proc/[0-9]*/environ \
	    2>/dev/null | wc -l
}
none_serving() { # study
	[ "$(serving "$1")" -eq 0 ]
}
held() { # study number: so many trials are at step 3
	sql_is "$1.db" 'SELECT count(*) FROM (SELECT trial FROM metrics
	    GROUP BY trial HAVING max(step) = 3)' "$2"
}
states() { # study: how many trials in each state
	sql "$1.db" 'SELECT state, count(*) FROM trials GROUP BY state
	    ORDER BY state' | tr '\n' ' '
}
# Pids of processes with this in their environment whose command begins so.
pids() { # variable=value command
	grep -lz "^$1" /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3 |
	    while read -r pid; do
		tr '\0' '\n' <"/proc/$pid/cmdline" 2>/dev/null | head -n 2 |
		    tr '\n' ' ' | sed 's/^[^ ]*\///' | grep -q "^$2" &&
		    echo "$pid"
	done
}
members() { # study trial: what stands for its attempt
	pids "HPOTUNE_CHECKPOINT_DIR=$dir/$1\.d/trials/$2/" 'hpotune-pack join'
}
supervisors() { # study trial
	pids "HPOTUNE_CHECKPOINT_DIR=$dir/$1\.d/trials/$2/" 'hpotune-shim dir='
}
serves() { # study
	pids "HPOTUNE_PACK_DIR=$dir/$1\.d/" 'hpotune-pack serve'
}

# ---- many trials through few places --------------------------------------------

make_study many 24 6 3
like "$("$HPOTUNE" check many.json)" '^slots +6: 2 programs of up to 3 trials$' \
    'check says the plan'
ok 'twenty-four trials' run many
is "$(states many)" 'completed|24 ' 'all are completed'
ok 'two programs at least had them all' few_starts 2 12
is "$(grep -c '^{"hpotune":1,"places":3}$' heard)" "$(wc -l <starts)" \
    'each was greeted once'
is "$(grep -c '"start"' heard)" 24 'each trial was started once'
is "$(sql many.db 'SELECT count(*), min(step), max(step) FROM curves')" \
    '144|1|6' 'all reports are there'
is "$(sql many.db 'SELECT DISTINCT attempt, end_class, exit_code, signal
    FROM attempts')" '1|ok|0|' 'attempts as any other'
is "$(cat many.d/trials/7/attempt-1/log)" 'begins after step 0' \
    'a line for the log is in the log'
given=$(sed -n 's/.*"start":7,"attempt":1,"params":\({[^}]*}\).*/\1/p' heard)
is "$given" "$(cat many.d/trials/7/attempt-1/params.json)" \
    'the settings are passed unchanged'
ok 'nobody stays behind' retry none_serving many
is "$(tr '\0' '\n' <many.d/packs/0/log | grep -c 'start 1: ')" 1 \
    'the log of a place'

# Behind a shell the program has its grace, too, when no trial is left.
cat >inner <<END
trap 'echo heard >>ended' TERM
"$packed"
sleep 0.3
echo over >>ended
END
printf '#!/bin/sh\nsh ./inner\ntrue\n' >outer
chmod +x outer
make_study shell 3 3 3 '"none"' 20 ./outer
ok 'a program behind a shell' run shell
ok 'nobody stays behind' retry none_serving shell
is "$(cat ended)" 'heard
over' 'it hears its end, and has its grace'

# ---- stops by a rule ------------------------------------------------------------

make_study rule 12 4 4 '{"rule":"threshold","upper":0.4,"warmup_steps":3}'
: >hold
server rule.json
ok 'a rule stops some' retry sql_is rule.db "SELECT count(*) > 0 FROM trials
    WHERE state = 'stopped' AND step = 3" 1
rm hold
reap $server
is $? 0 'the study ends'
is "$(sql rule.db "SELECT DISTINCT end_class FROM attempts JOIN trials
    USING (trial) WHERE trials.state = 'stopped'")" stopped '… of that class'
ok 'one program, or few' few_starts 1 6
like "$(cat heard)" '^\{"stop":[0-9]+,"attempt":1\}$' 'it received the stop'

# ---- the program dies -----------------------------------------------------------

dies() { # name how class why signal
	make_study "$1" 3 3 3
	: >hold
	server "$1.json"
	ok "$1: three trials are at step 3" retry held "$1" 3
	# Whole from the moment it is there, and before they may end.
	echo "$2" >how && mv how crash
	ok "$1: it dies" retry starts 2
	rm hold
	reap $server
	is $? 0 "$1: the study ends"
	is "$(states "$1")" 'completed|3 ' "$1: all trials are completed"
	is "$(sql "$1.db" 'SELECT count(*), end_class, signal FROM attempts
	    WHERE attempt = 1 GROUP BY 2, 3')" "3|$3|$5" \
	    "$1: each has lost an attempt"
	like "$(cat "$1.d/trials/2/attempt-1/log")" "$4" "$1: and says why"
	ok "$1: and was that the last" starts 2
	like "$(cat "$1.d/trials/2/attempt-2/log")" 'begins after step [3-6]' \
	    "$1: from the checkpoint"
}
dies status 'exit 3' error 'its program ended with exit status 3' ''
dies signal 'signal 9' error 'its program ended by signal 9 .Killed.' 9
dies nothing 'exit 0' error 'its program ended with exit status 0' ''

# ---- kill -9 of each of them ----------------------------------------------------

make_study serve 3 3 3
: >hold
server serve.json
ok 'three trials are at step 3' retry held serve 3
is "$(tr '\0' '\n' <"/proc/$(cat starts)/environ" |
    grep -Ec '^(HPOTUNE_(TRIAL|ATTEMPT|PARAMS|METRICS|CHECK|OUTPUT)|SM_HP)')" \
    0 'nothing of one trial is in the environment of all'
: >deaf
kill -9 $(serves serve)
ok 'kill -9 of what serves: another program begins' retry starts 2
first=$(head -n 1 starts)
gone() { # pid: it is not there, or nobody has reaped it
	[ -z "$(cat "/proc/$1/cmdline" 2>/dev/null | tr -d '\0')" ]
}
ok 'the first is gone' retry gone "$first"
rm hold deaf
reap $server
is "$(states serve)" 'completed|3 ' 'all trials are completed'
is "$(sql serve.db 'SELECT DISTINCT end_class FROM attempts
    WHERE attempt = 1')" lost '… after a lost attempt'

make_study member 3 3 3
: >hold
server member.json
ok 'three trials are at step 3' retry held member 3
kill -9 $(members member 2)
ok 'kill -9 of a member: its next attempt begins' \
    retry grep -q '"start":2,"attempt":2' heard
kill -9 $(supervisors member 3)
ok 'kill -9 of a supervisor: its next attempt begins' \
    retry grep -q '"start":3,"attempt":2' heard
rm hold
reap $server
is "$(states member)" 'completed|3 ' 'all trials are completed'
is "$(sql member.db 'SELECT trial, attempt, end_class FROM attempts
    ORDER BY 1, 2' | tr '\n' ' ')" '1|1|ok 2|1|error 2|2|ok 3|1|lost 3|2|ok ' \
    'two have a second attempt'
ok 'the program has gone on' starts 1
is "$(grep -c '^{"stop":[23],"attempt":1}$' heard)" 2 \
    'and it received the stops'

make_study server 5 3 3
: >hold
server server.json
ok 'three trials are at step 3' retry held server 3
kill -9 $server
reap $server 2>/dev/null
server server.json
ok 'another server is there' retry sh -c \
    '"$HPOTUNE" status --json server.json | grep -q "\"server\":true"'
ok 'kill -9 of the server: the program has gone on' starts 1
rm hold
reap $server
is $? 0 'the same command ends the study'
is "$(states server)" 'completed|5 ' 'all trials are completed'
is "$(sql server.db 'SELECT count(*) FROM attempts')" 5 'and so have its trials'
ok 'nobody stays behind' retry none_serving server

# ---- deaths in between ----------------------------------------------------------

make_study between 4 2 2
for place in before_serve after_serve after_spawn; do
	HPOTUNE_FAIL="local.$place=kill" HPOTUNE_FAIL_LOG=fail.log \
	    timeout 300 "$TOP_BUILDDIR/tests/torture/hpotune-fail" start between.json \
	    >between.log 2>&1
	like "$(tail -n 1 fail.log)" "^local.$place " "the server dies: $place"
done
ok 'the next one' run between
is "$(states between)" 'completed|4 ' 'all trials are completed'
is "$(sql between.db 'SELECT count(*) FROM attempts')" 4 'none was begun twice'
ok 'in one program, or few' few_starts 1 4

make_study slow 6 4 2
HPOTUNE_PACK=$TOP_BUILDDIR/tests/torture/hpotune-pack-fail HPOTUNE_FAIL_LOG=fail.log
HPOTUNE_FAIL='pack.before_door=delay(200),pack.before_join=delay(200)'
export HPOTUNE_FAIL HPOTUNE_FAIL_LOG
ok 'all of them are slow' run slow
is "$(states slow)" 'completed|6 ' 'all trials are completed'
is "$(sql slow.db 'SELECT count(*) FROM attempts')" 6 'in one attempt each'
make_study hurt 6 4 2
sed -i 's/"grace"/"retries": 9, &/' hurt.json
HPOTUNE_FAIL='pack.before_message=kill%8'
ok 'some of them die' run hurt
is "$(states hurt)" 'completed|6 ' 'all trials are completed'
HPOTUNE_PACK=$TOP_BUILDDIR/hpotune-pack
unset HPOTUNE_FAIL HPOTUNE_FAIL_LOG

# ---- one that stands still, and a new command ------------------------------------

make_study still 3 3 3
: >hold
server still.json
ok 'three trials are at step 3' retry held still 3
slow=$(members still 2)
kill -STOP $slow
rm hold
ok 'one member stands still: the others go on' retry sql_is still.db \
    "SELECT group_concat(trial) FROM trials WHERE state = 'completed'" 1,3
kill -CONT $slow
reap $server
is "$(states still)" 'completed|3 ' 'and then it does, too'
is "$(sql still.db 'SELECT count(*) FROM curves')" 18 'nothing is missing'

make_study other 4 2 2
: >hold
server other.json
ok 'two trials are at step 3' retry held other 2
kill -9 $server
reap $server 2>/dev/null
cp "$packed" packed-other
sed -i "s,$packed,$dir/packed-other," other.json
server other.json
rm hold
reap $server
is $? 0 'a server with another command'
is "$(states other)" 'completed|4 ' 'all trials are completed'
ok 'the later two by the other command' starts 2
is "$(sql other.db 'SELECT count(*) FROM attempts')" 4 'and none was begun twice'

# Somebody else's program still has the trial.
if command -v python3 >/dev/null; then
	make_study twice 2 1 2
	: >hold
	server twice.json
	ok 'one trial is at step 3' retry held twice 1
	mkdir twice.d/trials/2
	cat >hold.py <<-'END'
	import fcntl, os, time
	f = open("twice.d/trials/2/pack.lock", "w")
	fcntl.lockf(f, fcntl.LOCK_EX)
	open("locked", "w").close()
	while not os.path.exists("free"):
	    time.sleep(0.02)
	END
	background python python3 hold.py
	ok 'the lock of the next is held' retry test -e locked
	rm hold
	ok 'it waits' retry grep -q 'another program still runs this trial' \
	    twice.d/packs/0/log
	is "$(grep -c '"start":2' heard)" 0 'and is not given to this program'
	: >free
	reap $server
	is "$(states twice)" 'completed|2 ' 'until it is free'
else
	skip 'the lock of a trial' 'python3 is not installed'
fi

# … or it has lost its lock, and is about to die.
make_study dying 2 1 2
: >hold
server dying.json
ok 'one trial is at step 3' retry held dying 1
background other sleep 1000
other=$child
mkdir dying.d/trials/2
echo "$(cat /proc/sys/kernel/random/boot_id) $other" \
    "$(cut -d' ' -f22 </proc/$other/stat)" >dying.d/trials/2/pack.lock
rm hold
ok 'a trial of one that lives waits' retry grep -q \
    'another program still runs this trial' dying.d/packs/0/log
is "$(grep -c '"start":2' heard)" 0 'and is not given to this program'
kill -9 $other
reap $server
is "$(states dying)" 'completed|2 ' 'the trial completes after the other program is killed'
is "$(cat dying.d/trials/2/pack.lock)" '' 'no program holds pack.lock of the trial'

# ---- Ctrl-C and back ------------------------------------------------------------

make_study leave 4 4 4
: >hold
server leave.json
ok 'four trials are at step 3' retry held leave 4
kill -INT $server
reap $server
is $? 3 'Ctrl-C'
is "$(grep -c '^{"stop":' heard)" 4 'all were told to stop'
ok 'the program ends' retry none_serving leave
rm hold
ok 'the same command goes on' run leave
is "$(states leave)" 'completed|4 ' 'all trials are completed'
like "$(cat leave.d/trials/1/attempt-2/log)" 'begins after step 3' \
    'from their checkpoints'

# ---- a program that minds nothing -----------------------------------------------

make_study deaf 4 2 4 '"none"' 1
: >hold
: >deaf
server deaf.json
ok 'two trials are at step 3' retry held deaf 2
stop_one() { # trial
	ok "stop $1" quietly "$HPOTUNE" stop deaf.json "$1"
	ok 'it is cancelled when its grace is over' retry sql_is deaf.db \
	    "SELECT state FROM trials WHERE trial = $1" cancelled
}
stop_one 1
ok 'there is a place for the next' retry grep -q '"start":3' heard
stop_one 3
ok 'but not for another' retry grep -q \
    'trial 4 attempt 1 waits: the program ignores stop requests' deaf.d/packs/0/log
is "$(grep -c '"start":4' heard)" 0 'it is not given to this program'
rm deaf hold
reap $server
is "$(states deaf)" 'cancelled|2 completed|2 ' 'the others are completed'
is "$(sql deaf.db "SELECT count(*) FROM metrics WHERE trial = 1")" 3 \
    'what it says of one that is gone is nothing'

make_study now 2 2 2 '"none"' 60
: >hold
: >deaf
server now.json
ok 'two trials are at step 3' retry held now 2
kill -INT $server
ok 'Ctrl-C: both are told' retry sql_is now.db \
    "SELECT count(*) FROM trials WHERE state = 'stopping'" 2
kill -INT $server
reap $server
is $? 3 'the second ends'
ok 'it has ended the program in its long grace' retry none_serving now

# ---- nonsense -------------------------------------------------------------------

make_study noise 6 3 3
: >noise
ok 'a program that talks nonsense' run noise
is "$(states noise)" 'completed|6 ' 'all trials are completed'
is "$(sql noise.db 'SELECT count(*), min(value) > 0 FROM curves')" '36|1' \
    'and nothing but their reports counts'
like "$(tr '\0' '\n' <noise.d/packs/0/log)" \
    'skipped: the program has no such trial: ' 'the log states what it was'
like "$(tr '\0' '\n' <noise.d/packs/0/log)" 'it says: nobody.s' \
    'and has what was for no trial'

# ---- the example ----------------------------------------------------------------

if command -v python3 >/dev/null; then
	cp -r "$TOP_SRCDIR/examples/pack" example
	chmod -R u+w example
	ok 'examples/pack' quietly timeout 300 "$HPOTUNE" start \
	    example/study.json --quiet --trials 40
	# One attempt each, and one for each second look.
	is "$(sql example/cubic.db "SELECT count(*), sum(attempts) - (SELECT
	    count(rank) FROM stops), min(objective) < 0.02 FROM trials
	    WHERE state IN ('completed', 'stopped')")" \
	    '40|40|1' 'finds a good setting'
	# One that diverges is an error of its own, and of no other trial.
	mkdir apart
	for params in '"rate": 0.05, "momentum": 0.5' \
	    '"rate": 3, "momentum": 0.5'; do
		echo '{"start": '$((n = ${n-0} + 1))', "attempt": 1,' \
		    '"checkpoint_dir": "apart", "params":' \
		    "{$params, \"decay\": 0}}"
	done >lines
	mkfifo hold_in
	{ cat lines && cat hold_in; } | example/train.py >said 2>err &
	children="$children $!"
	ok 'examples/pack: one trial diverges' retry grep -q \
	    '"trial": 2, "end": 1, "why": "the loss is not finite"' said
	ok 'and the other goes on' retry grep -q '"trial": 1, .*"step": 5' said
	: >hold_in
else
	skip 'examples/pack' 'python3 is not installed'
fi

# ---- what is wrong --------------------------------------------------------------

make_study absent 3 2 2 '"none"' 5 ./broken
printf '\177ELF' >broken
chmod +x broken
fails 'a command that cannot be run' 1 quietly timeout 300 "$HPOTUNE" start \
    absent.json --quiet
is "$(sql absent.db 'SELECT count(*) FROM attempts WHERE attempt > 1')" 0 \
    'it is not tried again'
like "$(sql absent.db "SELECT why FROM trials WHERE state = 'failed'")" \
    'cannot run ./broken: Exec format error .it is no program' 'and gives the reason'

make_study pretend 3 2 2
sed -i 's/"limits"/"backend": "pretend", "limits"/' pretend.json
fails 'a backend that cannot' 2 quietly "$HPOTUNE" check pretend.json
like "$(cat err)" 'trial.pack: the backend pretend does not run several trials in one program' \
    'is named'

done_testing
