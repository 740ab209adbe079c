#!/usr/bin/env python3
"""Whether the trial that is held best should run again, where noise is large.

    again.py PROGRAM [--half odd|even] [--seeds N] [--first SEED] [--trials N]
        [--every 4] [--from 20] [--most 4] [--strategy auto]

The noisy problems of bench/rough.py.  PROGRAM is bench/search-loop.  One run asks the
strategy alone; the other, from a trial on, gives every few trials to the setting that
the model of `hpotune best` holds best, up to a number of times each.  Judged is the value
without noise of the setting that is held best in the end, and of the one that looks
best, as a share of the distance from the median of random settings to the best one of
all runs.  Prints a row for each problem, and how often running again is better in 100
pairs of one seed.
"""

import argparse
import json
import random
import statistics

import rough
from searchloop import Program


def run(program, problem, seed, args, again):
    program.say(open=problem.space, seed=seed,
                strategy={"name": args.strategy})
    problem.start(seed)
    told, count, used = {}, {}, 0
    for trial in range(1, args.trials + 1):
        held = 0
        if again and trial > args.begin and trial % args.every == 0:
            held = json.loads(program.say(best=True))["held"]
            if held and count.get(key(told[held][0]), 1) >= args.most:
                held = 0
        if held:
            params = told[held][0]
            used += 1
        else:
            params = json.loads(program.say(ask=True))["params"]
        count[key(params)] = count.get(key(params), 0) + 1
        value = problem.value(params)
        told[trial] = params, problem.true
        if held:
            program.say(add=params, trial=trial, end=value)
        else:
            program.say(trial=trial, end=value)
    best = json.loads(program.say(best=True))
    looks = best["looks"]
    return told[best["held"] or looks][1], told[looks][1], used


def key(params):
    return json.dumps(params, sort_keys=True)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("program")
    ap.add_argument("--half", default="odd", choices=("odd", "even"))
    ap.add_argument("--seeds", type=int, default=5)
    ap.add_argument("--first", type=int, default=1)
    ap.add_argument("--trials", type=int, default=60)
    ap.add_argument("--every", type=int, default=4)
    ap.add_argument("--from", dest="begin", type=int, default=20)
    ap.add_argument("--most", type=int, default=4)
    ap.add_argument("--strategy", default="auto")
    args = ap.parse_args()
    program = Program(args.program)
    pairs = []
    print("| problem | looks best | held best | again: looks | held | trials |")
    print("|---|---|---|---|---|---|")
    for problem in rough.problems(args.half):
        if not problem.name.startswith("noise"):
            continue
        seeds = range(args.first, args.first + args.seeds)
        rng = random.Random(1)
        middle = statistics.median(
            problem.plain.value(rough_draw(problem.space, rng))
            for _ in range(400))
        once = [run(program, problem, s, args, False) for s in seeds]
        twice = [run(program, problem, s, args, True) for s in seeds]
        best = min(min(r[0], r[1]) for r in once + twice)
        pairs += [50 * ((a[0] < b[0]) + (a[0] <= b[0]))
                  for a, b in zip(twice, once)]
        share = [statistics.mean((v - best) / (middle - best) for v in column)
                 for column in ([r[1] for r in once], [r[0] for r in once],
                                [r[1] for r in twice], [r[0] for r in twice])]
        print("| %s | %.4f | %.4f | %.4f | %.4f | %.1f |" % (
            problem.name, *share, statistics.mean(r[2] for r in twice)),
            flush=True)
    print("better in 100 pairs: %.1f of %d" %
          (statistics.mean(pairs), len(pairs)))
    program.close()


def rough_draw(space, rng):
    """A random setting."""
    out = {}
    for name, p in space.items():
        if p["type"] == "choice":
            out[name] = rng.choice(p["values"])
            continue
        u, low, high = rng.random(), p["min"], p["max"]
        v = (low * (high / low) ** u if p.get("scale") == "log"
             else low + u * (high - low))
        out[name] = round(v) if p["type"] == "int" else v
    return out


main()
