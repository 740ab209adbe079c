#!/bin/sh
# Warm starts: an interpreter that has imported before becomes each trial, which
# sees and does what one that python has started does; whatever is in the way of
# that, the trial starts cold, and once.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3 python3

# What a library is to trials: each import of it is a line.
mkdir lib
cat >lib/slow.py <<'END'
import os, random, sys
if "IMPORTS" in os.environ:
    with open(os.environ["IMPORTS"], "a") as f:
        f.write("%d\n" % os.getpid())
import decimal, logging, multiprocessing, threading  # noqa
sys.stderr.flush()
def value():
    return 42
END
export PYTHONPATH="$dir/lib"

# A program that does in each trial something else, and is a library of itself.
mkdir prog
cat >prog/own.py <<'END'
import os
count = 0
class Thing:
    def __init__(self, name):
        self.name = name
    def __del__(self):
        print("end of", self.name)
END
cat >prog/train.py <<'END'
"""The words of the program."""
import argparse
import atexit
import os
import pickle
import random
import signal
import sys
import threading
import time

import slow
import own


def square(x):
    return x * x


class Kept:
    pass


def deep(n):
    if n == 0:
        raise ValueError("deep\nand long")
    deep(n - 1)


def ready():
    """Until the warm process of the study, if it has one, can be used."""
    import sqlite3
    home = os.environ["HPOTUNE_PARAMS"].partition(".d/trials/")[0]
    while os.path.isdir(home + ".d/warm"):
        try:
            with sqlite3.connect(f"file:{home}.db?mode=ro", uri=True) as db:
                if db.execute("SELECT 1 FROM events WHERE text LIKE "
                              "'warm starts: %'").fetchone():
                    break
        except sqlite3.Error:
            pass
        time.sleep(0.01)


def facts():
    print(sys.argv, __file__, __name__, __spec__, __package__, __doc__)
    print(type(__loader__).__name__, getattr(__loader__, "path", None))
    print(__builtins__, sys.flags, sys.path[0], os.getcwd(), sys.executable)
    print(sorted(globals()), getattr(sys, "orig_argv", None))
    print(sys.modules["__main__"].__dict__ is globals(), sys.warnoptions)
    print(repr(sys.stdin.read()), sys.stdout, sys.stdout.encoding,
          sys.stdout.line_buffering, sys.stdout.write_through,
          sys.stdout.isatty(), sys.stderr)
    print({k: v for k, v in sorted(os.environ.items())
           if k not in ("HPOTUNE_ATTEMPT_UUID", "_", "SHLVL")})
    fds = [f for f in os.listdir("/proc/self/fd") if int(f) < 100]
    print(fds, [os.readlink("/proc/self/fd/%d" % f) for f in range(3)])
    with open("/proc/self/status") as f:
        print([l for l in f if l.startswith(("Sig", "Threads", "Cpus_al"))
               and not l.startswith("SigQ")])
    os.umask(os.umask(0o22))
    print(os.umask(0o22), os.getpgid(0) == os.getpid(),
          os.getsid(0) == os.getppid(), os.nice(0), threading.active_count(),
          threading.main_thread() is threading.current_thread())
    for name in ("oom_score_adj", "limits", "cgroup"):
        with open("/proc/self/" + name) as f:
            print(f.read())
    print(os.path.basename(os.readlink("/proc/%d/exe" % os.getppid())))
    with open("/proc/self/environ", "rb") as f:
        marks = f.read().split(b"\0")
    for name in ("HPOTUNE_ATTEMPT_UUID", "HPOTUNE_PARAMS"):
        print((name + "=" + os.environ[name]).encode() in marks)
    with open("/proc/self/cmdline", "rb") as f:
        words = f.read().split(b"\0")
    print([os.path.basename(w) for w in words if w])
    print(pickle.loads(pickle.dumps(Kept())).__class__ is Kept)
    print(open(__file__).readline(), slow.value(), own.count)
    try:
        os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        print("has no child")


def pools():
    import multiprocessing
    del os.environ["IMPORTS"]
    for method in "fork", "spawn", "forkserver":
        with multiprocessing.get_context(method).Pool(2) as pool:
            print(method, pool.map(square, range(5)))
    p = multiprocessing.Process(target=print, args=("process",))
    p.start()
    p.join()
    print(p.exitcode)


