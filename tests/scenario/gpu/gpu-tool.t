#!/bin/sh
# hpotune-gpu on fake drivers: all known behaviours of machines with GPUs.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"

need python3
FAKE_GPUS_FILE=$dir/gpus
HPOTUNE_NVML=$TOP_BUILDDIR/tests/fake/libnvidia-ml.so.1
export FAKE_GPUS_FILE HPOTUNE_NVML

gpus() { # the file of the fake driver, from standard input
	cat >gpus.new && mv gpus.new gpus
}

list() {
	timeout 300 "$HPOTUNE_GPU" list
}

# An expression of Python on the look "l" on standard input; g is its GPUs.
of() { # expression
	python3 -c 'import json, sys
l = json.loads(sys.stdin.read())
g = l["gpus"]
print(eval(sys.argv[1]))' "$1"
}

# A program that is asked: "ask" has its answer in $look.
watch_start() { # [seconds without a question until NVML is closed]
	rm -f questions answers
	mkfifo questions answers
	background watch sh -c \
	    'exec "$HPOTUNE_GPU" watch "$@" <questions >answers' sh "$@"
	exec 8>questions 9<answers
}

ask() { # seq
	echo "look $1" >&8
	IFS= read -r look <&9
}

watched() { # expression want what
	is "$(printf '%s' "$look" | of "$1")" "$2" "$3"
}

gpus <<'END'
driver 570.1
gpu uuid=GPU-a name=H200 used=1GiB temperature=41 utilization=7 power=70123 energy=99
process 4242 memory=2GiB
process 77 mps
gpu uuid=GPU-b bus=0001F000:A1:00.0 minor=5
END
list >look
is "$(of 'l["source"], l["driver"], l["why"], len(g), l["faults"]' <look)" \
    "('nvml', '570.1', '', 2, [])" 'two GPUs'
is "$(of '[g[0][k] for k in ("uuid", "name", "bus", "index", "minor")]' <look)" \
    "['GPU-a', 'H200', '0000:01:00.0', 0, 0]" 'what the first is'
is "$(of '[g[0][k] for k in ("memory", "used", "temperature", "utilization", "power", "energy")]' <look)" \
    '[85899345920, 3221225472, 41, 7, 70123, 99]' '… and has'
is "$(of 'g[0]["processes"]' <look)" \
    "[{'pid': 4242, 'memory': 2147483648}, {'pid': 77, 'memory': -1}]" \
    'its processes, those of MPS too'
is "$(of 'g[1]["bus"], g[1]["index"], g[1]["minor"]' <look)" \
    "('1f000:a1:00.0', 1, 5)" 'a bus of a large machine'

# As an idle H200 is: version 1 of the call counts the reserve of the driver.
idle='name=H200 memory=143771MiB reserved=615MiB'
gpus <<END
gpu $idle
gpu $idle used=2GiB
gpu $idle old-memory
END
is "$(list | of '[(x["memory"] >> 20, x["used"] >> 20) for x in g]')" \
    '[(143156, 0), (143156, 2048), (143771, 615)]' \
    'memory is what processes can have, and used what they have'

gpus <<'END'
gpu
gpu mig
process 7 memory=1GiB
slice memory=10GiB name=Fake-1g
process 99 memory=1MiB
slice uuid=MIG-GPU-1/2/0
gpu mig
END
list >look
is "$(of '[(x["uuid"], x["parent"], x["index"]) for x in g]' <look)" \
    "[('GPU-0', '', 0), ('MIG-0', 'GPU-1', 1), ('MIG-GPU-1/2/0', 'GPU-1', 1)]" \
    'slices stand in place of their GPU'
is "$(of 'g[1]["memory"], g[1]["name"], g[1]["processes"], g[2]["processes"]' <look)" \
    "(10737418240, 'Fake-1g', [{'pid': 99, 'memory': 1048576}], [])" \
    'a slice has memory and processes of its own'

gpus <<'END'
grow 20
gpu
process 1
END
is "$(list | of '[len(x["processes"]) for x in g]')" '[41]' \
    'a list that grows while it is read'
