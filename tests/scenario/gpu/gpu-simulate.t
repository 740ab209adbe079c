#!/bin/sh
# Studies on simulated GPUs: each trial has its own, several, or a share of one;
# after a kill the next server finds the assignment.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
. "$TOP_SRCDIR/tests/support/sh/gpus.sh"
need sqlite3

# Who is on which GPU, at most $MOST at once; it stays until there is go-TRIAL
# or go.
cat >trial.sh <<'END'
#!/bin/sh
env >"new-$HPOTUNE_TRIAL"
mv "new-$HPOTUNE_TRIAL" "env-$HPOTUNE_TRIAL"
for gpu in $(echo "$HPOTUNE_GPU_UUIDS" | tr ',' ' '); do
	: >"on-$gpu-$HPOTUNE_TRIAL"
	n=$(ls | grep -c "^on-$gpu-")
	[ "$n" -le "$MOST" ] || echo "$gpu has $n" >>clashes
done
echo "hpotune: step=1 loss=0.$HPOTUNE_TRIAL"
until [ -e "go-$HPOTUNE_TRIAL" ] || [ -e go ]; do sleep 0.1; done
rm -f on-*-"$HPOTUNE_TRIAL"
END
chmod +x trial.sh

study() { # name trials trial-keys backend-keys
	gpus_study "$1" "$2" "\"grace\": 5, $3" ", $4"
}

told() { # trial variable
	sed -n "s/^$2=//p" "env-$1"
}

there() { # file …
	for there_one; do
		[ -e "$there_one" ] || return 1
	done
}

# One GPU each.
study four 9 '"env": { "MOST": "1" }' \
    '"gpus": { "simulate": 4, "memory": "16GiB" }'
out=$("$HPOTUNE" check)
like "$out" '^slots +4 on this machine$' 'check: a slot for each GPU'
like "$out" '^GPUs +4 simulated GPUs, 1 per trial$' 'check: what there is'
server study.json
retry sql_is four.db "SELECT count(*) FROM trials WHERE state = 'running'" 4
retry there env-1 env-2 env-3 env-4
is "$(told 1 HPOTUNE_GPU_UUIDS) $(told 4 HPOTUNE_GPU_UUIDS)" 'SIM-0 SIM-3' \
    'each trial has a GPU of its own'
is "$(told 2 HPOTUNE_GPU_INDICES) $(told 2 SM_NUM_GPUS)" '1 1' 'by index, too'
is "$(told 2 CUDA_VISIBLE_DEVICES)$(told 2 CUDA_DEVICE_ORDER)" PCI_BUS_ID \
    'and none that is real'
like "$(sql four.db 'SELECT place FROM attempts WHERE trial = 3')" ' gpu 2$' \
    'its place names it'
is "$(cat four.d/trials/3/attempt-1/gpus)" SIM-2 'the file gpus of the attempt names it'
retry sql_is four.db "SELECT count(*) FROM gpus WHERE state = 'held'" 4
is "$(sql four.db 'SELECT gpu, uuid, memory, state, trials FROM gpus LIMIT 1')" \
    '0|SIM-0|17179869184|held|1' 'view gpus'
: >go-2
retry there env-5
is "$(told 5 HPOTUNE_GPU_UUIDS)" SIM-1 'what one leaves the next one gets'

# A server that dies: the next one gives nothing away.
kill -9 "$server"
reap "$server" 2>/dev/null
: >go-3
server study.json
retry there env-6
is "$(told 6 HPOTUNE_GPU_UUIDS)" SIM-2 \
    'after a crash: only the GPU of the one that had ended is free'
retry sql_is four.db "SELECT count(*) FROM trials WHERE state = 'running'" 4
: >go
reap "$server"
is $? 0 'the study ends'
is "$(sql four.db "SELECT count(*) FROM trials WHERE state = 'completed'")" 9 \
    'all trials were completed'