def ends():
    global thing, kept, file
    thing = own.Thing("a global")
    kept = [own.Thing("one in a cycle")]
    kept.append(kept)
    file = open(os.environ["HPOTUNE_OUTPUT_DIR"] + "/text", "w")
    file.write("written and not closed")
    atexit.register(print, "at exit", file=sys.stderr)
    def late():
        time.sleep(0.2)
        print("a thread", own.count)
    threading.Thread(target=late).start()
    threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
    own.count = 7


def forks():
    pid = os.fork()
    if pid:
        os.waitpid(pid, 0)
        print("parent")
    else:
        print("child")


def hook(kind, value, trace):
    print("hook", kind, value, trace.tb_lineno)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--mode")
    parser.add_argument("--x", type=float)
    args = parser.parse_args()
    mode = args.mode
    print(f"hpotune: step=1 score={args.x + slow.value()}")
    own.count += 1
    if mode == "await": ready()
    if mode == "facts": facts()
    if mode == "pools": pools()
    if mode == "ends": ends()
    if mode == "forks": forks()
    if mode == "text": sys.exit("a text\nof two lines")
    if mode == "three": sys.exit(3)
    if mode == "large": sys.exit(256 + 7)
    if mode == "none": sys.exit()
    if mode == "true": sys.exit(True)
    if mode == "list": sys.exit([1])
    if mode == "at-once": os._exit(5)
    if mode == "exec": os.execv("/bin/sh", ["sh", "-c", "exit 9"])
    if mode == "signal": os.kill(os.getpid(), signal.SIGUSR2)
    if mode == "term": os.kill(os.getpid(), signal.SIGTERM)
    if mode == "interrupt": raise KeyboardInterrupt("by hand")
    if mode == "abort": os.abort()
    if mode == "error": deep(3)
    if mode == "generator": raise StopIteration
    if mode == "hook":
        sys.excepthook = hook
        deep(1)
    if mode == "caused":
        try:
            deep(2)
        except ValueError as e:
            raise RuntimeError("from it") from e
    if mode == "exit-in-atexit": atexit.register(deep, 0)
    if mode == "closed": sys.stdout.close()
    if mode == "usage": parser.parse_args(["--none"])
    if mode == "random":
        with open(os.environ["RANDOM_FILE"], "a") as f:
            f.write("%r\n" % random.random())


if __name__ == "__main__":
    main()
END

modes='plain await facts pools ends forks text three large none true list at-once exec
signal term interrupt abort error generator hook caused exit-in-atexit closed usage
random random again'
values=$(printf '"%s", ' $(printf '%s\n' $modes | sort -u))
enqueue=$(n=0; for mode in $modes; do n=$((n + 1))
	printf '{ "mode": "%s", "x": 0.%d }, ' $mode $n; done)
study() { # name command-words more
	cat >"$1.json" <<END
{ "study": "$1",
  "objective": { "metric": "score", "goal": "maximize" },
  "parameters": { "x": { "type": "float", "min": 0, "max": 1 },
      "mode": { "type": "choice", "values": [${values%, }] } },
  "strategy": { "name": "random", "seed": 1 }, "stopping": "none",
  "enqueue": [${enqueue%, }],
  "trial": { "command": [$2, "--mode={mode}", "--x={x}"], "retries": 0,
      "workdir": "prog", "grace": "10s",
      "env": { "IMPORTS": "$dir/imports.$1", "RANDOM_FILE": "$dir/random.$1" }
      $3 },
  "limits": { "trials": $(printf '%s\n' $modes | wc -l), "parallel": 1 } }
END
}
results() { # study
	sql "$1.db" 'SELECT trial, trials.state, objective, a.state, exit_code,
	    signal, end_class, a.reports FROM trials JOIN attempts AS a
	    USING (trial)'
}
logs() { # study: what differs by the name, and addresses, made the same
	for log_n in $(seq 1 "$(printf '%s\n' $modes | wc -l)"); do
		echo "== $log_n"
		sed "s/0x[0-9a-f]*/0x/g; s/pid=[0-9]*/pid=/g
		    s/$1\.d/STUDY.d/g; s/\.$1'/.STUDY'/g; s/'$1'/'STUDY'/g
		    s/hpotune-[0-9a-f-]*/hpotune-UUID/g" \
		    "$1.d/trials/$log_n/attempt-1/log"
	done
}
same() { # warm cold what
	results "$1" >"$1.results"
	results "$2" >"$2.results"
	logs "$1" >"$1.logs"
	logs "$2" >"$2.logs"
	ok "$3: the same results" diff "$2.results" "$1.results"
	ok "$3: the same output" diff "$2.logs" "$1.logs"
}

