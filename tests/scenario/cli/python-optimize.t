#!/bin/sh
# hpotune.optimize: a Python function as the program of a study, here and in
# workers; what is killed of it, and what is interrupted.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3 python3
export PYTHONPATH="$TOP_SRCDIR/python"
export PYTHONDONTWRITEBYTECODE=1
mkdir bin
ln -s "$HPOTUNE" bin/hpotune
PATH=$dir/bin:$PATH

python() { # code: what it prints, and its errors in the file err
	printf 'import hpotune, os, sys, time\n%s\n' "$1" >code.py
	timeout 300 python3 code.py 2>err
}
count() { # study condition
	sql "$1.db" "SELECT count(*) FROM trials WHERE $2"
}
twice() { # the attempts that began or ended twice, by the ledger
	sort ledger | uniq -d
}
ledger='
def note(*words):
    with open("ledger", "a") as file:
        file.write(" ".join(map(str, words)) + "\n")
'

# In this process: spaces in short forms, results.
is "$(python '
space = {
    "f": (0.0, 1.0), "l": (1e-5, 0.1, "log"), "s": (0.0, 1.0, 0.25), "n": (1, 9),
    "r": range(2, 11, 4), "c": ["a", None, True], "v": "same",
    "w": {"type": "int", "min": 1, "max": 3}, "when": hpotune.when((0, 9), c="a"),
    "text": hpotune.when([1, 2], "f < 0.5") }
def f(p):
    assert p["when"] in range(10) if p["c"] == "a" else "when" not in p
    assert ("text" in p) == (p["f"] < 0.5) and p["r"] in (2, 6, 10)
    assert type(p["n"]) is int and type(p["f"]) is float and p["v"] == "same"
    return (p["f"] - 0.3) ** 2
study = hpotune.optimize(f, space, trials=12, study="here", strategy="random")
print(study.state["state"], len(study.trials), os.path.exists("here.d/control"))
best = min(study.trials, key=lambda t: t["value"])
print(study.best["trial"] == best["trial"], study.best_value == best["value"],
      study.best_params == best["params"], study.curve(3) == [(1, study.trials[2]["value"])])
print(repr(study).split(";")[0])
page = study._repr_html_()
print(page.count("<tr>"), "<b>here</b>" in page)
print(sorted(study.importance())[:2], [row["trial"] for row in study.front])
print(hpotune.Study("here.db").best == study.best, hpotune.Study("no").best_params
      if os.path.exists("no.db") else hpotune.Study("no"))' || cat err)" \
    "finished 12 False
True True True True
study here: finished: 12 trials: 12 completed
9 True
['c', 'f'] [$(sql here.db 'SELECT best_trial FROM study')]
True study no: no trial yet" 'a function is tried, and has results'
is "$(cat err)" '' 'without a word'
is "$(python '
def f(x, m=7, *, opt, trial):
    assert opt == "a" or m == 7, (opt, m)
    trial.report(1, x)
    return x if opt == "a" or 0 <= x <= 1 else None
space = {"x": (0.0, 1.0), "opt": ["a", "b"], "m": hpotune.when((1, 3), opt="a")}
for parallel in 1, 2:
    study = hpotune.optimize(f, space, trials=6, parallel=parallel,
                             study=f"named{parallel}", strategy="random")
    print(len([t for t in study.trials if t["state"] == "completed"]),
          all(t["value"] == t["params"]["x"] for t in study.trials))' || cat err)" \
    '6 True
6 True' 'one whose arguments are names of parameters gets those'
is "$(sed 1d here.json | python3 -c '
import json, sys
for name, words in list(json.load(sys.stdin)["parameters"].items())[:8]:
    print(name, *words.values())')" "f float 0.0 1.0
l float 1e-05 0.1 log
s float 0.0 1.0 0.25
n int 1 9
r int 2 10 4
c choice ['a', None, True]
v fixed same
w int 1 3" 'of the space as it was written'
is "$(python '
def f(p):
    return p["f"]
print(len(hpotune.optimize(f, {"f": (0.0, 1.0)}, trials=14, study="more",
                           strategy="random").trials))
print(len(hpotune.optimize(f, {"f": (0.0, 1.0)}, trials=16, study="more",
                           strategy="random").trials))')" '14
