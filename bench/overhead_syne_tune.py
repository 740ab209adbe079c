"""Syne Tune's local backend with a program per trial: trials per second.

overhead_syne_tune.py TRIALS PARALLEL PROGRAM
"""
import logging
import os
import sys
import tempfile
import time

logging.disable(logging.WARNING)
from syne_tune import StoppingCriterion, Tuner  # noqa: E402
from syne_tune.backend import LocalBackend  # noqa: E402
from syne_tune.config_space import uniform  # noqa: E402
from syne_tune.optimizer.baselines import RandomSearch  # noqa: E402

n, parallel = int(sys.argv[1]), int(sys.argv[2])

with tempfile.TemporaryDirectory() as folder:
    os.environ["SYNETUNE_FOLDER"] = folder
    script = os.path.join(folder, "five.py")
    with open(script, "w") as f:
        f.write("from syne_tune import Reporter\n"
                "import argparse\n"
                "p = argparse.ArgumentParser()\n"
                "p.add_argument('--x', type=float)\n"
                "a, _ = p.parse_known_args()\n"
                "r = Reporter()\n"
                "for step in range(1, 6):\n"
                "    r(step=step, v=a.x + step)\n")
    tuner = Tuner(
        trial_backend=LocalBackend(entry_point=script),
        scheduler=RandomSearch({"x": uniform(0, 1)}, metrics=["v"],
                               do_minimize=False, random_seed=1),
        stop_criterion=StoppingCriterion(max_num_trials_finished=n),
        n_workers=parallel, sleep_time=0.1, print_update_interval=1e9,
        save_tuner=False)
    began = time.perf_counter()
    tuner.run()
    print(f"{n / (time.perf_counter() - began):.2f}")