study cold '"python3", "train.py"' ''
ok 'a study starts each trial' "$HPOTUNE" start -q cold.json
study warm '"python3", "train.py"' ', "warm": true'
ok 'and another one warm' "$HPOTUNE" start -q warm.json
same warm cold 'a script'
notes() { # study
	sql "$1.db" "SELECT text FROM events"
}
like "$(notes warm)" '^warm starts: [0-9]+ modules' 'its modules were learnt'
unlike "$(notes warm)" 'cold' 'no trial started cold'
n=$(wc -l <imports.cold)
is "$(wc -l <imports.warm)" $((n - $(printf '%s\n' $modes | wc -l) + 1)) \
    'only the warm process imports, before the first trial'
is "$(sort -u random.warm | wc -l)" 2 'each trial has its own random numbers'
is "$(cat warm.d/trials/5/output/text)|$(cat cold.d/trials/5/output/text)" 'written and not closed|written and not closed' \
    'a file that is not closed is written'

# As a module of a package in the working folder, with options of the interpreter.
mkdir prog/pack
touch prog/pack/__init__.py
ln -s ../train.py prog/pack/train.py
study mcold '"python3", "-u", "-W", "ignore", "-O", "-m", "pack.train"' ''
ok 'a study of a module' "$HPOTUNE" start -q mcold.json
study mwarm '"python3", "-u", "-W", "ignore", "-O", "-m", "pack.train"' ', "warm": true'
ok 'and a warm one' "$HPOTUNE" start -q mwarm.json
same mwarm mcold 'a module'
unlike "$(notes mwarm)" cold 'all started warm'

# Scripts that cannot run say what python says.
small() { # name script more-of-trial trials
	cat >"$1.json" <<END
{ "study": "$1",
  "objective": { "metric": "score", "goal": "maximize" },
  "parameters": { "x": { "type": "float", "min": 0, "max": 1 } },
  "strategy": { "name": "random", "seed": 1 }, "stopping": "none",
  "trial": { "command": ["python3", "$2", "{x}"], "retries": 0,
      "env": { "IMPORTS": "$dir/imports.$1" } $3 },
  "limits": { "trials": $4, "parallel": 1, "failed_trials": 100 } }
END
}
printf 'import slow\nprint(1\nx = = 2\n' >broken.py
for script in broken.py absent.py lib; do
	name=${script%.py}
	small "$name-warm" $script ', "warm": ["slow"]' 2
	small "$name-cold" $script '' 2
	quietly "$HPOTUNE" start -q "$name-warm.json"
	quietly "$HPOTUNE" start -q "$name-cold.json"
	is "$(cat "$name-warm.d/trials/2/attempt-1/log")" \
	    "$(cat "$name-cold.d/trials/2/attempt-1/log")" "$script: the same error"
	is "$(sql "$name-warm.db" 'SELECT exit_code FROM attempts')" \
	    "$(sql "$name-cold.db" 'SELECT exit_code FROM attempts')" 'and end'
done

# Files that change: the trial that would have the old one starts cold, and has the
# new one.
cat >change.py <<'END'
import os, sys, time
import slow
def ready(text):
    import sqlite3
    home = os.environ["HPOTUNE_PARAMS"].partition("/trials/")[0]
    with sqlite3.connect(f"file:{home[:-2]}.db?mode=ro", uri=True) as db:
        while not db.execute("SELECT 1 FROM events WHERE text LIKE ?",
                             [text]).fetchone():
            time.sleep(0.01)
trial = int(os.environ["HPOTUNE_TRIAL"])
print("hpotune: step=1 score=%s" % slow.value())
if trial == 1:
    ready("warm starts: %")
if trial == 3:
    with open("lib/slow.py", "a") as f:
        f.write("def value():\n    return 43\n")
END
cp lib/slow.py slow.kept
small change change.py ', "warm": ["slow", "no_such_module"]' 6
ok 'a module changes while a study runs' "$HPOTUNE" start -q change.json
cp slow.kept lib/slow.py
is "$(sql change.db 'SELECT group_concat(objective) FROM trials')" \
    42.0,42.0,42.0,43.0,43.0,43.0 'the trials after it have the new one'
like "$(notes change)" '^a trial starts cold: .*/lib/slow.py has changed$' \
    'and the reason is recorded'
