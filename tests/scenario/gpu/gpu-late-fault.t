#!/bin/sh
# A GPU fails and its trial dies of it at the same moment: the driver reports
# the fault only at the next query, after the trial has ended.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
. "$TOP_SRCDIR/tests/support/sh/gpus.sh"
need sqlite3

gpus_fake

# The first attempt breaks its GPU and fails; the second is well.
cat >trial.sh <<'END'
#!/bin/sh
[ "$HPOTUNE_ATTEMPT" = 1 ] || { echo hpotune: step=1 loss=0.5; exit 0; }
echo $$ >pid
until [ -e go ]; do sleep 0.1; done
mv ../broken ../gpus
exit 1
END
chmod +x trial.sh

study() { # name
	printf 'gpu\n' >gpus
	gpus_study "$1" 1 '"gpus": 1' ''
	server study.json
	retry [ -e pid ]
	# Faults are heard from the first look on: wait until one was answered.
	printf 'gpu\nprocess %d memory=1GiB\n' "$(cat pid)" >../new
	mv ../new ../gpus
	retry sql_is "$1.db" 'SELECT used FROM gpus' 1073741824
}

attempt() { # database
	sql "$1" 'SELECT end_class FROM attempts WHERE attempt = 1'
}

study sick
printf 'gpu\nxid 79\n' >../broken
: >go
retry sql_is sick.db "SELECT count(*) FROM attempts WHERE end_class <> ''" 1
is "$(attempt sick.db)" lost \
    'a fault that comes with the end is the cause of the end'
like "$(sql sick.db 'SELECT text FROM events WHERE trial = 1')" \
    'Xid 79 on GPU 0 .*not by the fault of a trial' 'and reported'
retry sql_is sick.db 'SELECT state FROM trials' completed
is "$(sql sick.db 'SELECT attempts FROM trials')" 2 \
    'and when the GPU works again the trial continues there'
reap "$server"
is $? 0 'the study ends'
cd ..

study own
printf 'gpu\nxid 31\n' >../broken
: >go
retry sql_is own.db "SELECT count(*) FROM attempts WHERE end_class <> ''" 1
is "$(attempt own.db)" error "the trial's own fault stays its own"
like "$(sql own.db "SELECT text FROM events WHERE trial = 1")" \
    "Xid 31 on GPU 0.*the trial's own fault" 'and is noted with it'
retry sql_is own.db 'SELECT state FROM trials' completed
reap "$server"
cd ..

# The next server trusts it no more than the one that was killed: probes first.
study kept
printf 'gpu\nxid 79\n' >../broken
: >go
retry sql_is kept.db 'SELECT state FROM gpus' quarantined
kill -9 "$server"
reap "$server" 2>/dev/null
printf 'gpu\n' >../gpus
ok 'a study whose server died with a GPU out of service' \
    "$HPOTUNE" start --quiet study.json
is "$(sql kept.db "SELECT text FROM events WHERE text LIKE 'GPU 0%service%'" |
    sed 's/.*is //')" 'out of service: Xid 79: it has fallen off the bus
out of service: Xid 79: it has fallen off the bus
in service again: it works' 'takes it out again until it works'
cd ..

# A driver that hangs keeps no end for long.
study silent
printf 'gpu\nhang count\n' >../broken
: >go
retry sql_is silent.db "SELECT count(*) FROM attempts WHERE end_class <> ''" 1
is "$(attempt silent.db)" error 'without an answer it is the trial'
printf 'gpu\n' >../gpus
retry sql_is silent.db 'SELECT state FROM trials' completed
is $? 0 'which continues when the driver does'
reap "$server"

done_testing
