#!/bin/sh
# What stands before a program: whatever it is, the program hears a stop once, has
# its grace, and writes its checkpoint; what it prints meanwhile arrives.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3 python3

# It takes longer than any wait of ours for one that may have heard already.
cat >program.py <<'END'
import os, signal, sys, time

folder = os.environ["HPOTUNE_CHECKPOINT_DIR"]
def term(*_):
    with open(folder + "/heard", "a") as f:
        f.write("heard\n")
    time.sleep(2.5)
    if "SCREEN" in os.environ:
        os.kill(int(os.environ["SCREEN"]), 0)
    print("hpotune: step=9 loss=9", flush=True)
    with open(folder + "/saved", "w") as f:
        f.write("saved\n")
    sys.exit(1)
signal.signal(signal.SIGTERM, term)
print("hpotune: step=1 loss=1", flush=True)
time.sleep(1000)
END

all=
wrap() { # name [interpreter]: the text is the input
	all="$all $1"
	{
		echo "#!${2-/bin/sh}"
		cat
	} >"wrap-$1"
	chmod +x "wrap-$1"
}
where() { # program …: all of them are installed
	for one; do
		command -v "$one" >/dev/null && continue
		diag "not tried: $one is not installed"
		return 1
	done
}

# Nothing stays before it.
wrap exec <<'END'
exec python3 program.py
END
wrap nohup <<'END'
exec nohup env A=1 nice -n 1 python3 program.py
END
wrap stdbuf <<'END'
exec stdbuf -oL python3 program.py
END
# Shells die of the signal and pass nothing on.
wrap sh <<'END'
exec sh -c 'true; python3 program.py; true'
END
wrap nested <<'END'
sh -c "sh -c 'true; python3 program.py; true'; true"
true
END
wrap behind <<'END'
python3 program.py &
wait
END
wrap tee <<'END'
exec sh -c 'python3 program.py 2>&1 | cat | tee printed'
END
wrap make <<'END'
printf 'all:\n\ttrue; python3 program.py; true\n' >"$HPOTUNE_OUTPUT_DIR/m"
exec make -f "$HPOTUNE_OUTPUT_DIR/m"
END
where make || all=${all% make}
# Programs that run another one without a thought of signals.
wrap python "$(command -v python3)" <<'END'
import subprocess
subprocess.run("true; python3 program.py; true", shell=True)
END
wrap xargs <<'END'
echo program.py | xargs -n 1 python3
END
# They pass it on themselves: to the program, or to the whole group.
wrap timeout <<'END'
exec timeout 1000 python3 program.py
END
wrap timeout-sh <<'END'
exec timeout 1000 sh -c 'true; python3 program.py; true'
END
wrap timeout-foreground <<'END'
exec timeout --foreground 1000 sh -c 'true; python3 program.py; true'
END
wrap forwards <<'END'
trap 'kill -TERM $p' TERM
python3 program.py & p=$!
wait $p
trap - TERM
wait $p
END
wrap forwards-and-ends <<'END'
trap 'kill -TERM $p; exit' TERM
python3 program.py & p=$!
wait $p
END
# A shell waits for the program before it runs its trap.
wrap traps <<'END'
trap 'echo bye' TERM
python3 program.py
true
END
wrap traps-tee <<'END'
trap 'echo bye' TERM
python3 program.py | tee printed
true
END
wrap ignores <<'END'
trap '' TERM
python3 program.py
true
END
# What holds a terminal takes it away when it ends.
wrap script <<'END'
exec script -q -c 'true; python3 program.py; true' "$HPOTUNE_OUTPUT_DIR/script"
END
where script || all=${all% script}
wrap pty "$(command -v python3)" <<'END'
import pty
pty.spawn(["sh", "-c", "true; python3 program.py; true"])
END
# They kill what they run a moment after they have passed the signal on.
wrap su <<'END'
exec su -s /bin/sh "$(id -un)" -c "cd '$PWD' && python3 program.py; true"
END
[ "$(id -u)" = 0 ] && where su || all=${all% su}
# A wrapper that tells the group that it has made: the shell dies of it, and the
# program, which has heard it, is not told again while it saves.
wrap group "$(command -v python3)" <<'END'
import os, signal, subprocess, sys
program = subprocess.Popen("true; python3 program.py; true", shell=True,
                           start_new_session=True)