is "$(notes change | grep -c 'a trial starts cold')" 1 'once'
like "$(cat change.d/warm/log)" 'not imported: no_such_module' \
    'a module that is not there is told in the log'

# What the text of a program says is imported before the first trial, and what only a
# trial shows after that one; what it does not import, or tries in vain, is not.
sed 's/IMPORTS/LATER/' slow.kept >lib/later.py
mkdir prog/parts
cat >prog/parts/__init__.py <<'END'
from .inner import value
END
cat >prog/parts/inner.py <<'END'
from __future__ import annotations
try:
    import no_such_module
except ImportError:
    from slow import value
if False:
    import antigravity
END
cat >prog/shows.py <<'END'
import os
from parts import value
import parts.inner
def late():
    import later
    return later.value()
if __name__ == "__main__":
    import decimal as d, slow as s
    print("hpotune: step=1 score=%d" % (s.value() + value() + late()))
END
small shows prog/shows.py ', "warm": true' 6
sed -i "s|\"env\": {|& \"LATER\": \"$dir/later.shows\",|; s/\"parallel\": 1/\"parallel\": 2/" shows.json
ok 'a program of several files' "$HPOTUNE" start -q shows.json
is "$(wc -l <imports.shows)" 1 'what it imports first, no trial imports'
ok 'what it imports later, those that show it' test "$(wc -l <later.shows)" -le 3
is "$(sql shows.db 'SELECT sum(objective) FROM trials')" 756.0 'all have it'
like "$(cat shows.d/warm/modules)" '^later$' 'and the next server knows it'
unlike "$(cat shows.d/warm/log)" antigravity 'a branch that is not taken is not'

# What a program does before it imports: variables of its text are set for the import,
# too; after anything else each trial imports by itself, as a cold one does.
cat >lib/mode.py <<'END'
import os
with open(os.environ["IMPORTS"], "a") as f:
    f.write("mode\n")
MODE = int(os.environ.get("MODE", 0)) + 10 * int(os.environ.get("MORE", 0))
END
cat >lib/speaks.py <<'END'
import logging
logging.info("imported")
MODE = 3
END
mkdir -p other sets/parts
echo 'MODE = 70' >other/mode.py
cat >sets/__init__.py <<'END'
import os
os.environ["MODE"] = "%d" % 5
END
echo 'value = 1' >sets/parts/__init__.py
cat >aside.py <<'END'
import os
if __name__ == "__main__":
    os.environ["MODE"] = "9"
END
program() { # name: standard input does something and imports mode
	{ echo 'import logging, os'; cat
	echo 'print("hpotune: step=1 score=%d" % mode.MODE)'; } >"$1.py"
	small $1 $1.py ', "warm": true' 3
	small $1-cold $1.py '' 1
	programs="$programs $1"
}
programs=
program texts <<'END'
print("MODE" in os.environ, os.environ.get("MORE"))
END
program text <<'END'
os.environ["MODE"] = "1"
os.environ.setdefault("MORE", "2")
logger = logging.getLogger(__name__)
size: int = int(os.environ.get("WORLD_SIZE", 1))
class Options:
    def method(self):
        os.environ["MODE"] = "6"
import mode
print(os.environ.get("MORE"), logging.root.level)
END
sed -i '/^print("MODE"/d; $d' texts.py
cat text.py >>texts.py
sed -i 's/^import logging, os$/&\nprint(os.environ.get("MODE"), os.environ.get("MORE"))/' texts.py
program computed <<'END'
os.environ["MODE"] = str(len("1"))
import mode
END
program called <<'END'
def setup():
    os.environ["MODE"] = "4"
setup()
import mode
END
program paths <<'END'
import sys; sys.path.insert(0, "other")
import mode
END
program tried <<'END'
try:
    import no_such_module
except ImportError:
    os.environ["MODE"] = "2"
import mode
END
program within <<'END'
from unittest import mock
with mock.patch.dict(os.environ, {"MODE": "7"}):
    import mode
END
program parents <<'END'
from sets.parts import value
import mode
END
program branch <<'END'
if os.name == "posix":
    import sets
import mode
END
program main <<'END'
import aside
import mode
END
program late <<'END'
def main():
    global mode
    os.environ["MODE"] = "8"
    import mode
