#!/bin/sh
# Studies on the GPUs of a fake driver: GPUs of others are not used, faulty ones
# are taken out of service and return, two studies never share one.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
. "$TOP_SRCDIR/tests/support/sh/gpus.sh"
need sqlite3

gpus_fake

gpus() { # the file of the fake driver, a line each
	printf '%s\n' "$@" >"$dir/gpus.new" && mv "$dir/gpus.new" "$dir/gpus"
}

# Each attempt waits for a word of its own, or of all: an exit status.
cat >trial.sh <<'END'
#!/bin/sh
me=$HPOTUNE_TRIAL-$HPOTUNE_ATTEMPT
echo $$ >"pid-$me"
# Whole from the moment it is there.
env >"new-$me" && mv "new-$me" "env-$me"
echo "hpotune: step=1 loss=0.$HPOTUNE_TRIAL"
word="end-$me"
until [ -e "$word" ] || [ -e end ]; do sleep 0.1; done
[ -e end ] || exit "$(cat "$word")"
END
chmod +x trial.sh

study() { # name trials backend-keys
	gpus_study "$1" "$2" '"grace": 5, "gpus": 1' "${3-}"
}

told() { # trial attempt variable
	sed -n "s/^$3=//p" "env-$1-$2"
}

there() { # file …
	for there_one; do
		[ -e "$there_one" ] || return 1
	done
}

finish() { # trial attempt status
	echo "$3" >word && mv word "end-$1-$2"
}

one_is() { # database uuid columns want
	sql_is "$1" "SELECT $3 FROM gpus WHERE uuid = '$2'" "$4"
}

# One whose memory does not come back, in a world of its own: for the end.
study leak 2
echo 'gpu uuid=GPU-leak' >leaky
FAKE_GPUS_FILE=$dir/leak/leaky server study.json
leak=$server
retry there env-1-1
echo 'gpu uuid=GPU-leak used=9GiB' >new && mv new leaky
retry one_is leak.db GPU-leak used 9663676416
finish 1 1 0
retry sql_is leak.db 'SELECT state FROM trials WHERE trial = 1' completed
cd ..

# Somebody else is on one of three; another is not ours to use.
background other sleep 1000
other=$child
gpus gpu gpu "process $other memory=2GiB" gpu
CUDA_VISIBLE_DEVICES=0,GPU-1
export CUDA_VISIBLE_DEVICES
study others 3
unset CUDA_VISIBLE_DEVICES
like "$(CUDA_VISIBLE_DEVICES=0,GPU-1 "$HPOTUNE" check)" \
    '^GPUs +2 GPUs, 1 per trial' 'a batch system has lent two of three'
CUDA_VISIBLE_DEVICES=0,GPU-1 server study.json
retry there env-1-1
is "$(told 1 1 CUDA_VISIBLE_DEVICES)" GPU-0 'a trial has its GPU by UUID'
retry one_is others.db GPU-1 state foreign
like "$(sql others.db "SELECT why, owner FROM gpus WHERE uuid = 'GPU-1'")" \
    "$other" 'the process on the other GPU is named'
is "$(sql others.db 'SELECT count(*) FROM gpus')" 2 \
    'what was not lent is not looked at'
gpus gpu "process $(cat pid-1-1) memory=1GiB" gpu gpu
retry there env-2-1
is "$(told 2 1 CUDA_VISIBLE_DEVICES)" GPU-1 'when they have gone it is used'
retry one_is others.db GPU-0 'state, used' 'held|1073741824'
is "$(sql others.db 'SELECT count(*) FROM trials')" 2 'and not more than two'

# The end of a trial is known at once, its GPU is free when it has left it.
finish 1 1 0
retry sql_is others.db 'SELECT state FROM trials WHERE trial = 1' completed
retry one_is others.db GPU-0 state releasing
is "$(sql others.db 'SELECT count(*) FROM trials')" 2 \
    'no trial begins before its memory is released'
gpus gpu gpu gpu
retry there env-3-1
is "$(told 3 1 CUDA_VISIBLE_DEVICES)" GPU-0 'then the next one does'
: >end
reap "$server"
is $? 0 'the study ends'
cd ..

# A GPU that breaks: its trial is not to blame, and goes on elsewhere.
gpus gpu gpu
study sick 3 ', "gpus": "auto", "gpu_ids": "index"'
server study.json
retry there env-1-1 env-2-1
is "$(told 2 1 CUDA_VISIBLE_DEVICES)" 1 'a trial has its GPU by index'
# Faults are heard from the first look on.
gpus gpu gpu "process $(cat pid-2-1) memory=1GiB"
retry one_is sick.db GPU-1 used 1073741824
gpus gpu gpu 'xid 79'
retry one_is sick.db GPU-1 state quarantined
finish 2 1 1
retry sql_is sick.db \
    'SELECT end_class FROM attempts WHERE trial = 2 AND attempt = 1' lost
is $? 0 'a failure on a broken GPU is that of the machine'
like "$(sql sick.db "SELECT text FROM events WHERE trial = 2")" 'Xid 79|bus' \
    'and reports it'
finish 1 1 0
retry there env-2-2
is "$(told 2 2 CUDA_VISIBLE_DEVICES)" 0 'its next attempt is on another one'

# The driver falls silent: who runs goes on, nobody begins.
gpus gpu gpu 'count 999'
retry one_is sick.db GPU-0 state unknown
finish 2 2 0
retry sql_is sick.db 'SELECT state FROM trials WHERE trial = 2' completed
is "$?,$(ls | grep -c '^env-3')" 0,0 \
    'a driver that does not respond ends no trial'
