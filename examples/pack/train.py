#!/usr/bin/env python3
"""Many small models in one process: a program for "trial": {"pack": N}.

Each trial fits a cubic to the same noisy points by gradient descent with its
own learning rate, momentum and weight decay.  Expensive work is shared: the
data are created once, and every point is read once per epoch for all trials.
hpotune-trial(7) has the protocol; this file needs only Python."""

import json
import math
import os
import random
import select
import sys

EPOCHS = 30
rng = random.Random(1)
POINTS = []
for _ in range(400):
    x = rng.uniform(-1, 1)
    y = 0.5 - x + 2 * x ** 3 + rng.gauss(0, 0.1)
    POINTS.append(((1.0, x, x * x, x ** 3), y))
TRAIN, HELD = POINTS[:300], POINTS[300:]


def say(**line):
    # One object a line, and at once: nobody waits for a full buffer.
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


class Trial:
    def __init__(self, message):
        self.number, self.attempt = message["start"], message["attempt"]
        p = message["params"]
        self.rate, self.momentum = p["rate"], p["momentum"]
        self.decay = p["decay"]
        self.saved = os.path.join(message["checkpoint_dir"], "state.json")
        self.epoch, self.weights, self.speed = 0, [0.0] * 4, [0.0] * 4
        # Another attempt may have been here before, or another trial.
        if os.path.exists(self.saved):
            with open(self.saved) as f:
                self.epoch, self.weights, self.speed = json.load(f)

    def save(self):
        with open(self.saved + ".new", "w") as f:
            json.dump([self.epoch, self.weights, self.speed], f)
            f.flush()
            os.fsync(f.fileno())
        os.replace(self.saved + ".new", self.saved)

    def learn(self, features, wanted):
        error = sum(w * v for w, v in zip(self.weights, features)) - wanted
        for i, v in enumerate(features):
            slope = error * v + self.decay * self.weights[i]
            self.speed[i] = self.momentum * self.speed[i] - self.rate * slope
            self.weights[i] += self.speed[i]

    def loss(self):
        """Infinite or no number when it diverges: ** would raise an error,
        and that would be the end of all trials."""
        total = 0.0
        for features, wanted in HELD:
            error = sum(w * v for w, v in zip(self.weights, features)) - wanted
            total += error * error
        return total / len(HELD)

    def report(self):
        """Say how it stands; false when it is over."""
        self.epoch += 1
        loss = self.loss()
        if not math.isfinite(loss):
            say(trial=self.number, end=1, why="the loss is not finite")
            return False
        say(trial=self.number, attempt=self.attempt, step=self.epoch,
            loss=loss)
        self.save()
        if self.epoch < EPOCHS:
            return True
        say(trial=self.number, end=0)
        return False


def hear(line, trials):
    message = json.loads(line)
    if "start" in message:
        trials[message["start"]] = Trial(message)
    elif "stop" in message and message["stop"] in trials:
        # Its checkpoint is that of the last epoch.
        del trials[message["stop"]]
        say(trial=message["stop"], end=0)


def listen(trials, rest):
    """What has come; without a trial, wait for it.  None at the end."""
    while select.select([0], [], [], 0 if trials else None)[0]:
        data = os.read(0, 65536)
        if not data:
            return None
        *lines, rest = (rest + data).split(b"\n")
        for line in lines:
            hear(line, trials)
    return rest


def main():
    trials, rest = {}, b""
    while (rest := listen(trials, rest)) is not None:
        for features, y in TRAIN:
            for trial in trials.values():
                trial.learn(features, y)
        for number in [n for n, t in trials.items() if not t.report()]:
            del trials[number]


try:
    main()
except (KeyboardInterrupt, BrokenPipeError):
    pass