gpus <<'END'
gpu recovery=1
gpu error=16
gpu error=999
gpu
END
is "$(list | of '[(x["uuid"], x["lost"], x["recovery"]) for x in g], l["why"]')" \
    "([('GPU-0', False, 1), ('GPU-3', False, 0)], 'GPU 2: fake error 999')" \
    'GPUs without a name are left out and reported'
like "$(list)" 'the driver requests a reset' 'what the driver requests'

echo 'init 18' | gpus
is "$(list | of 'l["source"], l["why"]')" \
    "('none', 'the loaded NVIDIA driver is not of the version of its libraries: reboot the machine')" \
    'a driver that was upgraded while it ran'
gpus </dev/null
is "$(list | of 'l["source"], l["why"], g')" "('nvml', '', [])" \
    'a driver without GPUs'
is "$(HPOTUNE_NVML=$dir/none list | of 'l["source"], g')" "('none', [])" \
    'no library'
is "$(HPOTUNE_NVML='' list | of 'l["source"], l["why"]')" \
    "('none', 'HPOTUNE_NVML is empty')" 'none wanted'
echo 'gpu used=1' | gpus
is "$(HPOTUNE_NVML=$TOP_BUILDDIR/tests/fake-old/libnvidia-ml.so.1 list |
    of 'g[0]["uuid"], g[0]["memory"], g[0]["bus"], l["driver"]')" \
    "('GPU-0', -1, '', '')" 'an old library reports less'

# While it is asked.
gpus <<'END'
gpu
xid 31
gpu uuid=GPU-x
END
watch_start
ask 1
watched 'l["seq"], len(g), l["faults"]' '(1, 2, [])' \
    'a watch: faults from before it are history'
gpus <<'END'
gpu
xid 31
xid 43
xid 79
gpu uuid=GPU-x
xid 48
gpu uuid=GPU-new
END
ask 2
watched 'l["seq"], len(g), [(f["uuid"], f["xid"]) for f in l["faults"]]' \
    "(2, 3, [('GPU-0', 43), ('GPU-0', 79), ('GPU-x', 48)])" \
    'a GPU has come, and faults'
ask 3
watched 'l["faults"]' '[]' 'a fault is reported once'
gpus <<'END'
gpu
gpu uuid=GPU-x error=15
END
ask 4
watched '[(x["uuid"], x["lost"], x["used"]) for x in g]' \
    "[('GPU-0', False, 0), ('GPU-x', True, -1)]" \
    'one is lost and keeps its name; one has gone'
{
	echo gpu
	i=0
	while [ $i -lt 250 ]; do
		echo "xid $((i % 50))"
		i=$((i + 1))
	done
} | gpus
ask 5
watched 'len(l["faults"])' 250 'a storm of faults'
printf 'gpu\ncount 999\n' | gpus
ask 6
watched 'l["source"], l["why"], g' "('none', 'fake error 999', [])" \
    'a driver that answers no more'
echo 'init 999' | gpus
ask 7
watched 'l["source"], l["why"]' "('none', 'fake error 999')" \
    '… and cannot be opened again: not known'
echo 'gpu uuid=GPU-again' | gpus
ask 8
watched 'l["source"], g[0]["uuid"]' "('nvml', 'GPU-again')" '… until it can'
printf 'look 9\nlook 10\n' >&8
IFS= read -r look <&9
IFS= read -r look <&9
watched 'l["seq"]' 10 'each question has its answer'
exec 8>&-
ok 'it leaves at the end of its input' reap "$child"
exec 9<&-

# Without a question it closes NVML: then a driver that would not open any more
# is seen.
echo gpu | gpus
watch_start 0
ask 1
watched 'l["source"]' nvml 'open'
printf 'gpu\ninit 18\n' | gpus
closed() {
	ask 2
	[ "$(printf '%s' "$look" | of 'l["source"]')" = none ]
}
ok 'closed when nobody asks' retry closed
exec 8>&- 9<&-
echo gpu | gpus
watch_start
ask 1
printf 'gpu\ninit 18\n' | gpus
ask 2
watched 'l["source"]' nvml 'but kept open for a while'
exec 8>&- 9<&-

