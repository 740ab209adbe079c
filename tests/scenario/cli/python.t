#!/bin/sh
# python/hpotune.py: a program that is a trial, and one that asks and tells,
# with a server and without.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3 python3
export PYTHONPATH="$TOP_SRCDIR/python"
export PYTHONDONTWRITEBYTECODE=1
mkdir bin none
ln -s "$HPOTUNE" bin/hpotune
PATH=$dir/bin:$PATH

is "$(($(wc -l <"$TOP_SRCDIR/python/hpotune.py") <= 330))" 1 \
    'the module has at most 330 lines'
is "$(python3 -S -I -c '
import sys
sys.path.insert(0, sys.argv[1])
import hpotune' "$TOP_SRCDIR/python" 2>&1)" '' 'and needs no other package'

study() { # name trials backend
	cat >"$1.json" <<-END
	{ "study": "$1",
	  "objective": { "metric": "loss", "goal": "minimize" },
	  "parameters": {
	    "x": { "type": "float", "min": 0, "max": 1 },
	    "name": { "type": "choice", "values": ["it's", "b"] } },
	  "strategy": { "name": "random", "seed": 3 },
	  "stopping": { "rule": "threshold", "upper": 5 },
	  "trial": { "command": ["python3", "trial.py"], "max_steps": 4,
	    "retries": 0 },
	  $3
	  "limits": { "trials": $2, "parallel": 1 } }
	END
}

# A trial: parameters, reports, checkpoints, the signal.
cat >trial.py <<'END'
import math, os, sys, time
import hpotune

p = hpotune.params({"x": 0.5})
folder = hpotune.checkpoint_dir("by-hand")
with open(os.path.join(folder, "x"), "w") as file:
    file.write(repr(p["x"]))
hpotune.stopping()
for step in range(3):
    hpotune.report(step, {"val/f1": 0.5}, loss=p["x"] + 1 / (step + 1))
hpotune.report(3, loss=math.nan)
while os.path.exists("wait") and not hpotune.stopping():
    time.sleep(0.01)
if hpotune.stopping():
    hpotune.report(4, loss=0.25)
END
study mine 2 ''
quietly "$HPOTUNE" start -q mine.json
is "$(sql mine.db "SELECT state, step, objective = (params ->> 'x') + 1 / 3.0
    FROM trials WHERE trial = 1")" 'completed|3|1' \
    'a program reads its parameters and reports its metrics'
is "$(sql mine.db "SELECT group_concat(name || ' ' || step || ' ' ||
    coalesce(value, 'none'), ', ') FROM (SELECT * FROM metrics WHERE trial = 1
    AND (name <> 'loss' OR step = 3) ORDER BY name, step)")" \
    'loss 3 none, val/f1 0 0.5, val/f1 1 0.5, val/f1 2 0.5' \
    'also metrics with other names, and values that are no numbers'
is "$(cat mine.d/trials/1/checkpoint/x)" \
    "$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["x"])' \
    mine.d/trials/1/attempt-1/params.json)" 'it has its folder of checkpoints'
is "$(python3 trial.py; cat by-hand/x)" \
    'hpotune: step=0 val/f1=0.5 loss=1.5
hpotune: step=1 val/f1=0.5 loss=1.0
hpotune: step=2 val/f1=0.5 loss=0.8333333333333333
hpotune: step=3 loss=nan
0.5' 'the same program runs by hand'
is "$(RANK=1 python3 trial.py)" '' 'of several ranks one reports'

touch wait
study stopped 1 ''
server stopped.json -q
reported() {
	[ "$(sql stopped.db 'SELECT step FROM trials' 2>/dev/null)" = 3 ]
}
ok 'a trial that waits has reported' retry reported
quietly "$HPOTUNE" stop stopped.json 1
reap "$server"
is "$(sql stopped.db 'SELECT value FROM metrics WHERE step = 4')" 0.25 \
    'a program sees that it is asked to end'
rm wait

# ask and tell: the same with a server and without.
cat >search.py <<'END'
import sys
import hpotune

study = sys.argv[1]
while trial := hpotune.ask(study):
    for step in range(4):
        verdict = trial.tell(step, {"val/f1": 1}, loss=trial.number * 2.25)
        if verdict == "stop":
            break
    if verdict == "stop":
        end = trial.end("stopped")
    elif trial.number == 2:
        end = trial.end("failed", "it said \"no\" -- é")
    else:
        end = trial.end()
    print(trial.number, sorted(trial.params), verdict, end["state"])
for wrong in [lambda: hpotune.tell(study, 99, loss=1),
              lambda: hpotune.tell(study, 1, loss=1)]:
    try:
        wrong()
    except hpotune.Error as e:
        print(e)
END
study alone 3 ''
is "$(python3 search.py alone.json 2>err)" "1 ['name', 'x'] keep completed
2 ['name', 'x'] keep failed
3 ['name', 'x'] stop stopped
there is no trial 99
trial 1 has ended already: completed" 'a program asks and tells'
is "$(cat err)" 'hpotune: limits.trials is reached: there are 3 trials' \
    'the reason why there are no more trials is printed'
is "$(sql alone.db "SELECT trial, why FROM trials WHERE trial = 2")" \
    '2|it said "no" -- é' 'and the reason of a failure recorded'

# A trial ends with the program that asked for it.
study ends 20 ''
sed -i 's/"retries": 0/"retries": 1/; s/"parallel": 1/"parallel": 9/' ends.json
python() { # code: with a trial t of ends.json
	python3 -c "import hpotune, os, sys, threading
$1" >out 2>err
}
trial() { # number: its state and why
	sql ends.db "SELECT state, coalesce(why, '') FROM trials WHERE trial = $1"
}
python 'with hpotune.ask("ends.json") as t:
    t.tell(1, loss=2)'
