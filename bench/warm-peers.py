"""usage: warm-peers.py optuna|ray TRIALS: trials of train.py in two workers.

Optuna: two processes on one SQLite file, as its manual has it for several workers
of a function that computes in Python.  Ray Tune: two actors, which are reused.
"""

import os
import subprocess
import sys

what, trials = sys.argv[1], int(sys.argv[2])

if what == "optuna":
    import optuna
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    from train import objective

    def run(study, n):
        study.optimize(lambda t: objective(t.suggest_float("x", 0, 1)), n_trials=n)

    storage = "sqlite:///optuna.db"
    if len(sys.argv) > 3:
        run(optuna.load_study(study_name="s", storage=storage), trials)
        sys.exit()
    study = optuna.create_study(study_name="s", storage=storage, direction="maximize",
                                sampler=optuna.samplers.RandomSampler())
    workers = [subprocess.Popen([sys.executable, __file__, "optuna", str(trials // 2),
                                 "worker"]) for _ in range(2)]
    assert not any(w.wait() for w in workers)
    assert len(study.trials) == trials
else:
    import ray
    from ray import tune

    def trial(config):
        from train import objective
        tune.report({"score": objective(config["x"])})

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False,
             runtime_env={"env_vars": {"PYTHONPATH": os.getcwd()}})
    found = tune.Tuner(
        tune.with_resources(trial, {"cpu": 1}), param_space={"x": tune.uniform(0, 1)},
        tune_config=tune.TuneConfig(metric="score", mode="max", num_samples=trials,
                                    reuse_actors=True),
        run_config=tune.RunConfig(storage_path=os.path.join(os.getcwd(), "ray"),
                                  verbose=0)).fit()
    assert found.num_terminated == trials and not found.num_errors