is "$(cat clashes 2>/dev/null)" '' 'never two on one'
is "$(sql four.db 'SELECT DISTINCT gpus FROM attempts')" 1 'one GPU each'
is "$(sql four.db 'SELECT count(*) FROM trials WHERE gpu_seconds > 0')" 9 \
    'GPU seconds are counted'
cd ..

# Two GPUs for each trial of five: one is left over.
study pairs 4 '"gpus": 2, "env": { "MOST": "1" }' '"gpus": { "simulate": 5 }'
like "$("$HPOTUNE" check)" '^GPUs +5 simulated GPUs, 2 per trial$' 'check: pairs'
server study.json
retry there env-1 env-2
is "$(told 1 HPOTUNE_GPU_UUIDS) $(told 2 HPOTUNE_GPU_INDICES)" \
    'SIM-0,SIM-1 2,3' 'two GPUs each'
retry sql_is pairs.db "SELECT count(*) FROM trials WHERE state = 'running'" 2
like "$(sql pairs.db 'SELECT place FROM attempts WHERE trial = 2')" \
    ' gpu 2,3$' 'the place names both'
is "$(sql pairs.db "SELECT group_concat(gpus) FROM attempts
    WHERE state = 'running'")" 2,2 'how many it has is known while it runs'
: >go
reap "$server"
is "$(sql pairs.db 'SELECT count(*) FROM attempts WHERE gpus = 2')" 4 \
    'and all is well'
is "$(cat clashes 2>/dev/null)" '' 'never two on one of a pair'
cd ..

# Three on each of two, but only two have room.
study shared 8 '"gpu_memory": "3GiB", "env": { "MOST": "2" }' \
    '"gpus": { "simulate": 2, "memory": "8GiB" }, "trials_per_gpu": 3'
like "$("$HPOTUNE" check)" '^slots +4 on' 'check: as many as have room'
server study.json
retry sql_is shared.db "SELECT count(*) FROM trials WHERE state = 'running'" 4
retry there env-1 env-2 env-3 env-4
is "$(cat env-? | sed -n 's/^HPOTUNE_GPU_UUIDS=//p' | sort | uniq -c |
    tr -s ' \n' ' ')" ' 2 SIM-0 2 SIM-1 ' 'two share each GPU'
: >go
reap "$server"
is "$(cat clashes 2>/dev/null)" '' 'never three'
cd ..

# Packed trials: a program for each GPU, four trials in each.
mkdir packs && cd packs || exit 99
cat >program.sh <<'END'
#!/bin/sh
echo "$HPOTUNE_GPU_UUIDS" >>places
exec "$PACKED"
END
chmod +x program.sh
cat >study.json <<END
{ "study": "packs",
  "objective": { "metric": "loss", "goal": "minimize" },
  "parameters": { "x": { "type": "float", "min": -1, "max": 1 } },
  "strategy": { "name": "random", "seed": 3 }, "stopping": "none",
  "trial": { "command": ["./program.sh"], "pack": 4, "max_steps": 6,
    "grace": 5, "gpus": 1, "env": { "PACKED": "$TOP_BUILDDIR/tests/tools/packed-program" } },
  "backend": { "name": "local", "gpus": { "simulate": 2 } },
  "limits": { "trials": 12 } }
END
like "$("$HPOTUNE" check)" '^slots +8 on this machine: 2 programs of up to 4' \
    'check: four trials on each of two GPUs'
: >hold
server study.json
retry sql_is packs.db "SELECT count(*) FROM trials WHERE state = 'running'" 8
# A trial runs when its part of the program does; that writes a little later.
placed() {
	[ "$(wc -l <places)" -eq 2 ]
}
retry placed
is "$(sort places | tr '\n' ' ')" 'SIM-0 SIM-1 ' 'each program has a GPU'
is "$(sql packs.db "SELECT count(*) FROM attempts WHERE place LIKE '% gpu 1'")" \
    4 'which is that of its trials'