retry sql_is sick.db "SELECT count(*) FROM events
    WHERE text LIKE 'no trial can begin until a GPU is free%'" 1
is $? 0 'and the study waits, and reports it'
gpus gpu gpu
retry there env-3-1
is "$(told 3 1 CUDA_VISIBLE_DEVICES)" 0 'it continues when the driver does'
retry one_is sick.db GPU-1 state free
is $? 0 'what passes its probes is back in service'
: >end
reap "$server"
is $? 0 'the study ends'
cd ..

# Two studies, one machine.  What one has the other does not get, also when the
# first one's server has died; and when that comes back it finds its own.
gpus gpu gpu
study first 3
server study.json
one=$server
retry there env-1-1 env-2-1
cd ..
study second 2
server study.json
two=$server
retry sql_is second.db "SELECT count(*) FROM gpus WHERE state = 'reserved'" 2
is $? 0 'all GPUs are reserved'
like "$("$HPOTUNE" check)" \
    '^GPUs .*; GPU 0 is of study first .*; GPU 1 is of study first .* now$' \
    'check reports it, too'
like "$(sql second.db 'SELECT DISTINCT why, owner FROM gpus')" first 'by whom'
retry sql_is second.db "SELECT count(*) FROM events
    WHERE text LIKE 'no trial can begin until a GPU is free%'" 1
is $? 0 'the second study waits'
cd ../first
kill -9 "$one"
reap "$one" 2>/dev/null
finish 1 1 0
cd ../second
retry there env-1-1
is "$(told 1 1 CUDA_VISIBLE_DEVICES)" GPU-0 \
    'a dead server keeps what its trials are on, and not more'
cd ../first
server study.json
one=$server
retry sql_is first.db 'SELECT state FROM trials WHERE trial = 1' completed
retry one_is first.db GPU-1 'state, trials' 'held|1'
retry one_is first.db GPU-0 state reserved
is "$?,$(sql first.db "SELECT trial FROM trials WHERE state = 'running'")" 0,2 \
    'it comes back and finds its own, and what is not'
: >end
: >../second/end
reap "$one"
is $? 0 'the first study ends'
reap "$two"
is $? 0 'the second study ends'
cd ..

# Two on one GPU through the daemon of MPS.
gpus gpu
mkdir pipe-0
: >pipe-0/control
echo $$ >pipe-0/nvidia-cuda-mps-control.pid
study mps 2 ', "trials_per_gpu": 2, "gpu_ids": "index"'
sed -i 's/"gpus": 1/"gpus": 1, "gpu_memory": "3GiB"/' study.json
CUDA_MPS_PIPE_DIRECTORY=$dir/pipe server study.json
retry there env-1-1 env-2-1
is "$(told 2 1 CUDA_MPS_PIPE_DIRECTORY)" "$dir/pipe-0" 'MPS of the GPU'
is "$(told 2 1 CUDA_MPS_ACTIVE_THREAD_PERCENTAGE)" 50 'half of it for each'
is "$(told 2 1 CUDA_MPS_PINNED_DEVICE_MEM_LIMIT)" 0=3072M 'and its memory'
is "$(told 1 1 CUDA_VISIBLE_DEVICES)" GPU-0 'MPS has other numbers'
retry sql_is mps.db "SELECT count(*) FROM events
    WHERE text LIKE 'trials share GPU 0 through MPS (%pipe-0)'" 1
is $? 0 'it is reported'
: >end
reap "$server"
cd ..

# A GPU goes with the trial on it.
gpus gpu gpu
study lost 4
server study.json
retry there env-1-1 env-2-1
gpus gpu
retry one_is lost.db GPU-1 state gone
finish 2 1 3
retry sql_is lost.db \
    'SELECT end_class FROM attempts WHERE trial = 2 AND attempt = 1' lost
is $? 0 'who was on it is lost, not failed'
finish 1 1 0
retry there env-2-2
is "$(told 2 2 CUDA_VISIBLE_DEVICES)" GPU-0 'it continues with what is left'
gpus gpu gpu
retry there env-3-1
is "$(told 3 1 CUDA_VISIBLE_DEVICES)" GPU-1 'and with what comes back'
gpus gpu gpu gpu
retry there env-4-1
is "$(told 4 1 CUDA_VISIBLE_DEVICES)" GPU-2 'and with a new one'
: >end
reap "$server"
is $? 0 'the study ends'
cd ../leak || exit 99

retry one_is leak.db GPU-leak state quarantined
is "$?,$(sql leak.db 'SELECT count(*) FROM trials')" 0,1 \
    'no trial gets a GPU whose memory is not released'
like "$(sql leak.db 'SELECT why FROM gpus')" 9.0 'the amount is reported'
echo 'gpu uuid=GPU-leak' >new && mv new leaky
retry there env-2-1
is $? 0 'when it has come back and a probe went well trials come, too'
: >end
reap "$leak"
is $? 0 'the study ends'
cd ..

# A driver that fails is no machine without GPUs, unless nobody wants any.
gpus 'init 18' gpu
study broken 1
sed -i 's/, "gpus": 1//' study.json
fails 'trials are not run on the processor instead' 2 \
    quietly "$HPOTUNE" start study.json
like "$(cat err)" 'cannot be used: .*version.*; .* trial.gpus is 0' \
    'it gives the reason'
is "$(ls -d broken.* 2>/dev/null)" '' 'and makes nothing'
ok 'who hides all GPUs wants none' \
    env CUDA_VISIBLE_DEVICES= "$HPOTUNE" check study.json
sed -i 's/"grace": 5/"grace": 5, "gpus": 0/' study.json
: >end
ok 'nor does who says so' quietly "$HPOTUNE" start study.json

done_testing
