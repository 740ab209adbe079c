#!/bin/sh
# The database is restored from an older copy, beside the newer folder: trial
# numbers are assigned again, folders exist.  No trial runs twice at a time,
# none resumes from another run's checkpoint, and files of other runs are kept.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3

cat >trial <<'END_OF_TRIAL'
#!/bin/sh
trap 'echo "$HPOTUNE_TRIAL term $$" >>ledger; exit 0' TERM
c=$HPOTUNE_CHECKPOINT_DIR
[ ! -e "$c/x" ] || [ "$(cat "$c/x")" = "$1" ] ||
    echo "$HPOTUNE_TRIAL mixed $$" >>ledger
echo "$1" >"$c/x"
echo "$HPOTUNE_TRIAL begin $$" >>ledger
echo "hpotune: step=1 score=$1"
until [ -e go-$HPOTUNE_TRIAL ]; do sleep 0.1; done
echo "$HPOTUNE_TRIAL end $$" >>ledger
END_OF_TRIAL
chmod +x trial
cat >study.json <<'END'
{ "study": "old",
  "objective": { "metric": "score", "goal": "maximize" },
  "parameters": { "x": { "type": "float", "min": 0, "max": 1 } },
  "strategy": { "name": "random", "seed": 1 }, "stopping": "none",
  "trial": { "command": ["./trial", "{x}"], "grace": 10 },
  "backend": { "name": "local" },
  "limits": { "trials": 5, "parallel": 3 } }
END
db=old.db
tell() {
	diag "$(sql $db 'SELECT trial, attempt, state, end_class FROM attempts')"
	diag "$(sql $db 'SELECT level, trial, attempt, text FROM events')"
	diag "$(cat ledger)"
}
begun() { # trial times
	[ "$(grep -c "^$1 begin" ledger)" -eq "$2" ]
}
waits() { # trial
	sql_is $db "SELECT count(*) > 0 FROM events WHERE trial = $1 AND
	    text LIKE 'another run of it%'" 1
}
lives() { # trial: what it did, one word each
	grep "^$1 " ledger | cut -d ' ' -f 2 | tr '\n' ' '
}

# Trial 1 ends, and a copy is made.  2 ends, 3 to 5 go on, the server dies.
: >go-1
"$HPOTUNE" start study.json --trials 1 --quiet >/dev/null 2>&1
is $? 0 'one trial runs'
sql $db ".backup copy.db"
: >go-2
server study.json
for i in 2 3 4 5; do
	ok "trial $i begins" retry begun $i 1
done
ok 'the second one ends' retry sql_is $db \
    'SELECT state FROM trials WHERE trial = 2' completed
kill -9 $server
reap $server 2>/dev/null

# Back to the copy.  Trial 2 is to be another one now.
cp old.d/trials/2/attempt-1/state state.2
cp old.d/trials/2/checkpoint/x x.2
rm $db*
cp copy.db $db
"$HPOTUNE" enqueue $db x=0.5 >/dev/null
server study.json
ok 'the second trial begins once more' retry begun 2 2
ok 'it ends' retry sql_is $db \
    'SELECT state, attempts, objective FROM trials WHERE trial = 2' \
    'completed|2|0.5' || tell
is "$(sql $db 'SELECT attempt, end_class FROM attempts WHERE trial = 2')" \
    '1|lost
2|ok' 'its first attempt gave way'
is "$(sql $db 'SELECT count(*) FROM metrics WHERE trial = 2')" 1 \
    'nothing of the other one is recorded'
ok 'the records of the other one are as they were' \
    cmp state.2 old.d/trials/2/attempt-1/state
ok 'so is its checkpoint' cmp x.2 old.d/trials/2/checkpoint.aside-*/x
ok 'the next one runs still: this is told' retry waits 3
ok 'its number waits' begun 3 1
: >go-3
ok 'it ends, and its number begins again' retry begun 3 2
ok 'and ends' retry sql_is $db \
    'SELECT state FROM trials WHERE trial = 3' completed
is "$(lives 3)" 'begin end begin end ' 'one after the other' || tell
ok 'the one after that waits, too' retry waits 4
"$HPOTUNE" stop $db 4 >/dev/null
ok 'who stops the trial stops that one' retry grep -q '^4 term' ledger
ok 'and the trial' retry sql_is $db \
    'SELECT state FROM trials WHERE trial = 4' cancelled

# A server that dies while it waits.
ok 'the last one waits' retry waits 5
kill -9 $server
reap $server 2>/dev/null
server study.json
ok 'for the next server, too' retry grep -q 'another run of it' server.err
ok 'it has not begun again' begun 5 1
: >go-5
reap $server
is $? 0 'the study ends'
is "$(lives 5)" 'begin end begin end ' 'one after the other' || tell
is "$(sql $db 'SELECT trial, state, attempts FROM trials')" '1|completed|1
2|completed|2
3|completed|2
4|cancelled|1
5|completed|2' 'all is recorded' || tell
is "$(grep mixed ledger)" '' 'none continued from what others left'
is "$(sql $db 'PRAGMA integrity_check')" ok 'the database is sound'

done_testing
