"""Experiments of Ray Tune: settings that its own generator makes of random search
spaces, written by its own logger, and what hpotune import makes of the folder, value
by value.

import_ray.py HPOTUNE COUNT [SEED]: prints a line for each difference and the number of
search spaces that were compared."""
import json
import logging
import math
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import types

import numpy
from ray import tune
from ray.tune.logger.json import JsonLoggerCallback
from ray.tune.search.variant_generator import generate_variants

logging.disable(logging.WARNING)
hpotune, count = sys.argv[1], int(sys.argv[2])
rng = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
random.seed(rng.random())
numpy.random.seed(rng.randrange(10 ** 6))
TEXTS = ["adam", "a b", "1e-5", "true", "None", "", "1", "it's", 'say "so"', "é"]
NAMES = ["lr", "LR", "n-layers", "n_layers", "trial", "drop", "x/y", "a.b", "_c"]


def value():
    return rng.choice([rng.randint(-9, 99), round(rng.uniform(-1, 1), 4), 2.0,
                       rng.choice(TEXTS), True, False, None, [64, 64], [], {"k": 1}])


def domain(depth=0):
    low = 10.0 ** -rng.randint(1, 6)
    return rng.choice([
        lambda: tune.uniform(-1, 2.5), lambda: tune.loguniform(low, 1),
        lambda: tune.quniform(0, 4, 0.5), lambda: tune.qloguniform(1e-3, 1, 1e-3),
        lambda: tune.randn(0, 2), lambda: tune.qrandn(0, 2, 0.25),
        lambda: tune.randint(1, 9), lambda: tune.lograndint(1, 1000),
        lambda: tune.qrandint(2, 64, 2),
        lambda: tune.choice([value() for _ in range(rng.randint(1, 4))]),
        lambda: tune.sample_from(lambda spec: rng.random()),
        value, lambda: space(depth + 1) if depth < 2 else 1])()


def space(depth=0):
    return {n: domain(depth) for n in rng.sample(NAMES, rng.randint(1, 4))}


def write(folder, log, i, config):
    """A trial with its reports as Ray writes them; what counts of it."""
    path = pathlib.Path(folder, "trainable_%05d" % i)
    path.mkdir()
    trial = types.SimpleNamespace(config=config, local_path=str(path),
                                  init_local_path=lambda: None)
    last, steps = None, rng.randint(1, 3)
    log._restore_from_remote = lambda name, trial: None
    class Trial(types.SimpleNamespace):
        __hash__ = object.__hash__
    trial = Trial(**vars(trial))
    for step in range(1, steps + 1):
        last = rng.choice([rng.random(), 1e-12 * rng.random(), 3, numpy.float32(0.1)])
        if step == steps and rng.random() < 0.15:
            last = math.nan
        log.log_trial_result(step, trial, {"training_iteration": step, "loss": last})
    failed = rng.random() < 0.1
    log.log_trial_end(trial, failed)
    if failed:
        (path / "error.txt").write_text("RuntimeError\n")
    return {"state": "failed" if failed or math.isnan(last) else "completed",
            "step": steps, "objective": last}


def flat(config, above=()):
    for k, v in sorted(config.items()):  # the logger sorts
        if isinstance(v, dict) and v:
            yield from flat(v, above + (k,))
        else:
            yield above + (k,), v


def same(a, b):
    if isinstance(a, numpy.generic):
        a = a.item()
    if isinstance(a, float) and isinstance(b, float):
        return math.isclose(a, b, rel_tol=1e-12)
    return type(a) is type(b) and a == b or (  # 2.0 is 2 where all are whole
        isinstance(a, (int, float)) and isinstance(b, (int, float)) and
        not isinstance(a, bool) and not isinstance(b, bool) and a == b)


def inside(p, v):
    if p["type"] == "fixed":
        return same(p["value"], v)
    if p["type"] == "choice":
        return any(same(x, v) for x in p["values"])
    return p["min"] <= v <= p["max"] and (p["type"] == "float" or v == int(v))


def compare(folder):
    wrong, log, theirs = [], JsonLoggerCallback(), []
    s = space()
    for i in range(rng.randint(2, 6)):
        for _, config in generate_variants(s):
            pass
        theirs.append((config, write(folder, log, i, config)))
    study = os.path.join(folder, "study.json")
    done = subprocess.run([hpotune, "import", "ray", folder, "--metric", "loss",
                           "--goal", "minimize", "-o", study],
                          capture_output=True, text=True)
    if done.returncode != 0:
        if not any(flat(c) for c, _ in theirs):
            return []
        return ["refused: %s" % done.stderr.strip()]
    with open(study) as f:
        ours = json.load(f)["parameters"]
    beside = study[:-5] + "-trials.json"
    with open(beside) as f:
        trials = json.load(f)["trials"]
    notes = done.stderr
    if len(trials) != len(theirs):
        return ["%d trials of %d" % (len(trials), len(theirs))]
    for t, (config, end) in zip(trials, theirs):
        if (t["state"], t["step"]) != (end["state"], end["step"]):
            wrong.append("%s is %s" % (end, t))
        if t["state"] == "completed" and not same(float(end["objective"]),
                                                  float(t["objective"])):
            wrong.append("objective %r is %r" % (end["objective"], t["objective"]))
        leaves = list(flat(config))
        if len(leaves) != len(t["params"]):
            wrong.append("%s is %s" % (config, t["params"]))
            continue
        for (path, v), (name, mine) in zip(leaves, t["params"].items()):
            plain = ".".join(k.replace("/", ".") for k in path)
            if not same(v, mine):
                wrong.append("%s: %r is %r" % (name, v, mine))
            if not inside(ours[name], mine):
                wrong.append("%s: %r is none of %s" % (name, mine, ours[name]))
            if plain != name and "its name is %s here" % name not in notes and \
                    ".".join(path) != name and name not in notes:
                wrong.append("%s is %s without a note" % (path, name))
    return wrong


def main():
    for i in range(count):
        with tempfile.TemporaryDirectory() as folder:
            for line in compare(folder):
                print("%d: %s" % (i, line))
    print("compared %d" % count)


main()
