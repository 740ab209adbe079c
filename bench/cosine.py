#!/usr/bin/env python3
"""Learning curves of a long schedule, warm-up and cosine, as CSV.

    cosine.py TASK [SETTINGS]

No training: a noisy quadratic (Zhang et al., "Which algorithmic choices matter
at which batch sizes?", NeurIPS 2019), the model in which the loss in the middle
of a schedule is made by the noise of a large learning rate and says little of
the end.  128 directions with a power-law spectrum, the expected squared error
of each followed through 1,000 steps of stochastic gradient descent, 100 reports.
A task is a spectrum, a level of gradient noise and a best dropout; a setting
is the peak learning rate, the length of the warm-up, the batch size and the
dropout.  Small learning rates look good early and end worse.  One row per
setting: its four hyperparameters, then losses s1 to s100.  Needs numpy.
"""

import sys

import numpy

STEPS, REPORTS, DIRECTIONS = 1000, 100, 128


def main():
    task = int(sys.argv[1])
    n = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    rng = numpy.random.default_rng(1000 + task)
    spectrum = numpy.arange(1, DIRECTIONS + 1.0) ** -rng.uniform(0.9, 1.3)
    error = spectrum ** rng.uniform(-0.6, -0.2)
    error /= 0.5 * (spectrum * error).sum()
    noise = 10 ** rng.uniform(0.0, 0.8)
    peak = 10 ** rng.uniform(-2, 0, n)
    warmup = rng.uniform(0.02, 0.2, n)
    batch = rng.integers(0, 4, n)
    dropout = rng.uniform(0, 1, n)
    best_dropout = rng.uniform(0.1, 0.6)
    floor = 0.15 + 0.03 * (dropout - best_dropout) ** 2 - 0.02 * numpy.log10(peak)
    strays = 10 ** rng.uniform(-2.5, -2)
    noise = (noise * 2.0 ** -batch)[:, None]
    error = numpy.tile(error, (n, 1))
    curves = []
    for step in range(STEPS):
        at = step / STEPS
        rate = numpy.where(
            at < warmup,
            peak * (step + 1) / (warmup * STEPS),
            peak * 0.5 * (1 + numpy.cos(numpy.pi * (at - warmup) / (1 - warmup))))
        r = rate[:, None]
        error = numpy.minimum(
            (1 - r * spectrum) ** 2 * error + r ** 2 * spectrum * noise, 1e8)
        if (step + 1) % (STEPS // REPORTS) == 0:
            excess = 0.5 * (error * spectrum).sum(axis=1)
            excess *= numpy.exp(
                0.1 * rng.standard_normal(n) * numpy.sqrt(rate / peak))
            curves.append((floor + excess) * numpy.exp(
                strays * rng.standard_normal(n)))
    names = ["learning_rate", "warmup", "batch", "dropout"]
    print(",".join(names + ["s%d" % k for k in range(1, REPORTS + 1)]))
    for i in range(n):
        row = [peak[i], warmup[i], batch[i], dropout[i]]
        print(",".join("%.6g" % x for x in row + [c[i] for c in curves]))


main()
