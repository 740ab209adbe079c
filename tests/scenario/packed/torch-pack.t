#!/bin/sh
# hpotune.torch_pack: settings trained together have the curves of torch.optim alone,
# in packs and as ordinary trials; stops and kills continue from checkpoints.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need sqlite3

find_torch() {
	for torch in ${HPOTUNE_TEST_TORCH-} python3 /usr/bin/python3; do
		torch=$("$torch" -c 'import sys
try: import torch.func
except ImportError: import functorch
print(sys.executable)' 2>/dev/null) && return
	done
	return 1
}
find_torch || skip_all 'NOT RUN: no Python with torch ($HPOTUNE_TEST_TORCH)'
export PYTHONPATH="$TOP_SRCDIR/python" OMP_NUM_THREADS=1

# The program, and the same training as people write it.
cat >parts.py <<'PY'
import torch
torch.set_num_threads(1)
torch.set_default_dtype(torch.float64)
EPOCHS = 4
rng = torch.Generator().manual_seed(3)
x = torch.randn(300, 8, generator=rng)
y = (torch.tanh(x) @ torch.randn(8, 3, generator=rng)).argmax(1)
train, held = (x[:200], y[:200]), (x[200:], y[200:])

def make_model(params):
    width = params["width"]
    return torch.nn.Sequential(
        torch.nn.Linear(8, width), torch.nn.BatchNorm1d(width),
        torch.nn.Tanh(), torch.nn.Linear(width, 3))

loss = torch.nn.functional.cross_entropy
def wrong(output, y):
    return (output.argmax(1) != y).double().mean()
PY
cat >pack.py <<'PY'
import os, time
import parts, hpotune
def make_model(params):
    if params["lr"] > 0.9:
        raise ValueError("too fast")
    return parts.make_model(params)
def loss(output, y):
    while os.path.exists("hold"):
        time.sleep(0.02)
    return parts.loss(output, y)
hpotune.torch_pack(make_model, loss, parts.train, epochs=parts.EPOCHS,
                   evaluate={"wrong": parts.wrong, "val": parts.loss},
                   held=parts.held)
PY
cat >plain.py <<'PY'
import json, sys, torch
from parts import EPOCHS, held, loss, make_model, train
for line in sys.stdin:
    trial, p = json.loads(line)
    torch.manual_seed(p["seed"])
    model = make_model(p)
    rest = {"lr": p["lr"], "weight_decay": p["weight_decay"]}
    if p["optimizer"] == "sgd":
        rest["momentum"] = p["momentum"]
    kind = {"sgd": "SGD", "adam": "Adam", "adamw": "AdamW"}[p["optimizer"]]
    optimizer = getattr(torch.optim, kind)(model.parameters(), **rest)
    for epoch in range(EPOCHS):
        model.train()
        rng = torch.Generator().manual_seed(p["seed"] * 1000003 + epoch)
        order = torch.randperm(200, generator=rng)
        for at in range(0, 200, p["batch_size"]):
            part = order[at:at + p["batch_size"]]
            optimizer.zero_grad()
            loss(model(train[0][part]), train[1][part]).backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            value = loss(model(held[0]), held[1])
        print(trial, epoch + 1, float(value))
PY
study() { # name keys-of-trial trials parallel
	cat >"$1.json" <<END
{ "study": "$1", "objective": { "metric": "val", "goal": "minimize" },
  "parameters": {
    "lr": { "type": "float", "min": 0.001, "max": 0.1, "scale": "log" },
    "momentum": { "type": "float", "min": 0, "max": 0.95 },
    "weight_decay": { "type": "float", "min": 0, "max": 0.1 },
    "optimizer": { "type": "choice", "values": ["sgd", "adam", "adamw"] },
    "width": { "type": "choice", "values": [4, 8] },
    "batch_size": { "type": "fixed", "value": 64 },
    "seed": { "type": "int", "min": 1, "max": 9 } },
  "strategy": { "name": "random", "seed": 5 }, "stopping": "none",
  "trial": { "command": ["$torch", "pack.py"], "retries": 3, $2
      "max_steps": 4, "grace": "100s" },
  "limits": { "trials": $3, "parallel": $4 } }
END
}
curves() { # study
	sql "$1.db" "SELECT trial, step, value FROM metrics WHERE name = 'val'
	    ORDER BY trial, step, attempt"
}
# How many values there are, which are in one alone, and which differ by more than
# rounding.
differ() { # curves other
	python3 - "$1" "$2" <<'PY'
import sys
def read(path):
    rows = (line.replace("|", " ").split() for line in open(path))
    return {(int(t), int(s)): float(v) for t, s, v in rows}
a, b = read(sys.argv[1]), read(sys.argv[2])
print(len(a), sorted(a.keys() ^ b.keys()), [k for k in sorted(a)
      if k in b and abs(a[k] - b[k]) > 1e-8 * abs(b[k])])
PY
}

study packed '"pack": 12,' 12 12
ok 'twelve settings at once' quietly timeout 300 "$HPOTUNE" start -q packed.json ||
    diag "$(cat err; tail -n 5 packed.d/packs/0/log)"
curves packed >packed.curves
sql packed.db 'SELECT json_array(trial, json(params)) FROM trials' |
    "$torch" plain.py >plain.curves 2>errors || diag "$(tail -n 3 errors)"
is "$(differ packed.curves plain.curves)" '48 [] []' 'the curves of torch.optim'
ok 'of some kinds of optimizers and widths' \
    [ "$(sql packed.db "SELECT count(DISTINCT params ->> 'optimizer' ||
	(params ->> 'width')) FROM trials")" -ge 4 ]
study alone '' 2 1
ok 'the program as an ordinary trial' quietly timeout 300 "$HPOTUNE" start -q \
    alone.json || diag "$(cat err; "$HPOTUNE" logs alone.json 1 | tail -n 5)"
curves alone >alone.curves
head -n 8 packed.curves >first.curves
is "$(differ alone.curves first.curves)" '8 [] []' 'has the same curves'

# The program is killed: another one has its trials.  One of them is stopped.
study kills '"pack": 4,' 4 4
: >hold
server kills.json
ok 'four run' retry sql_is kills.db \
    "SELECT count(*) FROM attempts WHERE state = 'running'" 4
program() {
	for program in $(pgrep -f '[ /]pack[.]py'); do
		[ "$(readlink "/proc/$program/cwd")" != "$dir" ] || return 0
	done
	return 1
}
ok 'in one program' retry program
kill -9 "$program"
ok 'another one follows' retry sql_is kills.db "SELECT count(*) FROM attempts
    WHERE state = 'running' AND attempt = 2" 4
ok 'one is stopped' quietly "$HPOTUNE" stop kills.db 2
rm hold
reap "$server"
is $? 0 'the study ends'
is "$(sql kills.db "SELECT group_concat(state, ' ') FROM
    (SELECT state FROM trials ORDER BY trial)")" \
    'completed cancelled completed completed' 'and the others complete'
curves kills | grep -v '^2|' >kills.curves
grep '^[134]|' packed.curves >first.curves
is "$(differ kills.curves first.curves)" '12 [] []' 'with the same curves'

# A setting that cannot be, beside one that can.
study wrong '"pack": 2,' 2 2
sed -i 's|"strategy"|"enqueue": [{ "lr": 1.0 }], &|; s/"max": 0.1, "scale"/"max": 1, "scale"/
    s/"retries": 3/"retries": 0/' wrong.json
ok 'a setting that fails' quietly timeout 300 "$HPOTUNE" start -q wrong.json
is "$(sql wrong.db 'SELECT state, why FROM trials ORDER BY trial')" \
    'failed|ValueError: too fast
completed|' 'fails alone, and says why'

done_testing
