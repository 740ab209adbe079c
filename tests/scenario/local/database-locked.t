#!/bin/sh
# Other users of the database: a shell with the write lock, a long reader, a
# shared file system.  Trials continue, nothing is lost, and the holder of the
# lock is named.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3

# Reports until $GO says that it is enough; a bad one waits for its stop.
cat >trial <<'END'
#!/bin/sh
echo "$HPOTUNE_TRIAL $HPOTUNE_ATTEMPT" >>ledger
# Told to stop, it has still written down what it has said.
trap 'told=yes' TERM
step=0 told=
while [ -e trial ] && ! [ -e go ] && [ -z "$told" ]; do
	step=$((step + 1))
	if [ -e bad ]; then value=-1.0; else value=$((step + 100)).0; fi
	echo "hpotune: step=$step score=$value"
	echo "$HPOTUNE_TRIAL|$step|$value" >>said
	sleep 0.05
done
END
chmod +x trial

make_study() { # name
	cat >"$1.json" <<-END
	{ "study": "$1",
	  "objective": { "metric": "score", "goal": "maximize",
	      "value": "last" },
	  "parameters": { "x": { "type": "float", "min": 0, "max": 1 } },
	  "strategy": "random",
	  "stopping": { "rule": "threshold", "lower": 0 },
	  "trial": { "command": ["./trial"], "grace": 10 },
	  "backend": { "name": "local" },
	  "limits": { "trials": 2, "parallel": 2 } }
	END
	rm -f go bad ledger said
}
reports() { # database
	sql "$1" 'SELECT count(*) FROM metrics' 2>/dev/null
}
more_than() { # number command …: it prints a greater one
	more_limit=$1
	shift
	[ "$("$@" || echo 0)" -gt "$more_limit" ]
}
said() {
	wc -l <said
}
# A sqlite3 shell that does what is written to it.
shell() { # database
	rm -f shell.in
	mkfifo shell.in
	background shell sh -c 'exec sqlite3 -batch "$0" <shell.in' "$1"
	shell=$child
	exec 9>shell.in
	# The server may have the write lock at this very moment.
	tell '.timeout 60000'
}
tell() { # line
	echo "$1" >&9
}
shell_said() { # text
	grep -qx "$1" shell.out
}
none_alive() { # study
	! grep -lz "^HPOTUNE_CHECKPOINT_DIR=$dir/$1\.d/" \
	    /proc/[0-9]*/environ >/dev/null 2>&1
}
all_there() { # database what
	is "$(sql "$1" 'SELECT trial, step, value FROM metrics
	    ORDER BY trial, step')" "$(sort -t '|' -k 1n -k 2n said)" "$2"
}

# The write lock, while trials report and one deserves to be stopped.
make_study lock
sed -i 's/"trials": 2/"trials": 5/' lock.json
server lock.json --trials 2
ok 'two trials report' retry more_than 5 reports lock.db
shell lock.db
tell 'BEGIN IMMEDIATE;'
tell "SELECT 'held';"
ok 'a shell takes the write lock' retry shell_said held
now=$(said)
ok 'a warning names it' retry grep -q \
    "database is locked by sqlite3 (pid $shell)" server.err
ok 'the trials go on' retry more_than $((now + 10)) said
: >bad
ok 'and become bad' retry grep -q '|-1.0$' said
is "$(sql lock.db "SELECT count(*) FROM trials WHERE state = 'running'")" 2 \
    'nothing can be recorded, no trial is stopped'
"$HPOTUNE" status lock.db >status.out 2>&1
ok 'reading the study is possible' grep -q running status.out
tell 'ROLLBACK;'
exec 9>&-
reap $shell
reap $server
is $? 0 'after the lock is released the study ends'
is "$(sql lock.db 'SELECT trial, state, attempts FROM trials')" '1|stopped|1
2|stopped|1' 'the stops are late, but there'
is "$(sql lock.db "SELECT count(DISTINCT trial) FROM stops
    WHERE verdict = 'stop'")" 2 'with their reasons'
all_there lock.db 'every report is there, once'
is "$(sort ledger)" '1 1
2 1' 'each trial ran once'

# A start in such a moment waits.
shell lock.db
tell 'BEGIN IMMEDIATE;'
tell "SELECT 'held';"
ok 'the write lock is taken while no server runs' retry shell_said held
: >go
server lock.json --trials 3
ok 'a start says who has it' retry grep -q \
    "locked by sqlite3 (pid $shell): waiting for the lock" server.err
tell 'ROLLBACK;'
exec 9>&-
reap $shell
reap $server
is $? 0 'and continues when it lets go'
is "$(sql lock.db 'SELECT count(*) FROM trials')" 3 \
    'with the trial that was left'
is "$(grep -c 'waiting for the lock' server.err)" 1 'this is one line'

# A command that waits for the database has the study meanwhile.
shell lock.db
tell 'BEGIN IMMEDIATE;'
tell "SELECT 'held';"
ok 'the write lock is taken again' retry shell_said held
background ask "$HPOTUNE" ask lock.json
asking=$child
ok 'a command has the study' retry grep -qx \
    "pid $asking on .*, for one command" lock.d/lock