main()
END
program levels <<'END'
logging.basicConfig(level=logging.INFO)
import speaks as mode
print(logging.root.level)
END
program outputs <<'END'
os.environ.setdefault("HPOTUNE_OUTPUT_DIR", "alone")
import mode
print(os.environ["HPOTUNE_OUTPUT_DIR"].split("/")[-1])
END
for way in $programs; do
	quietly "$HPOTUNE" start -q $way.json
	quietly "$HPOTUNE" start -q $way-cold.json
	cold=$(cat $way-cold.d/trials/1/attempt-1/log)
	is "$(for n in 1 2 3; do cat $way.d/trials/$n/attempt-1/log; done)" "$cold
$cold
$cold" "$way.py: each trial as a cold one"
done
is "$(wc -l <imports.text) $(wc -l <imports.computed) $(wc -l <imports.called)" '1 3 3' \
    'a variable of the text is there for the import'
ok 'what the trial has shown besides is known' test -s text.d/warm/modules
ok 'and not where it has changed its surroundings' test ! -e late.d/warm/modules
is "$(for way in $programs; do
    notes $way | grep -o '[a-z_]*\.py:[0-9]* may change what is imported'; done)" \
    'texts.py:2 may change what is imported
computed.py:2 may change what is imported
called.py:4 may change what is imported
paths.py:2 may change what is imported
tried.py:2 may change what is imported
within.py:3 may change what is imported
__init__.py:2 may change what is imported
branch.py:2 may change what is imported
levels.py:2 may change what is imported' 'where it stops is told, if more is imported'
small given computed.py ', "warm": ["mode"]' 3
sed -i 's/"env": {/& "MODE": "1",/' given.json
ok 'with a list' "$HPOTUNE" start -q given.json
is "$(sql given.db 'SELECT group_concat(objective) FROM trials')|$(wc -l <imports.given)" \
    '1.0,1.0,1.0|1' 'it is imported once'

# The number of the processor is kept up to date, and a library that the trial has
# loaded has its end.
cat >ended.c <<'END'
#include <unistd.h>
__attribute__((destructor)) static void
end(void)
{
	(void)!write(2, "ended\n", 6);
}
END
ok 'a library is built' ${CC:-cc} -shared -fPIC -o ended.so ended.c
cat >cores.py <<'END'
import ctypes, os
import slow
libc = ctypes.CDLL(None)
for core in sorted(os.sched_getaffinity(0)):
    os.sched_setaffinity(0, {core})
    if libc.sched_getcpu() != core:
        print("not on", core)
ctypes.CDLL("./ended.so")
print("hpotune: step=1 score=1")
END
small cores cores.py ', "warm": true' 2
ok 'trials on each core' "$HPOTUNE" start -q cores.json
is "$(for n in 1 2; do "$HPOTUNE" logs cores.json $n; done | grep -v hpotune:)" 'ended
ended' 'know which it is, and end what they have loaded'

# Where what makes both processes at once cannot be loaded, they are made in turn.
mkdir turns
cat >turns/sitecustomize.py <<'END'
import ctypes
class PyDLL(ctypes.PyDLL):
    def __init__(self, name, *words, **more):
        if "warm-fork" in str(name):
            with open("refused", "a") as f:
                f.write(name + "\n")
            raise OSError("not here")
        super().__init__(name, *words, **more)
ctypes.PyDLL = PyDLL
END
small turns prog/shows.py ', "warm": true' 6
sed -i "s|\"env\": {|& \"LATER\": \"$dir/later.turns\", \"PYTHONPATH\": \"$dir/turns:$dir/lib\",|" turns.json
ok 'a warm process without it' "$HPOTUNE" start -q turns.json
is "$(wc -l <refused)|$(wc -l <imports.turns)" '1|1' 'imports once, too'
is "$(sql turns.db 'SELECT sum(objective) FROM trials')" 756.0 'its trials are right'
unlike "$(notes turns)" cold 'all started warm'

# The functions that a library has registered for the end of a process, if it was
# imported before the trial.
cat >lib/finisher.py <<'END'
import ctypes, os
fd = -1
@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def at_end(_):
    os.write(fd, b"finished\n")
ctypes.PyDLL(None).__cxa_atexit(at_end, None, None)
END
cat >finish.py <<'END'
import ctypes, os
import slow, finisher
libc = ctypes.PyDLL(None)
@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def own(_):
    os.write(2, b"own\n")
