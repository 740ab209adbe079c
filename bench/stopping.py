#!/usr/bin/env python3
"""
What stopping rules save, kill and cost, as one table.

    stopping.py [--seeds FACTOR] [--half A|B] DATA [FOLDER [RULE ...]]

DATA has taskset/, lcbench/ with the surrogate's model, and curves/, files with
a column for each report: this one argument gives the table of all of it.  The
curves of LCBench are made where onnxruntime is there (lcbench.py), in FOLDER or
for this run only.  FOLDER may also have what long-curves.py has made of public
logs.  RULE is what hpotune replay takes; without any: median, begun,
short, narrow, careful.  HPOTUNE is the program (hpotune).

A row is a source; its figures are means over studies of 30 and 60 trials, 4 at
a time, and of 60 and 100, 16 at a time, after second looks: the share of steps
saved, the share of studies whose best trial was lost with its 95 % interval
(Wilson), and the regret.  Sources of long logs have studies of all runs of a
file, 4 or 5 at a time.  Studies of one file share their best curves, so the
intervals are those of more independent studies than there are.

Files are taken in turn for half A, on which something may be chosen, and half
B, on which it is judged; those of AlgoPerf by workload, and the reinforcement
learning of curves/ is all in half A.  Without --half, all.
"""
import argparse
import glob
import json
import math
import os
import subprocess
import sys
import tempfile

SIZES = [(30, 4), (60, 4), (60, 16), (100, 16)]
RULES = ['median', 'begun', 'short', 'narrow', 'careful']
TASKS = '3945 7593 34539 126025 126026 126029 146212 167104 167149 167152'
HERE = os.path.dirname(os.path.abspath(__file__))
# Source: files below DATA/curves, studies of each file and size.
CURVES = {
    'long': ('alexnet-share deberta-base', 30),
    'plain': ('r18-imagenet32 mlp-digits lgbm-diamonds', 20),
    'rl': ('atari_battle_zone_dqn-0 atari_phoenix_dqn-0 '
           'box2d_bipedal_walker_sac-0 box2d_lunar_lander_dqn-0 '
           'brax_halfcheetah_sac-0 cc_acrobot_dqn-0', 20),
}
# Source: at a time, studies of each file.
LOGS = {'algoperf': (5, 2), 'nanogpt': (4, 6), 'optimizers': (4, 30),
        'deepobs': (4, 8), 'dopamine': (4, 2), 'control': (4, 3)}
WORKLOADS_A = ('fastmri', 'vit', 'deepspeech', 'wmt')


def interval(lost, n):
    """The Wilson interval of a share, 95 %."""
    z = 1.959964
    p, q = lost / n, z * z / n
    middle = (p + q / 2) / (1 + q)
    half = z * math.sqrt(p * (1 - p) / n + q / (4 * n)) / (1 + q)
    return max(0.0, middle - half), min(1.0, middle + half)


def lcbench(data, folder):
    """The curves of the surrogate, made where they are missing."""
    out = []
    for task in TASKS.split():
        path = os.path.join(folder, 'lcbench-%s.csv' % task)
        if not os.path.exists(path):
            made = subprocess.run(
                [sys.executable, os.path.join(HERE, 'lcbench.py'),
                 os.path.join(data, 'lcbench'), task],
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            if made.returncode != 0:
                return []
            with open(path, 'wb') as f:
                f.write(made.stdout)
        out.append(path)
    return out


def sources(data, folder):
    """Name, files, study sizes, studies of each file and size."""
    for name, (files, seeds) in CURVES.items():
        paths = [os.path.join(data, 'curves', f + '.csv.gz')
                 for f in files.split()]
        yield name, [p for p in paths if os.path.exists(p)], SIZES, seeds
    yield ('taskset', sorted(glob.glob(os.path.join(data, 'taskset/*.gz'))),
           SIZES, 8)
    with tempfile.TemporaryDirectory() as made:
        yield 'lcbench', lcbench(data, folder or made), SIZES, 5
    if folder is None:
        return
    for name, (workers, seeds) in LOGS.items():
        yield (name, sorted(glob.glob(os.path.join(folder, name + '-*.csv'))),
               [(1000, workers)], seeds)


def half_of(name, files, half):
    if half is None:
        return files
    if name == 'rl':
        return files if half == 'A' else []
    if name == 'algoperf':
        return [f for f in files
                if any(w in f for w in WORKLOADS_A) == (half == 'A')]
    return files[0::2] if half == 'A' else files[1::2]


def replay(path, size, seeds, rules, name):
    command = [os.environ.get('HPOTUNE', 'hpotune'), 'replay', '--json',
               '--seeds', str(seeds), '--trials', str(size[0]),
               '--workers', str(size[1])]
    if name == 'lcbench':
        command += ['--goal', 'maximize']
    for rule in rules:
        command += ['--rule', rule]
    out = subprocess.run(command + [path], stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL, check=True)
    return json.loads(out.stdout)


def main():
    words = argparse.ArgumentParser(usage=__doc__)
    words.add_argument('--seeds', type=float, default=1)
    words.add_argument('--half', choices=['A', 'B'])
    words.add_argument('data')
    words.add_argument('folder', nargs='?')
    words.add_argument('rules', nargs='*')
    args = words.parse_args()
    rules = args.rules or RULES
    print('| source | studies | ' + ' | '.join(rules) + ' |')
    print('|---' * (len(rules) + 2) + '|')
    for name, files, sizes, seeds in sources(args.data, args.folder):
        sums = [[0, 0, 0.0, 0.0] for _ in rules]
        seeds = max(1, round(seeds * args.seeds))
        for path in half_of(name, files, args.half):
            for size in sizes:
                rows = replay(path, size, seeds, rules, name)
                for s, row in zip(sums, rows):
                    n, looked = row['studies'], row['second_look']
                    s[0] += n
                    s[1] += round(looked['killed_best'] * n)
                    s[2] += looked['saved'] * n
                    s[3] += looked['regret'] * n
        if sums[0][0] == 0:
            print('| %s | 0: no such files |' % name, flush=True)
            continue
        cells = ['%.1f %% / %.3f (%.3f to %.3f) / %.2f %%' % (
            100 * s[2] / s[0], s[1] / s[0], *interval(s[1], s[0]),
            100 * s[3] / s[0]) for s in sums]
        print('| %s | %d | %s |' % (name, sums[0][0], ' | '.join(cells)),
              flush=True)


if __name__ == '__main__':
    main()
