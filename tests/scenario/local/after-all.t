#!/bin/sh
# What happens after the last step: a program that crashes or hangs then has its
# result, one that works on is left alone.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3

cat >program <<'END'
#!/bin/sh
case $1 in
many)	for s in 1 2 3; do echo "hpotune: step=$s loss=$s"; done
	exit 7 ;;
none)	echo 'hpotune: step=1 loss=1'
	exit 7 ;;
esac
for s in 1 2 3; do echo "hpotune: step=$s loss=$s"; sleep 0.1; done
case $1 in
crash)	kill -SEGV $$ ;;
status)	exit 3 ;;
hang)	trap 'echo heard >>$HPOTUNE_OUTPUT_DIR/heard; exit 1' TERM
	sleep 1000 &
	wait ;;
deaf)	trap '' TERM
	sleep 1000 ;;
work)	# longer than any wait for one that does nothing
	end=$(($(date +%s) + 9))
	while [ "$(date +%s)" -lt $end ]; do
		i=0
		while [ $i -lt 50000 ]; do i=$((i + 1)); done
	done
	echo whole >"$HPOTUNE_OUTPUT_DIR/made" ;;
esac
END
chmod +x program
all='many none crash status hang deaf work'
list() { # format
	for c in $all; do
		printf "$1," $c
	done | sed 's/,$//'
}
cat >after.json <<END
{ "study": "after",
  "objective": { "metric": "loss", "goal": "minimize", "value": "last" },
  "parameters": { "case": { "type": "choice", "values": [$(list '"%s"')] } },
  "enqueue": [$(list '{ "case": "%s" }')],
  "strategy": "random", "stopping": "none",
  "trial": { "command": ["./program", "{case}"], "max_steps": 3, "grace": 1,
    "retries": 1 },
  "limits": { "trials": 7, "parallel": 7 } }
END
ok 'the study ends' quietly "$HPOTUNE" start after.json
is "$(sql after.db 'SELECT "case", trials.state, trials.objective, attempts, end_class
    FROM results JOIN trials USING (trial) JOIN attempts USING (trial)
    WHERE attempt = 1 ORDER BY trial')" 'many|completed|3.0|1|ok
none|failed|1.0|2|error
crash|completed|3.0|1|ok
status|completed|3.0|1|ok
hang|completed|3.0|1|ok
deaf|completed|3.0|1|ok
work|completed|3.0|1|ok' 'who has reported all has its result'
told() { # case
	sql after.db "SELECT text FROM events JOIN results USING (trial)
	    WHERE \"case\" = '$1' AND text LIKE 'it reported all%'"
}
like "$(told crash)" '^it reported all of its steps before it ended badly \(ended by signal 11.*\): it is completed$' \
    'a crash is told'
like "$(told many)" 'badly \(exit status 7' 'an exit status, too'
like "$(told hang)" '^it reported all of its steps and does not end: it has printed nothing and used no processor time for [0-9]+ s; it is stopped, and completed$' \
    'one that hangs'
is "$(told deaf | wc -l)" 1 'each once'
is "$(told work)" '' 'who works on is left alone'
is "$(cat after.d/trials/7/output/made)" whole 'to its end'
is "$(cat after.d/trials/5/output/heard)" heard 'who hangs hears a stop, once'
is "$(sql after.db "SELECT count(*) FROM events WHERE level = 'warning' AND
    text LIKE 'it reported all of its steps before%'")" 1 \
    'one of those that failed is a warning'

done_testing
