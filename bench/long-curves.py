#!/usr/bin/env python3
"""
Learning curves of long runs, from the logs in two public repositories, as
files for hpotune replay.

    git clone --bare https://github.com/mlcommons/submissions_algorithms
    git clone --bare https://github.com/KellerJordan/modded-nanogpt
    long-curves.py algoperf submissions_algorithms.git FOLDER
    long-curves.py nanogpt modded-nanogpt.git FOLDER

algoperf: a file per workload and submission of version 0.5 (external tuning),
with its 25 runs, and per workload of version 0.6, with the runs of two
submissions; the validation metric that the benchmark judges, negated where
greater is better.  nanogpt: a file per number of training steps in the logs of the speed track
and of the optimizer track; the validation loss.  A row is an evaluation: trial, step and value.  The step of algoperf is
the number of the evaluation, because the submissions have steps of different
sizes.  The evaluation before any training is left out.  All values: smaller is
better.  Files with fewer than 20 runs, or runs of fewer than 10 evaluations,
are left out.
"""
import collections
import csv
import io
import os
import re
import subprocess
import sys

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


def git(repo, *words, give=None):
    return subprocess.run(('git', '--git-dir=' + repo) + words, input=give,
                          check=True, capture_output=True).stdout


def files(repo, ending):
    """The names and contents of the files whose names have this ending."""
    names = [n for n in git(repo, 'ls-tree', '-r', '-z', '--name-only',
                            'HEAD').split(b'\0')
             if n.endswith(ending) and b'\n' not in n]
    blobs = git(repo, 'cat-file', '--batch',
                give=b''.join(b'HEAD:' + n + b'\n' for n in names))
    at = 0
    for name in names:
        end = blobs.index(b'\n', at)
        words = blobs[at:end].split()
        at = end + 1
        if words[-1] == b'missing':
            continue
        size = int(words[-1])
        yield name.decode(), blobs[at:at + size]
        at += size + 1


def algoperf(repo):
    runs = collections.defaultdict(list)
    for name, text in files(repo, b'/eval_measurements.csv'):
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
        curve = list(enumerate(values))[1:]
        runs['algoperf-%s-%s' % (group, work)].append(curve)
    return runs


def nanogpt(repo):
    runs = collections.defaultdict(list)
    for name, text in files(repo, b'.txt'):
        found = STEP.findall(text)
        if len(found) < 2 or 'track_' not in name:
            continue
        track = 'speed' if 'track_1' in name else 'optimizer'
        steps = int(found[-1][1])
        curve = [(int(step), float(value)) for step, _, value in found][1:]
        if curve[-1][0] == steps:
            runs['nanogpt-%s-%d' % (track, steps)].append(curve)
    return runs


def main():
    source, repo, folder = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    for name, curves in sorted(globals()[source](repo).items()):
        curves = [c for c in curves if c and
                  all(a[0] < b[0] for a, b in zip(c, c[1:]))]
        most = max(map(len, curves), default=0)
        if len(curves) < 20 or most < 10:
            continue
        with open(os.path.join(folder, name + '.csv'), 'w') as out:
            print('trial,step,value', file=out)
            for i, curve in enumerate(curves):
                for step, value in curve:
                    print('%d,%d,%r' % (i + 1, step, value), file=out)
        print(name, len(curves), most)


main()
