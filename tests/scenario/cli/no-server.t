#!/bin/sh
# Requests while no server runs, or when the strategy has nothing left to
# suggest.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3

cat >trial <<'EOF'
#!/bin/sh
echo "$HPOTUNE_TRIAL $HPOTUNE_ATTEMPT" >>ledger
echo 'hpotune: step=1 score=0.5'
until [ -e go ]; do
	sleep 0.02
done
EOF
chmod +x trial
touch ledger
quietly() { # command …
	"$@" >out 2>&1
}

make_study() { # name strategy [values]
	cat >"$1.json" <<-EOF
	{ "study": "$1",
	  "objective": { "metric": "score", "goal": "maximize" },
	  "parameters": { "x": { "type": "choice", "values": [${3-1, 2}] } },
	  "strategy": "$2", "stopping": "none",
	  "trial": { "command": ["./trial"] },
	  "limits": { "trials": 3, "parallel": 3 } }
	EOF
}

# A server that dies between its first commit and what was to follow.
make_study dead random '1, 2, 3, 4'
HPOTUNE_FAIL='tuner.after_commit=kill' HPOTUNE_FAIL_LOG=fail.log \
    "$TOP_BUILDDIR/tests/torture/hpotune-fail" start dead.json >dead.log 2>&1
is "$(sql dead.db 'SELECT count(*) FROM trials WHERE state = '"'starting'")" \
    3 'three trials were to start'
ok 'a setting is put in the queue' \
    quietly "$HPOTUNE" enqueue dead.json x=1
fails 'which starts none of them' 1 test -e dead.d/trials
touch go
ok 'the next server does' quietly "$HPOTUNE" start dead.json
is "$(sort -u ledger | wc -l)" 3 'each of them'
is "$(wc -l <ledger)" 3 'once'

# A grid of two, and a third setting while they run.
rm -f go ledger
make_study grid grid
server grid.json
ok 'the grid is used up' retry sql_is grid.db \
    'SELECT count(DISTINCT trial) FROM metrics' 2
ok 'a setting more is heard' quietly "$HPOTUNE" enqueue grid.json x=2
ok 'and tried at once' retry sql_is grid.db \
    'SELECT count(DISTINCT trial) FROM metrics' 3
touch go
reap $server
is $? 0 'the study ends'


# A supervisor that is slow to begin, and a next server that cannot start one.
make_study late random '1, 2, 3, 4'
rm -f ledger
touch ledger go
cat >slow-shim <<EOF
#!/bin/sh
until [ -e begin ]; do
	sleep 0.02
done
exec "$TOP_BUILDDIR/tests/torture/hpotune-shim-fail" "\$@"
EOF
chmod +x slow-shim
HPOTUNE_FAIL='local.after_spawn=kill' HPOTUNE_FAIL_LOG=fail.log \
    HPOTUNE_SHIM=$dir/slow-shim \
    "$TOP_BUILDDIR/tests/torture/hpotune-fail" start late.json >late.log 2>&1
HPOTUNE_SHIM=/no/such/shim server late.json
ok 'no trial can be started, which is said' retry sql_is late.db \
    "SELECT count(*) FROM events WHERE text LIKE '%no trial can be started%'" 1
kill -INT $server
reap $server
is $? 3 'the server exits when it is told to'
is "$(sql late.db "SELECT count(*) FROM trials WHERE state = 'failed'")" 0 \
    'and no trial has failed for it'
touch begin
none_alive() {
	! grep -qzx 'HPOTUNE_STUDY=late' /proc/[0-9]*/environ 2>/dev/null
}
ok 'what was late has gone' retry none_alive
is "$(cat ledger)" '' 'and started nothing'

# What changed is an event; the values of variables are not in it.
sed 's/"command": /"env": { "TOKEN": "hush" }, "retries": 1, &/
    s/"trials": 3/"trials": 4/' dead.json >new && mv new dead.json
ok 'a changed study goes on' quietly "$HPOTUNE" start dead.json
like "$(cat out)" 'changed in trial: .*"env":.*"TOKEN":….*"retries":1' \
    'and states what changed'
is "$(grep -c hush out)" 0 'no value of a variable is printed'
is "$(sql dead.db "SELECT count(*) FROM events WHERE text LIKE '%hush%'")" 0 \
    'and none is in view events'
done_testing
