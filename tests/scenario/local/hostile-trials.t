#!/bin/sh
# Hostile trials: one study, one kind of misbehaviour each.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3

cap=$((4 << 20))
big=$((300 << 20))
[ -z "${HPOTUNE_TEST_FULL-}" ] || big=$((10 << 30))

cat >trial <<END
#!/bin/bash
say() { echo "hpotune: \$*"; }
end() { say step=9 score=0.9; exit 0; }
echo "\$1 \$HPOTUNE_ATTEMPT" >>ledger
case \$1 in
flood)		yes 'a line that nobody reads' | head -c $big; echo; end ;;
long-line)	head -c 100000000 /dev/zero | tr '\\0' x; echo; end ;;
long-json)	{ head -c 1000000 /dev/zero | tr '\\0' '['; echo
		  echo '{"step": 9, "score": 0.9}'; } >>\$HPOTUNE_METRICS ;;
numbers)	say step=1 score=nan; say step=2 score=1e999
		say step=3 score=0.5; say step=4 score=-inf
		say step=5 score=1e-999; say step=6 score=0x10
		echo '{"step": 7, "score": NaN}' >>\$HPOTUNE_METRICS
		echo '{"step": 8, "score": 1e999}' >>\$HPOTUNE_METRICS
		end ;;
all-nan)	say step=1 score=nan; say step=2 score=inf ;;
steps)		say step=5 score=0.5; say step=3 score=0.3
		say step=3 score=0.35; say step=-1 score=1
		say step=2.5 score=1; say step=1e30 score=1
		say step=99999999999999999999 score=1; end ;;
bytes)		printf 'hpotune: step=1 score=0.1 \\377\\376=1\\n'
		printf 'hpotune: step=2 score=0.2 a\\0b=1\\n'
		printf '{"step": 3, "score": 0.3, "\\377": 1}\\n' \\
		    >>\$HPOTUNE_METRICS
		printf '\\033[2J\\033]0;title\\007 \\302\\233 \\342\\200\\256 end\\n'
		end ;;
many-names)	for i in \$(seq 2000); do say step=\$i m\$i=1; done; end ;;
deaf)		trap '' TERM; say step=1 score=0.1; while :; do sleep 60; done ;;
daemons)	say step=1 score=0.1
		for i in 1 2 3; do setsid sh -c "trap '' TERM HUP
		    sleep 1000 & sleep 1000" </dev/null >/dev/null 2>&1 &
		done ;;
closed)		exec </dev/null >&- 2>&-
		for fd in /proc/self/fd/*; do eval "exec \${fd##*/}>&-"; done
		echo '{"step": 9, "score": 0.9}' >>\$HPOTUNE_METRICS ;;
orphan)		[ \$HPOTUNE_ATTEMPT -gt 1 ] || kill -9 \$PPID
		end ;;
outside)	trap 'exit 0' TERM; say step=1 score=0.1
		[ \$HPOTUNE_ATTEMPT -gt 1 ] || kill -TERM \$PPID
		[ \$HPOTUNE_ATTEMPT -gt 1 ] || while :; do sleep 0.1; done
		end ;;
escape)		say step=1 score=0.1
		[ \$HPOTUNE_ATTEMPT -gt 1 ] || {
			setsid sh -c 'trap "" TERM HUP; for fd in 1 2 \
			    /proc/self/fd/*; do eval "exec \${fd##*/}>&-"
			done; while :; do sleep 1; done' </dev/null &
			kill -9 \$PPID; sleep 5
		}
		end ;;
