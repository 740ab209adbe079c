#!/bin/sh
# Standard streams that are closed, full or broken: shown by the exit status,
# without further damage.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"

need sqlite3

cat >study.json <<'END'
{ "study": "s",
  "objective": { "metric": "loss", "goal": "minimize" },
  "parameters": { "x": { "type": "float", "min": 0, "max": 1 } },
  "trial": { "command": ["sh", "-c",
    "echo hpotune: step=0 loss=1; while ! test -e go; do sleep 0.01; done"] },
  "limits": { "trials": 2, "parallel": 1 } }
END

# The server's own number 0 to 2, while it runs without any of them.
"$HPOTUNE" start study.json <&- >&- 2>&- &
server=$!
children="$children $server"
retry sql_is s.db 'SELECT count(*) FROM curves' 1
for fd in 0 1 2; do
	is "$(readlink /proc/$server/fd/$fd)" /dev/null \
	    "closed stream $fd: nothing took its number"
done
touch go
reap $server
is $? 1 'a summary that could not be printed is a failure'
is "$(sql s.db 'SELECT state, completed FROM study')" 'finished|2' \
    'of the printing, not of the study'
like "$(cat s.d/lock)" '^pid [0-9]+ on [^ ]*$' 'no message went into a file'

for command in status trials best 'show 1' 'logs 1' check; do
	$HPOTUNE $command >&- 2>err
	is $? 1 "$command: a closed output is a failure"
	is "$(cat err)" 'hpotune: standard output: Bad file descriptor' \
	    "$command: which is said"
	$HPOTUNE $command >/dev/full 2>err
	is $? 1 "$command: a full output is a failure"
	$HPOTUNE $command <&- >/dev/null
	is $? 0 "$command: needs no input"
done

# Nobody reads the log lines any more: the study goes on.
rm -rf s.d s.db go
("$HPOTUNE" start study.json 2>&1; echo $? >status) | head -n 1 >first &
reader=$!
retry test -e first
touch go
retry test -s status
wait $reader
like "$(cat first)" 'trial: 1 starting' 'a reader of one line has one line'
is "$(sql s.db 'SELECT state, completed FROM study')" 'finished|2' \
    'the study is finished without it'

done_testing
