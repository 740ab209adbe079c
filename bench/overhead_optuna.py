"""Optuna with SQLite and a subprocess per trial: trials per second.

overhead_optuna.py TRIALS PARALLEL PROGRAM
"""
import os
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

import optuna

optuna.logging.set_verbosity(optuna.logging.ERROR)
n, parallel, program = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
line = re.compile(r"hpotune: step=(\d+) v=(\S+)")


def objective(trial):
    trial.suggest_float("x", 0, 1)
    value = 0.0
    child = subprocess.Popen([program, "reports", "5"], text=True,
                             stdout=subprocess.PIPE,
                             env=dict(os.environ, HPOTUNE_TRIAL=str(trial.number)))
    for text in child.stdout:
        found = line.match(text)
        if found:
            value = float(found.group(2))
            trial.report(value, int(found.group(1)))
            if trial.should_prune():
                child.terminate()
                child.wait()
                raise optuna.TrialPruned()
    child.wait()
    return value


with tempfile.TemporaryDirectory() as folder:
    study = optuna.create_study(
        storage=f"sqlite:///{folder}/study.db", direction="maximize",
        sampler=optuna.samplers.RandomSampler(seed=1),
        pruner=optuna.pruners.MedianPruner())
    began = time.perf_counter()
    study.optimize(objective, n_trials=n, n_jobs=parallel)
    print(f"{n / (time.perf_counter() - began):.2f}")
