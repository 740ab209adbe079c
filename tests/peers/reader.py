"""What the programs of readers.t share: where they save, when they are cut, and
what their library remembers of its training."""

import json
import os
import random
import signal
import sys
import time

slow = float(os.environ.get("SLOW", "0"))  # seconds that a batch takes besides
epochs = int(os.environ.get("EPOCHS", "4"))
cut_at = int(os.environ.get("CUT", "-1"))  # the epoch that SIGTERM interrupts
saves = os.environ.get("HPOTUNE_CHECKPOINT_DIR", "checkpoint")


def place(name):
    """The path of a file of the checkpoint."""
    os.makedirs(saves, exist_ok=True)
    return os.path.join(saves, name)


def saved(name):
    """The path of a file of the checkpoint, or None without it."""
    return place(name) if os.path.exists(place(name)) else None


def cut(epoch):
    """The first attempt dies of SIGTERM here, if this is the epoch."""
    if epoch != cut_at or saved("was-cut"):
        return
    open(place("was-cut"), "w").close()
    sys.stdout.flush()
    os.kill(os.getpid(), signal.SIGTERM)


def wait():
    """A batch takes a while."""
    if slow:
        time.sleep(slow)


def history(curves):
    """Writes what the library remembers: {metric: {step: value}}."""
    with open(os.environ.get("HISTORY", "history.json"), "w") as out:
        json.dump(curves, out)


def load(name, default):
    """The JSON of a file of the checkpoint."""
    if not saved(name):
        return default
    with open(place(name)) as file:
        return json.load(file)


def save(name, value):
    """Writes JSON into a file of the checkpoint."""
    with open(place(name) + ".new", "w") as file:
        json.dump(value, file)
    os.replace(place(name) + ".new", place(name))


def points(n=200, seed=1):
    """Two columns and a class of 0 or 1 that they suggest."""
    chance = random.Random(seed)
    x = [[chance.uniform(-1, 1), chance.uniform(-1, 1)] for _ in range(n)]
    y = [int(a + b + chance.gauss(0, 0.3) > 0) for a, b in x]
    return x, y
