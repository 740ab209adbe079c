"""Random sweeps of W&B: what its own sampler and agent make of each, and what
hpotune import makes of it, value by value and argument by argument.

import_wandb.py HPOTUNE COUNT [SEED]: prints a line for each difference and the
number of definitions that were compared."""
import ast
import contextlib
import json
import math
import os
import random
import subprocess
import sys
import tempfile

import yaml
from jsonschema import ValidationError
from sweeps.config import SweepConfig
from sweeps.params import HyperParameterSet
from wandb.sdk.launch.sweeps.utils import create_sweep_command_args

hpotune, count = sys.argv[1], int(sys.argv[2])
rng = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
random.seed(rng.random())  # the sampler's
texts = ["adam", "a b", "1e-5", "true", "True", "null", "None", "yes", "~", "1",
         "0x1f", "1_000", "12:30", "it's", 'say "so"', "a,b", "", " ", "[1, 2]",
         "{a}", "#no", "a: b", "é", "back\\slash", "new\nline", "-1", "- x",
         "2001-01-01", ".5", "nan", "%", "@at", "`", "!t", "&a", "*b", "|", ">"]


def scalar():
    return rng.choice([
        lambda: rng.randint(-5, 100), lambda: rng.choice([1.0, 2.0, 1e16, 100.0]),
        lambda: round(rng.uniform(-2, 2), rng.randint(0, 5)),
        lambda: 10.0 ** rng.randint(-9, 20), lambda: rng.random(),
        lambda: rng.choice([True, False, None]), lambda: rng.choice(texts)])()


def tree(depth=0):
    if depth > 2 or rng.random() < 0.6:
        return scalar()
    if rng.random() < 0.7:
        return [tree(depth + 1) for _ in range(rng.randint(0, 3))]
    return {rng.choice("abcxyz") + str(i): tree(depth + 1)
            for i in range(rng.randint(0, 2))}


def different(n, make):
    found = []
    while len(found) < n:
        v = make()
        if not any(v == f for f in found):  # as the schema has it: 1 == 1.0
            found.append(v)
    return found


def parameter(depth=0):
    kind = rng.randint(0, 13 if depth < 2 else 12)
    low = rng.choice([rng.randint(-5, 5), round(rng.uniform(-1, 1), 3)])
    high = low + rng.choice([rng.randint(1, 50), round(rng.uniform(1, 5), 2)])
    q = rng.choice([1, 2, 5, 0.5, 0.1, 0.25])
    if kind == 0:
        return {"value": tree()}
    if kind <= 3:
        p = {"values": different(rng.randint(1, 5), tree)}
        if rng.random() < 0.2:
            n = len(p["values"])
            p["probabilities"] = [1 / n] * n
        return p
    if kind == 4:
        return {"min": int(low), "max": int(low) + rng.randint(1, 99)}
    if kind == 5:
        return {"min": float(low), "max": float(high)}
    if kind == 6:
        return {"distribution": "q_uniform", "min": low, "max": low + 50, "q": q}
    if kind == 7:
        return {"distribution": "log_uniform", "min": rng.choice([-9, -1, -3.5]),
                "max": rng.choice([0, 1, 2.5])}
    if kind == 8:
        return {"distribution": "log_uniform_values",
                "min": 10.0 ** -rng.randint(1, 9), "max": 10.0 ** rng.randint(0, 3)}
    if kind == 9:
        return {"distribution": "q_log_uniform_values", "min": rng.choice([1, 2]),
                "max": 1024, "q": rng.choice([1, 2, 16])}
    if kind == 10:
        return {"distribution": "normal", "mu": low, "sigma": abs(low) + 1}
    if kind == 11:
        return {"distribution": "int_uniform", "min": int(low),
                "max": int(low) + 10}
    if kind == 12:
        return {"distribution": "uniform", "min": low, "max": high}
    return {"parameters": {n: parameter(depth + 1) for n in
                           rng.sample(["p", "q.r", "s"], rng.randint(1, 2))}}