signal.signal(signal.SIGTERM, lambda *_: os.killpg(program.pid, signal.SIGTERM))
program.wait()
END
# Handlers that make subprocess.call() kill the program, or that pass nothing on.
wrap raises "$(command -v python3)" <<'END'
import signal, subprocess, sys
def term(*_):
    raise KeyboardInterrupt
signal.signal(signal.SIGTERM, term)
subprocess.call([sys.executable, "program.py"])
END
wrap forgets "$(command -v python3)" <<'END'
import signal, subprocess, sys
signal.signal(signal.SIGTERM, lambda *_: None)
subprocess.run([sys.executable, "program.py"])
END
# One that looks again and again, and kills it in a handler.
wrap looks "$(command -v python3)" <<'END'
import signal, subprocess, sys, time
program = subprocess.Popen([sys.executable, "program.py"])
def term(*_):
    program.kill()
    sys.exit(1)
signal.signal(signal.SIGTERM, term)
while program.poll() is None:
    time.sleep(0.1)
END
# Where the system does not say what a process of ours waits for, they are as before.
sleep 9 &
cat /proc/$!/syscall >/dev/null 2>&1 || all=${all% raises forgets looks}
kill $!
wait $! 2>/dev/null
# The kernel of a notebook ends with the process that has started it.
cat >kernel.py <<'END'
import os, runpy, threading, time
parent = os.getppid()
def look():
    while os.getppid() == parent:
        time.sleep(0.1)
    os._exit(1)
threading.Thread(target=look, daemon=True).start()
runpy.run_path("program.py")
END
wrap notebook "$(command -v python3)" <<'END'
import subprocess, sys
subprocess.run([sys.executable, "kernel.py", "ipykernel_launcher"],
               start_new_session=True)
END
wrap fakeroot <<'END'
fakeroot python3 program.py
true
END
where fakeroot && fakeroot true || all=${all% fakeroot}
wrap gdb <<END
exec gdb -q -batch -ex 'handle SIGTERM nostop pass' -ex run \\
    --args '$(python3 -c 'import sys; print(sys.executable)')' program.py
END
where gdb && gdb -q -batch -ex run --args sleep 0 2>&1 | grep -q 'exited normally' ||
    all=${all% gdb}
# Who shows a file, or a FIFO, ends after those that write to it.
wrap fifo <<'END'
mkfifo "$HPOTUNE_OUTPUT_DIR/fifo"
cat "$HPOTUNE_OUTPUT_DIR/fifo" &
python3 program.py >"$HPOTUNE_OUTPUT_DIR/fifo"
END
wrap tail <<'END'
: >"$HPOTUNE_OUTPUT_DIR/printed" # tail ends where there is none
nohup python3 program.py >"$HPOTUNE_OUTPUT_DIR/printed" 2>&1 &
tail -s 0.1 --pid=$! -f "$HPOTUNE_OUTPUT_DIR/printed"
END
# Those who pass on what the program prints end after it, and so does a display.
wrap relay "$(command -v python3)" <<'END'
import subprocess
program = subprocess.Popen("true; python3 program.py; true", shell=True,
                           stdout=subprocess.PIPE, text=True)
for line in program.stdout:
    print(line, end="", flush=True)
program.wait()
END
# A pair of sockets in the place of a pipe, as Node makes it.
wrap sockets "$(command -v python3)" <<'END'
import socket, subprocess
here, there = socket.socketpair()
subprocess.Popen("true; python3 program.py; true", shell=True, stdout=there)
there.close()
for line in here.makefile():
    print(line, end="", flush=True)
END
wrap ninja <<'END'
cat >"$HPOTUNE_OUTPUT_DIR/n" <<N
rule run
  command = python3 program.py
  pool = console
build all: run
N
exec ninja -f "$HPOTUNE_OUTPUT_DIR/n"
END
where ninja || all=${all% ninja}
cp "$(command -v sleep)" Xvfb
wrap screen <<'END'
./Xvfb 1000 &
SCREEN=$! python3 program.py
true
END
wrap unshare <<'END'
exec unshare -f python3 program.py
END
unshare -f true 2>/dev/null || all=${all% unshare}
if where bash; then
	wrap bash /bin/bash <<'END'
true
python3 program.py
true
END
	wrap bash-log /bin/bash <<'END'
exec > >(tee printed) 2>&1
python3 program.py
true
END
	wrap bash-exit /bin/bash <<'END'
trap 'echo bye' EXIT
python3 program.py
true
END
	wrap bash-coproc /bin/bash <<'END'
