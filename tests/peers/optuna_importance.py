"""Random studies: importances in Optuna 5 and in hpotune.

optuna_importance.py PROGRAM SEEDS: prints the largest relative difference of
PED-ANOVA and the largest difference of fANOVA shares; PROGRAM is
tests/tools/importance-of.
"""
import json
import random
import subprocess
import sys
import warnings

import optuna
from optuna.importance import (FanovaImportanceEvaluator,
                               PedAnovaImportanceEvaluator)
from optuna.trial import create_trial

from optuna_tpe import DISTRIBUTIONS, SPACE, draw

warnings.simplefilter("ignore")
optuna.logging.set_verbosity(optuna.logging.ERROR)


def loss(r, p):
    value = (p["x"] / 5) ** 2 + 2 * p["drop"] + "abcd".index(p["kind"]) / 3
    if "rate" in p:
        value += p["rate"]
    return value + r.gauss(0, 0.1)


def ours(program, target, trials, names):
    question = {"space": {n: mine for n, mine, _, _ in SPACE if n in names},
                "target": target, "trials": trials}
    done = subprocess.run([program], input=json.dumps(question),
                          capture_output=True, text=True, check=True)
    rows = (line.split() for line in done.stdout.splitlines())
    return {name: (float(ped), float(forest)) for name, ped, forest in rows}


def study_of(trials):
    study = optuna.create_study()
    for t in trials:
        study.add_trial(create_trial(
            value=t["loss"], params=t["params"],
            distributions={n: DISTRIBUTIONS[n] for n in t["params"]}))
    return study


def random_trials(r, names, n):
    trials = []
    for _ in range(n):
        params = {k: v for k, v in draw(r).items() if k in names}
        trials.append({"params": params, "loss": loss(r, params)})
    return trials


def compare_ped(program, seed):
    r = random.Random(seed)
    trials = random_trials(r, DISTRIBUTIONS, r.choice([12, 80, 300]))
    target = r.choice([0.05, 0.1, 0.3])
    mine = ours(program, target, trials, DISTRIBUTIONS)
    theirs = PedAnovaImportanceEvaluator(
        target_quantile=target).evaluate(study_of(trials))
    worst = 0.0
    for name, value in theirs.items():
        difference = abs(mine[name][0] - value) / max(value, 1e-3)
        if difference > 1e-6:
            print("PED-ANOVA", seed, target, len(trials), name, mine[name][0],
                  value, file=sys.stderr)
        worst = max(worst, difference)
    return worst


def compare_forest(program, seed):
    """Parameters that every trial has: Optuna's has no others."""
    r = random.Random(seed)
    names = [n for n in DISTRIBUTIONS if n not in ("depth", "rate")]
    trials = random_trials(r, names, 200)
    mine = ours(program, 0.1, trials, names)
    theirs = FanovaImportanceEvaluator(seed=1).evaluate(study_of(trials))
    print("fANOVA", seed, [(n, round(mine[n][1], 3), round(theirs[n], 3))
                           for n in names], file=sys.stderr)
    return max(abs(mine[n][1] - theirs[n]) for n in names)


if __name__ == "__main__":
    print(max(compare_ped(sys.argv[1], s) for s in range(int(sys.argv[2]))),
          max(compare_forest(sys.argv[1], s) for s in range(3)))