names = ["lr", "LR", "opt.name", "n-layers", "n_layers", "x.y", "trial", "drop",
         "seed", "_a", "a" * 70, "a" * 71]


def sweep():
    s = {"method": "random", "metric": {"name": "val/loss", "goal": "minimize"},
         "run_cap": 3, "parameters": {n: parameter() for n in
                                      rng.sample(names, rng.randint(1, 5))}}
    if rng.random() < 0.4:
        s["command"] = ["./train", rng.choice(
            ["${args}", "${args_no_equals}", "${args_no_boolean_flags}",
             "${args_json_file}"])]
    else:
        s["program"] = "train.py"
    return s


def plain(v):
    """Numbers of numpy as those of Python."""
    if type(v) is dict:
        return {k: plain(x) for k, x in v.items()}
    return v.item() if hasattr(v, "item") else v


def flat(above, v):
    if type(v) is dict and above in groups:
        for k, x in v.items():
            yield from flat(above + "\0" + k, x)
    else:
        yield above, plain(v)


def groups_of(params, above=""):
    for k, p in params.items():
        if "parameters" in p:
            yield above + k
            yield from groups_of(p["parameters"], above + k + "\0")


def leaves(params, above=""):
    for k, p in params.items():
        if "parameters" in p:
            yield from leaves(p["parameters"], above + k + "\0")
        else:
            yield above + k


