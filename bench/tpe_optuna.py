"""TPE of Optuna or Rustuna alone, in memory: seconds for the suggestions.

tpe_optuna.py MODULE SUGGESTIONS PARAMETERS KIND, as bench/tpe-speed
"""
import importlib
import sys
import time
import warnings

warnings.simplefilter("ignore")
module = importlib.import_module(sys.argv[1])
n, dims, kind = int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
if hasattr(module, "logging"):
    module.logging.set_verbosity(module.logging.ERROR)


def objective(trial):
    total = 0.0
    for i in range(dims):
        which = i % 6 if kind == "mixed" else 0
        if which == 1:
            u = trial.suggest_int(f"x{i}", 1, 100) / 100
        elif which == 3:
            u = "abc".index(trial.suggest_categorical(f"x{i}", list("abc"))) / 3
        elif which == 5:
            u = trial.suggest_float(f"x{i}", 1e-5, 1, log=True)
        else:
            u = trial.suggest_float(f"x{i}", -5, 5) / 10 + 0.5
        total += (u - 0.3) ** 2
    return total


study = module.create_study(sampler=module.samplers.TPESampler(seed=1))
began = time.perf_counter()
study.optimize(objective, n_trials=n)
print(f"{time.perf_counter() - began:.4f}")