retry sql_is packs.db "SELECT count(*) FROM gpus WHERE state = 'held'" 2
is $? 0 'both are held'
kill -9 "$server"
reap "$server" 2>/dev/null
server study.json
retry sql_is packs.db "SELECT count(*) FROM gpus WHERE state = 'held'" 2
rm hold
reap "$server"
is $? 0 'the study ends'
is "$(sql packs.db 'SELECT count(*) FROM trials WHERE reports = 6')" 12 \
    'with all of its trials'
is "$(sort -u places | tr '\n' ' ')" 'SIM-0 SIM-1 ' 'on the same GPUs'
cd ..

# One of three fails whoever comes: it does not take the others with it.
study one 30 '"retries": 9, "env": { "MOST": "1" }' '"gpus": { "simulate": 3 }'
cat >trial.sh <<'END'
#!/bin/sh
[ "$HPOTUNE_GPU_UUIDS" != SIM-1 ] || exit 1
echo "hpotune: step=1 loss=1"
END
ok 'a study survives a GPU that fails everybody' quietly \
    timeout 300 "$HPOTUNE" start study.json --quiet
is "$(sql one.db "SELECT state, count(*) FROM trials GROUP BY state")" \
    'completed|30' 'all trials are completed'
like "$(sql one.db "SELECT text FROM events WHERE text LIKE '%suspicion%'")" \
    'GPU 1 .*trial after trial failed there at once' 'it is suspected'
cd ..

# A supervisor holds the locks that it inherits, its trial does not; and it
# binds the trial to cores that it may use.
core=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*\([0-9]*\).*/\1/p' \
    /proc/self/status)
mkdir -p shim/trials/1/attempt-1 && cd shim || exit 99
: >lock
"$HPOTUNE_SHIM" dir="$PWD/trials/1/attempt-1" workdir="$PWD" grace-ms=1000 \
    max-run-ms=0 memory=0 log-cap=0 hold-fds=1 "cpus=$core,4000-4001" \
    uuid=01234567-89ab-4def-8123-456789abcdef -- sh -c '
	sed -n "s/^Cpus_allowed_list:[[:space:]]*//p" /proc/self/status >cores
	ls -l /proc/self/fd >fds.new && mv fds.new fds
	until [ -e go ]; do sleep 0.1; done' 3<lock &
shim=$!
children="$children $shim"
retry there fds
is "$(cat cores)" "$core" 'a trial is bound to the cores of its GPU'
is "$(grep -c /shim/lock fds)" 0 'it does not have the lock'
is "$(readlink "/proc/$shim/fd/3")" "$PWD/lock" 'its supervisor does'
: >go
reap "$shim"
is $? 0 'to the end'
cd ..

# What cannot be.
study much 1 '"gpus": 3' '"gpus": { "simulate": 2 }'
fails 'too many are refused' 2 quietly "$HPOTUNE" start study.json
like "$(cat err)" \
    'study.json:6:[0-9]+: trial.gpus: a trial needs 3, but this machine has 2' \
    'and it gives the position'
cd ..
study odd 1 '"gpus": 1' '"gpus": { "simulat": 2 }'
fails 'a wrong key is refused' 2 quietly "$HPOTUNE" start study.json
like "$(cat err)" 'backend.gpus.simulat: unknown key; did you mean "simulate"' \
    'and the key that was meant is named'
cd ..
study many 1 '"gpus": 1' '"gpus": { "simulate": 257 }'
fails 'more than a look holds are refused' 2 quietly "$HPOTUNE" start study.json
like "$(cat err)" 'backend.gpus.simulate: expected a whole number from 1 to 256' \
    'and it states how many may be'
cd ..
study none 1 '"gpus": 1' '"gpus": ["GPU-00000000"]'
fails 'a GPU that is not there is refused' 2 quietly "$HPOTUNE" start study.json
like "$(cat err)" 'backend.gpus: no GPU here is called GPU-00000000' \
    'and it names it'
cd ..

done_testing
