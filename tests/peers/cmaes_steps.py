"""CMA-ES step by step: the package cmaes and hpotune get the same points.

cmaes_steps.py PROGRAM KIND RUNS: KIND is full, separable or margin; PROGRAM is
tests/tools/cma-steps.  Prints the largest difference of any number of their
states, relative to the largest number of its kind."""
import math
import subprocess
import sys
import warnings

import numpy as np
from cmaes import CMA, CMAwM, SepCMA

warnings.simplefilter("ignore")


def peer(kind, dims, popsize, levels, mean, sigma, seed):
    bounds = np.array([[0.0, 1.0]] * dims)
    if kind == "full":
        return CMA(mean=mean.copy(), sigma=sigma, bounds=bounds, seed=seed,
                   population_size=popsize)
    if kind == "separable":
        return SepCMA(mean=mean.copy(), sigma=sigma, bounds=bounds, seed=seed,
                      population_size=popsize)
    steps = np.array([1 / k if k else 0 for k in levels])
    for i, k in enumerate(levels):
        if k:
            bounds[i] = 0.5 / k, 1 - 0.5 / k
    return CMAwM(mean=mean.copy(), sigma=sigma, bounds=bounds, steps=steps,
                 seed=seed, population_size=popsize)


def state(kind, optimizer):
    cma = optimizer._cma if kind == "margin" else optimizer
    stretch = getattr(optimizer, "_A", np.ones(cma.dim))
    return [cma._mean.copy(), np.array([cma._sigma]), stretch.copy(),
            np.ravel(cma._C).copy()]


def loss(x, middle):
    scale = np.linspace(1, 30, len(x))
    turned = np.cumsum(x - middle)
    return float(np.sum(scale * turned ** 2))


def run(program, kind, seed):
    r = np.random.RandomState(seed)
    dims = int(r.choice([2, 3, 5, 8, 20]))
    popsize = int(r.choice([4 + math.floor(3 * math.log(dims)), 7, 16, 40]))
    levels = [int(r.choice([0, 2, 3, 10, 1000])) if kind == "margin" else 0
              for _ in range(dims)]
    if kind == "margin" and not any(levels):
        levels[0] = 5
    mean, sigma = r.uniform(0.3, 0.7, dims), float(r.uniform(0.05, 0.3))
    middle = r.uniform(0.1, 0.9, dims)
    optimizer = peer(kind, dims, popsize, levels, mean, sigma, seed + 1)
    text = [f"{dims} {popsize} {int(kind == 'separable')} "
            f"{int(kind == 'margin')} {sigma!r}",
            " ".join(map(str, levels)), " ".join(repr(float(m)) for m in mean)]
    want = []
    for _ in range(60):
        told = []
        for _ in range(popsize):
            x = optimizer.ask()
            at, raw = x if kind == "margin" else (x, x)
            told.append((raw, loss(at, middle)))
        told.sort(key=lambda s: s[1])
        text += [" ".join(repr(float(v)) for v in x) for x, _ in told]
        optimizer.tell(told)
        want.append(state(kind, optimizer))
        if optimizer.should_stop():
            break
    out = subprocess.run([program], input="\n".join(text), text=True,
                         stdout=subprocess.PIPE, check=True).stdout
    worst = 0.0
    for line, parts in zip(out.splitlines(), want, strict=True):
        got = np.array([float(x) for x in line.split()])
        for part in parts:
            mine, got = got[:len(part)], got[len(part):]
            worst = max(worst, float(np.max(np.abs(mine - part)) /
                                     np.max(np.abs(part))))
    return worst


print(max(run(sys.argv[1], sys.argv[2], seed)
          for seed in range(int(sys.argv[3]))))