def near(a, b):
    """The same value: a number to the last digits, of the same type."""
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(near, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return list(a) == list(b) and all(map(near, a.values(), b.values()))
    if b == "1e-5" and a == 1e-5:
        return True  # a text of YAML 1.1, and a number of YAML 1.2
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        return a == b or math.isclose(a, b, rel_tol=1e-9)
    return type(a) is type(b) and a == b


def number(v):
    """1e-5 is a number for hpotune, as its manual says."""
    if isinstance(v, list):
        return [number(x) for x in v]
    if isinstance(v, dict):
        return {k: number(x) for k, x in v.items()}
    return 1e-5 if v == "1e-5" else v


def alike(a, b):
    return type(a) is type(b) or b == "1e-5"


def read(text):
    """What a program of Python makes of an argument."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def same_argument(ours, theirs):
    a, b = ours.partition("=")[2], theirs.partition("=")[2]
    if "=" not in ours:
        a, b = ours, theirs
    return a == b or near(read(a), read(b)) and type(read(a)) is type(read(b))


def pairs(words, form):
    """The arguments by the names that they begin with."""
    if form == "args_no_equals":
        return {a.lstrip("-"): b for a, b in zip(words[::2], words[1::2])}
    return {w.partition("=")[0].lstrip("-+"): w for w in words}


def beyond(params, here, notes, setting):
    """Whether a value is rounded beyond its bounds, of which a note tells, or
    farther from the mean of a prior than steps are here."""
    for n, v in setting.items():
        p = params[here[n]]
        if "step" in p and not p["min"] <= v <= p["max"] and (
                here[n] + ": its values are the multiples of" in notes
                or "sd" in p):
            return True
        if "sd" in p and not abs((math.log(v) if "scale" in p else v)
                                 - p["mean"]) < 4 * p["sd"]:
            return True
    return False


def compare(i, folder):
    global groups
    s = sweep()
    with contextlib.redirect_stdout(sys.stderr):
        try:
            SweepConfig(s)
        except ValidationError as error:  # log_uniform has been replaced there
            if "uses log_uniform" not in str(error):
                raise
        params = HyperParameterSet.from_config(s["parameters"])
    path = os.path.join(folder, "sweep.yaml")
    with open(path, "w") as f:
        yaml.safe_dump(s, f, sort_keys=False, allow_unicode=rng.random() < 0.5,
                       default_flow_style=rng.choice([None, True, False]),
                       width=rng.choice([20, 80, 1000]))
    study = os.path.join(folder, "study.json")
    done = subprocess.run([hpotune, "import", "wandb", path],
                          capture_output=True, text=True)
    if done.returncode != 0:
        return ["refused: " + done.stderr.strip()]
    ours = json.loads(done.stdout)
    notes = done.stderr
    groups = set(groups_of(s["parameters"]))
    theirs = list(leaves(s["parameters"]))
    here = dict(zip(theirs, ours["parameters"]))
    wrong = []
    if len(theirs) != len(ours["parameters"]):
        return ["%d parameters, %d here" % (len(theirs), len(ours["parameters"]))]
    for name, mine in here.items():
        told = any(" name is %s here" % mine[:k] in notes
                   for k in range(1, len(mine) + 1))
        if name.replace("\0", ".") != mine and not told:
            wrong.append("%s is %s without a note" % (name, mine))
    settings = []
    for _ in range(8):
        for p in params:
            p.value = p.sample()
        config = {k: v["value"] for k, v in params.to_config().items()}
        settings.append({n: v for k, top in config.items()
                         for n, v in flat(k, top)})
        args = {k: {"value": plain(config[k])} for k in s["parameters"]}
    ours["enqueue"] = [{here[n]: number(v) for n, v in t.items()} for t in settings
                       if not beyond(ours["parameters"], here, notes, t)]
    ours["limits"]["trials"] = 9
    command = ours["trial"]["command"]
    command[0] = "true"
    with open(study, "w") as f:
        json.dump(ours, f)
    for n, v in [item for t in settings for item in t.items()]:
        p = ours["parameters"][here[n]]
        if p["type"] == "choice":
            found = any(near(x, v) and alike(x, v) for x in p["values"])
        elif p["type"] == "fixed":
            found = near(p["value"], v) and alike(p["value"], v)
        else:
            low = p.get("min", -math.inf)
            high = p.get("max", math.inf)
            found = low - 1e-9 <= v <= high + 1e-9
        if not found and not beyond(ours["parameters"], here, notes, {n: v}):
            wrong.append("%s: %r is no value of %s" % (n, v, json.dumps(p)))
    done = subprocess.run([hpotune, "check", "--json", study],
                          capture_output=True, text=True)
    if done.returncode != 0:
        return wrong + ["check refuses: " + done.stderr.strip() + json.dumps(ours["enqueue"])]
    # The last setting as the agent passes it and as {params} does.
    del ours["enqueue"]
    ours["parameters"] = {here[n]: {"type": "fixed", "value": v}
                          for n, v in ((n, settings[-1][n]) for n in here)}
    with open(study, "w") as f:
        json.dump(ours, f)
    done = subprocess.run([hpotune, "check", "--json", study],
                          capture_output=True, text=True)
    argv = json.loads(done.stdout)["command"]
    made = create_sweep_command_args({"args": args})
    form = s.get("command", ["", "${args}"])[1][2:-1]
    if groups or form == "args_json_file":
        return wrong
    got = pairs(argv[1 if "command" in s else 2:], form)
    want = pairs(made[form], form)
    # What no argument of its own gives by the program's name, a note tells.
    want = {n if n not in here or "gets it as %s\n" % n in notes
            else here[n]: a for n, a in want.items()}
    # {params:flags} writes null and lists as JSON, of which a note tells.
    if got.keys() != want.keys():
        wrong.append("arguments %s and %s" % (argv, made[form]))
    elif form == "args_no_boolean_flags" and "{params:flags}" in notes:
        pass
    else:
        for n in want:
            if not same_argument(got[n], want[n]):
                wrong.append("argument %r is %r" % (want[n], got[n]))
    return wrong


def main():
    with tempfile.TemporaryDirectory() as folder:
        for i in range(count):
            for line in compare(i, folder):
                print("%d: %s" % (i, line))
    print("compared %d" % count)


main()
