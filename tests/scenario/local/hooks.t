#!/bin/sh
# "hooks": programs of the user that are told of a new best trial, of a failed
# one, and of the end; none of them can delay or hurt a study.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"

need sqlite3

study() { # name hooks trials
	cat >"$1.json" <<END
{
  "study": "$1",
  "objective": { "metric": "loss", "goal": "minimize" },
  "parameters": { "x": { "type": "int", "min": 1, "max": 6 } },
  "strategy": { "name": "grid", "shuffle": false, "seed": 4 },
  "stopping": "none",
  "hooks": $2,
  "trial": { "command": ["sh", "-c",
      "[ {x} != 2 ] || { echo broken; exit 3; }; echo hpotune: step=1 loss=\$((({x} - 4) * ({x} - 4)))"],
      "retries": 0 },
  "limits": { "trials": $3, "parallel": 1 }
}
END
	sed -i 's/|| { echo/|| {{ echo/; s/exit 3; }/exit 3; }}/' "$1.json"
}

# Each message is a line in a file of its hook.
cat >tell <<'END'
#!/bin/sh
cat >>"told.$1"
END
chmod +x tell
study told '{ "best": ["./tell", "best"], "failed": ["./tell", "failed"],
    "finished": ["./tell", "finished"] }' 6
like "$("$HPOTUNE" check told.json)" '^hooks +best: \./tell best$' \
    'check shows them'
ok 'a study with hooks runs' "$HPOTUNE" start --quiet told.json
field() { # file path: of each message
	while read -r message; do
		sqlite3 :memory: "SELECT json_extract('$message', '$2')"
	done <"$1" | tr '\n' ' '
}
is "$(field told.best '$.trial')" '1 3 4 ' 'the hook runs for each new best trial'
is "$(field told.best '$.objective')" '9 1 0 ' 'with its result'
is "$(field told.best '$.params.x')" '1 3 4 ' 'and its setting'
is "$(field told.failed '$.trial')$(field told.failed '$.hook')$(
    field told.failed '$.study')" '2 failed told ' 'a failed trial is told'
like "$(field told.failed '$.why')" 'exit status 3.*broken' 'with the reason'
is "$(field told.finished '$.state')$(field told.finished '$.trials')$(
    field told.finished '$.failed')$(field told.finished '$.best.trial')" \
    'finished 6 1 4 ' 'the end is told, with the counts and the best trial'
ok 'started again' "$HPOTUNE" start --quiet told.json
is "$(cat told.best told.failed told.finished | wc -l)" 5 'a hook does not run twice for one event'
faulty=$TOP_BUILDDIR/tests/torture/hpotune-fail
HPOTUNE_FAIL=tuner.before_commit=kill "$faulty" start -q told.json >out 2>&1
like "$(sql told.db 'SELECT state FROM t_study')" running \
    'a server is killed before it has seen that nothing is left'
ok 'started once more' "$HPOTUNE" start --quiet told.json
is "$(wc -l <told.finished)" 1 'the end is told once'
study more '{ "finished": ["./tell", "more"] }' 3
"$HPOTUNE" start --quiet more.json
sed -i 's/"trials": 3/"trials": 4/' more.json
HPOTUNE_FAIL=local.before_spawn=kill \
    "$faulty" start -q more.json >out 2>&1
is "$(sql more.db 'SELECT count(*) FROM trials')" 4 \
    'with more trials, a server is killed that has begun the next one'
ok 'the study goes on' "$HPOTUNE" start --quiet more.json
is "$(field told.more '$.trials')" '3 4 ' 'its second end is told, too'
is "$(sql told.db "SELECT count(*) FROM events WHERE area = 'hook'")" 0 \
    'nothing is recorded of hooks that work'

# One that hangs, one that fails, one that does not exist.
cat >hang <<'END'
#!/bin/sh
echo $$ >>hangs
exec sleep 600
END
cat >fail <<'END'
#!/bin/sh
echo what it says
exit 7
END
chmod +x hang fail
study bad '{ "best": ["./hang"], "failed": ["./fail"],
    "finished": ["./missing"], "timeout": 1 }' 6
ok 'a study with bad hooks runs' "$HPOTUNE" start --quiet bad.json
is "$(sql bad.db 'SELECT state, count(*) FROM trials GROUP BY state')" \
    'completed|5
failed|1' 'its trials are as without them'
is "$(sql bad.db "SELECT DISTINCT text FROM events WHERE area = 'hook'
    ORDER BY text")" 'hooks.best: ./hang was killed after 1 s (hooks.timeout)
hooks.failed: ./fail ended with status 7; its output is in hooks.log
hooks.finished: ./missing: ./missing cannot be started in '"$PWD"': No such file or directory' \
    'an event has what became of each'
is "$(cat bad.d/hooks.log)" 'what it says' 'hooks.log has the output'
ok 'nothing is left of one that hung' sh -c \
    'for pid in $(cat hangs); do ! kill -0 "$pid" 2>/dev/null || exit 1; done'
printf '#!/bin/sh\n: >begun\nuntil [ -e enough ]; do sleep 0.1; done\n' >waits
chmod +x waits
study free '{ "best": ["./waits"], "timeout": "1h" }' 6
server free.json --quiet
ok 'all trials end while a hook hangs' retry sql_is free.db \
    'SELECT completed + failed FROM study' 6
ok 'which has begun' retry test -e begun
: >enough
reap "$server"
is $? 0 'and the study with the hooks'

# One that never stops to write, and one that writes much each time.
cat >flood <<'END'
#!/bin/sh
cat /dev/zero
END
cat >long <<'END'
#!/bin/sh
head -c 1500000 /dev/zero
END
chmod +x flood long
study flood '{ "best": ["./long"], "finished": ["./flood"], "timeout": "10m" }' 6
ok 'a study runs whose hooks write much' "$HPOTUNE" start --quiet flood.json
is "$(sql flood.db "SELECT text FROM events WHERE area = 'hook'")" \
    'hooks.finished: ./flood was killed: it had written more than 10 MiB' \
    'one that floods is killed'
is "$(wc -c <flood.d/hooks.log.old)" 1500000 'the log begins again'
done_testing