16' 'the same call with more trials continues'

# Reports, the words of the module, verdicts, results of all kinds.
is "$(python '
def train(params, trial):
    assert hpotune.params() == params == trial.params
    with open(os.path.join(hpotune.checkpoint_dir(), "x"), "a") as file:
        file.write("x")
    for step in range(4):
        if step == 2:
            hpotune.report(2, {"a/b": 7}, loss=step)
            said = "keep"
        else:
            said = trial.report(step, step if trial.number < 3 else 9)
        if said == "stop":
            assert trial.should_stop and hpotune.stopping()
            if trial.number == 3:
                raise hpotune.Stopped
            break
    if trial.number == 5:
        return {"loss": 0.5, "other": 2}
    return None if trial.number == 2 else step
s = hpotune.optimize(train, {"x": (0.0, 1.0)}, trials=5, study="words", metric="loss",
    goal="maximize", stopping={"rule": "threshold", "upper": 5}, strategy="random")
print([(t["state"], t["value"], t["step"]) for t in s.trials], s.best["trial"])
print(os.listdir("words.d/trials/1"), hpotune._now)' || cat err)" \
    "[('completed', 3.0, 3), ('completed', 3.0, 3), ('stopped', 9.0, 0), ('stopped', 0.0, 1), ('stopped', 0.5, 1)] 1
['checkpoint'] None" 'it reports, and is stopped'
is "$(sql words.db "SELECT trial, name, step, value FROM metrics
    WHERE name <> 'loss'")" '1|a/b|2|7.0
2|a/b|2|7.0
5|other|1|2.0' 'by other metrics, too'
is "$(python '
s = hpotune.optimize(lambda p: (p["x"], 1 - p["x"]), {"x": (0.0, 1.0)}, trials=4,
    study="front", metric=["a", "b"], goal=["minimize", "minimize"])
print(len(s.front), s.state["metric"])
def wrong(trial):
    return [None, "word", (1, 2), float("nan")][trial.number - 1]
s = hpotune.optimize(wrong, {"x": (0.0, 1.0)}, trials=4, study="wrong")
for t in s.trials:
    print(t["state"], t["why"])')" '4 a, b
failed trial 1 has no report of value: report one, or use --failed
failed ValueError: could not convert string to float: '"'word'"'
failed TypeError: the function returned 2 values for 1 objectives
failed value was a finite number at no step of 1' 'several objectives, and wrong results'

# Exceptions.
is "$(python '
def f(p, trial):
    if trial.number % 2:
        raise ValueError(f"too hot, {trial.attempt}")
    return p["x"]
s = hpotune.optimize(f, {"x": (0.0, 1.0)}, trials=4, study="hot")
print([(t["state"], t["why"], t["attempts"]) for t in s.trials][:2])
s = hpotune.optimize(f, {"x": (0.0, 1.0)}, trials=2, study="again", retries=2)
print([(t["state"], t["why"], t["attempts"]) for t in s.trials])
for n in 1, 2:
    try:
        hpotune.optimize(f, {"x": (0.0, 1.0)}, trials=6, study=f"raises{n}", parallel=n,
                         catch=KeyError)
    except ValueError as e:
        print(e, hpotune.Study(f"raises{n}").state["state"])
def never(p):
    return p["y"]
for n in 1, 2:
    try:
        hpotune.optimize(never, {"x": (0.0, 1.0)}, trials=90, study=f"never{n}", parallel=n)
    except KeyError as e:
        print(e, len(hpotune.Study(f"never{n}").trials) <= 5 * n)')" \
    "[('failed', 'ValueError: too hot, 1', 1), ('completed', None, 1)]
[('failed', 'ValueError: too hot, 3', 3), ('completed', None, 1)]
too hot, 1 interrupted
too hot, 1 interrupted
'y' True
'y' True" 'an exception fails its trial, or ends the call'
like "$(cat err)" '^hpotune: trial 1 failed: ValueError: too hot, 1$' 'which is said'
like "$(cat err)" 'the first 5 trials have failed, and none has ended well$' \
    'also that nothing works'
like "$(hpotune logs hot.db 1)" '^  File "code.py", line [0-9]+, in f$|^  File "/.*/code.py", line [0-9]+, in f$' \
    'its log has the traceback'

