#!/usr/bin/env python3
"""cmaes that goes on after another strategy, on COCO's bbob.

    warm.py PROGRAM [--first gp] [--known 100] [--trials 400]
        [--dimensions 2,5,10] [--seeds N] [--tools a,b,...] [--save FILE]

PROGRAM is bench/search-loop.  The first trials are those of one strategy; from
there each tool goes on, a strategy of hpotune with options that are not its
defaults, as cmaes+n_startup_trials=100 (known trials) or cmaes (the trials are
its first generations).  Printed: in how many of 100 pairs of runs on the same
function, one of each, a tool has found a better value than the first tool.
--save: each run is a line of FILE; a run that is there is not made again.
"""

import argparse
import json
import statistics

from searchloop import Program, Runs, strategy_of


def go_on(program, problem, tool, seed, trials, n):
    """The trials of tool, [setting, value], until there are n."""
    program.say(open={"x%d" % i: {"type": "float", "min": -5, "max": 5}
                      for i in range(problem.dimension)},
                strategy=strategy_of(tool), rules=[], seed=seed,
                maximize=False, steps=0)
    for x, value in trials:
        program.say(add={"x%d" % i: v for i, v in enumerate(x)}, value=value)
    trials = list(trials)
    while len(trials) < n:
        answer = json.loads(program.say(ask=True))
        x = list(answer["params"].values())
        trials.append([x, float(problem(x))])
        program.say(trial=answer["trial"], end=trials[-1][1], stopped=False)
    return trials


def better(ours, theirs, mark):
    pairs = [(min(v for _, v in a[:mark]), min(v for _, v in b[:mark]))
             for a in ours for b in theirs]
    return 100 * statistics.mean((a < b) + (a == b) / 2 for a, b in pairs)


def main():
    import cocoex
    ap = argparse.ArgumentParser()
    ap.add_argument("program")
    ap.add_argument("--first", default="gp")
    ap.add_argument("--known", type=int, default=100)
    ap.add_argument("--trials", type=int, default=400)
    ap.add_argument("--dimensions", default="2,5,10")
    ap.add_argument("--seeds", type=int, default=2)
    ap.add_argument("--tools", default="cmaes,cmaes+n_startup_trials=100")
    ap.add_argument("--save")
    args = ap.parse_args()
    program, runs = Program(args.program), Runs(args.save)
    tools = args.tools.split(",")

    def run(problem, tool, seed, before, n):
        key = (problem.id_function, problem.dimension, tool, seed, n,
               args.first if before else "")
        return runs.get(key, lambda: go_on(
            program, problem, tool, seed, before, n))

    marks = [m for m in (125, 150, 200, 400, 1000)
             if args.known < m <= args.trials]
    print("| in %s | " % args.dimensions + " | ".join(
        "after %d" % m for m in marks) + " |")
    print("|---" * (len(marks) + 1) + "|")
    for n in [int(d) for d in args.dimensions.split(",")]:
        suite = cocoex.Suite(
            "bbob", "", "dimensions: %d instance_indices: 1" % n)
        rows = {t: {m: [] for m in marks} for t in tools}
        for f in range(1, 25):
            problem = suite.get_problem_by_function_dimension_instance(f, n, 1)
            found = {t: [] for t in tools}
            for seed in range(1, args.seeds + 1):
                first = run(problem, args.first, seed, [], args.known)
                for t in tools:
                    found[t].append(run(
                        problem, t, seed, first, args.trials))
            for t in tools:
                for m in marks:
                    rows[t][m].append(better(found[t], found[tools[0]], m))
        for t in tools:
            print("| %s in %d | " % (t, n) + " | ".join(
                "%.1f" % statistics.mean(rows[t][m]) for m in marks) + " |",
                flush=True)
    program.close()


main()
