"""Random streams through Optuna and through tests/tools/stop-stream.

    optuna_median.py STOP-STREAM RULE STREAMS SECONDS

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


class Median:
    """One study: events, and what Optuna said to each report."""

    rule = "optuna"

    def __init__(self, seed):
        self.rng = rng = random.Random(seed)
        self.settings = self.any_settings(rng)
        self.goal = rng.choice(["minimize", "maximize"])
        self.odd = rng.choice([0.0, 0.0, 0.1, 0.4])
        self.study = optuna.create_study(
            direction=self.goal,
            sampler=optuna.samplers.RandomSampler(seed=seed),
            pruner=self.pruner(), study_name="demo")
        self.events = []
        self.decisions = []

    def any_settings(self, rng):
        return {
            "percentile": rng.choice(
                [50.0, 50.0, 25.0, 10.0, 75.0, 33.3, 90.0]),
            "n_startup_trials": rng.choice([0, 1, 3, 5]),
            "n_warmup_steps": rng.choice([0, 0, 2, 5]),
            "interval_steps": rng.choice([1, 1, 2, 3]),
            "n_min_trials": rng.choice([1, 1, 2, 4]),
        }

    def pruner(self):
        return optuna.pruners.PercentilePruner(**self.settings)

    def ours(self):
        return self.settings

    def next_step(self, steps):
        if steps and self.rng.random() < 0.1:
            free = set(range(14)) - steps
            return self.rng.choice(sorted(free)) if free else max(steps) + 1
        return max(steps, default=-1) + self.rng.choice([1, 1, 1, 2, 4])

    def goes_on(self):
        return True

    def report(self, number, trial, steps):
        step = self.next_step(steps)
        value = any_value(self.rng, self.odd)
        steps.add(step)
        trial.report(value, step)
        self.events.append("%d %d %r" % (number, step, value))
        self.decisions.append("stop" if trial.should_prune() else "keep")

    def any_end(self):
        return self.rng.choice(
            [TrialState.COMPLETE] * 3 + [TrialState.PRUNED, TrialState.FAIL])

    def end(self, number, trial, state):
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
                self.end(number, trial, self.any_end())
                del running[number]
                continue
            self.report(number, trial, steps)
            if not self.goes_on():
                self.end(number, trial, TrialState.PRUNED)
                del running[number]


class Rungs(Median):
    """Successive halving: a trial that Optuna stops has ended, no report
    passes two rungs, and the first one of a step stands."""

    rule = "asha"

    def any_settings(self, rng):
        return {
            "min_resource": rng.choice([1, 1, 2, 3]),
            "reduction_factor": rng.choice([2, 3, 4]),
            "min_early_stopping_rate": rng.choice([0, 0, 1]),
            "bootstrap_count": rng.choice([0, 0, 2]),
        }

    def pruner(self):
        return optuna.pruners.SuccessiveHalvingPruner(**self.settings)

    def ours(self):
        return {**self.settings, "diverged_after": 0}

    def next_step(self, steps):
        last = max(steps, default=-1)
        rung = self.settings["min_resource"]
        while rung <= last:
            rung *= self.settings["reduction_factor"]
        limit = rung * self.settings["reduction_factor"] - 1
        return min(last + self.rng.choice([1, 1, 1, 2, 4]), limit)

    def goes_on(self):
        return self.decisions[-1] == "keep"


class Brackets(Rungs):
    rule = "hyperband"

    def any_settings(self, rng):
        return {
            "min_resource": rng.choice([1, 1, 2, 3]),
            "max_resource": rng.choice([3, 9, 27, 30, 81, 243]),
            "reduction_factor": rng.choice([2, 3, 4]),
            "bootstrap_count": rng.choice([0, 0, 2]),
        }

    def pruner(self):
        return optuna.pruners.HyperbandPruner(**self.settings)


RULES = {kind.rule: kind for kind in (Median, Rungs, Brackets)}


def compare(program, rule, seed):
    stream = RULES[rule](seed)
    stream.run(120)
    ours = subprocess.run(
        [program, rule, json.dumps(stream.ours()), stream.goal],
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
    program, rule = sys.argv[1:3]
    streams, seconds = int(sys.argv[3]), float(sys.argv[4])
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    until = time.monotonic() + seconds
    done = decisions = 0
    good = True
    for seed in range(streams):
        if time.monotonic() > until:
            break
        n, same = compare(program, rule, seed)
        good = same and good
        decisions += n
        done += 1
    print("%d streams, %d decisions, Optuna %s" % (
        done, decisions, optuna.__version__))
    sys.exit(0 if good and done > 0 else 1)


main()