is "$? $(trial 1)" '0 completed|' 'with: it has completed'
python 'with hpotune.ask("ends.json") as t:
    t.tell(1, loss=2)
    raise ValueError("too hot")'
is "$? $(trial 2)" '1 failed|ValueError: too hot' 'an exception ends it'
python 't = hpotune.ask("ends.json")
raise ValueError("too cold")'
is "$? $(trial 3)" '1 failed|ValueError: too cold' 'also without with'
python 't = hpotune.ask("ends.json")
sys.exit(3)'
is "$? $(trial 4)" '3 failed|the program ended before its trial' \
    'an exit ends it, and keeps its status'
python 't = hpotune.ask("ends.json")
if os.fork() == 0:
    sys.exit()
os.wait()
with t:
    if os.fork() == 0:
        raise ValueError("a child")
    os.wait()
    t.tell(1, loss=2)'
is "$? $(trial 5)" '0 completed|' 'a fork of its process does not'
python 'def one():
    with hpotune.ask("ends.json") as t:
        t.tell(1, loss=2)
        assert t.number % 2
several = [threading.Thread(target=one) for i in range(4)]
[t.start() for t in several], [t.join() for t in several]'
is "$(sql ends.db "SELECT state, count(*), max(why) FROM trials
    WHERE trial BETWEEN 6 AND 9 GROUP BY state")" 'completed|2|
failed|2|AssertionError: ' 'threads end their own'
python 'print(hpotune.ask("ends.json", keep=True).number)'
is "$(cat out) $(trial 10)" '10 running|' 'keep: it outlives the process'
python 'hpotune.tell("ends.json", 10, loss=2, end="done")'
is "$(trial 10)" 'completed|' 'and another one ends it'
killed='t = hpotune.ask("ends.json")
print(t.number, t.more.get("attempt"))
sys.stdout.flush()
os.kill(os.getpid(), 9)'
python "$killed"
is "$(trial 11)" 'running|' 'one that is killed leaves a trial'
python "$killed"
is "$(cat out)" '11 2' 'which is asked for again'
like "$(sql ends.db "SELECT why FROM t_attempt WHERE trial = 11 AND attempt = 1")" \
    '^process [0-9]+ of .*, which had asked for it, has ended$' 'with the reason'
is "$(sql ends.db "SELECT attempt, end_class, asker_pid > 0,
    asker_host = '$(hostname)'
    FROM attempts WHERE trial = 11")" '1|lost|1|1
2||1|1' 'and the view attempts has who asked'
python 'print(hpotune.ask("ends.json").number)'
is "$(cat out) $(sql ends.db "SELECT state FROM trials WHERE trial = 11")" \
    '12 failed' 'until its retries are used up'

# The same with a server.
study lives 9 '"backend": { "name": "pretend", "seconds_per_step": 1000 },'
server lives.json -q
serves() {
	sql_is lives.db "SELECT state FROM trials WHERE trial = 1" running &&
	    [ -S lives.d/control ]
}
ok 'a server' retry serves
python 't = hpotune.ask("lives.json")
t.tell(1, loss=2)
os.kill(os.getpid(), 9)'
python 't = hpotune.ask("lives.json")
os.kill(os.getpid(), 9)'
is "$(sql lives.db "SELECT trial, state, objective FROM trials WHERE trial > 1")" \
    '2|failed|2.0
3|running|' 'a server sees it, too'
quietly "$HPOTUNE" stop --now lives.json
reap "$server"

# A server answers by its socket, whose path is too long for an address.
long=$(printf '%0100d/%0100d' 1 2)
mkdir -p "$long"
study "served" 4 \
    '"backend": { "name": "pretend", "seconds_per_step": 1000 },'
mv served.json "$long"
server "$long/served.json" -q
runs() { # its own trial, which is the first one
	[ -S "$long/served.d/control" ] && [ "$(sql "$long/served.db" \
	    "SELECT state FROM trials WHERE trial = 1")" = running ]
}
ok 'a server runs a trial of its own' retry runs
printf '#!/bin/sh\necho called >>"%s/called"\nexit 3\n' "$dir" >none/hpotune
chmod +x none/hpotune
is "$(PATH=$dir/none:$PATH python3 search.py "$long/served.json" 2>err)" \
    "2 ['name', 'x'] keep failed
3 ['name', 'x'] stop stopped
4 ['name', 'x'] stop stopped
there is no trial 99
trial 1 is run by hpotune, not by hpotune ask" 'the server answers'
is "$(cat err)" 'hpotune: limits.trials is reached: there are 4 trials' \
    'and gives the reason why there are no more trials'
is "$(PATH=$dir/none:$PATH python3 -c '
import hpotune, sys
print(hpotune.ask(sys.argv[1]))' "$long/served.db" 2>&1)" \
    'hpotune: limits.trials is reached: there are 4 trials
None' 'a study may also be given as its database'
ok 'no other program is run for it' test ! -e called
quietly "$HPOTUNE" stop --now "$long/served.json"
reap "$server"

is "$(python3 -c '
import hpotune
try:
    hpotune.ask("missing.json")
except hpotune.Error as e:
    print(e.status, e)')" "$("$HPOTUNE" ask missing.json 2>&1 |
    sed 's/^hpotune:/2/')" 'a study that is not there is an error'
is "$(python3 -c '
import hpotune
try:
    hpotune.nothing
except AttributeError as e:
    print(e)')" "module 'hpotune' has no attribute 'nothing'" \
    'and so is a name that is not there'
done_testing
