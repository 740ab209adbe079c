"""Random histories: TPE's split, groups and densities in Optuna 5 and in
hpotune.

optuna_tpe.py PROGRAM KIND SEEDS: KIND is one (objective), bound (one, with
constraints), two, three or wide (several, with constraints).  Prints the number
of splits and of groups that differ and the largest difference of log densities;
PROGRAM is tests/tools/tpe-densities.
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
from optuna.search_space import IntersectionSearchSpace
from optuna.search_space.group_decomposed import _GroupDecomposedSearchSpace
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


KINDS = {"one": (1, 0), "bound": (1, 2), "two": (2, 0), "three": (3, 0),
         "wide": (2, 2)}


def history(r, n, n_losses, n_bounds):
    trials = []
    digits = 1 if n_losses < 3 else 12  # with 1 digit some are equal
    # A rule stops only where there is one objective.
    states = [1, 2, 0] if n_losses == 1 else [1, 1, 0]
    for _ in range(n):
        state = r.choices(states, weights=[6, 3, 1])[0]
        curve = [[s, r.choice([None, r.gauss(0, 1)] if r.random() < 0.1
                              else [r.gauss(0, 1)])]
                 for s in range(r.randint(0, 6))]
        trials.append({
            "state": state,
            "losses": [round(r.gauss(0, 1), digits) for _ in range(n_losses)],
            "violations": [round(r.uniform(-1, 0.5), 1)
                           for _ in range(n_bounds)],
            "params": draw(r), "curve": curve if n_losses == 1 else []})
    return trials


def freeze(study, trials):
    states = [TrialState.RUNNING, TrialState.COMPLETE, TrialState.PRUNED]
    frozen = []
    for i, t in enumerate(trials):
        reports = {s: math.nan if v is None else v for s, v in t["curve"]}
        ended = t["state"] > 0
        one = create_trial(
            state=states[t["state"]],
            values=t["losses"] if t["state"] == 1 else None,
            params=t["params"],
            distributions={k: DISTRIBUTIONS[k] for k in t["params"]},
            intermediate_values=reports,
            system_attrs={f"constraints:{k}": v
                          for k, v in enumerate(t["violations"])
                          if ended})
        one.number = i
        frozen.append(one)
    for one in frozen:
        study.add_trial(one)
    return frozen


def theirs(study, sampler, frozen, liar, names, points):
    finished = sum(t.state.is_finished() for t in frozen)
    gamma = sampler._gamma or (
        tpe.default_gamma if len(study.directions) == 1
        else tpe.default_gamma_multiobjective)
    seen = [t for t in frozen if liar or t.state.is_finished()]
    below, above = tpe._split_trials(study, seen, gamma(finished))
    space = {k: DISTRIBUTIONS[k] for k in names}
    at = {k: np.array([space[k].to_internal_repr(p[k]) for p in points])
          for k in names}
    densities = [
        sampler._build_parzen_estimator(study, space, part, handle_below=b)
        .log_pdf(at) for part, b in ((below, True), (above, False))]
    return [[t.number + 1 for t in part] for part in (below, above)], densities


def groups(study, joint):
    """Of each parameter the first one that is sampled together with it."""
    everything = list(DISTRIBUTIONS)
    if joint == 0:
        return list(range(len(everything)))
    if joint == 1:
        parts = [IntersectionSearchSpace(include_pruned=True)
                 .calculate(study)]
    else:
        parts = (_GroupDecomposedSearchSpace(include_pruned=True)
                 .calculate(study).search_spaces)
    of = {name: min(everything.index(k) for k in part)
          for part in parts for name in part}
    return [of.get(name, i) for i, name in enumerate(everything)]


def ours(program, trials, n_losses, n_bounds, maximize, joint, names, points,
         options):
    question = {"space": {name: mine for name, mine, _, _ in SPACE},
                "options": options, "names": names, "maximize": maximize,
                "bounds": n_bounds, "joint": joint,
                "trials": trials, "points": points}
    out = subprocess.run([program], input=json.dumps(question), text=True,
                         stdout=subprocess.PIPE, check=True).stdout
    lines = [line.split() for line in out.split("\n")[:-1]]
    lists = [[int(x) for x in line] for line in lines[:3]]
    return lists[:2], lists[2], np.array(
        [[float(x) for x in line] for line in lines[3:]]).T


def settings(r):
    """The same options in our words and in Optuna's."""
    mine = r.choice([{}, {}, {"prior_weight": 0.3},
                     {"consider_endpoints": 1},
                     {"consider_magic_clip": 0},
                     {"consider_endpoints": 1, "consider_magic_clip": 0},
                     {"uniform": 1}, {"hyperopt": 1},
                     {"constant_liar": 0}])
    named = {k: v if k == "prior_weight" else bool(v)
             for k, v in mine.items() if k not in ("uniform", "hyperopt")}
    if "uniform" in mine:
        named["weights"] = np.ones
    if "hyperopt" in mine:
        named["gamma"] = tpe.hyperopt_default_gamma
    return mine, named


def compare(program, kind, seed):
    r = random.Random(seed)
    n_losses, n_bounds = KINDS[kind]
    trials = history(r, r.choice([1, 2, 5, 12, 30, 60, 150, 400]), n_losses,
                     n_bounds)
    maximize = [r.randint(0, 1) for _ in range(n_losses)]
    options, named = settings(r)
    plain = [name for name, mine, _, _ in SPACE if "when" not in mine]
    names = r.choice([plain, plain, ["rate"], ["depth", "kind"],
                      ["depth", "rate"], [r.choice(plain)]])
    points = [draw(r, ["b"]) for _ in range(20)]
    study = optuna.create_study(
        directions=["maximize" if m else "minimize" for m in maximize])
    sampler = optuna.samplers.TPESampler(multivariate=True, **named)
    joint = r.randint(0, 2)
    want_split, want = theirs(study, sampler, freeze(study, trials),
                              named.get("constant_liar", True), names, points)
    split, group, got = ours(program, trials, n_losses, n_bounds, maximize,
                             joint, names, points, options)
    # Without the clip densities are as sharp as digits allow: so is the test.
    worst = float(np.max(np.abs(got - want) / np.maximum(1, np.abs(want))))
    finished = any(t["state"] > 0 for t in trials)
    parted = split != want_split
    grouped = finished and group != groups(study, joint)
    if parted or grouped or not worst < 1e-9:
        print(f"# {kind} {seed}: split {parted}, groups {grouped}, {worst:g}: "
              f"{len(trials)} trials, {names}, {options}", file=sys.stderr)
    return parted, grouped, worst


if __name__ == "__main__":
    found = [compare(sys.argv[1], sys.argv[2], seed)
             for seed in range(int(sys.argv[3]))]
    print(sum(f[0] for f in found), sum(f[1] for f in found),
          max(f[2] for f in found))
