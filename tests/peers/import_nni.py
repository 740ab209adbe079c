"""Random search spaces of NNI: what its own sampler makes of each, and what
hpotune import makes of it, value by value.

import_nni.py HPOTUNE COUNT SEED [CASES]: prints a line for each difference and the
number of spaces that were compared.  Where NNI is installed, they are random ones;
otherwise those of CASES, which NNI has written.
import_nni.py --write COUNT SEED: print such a file."""
import json
import math
import os
import random
import subprocess
import sys
import tempfile

TEXTS = ["adam", "a b", "1e-5", "true", "None", "", "it's", 'say "so"', "é", "0.1"]
NAMES = ["lr", "LR", "opt.name", "n-layers", "n_layers", "trial", "drop", "seed", "_a",
         "a/b"]


def leaf(rng):
    kind = rng.choice(["choice", "choice", "randint", "uniform", "quniform",
                       "loguniform", "qloguniform", "normal", "qnormal",
                       "lognormal", "qlognormal"])
    q = rng.choice([1, 2, 5, 0.5, 0.25])
    if kind == "choice":
        values = [rng.choice([rng.randint(-5, 99), round(rng.uniform(-1, 1), 3),
                              rng.choice(TEXTS), True, False])
                  for _ in range(rng.randint(1, 5))]
    elif kind == "randint":
        low = rng.randint(-5, 5)
        values = [low, low + rng.randint(1, 30)]
    elif "normal" in kind:
        values = [rng.randint(-2, 2), rng.choice([0.5, 1, 2])]
    elif "log" in kind:
        low = 10.0 ** -rng.randint(0, 6) if kind[0] != "q" else rng.choice([1, 2])
        values = [low, low * rng.choice([64, 1000])]
    else:
        low = rng.choice([rng.randint(-5, 5), round(rng.uniform(-1, 1), 2)])
        values = [low, low + rng.choice([6, 20.5])]
    return {"_type": kind, "_value": values + ([q] if kind[0] == "q" else [])}


def space(rng, depth=0):
    made = {}
    for name in rng.sample(NAMES, rng.randint(1, 4)):
        if depth < 1 and rng.random() < 0.3:  # deeper its sampler fails
            made[name] = {"_type": "choice", "_value": [
                dict(_name=n, **(space(rng, depth + 1) if rng.random() < 0.7 else {}))
                for n in rng.sample(["conv", "pool", "a b", "none"],
                                    rng.randint(1, 3))]}
        else:
            made[name] = leaf(rng)
    return made


def draw(count, seed):
    import numpy
    from nni.algorithms.hpo.random_tuner import suggest
    from nni.common.hpo_utils import (deformat_parameters, format_search_space,
                                      validate_search_space)
    rng = random.Random(seed)
    numbers = numpy.random.default_rng(seed)
    for _ in range(count):
        s = space(rng)
        validate_search_space(s, raise_exception=True)
        known = format_search_space(s)
        yield {"space": s, "settings": [
            deformat_parameters(suggest(numbers, known), known) for _ in range(6)]}


def leaves(s, above=()):
    """Paths and types in the order of the space: names, and _name of a branch."""
    for name, p in s.items():
        if name == "_name":
            continue
        yield above + (name,), p
        if p["_type"] == "choice" and all(
                isinstance(v, dict) and "_name" in v for v in p["_value"]):
            for v in p["_value"]:
                yield from leaves(v, above + (name, v["_name"]))


def flat(setting, above=()):
    for name, v in setting.items():
        if name == "_name":
            continue
        if isinstance(v, dict) and "_name" in v:
            yield above + (name,), v["_name"]
            yield from flat(v, above + (name, v["_name"]))
        else:
            yield above + (name,), v


def alike(a, b):
    return a is b if isinstance(a, bool) or isinstance(b, bool) else (
        a == b and isinstance(a, str) == isinstance(b, str))


def bounded(p, v, told):
    """Whether a value is one of the range; told: a note tells of its ends."""
    low, high = p.get("min", -math.inf), p.get("max", math.inf)
    if "sd" in p:  # beyond 4 sd, or where a step has no value of a logarithm
        x = math.log(v) if p.get("scale") == "log" and v > 0 else v
        if v <= 0 and p.get("scale") == "log" or \
                abs(x - p["mean"]) > 4 * p["sd"] - p.get("step", 0):
            return None
    if not low - 1e-9 <= v <= high + 1e-9:
        return None if told else False
    if "step" in p:
        k = (v - p.get("min", 0)) / p["step"]
        if abs(k - round(k)) > 1e-6:
            return None if told else False
    return True


def compare(hpotune, case, folder):
    path = os.path.join(folder, "search_space.json")
    with open(path, "w") as f:
        json.dump(case["space"], f)
    done = subprocess.run([hpotune, "import", "nni", path],
                          capture_output=True, text=True)
    if "no multiple of its step" in done.stderr:
        return []  # NNI has the bounds alone
    if done.returncode != 0:
        return ["refused: " + done.stderr.strip()]
    ours, notes, wrong = json.loads(done.stdout), done.stderr, []
    paths = list(leaves(case["space"]))
    if len(paths) != len(ours["parameters"]):
        return ["%d parameters, %d here" % (len(paths), len(ours["parameters"]))]
    here = dict(zip((path for path, _ in paths), ours["parameters"]))
    for (_, spec), p in zip(paths, ours["parameters"].values()):
        low, high = (spec["_value"] + [0])[:2]
        if spec["_type"] == "randint":
            high -= 1
        elif spec["_type"] not in ("uniform", "loguniform"):
            continue
        if (p.get("min", p.get("value")), p.get("max", p.get("value"))) != (low, high):
            wrong.append("%s is %s" % (spec, p))
    queue = []
    for setting in case["settings"]:
        got = {here[k]: v for k, v in flat(setting)}
        active = {n for n, p in ours["parameters"].items() if all(
            got.get(k) in v for k, v in p.get("when", {}).items())}
        if active != set(got):
            wrong.append("active: %s and %s" % (sorted(active), sorted(got)))
        inside = True
        for n, v in got.items():
            p = ours["parameters"][n]
            if p["type"] == "choice":
                good = any(alike(x, v) for x in p["values"])
            elif p["type"] == "fixed":
                good = p["value"] == v or (
                    None if n + ": its values " in notes else False)
            else:
                good = bounded(p, v, n + ": its values " in notes)
            if good is False:
                wrong.append("%s: %r is no value of %s" % (n, v, json.dumps(p)))
            inside = inside and good is True
        if inside and active == set(got):
            queue.append({n: v for n, v in got.items()
                          if ours["parameters"][n]["type"] != "fixed"})
    ours["enqueue"] = [q for q in queue if q]
    ours["trial"]["command"][0] = "true"
    with open(path, "w") as f:
        json.dump(ours, f)
    done = subprocess.run([hpotune, "check", path], capture_output=True, text=True)
    if done.returncode != 0:
        wrong.append("check refuses: " + done.stderr.strip())
    return wrong


def main():
    if sys.argv[1] == "--write":
        print(json.dumps(list(draw(int(sys.argv[2]), int(sys.argv[3])))))
        return
    try:
        cases = list(draw(int(sys.argv[2]), int(sys.argv[3])))
    except ImportError:
        with open(sys.argv[4]) as f:
            cases = json.load(f)
    with tempfile.TemporaryDirectory() as folder:
        for i, case in enumerate(cases):
            for line in compare(sys.argv[1], case, folder):
                print("%d: %s" % (i, line))
    print("compared %d" % len(cases))


main()
