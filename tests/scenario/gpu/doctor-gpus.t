#!/bin/sh
# hpotune doctor on GPUs: their users and states, and why a trial would not get
# one.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
. "$TOP_SRCDIR/tests/support/sh/gpus.sh"

need python3
gpus_fake

doctor() { # option …: the lines about GPUs
	"$HPOTUNE" doctor "$@" | grep GPU
}

# Two processes that are there: one of ours, one of a trial.
background other sleep 1000
other=$child
background trial env HPOTUNE_STUDY=mnist HPOTUNE_TRIAL=17 sleep 1000
trial=$child
# Until it is what it will be.
is_sleep() { # pid
	[ "$(cat "/proc/$1/comm")" = sleep ]
}
retry is_sleep "$other"
retry is_sleep "$trial"

# A study that has booked GPU-5, as far as locks say it.
mkdir locks
echo 'bert of alice' >locks/GPU-5
background books python3 -c 'import fcntl, time
f = open("locks/GPU-5", "r+")
fcntl.lockf(f, fcntl.LOCK_SH, 1, 4711)
print("held", flush=True)
time.sleep(1000)'
retry grep -q held books.out

cat >gpus <<END
driver 570.9
gpu name=H200 temperature=41
gpu
process $trial memory=3GiB
gpu
process $other memory=512MiB
gpu
process 4194303 memory=1MiB
gpu used=2GiB
gpu used=900MiB
gpu recovery=1
gpu error=15
gpu mig
slice memory=10GiB
gpu
process 4194303 memory=2GiB
END
out=$(doctor)
like "$out" '^warning  GPUs +9, driver 570\.9; GPU 7: it has fallen off' \
    'the driver, and a GPU without a name'
like "$out" '^ok +GPU 0 +H200, 80\.0 GiB, 0 MiB used, 41 C, GPU-0 *$' \
    'an idle GPU'
like "$out" "^ok +GPU 1 .*; trial 17 of mnist \\(pid $trial, 3\\.0 GiB\\)" \
    'a trial on one'
like "$out" "^warning +GPU 2 .*; sleep of $(id -un) \\(pid $other, 512 MiB\\) .*while others compute there" \
    'a process of another user on one'
like "$out" '^ok +GPU 3 .*a process that is not visible here \(pid 4194303, 1 MiB\)' \
    'a process of another world counts by its memory alone'
like "$out" '^warning +GPU 4 .*gpu_busy_memory' \
    'memory without a visible process'
like "$out" '^ok +GPU 5 .* 900 MiB used.*; booked by bert of alice' \
    'one of another study, with a little memory without a process'
like "$out" '^warning +GPU 6 .*the driver requests a reset .*until this is fixed' \
    'a sick one'
like "$out" '^ok +GPU 8, a slice .* 10\.0 GiB, .* MIG-0' 'a slice'
like "$out" '^warning +GPU 9 .*pid 4194303, 2\.0 GiB\) .*gpu_busy_memory' \
    'one that has much'
unlike "$out" 'GPU-8' 'which stands for its GPU'
unlike "$out" 'probe' 'nothing is tried unasked'

"$HPOTUNE" doctor --json >json
is "$(python3 -c 'import json, sys
g = {l["what"]: l["gpu"] for l in json.load(sys.stdin) if "gpu" in l}
one = g["GPU 1"]
print(len(g), one["uuid"], one["memory"], one["used"], one["node"],
    [(p["trial"], p["memory"]) for p in one["processes"]])
print(g["GPU 6"]["why"], bool(g["GPU 6"]["unused"]), bool(one["unused"]))
' <json)" "9 GPU-1 85899345920 3221225472 None [('trial 17 of mnist', 3221225472)]
the driver requests a reset True False" 'the same as JSON'

cat >gpus <<END
gpu
gpu cuda=init:802
END
out=$(doctor --probe)
like "$out" '^ok +GPU 0 .*; its test succeeded' 'one that works'
like "$out" '^bad +GPU 1 .*CUDA cannot start: .*802.*Fabric Manager' \
    'one on which CUDA does not'
fails 'which makes the doctor fail' 1 quietly "$HPOTUNE" doctor --probe
ok 'but when it is asked' quietly "$HPOTUNE" doctor

echo 'init 18' >gpus
like "$(doctor)" '^warning +GPUs .*not of the version of its libraries: reboot' \
    'a driver that was upgraded while it ran'
echo >gpus
like "$(doctor)" '^warning +GPUs +0, driver' 'a driver without GPUs'
like "$(HPOTUNE_NVML='' doctor)" '^ok +GPUs +none' 'GPUs that are hidden'
like "$(HPOTUNE_NVML=$dir/none doctor)" '^warning +GPUs +NVML cannot be opened' \
    'a library that is missing'
like "$(HPOTUNE_GPU=$dir/none doctor)" "^warning +GPUs +$dir/none cannot be started" \
    'our own program is missing'

done_testing
