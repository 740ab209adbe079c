#!/bin/sh
# A program that is rebuilt repeatedly while its study runs: no trial fails
# because of it.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3

# Not a script: a shell may find its script gone after the kernel found it.
cp /bin/echo good
[ "$(./good -n x 2>&1)" = x ] || skip_all 'echo is no program of its own'
cp good program
study() { # name trials
	cat >"$1.json" <<-END
	{ "study": "$1",
	  "objective": { "metric": "score", "goal": "maximize" },
	  "parameters": { "x": { "type": "float", "min": 0, "max": 1 } },
	  "strategy": "random", "stopping": "none",
	  "trial": { "command": ["./program", "hpotune: score={x}"],
	    "retries": 0 },
	  "limits": { "trials": $2, "parallel": 3 } }
	END
}
states() { # database
	sql "$1" 'SELECT state, count(*) FROM trials GROUP BY state'
}
told() { # database text: so many events say so
	sql "$1" "SELECT count(*) FROM events WHERE text LIKE '%$2%'"
}

study often 40
server often.json --quiet
ok 'a study begins' retry sql_is often.db 'SELECT count(*) > 0 FROM trials' 1

# Each way to write a program: aside and renamed; over the name that was
# removed; into the file that is there.
background build sh -c 'while [ ! -e done ]; do
	rm -f program; sleep 0.3; cp good new; chmod +x new; mv new program
	sleep 0.02
	rm -f program; : >program; sleep 0.2; cat good >>program; chmod +x program
	sleep 0.02
	(exec 3>>program; sleep 0.3) 2>&-
	sleep 0.02
	chmod -x program; sleep 0.2; chmod +x program
	sleep 0.02
done'
build=$child
reap $server
is $? 0 'beside the rebuild it ends'
: >done
reap $build
is "$(states often.db)" 'completed|40' 'no trial failed'
is "$(sql often.db 'SELECT count(*) FROM attempts WHERE NOT
    coalesce(exit_code = 0, end_class = "lost")')" 0 'for no other reason either'

# Gone for longer than a supervisor waits: the study waits, and says so once.
study gone 12
cp good program
cat >slow <<'END'
#!/bin/sh
echo 'hpotune: score=1'
until [ -e go ]; do sleep 0.1; done
END
chmod +x slow && cp slow program
sed -i 's/"parallel": 3/"parallel": 2/' gone.json
server gone.json
ok 'two trials run' retry sql_is gone.db 'SELECT count(*) FROM metrics' 2
rm program
: >go
waits() { [ "$(told gone.db 'no trial can be started')" -gt 0 ]; }
ok 'its program is removed: that is told' retry waits
like "$(sql gone.db "SELECT text FROM events
    WHERE text LIKE '%no trial can be started%'")" \
    'cannot run ./program: No such file or directory .not found in the folder .*; no trial fails' \
    'in one sentence'
attempts() { # least
	[ "$(sql gone.db 'SELECT count(*) FROM attempts')" -ge "$1" ]
}
ok 'it is tried again' retry attempts 6
is "$(sql gone.db "SELECT count(*) FROM trials WHERE state = 'failed'")" 0 \
    'and no trial has failed'
ok 'no more trials wait than had a place' test \
    "$(sql gone.db 'SELECT count(*) FROM trials')" -le 4
is "$(sql gone.db "SELECT DISTINCT end_class FROM attempts
    WHERE exit_code IS NULL AND end_class IS NOT NULL")" lost \
    'such an attempt is of the class lost'
cp good new && mv new program
reap $server
is $? 0 'with its program back the study ends'
is "$(states gone.db)" 'completed|12' 'no trial failed'
is "$(told gone.db 'no trial can be started') $(told gone.db \
    'trials can be started again')" '1 1' 'reported once, and that it is over'

# One program of several, by the setting: that is the trial's own fault.
cp good one
cat >which.json <<'END'
{ "study": "which",
  "objective": { "metric": "score", "goal": "maximize" },
  "parameters": { "p": { "type": "choice", "values": ["one", "two"] } },
  "strategy": "grid", "stopping": "none",
  "trial": { "command": ["./{p}", "hpotune: score=1"] },
  "limits": { "trials": 2 } }
END
quietly "$HPOTUNE" start which.json --quiet
is "$(states which.db)" 'completed|1
failed|1' 'a program of one setting only: its trial fails'

# The supervisor's own program, while hpotune is being installed anew, say:
# what is about to begin waits, and the user is told.
study self 4
sed -i 's/"parallel": 3/"parallel": 1/' self.json
rm -f go && cp slow program
cp "$HPOTUNE_SHIM" shim
HPOTUNE_SHIM=$dir/shim
export HPOTUNE_SHIM
server self.json
ok 'a trial runs' retry sql_is self.db 'SELECT count(*) FROM metrics' 1
mv shim away
: >go
self_waits() { [ "$(told self.db 'no trial can be started')" -gt 0 ]; }
ok 'the supervisor is gone: that is told' retry self_waits
like "$(sql self.db "SELECT text FROM events
    WHERE text LIKE '%no trial can be started%'")" \
    'shim: No such file or directory; no trial fails' 'with its name'
# One more trial may have a supervisor that was started before.
is "$(sql self.db 'SELECT state, attempts FROM trials ORDER BY trial DESC
    LIMIT 1')" 'starting|1' 'the next trial waits for it'
mv away shim
reap $server
is $? 0 'when it is back the study ends'
is "$(sql self.db 'SELECT state, attempts, count(*) FROM trials
    GROUP BY state, attempts')" 'completed|1|4' 'with the same attempts'
is "$(told self.db 'no trial can be started') $(told self.db \
    'trials can be started again')" '1 1' 'reported once, and that it is over'

done_testing