coproc P { python3 program.py; }
# Of its own: a shell that is late closes the other one when the program has ended.
exec 5<&"${P[0]}"
while read -r line <&5; do echo "$line"; done
END
	wrap bash-forwards /bin/bash <<'END'
trap 'kill -TERM $p' TERM
python3 program.py & p=$!
wait $p
wait $p
END
	wrap bash-group /bin/bash <<'END'
trap exit TERM
trap 'kill 0' EXIT
python3 program.py & p=$!
wait $p
END
fi

list() { # format: every wrapper through it, parted by commas
	for w in $all; do
		printf "$1," "$w"
	done | sed 's/,$//'
}
n=$(echo $all | wc -w)
cat >wrap.json <<END
{ "study": "wrap",
  "objective": { "metric": "loss", "goal": "minimize" },
  "parameters": { "w": { "type": "choice", "values": [$(list '"%s"')] } },
  "enqueue": [$(list '{ "w": "%s" }')],
  "strategy": "random", "stopping": "none",
  "trial": { "command": ["./wrap-{w}"], "grace": "16s" },
  "limits": { "trials": $n, "parallel": $n } }
END
server wrap.json
ok 'all run' retry sql_is wrap.db 'SELECT count(DISTINCT trial) FROM metrics' $n
quietly "$HPOTUNE" stop wrap.db
reap $server
number() { # wrapper
	sql wrap.db "SELECT trial FROM results WHERE w = '$1'"
}
for w in $all; do
	trial=wrap.d/trials/$(number $w)
	is "$(cat $trial/checkpoint/heard 2>&1)" heard "$w: it hears the stop, once"
	is "$(cat $trial/checkpoint/saved 2>&1)" saved "$w: it has its grace"
	is "$(sql wrap.db "SELECT count(*) FROM curves WHERE step = 9 AND
	    trial = $(number $w)")" 1 "$w: its last report arrives"
done
is "$(sql wrap.db "SELECT DISTINCT end_class FROM attempts")" user \
    'whatever their exit status, all were stopped' ||
    diag "$(sql wrap.db "SELECT w, attempt, end_class, exit_code, signal,
	attempts.why FROM attempts JOIN results USING (trial)
	WHERE end_class <> 'user'")"

# Those who are not to be told: what a program needs to save its checkpoint, and
# what it starts to save it.
cat >worker.py <<'END'
import os, signal, subprocess, sys, time

folder = os.environ["HPOTUNE_CHECKPOINT_DIR"]
def term(*_):
    uploads = subprocess.run(["sh", "-c", "sleep 0.5; echo up"],
                             stdout=subprocess.PIPE).stdout
    worker.stdin.write(b"save\n")
    worker.stdin.flush()
    with open(folder + "/saved", "wb") as f:
        f.write(uploads + worker.stdout.readline())
    worker.stdin.close()
    worker.wait()
    sys.exit(1)
worker = subprocess.Popen(["sh", "-c", "while read l; do echo $l; done"],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE)
signal.signal(signal.SIGTERM, term)
print("hpotune: step=1 loss=1", flush=True)
time.sleep(1000)
END
# A script of short steps ends by its trap, after the step.
cat >steps.sh <<'END'
#!/bin/sh
trap stop=1 TERM
i=0
while [ -z "${stop-}" ]; do
	i=$((i + 1))
	sleep 0.1 || echo cut >>$HPOTUNE_CHECKPOINT_DIR/cut
	echo "hpotune: step=$i loss=1"
done
echo ended >$HPOTUNE_CHECKPOINT_DIR/saved
END
chmod +x steps.sh
for p in 'python3", "worker.py' './steps.sh'; do
	rm -rf wrap.d wrap.db*
	sed -e '/"enqueue"/d' -e 's|\["./wrap-{w}"\]|["'"$p"'"]|' \
	    -e "s/\"limits\": .*/\"limits\": { \"trials\": 1 } }/" \
	    wrap.json >one.json
	server one.json
	ok "$p: it runs" retry sql_is wrap.db \
	    'SELECT count(*) > 0 FROM metrics' 1
	quietly "$HPOTUNE" stop wrap.db
	reap $server
	case $p in
	py*) is "$(cat wrap.d/trials/1/checkpoint/saved)" 'up
save' 'its worker and its helper are left alone' ;;
	*) is "$(cd wrap.d/trials/1/checkpoint && ls)" saved \
	    'no step is cut' ;;
	esac
done

done_testing
