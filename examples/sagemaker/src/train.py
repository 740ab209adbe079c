#!/usr/bin/env python3
"""A small network learns to separate two spirals, in plain Python.

    train.py --lr=0.1 --hidden=8 --momentum=0.9 [--epochs=20]

Independent of where it runs: takes its settings as arguments, reports by
printing, resumes from a checkpoint if there is one, and writes one after each
epoch."""

import argparse
import json
import math
import os
import random
import signal
import sys


def read_options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=0.1)
    parser.add_argument("--hidden", type=int, default=8)
    parser.add_argument("--momentum", type=float, default=0.9)
    parser.add_argument("--epochs", type=int, default=20)
    return parser.parse_args()


def spirals(n, rng):
    """Points (x, y) and which of the two spirals each is of."""
    points = []
    for i in range(n):
        kind = i % 2
        turn = rng.random()
        angle = 6.5 * turn + math.pi * kind
        points.append((turn * math.cos(angle) + rng.gauss(0, 0.02),
                       turn * math.sin(angle) + rng.gauss(0, 0.02), kind))
    return points


class Net:
    """Two inputs, one hidden layer of tanh, one output."""

    def __init__(self, hidden, rng):
        self.weights = [[rng.gauss(0, 1.5) for _ in range(3)] +
                        [rng.gauss(0, 0.5)] for _ in range(hidden)]
        self.bias = 0.0
        self.speed = [[0.0] * 4 for _ in range(hidden)]

    def forward(self, x, y):
        units = [math.tanh(a * x + b * y + c) for a, b, c, _ in self.weights]
        total = self.bias + sum(row[3] * unit for row, unit in
                                zip(self.weights, units))
        return units, 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))

    def learn(self, x, y, kind, lr, momentum):
        units, guess = self.forward(x, y)
        error = guess - kind
        self.bias -= lr * error
        for row, speed, unit in zip(self.weights, self.speed, units):
            back = error * row[3] * (1 - unit * unit)
            for i, slope in enumerate((back * x, back * y, back,
                                       error * unit)):
                speed[i] = momentum * speed[i] - lr * slope
                row[i] += speed[i]

    def loss(self, points):
        total = 0.0
        for x, y, kind in points:
            guess = self.forward(x, y)[1]
            total -= math.log(max(1e-12, guess if kind else 1 - guess))
        return total / len(points)


def load(path, net):
    """The epochs that an earlier run has done."""
    if not os.path.exists(path):
        return 0
    with open(path, encoding="ascii") as file:
        saved = json.load(file)
    net.weights, net.speed = saved["weights"], saved["speed"]
    net.bias = saved["bias"]
    return saved["epochs"]


def save(path, net, epochs):
    """Under another name first: this run may end at any moment."""
    with open(path + ".new", "w", encoding="ascii") as file:
        json.dump({"epochs": epochs, "weights": net.weights,
                   "speed": net.speed, "bias": net.bias}, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(path + ".new", path)


def main():
    options = read_options()
    rng = random.Random(1)
    train, test = spirals(4000, rng), spirals(1000, rng)
    net = Net(options.hidden, rng)
    path = os.path.join(os.environ.get("HPOTUNE_CHECKPOINT_DIR", "."),
                        "spirals.json")
    told = []
    signal.signal(signal.SIGTERM, lambda *_: told.append(True))
    for epoch in range(load(path, net), options.epochs):
        for x, y, kind in random.Random(epoch).sample(train, len(train)):
            net.learn(x, y, kind, options.lr, options.momentum)
        print("hpotune: step=%d loss=%.5f" % (epoch + 1, net.loss(test)),
              flush=True)
        save(path, net, epoch + 1)
        if told:
            sys.exit("told to end after epoch %d" % (epoch + 1))


if __name__ == "__main__":
    main()
