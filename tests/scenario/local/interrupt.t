#!/bin/sh
# Interrupts and restarts: signals, a second server, a kill in between.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3

# A trial that waits for $GO and remembers what it was told.
cat >trial <<'END'
#!/bin/sh
saved=$HPOTUNE_CHECKPOINT_DIR/saved
[ ! -e deaf ] || trap '' TERM
[ -e deaf ] || trap 'echo yes >"$saved"; exit 0' TERM
echo "$HPOTUNE_TRIAL $HPOTUNE_ATTEMPT $$" >>ledger
[ ! -e "$saved" ] || echo "$HPOTUNE_TRIAL" >>resumed
echo 'hpotune: step=1 score=0.5'
until [ -e go ] || ! [ -e trial ]; do
	sleep 0.05 &
	wait $!
done
echo "hpotune: step=2 score=0.$HPOTUNE_TRIAL"
END
chmod +x trial

make_study() { # name grace
	cat >"$1.json" <<-END
	{ "study": "$1",
	  "objective": { "metric": "score", "goal": "maximize" },
	  "parameters": { "x": { "type": "float", "min": 0, "max": 1 } },
	  "strategy": "random", "stopping": "none",
	  "trial": { "command": ["./trial"], "grace": $2 },
	  "backend": { "name": "local" },
	  "limits": { "trials": 3, "parallel": 2 } }
	END
	rm -f go deaf ledger resumed
}
reported() { # database number: so many trials have reported
	sql_is "$1" 'SELECT count(DISTINCT trial) FROM metrics' "$2"
}
# How many processes have the folder of a study in their environment.
alive() { # study
	grep -lz "^HPOTUNE_CHECKPOINT_DIR=$dir/$1\.d/" /proc/[0-9]*/environ \
	    2>/dev/null | wc -l
}
none_alive() {
	[ "$(alive "$1")" -eq 0 ]
}

# A second server, a hang-up, and the first Ctrl-C.
make_study first 30
server first.json
ok 'two trials report' retry reported first.db 2

"$HPOTUNE" start first.json >second.out 2>second.err
is $? 1 'a second server on the same study fails'
like "$(cat second.err)" \
    "^hpotune: .*already served by pid $server on " 'and names the first'
is "$(cat second.out)" '' 'it prints nothing else'
is "$(wc -l <ledger)" 2 'and starts nothing'

kill -HUP $server
"$HPOTUNE" status first.db >status.out 2>&1
ok 'SIGHUP does not end the server' kill -0 $server
is "$(wc -l <ledger)" 2 'SIGHUP starts and ends no trial'

kill -INT $server
reap $server
is $? 3 'the first Ctrl-C: exit status 3'
ok 'nothing is left running' retry none_alive first
is "$(cat first.d/trials/[12]/checkpoint/saved)" 'yes
yes' 'the trials had time to save'
is "$(sql first.db 'SELECT state FROM study')" interrupted \
    'the study is interrupted'
is "$(sql first.db 'SELECT trial, state FROM trials')" '1|waiting
2|waiting' 'its trials wait'
is "$(sql first.db 'SELECT end_class FROM attempts')" 'user
user' 'their attempts ended by the user'

: >go
"$HPOTUNE" start first.json >again.out 2>&1
is $? 0 'the same command continues to the end'
is "$(sort resumed | tr '\n' ' ')" '1 2 ' 'from where the trials were'
is "$(sql first.db 'SELECT trial, state, attempts, objective FROM trials')" \
    '1|completed|2|0.5
2|completed|2|0.5
3|completed|1|0.5' 'all are complete'
is "$(sort ledger | cut -d ' ' -f 1,2 | uniq -d)" '' 'no attempt ran twice'

# The same with SIGTERM, and a second time at once.
make_study second 60
: >deaf
server second.json
ok 'two deaf trials report' retry reported second.db 2
kill -TERM $server
ok 'SIGTERM: they are being stopped' retry sql_is second.db \
    "SELECT count(*) FROM trials WHERE state = 'stopping'" 2
ok 'the server waits for them' kill -0 $server
kill -TERM $server
reap $server
is $? 3 'a second one: at once, exit status 3'
ok 'the deaf trials are gone' retry none_alive second
rm deaf
: >go
ok 'and the study can be finished' "$HPOTUNE" start second.json --quiet
is "$(sql second.db 'SELECT count(*) FROM trials
    WHERE state = "completed"')" 3 'with all of its trials'

# Killed, it finds its trials again.
make_study third 30
server third.json
ok 'two trials report to a server' retry reported third.db 2
kill -9 $server
reap $server 2>/dev/null
is "$(alive third | awk '{ print ($1 >= 4) }')" 1 'its death ends no trial'
server third.json
ok 'the next server knows them' retry sql_is third.db \
    "SELECT count(*) FROM trials WHERE state = 'running'" 2
: >go
reap $server
is $? 0 'and finishes the study'
is "$(sort ledger | cut -d ' ' -f 1,2)" '1 1
2 1
3 1' 'each ran once'
is "$(sql third.db "SELECT trial, step, value FROM metrics
    ORDER BY trial, step")" '1|1|0.5
1|2|0.1
2|1|0.5
2|2|0.2
3|1|0.5
3|2|0.3' 'what they said meanwhile is there, once'
ok 'nothing is left running at the end' retry none_alive third

# Killed between its two ends: the second is given by the next one.
make_study fourth 60
: >deaf
server fourth.json
ok 'two more trials report' retry reported fourth.db 2
kill -INT $server
ok 'they are being stopped' retry sql_is fourth.db \
    "SELECT count(*) FROM trials WHERE state = 'stopping'" 2
