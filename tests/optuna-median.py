"""Random streams through Optuna and through tests/stop-stream.

    optuna-median.py STOP-STREAM STREAMS SECONDS

Prints a line per stream whose decisions differ, and last how many streams and
decisions were compared.
"""

import json
import math
import random
import subprocess
import sys
import time

import optuna
from optuna.trial import TrialState

NAMES = {
    TrialState.COMPLETE: "completed",
    TrialState.PRUNED: "stopped",
    TrialState.FAIL: "failed",
}


def any_value(rng, odd):
    x = rng.random()
    if x < odd:
        return rng.choice([math.nan, math.nan, math.inf, -math.inf])
    if x < 0.6:
        return float(rng.randrange(8))
    return rng.gauss(0, 3)


def any_settings(rng):
    return {
        "percentile": rng.choice([50.0, 50.0, 25.0, 10.0, 75.0, 33.3, 90.0]),
        "n_startup_trials": rng.choice([0, 1, 3, 5]),
        "n_warmup_steps": rng.choice([0, 0, 2, 5]),
        "interval_steps": rng.choice([1, 1, 2, 3]),
        "n_min_trials": rng.choice([1, 1, 2, 4]),
    }


class Stream:
    """One study: events, and what Optuna said to each report."""

    def __init__(self, seed):
        self.rng = rng = random.Random(seed)
        self.settings = any_settings(rng)
        self.goal = rng.choice(["minimize", "maximize"])
        self.odd = rng.choice([0.0, 0.0, 0.1, 0.4])
        self.study = optuna.create_study(
            direction=self.goal,
            sampler=optuna.samplers.RandomSampler(seed=seed),
            pruner=optuna.pruners.PercentilePruner(
                self.settings["percentile"],
                n_startup_trials=self.settings["n_startup_trials"],
                n_warmup_steps=self.settings["n_warmup_steps"],
                interval_steps=self.settings["interval_steps"],
                n_min_trials=self.settings["n_min_trials"]))
        self.events = []
        self.decisions = []

    def report(self, number, trial, steps):
        if steps and self.rng.random() < 0.1:
            free = set(range(14)) - steps
            step = self.rng.choice(sorted(free)) if free else max(steps) + 1
        else:
            step = max(steps, default=-1) + self.rng.choice([1, 1, 1, 2, 4])
        value = any_value(self.rng, self.odd)
        steps.add(step)
        trial.report(value, step)
        self.events.append("%d %d %r" % (number, step, value))
        self.decisions.append("stop" if trial.should_prune() else "keep")

    def end(self, number, trial):
        state = self.rng.choice(
            [TrialState.COMPLETE] * 3 + [TrialState.PRUNED, TrialState.FAIL])
        self.study.tell(
            trial, 0.0 if state == TrialState.COMPLETE else None, state=state)
        self.events.append("%d end %s" % (number, NAMES[state]))

    def run(self, length):
        running = {}
        count = 0
        for _ in range(length):
            if not running or (len(running) < 4 and self.rng.random() < 0.2):
                count += 1
                running[count] = (self.study.ask(), set())
            number = self.rng.choice(sorted(running))
            trial, steps = running[number]
            if self.rng.random() < 0.1:
                self.end(number, trial)
                del running[number]
            else:
                self.report(number, trial, steps)


def compare(program, seed):
    stream = Stream(seed)
    stream.run(120)
    ours = subprocess.run(
        [program, "optuna", json.dumps(stream.settings), stream.goal],
        input="\n".join(stream.events) + "\n",
        capture_output=True, text=True, check=True).stdout.split()
    if ours != stream.decisions:
        at = [a == b for a, b in zip(ours, stream.decisions)].index(False)
        reports = [e for e in stream.events if " end " not in e]
        print("stream %d (%s %s): report %d (%s): %s, Optuna says %s" % (
            seed, json.dumps(stream.settings), stream.goal, at, reports[at],
            ours[at], stream.decisions[at]))
        return len(ours), False
    return len(ours), True


def main():
    program, streams, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    until = time.monotonic() + seconds
    done = decisions = 0
    good = True
    for seed in range(streams):
        if time.monotonic() > until:
            break
        n, same = compare(program, seed)
        good = same and good
        decisions += n
        done += 1
    print("%d streams, %d decisions, Optuna %s" % (
        done, decisions, optuna.__version__))
    sys.exit(0 if good and done > 0 else 1)


main()