# Workers.
is "$(python '
import random
def f(p, trial):
    print("hello from", trial.number, hpotune.Study("workers").state["state"])
    os.system("echo and from a child")
    trial.report(1, {"draw": random.random(), "pid": os.getpid()}, value=p["x"])
    while len(set(m["value"] for m in hpotune.Study("workers").query(
            "SELECT value FROM metrics WHERE name = ?", "pid"))) < 2:
        time.sleep(0.01)
s = hpotune.optimize(f, {"x": (0.0, 1.0)}, trials=5, parallel=2, study="workers")
print([t["state"] for t in s.trials], os.path.exists("workers.d/control"))' || cat err)" \
    "['completed', 'completed', 'completed', 'completed', 'completed'] False" \
    'workers run it'
is "$(hpotune logs workers.db 4)" 'hello from 4 running
and from a child' 'whose output is the log of the trial'
is "$(sql workers.db "SELECT count(DISTINCT value) FROM metrics WHERE name = 'draw'")" \
    5 'and who have random numbers of their own'
cat >module.py <<'END'
import os
def f(p):
    return os.getppid()
END
is "$(python '
import module
class Torch:
    class cuda:
        is_initialized = lambda: True
sys.modules["torch"] = Torch
if __name__ == "__main__":
    s = hpotune.optimize(module.f, {"x": (0.0, 1.0)}, trials=2, parallel=2, study="spawned")
    print([t["value"] == os.getpid() for t in s.trials])' || cat err)" '[True, True]' \
    'where a fork is not safe they are spawned'
like "$(cat err)" '^hpotune: workers are spawned, not forked: torch has begun to use CUDA$' \
    'which is said'

# A server that is killed before and after any commit: whatever answer is lost, all is
# recorded once, and nothing runs twice.
rm bin/hpotune
ln -s "$TOP_BUILDDIR/tests/torture/hpotune-fail" bin/hpotune
kills='tuner.after_commit=kill%30#12,tuner.before_commit=kill%5#12'
for n in 1 2; do
	rm -f ledger
	is "$(HPOTUNE_FAIL="$kills" HPOTUNE_FAIL_LOG=fail-$n \
	    python "$ledger"'
def f(p, trial):
    note(trial.number, trial.attempt)
    for step in 1, 2, 3:
        trial.report(step, value=p["x"])
    note(trial.number, "end")
    return 7
s = hpotune.optimize(f, {"x": (0.0, 1.0)}, trials=15, parallel='$n', study="kill'$n'",
    strategy="random", stopping="none")
print([len(s.trials)] + sorted({(t["state"], t["attempts"], t["step"], t["value"]) for t in
    s.trials}))' || cat err)" "[15, ('completed', 1, 4, 7.0)]" \
	    'a server that is killed loses nothing'
	is "$(twice)" '' 'no trial begins or ends twice'
	is "$(sql kill$n.db 'SELECT DISTINCT count(*) FROM metrics GROUP BY trial')" 4 \
	    'no report is recorded twice'
	is "$(test "$(wc -l <fail-$n)" -ge 12; echo $?)" 0 'it was killed'
done
rm bin/hpotune
ln -s "$HPOTUNE" bin/hpotune

# A worker that is killed.
rm -f ledger
is "$(python "$ledger"'
def f(p, trial):
    note(trial.number, trial.attempt)
    if trial.number == 2 and trial.attempt == 1:
        os.kill(os.getpid(), 9)
    return 1
s = hpotune.optimize(f, {"x": (0.0, 1.0)}, trials=4, parallel=2, study="dies")
print([(t["state"], t["attempts"]) for t in s.trials])' || cat err)" \
    "[('completed', 1), ('completed', 2), ('completed', 1), ('completed', 1)]" \
    'the trial of a worker that is killed is tried again'
is "$(cat err)" 'hpotune: a worker has ended: signal 9' 'which is said'
like "$(sql dies.db "SELECT why FROM attempts WHERE end_class = 'lost'")" \
    '^process [0-9]+ of .*, which had asked for it, has ended$' 'it was lost'

# Words of a process that was killed after it had sent them.
cat >late.json <<'END'
{ "study": "late", "objective": { "metric": "m", "goal": "minimize" },
  "parameters": { "x": { "type": "float", "min": 0, "max": 1 } },
  "limits": { "trials": 3 } }
