"""Random studies in a storage of Optuna, written by Optuna itself: their
distributions and trials, and those that hpotune import reads, value by value.

import_optuna.py HPOTUNE COUNT [SEED]: prints a line for each difference and the
number of studies that were compared."""
import json
import math
import os
import random
import subprocess
import sys
import tempfile
import warnings

import optuna
from optuna.distributions import (CategoricalDistribution, FloatDistribution,
                                  IntDistribution)
from optuna.trial import TrialState, create_trial

warnings.simplefilter("ignore")
optuna.logging.set_verbosity(optuna.logging.ERROR)
hpotune, count = sys.argv[1], int(sys.argv[2])
rng = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
names = ["lr", "LR", "opt/name", "batch size", "n-layers", "n_layers", "9x", "x.y",
         "trial", "drop", "é", "", "a" * 70, "a" * 71, "'q'", 'say "x"', "step",
         "params", "value"]
texts = ["adam", "a b", "1e-5", "true", "null", "", " ", "é", "new\nline", "\t",
         'say "so"', "it's", "back\\slash", "[1, 2]", "{a}", "1", "\x7f", "😀"]


def scalar():
    return rng.choice([
        lambda: rng.randint(-5, 100), lambda: rng.choice([1.0, 2.0, 1e16, -0.0]),
        lambda: rng.uniform(-2, 2), lambda: 10.0 ** rng.randint(-9, 20),
        lambda: rng.choice([True, False, None]), lambda: rng.choice(texts),
        lambda: 2 ** 53 + rng.randint(0, 9)])()


def choice():
    if rng.random() < 0.8:
        return scalar()
    return rng.choice([[scalar() for _ in range(rng.randint(0, 3))],
                       {"k": scalar(), "l": [scalar()]}, [[1, 2], [3]], [], {}])


def distribution():
    kind = rng.randint(0, 7)
    low = rng.choice([rng.randint(-9, 9), 0, 1])
    if kind <= 2:
        found = []
        for _ in range(rng.randint(1, 5)):
            v = choice()
            if not any(v == f for f in found):
                found.append(v)
        return CategoricalDistribution(found)
    if kind == 3:
        return IntDistribution(low, low + rng.randint(0, 100),
                               step=rng.choice([1, 1, 2, 5]))
    if kind == 4:
        return IntDistribution(rng.randint(1, 4), rng.randint(4, 5000), log=True)
    if kind == 5:
        x = rng.uniform(-3, 3)
        return FloatDistribution(x, x + rng.choice([0, rng.random() * 9, 1e6]))
    if kind == 6:
        return FloatDistribution(10 ** rng.uniform(-9, -1), rng.uniform(0.2, 5),
                                 log=True)
    return FloatDistribution(low / 10, low / 10 + rng.randint(1, 9) / 2,
                             step=rng.choice([0.1, 0.25, 0.5]))


def sample(d):
    if isinstance(d, CategoricalDistribution):
        return rng.choice(d.choices)
    if isinstance(d, IntDistribution):
        return rng.randrange(d.low, d.high + 1, d.step)
    if d.step:
        n = int(round((d.high - d.low) / d.step))
        return d.low + d.step * rng.randint(0, n)
    return rng.uniform(d.low, d.high)


def number():
    return rng.choice([rng.uniform(-9, 9), 0.0, 1e-300, -1e300, 1e16,
                       math.inf, -math.inf] + [rng.random()] * 9)


def trial(space, several):
    state = rng.choice([TrialState.COMPLETE] * 4 + [TrialState.PRUNED,
                                                    TrialState.FAIL])
    n = 2 if several else 1
    values = [number() for _ in range(n)] if state == TrialState.COMPLETE else None
    steps = {}
    if not several:
        for i in range(rng.randint(0, 3)):
            steps[i] = rng.choice([number(), math.nan])
    return create_trial(
        state=state, values=values, intermediate_values=steps,
        params={k: sample(d) for k, d in space.items()}, distributions=space)


