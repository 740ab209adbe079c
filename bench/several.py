#!/usr/bin/env python3
"""Several objectives: the hypervolume that tools find on ZDT and DTLZ, and on
known functions with constraints.

    several.py PROGRAM [--tools a,b,...] [--problems a,b,...] [--trials N]
        [--seeds N] [--marks 50,100,200] [--save FILE]

PROGRAM is bench/search-loop.  A tool is a strategy of hpotune with options that
are not its defaults, as tpe+multivariate=true, or a sampler of Optuna,
optuna:NAME+OPTION=VALUE.  A number is the share of the hypervolume that is
missing, against the front of all runs here; the reference point is the 90 %
quantile of first trials, by objective.  Settings that break a constraint count
for neither.  Mean over seeds; then the mean rank.
--save: each run is a line of FILE; a run that is there is not made again.
"""

import argparse
import json
import math

import numpy

from searchloop import Program, Runs, strategy_of


def zdt(number, n):
    def value(x):
        rest = numpy.asarray(x[1:])
        if number == 6:
            f = 1 - math.exp(-4 * x[0]) * math.sin(6 * math.pi * x[0]) ** 6
            g = 1 + 9 * (rest.sum() / (n - 1)) ** 0.25
            return [f, g * (1 - (f / g) ** 2)]
        f = x[0]
        if number == 4:
            y = 10 * rest - 5
            g = 1 + 10 * (n - 1) + (y ** 2 - 10 * numpy.cos(
                4 * math.pi * y)).sum()
        else:
            g = 1 + 9 * rest.sum() / (n - 1)
        h = 1 - (f / g) ** 2 if number == 2 else 1 - math.sqrt(f / g)
        if number == 3:
            h -= f / g * math.sin(10 * math.pi * f)
        return [f, g * h]
    return n, 2, value


def dtlz2(n, m):
    def value(x):
        g = ((numpy.asarray(x[m - 1:]) - 0.5) ** 2).sum()
        out = []
        for i in range(m):
            v = 1 + g
            for j in range(m - 1 - i):
                v *= math.cos(x[j] * math.pi / 2)
            if i > 0:
                v *= math.sin(x[m - 1 - i] * math.pi / 2)
            out.append(v)
        return out
    return n, m, value


def dtlz7(n, m):
    def value(x):
        g = 1 + 9 * sum(x[m - 1:]) / (n - m + 1)
        h = m - sum(v / (1 + g) * (1 + math.sin(3 * math.pi * v))
                    for v in x[:m - 1])
        return [*x[:m - 1], (1 + g) * h]
    return n, m, value


def c2_dtlz2(n, m, r):
    """Near the corners or the middle of the front (Jain and Deb 2014)."""
    def breach(x):
        f = numpy.array(dtlz2(n, m)[2](x))
        corners = (f ** 2).sum() - f ** 2 + (f - 1) ** 2
        return [min(corners.min(), ((f - m ** -0.5) ** 2).sum()) - r ** 2]
    return n, m, dtlz2(n, m)[2], breach


def scaled(ranges, value, breach):
    """Of two objectives, with constraints, in the ranges of its source."""
    def of(function):
        return lambda x: function(*[a + u * (b - a) for u, (a, b) in
                                    zip(x, ranges)])
    return len(ranges), 2, of(value), of(breach)


# Deb, "Multi-objective optimization using evolutionary algorithms" (2001).
OSY = scaled(
    [(0, 10), (0, 10), (1, 5), (0, 6), (1, 5), (0, 10)],
    lambda a, b, c, d, e, f: [
        -25 * (a - 2) ** 2 - (b - 2) ** 2 - (c - 1) ** 2 - (d - 4) ** 2
        - (e - 1) ** 2, a * a + b * b + c * c + d * d + e * e + f * f],
    lambda a, b, c, d, e, f: [
        2 - a - b, a + b - 6, b - a - 2, a - 3 * b - 2,
        (c - 3) ** 2 + d - 4, 4 - (e - 3) ** 2 - f])
TNK = scaled(
    [(0, math.pi)] * 2, lambda a, b: [a, b],
    lambda a, b: [1 - a * a - b * b + 0.1 * math.cos(
        16 * math.atan2(a, b)), (a - 0.5) ** 2 + (b - 0.5) ** 2 - 0.5])
SRN = scaled(
    [(-20, 20)] * 2, lambda a, b: [
        2 + (a - 2) ** 2 + (b - 1) ** 2, 9 * a - (b - 1) ** 2],
    lambda a, b: [a * a + b * b - 225, a - 3 * b + 10])
CONSTR = scaled(
    [(0.1, 1), (0, 5)], lambda a, b: [a, (1 + b) / a],
    lambda a, b: [6 - b - 9 * a, 1 + b - 9 * a])

PROBLEMS = {"zdt%d" % i: zdt(i, 6) for i in (1, 2, 3, 4, 6)}
PROBLEMS.update({
    "dtlz2": dtlz2(6, 2), "dtlz2 of 3": dtlz2(6, 3),
    "dtlz7": dtlz7(6, 2), "dtlz7 of 3": dtlz7(6, 3),
    "zdt1 in 12": zdt(1, 12), "zdt4 in 12": zdt(4, 12),
    "dtlz2 in 12": dtlz2(12, 2),
    "c2-dtlz2": c2_dtlz2(6, 2, 0.25), "c2-dtlz2 of 3": c2_dtlz2(6, 3, 0.4),
    "osy": OSY, "tnk": TNK, "srn": SRN, "constr": CONSTR})