END
server late.json --asked -q
ok 'a server that is asked' retry test -S late.d/control
is "$(python '
import hpotune_optimize as o
engine = o._Engine("late.json", hpotune.Study("late"), 1)
pid = os.fork()
if pid == 0:
    engine.ask()
    os.kill(os.getpid(), 9)
os.waitpid(pid, 0)
own = hpotune._asker
hpotune._asker = lambda _: {**own(0), "pid": pid}
print(engine.tell(1, 1, {"step": 1, "m": 2})["verdict"])
hpotune._asker = own
print(engine.ask())' | sed 's/ .params.*attempt/ attempt/' || cat err)" "keep
{'trial': 1, attempt': 2}" 'do not keep its trial'
is "$("$HPOTUNE" ask --pid 4194305 late.json 2>&1; count late 1)" \
    'hpotune: the process that asks has ended: no trial is begun for it
1' 'nor begin one for it'
is "$(python '
import hpotune_optimize as o
engine = o._Engine("late.json", hpotune.Study("late"), 1)
first = engine.ask()["trial"]
hpotune._open["other.json", first] = o._Kept
print(engine.ask()["trial"] == first)
hpotune._open["./late.db", first] = o._Kept
print(engine.ask()["trial"] == first)' || cat err)" 'True
False' 'a lost answer is given again, whatever trials of other studies run'
kill "$server"
reap "$server"

is "$(python '
def f(p):
    os.kill(os.getpid(), 9)
hpotune.optimize(f, {"x": (0.0, 1.0)}, trials=90, parallel=2, study="all-die")' ||
    tail -n 1 err)" 'hpotune.Error: a worker has ended: signal 9, after 10 others without a result between them' \
    'when all die the call ends'

# Ctrl-C, SIGKILL, and the stop of a user, while all workers are in the function.
cat >long.py <<'END'
import hpotune, os, signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # not ignored, as behind &
def f(p, trial):
    with open("ledger", "a") as file:
        file.write(f"{trial.number} {trial.attempt}\n")
    trial.report(1, value=p["x"])
    while not os.path.exists("go"):
        time.sleep(0.01)
n = int(sys.argv[2])
print(hpotune.optimize(f, {"x": (0.0, 1.0)}, trials=6, parallel=n, study=sys.argv[1],
                       strategy="random", stopping="none", grace=0.5))
END
runs() { # study trials
	sql_is "$1.db" "SELECT count(*) FROM trials WHERE state = 'running' AND
	    reports > 0" "$2"
}
gone() { # study: no process is left of it, the server included
	! grep -qzx "CALL=$1" /proc/[0-9]*/environ 2>/dev/null
}
call() { # study workers: in the background
	background call env "CALL=$1" python3 long.py "$1" "$2"
}
# A call is ended by a signal, and the same call continues its study.
ends() { # study parallel signal end-class what what-follows
	rm -f go ledger
	call "$1" "$2"
	ok 'trials run' retry runs "$1" "$2"
	kill "-$3" "$child"
	reap "$child"
	ok "$5 ends the call and all of it" retry gone "$1"
	is "$(sql "$1.db" "SELECT state FROM study; SELECT DISTINCT state, attempts
	    FROM trials; SELECT DISTINCT state, end_class FROM attempts")" "interrupted
waiting|1
ended|$4" "its trials are $6"
	touch go
	like "$(python3 long.py "$1" "$2" 2>&1)" '6 trials: 6 completed' \
	    'the same call continues them'
	is "$(twice)" '' 'no attempt ran twice'
}
for n in 1 2; do
	ends ctrl-c-$n $n INT user Ctrl-C 'given back'
	is "$(sql ctrl-c-$n.db 'SELECT max(attempts) FROM trials')" 2 \
	    'in their next attempts'
	ends killed-$n $n KILL lost 'a kill' lost
done
# The server of a program that was killed is not used by the next call: it ends.
cat >left.py <<'END'
import hpotune, os, time
def f(p, trial):
    time.sleep(0.5)
    if trial.number == 1 and trial.attempt == 1:
        server = open("left.d/lock").read().split()[1]
        os.kill(int(server), 19)  # it looks after the next call has begun
        print(server, flush=True)
        os.kill(os.getpid(), 9)
    return p["x"]