room = ctypes.create_string_buffer(4096)
for thing in own, room:
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(thing))
libc.__cxa_atexit(own, None, None)
stdout = ctypes.c_void_p.in_dll(libc, "stdout")
libc.setvbuf(stdout, room, 0, ctypes.c_size_t(4096))
libc.fputs(b"kept by C\n", stdout)
finisher.fd = 2
if os.environ["HPOTUNE_TRIAL"] == "2":
    finisher.fd = os.open("finished", os.O_WRONLY | os.O_CREAT)
print("hpotune: step=1 score=1")
END
small finish finish.py ', "warm": true' 2
ok 'a library has work at the end' "$HPOTUNE" start -q finish.json
is "$("$HPOTUNE" logs finish.json 1 | grep -v hpotune:)" 'own
kept by C' 'what it frees then is left out, its output is not'
is "$("$HPOTUNE" logs finish.json 2 | grep -v hpotune:)|$(cat finished)" 'own
kept by C|finished' 'with a file that is open it has its turn'

# What it cannot be used for.
cat >lib/threaded.py <<'END'
import threading, time
threading.Thread(target=time.sleep, args=(10000,), daemon=True).start()
END
sed 's/import slow/import slow, threaded/' change.py >threads.py
sed -i 's/"warm starts: %"/"no trial starts warm%"/; s/== 3/== -3/' threads.py
small threads threads.py ', "warm": ["threaded"]' 3
ok 'a module that starts a thread' "$HPOTUNE" start -q threads.json
like "$(notes threads)" 'no trial starts warm any more: the modules start threads' \
    'is no module for a warm start'

# One that starts a thread of its allocator, as pyarrow does, unless it is told not to.
cat >lib/arrow.py <<'END'
import os, threading, time
if not os.environ.get("JE_ARROW_MALLOC_CONF", "").endswith("background_thread:false"):
    threading.Thread(target=time.sleep, args=(10000,), daemon=True).start()
END
cat >arrows.py <<'END'
import os, sys
import slow, arrow
print(os.environ.get("JE_ARROW_MALLOC_CONF"), os.environ.get("MALLOC_CONF"))
print("hpotune: step=1 score=1", flush=True)
os._exit(0)
END
small arrows arrows.py ', "warm": ["slow", "arrow"]' 6
sed -i 's/"env": {/& "MALLOC_CONF": "narenas:1",/' arrows.json
ok 'a module whose allocator has a thread' "$HPOTUNE" start -q arrows.json
is "$(notes arrows | grep -c 'no trial starts warm')" 0 'is one for a warm start'
ok 'which imports it' test "$(wc -l <imports.arrows)" -lt 6
is "$(for n in 1 2 3 4 5 6; do "$HPOTUNE" logs arrows.json $n; done | grep -v ^hpotune: |
    sort -u)" 'None narenas:1' 'and the environment of trials is as it was'

# A stop reaches the program, which has its grace.
cat >stop.py <<'END'
import os, signal, sys, time
import slow
trial = int(os.environ["HPOTUNE_TRIAL"])
told = []
signal.signal(signal.SIGTERM, lambda *_: told.append(1))
print("hpotune: step=1 score=1")
while trial == 2 and not told:
    time.sleep(0.01)
if told:
    print("hpotune: step=2 score=5")
END
small stop stop.py ', "warm": true, "grace": "300s"' 3
server -q stop.json
ok 'a trial runs' retry sql_is stop.db \
    'SELECT count(*) FROM metrics WHERE trial = 2' 1
ok 'it is stopped' quietly "$HPOTUNE" stop stop.db 2
reap $server
is $? 0 'the study ends'
is "$(sql stop.db 'SELECT trial, state, objective FROM trials')" \
    '1|completed|1.0
2|cancelled|5.0
3|completed|1.0' 'the program has heard it, and was waited for'

# An attempt that is killed continues from its checkpoint, as a cold one does.
cat >resume.py <<'END'
import os, signal, sys, time
import slow
def ready(text):
    import sqlite3
    home = os.environ["HPOTUNE_PARAMS"].partition("/trials/")[0]
    with sqlite3.connect(f"file:{home[:-2]}.db?mode=ro", uri=True) as db:
        while not db.execute("SELECT 1 FROM events WHERE text LIKE ?",
                             [text]).fetchone():
            time.sleep(0.01)