server lock.json
ok 'a start waits for the command' retry grep -q \
    "waiting for pid $asking on .*, for one command" server.err
tell 'ROLLBACK;'
exec 9>&-
reap $shell
reap $asking
is "$? $(grep '^trial=' ask.out)" '0 trial=4' 'which makes a trial'
ok 'that ends' "$HPOTUNE" tell lock.json 4 score=1 --done
reap $server
is $? 0 'and then runs the study'
is "$(sql lock.db "SELECT group_concat(state) FROM trials WHERE trial > 3")" \
    'completed,failed' 'with the trial that was left, which reports nothing'

# Trials that end, and a user who wants to go, during the lock.
make_study leave
server leave.json
ok 'two trials of another study report' retry more_than 5 reports leave.db
shell leave.db
tell 'BEGIN IMMEDIATE;'
tell "SELECT 'held';"
ok 'its write lock is taken' retry shell_said held
ok 'this is noticed' retry grep -q 'database is locked' server.err
: >go
ok 'the trials end all the same' retry none_alive leave
kill -INT $server
# Two signals at once would be one.
ok 'the first Ctrl-C is heard' retry grep -q 'shutting down: ' server.err
ok 'and waits' kill -0 $server
kill -INT $server
reap $server
is $? 3 'the second leaves at once, exit status 3'
tell 'ROLLBACK;'
exec 9>&-
reap $shell
ok 'the same command takes up the rest' "$HPOTUNE" start leave.json --quiet
all_there leave.db 'with every report, once'
is "$(sql leave.db 'SELECT trial, state, attempts FROM trials')" \
    '1|completed|1
2|completed|1' 'and the ends that nobody recorded'

# A reader that stays keeps the log long, and no longer than it stays.  Each commit
# adds to the log: the reports come in a thousand parts.
cat >trial <<'END'
#!/bin/sh
say() { # first last
	awk -v i="$1" -v n="$2" 'BEGIN { for (; i <= n; i++) {
		printf "hpotune: step=%d score=%.9f\n", i, 1 / i
		if (i % 200 == 0)
			system("sleep 0.005")
	} }'
}
say 1 1000
until [ -e reads ]; do sleep 0.05; done
say 1001 200000
while [ -e trial ] && ! [ -e go ]; do sleep 0.05; done
END
make_study reader
sed -i 's/"trials": 2, "parallel": 2/"trials": 1/' reader.json
log_mib() {
	echo $(($(stat -c %s reader.db-wal) >> 20))
}
short_again() {
	[ "$(log_mib)" -lt 9 ]
}
server reader.json
ok 'a trial floods' retry more_than 100 reports reader.db
shell reader.db
tell 'BEGIN;'
tell "SELECT 'reads' FROM trials LIMIT 1;"
ok 'somebody begins to read' retry shell_said reads
: >reads
RETRY_SECONDS=300
ok 'all reports come in all the same' retry more_than 199999 reports reader.db
diag "the log has grown to $(log_mib) MiB"
ok 'the log grew' more_than 9 log_mib
ok 'the server is well' kill -0 $server
tell 'COMMIT;'
ok 'it shrinks when the reader is done' retry short_again
exec 9>&-
reap $shell
: >go
reap $server
is $? 0 'the study ends after that'
is "$(sql reader.db 'PRAGMA integrity_check')" ok 'the database is sound'

# A file system that others may share: refused unless told.
cat >trial <<'END'
#!/bin/sh
echo 'hpotune: step=1 score=0.5'
END
make_study net
mkdir real net
if ! command -v bindfs >/dev/null || ! bindfs real net 2>bindfs.err; then
	skip 'a study on a shared file system' \
	    'no FUSE file system can be mounted (bindfs, /dev/fuse)'
	done_testing
fi
mounts=$dir/net
trap 'umount "$mounts"; cleanup' EXIT
"$HPOTUNE" start net.json --state net >net.out 2>net.err
is $? 2 'a shared file system is refused'
like "$(cat net.err)" 'on a shared file system \(fuse\).*--network-fs' \
    'and the remedy is named'
is "$(ls -A real)" '' 'nothing was made there'
ok 'told so, it runs there' "$HPOTUNE" start net.json --state net \
    --network-fs --quiet
is "$(sql net/net.db 'PRAGMA journal_mode')" delete \
    'with the journal that such a file system can bear'
is "$(sql net/net.db 'SELECT trial, state, objective FROM trials')" \
    '1|completed|0.5
2|completed|0.5' 'and all is recorded'
unlike "$("$HPOTUNE" ask net.json --state net 2>&1)" 'shared' \
    'ask of an existing study needs no --network-fs'
make_study bare
: >real/bare.db
like "$("$HPOTUNE" ask bare.json --state net 2>&1)" \
    'on a shared file system .*--network-fs' 'ask of an empty file needs --network-fs'
umount "$mounts"
trap cleanup EXIT

done_testing
