#!/usr/bin/env python3
"""
Learning curves of long runs, from the logs in six public repositories, as
files for hpotune replay.

    long-curves.py FOLDER [SOURCE[=CLONE] ...]

Makes FOLDER/SOURCE-TASK.csv for each SOURCE (all of them).  A source whose
CLONE is not given is cloned to FOLDER/SOURCE.git, unless it is there.

algoperf: a file per workload and submission of version 0.5 (external tuning),
with its 25 runs, and per workload of version 0.6, with the runs of two
submissions; the validation metric that the benchmark judges.
nanogpt: a file per number of training steps in the logs of the speed track
and of the optimizer track; the validation loss.
deepobs: a file per problem of the DeepOBS baselines, with three optimizers at
36 learning rates each; the test accuracy of each epoch, or the test loss.
optimizers: the curves of AdaBelief's paper: CIFAR-10, test accuracy of 200
epochs, three networks and nine optimizers; Penn Treebank, test perplexity of
200 epochs, LSTMs of one to three layers and eight optimizers.
dopamine: a file per Atari game; the mean return in each of 198 iterations, of
six agents, and of five with two networks, five runs each.
control: a file per task of the control suite in the scores of DreamerV3, from
positions or from pictures; the mean return in each fiftieth of the training,
of four to six methods, five or ten runs each.

A row is an evaluation: trial, step and value; values are negated where greater
is better.  The step is the number of the evaluation, but in nanogpt, because
runs of a file have steps of different sizes.  The evaluation before any
training is left out.  Files with fewer than 20 runs, or runs of fewer than 10
evaluations, are left out.
"""
import collections
import csv
import gzip
import io
import json
import math
import os
import pickle
import re
import subprocess
import sys
import tempfile

CLONES = {
    'algoperf': 'mlcommons/submissions_algorithms',
    'nanogpt': 'KellerJordan/modded-nanogpt',
    'deepobs': 'fsschneider/DeepOBS_Baselines',
    'optimizers': 'juntang-zhuang/Adabelief-Optimizer',
    'dopamine': 'google/dopamine',
    'control': 'danijar/dreamerv3',
}
METRIC = {  # workload: column, sign
    'criteo1tb': ('validation/loss', 1),
    'fastmri': ('validation/ssim', -1),
    'imagenet_resnet': ('validation/accuracy', -1),
    'imagenet_vit': ('validation/accuracy', -1),
    'librispeech_conformer': ('validation/wer', 1),
    'librispeech_deepspeech': ('validation/wer', 1),
    'ogbg': ('validation/mean_average_precision', -1),
    'wmt': ('validation/bleu', -1),
}
STEP = re.compile(rb'^step:\s*(\d+)/(\d+) val_loss:(\S+)', re.MULTILINE)
PARTS = 50  # of a run of control


def git(repo, *words, **more):
    return subprocess.Popen(('git', '--git-dir=' + repo) + words,
                            stdout=subprocess.PIPE, **more)


def files(repo, pattern):
    """The names and contents of the files whose names match the pattern."""
    with git(repo, 'ls-tree', '-r', '-z', '--name-only', 'HEAD') as run:
        names = [n for n in run.stdout.read().decode().split('\0')
                 if re.search(pattern, n) and '\n' not in n]
    with tempfile.TemporaryFile() as asked:
        asked.writelines(b'HEAD:%s\n' % n.encode() for n in names)
        asked.seek(0)
        with git(repo, 'cat-file', '--batch', stdin=asked) as run:
            for name in names:
                words = run.stdout.readline().split()
                if words[-1] == b'missing':
                    continue
                text = run.stdout.read(int(words[-1]))
                run.stdout.read(1)
                yield name, text


def numbered(values):
    """A curve whose steps are the numbers of the values, from 1."""
    return list(enumerate(values, 1))


def algoperf(repo):
    runs = collections.defaultdict(list)
    for name, text in files(repo, '/eval_measurements.csv$'):
        part = name.split('/')
        version = re.search(r'algoperf_(v\d+)/logs/external_tuning', name)
        work = re.sub('_(jax|pytorch)$', '', part[-3])
        if version is None or work not in METRIC:
            continue
        column, sign = METRIC[work]
        values = [sign * float(row[column]) for row in
                  csv.DictReader(io.StringIO(text.decode()))
                  if row.get(column)]
        group = version[1] if version[1] == 'v06' else part[-5]
        runs['%s-%s' % (group, work)].append(numbered(values[1:]))
    return runs