def near(a, b):
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(map(near, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return list(a) == list(b) and all(map(near, a.values(), b.values()))
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        return type(a) is type(b) and (a == b or math.isclose(a, b, rel_tol=1e-14))
    return type(a) is type(b) and a == b


def close(a, b):
    return a == b or math.isclose(a, b, rel_tol=1e-12, abs_tol=1e-15)


def same_range(p, d):
    if isinstance(d, CategoricalDistribution):
        if len(d.choices) == 1:
            return p["type"] == "fixed" and near(p["value"], d.choices[0])
        return p["type"] == "choice" and len(p["values"]) == len(d.choices) and \
            all(map(near, p["values"], d.choices))
    if d.low == d.high:
        return p["type"] == "fixed" and p["value"] == d.low
    step = 1 if isinstance(d, IntDistribution) else None
    return p["type"] == ("int" if step else "float") and \
        close(p["min"], d.low) and close(p["max"], d.high) and \
        (p.get("scale") == "log") == d.log and \
        (d.log or p.get("step", step) == d.step)


def compare(study, path, folder):
    out = os.path.join(folder, "study.json")
    beside = os.path.join(folder, "study-trials.json")
    for f in (out, beside):
        if os.path.exists(f):
            os.remove(f)
    done = subprocess.run([hpotune, "import", "-o", out, "--study",
                           study.study_name, "optuna", path],
                          capture_output=True, text=True)
    trials = study.get_trials()
    space = trials[0].distributions
    for t in trials:
        space = {**space, **t.distributions}
    if done.returncode != 0:
        return ["refused: %s" % done.stderr.strip()]
    with open(out) as f:
        ours = json.load(f)
    found = []
    if os.path.exists(beside):
        with open(beside) as f:
            found = json.load(f)["trials"]
    params, notes, wrong = ours["parameters"], done.stderr, []
    if len(params) != len(space):
        return ["%d parameters, %d here" % (len(space), len(params))]
    # In the order of their first trial.
    order = []
    for t in trials:
        order += [k for k in t.params if k not in order]
    here = dict(zip(order, params))
    for name, mine in here.items():
        if name != mine and " name is %s here" % mine not in notes:
            wrong.append("%r is %s without a note" % (name, mine))
        if not same_range(params[mine], space[name]):
            wrong.append("%r: %s is %s" % (name, space[name],
                                           json.dumps(params[mine])))
    if not found and "warm_start: no trial has a value" in notes:
        return wrong
    if len(found) != len(trials):
        return wrong + ["%d trials, %d here" % (len(trials), len(found))]
    for t, mine in zip(trials, found):
        params = {here[k]: v for k, v in t.params.items()}
        if list(params) != list(mine["params"]) or not all(
                near(v, mine["params"][k]) or
                isinstance(v, float) and close(v, mine["params"][k])
                for k, v in params.items()):
            wrong.append("%s is %s" % (params, mine["params"]))
        values = t.values
        if values is None and t.state == TrialState.PRUNED and \
                t.intermediate_values:
            values = [t.intermediate_values[max(t.intermediate_values)]]
        whole = values is not None and all(map(math.isfinite, values))
        state = {TrialState.COMPLETE: "completed", TrialState.PRUNED: "stopped",
                 TrialState.FAIL: "failed"}[t.state]
        if len(study.directions) == 1:
            if values is not None and not whole:
                state = "failed"
            got = mine.get("objective")
            if whole and t.state != TrialState.FAIL and (
                    got is None or not close(got, values[0])):
                wrong.append("value %s is %s" % (values, mine))
            if not whole and got is not None:
                wrong.append("no value is %s" % mine)
        elif whole:
            got = [o["value"] for o in mine["outcomes"]]
            if not all(map(close, got, values)):
                wrong.append("values %s are %s" % (values, got))
        if mine["state"] != state and (len(study.directions) == 1 or whole
                                       or state != "completed"):
            wrong.append("%s is %s" % (t.state, mine))
    done = subprocess.run(
        ["sed", "-i", 's#"./train"#"true"#', out])
    done = subprocess.run([hpotune, "check", out], capture_output=True, text=True)
    line = [x for x in done.stdout.split("\n") if x.startswith("warm start")]
    if done.returncode != 0 or not line:
        wrong.append("check: %s" % done.stderr.strip())
    elif line[0].split()[2] != line[0].split()[4] and \
            len(study.directions) == 1 and "without a result" not in line[0]:
        wrong.append(line[0] + json.dumps(ours["parameters"]))
    return wrong


def main():
    n = 0
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "o.db")
        storage = optuna.storages.RDBStorage("sqlite:///" + path)
        for i in range(count):
            several = rng.random() < 0.15
            goals = [rng.choice(["minimize", "maximize"])
                     for _ in range(2 if several else 1)]
            study = optuna.create_study(storage=storage, directions=goals,
                                        study_name="s%d" % i)
            space = {k: distribution()
                     for k in rng.sample(names, rng.randint(1, 5))}
            study.add_trials([trial(space, several)
                              for _ in range(rng.randint(1, 5))])
            for line in compare(study, path, folder):
                print("%d: %s" % (i, line))
            n += 1
    print("compared %d" % n)


main()