kill -9 $server
reap $server 2>/dev/null
rm deaf
before=$(sql fourth.db 'SELECT started FROM study')
server fourth.json
ok 'a new server takes them over' retry sql_is fourth.db \
    "SELECT state, started > '$before' FROM study" 'running|1'
kill -INT $server
ok 'it is told to leave' retry grep -q "shutting down" server.err
kill -INT $server
reap $server
is $? 3 'and once more, at once'
ok 'nothing of it is left' retry none_alive fourth

# One study, two names of its database: a second one of either is kept out.
make_study fifth 30
server fifth.json
ok 'two trials of a fifth study report' retry reported fifth.db 2
mkdir linked
cp trial linked
# Its log has the first name alone: the study has to be in the file itself.
sql fifth.db 'PRAGMA wal_checkpoint' >/dev/null
ln fifth.db linked/fifth.db
ln -s ../fifth.db linked/soft.db
quietly timeout 300 "$HPOTUNE" start linked/fifth.db
is $? 1 'a second server by another name fails'
like "$(cat err)" 'linked/fifth.db: already served by another process: by ' \
    'and reports it'
quietly timeout 300 "$HPOTUNE" start linked/soft.db
is $? 1 'one by a symbolic link, too'
like "$(cat err)" "already served by pid $server on " 'which finds the lock'
is "$(cat ledger linked/ledger 2>/dev/null | wc -l)" 2 'no second server starts a trial'
rm -r linked/fifth.d linked/fifth.db

# Its state directory is removed: nobody else comes in while it is there.
kill -STOP $server
rm -r fifth.d
quietly timeout 300 "$HPOTUNE" start fifth.json
is $? 1 'a second server is kept out without a state directory, too'
like "$(cat err)" '/fifth.db: already served by another process: ' \
    'and reported'
quietly timeout 300 "$HPOTUNE" stop fifth.db 1
like "$?$(cat err)" '^1.*already served by another process' \
    'a command without a server is refused, too'
is "$(wc -l <ledger)" 2 'nothing was started'
kill -CONT $server
reap $server
is $? 1 'the server sees it and leaves, exit status 1'
like "$(cat server.err)" \
    'hpotune: .*/fifth.d was removed while the study runs: its trials are stopped' \
    'it gives the reason'
ok 'nothing of it runs on' retry none_alive fifth
is "$(sql fifth.db "SELECT text LIKE '%fifth.d was removed%' FROM events
    WHERE level = 'error'")" 1 'the database reports it, too'
is "$(sql fifth.db 'SELECT trial, state FROM trials')" '1|waiting
2|waiting' 'the trials wait for the next start'
: >go
ok 'which finishes the study' "$HPOTUNE" start fifth.json --quiet
is "$(sql fifth.db 'SELECT state, count(*) FROM trials')" 'completed|3' \
    'with all of its trials'

# A run of fewer trials says so, and one that finds nothing to do ended before.
make_study sixth 30
: >go
quietly "$HPOTUNE" start sixth.json --trials 2 --parallel 1 --quiet
like "$("$HPOTUNE" status sixth.db)" '^trials 2 of 2: ' \
    'status: counts to the --trials of its run'
ended=$(sql sixth.db 'SELECT ended FROM study')
ok 'a run of the same number' "$HPOTUNE" start sixth.json -n 2 --quiet
is "$(sql sixth.db "SELECT ended = '$ended', started > '$ended', state
    FROM study")" '1|1|finished' 'leaves when it ended as it was'
ok 'a run of more' "$HPOTUNE" start sixth.json --quiet
is "$(sql sixth.db "SELECT ended > '$ended' FROM study")" 1 'ends later'
like "$("$HPOTUNE" status sixth.db)" '^trials 3 of 3: ' \
    'status: counts to the limit of study.json again'
is "$(sql sixth.db "SELECT elapsed > 0 AND elapsed <= (julianday(ended) -
    julianday(created)) * 86400 + 60 FROM study")" 1 \
    'the time that servers had it is in the view'

# Somebody has the lock for longer than a look, and no socket yet.
hold='use Fcntl; open(my $f, "+<", $ARGV[0]) or die;
    my $lock = pack("s s x4 q q i x4", F_WRLCK, 0, 0, 0, 0);
    fcntl($f, F_SETLK, $lock) or die;
    truncate($f, 0); syswrite($f, "pid $$ on here\n");
    open(my $g, ">", "held"); close($g); select(undef, undef, undef, 0.7)'
background holder perl -e "$hold" fourth.d/lock
holder=$child
ok 'somebody has the lock' retry test -e held
quietly "$HPOTUNE" pause fourth.db
is "$?$(cat err)" 0 'a command waits for its end'
is "$("$HPOTUNE" resume fourth.db)" 'the next start resumes the study' 'and is done'
reap $holder

# On a terminal, Ctrl-C is answered by a line on the screen.
if command -v script >/dev/null; then
	make_study screen 30
	touch deaf
	mkfifo keys
	TERM=xterm script -qfec "stty cols 80; '$HPOTUNE' start screen.json" \
	    screen.out <keys >/dev/null 2>&1 &
	terminal=$!
	children="$children $terminal"
	exec 9>keys
	ok 'two trials report to a terminal' retry reported screen.db 2
	printf '\003' >&9
	ok 'Ctrl-C: it says that it leaves, and how to make it quicker' \
	    retry grep -q 'shutting down: .* press Ctrl-C again to kill them' screen.out
	printf '\003' >&9
	ok 'once more does' retry none_alive screen
	exec 9>&-
	reap $terminal
	is "$(sql screen.db 'SELECT state FROM study')" interrupted \
	    'the study waits for its next start'
else
	skip 'a terminal' 'script(1) is not installed'
fi

done_testing
