#!/usr/bin/env python3
"""Optuna with submitit on a Slurm cluster, the recipe of its users: a driver asks
Optuna for settings, submits a job for each, polls the jobs, and tells the results.

slurm-peer.py STORAGE TRIALS PARALLEL LEDGER: goes on with the study of STORAGE until
TRIALS trials are complete.  Each job appends a line when it begins and one when it
ends to LEDGER.  Prints the number of trials that are complete.
"""
import logging
import sys
import time

import optuna
import submitit


def trial(number, x, ledger):
    with open(ledger, "a") as f:
        f.write(f"begin {number}\n")
    for step in range(3):
        time.sleep(0.3)
    with open(ledger, "a") as f:
        f.write(f"end {number}\n")
    return (x - 0.3) ** 2


def main():
    storage, trials, parallel, ledger = sys.argv[1:]
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    logging.getLogger("submitit").setLevel(logging.ERROR)
    study = optuna.create_study(
        storage=f"sqlite:///{storage}", study_name="peer", load_if_exists=True
    )
    executor = submitit.AutoExecutor(folder=f"{storage}.jobs", cluster="slurm")
    executor.update_parameters(timeout_min=5, cpus_per_task=1)

    def complete():
        return sum(
            t.state == optuna.trial.TrialState.COMPLETE for t in study.get_trials()
        )

    running = []
    done = complete()
    while done < int(trials):
        while len(running) < min(int(parallel), int(trials) - done):
            t = study.ask()
            x = t.suggest_float("x", 0, 1)
            running.append((t, executor.submit(trial, t.number, x, ledger)))
        for pair in list(running):
            t, job = pair
            # Without accounting the state is unknown: its result is a file.
            if job.paths.result_pickle.exists():
                study.tell(t, job.result())
                running.remove(pair)
                done += 1
        time.sleep(0.2)
    print(complete())


if __name__ == "__main__":
    main()