path = os.environ["HPOTUNE_CHECKPOINT_DIR"] + "/step"
first = int(open(path).read()) + 1 if os.path.exists(path) else 1
for step in range(first, 7):
    print(f"hpotune: step={step} score={step * float(sys.argv[1])}")
    with open(path + ".new", "w") as f:
        f.write(str(step))
    os.replace(path + ".new", path)
    if step == 3 and first == 1:
        os.kill(os.getpid(), signal.SIGKILL)
if "resume-warm" in os.environ["IMPORTS"] and os.environ["HPOTUNE_TRIAL"] == "1":
    ready("warm starts: %")
END
curves() { # study
	sql "$1.db" "SELECT trial, attempt, step, value FROM metrics ORDER BY 1, 2, 3"
	sql "$1.db" "SELECT trial, attempt, resumed_step, signal FROM attempts"
}
for way in cold warm; do
	small "resume-$way" resume.py '' 3
	sed -i 's/"retries": 0/"retries": 2/' "resume-$way.json"
done
sed -i 's/"trial": {/& "warm": ["slow"],/' resume-warm.json
ok 'a study with checkpoints' "$HPOTUNE" start -q resume-cold.json
ok 'and a warm one' "$HPOTUNE" start -q resume-warm.json
is "$(curves resume-warm)" "$(curves resume-cold)" 'the same curves, from the same steps'
is "$(curves resume-cold | grep -c '|2|4|.')" 3 'each goes on at its fourth step'
is "$(wc -l <imports.resume-cold) $(($(wc -l <imports.resume-warm) < 6))" '6 1' \
    'the warm ones import less'

# Kills of everything, in any moment: each attempt has run once at most, and each
# trial to its end.
cat >ledger.py <<'END'
import os, sys, time
import slow
def note(what):
    fd = os.open("ledger", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(fd, ("%s %s %s\n" % (what, os.environ["HPOTUNE_TRIAL"],
             os.environ["HPOTUNE_ATTEMPT_UUID"])).encode())
    os.close(fd)
note("begin")
for step in range(3):
    time.sleep(0.03)
    print("hpotune: step=%d score=%d" % (step, step))
note("end")
END
cat >killer.py <<'END'
import os, random, signal, sys, time
study, log = sys.argv[1:]
rng = random.Random(7)
def words(pid, what):
    try:
        with open("/proc/%s/%s" % (pid, what), "rb") as f:
            return f.read()
    except OSError:
        return b""
for n in range(60):
    time.sleep(rng.random() * 0.15)
    kinds = {"server": [], "warm": [], "supervisor": [], "trial": []}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        line = words(pid, "cmdline")
        if b"PWD=" + os.getcwd().encode() not in words(pid, "environ"):
            continue
        if b"/warm/hpotune_warm.py" in line:
            kinds["warm"].append(int(pid))
        elif line.startswith(b"hpotune-shim\0"):
            kinds["supervisor"].append(int(pid))
        elif line.endswith(study.encode() + b".json\0"):
            kinds["server"].append(int(pid))
        elif b"\0ledger.py\0" in line:
            kinds["trial"].append(int(pid))
    kind = rng.choice(sorted(kinds))
    if kinds[kind]:
        pid = rng.choice(kinds[kind])
        with open(log, "a") as f:
            f.write("%s %d\n" % (kind, pid))
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
open(log + ".over", "w").close()
END
small kills ledger.py ', "warm": true' 40
sed -i 's/"retries": 0/"retries": 1000/; s/"parallel": 1/"parallel": 3/' kills.json
background killer python3 killer.py kills killed
killer=$child
while :; do
	server -q kills.json
	reap $server 2>/dev/null
	status=$?
	[ $status = 137 ] || break
done
reap $killer
is $status 0 'the last server ends the study'
diag "$(cut -d ' ' -f 1 killed | sort | uniq -c)"
is "$(sql kills.db "SELECT count(*), sum(state = 'completed') FROM trials")" '40|40' \
    'all trials have completed'
is "$(grep ^begin ledger | sort | uniq -d)" '' 'no attempt has run twice'
is "$(grep ^end ledger | cut -d ' ' -f 2 | sort -n | uniq | wc -l)" 40 \
    'each trial has run to its end'
is "$(sql kills.db 'SELECT count(*) FROM metrics GROUP BY trial, attempt, step
    HAVING count(*) > 1')" '' 'no report is there twice'
left() {
	! grep -qaF "IMPORTS=$dir/" /proc/[0-9]*/environ 2>/dev/null
}
ok 'and no process is left' retry left

done_testing
