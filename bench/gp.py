#!/usr/bin/env python3
"""Seconds of one suggestion by a Gaussian process on n completed trials.

    gp.py PROGRAM TOOL N [OPTIONS]

PROGRAM is bench/search-loop; TOOL is ours, optuna or botorch; OPTIONS a JSON object
for ours.  Random points of Hartmann 6, which PROGRAM evaluates.  Prints the
median of three suggestions after one that warms up, fit included, and the
median value of the function at the suggested points.
"""

import json
import random
import statistics
import sys
import time
import warnings

from searchloop import Program

warnings.simplefilter("ignore")
NAMES = "abcdef"


def data(program, n):
    r = random.Random(1)
    rows = [{k: r.random() for k in NAMES} for _ in range(n)]
    return rows, [float(program.say(function="hartmann6", params=p))
                  for p in rows]


def ours(program, rows, values, options):
    program.say(open=json.loads(program.say(space="hartmann6")),
                strategy={"name": "gp", **options}, rules=[], seed=1,
                maximize=False, steps=0)
    for p, v in zip(rows, values):
        program.say(add=p, value=v)

    def suggest():
        answer = json.loads(program.say(ask=True))
        value = float(program.say(function="hartmann6",
                                  params=answer["params"]))
        program.say(trial=answer["trial"], end=value)
        return value
    return suggest


def optuna_tool(program, rows, values, _):
    import optuna
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    space = {k: optuna.distributions.FloatDistribution(0, 1) for k in NAMES}
    study = optuna.create_study(sampler=optuna.samplers.GPSampler(seed=1))
    study.add_trials([optuna.trial.create_trial(
        params=p, distributions=space, value=v)
        for p, v in zip(rows, values)])

    def suggest():
        trial = study.ask(space)
        value = float(program.say(function="hartmann6", params=trial.params))
        study.tell(trial, value)
        return value
    return suggest


def botorch_tool(program, rows, values, _):
    import torch
    from botorch.acquisition import LogExpectedImprovement
    from botorch.fit import fit_gpytorch_mll
    from botorch.models import SingleTaskGP
    from botorch.optim import optimize_acqf
    from gpytorch.mlls import ExactMarginalLogLikelihood
    torch.set_num_threads(1)
    x = torch.tensor([[p[k] for k in NAMES] for p in rows],
                     dtype=torch.float64)
    y = -torch.tensor(values, dtype=torch.float64).unsqueeze(-1)

    def suggest():
        nonlocal x, y
        scaled = (y - y.mean()) / y.std()
        model = SingleTaskGP(x, scaled)
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        point, _ = optimize_acqf(
            LogExpectedImprovement(model, best_f=scaled.max()),
            bounds=torch.tensor([[0.0] * 6, [1.0] * 6], dtype=torch.float64),
            q=1, num_restarts=10, raw_samples=2048)
        params = dict(zip(NAMES, point[0].tolist()))
        value = float(program.say(function="hartmann6", params=params))
        x = torch.cat([x, point])
        y = torch.cat([y, torch.tensor([[-value]], dtype=torch.float64)])
        return value
    return suggest


def main():
    program = Program(sys.argv[1])
    tools = {"ours": ours, "optuna": optuna_tool, "botorch": botorch_tool}
    options = json.loads(sys.argv[4]) if len(sys.argv) > 4 else {}
    suggest = tools[sys.argv[2]](
        program, *data(program, int(sys.argv[3])), options)
    suggest()
    times, values = [], []
    for _ in range(3):
        began = time.monotonic()
        values.append(suggest())
        times.append(time.monotonic() - began)
    print("%.4g %.4g" % (statistics.median(times), statistics.median(values)))


main()