silent)		;;
quiet-fail)	exit 7 ;;
truncate)	say step=1 score=0.1; : >\$HPOTUNE_METRICS
		echo '{"step": 2, "score": 0.2}' >>\$HPOTUNE_METRICS
		: >\${HPOTUNE_METRICS%/*}/log; end ;;
vanish)		say step=1 score=0.1
		[ \$HPOTUNE_ATTEMPT -gt 1 ] || rm -rf "\${HPOTUNE_METRICS%/*}"
		end ;;
spoil)		say step=1 score=0.1
		until [ -e seen ]; do sleep 0.1; done
		[ \$HPOTUNE_ATTEMPT -gt 1 ] ||
		    head -c 512 /dev/zero | tr '\\0' x |
		    dd conv=notrunc of="\${HPOTUNE_METRICS%/*}/state" 2>/dev/null
		end ;;
no-end)		printf 'hpotune: step=9 score=0.9' ;;
segv)		say step=1 score=0.1; kill -SEGV \$\$ ;;
esac
END
chmod +x trial
cases='flood long-line long-json numbers all-nan steps bytes many-names daemons
closed orphan escape outside silent quiet-fail truncate vanish no-end
segv'

list() { # format: every case through it, parted by commas
	for c in $cases; do
		printf "$1," "$c"
	done | sed 's/,$//'
}
cat >study.json <<END
{ "study": "hostile",
  "objective": { "metric": "score", "goal": "maximize" },
  "parameters": { "case": { "type": "choice", "values": [$(list '"%s"')] } },
  "enqueue": [$(list '{ "case": "%s" }')],
  "strategy": "random", "stopping": "none",
  "trial": { "command": ["./trial", "{case}"], "grace": 5, "retries": 1 },
  "backend": { "name": "local", "log_cap": $cap },
  "limits": { "trials": $(echo $cases | wc -w), "parallel": 3 } }
END

db=hostile.db
number() { # case
	sql $db "SELECT trial FROM results WHERE \"case\" = '$1'"
}
log_of() { # case
	echo "hostile.d/trials/$(number "$1")/attempt-1/log"
}
kib() { # file: what it takes on the disk
	du -k "$1" 2>/dev/null | cut -f 1
}
trial_is() { # case state objective attempts what
	is "$(sql $db "SELECT state, objective, attempts FROM trials
	    WHERE trial = $(number "$1")")" "$2|$3|$4" "$1: $5"
}
attempt_is() { # case attempt want what
	is "$(sql $db "SELECT end_class, exit_code, signal FROM attempts
	    WHERE trial = $(number "$1") AND attempt = $2")" "$3" "$1: $4"
}
curve_is() { # case want what
	is "$(sql $db "SELECT step, value FROM curves
	    WHERE trial = $(number "$1") ORDER BY step" | tr '\n' ' ')" \
	    "$2" "$1: $3"
}
events_of() { # case
	sql $db "SELECT level, text FROM events WHERE trial = $(number "$1")"
}

# The largest size that a log ever had on the disk, while the server runs.
background watch sh -c 'max=0
while [ ! -e watched ]; do
	for f in hostile.d/trials/*/attempt-1/log; do
		now=$(du -k "$f" 2>/dev/null | cut -f 1)
		[ "${now:-0}" -le $max ] || max=$now
	done
	echo $max >max.new && mv max.new max
	sleep 0.02
done'
watch=$child
server study.json
reap $server
is $? 0 'the study ends'
: >watched
reap $watch

trial_is flood completed 0.9 1 'its last line is read'
is "$(wc -c <"$(log_of flood)" | awk "{ print (\$1 >= $big) }")" 1 \
    'flood: it printed all of it'
is "$(kib "$(log_of flood)" | awk "{ print (\$1 <= $cap / 1024 + 1024) }")" 1 \
    'flood: the log takes no more than log_cap'
like "$(cat max)" '^[0-9]+$' 'the disk was watched'
diag "most on the disk at one time: $(cat max) KiB of log_cap $((cap / 1024))"
like "$(events_of flood)" 'warning\|.*bytes of output were dropped' \
    'flood: what was dropped is reported'
trial_is long-line completed 0.9 1 'the line after it is read'
# Skipped by the reader, or given back to the disk before it came to it.
like "$(events_of long-line)" \
    'line of more than [0-9]+ bytes .*skipped|bytes of output were dropped' \
    'long-line: reported'
trial_is long-json completed 0.9 1 'the object after it is read'

trial_is numbers completed 0.9 1 'finite ones count'
curve_is numbers '1| 2|Inf 3|0.5 4|-Inf 5|0.0 7| 8|Inf 9|0.9 ' 'each as it was meant'
trial_is all-nan failed '' 1 'there is no objective'
attempt_is all-nan 1 'diverged|0|' 'it diverged'
trial_is steps completed 0.9 1 'the later report of a step wins'
curve_is steps '3|0.35 5|0.5 9|0.9 ' 'only whole ones from 0'
like "$(events_of steps)" 'skipped: .*step' 'steps: the others are named'
trial_is bytes completed 0.9 1 'the rest is read'
is "$(sql $db "SELECT count(*) FROM metrics WHERE name <> 'score' AND
    trial = $(number bytes)")" 0 'bytes: no such name is kept'
is "$("$HPOTUNE" logs $db "$(number bytes)" |
    LC_ALL=C tr -d '\n\t -~' | wc -c)" 0 'bytes: logs shows only plain text'