print(hpotune.optimize(f, {"x": (0.0, 1.0)}, trials=4, study="left", strategy="random"))
END
server_of_left=$(python3 left.py 2>/dev/null)
background next python3 left.py
late_starts() { # the second call has found the server
	kill -0 "$child" && [ -e left.d/server.log ] &&
	    grep -q 'served by pid' left.d/server.log
}
ok 'the next call finds the old server' retry late_starts
kill -CONT "$server_of_left"
reap "$child"
like "$(cat next.out)" '4 trials: 4 completed' 'and goes on with its own'
rm -f go ledger
call stopped 2
ok 'trials run' retry runs stopped 2
ok 'the user stops one' quietly hpotune stop stopped.db 1
one_ended() {
	sql_is stopped.db "SELECT state, why FROM trials WHERE trial = 1" \
	    'cancelled|stopped by the user'
}
ok 'although its function does not look it ends' retry one_ended
ok 'and another one begins' retry runs stopped 2
ok 'the user stops all' quietly hpotune stop stopped.db
reap "$child"
is "$? $(sql stopped.db "SELECT state FROM study; SELECT DISTINCT state FROM trials
    WHERE trial > 1")" '0 interrupted
waiting' 'the call ends, and its trials wait'
ok 'nothing is left' retry gone stopped

# Mistakes.
printf '{ "study": "mine" }\n' >mine.json
is "$(python '
import collections
def f(p):
    return 1
space = {"x": (0.0, 1.0)}
for what in (lambda: hpotune.optimize(f, space, study="mine"),
             lambda: hpotune.optimize(f, space, study="My study"),
             lambda: hpotune.optimize(f, {"x": ("a", "b")}),
             lambda: hpotune.optimize(f, {"x": {1, 2}}),
             lambda: hpotune.optimize(lambda a, b, c: 1, space),
             lambda: hpotune.optimize(f, space, strategy="magic"),
             lambda: hpotune.optimize(f, space, parallel=0),
             lambda: hpotune.when((1, 2))):
    try:
        what()
    except hpotune.Error as e:
        print(str(e).replace(os.getcwd() + "/", ""))' | sed 's/:[0-9:]*: strategy/: strategy/')" \
    'mine.json is a study of another kind: choose another name for the study, or another folder
study '"'My study'"': a name has 1 to 32 lower-case letters, digits and -
parameter x: expected (min, max), (min, max, step) or (min, max, "log"); the values of a choice are a list
parameter x: {1, 2} is no space: expected a tuple, a list, a range, one value, or a dict in the words of study.json
the function takes its parameters, a dict, and if it wants it the trial: def train(params, trial), or parameters of the space by name
study.json: strategy.name: no strategy named "magic": expected auto, tpe, gp, bohb, cmaes, nsga2, pbt, random, grid, sobol or external
optimize: parallel is at least 1
when: expected a condition' 'mistakes are said'
is "$(ls study.db mine.db 2>/dev/null)" '' 'and leave no study behind'
is "$(python3 -c 'import sqlite3
sqlite3.sqlite_version_info, sqlite3.sqlite_version = (3, 34, 1), "3.34.1"
import hpotune
try:
    hpotune.optimize(lambda x: x, {"x": (0.0, 1.0)}, trials=1, study="old")
except hpotune.Error as e:
    print(e)'; ls old.* 2>/dev/null)" \
    'the SQLite of this Python is 3.34.1: a study is read by 3.37 and newer' \
    'so is a Python whose SQLite is too old'
is "$(python3 -c 'import hpotune
def objective(trial):
    x = trial.suggest_float("x", 0, 9, log=False)
    kind = trial.suggest_categorical("kind", ["a"])
    for step in range(3):
        trial.report(x, step)
        trial.report(step=step, metrics=x)
        trial.report(step, {"loss": 7})
        if trial.should_prune():
            raise hpotune.Stopped()
    if trial.number == 3:
        raise type("TrialPruned", (Exception,), {"__module__": "optuna.exceptions"})
    return x + len(kind) * trial.suggest_int("n", 1, 5)
