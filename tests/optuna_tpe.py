"""Random histories: TPE's densities in Optuna 5 and in hpotune.

optuna_tpe.py PROGRAM SEEDS: prints the largest difference of log densities;
PROGRAM is tests/tpe-density.
"""
import json
import math
import random
import subprocess
import sys
import warnings

import numpy as np
import optuna
from optuna.distributions import (CategoricalDistribution, FloatDistribution,
                                  IntDistribution)
from optuna.samplers._tpe import sampler as tpe
from optuna.trial import TrialState, create_trial

warnings.simplefilter("ignore")
optuna.logging.set_verbosity(optuna.logging.ERROR)
# Equal observations in the order of their trials, as we have them: Optuna's
# own order of them is whatever the sort leaves.
unstable = np.argsort
np.argsort = lambda a, *rest, **named: unstable(a, kind="stable")

# name, ours, Optuna's, a random value
WORDS = ["a", "b", "c", "d"]
SPACE = [
    ("x", {"type": "float", "min": -3, "max": 7},
     FloatDistribution(-3, 7), lambda r: r.uniform(-3, 7)),
    ("edge", {"type": "float", "min": 0, "max": 1},
     FloatDistribution(0, 1), lambda r: r.choice([0.0, 1.0, r.random()])),
    ("lr", {"type": "float", "min": 1e-5, "max": 10, "scale": "log"},
     FloatDistribution(1e-5, 10, log=True),
     lambda r: math.exp(r.uniform(math.log(1e-5), math.log(10)))),
    ("n", {"type": "int", "min": 1, "max": 5},
     IntDistribution(1, 5), lambda r: r.randint(1, 5)),
    ("wide", {"type": "int", "min": -400, "max": 600},
     IntDistribution(-400, 600), lambda r: r.randint(-400, 600)),
    ("threes", {"type": "int", "min": 2, "max": 20, "step": 3},
     IntDistribution(2, 20, step=3), lambda r: r.randrange(2, 21, 3)),
    ("hidden", {"type": "int", "min": 1, "max": 3000, "scale": "log"},
     IntDistribution(1, 3000, log=True),
     lambda r: int(math.exp(r.uniform(0, math.log(3000))))),
    ("drop", {"type": "float", "min": 0, "max": 0.5, "step": 0.125},
     FloatDistribution(0, 0.5, step=0.125), lambda r: r.randint(0, 4) / 8),
    ("kind", {"type": "choice", "values": WORDS},
     CategoricalDistribution(WORDS), lambda r: r.choice(WORDS)),
    ("depth", {"type": "int", "min": 1, "max": 9, "when": {"kind": ["a", "b"]}},
     IntDistribution(1, 9), lambda r: r.randint(1, 9)),
    ("rate", {"type": "float", "min": 0.1, "max": 2, "when": {"kind": ["b"]}},
     FloatDistribution(0.1, 2), lambda r: r.uniform(0.1, 2)),
]
DISTRIBUTIONS = {name: theirs for name, _, theirs, _ in SPACE}


def draw(r, kinds=WORDS):
    params = {name: value(r) for name, _, _, value in SPACE}
    params["kind"] = r.choice(kinds)
    if params["kind"] not in "ab":
        del params["depth"]
    if params["kind"] != "b":
        del params["rate"]
    # Ours keep 12 or 13 digits.
    return {k: float(f"{v:.11g}") if isinstance(v, float) else v
            for k, v in params.items()}


def history(r, n):
    trials = []
    for _ in range(n):
        state = r.choices([1, 2, 0], weights=[6, 3, 1])[0]
        curve = [[s, r.choice([None, r.gauss(0, 1)] if r.random() < 0.1
                              else [r.gauss(0, 1)])]
                 for s in range(r.randint(0, 6))]
        trials.append({"state": state, "loss": round(r.gauss(0, 1), 1),
                       "params": draw(r), "curve": curve})
    return trials


def theirs(study, sampler, trials, n_below, names, points):
    states = [TrialState.RUNNING, TrialState.COMPLETE, TrialState.PRUNED]
    frozen = []
    for i, t in enumerate(trials):
        reports = {s: math.nan if v is None else v for s, v in t["curve"]}
        one = create_trial(
            state=states[t["state"]],
            value=t["loss"] if t["state"] == 1 else None, params=t["params"],
            distributions={k: DISTRIBUTIONS[k] for k in t["params"]},
            intermediate_values=reports)
        one.number = i
        frozen.append(one)
    below, above = tpe._split_trials(study, frozen, n_below)
    space = {k: DISTRIBUTIONS[k] for k in names}
    at = {k: np.array([space[k].to_internal_repr(p[k]) for p in points])
          for k in names}
    return [sampler._build_parzen_estimator(study, space, part, handle_below=b)
            .log_pdf(at) for part, b in ((below, True), (above, False))]


def ours(program, trials, n_below, names, points, options):
    question = {"space": {name: mine for name, mine, _, _ in SPACE},
                "options": options, "names": names, "n_below": n_below,
                "trials": trials, "points": points}
    out = subprocess.run([program], input=json.dumps(question), text=True,
                         stdout=subprocess.PIPE, check=True).stdout
    return np.array([[float(x) for x in line.split()]
                     for line in out.splitlines()]).T


def compare(program, seed):
    r = random.Random(seed)
    trials = history(r, r.choice([1, 2, 5, 12, 30, 60, 150]))
    options = r.choice([{}, {}, {"prior_weight": 0.3},
                        {"consider_endpoints": 1},
                        {"consider_magic_clip": 0}])
    finished = sum(t["state"] > 0 for t in trials)
    n_below = tpe.default_gamma(finished)
    plain = [name for name, mine, _, _ in SPACE if "when" not in mine]
    names = r.choice([plain, plain, ["rate"], ["depth", "kind"],
                      ["depth", "rate"], [r.choice(plain)]])
    points = [draw(r, ["b"]) for _ in range(20)]
    study = optuna.create_study()
    sampler = optuna.samplers.TPESampler(
        multivariate=True, **{k: v if k == "prior_weight" else bool(v)
                              for k, v in options.items()})
    want = theirs(study, sampler, trials, n_below, names, points)
    got = ours(program, trials, n_below, names, points, options)
    # Without the clip densities are as sharp as digits allow: so is the test.
    worst = float(np.max(np.abs(got - want) / np.maximum(1, np.abs(want))))
    if not worst < 1e-9:
        print(f"# seed {seed}: {worst:g}: {len(trials)} trials, {names}, "
              f"{options}", file=sys.stderr)
    return worst


print(max(compare(sys.argv[1], seed) for seed in range(int(sys.argv[2]))))