def nanogpt(repo):
    runs = collections.defaultdict(list)
    for name, text in files(repo, 'track_.*[.]txt$'):
        found = STEP.findall(text)
        if len(found) < 2:
            continue
        track = 'speed' if 'track_1' in name else 'optimizer'
        steps = int(found[-1][1])
        curve = [(int(step), float(value)) for step, _, value in found][1:]
        if curve[-1][0] == steps:
            runs['%s-%d' % (track, steps)].append(curve)
    return runs


def deepobs(repo):
    runs = collections.defaultdict(list)
    # Seed 42 is the search; the other seeds repeat its best setting.
    for name, text in files(repo, '^[^q].*/random_seed__42__.*[.]json$'):
        log = json.loads(text)
        values = ([-v for v in log['test_accuracies']]
                  if 'test_accuracies' in log else log['test_losses'])
        runs[name.split('/')[0]].append(numbered(values[1:]))
    return runs


class Plain(pickle.Unpickler):
    """Reads numbers, texts, lists and tables, and calls nothing."""

    def find_class(self, module, name):
        raise pickle.UnpicklingError('%s.%s' % (module, name))


def optimizers(repo):
    runs = collections.defaultdict(list)
    for name, text in files(repo, '/curve/'):
        file = io.BytesIO(text)
        for _ in range(3):  # what torch.save writes first
            Plain(file).load()
        log = Plain(file).load()
        lstm = '/LSTM/' in name
        runs['lstm' if lstm else 'cifar10'].append(
            numbered(log['test_loss'] if lstm else
                     [-v for v in log['test_acc']]))
    return runs


def dopamine(repo):
    runs = collections.defaultdict(list)
    for name, text in files(repo, r'^baselines/atari/data/\w+[.]json$'):
        game = re.sub('(_CNN|_Impala)?[.]json$', '', name.split('/')[-1])
        agents = collections.defaultdict(
            lambda: collections.defaultdict(list))
        for row in json.loads(text):
            agents[row['Agent']][row['Iteration']].append(-row['Value'])
        for values in agents.values():
            # The runs of an agent are in the same order in each iteration.
            if len(set(map(len, values.values()))) == 1:
                runs[game] += zip(*(values[i] for i in range(1, 199)))
    return {game: list(map(numbered, curves))
            for game, curves in runs.items()}


def control(repo):
    runs = collections.defaultdict(list)
    for name, text in files(repo, r'^scores/dmc_\w+-\w+[.]json[.]gz$'):
        suite = name.split('/')[-1].split('-')[0]
        steps = {'dmc_proprio': 500e3, 'dmc_vision': 1e6}[suite]
        for log in json.loads(gzip.decompress(text)):
            parts = collections.defaultdict(list)
            for step, value in zip(log['xs'], log['ys']):
                if step > 0 and value is not None:
                    parts[math.ceil(step * PARTS / steps)].append(-value)
            curve = [(part, sum(v) / len(v)) for part, v in
                     sorted(parts.items()) if part <= PARTS]
            if curve and curve[-1][0] >= PARTS - 1:
                task = log['task'].replace('dmc_', suite[4:] + '-')
                runs[task].append(curve)
    return runs


def write(folder, name, curves):
    """Writes a file, or nothing if the curves are few or short."""
    curves = [c for c in curves if c and
              all(a[0] < b[0] for a, b in zip(c, c[1:]))]
    most = max(map(len, curves), default=0)
    if len(curves) < 20 or most < 10:
        return
    with open(os.path.join(folder, name + '.csv'), 'w') as out:
        print('trial,step,value', file=out)
        for i, curve in enumerate(curves):
            for step, value in curve:
                print('%d,%d,%r' % (i + 1, step, value), file=out)
    print(name, len(curves), most, flush=True)


def main():
    folder, *sources = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    for word in sources or CLONES:
        source, _, clone = word.partition('=')
        clone = clone or os.path.join(folder, source + '.git')
        if not os.path.exists(clone):
            subprocess.run(['git', 'clone', '--quiet', '--bare', '--depth=1',
                            'https://github.com/' + CLONES[source], clone],
                           check=True)
        for task, curves in sorted(globals()[source](clone).items()):
            write(folder, source + '-' + task, curves)


main()