space = {"x": (0.0, 1.0), "kind": ["a", "b"], "n": (1, 3)}
study = hpotune.optimize(objective, space, trials=4, study="moved")
print(all(t["value"] == t["params"]["x"] + t["params"]["n"] for t in study.trials
          if t["trial"] != 3))
print(study.query("SELECT state, objective = json_extract(params, \"$.x\") AS same, step "
                  "FROM trials WHERE trial = 3"))
for name, wrong in (("y", lambda trial: trial.suggest_float("y", 0, 1, step=0.5)),
                    ("swapped", lambda trial: trial.report(0.5, 1)),
                    ("turned", lambda trial: trial.suggest_int("n", 1, 3) and
                     trial.report(1, 0.5))):
    study = hpotune.optimize(wrong, space, trials=1, study=name, show=False)
    print(study.query("SELECT why FROM trials")[0]["why"])' 2>/dev/null)" \
    'True
[{'"'state': 'stopped', 'same': 1, 'step': 2"'}]
trial 1 has no parameter '"'y'"': the space is the second argument of optimize(), where it is '"'y'"': (0.0, 1.0, 0.5), or has a condition
TypeError: a step is a whole number, not 0.5: report(step, value)
TypeError: a step is a whole number, not 0.5: report(value, step), as in Optuna' \
    'a function that was written for Optuna needs another call alone'
# What the tutorials of Optuna do: a space with branches and loops, and their results.
is "$(python3 -c 'import hpotune
def objective(trial):
    kind = trial.suggest_categorical("classifier", ["SVC", "RandomForest"])
    if kind == "SVC":
        score = trial.suggest_float("svc_c", 1e-10, 1e10, log=True) / 1e10
    else:
        score = trial.suggest_int("depth", 2, 32, log=True) / 40
    for i in range(trial.suggest_int("n_layers", 1, 3)):
        score += trial.suggest_int("n_units_l{}".format(i), 4, 128, log=True)
        trial.report(score, i)
    return score
study = hpotune.optimize(objective, {
    "classifier": ["SVC", "RandomForest"],
    "svc_c": hpotune.when((1e-10, 1e10, "log"), classifier="SVC"),
    "depth": hpotune.when((2, 32, "log"), classifier="RandomForest"),
    "n_layers": (1, 3),
    **{f"n_units_l{i}": hpotune.when((4, 128, "log"), f"n_layers > {i}")
       for i in range(3)}}, trials=20, goal="maximize", study="branches", show=False)
best = study.best_trial
print(len(study.trials), best.value == study.best_value == study.best["value"],
      best.params == study.best_params, best.number == best["trial"])
print({len(t.params) - t.params["n_layers"] for t in study.trials},
      {"svc_c" in t.params for t in study.trials},
      all(("svc_c" in t.params) == (t.params["classifier"] == "SVC")
          for t in study.trials))
try:
    best.nothing
except AttributeError as e:
    print(e)
for kind in ("int", "categorical"):
    def wrong(trial):
        return (trial.suggest_int("n", 1, 100, log=True) if kind == "int" else
                trial.suggest_categorical("c", ["a", 2]) and 1)
    found = hpotune.optimize(wrong, {"x": (0.0, 1.0)}, trials=1, study=kind, show=False)
    print(found.trials[0].why.partition(", where ")[2])' 2>/dev/null)" \
    '20 True True True
{3} {False, True} True
a trial has no nothing: it has trial, state, value, step, params, seconds
it is '"'n': (1, 100, 'log'), or has a condition
it is 'c': ['a', 2], or has a condition" \
    'its tutorials: conditions, loops and results'
cat >bare.json <<'END'
{ "study": "bare", "objective": { "metric": "m", "goal": "minimize" },
  "parameters": { "x": { "type": "float", "min": 0, "max": 1 } },
  "trial": { "command": ["true"] }, "limits": { "trials": 3 } }
END
is "$(hpotune start --asked bare.json 2>&1)" \
    "hpotune: $dir/bare.json: start: --asked is for studies without trial.command" \
    'a server that is asked has no command'
is "$(hpotune start --until-exit 999999999 bare.json 2>&1)" \
    'hpotune: start: --until-exit: there is no process 999999999' \
    'nor ends it with a process that is not there'
done_testing
