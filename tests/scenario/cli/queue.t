#!/bin/sh
# hpotune queue: studies one after the other, of its operands and of a file that may
# change meanwhile; failures, stops, signals and kill -9.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3

cat >trial <<'END'
#!/bin/sh
echo "$HPOTUNE_STUDY" >>ran
while [ -e "hold.$HPOTUNE_STUDY" ]; do sleep 0.1; done
[ ! -e "bad.$HPOTUNE_STUDY" ] || exit 3
echo "hpotune: step=1 loss=1"
END
chmod +x trial
queue_study() { # name [folder]
	cat >"${2:-.}/$1.json" <<-END
	{ "study": "$1", "objective": { "metric": "loss", "goal": "minimize" },
	  "parameters": { "x": { "type": "float", "min": 0, "max": 1 } },
	  "strategy": { "name": "random", "seed": 1 }, "stopping": "none",
	  "trial": { "command": ["$dir/trial"], "workdir": "$dir", "gpus": 0,
	    "retries": 0 },
	  "limits": { "trials": 2, "parallel": 1, "failed_trials": 1 } }
	END
}
order() { # the studies whose trials ran, in this order
	uniq ran | tr '\n' ' '
}
queue() { # argument …: in the background, with its process id in $queue
	"$HPOTUNE" queue "$@" >queue.out 2>queue.err &
	queue=$!
	children="$children $queue"
}
ran() { # study: one of its trials runs
	grep -qx "$1" ran 2>/dev/null
}

for name in a b c d; do
	queue_study $name
done
"$HPOTUNE" queue b.json a.json b.json >out 2>err
is $? 0 'two studies'
is "$(order)" 'b a ' 'in this order, each once'
like "$(cat out)" '^queue: b.json: finished after ' 'it says how each ended'
like "$(cat out)" '^queue: 2 finished, 0 stopped, 0 failed$' 'and all'
"$HPOTUNE" queue b.json a.json >out 2>err
is "$? $(wc -l <ran)" '0 4' 'the same again runs nothing'

# ---- wrong studies -----------------------------------------------------------------

sed 's/"random"/"rendom"/' c.json >wrong.json
sed 's|/trial"|/no-trial"|' c.json >missing.json
"$HPOTUNE" queue c.json wrong.json missing.json none.json >out 2>err
is $? 2 'wrong studies are an error'
like "$(cat err)" '^hpotune: wrong.json:3:.*rendom' 'each is named: its strategy'
like "$(cat err)" '^hpotune: missing.json: trial.command: .*no-trial: No such file' 'its program'
like "$(cat err)" 'none.json' 'its file'
is "$(ls c.db 2>&1 | grep -c 'No such')" 1 'before anything was started'
"$HPOTUNE" queue >out 2>err
is $? 2 'nothing to run is an error'
like "$(cat err)" 'expected studies, or --list with a file' 'which says what to give'
"$HPOTUNE" queue --list no-list >out 2>err
like "$(cat err)" 'no-list: No such file' 'no file'

# ---- a file that changes -----------------------------------------------------------

rm ran
mkdir lists
queue_study e lists
printf '# tonight\n\n  ../c.json\t\r\ne.json\n' >lists/tonight
: >hold.c
queue --list lists/tonight
ok 'the first line runs' retry ran c
printf '../c.json\n%s/d.json\nnot-there.json\n' "$dir" >lists/new
mv lists/new lists/tonight
rm hold.c
wait $queue
is $? 1 'a line that cannot be read is a failure'
is "$(order)" 'c d ' 'the others run as the file says then'
is "$(grep -c 'not-there' queue.err)" 1 'it is named once'

# ---- failures and stops ------------------------------------------------------------

rm ran
for name in f g h; do
	queue_study $name
done
: >bad.f
"$HPOTUNE" queue --stop-on-failure f.json g.json >out 2>err
is "$? $(order)" '1 f ' 'with --stop-on-failure a failure is the end'
like "$(cat out)" '^queue: f.json: failed, exit status 1, after ' 'and the failure is printed'
"$HPOTUNE" queue f.json g.json --quiet >out 2>err
is "$? $(order)" '1 f g ' 'without it the next one runs'
like "$(cat out)" '^queue: f.json: failed' '--quiet prints failures alone'
is "$(grep -c finished out)" 0 'and no more'
: >hold.h
queue_study i
queue h.json i.json
ok 'another one runs' retry ran h
"$HPOTUNE" stop h.json >out 2>err
wait $queue
is "$? $(uniq ran | tail -n 1)" '3 i' \
    'one that is stopped by a command is not the end of the queue'
rm hold.h
like "$(cat queue.out)" '^queue: 1 finished, 1 stopped, 0 failed$' 'it is counted'

# ---- signals -----------------------------------------------------------------------

for name in j k l m; do
	queue_study $name
done
: >hold.j
queue j.json k.json
ok 'a study runs' retry ran j
kill $queue
wait $queue
is $? 3 'SIGTERM ends the queue'
rm hold.j
ok 'and its study' retry sh -c '! "$0" status j.json | grep -q "server runs"' \
    "$HPOTUNE"
ok 'the next one was not started' sh -c '! grep -qx k ran'
like "$(cat queue.out)" 'the same command continues$' 'it says how to continue'
"$HPOTUNE" queue j.json k.json >out 2>err
is "$? $(sql j.db "SELECT count(*) FROM trials WHERE state = 'completed'")" '0 2' \
    'the same command continues'
is "$(sql k.db "SELECT count(*) FROM trials WHERE state = 'completed'")" 2 \
    'to the end'
: >hold.l
queue l.json m.json
ok 'one more study runs' retry ran l
kill -9 $queue
reap $queue 2>/dev/null
queue l.json m.json
ok 'after kill -9 of the queue another one waits for it' retry grep -q \
    'l.json is run by another server: waiting for its end' queue.out
rm hold.l
wait $queue
is $? 0 'and goes on'
is "$(sql l.db 'SELECT count(*) FROM attempts')$(sql m.db \
    'SELECT count(*) FROM attempts')" 22 'nothing ran twice'
done_testing
