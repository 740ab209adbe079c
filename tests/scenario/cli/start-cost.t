#!/bin/sh
# What starting costs a trial of Python: measured by hpotune try, from what attempts
# have shown in hpotune status and check.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"

need python3
need sqlite3

dir=$PWD
mkdir lib prog
cat >lib/slow.py <<'END'
import time
time.sleep(0.4)
print("a text that a module prints")
END
cat >lib/absent_is_fine.py <<'END'
raise ImportError("as of an optional package")
END
cat >lib/threaded.py <<'END'
import threading, time
threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
END
cat >prog/own.py <<'END'
import slow
END
cat >prog/train.py <<'END'
import own
try:
    import absent_is_fine
except ImportError:
    pass
def never():
    import no_module_that_is_there
print("hpotune: step=1 score=1")
END
study() { # name script more
	cat >"$1.json" <<END
{ "study": "$1",
  "objective": { "metric": "score", "goal": "maximize" },
  "parameters": { "x": { "type": "float", "min": 0, "max": 1 } },
  "strategy": { "name": "random", "seed": 1 }, "stopping": "none",
  "trial": { "command": ["python3", "prog/$2", "{x}"],
      "env": { "PYTHONPATH": "$dir/lib" } $3 },
  "limits": { "trials": 2, "parallel": 1 } }
END
}

study cold train.py ''
like "$("$HPOTUNE" check cold.json)" '^starts     cold; hpotune try measures' \
    'check says how to measure it'
ok 'a trial is tried' eval '"$HPOTUNE" try cold.json >out'
like "$(cat out)" '^start: importing [0-9]+ modules takes [0-9.]+ s .*: "warm": true saves it in each trial$' \
    'and what its imports cost'
"$HPOTUNE" try --json cold.json >out
json() { # expression of d
	python3 -c 'import json, sys; d = json.load(open("out")); print(eval(sys.argv[1]))' "$1"
}
is "$(json '[d["imports"]["seconds"] >= 0.4, d["imports"]["modules"] >= 1,
    d["imports"]["why_cold"]]')" '[True, True, None]' \
    'those of a module of its own folder too, in JSON'
study warm train.py ', "warm": true'
ok 'a warm one is tried' eval '"$HPOTUNE" try warm.json >out'
like "$(cat out)" '^start: importing [0-9]+ modules takes .*, which later trials do not wait for$' \
    'says what the others are spared'
sed 's/import own/import own, threaded/' prog/train.py >prog/threads.py
study threads threads.py ''
ok 'a program with a thread' eval '"$HPOTUNE" try threads.json >out'
like "$(cat out)" 'no trial can start warm: the modules start 1 threads?$' 'is told that it cannot'
printf 'print("hpotune: step=1 score=1")\n' >prog/small.py
study small small.py ''
ok 'a program without imports' eval '"$HPOTUNE" try small.json >out'
like "$(cat out)" 'importing 0 modules .*: warm starts would save little$' 'has little to save'
study shell train.py ''
sed -i 's/"python3", "prog.train.py"/"sh", "-c", "echo hpotune: step=1 score=1"/' shell.json
ok 'no Python' eval '"$HPOTUNE" try shell.json >out'
unlike "$(cat out)" '^start: ' 'no line'
unlike "$("$HPOTUNE" check shell.json)" '^starts ' 'nor in check'

# What attempts have shown.
ok 'a cold study' "$HPOTUNE" start -q cold.json
like "$("$HPOTUNE" status cold.db)" 'cold starts: a trial takes [0-9.]+ s to its first report, of ' \
    'its status has the wait'
like "$("$HPOTUNE" check cold.json)" '^starts     cold starts: a trial takes ' 'check, too'
study list train.py ', "warm": ["slow"]'
cat >prog/train.py <<'END'
import os, sqlite3, time
import slow
home = os.environ["HPOTUNE_PARAMS"].partition("/trials/")[0]
with sqlite3.connect(f"file:{home[:-2]}.db?mode=ro", uri=True) as db:
    while not db.execute("SELECT 1 FROM events WHERE text LIKE 'warm starts: %'").fetchone():
        time.sleep(0.01)
print("hpotune: step=1 score=1")
END
ok 'a warm study' "$HPOTUNE" start -q list.json
like "$("$HPOTUNE" status list.db | tr -d '\n')" 'warm starts: 1 modules? (is|are) imported once, which takes' \
    'its status says what was saved'
"$HPOTUNE" status --json list.db >out
like "$(json 'd["start"]')" '^warm starts: 1 modules are imported once' \
    'in JSON'

done_testing