like "$("$HPOTUNE" logs $db "$(number bytes)")" \
    '\\x1b\[2J\\x1b\]0;title\\x07' 'bytes: escape sequences as \x1b'
trial_is many-names completed 0.9 1 'it is read'
is "$(sql $db "SELECT count(DISTINCT name) FROM metrics
    WHERE trial = $(number many-names)")" 1025 'up to a number of names'

trial_is daemons completed 0.1 1 'it ended well'
trial_is closed completed 0.9 1 'without descriptors it is read'
attempt_is orphan 1 'lost||' 'without its supervisor it is lost'
trial_is orphan completed 0.9 2 'the next attempt ends it'
attempt_is outside 1 'lost|0|' 'SIGTERM from outside does not complete it'
trial_is outside completed 0.9 2 'the next attempt is'
attempt_is escape 1 'lost||' 'without its supervisor it is lost'
trial_is escape completed 0.9 2 'the next attempt ends it'
attempt_is silent 1 'no-report|0|' 'no report is a failure'
trial_is silent failed '' 1 'that another attempt would not mend'
trial_is quiet-fail failed '' 2 'an exit status is retried'
attempt_is quiet-fail 2 'error|7|' 'as often as retries allows'
trial_is truncate completed 0.9 1 'a file cut short is read on'
attempt_is vanish 1 'lost||' 'without its records it is lost'
trial_is vanish completed 0.9 2 'and tried once more'
trial_is no-end completed 0.9 1 'a last line without an end counts'
attempt_is segv 1 'error||11' 'the signal is recorded'

is "$(sort ledger | uniq -d)" '' 'no attempt ran twice'
none_alive() {
	! grep -lz "^HPOTUNE_CHECKPOINT_DIR=$dir/" /proc/[0-9]*/environ \
	    >/dev/null 2>&1
}
ok 'daemons: nothing is left running' retry none_alive
is "$(sql $db "SELECT count(*) FROM trials WHERE state NOT IN
    ('completed', 'failed')")" 0 'no row is left open'
is "$(sql $db 'PRAGMA integrity_check')" ok 'the database is sound'

# One that never ends, and what becomes of it alone: the others have the time
# that they need on any machine.
db=deaf.db
sed -e 's/"hostile"/"deaf"/' -e 's/"values": \[.*\] }/"values": ["deaf"] }/' \
    -e '/"enqueue"/d' -e 's/"grace": 5/"grace": 0.3, "max_run": "5s"/' \
    -e 's/"limits": .*/"limits": { "trials": 1 } }/' study.json >deaf.json
"$HPOTUNE" start deaf.json --quiet >deaf.out 2>&1
attempt_is deaf 1 'timeout||9' 'max_run, the grace, then SIGKILL'
trial_is deaf stopped 0.1 1 'its output is kept'