def judge(problem, x):
    """The objectives; what breaks a constraint is positive."""
    _, _, value, *breach = problem
    return ([float(v) for v in value(x)],
            [float(v) for b in breach for v in b(x)])


def run_ours(program, tool, problem, seed, trials):
    n, m = problem[:2]
    constraints = len(judge(problem, [0.5] * n)[1])
    program.say(open={"x%d" % i: {"type": "float", "min": 0, "max": 1}
                      for i in range(n)}, strategy=strategy_of(tool),
                rules=[], seed=seed, maximize=False, steps=0, objectives=m,
                constraints=constraints)
    out = []
    for _ in range(trials):
        answer = json.loads(program.say(ask=True))
        end, violations = judge(problem, list(answer["params"].values()))
        program.say(trial=answer["trial"], end=end, violations=violations,
                    stopped=False)
        out.append(end + violations)
    return out


def run_optuna(tool, problem, seed, trials):
    import optuna
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    n, m = problem[:2]
    options = strategy_of(tool.partition(":")[2])
    name = options.pop("name")
    if len(problem) > 3:
        options["constraints_func"] = lambda t: t.user_attrs["violations"]
    study = optuna.create_study(
        sampler=getattr(optuna.samplers, name)(seed=seed, **options),
        directions=["minimize"] * m)
    out = []
    for _ in range(trials):
        trial = study.ask()
        end, violations = judge(problem, [
            trial.suggest_float("x%d" % i, 0, 1) for i in range(n)])
        trial.set_user_attr("violations", violations)
        study.tell(trial, end)
        out.append(end + violations)
    return out


def front(y):
    if len(y) == 0:
        return y
    y = numpy.unique(y, axis=0)
    if y.shape[1] == 2:
        low = numpy.minimum.accumulate(y[:, 1])
        return y[numpy.r_[True, y[1:, 1] < low[:-1]]]
    return y[[not ((y <= p).all(1) & (y < p).any(1)).any() for p in y]]


def hypervolume(y, reference):
    y = y[(y < reference).all(1)]
    if len(y) == 0:
        return 0.0
    y, volume = y[numpy.argsort(y[:, -1])], 0.0
    if y.shape[1] == 1:
        return reference[0] - y[0, 0]
    ends = numpy.r_[y[1:, -1], reference[-1]]
    for i, depth in enumerate(ends - y[:, -1]):
        if depth > 0:
            volume += depth * hypervolume(y[:i + 1, :-1], reference[:-1])
    return volume


def missing(runs, mark, m):
    """By tool: the mean share of the hypervolume that is missing.  m: objectives
    of a trial; the numbers behind them are of its constraints."""
    def allowed(run):
        run = numpy.array(run)
        return front(run[(run[:, m:] <= 0).all(1), :m])

    every = [r for rs in runs.values() for r in rs]
    reference = numpy.quantile(
        numpy.concatenate([r[:10] for r in every])[:, :m], 0.9, axis=0)
    best = hypervolume(front(numpy.concatenate(
        [allowed(r) for r in every])), reference)
    return {t: numpy.mean([1 - hypervolume(
        allowed(r[:mark]), reference) / best for r in rs])
            for t, rs in runs.items()}


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("program")
    ap.add_argument("--tools", default="tpe,tpe+multivariate=true,nsga2,"
                    "nsga2+population_size=20,nsga2+population_size=50,random,"
                    "optuna:TPESampler,optuna:NSGAIISampler+population_size=20")
    ap.add_argument("--problems", default=",".join(PROBLEMS))
    ap.add_argument("--trials", type=int, default=200)
    ap.add_argument("--seeds", type=int, default=5)
    ap.add_argument("--marks", default="50,100,200")
    ap.add_argument("--save")
    args = ap.parse_args()
    program, runs = Program(args.program), Runs(args.save)
    tools = args.tools.split(",")

    def run(name, tool, seed):
        return runs.get((name, tool, seed, args.trials), lambda: (
            run_optuna(tool, PROBLEMS[name], seed, args.trials)
            if tool.startswith("optuna:") else
            run_ours(program, tool, PROBLEMS[name], seed, args.trials)))

    known = {(name, t, s): run(name, t, s)
             for name in args.problems.split(",") for t in tools
             for s in range(1, args.seeds + 1)}
    program.close()
    for mark in [int(m) for m in args.marks.split(",")]:
        ranks = {t: [] for t in tools}
        print("\n| after %d | " % mark + " | ".join(tools) + " |")
        print("|---" * (len(tools) + 1) + "|")
        for name in args.problems.split(","):
            row = missing({t: [known[name, t, s] for s in
                               range(1, args.seeds + 1)] for t in tools},
                          mark, PROBLEMS[name][1])
            order = sorted(row.values())
            for t in tools:
                ranks[t].append(order.index(row[t]) + 1)
            print("| %s | " % name + " | ".join(
                "%.4f" % row[t] for t in tools) + " |")
        print("| mean rank | " + " | ".join(
            "%.2f" % numpy.mean(ranks[t]) for t in tools) + " |")


if __name__ == "__main__":
    main()
