#!/bin/sh
# The folder of a running study is copied with its database, and the copy is
# started: it has the same attempts, but leaves the running ones to the
# original.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3

mkdir here
cat >here/trial <<'END'
#!/bin/sh
echo "$HPOTUNE_TRIAL $HPOTUNE_ATTEMPT" >>ledger
echo 'hpotune: step=1 score=0.5'
while ! [ -e go ]; do
	sleep 0.05
done
END
chmod +x here/trial
cat >here/same.json <<'END'
{ "study": "same",
  "objective": { "metric": "score", "goal": "maximize" },
  "parameters": { "x": { "type": "float", "min": 0, "max": 1 } },
  "strategy": "random", "stopping": "none",
  "trial": { "command": ["./trial"] },
  "backend": { "name": "local" },
  "limits": { "trials": 2, "parallel": 2 } }
END
reported() { # database
	sql_is "$1" 'SELECT count(DISTINCT trial) FROM metrics' 2
}

server here/same.json
original=$server
ok 'two trials report' retry reported here/same.db
cp -r here copy
rm copy/ledger
server copy/same.json
ok 'the copy begins its trials again' retry test -e copy/ledger
ok 'both of them' retry sql_is copy/same.db "SELECT count(*) FROM attempts
    WHERE attempt = 2 AND state = 'running'" 2
: >copy/go
reap $server
is "$(sql copy/same.db 'SELECT trial, state FROM trials')" '1|completed
2|completed' 'the copy ends'
is "$(sql here/same.db 'SELECT trial, attempt, state FROM attempts')" \
    '1|1|running
2|1|running' "the original's trials live"
: >here/go
reap $original
is "$(sql here/same.db 'SELECT trial, attempt, state FROM attempts')" \
    '1|1|ended
2|1|ended' 'and end as they would have without the copy'
is "$(sort here/ledger)" '1 1
2 1' 'none of them was started twice'

done_testing
