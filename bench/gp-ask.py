#!/usr/bin/env python3
"""Processor time of one suggestion of gp, by the number of finished trials.

    bench/gp-ask.py --hpotune bench/search-loop [--tools gp gp+candidates=2048]
        [--dimensions 10] [--marks 25 50 100 200 350 500] [--asks 10]
        [--several dtlz2 "dtlz2 of 3" ...]

The trials before the measured ones are half random and half normal around the
best setting of a sum of squares and one absolute value; the tool is gp with
options as in bench/search.py.  --several: problems of bench/several.py, whose
trials before the measured ones are even points.  Time is that of the process by the scheduler, so
other load on the machine counts only by what it takes from the caches.
"""

import argparse
import json
import random

from searchloop import Program, strategy_of


def objective(x):
    return sum((i + 1) * (v - 0.7) ** 2 for i, v in enumerate(x)) + 3 * abs(x[0])


def seconds(program):
    """Processor time of the program so far."""
    with open(f"/proc/{program.child.pid}/schedstat", encoding="ascii") as f:
        return int(f.read().split()[0]) * 1e-9


def tell(program, rng, number, names):
    spread = number % 2 == 1
    x = [0.7 + rng.gauss(0, 0.5) if spread else rng.uniform(-5, 5) for _ in names]
    program.say(add=dict(zip(names, x)), value=objective(x))


def times(path, tool, dimensions, marks, asks):
    """Milliseconds per suggestion after each number of trials."""
    names = [f"x{i}" for i in range(dimensions)]
    space = {name: {"type": "float", "min": -5, "max": 5} for name in names}
    row = []
    for mark in marks:
        rng = random.Random(1)
        program = Program(path)
        program.say(open=space, strategy=strategy_of(tool), rules=[], seed=1,
                    maximize=False, steps=0)
        for number in range(mark):
            tell(program, rng, number, names)
        start = seconds(program)
        for _ in range(asks):
            asked = json.loads(program.say(ask=True))
            x = [asked["params"][name] for name in names]
            program.say(trial=asked["trial"], end=objective(x), stopped=False)
        row.append((seconds(program) - start) / asks * 1000)
        program.child.stdin.close()
        program.child.wait()
    return row


def times_several(path, tool, name, marks, asks):
    """The same of a problem with several objectives."""
    import several
    n, m, value = several.PROBLEMS[name][:3]
    row = []
    for mark in marks:
        program = Program(path)
        program.say(open={f"x{i}": {"type": "float", "min": 0, "max": 1}
                          for i in range(n)},
                    strategy={**strategy_of(tool), "n_startup_trials": mark},
                    rules=[], seed=1, maximize=False, steps=0, objectives=m)
        for number in range(mark + asks):
            if number == mark:
                start = seconds(program)
            asked = json.loads(program.say(ask=True))
            program.say(trial=asked["trial"], end=[
                float(v) for v in value(list(asked["params"].values()))],
                stopped=False)
        row.append((seconds(program) - start) / asks * 1000)
        program.close()
    return row


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--hpotune", required=True)
    parser.add_argument("--tools", nargs="+", default=["gp"])
    parser.add_argument("--dimensions", type=int, default=10)
    parser.add_argument("--marks", type=int, nargs="+",
                        default=[25, 50, 100, 200, 350, 500])
    parser.add_argument("--asks", type=int, default=10)
    parser.add_argument("--several", nargs="+", default=[])
    args = parser.parse_args()
    print("| ms per suggestion after |", " | ".join(map(str, args.marks)), "|")
    print("|---|" + "---|" * len(args.marks))
    for tool, name in ((t, n) for t in args.tools for n in args.several):
        row = times_several(args.hpotune, tool, name, args.marks, args.asks)
        print(f"| {tool}, {name} |", " | ".join(f"{t:.1f}" for t in row), "|",
              flush=True)
    for tool in [] if args.several else args.tools:
        row = times(args.hpotune, tool, args.dimensions, args.marks, args.asks)
        print(f"| {tool} |", " | ".join(f"{t:.1f}" for t in row), "|", flush=True)


main()
