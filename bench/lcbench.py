#!/usr/bin/env python3
"""Learning curves of random settings from the LCBench surrogate, as CSV.

    lcbench.py FOLDER TASK [SETTINGS [SEED]]

FOLDER has model.onnx and encoding.json.  One row per setting: its seven
hyperparameters, then validation accuracies s1 to s52, one per epoch.  Needs
onnxruntime and numpy.
"""

import json
import sys

import numpy
import onnxruntime

EPOCHS = 52
# Name, low, high, logarithmic, whole: in the order the model wants them.
SPACE = [
    ("batch_size", 16, 512, True, True),
    ("learning_rate", 1e-4, 1e-1, True, False),
    ("momentum", 0.1, 0.99, False, False),
    ("weight_decay", 1e-5, 1e-1, False, False),
    ("num_layers", 1, 5, False, True),
    ("max_units", 64, 1024, True, True),
    ("max_dropout", 0.0, 1.0, False, False),
]


def draw(rng, n):
    """n settings, one per row."""
    columns = []
    for _, low, high, log, whole in SPACE:
        u = rng.random(n)
        if log:
            x = numpy.exp(numpy.log(low) + u * (numpy.log(high) - numpy.log(low)))
        elif whole:
            x = low - 0.5 + u * (high - low + 1)
        else:
            x = low + u * (high - low)
        columns.append(numpy.clip(numpy.rint(x), low, high) if whole else x)
    return numpy.stack(columns, axis=1)


def main():
    folder, task = sys.argv[1:3]
    n = int(sys.argv[3]) if len(sys.argv) > 3 else 1000
    seed = int(sys.argv[4]) if len(sys.argv) > 4 else 1
    with open(folder + "/encoding.json", encoding="utf-8") as f:
        code = json.load(f)["OpenML_task_id"][task]
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    model = onnxruntime.InferenceSession(
        folder + "/model.onnx", options, providers=["CPUExecutionProvider"])
    settings = draw(numpy.random.default_rng(seed), n)
    curves = []
    for epoch in range(1, EPOCHS + 1):
        rows = numpy.column_stack([numpy.full(n, epoch), settings])
        feed = {
            "x_cat": numpy.full((n, 1), code, dtype=numpy.int32),
            "x_cont": rows.astype(numpy.float32),
        }
        curves.append(model.run(None, feed)[0][:, 1])
    names = [name for name, *_ in SPACE]
    print(",".join(names + ["s%d" % e for e in range(1, EPOCHS + 1)]))
    for setting, curve in zip(settings, numpy.stack(curves, axis=1)):
        print(",".join("%.7g" % x for x in list(setting) + list(curve)))


main()
