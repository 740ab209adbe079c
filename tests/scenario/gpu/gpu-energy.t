#!/bin/sh
# GPU use of a real trial with a fake driver, across the death of a server: the
# new one assigns the processes correctly and continues the sums.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
. "$TOP_SRCDIR/tests/support/sh/gpus.sh"
need sqlite3

gpus_fake

gpu() { # millijoules degrees
	# Without a power: nothing is added for the moment after the last look.
	printf 'gpu energy=%s temperature=%s utilization=4 power=0 %s\n' \
	    "$1" "$2" memory=16GiB >gpus.new
	[ ! -s pid ] || echo "process $(cat pid) memory=3GiB" >>gpus.new
	mv gpus.new gpus
}

# A look with so much has been judged: its temperature stands in the view.
looked() { # millijoules degrees
	gpu "$@"
	retry sql_is one.db 'SELECT temperature FROM gpus' "$2"
}

cat >trial.sh <<'END2'
#!/bin/sh
echo $$ >new && mv new pid
echo 'hpotune: step=1 loss=0.5'
until [ -e go ]; do sleep 0.1; done
END2
chmod +x trial.sh
cat >one.json <<'END2'
{ "study": "one",
  "objective": { "metric": "loss", "goal": "minimize" },
  "parameters": { "x": { "type": "float", "min": 0, "max": 1 } },
  "strategy": { "name": "random", "seed": 1 }, "stopping": "none",
  "trial": { "command": ["./trial.sh"], "gpus": 1 },
  "backend": { "name": "local", "gpu_idle": 0 },
  "limits": { "trials": 1 } }
END2

gpu 1000000 30
server --quiet one.json
ok 'a trial runs' retry sql_is one.db "SELECT reports FROM trials
    WHERE state = 'running'" 1
is "$(sql one.db 'SELECT gpus FROM attempts')" 1 'its GPU is known at once'
ok 'the driver shows its process' looked 1000000 31
kill -9 $server
reap $server 2>err

gpu 2000000 40
server --quiet one.json
gpu 2000000 41
ok 'another server has its trial' \
    retry sql_is one.db 'SELECT temperature, trials FROM gpus' '41|1'
ok 'and then looks again' looked 2000000 43
ok 'while it has the study 600 J are used' looked 2600000 42
: >go
reap $server
is $? 0 'the trial ends'
is "$(sql one.db 'SELECT count(*) FROM attempts')" 1 \
    'it was one attempt'
is "$(sql one.db 'SELECT energy_joules, gpu_memory,
    round(gpu_utilization, 6), abs(gpu_seconds - seconds) < 1e-9
    FROM attempts')" '600.0|3221225472|4.0|1' 'what it has used'
is "$(sql one.db "SELECT text FROM events WHERE text LIKE '%somebody%'")" '' \
    'and its own process is nobody else'"'"'s'

done_testing