# Trials that stop their supervisor again and again: they are ended all the same.
cat >still <<'END'
#!/bin/sh
trap '' TERM
echo 'hpotune: step=1 score=0.1'
while :; do kill -STOP $PPID; done
END
chmod +x still
sed -e 's/\["deaf"\]/[1, 2]/' -e 's/"deaf"/"still"/g' \
    -e 's|"./trial", "{case}"|"./still"|' \
    -e 's/"max_run": "5s", //' \
    -e 's/"limits": .*/"limits": { "trials": 2, "parallel": 1 } }/' \
    deaf.json >still.json
runs_still() { # trial: it runs, and has stopped its supervisor
	sql_is still.db "SELECT count(*) FROM events WHERE trial = $1 AND
	    text LIKE 'its supervisor was stopped by a signal%'" 1
}
server still.json
ok 'still: the first one is seen' retry runs_still 1
ok 'still: hpotune stop' quietly "$HPOTUNE" stop still.db 1
ok 'still: the second one is seen' retry runs_still 2
is "$(sql still.db 'SELECT trials.state, end_class FROM attempts
    JOIN trials USING (trial) WHERE trial = 1')" 'cancelled|user' \
    'still: the first one was ended'
kill -INT $server
kill -INT $server
reap $server
is $? 3 'still: Ctrl-C twice ends the second one'
ok 'still: nothing is left running' retry none_alive

# Records that cannot be believed: nothing is done until somebody decides.
sed -e 's/"hostile"/"spoil"/' -e 's/"values": \[.*\] }/"values": ["spoil"] }/' \
    -e '/"enqueue"/d' -e 's/"limits": .*/"limits": { "trials": 1 } }/' \
    study.json >spoil.json
server spoil.json
ok 'spoil: it runs' retry sql_is spoil.db 'SELECT state FROM trials' running
: >seen
ok 'spoil: damaged records are told' retry sql_is spoil.db "SELECT count(*)
    FROM events WHERE text LIKE 'cannot find out whether it still runs:%damaged%'" 1
is "$(sql spoil.db 'SELECT state, attempts FROM trials')" 'running|1' \
    'spoil: it is neither ended nor run again'
rm -r spoil.d/trials/1/attempt-1
reap $server
is $? 0 'spoil: without its folder it is given up'
is "$(sql spoil.db 'SELECT end_class FROM attempts')" 'lost
ok' 'spoil: lost, and run again'

