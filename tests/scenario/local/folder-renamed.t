#!/bin/sh
# The folder of a running study is renamed: no trial fails for it.  When it is
# back the study continues; or the server exits, and the same command continues
# in the new place.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3

mkdir here
cat >here/trial <<'END'
#!/bin/sh
echo "$HPOTUNE_TRIAL $HPOTUNE_ATTEMPT" >>ledger
while [ -e trial ]; do
	echo 'hpotune: step=1 score=0.5'
	[ -e tame ] || echo x >"$HPOTUNE_CHECKPOINT_DIR/x" || exit 1
	! [ -e go ] || exit 0
	sleep 0.05
done
END
chmod +x here/trial
make_study() { # name
	cat >"here/$1.json" <<-END
	{ "study": "$1",
	  "objective": { "metric": "score", "goal": "maximize" },
	  "parameters": { "x": { "type": "float", "min": 0, "max": 1 } },
	  "strategy": "random", "stopping": "none",
	  "trial": { "command": ["./trial"], "grace": 10 },
	  "backend": { "name": "local" },
	  "limits": { "trials": 3, "parallel": 2 } }
	END
	rm -f here/go here/tame here/ledger
}
reported() { # database
	sql_is "$1" 'SELECT count(DISTINCT trial) FROM metrics' 2
}
none_alive() { # study
	! grep -lz "^HPOTUNE_CHECKPOINT_DIR=$dir/here/$1\.d/" \
	    /proc/[0-9]*/environ >/dev/null 2>&1
}

# Its trials fail, for they write to where it was.
make_study away
server here/away.json
ok 'two trials report' retry reported here/away.db
mv here there
ok 'the server sees that the folder was renamed' retry grep -q \
    "error: server: $dir/here/away.d was moved or removed: no trial is started" \
    server.err
ok 'its trials cannot write there' retry none_alive away
ok 'which an event says' retry sql_is there/away.db "SELECT count(*) FROM events
    WHERE text LIKE '%away.d was moved or removed%'" 1
is "$(sql there/away.db 'SELECT trial, attempt, state FROM attempts')" \
    '1|1|running
2|1|running' 'nothing is held against them while it is away'
is "$(wc -l <there/ledger)" 2 'nothing is started'
: >there/go
mv there here
ok 'it is back: the server goes on' retry grep -q \
    'all files are in place again' server.err
reap $server
is $? 0 'and finishes the study'
is "$(sql here/away.db 'SELECT trial, state, attempts FROM trials')" \
    '1|completed|2
2|completed|2
3|completed|1' 'its trials were run again'
is "$(sql here/away.db 'SELECT trial, attempt, end_class FROM attempts')" \
    '1|1|lost
1|2|ok
2|1|lost
2|2|ok
3|1|ok' 'and were not to blame'

# Only the database, for a moment.
make_study base
server here/base.json
ok 'two trials of a second study report' retry reported here/base.db
mv here/base.db here/kept
ok 'the server sees that the database was renamed' retry grep -q \
    "here/base.db was moved or removed: no trial is started" server.err
mv here/kept here/base.db
ok 'and that it is back' retry grep -q 'all files are in place' server.err
: >here/go
reap $server
is $? 0 'the study ends'
is "$(sort here/ledger)" '1 1
2 1
3 1' 'each of its trials ran once'

# For good: the study goes on in its new place.
make_study far
: >here/tame
server here/far.json
ok 'two trials of a third study report' retry reported here/far.db
mv here new
ok 'the server sees that the folder was renamed, again' retry grep -q \
    'far.d was moved or removed' server.err
kill -INT $server
reap $server
is $? 3 'on a signal it exits at once, exit status 3'
: >new/go
ok 'the same command finishes it where it is' "$HPOTUNE" start new/far.json \
    --quiet
is "$(sql new/far.db 'SELECT trial, state, attempts FROM trials')" \
    '1|completed|1
2|completed|1
3|completed|1' 'with the trials that ran'
is "$(sort new/ledger)" '1 1
2 1
3 1' 'each ran once'

# Over, it is moved again, and copied: everything in it moves along.
mv new last
rm last/far.json
like "$("$HPOTUNE" logs last/far.db 1 2>&1)" '^hpotune: step=1' \
    'logs: of a folder that was moved'
ok 'start: goes on there without study.json' "$HPOTUNE" start last/far.db \
    --trials 4 --quiet
is "$(sql last/far.db 'SELECT state FROM trials WHERE trial = 4')" completed \
    'a trial finds its program there'
cp -r last copy
echo 'of the copy' >>copy/far.d/trials/1/attempt-1/log
like "$("$HPOTUNE" logs copy/far.db 1)" 'of the copy' 'logs: of a copy'

# As older programs wrote it.
sqlite3 copy/far.db "UPDATE t_attempt
    SET log = '$dir/last/far.d/trials/' || trial || '/attempt-1/log'
    WHERE attempt = 1; UPDATE t_study SET dir = '$dir/here'"
like "$("$HPOTUNE" logs copy/far.db 1)" 'of the copy' \
    'logs: of a copy with the paths of an older version'
rm last/trial
sed -i 's/score=0.5/score=0.7/' copy/trial
quietly "$HPOTUNE" start copy/far.db --trials 5 --quiet
is "$(sql copy/far.db 'SELECT objective FROM trials WHERE trial = 5')" 0.7 \
    'start: runs the program of the copy'

done_testing
