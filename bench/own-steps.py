#!/usr/bin/env python3
"""
What it is worth to compare trials of different lengths at equal shares.

    own-steps.py DATA

DATA/curves/alexnet-share has each run's error at 5, 10 .. 100 % of its own 20 to
100 epochs, and beside it the epochs of such a part.  The same reports at their
epochs are replayed by epochs, and with --own-steps.  A row is a rule; its
figures are means over studies of 30 and 60 trials, 4 at a time, and of 60 and
100, 16 at a time, 60 each, after second looks.  HPOTUNE is the program
(hpotune).
"""
import csv
import gzip
import json
import os
import subprocess
import sys
import tempfile

SIZES = [(30, 4), (60, 4), (60, 16), (100, 16)]
RULES = ['median', 'begun', 'short', 'careful']


def write_epochs(data, path):
    """The curves by epochs, and what a report costs."""
    name = os.path.join(data, 'curves', 'alexnet-share')
    with gzip.open(name + '.csv.gz', 'rt') as f:
        rows = list(csv.reader(f))[1:]
    with gzip.open(name + '.wt.gz', 'rt') as f:
        epochs = [float(x) for x in f.read().split()]
    with open(path + '.csv', 'w', encoding='ascii') as out:
        out.write('trial,step,value\n')
        for trial, row in enumerate(rows):
            for part, value in enumerate(row, 1):
                if value != '':
                    out.write('%d,%d,%s\n' % (
                        trial, round(part * epochs[trial]), value))
    with open(path + '.wt', 'w', encoding='ascii') as out:
        out.writelines('%g\n' % x for x in epochs)


def means(path, options):
    """Saved and lost of each rule."""
    sums = [[0.0, 0.0] for _ in RULES]
    for trials, workers in SIZES:
        command = [os.environ.get('HPOTUNE', 'hpotune'), 'replay', '--json',
                   '--seeds', '60', '--trials', str(trials),
                   '--workers', str(workers)] + options
        for rule in RULES:
            command += ['--rule', rule]
        out = subprocess.run(command + [path + '.csv'], check=True,
                             stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL)
        for s, row in zip(sums, json.loads(out.stdout)):
            s[0] += row['second_look']['saved'] / len(SIZES)
            s[1] += row['second_look']['killed_best'] / len(SIZES)
    return sums


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'epochs')
        write_epochs(sys.argv[1], path)
        by_step, by_share = means(path, []), means(path, ['--own-steps'])
    print('| rule | by epochs | by shares |')
    print('|---|---|---|')
    for rule, a, b in zip(RULES, by_step, by_share):
        print('| `%s` | %.1f %% / %.3f | %.1f %% / %.3f |' % (
            rule, 100 * a[0], a[1], 100 * b[0], b[1]))


if __name__ == '__main__':
    main()