# Files turned into pipes: nobody who opens one may wait for its other end.
cat >pipes <<'END'
#!/bin/sh
echo 'hpotune: step=1 score=0.1'
[ $HPOTUNE_ATTEMPT -eq 1 ] || exit 0
until [ -e heard ]; do sleep 0.1; done
here=${HPOTUNE_METRICS%/*}
for f in $(cat which); do
	mkfifo "$here/new" && mv "$here/new" "$here/$f"
done
mkdir -p "${here%1}2" && mkfifo "${here%1}2/params.json.new"
: >piped
until [ -e go ]; do sleep 0.1; done
END
chmod +x pipes
sed -e 's/"spoil"/"pipes"/g' -e 's|"./trial", "{case}"|"./pipes"|' \
    spoil.json >pipes.json
answers() { # only a server says this
	[ "$(timeout 300 "$HPOTUNE" resume pipes.db 2>&1)" = \
	    'trials are started again' ]
}
begin_pipes() { # file …
	rm -rf pipes.d pipes.db* heard piped go
	echo "$@" >which
	server pipes.json
	ok "pipes: $*: it is heard" retry sql_is pipes.db \
	    'SELECT count(*) FROM metrics' 1
	: >heard
	ok "pipes: $*: they are there" retry test -e piped
	kill -9 $server
	reap $server 2>/dev/null
	server pipes.json
	ok "pipes: $*: the next server comes up" retry answers
}

# Records: nothing is done until somebody decides.
for f in state trial.lock; do
	begin_pipes $f
	ok "pipes: $f: this is told" retry sql_is pipes.db "SELECT count(*) > 0
	    FROM events WHERE text LIKE '%$f: not a regular file%'" 1
	: >go
	is "$(sql pipes.db 'SELECT state, attempts FROM trials')" 'running|1' \
	    "pipes: $f: it is neither ended nor run again"
	rm -r pipes.d/trials/1/attempt-1
	reap $server
	is $? 0 "pipes: $f: without its folder it is given up"
	is "$(sql pipes.db 'SELECT end_class FROM attempts')" 'lost
ok' "pipes: $f: lost, and run again"
done

# Output: what was heard before counts.
begin_pipes log metrics.jsonl
timeout 300 "$HPOTUNE" logs pipes.db 1 >/dev/null 2>logs.err
is $? 1 'pipes: logs does not wait'
like "$(cat logs.err)" 'log: not a regular file$' 'pipes: and gives the reason'
: >go
reap $server
is $? 0 'pipes: it ends'
is "$(sql pipes.db 'SELECT end_class FROM attempts')" ok \
    'pipes: with the earlier reports'

# More reports than are kept; this program keeps twenty.  The next server knows
# how many there were.
cat >often <<'END'
#!/bin/sh
say() { # first last: of each metric
	for i in $(seq "$1" "$2"); do
		echo "hpotune: step=$i score=$i"
		[ "$i" -gt 14 ] || echo "hpotune: step=$i loss=$i time=$i"
	done
}
say 1 15
until [ -e more ]; do sleep 0.1; done
say 16 30
END
chmod +x often
sed -e 's/"spoil"/"often"/g' -e 's|"./trial", "{case}"|"./often"|' \
    spoil.json >often.json
heard() { # trial's score, others
	sql_is often.db "SELECT sum(name = 'score'), sum(name <> 'score')
	    FROM metrics" "$1|$2"
}
if [ -x "$TOP_BUILDDIR/tests/torture/hpotune-fail" ]; then
	plain=$HPOTUNE HPOTUNE=$TOP_BUILDDIR/tests/torture/hpotune-fail
	HPOTUNE_FAIL=bug.few_reports
	export HPOTUNE_FAIL
	server often.json
	ok 'often: some are heard' retry heard 15 20
	kill -9 $server
	reap $server 2>/dev/null
	server often.json
	: >more
	reap $server
	is $? 0 'often: it ends'
	ok 'often: no more than are kept' heard 20 20
	is "$(sql often.db "SELECT text FROM events WHERE area = 'report'
	    ORDER BY text")" \
	    'it has reported metrics beside score 20 times: further reports are not recorded
it has reported score 20 times: further reports are not recorded' \
	    'often: reported, once of each'
	is "$(sql often.db 'SELECT state, objective FROM trials')" \
	    'completed|20.0' 'often: what was kept counts'
	HPOTUNE=$plain
	unset HPOTUNE_FAIL
else
	skip 'often: five checks' 'no programs that fail'
fi

# A program that the kernel takes for one until it looks inside.  One that is
# not there stops a study before it begins: program-missing.t.
printf '\177ELF' >broken
chmod +x broken
sed -e 's/"hostile"/"none"/' -e 's|\./trial|./broken|' -e '/"enqueue"/d' \
    -e 's/"parameters": .*/"parameters": { "case": { "type": "int", "min": 1, "max": 999 } },/' \
    -e 's/"limits": .*/"limits": { "trials": 60, "parallel": 3 } }/' \
    study.json >none.json
"$HPOTUNE" start none.json >none.out 2>&1
is $? 1 'broken: the study fails'
like "$(sql none.db 'SELECT why FROM trials WHERE trial = 1')" \
    'cannot run \./broken: Exec format' 'it gives the reason'
is "$(sql none.db 'SELECT max(attempts) FROM trials')" 1 'nothing is retried'
like "$(cat none.out)" 'nothing works' 'it does not continue'

done_testing
