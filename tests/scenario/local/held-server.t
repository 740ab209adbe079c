#!/bin/sh
# A server that is held, in a call to a disk that does not answer, ends by SIGTERM
# all the same; its trials continue, and the next one adopts them.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3

failing=$TOP_BUILDDIR/tests/torture/hpotune-fail
export HPOTUNE_FAIL_LOG="$dir/held"

study() { # name
	cat >"$1.json" <<END
{"study": "$1", "objective": {"metric": "loss", "goal": "minimize"},
 "parameters": {"x": {"type": "float", "min": 0, "max": 1}},
 "strategy": {"name": "random", "seed": 1},
 "trial": {"command": ["sh", "-c",
     "echo begun >>$1.begun; while [ ! -e go ]; do sleep 0.1; done; echo hpotune: loss={x}"],
     "grace": "1s", "retries": 0},
 "limits": {"trials": 1}}
END
}

# A program that waits in a call, which only its end interrupts.
begin() { # name place
	study "$1"
	rm -f held
	background "$1" env HPOTUNE_FAIL="$2=hang" "$failing" start --quiet "$1.json"
	ok "$1: the server is held" retry test -s held
}
ended() {
	kill -TERM "$child" 2>/dev/null
	! kill -0 "$child" 2>/dev/null || [ "$(ps -o stat= -p "$child" | cut -c 1)" = Z ]
}

begin a tuner.before_commit
kill -TERM "$child"
reap "$child"
is $? 3 'it ends by one SIGTERM, as one that is interrupted'
like "$(cat a.err)" 'is held.*exiting at once' 'and says so'

begin b reading.begin
ok 'a trial runs' retry test -s b.begun
ok 'who asks again and again waits less' retry ended
reap "$child"
is $? 3 'with the same status'

# A hook that does not end holds it no longer.
cat >hook <<'END'
#!/bin/sh
trap '' TERM
echo $$ >hook.pid
exec sleep 1000
END
chmod +x hook
study h
sed -i -e 's/"trials": 1/"trials": 2/' -e 's/"retries"/"max_run": "1h", "retries"/' \
    -e 's/"limits"/"hooks": {"best": [".\/hook"], "timeout": "1h"}, &/' \
    -e 's/while/[ $HPOTUNE_TRIAL = 2 ] || exec echo hpotune: loss={x}; &/' h.json
background h "$HPOTUNE" start --quiet h.json
ok 'a hook hangs' retry test -s hook.pid
kill -TERM "$child"
reap "$child"
is $? 3 'its server ends by one SIGTERM'
ok 'and the hook with it' retry sh -c '! kill -0 $(cat hook.pid) 2>/dev/null'

# Nor does a trial of which cannot be found out whether it runs.
cat >spoil <<'END'
#!/bin/sh
cd "$HPOTUNE_OUTPUT_DIR/../attempt-1" && rm state && mkfifo state
END
chmod +x spoil
study u
sed -i 's|"echo begun|".\/spoil; echo begun|' u.json
background u "$HPOTUNE" start --quiet u.json
ok 'a trial has a pipe for its record' retry test -s u.begun
ok 'which is told' retry sql_is u.db "SELECT count(*) FROM events
    WHERE text LIKE '%state: not a regular file%'" 1
kill -TERM "$child"
reap "$child"
is $? 3 'the server ends by one SIGTERM, too'

: >go
for name in a b; do
	ok "$name: the next start goes on" "$HPOTUNE" start --quiet $name.json
	is "$(sql $name.db 'SELECT state, attempts FROM trials')" 'completed|1' \
	    "$name: the trial is adopted, or begins"
done
is "$(cat b.begun)" begun 'no trial runs twice'

done_testing
