"""What a trial costs beyond its function: hpotune.optimize beside Optuna.

    PYTHONPATH=python PATH=$PWD:$PATH PYTHON bench/optimize.py [TRIALS [ROUNDS]]

PYTHON has optuna.  Each round runs all of them in turn, in a folder of its own; the
figures are the medians of the rounds, of milliseconds of wall time for each trial, TPE
in all.
"""

import os
import statistics
import sys
import tempfile
import time

import hpotune
import optuna

trials = int(sys.argv[1]) if len(sys.argv) > 1 else 100
rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
optuna.logging.set_verbosity(optuna.logging.ERROR)


def with_optuna(storage, reports):
    def function(trial):
        x, y = (trial.suggest_float(k, -5, 5) for k in "xy")
        for step in range(reports):
            trial.report(x * x + y, step)
            trial.should_prune()
        return x * x + y
    optuna.create_study(storage=storage).optimize(function, n_trials=trials)


def with_hpotune(parallel, reports):
    def function(p, trial):
        value = p["x"] ** 2 + p["y"]
        for step in range(reports):
            trial.report(step, value)
        return value
    hpotune.optimize(function, {"x": (-5.0, 5.0), "y": (-5.0, 5.0)}, trials=trials,
                     parallel=parallel, strategy="tpe", show=False)


ways = {
    "Optuna in memory": lambda n: with_optuna(None, n),
    "Optuna, SQLite": lambda n: with_optuna("sqlite:///optuna.db", n),
    "hpotune.optimize": lambda n: with_hpotune(1, n),
    "hpotune.optimize, 2 workers": lambda n: with_hpotune(2, n),
}
found = {}
for _ in range(rounds):
    for reports in 0, 10:
        for name, way in ways.items():
            with tempfile.TemporaryDirectory(dir=".") as folder:
                os.chdir(folder)
                begin = time.monotonic()
                way(reports)
                ms = (time.monotonic() - begin) / trials * 1000
                os.chdir("..")
            found.setdefault((name, reports), []).append(ms)
for name in ways:
    print(f"{name:30}", *(f"{statistics.median(found[name, n]):8.1f} ms with {n} reports"
                          for n in (0, 10)))
