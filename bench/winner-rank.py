#!/usr/bin/env python3
"""
How much a rule that knows the ranks of a source could save.

    winner-rank.py [--studies N] [--half A|B] DATA [FOLDER]

DATA and FOLDER as stopping.py.  From each file N studies of 60 curves are drawn
(100; all curves of a smaller file).  The winner is the curve with the best
value.  Its need at a step is the greatest share of all curves that are better,
by the best value so far against the best value so far, at this step or a later
one but its last.  The narrowest schedule is, at each step, the share that the
winner needs in 97 % of the studies; a rule with that schedule keeps that share
of the trials there, from the first report on, and loses 3 %.  Saved is what
such a rule would not run.  No rule by ranks alone that does not look at the
study's own curves saves more; it does not know which trials come first, so it
is a bound, not an aim.

A row: saved; and what the winner needs in 97 % of the studies from a tenth, a
quarter, half and three quarters of the steps on.
"""
import argparse
import csv
import gzip
import math
import random

import stopping

TRIALS, KEPT = 60, 0.97
SHARES = (0.1, 0.25, 0.5, 0.75)


def curves_of(path, sign):
    """Curves of equal length, best so far; short ones keep their last value."""
    opener = gzip.open if path.endswith('.gz') else open
    with opener(path, 'rt') as file:
        rows = list(csv.reader(file))
    head = [name.lower() for name in rows[0]]
    if 'trial' in head:
        at, value = head.index('trial'), head.index('value')
        by = {}
        for row in rows[1:]:
            by.setdefault(row[at], []).append(row[value])
        lists = list(by.values())
    else:
        columns = [i for i, name in enumerate(head) if name[1:].isdigit() and
                   name[0] == 's']
        lists = [[row[i] for i in columns if row[i] != ''] for row in rows[1:]]
    most = max(len(values) for values in lists)
    out = []
    for values in lists:
        best, curve = math.inf, []
        for v in values:
            v = sign * float(v)
            best = v if math.isfinite(v) and v < best else best
            curve.append(best)
        out.append(curve + [best] * (most - len(curve)))
    return out


def needs(curves, studies):
    """For each study the need of its winner at each step."""
    draw = random.Random(1)
    out = []
    for _ in range(studies):
        some = draw.sample(curves, min(TRIALS, len(curves)))
        winner = min(some, key=lambda c: c[-1])
        need, worst = [], 0.0
        for s in reversed(range(len(winner) - 1)):
            worst = max(worst, sum(c[s] < winner[s] for c in some) / len(some))
            need.append(worst)
        out.append(need[::-1] + [1 / len(some)])
    return out


def main():
    words = argparse.ArgumentParser(usage=__doc__)
    words.add_argument('--studies', type=int, default=100)
    words.add_argument('--half', choices=['A', 'B'])
    words.add_argument('data')
    words.add_argument('folder', nargs='?')
    args = words.parse_args()
    print('| source | files | saved |' +
          ''.join(' from %g %% on |' % (100 * s) for s in SHARES))
    print('|---' * (len(SHARES) + 3) + '|')
    for name, files, _, _ in stopping.sources(args.data, args.folder):
        files = stopping.half_of(name, files, args.half)
        if not files:
            continue
        saved, at = 0.0, [0.0] * len(SHARES)
        for path in files:
            all_needs = needs(curves_of(path, -1 if name == 'lcbench' else 1),
                              args.studies)
            steps = len(all_needs[0])
            share = [sorted(need[s] for need in all_needs)
                     [math.ceil(KEPT * len(all_needs)) - 1]
                     for s in range(steps)]
            # The first report is always run.
            saved += 1 - (1 + sum(share[:-1])) / steps
            for i, part in enumerate(SHARES):
                at[i] += share[min(int(part * steps), steps - 1)]
        print('| %s | %d | %.0f %% |' % (
            name, len(files), 100 * saved / len(files)) +
            ''.join(' %.0f %% |' % (100 * v / len(files)) for v in at),
            flush=True)


if __name__ == '__main__':
    main()