# A driver that is upgraded brings another library.
cp "$TOP_BUILDDIR/tests/fake-old/libnvidia-ml.so.1" lib.so
echo gpu | gpus
HPOTUNE_NVML=$dir/lib.so watch_start
ask 1
watched 'g[0]["name"]' '' 'the old library'
cp "$TOP_BUILDDIR/tests/fake/libnvidia-ml.so.1" lib.new && mv lib.new lib.so
echo 'count 18' | gpus
ask 2
watched 'l["source"], l["why"][:20]' "('none', 'the loaded NVIDIA dr')" \
    'is not of the driver any more'
echo gpu | gpus
ask 3
watched 'g[0]["name"]' Fake 'the new one is'
exec 8>&- 9<&-

# Probes.
HPOTUNE_CUDA=$TOP_BUILDDIR/tests/fake/libcuda.so.1
export HPOTUNE_CUDA
gpus <<'END'
gpu
gpu error=15
gpu cuda=init:802
gpu cuda=context:2
gpu cuda=memory:2
gpu cuda=copy:700
gpu cuda=module:218
gpu cuda=launch:719
gpu cuda=sync:719
gpu cuda=corrupt:0
gpu cuda=forget:0
gpu mig
slice
END
probed() { # uuid status clause
	got=$(timeout 300 "$HPOTUNE_GPU" probe "$1")
	is "$? $got" "$2 $3" "probe $1: $3"
}
probed GPU-0 0 ''
probed GPU-1 1 'CUDA cannot start: CUDA_ERROR_FAKE_999 (999)'
probed GPU-2 1 'CUDA cannot start: CUDA_ERROR_FAKE_802 (802): is the Fabric Manager of NVIDIA running?'
probed GPU-3 1 'CUDA cannot use it: CUDA_ERROR_FAKE_2 (2)'
probed GPU-4 1 'CUDA cannot have 64 MiB of its memory: CUDA_ERROR_FAKE_2 (2)'
probed GPU-5 1 'CUDA cannot write its memory: CUDA_ERROR_FAKE_700 (700)'
probed GPU-6 1 'CUDA cannot load a kernel: CUDA_ERROR_FAKE_218 (218)'
probed GPU-7 1 'CUDA cannot run a kernel: CUDA_ERROR_FAKE_719 (719)'
probed GPU-8 1 'CUDA cannot run a kernel: CUDA_ERROR_FAKE_719 (719)'
probed GPU-9 1 'it computes wrong sums'
probed GPU-10 1 'its memory returns other data than was written'
probed MIG-0 0 ''
probed GPU-none 1 'CUDA does not find it'
probed GPU-0,GPU-1 1 'not the UUID of a GPU'
HPOTUNE_CUDA=$dir/none
like "$("$HPOTUNE_GPU" probe GPU-0)" '^CUDA cannot be opened: ' 'no CUDA'

for bad in 'look' 'look x' 'look -1' 'look 1 2' 'see 1' ''; do
	echo "$bad" >question
	fails "nonsense is refused: \"$bad\"" 1 \
	    quietly timeout 300 "$HPOTUNE_GPU" watch <question
done
fails 'no command' 2 quietly "$HPOTUNE_GPU"
fails 'another command' 2 quietly "$HPOTUNE_GPU" look

# Who is stuck in a driver goes with whoever asked.
echo 'hang init' | gpus
background asker sh -c '"$HPOTUNE_GPU" list & echo $! >stuck; wait'
retry test -s stuck
ok 'somebody is in the driver' \
    retry grep -q fake/libnvidia-ml "/proc/$(cat stuck)/maps"
kill -9 "$child"
reap "$child" 2>/dev/null
gone() { # pid: it is not there, or nobody has reaped it
	[ -z "$(cat "/proc/$1/cmdline" 2>/dev/null | tr -d '\0')" ]
}
ok 'and not for long' retry gone "$(cat stuck)"

done_testing
