#!/bin/sh
# Trials that share a GPU of a fake driver and declare no memory: once eight have
# ended, those that come begin at once where the memory is free that each is likely to
# need, and the others wait, also below a server that begins again.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
. "$TOP_SRCDIR/tests/support/sh/gpus.sh"
need sqlite3

gpus_fake
mkdir contexts
printf '%s\n' 'gpu name=H200 memory=80GiB' "contexts $dir/contexts" >gpus

# The first eight need two GiB for each of their size and report; the others only wait.
cat >trial.sh <<END
#!/bin/sh
echo >began-\$HPOTUNE_TRIAL
if [ \$HPOTUNE_TRIAL -le 8 ]; then
	echo \$((2 * \$1))GiB >$dir/contexts/\$\$
	echo "hpotune: loss=0.\$1"
fi
until [ -e go-\$HPOTUNE_TRIAL ] || [ -e go ]; do sleep 0.1; done
echo "hpotune: loss=0.\$1"
END
chmod +x trial.sh

study() { # trials
	cat >study.json <<-END
	{
	  "study": "expected",
	  "objective": { "metric": "loss", "goal": "minimize" },
	  "parameters": { "size": { "type": "int", "min": 1, "max": 32 },
	    "x": { "type": "float", "min": 0, "max": 1 } },
	  "strategy": { "name": "random", "seed": 1 }, "stopping": "none",
	  "enqueue": [{"size": 1}, {"size": 2}, {"size": 3}, {"size": 4},
	    {"size": 5}, {"size": 6}, {"size": 7}, {"size": 8}],
	  "trial": { "command": ["./trial.sh", "{size}"], "gpus": 1,
	    "retries": 0 },
	  "backend": { "name": "local", "trials_per_gpu": 8 },
	  "limits": { "trials": $1 }
	}
	END
}

study 8
server study.json
one=$server
retry sql_is expected.db 'SELECT trials, used FROM gpus' "8|$((72 << 30))"
is $? 0 'each of eight begins when the one before has reported'
: >go
reap "$one"
is $? 0 'they end'
is "$(sql expected.db 'SELECT group_concat(gpu_memory >> 30) FROM
    (SELECT gpu_memory FROM attempts ORDER BY trial)')" \
    2,4,6,8,10,12,14,16 'what each used is recorded'
rm go

study 11
for size in 16 17 16; do
	ok "a setting of size $size is queued" \
	    "$HPOTUNE" enqueue study.json "size=$size"
done
server study.json
two=$server
retry test -e began-10
is $? 0 'the next ones do not wait for each other'
retry sql_is expected.db 'SELECT state, trials FROM gpus' 'full|2'
is $? 0 'a third has no room'
like "$(sql expected.db 'SELECT why FROM gpus')" \
    '^[0-9.]+ GiB of memory are left, the next trial is likely to need 3[2-9]\.[0-9] GiB$' \
    'with the reason'
is "$(sql expected.db 'SELECT state FROM trials WHERE trial = 11')" waiting \
    'so it waits'
is "$(sql expected.db "SELECT count(*) FROM events WHERE text LIKE
    'trials that share a GPU begin where %'")" 1 'an event says so'
"$HPOTUNE" status study.json >out
like "$(cat out)" 'is likely to need' 'and status'
kill -9 "$two"
wait "$two" 2>/dev/null
before=$(sql expected.db 'SELECT time FROM gpus')
server study.json
two=$server
retry sql_is expected.db \
    "SELECT count(*) FROM gpus WHERE time > '$before' AND trials = 2" 1
is "$(sql expected.db 'SELECT state FROM gpus')" full \
    'another server has the same expectation'
is "$(sql expected.db 'SELECT state FROM trials WHERE trial = 11')" waiting \
    'and keeps it waiting'
: >go-9
retry test -e began-11
is $? 0 'an end makes room'
: >go
reap "$two"
is $? 0 'the study ends'
is "$(sql expected.db "SELECT count(*) FROM trials WHERE
    state = 'completed'")" 11 'with all trials'
study 12
server study.json
reap "$server"
is "$(sql expected.db 'SELECT memory > 0 FROM suggestions WHERE trial = 12')" 1 \
    'a suggestion has what is expected of it'

done_testing
