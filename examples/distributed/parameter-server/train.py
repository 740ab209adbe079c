#!/usr/bin/env python3
"""Parameter servers, in plain Python: each holds a part of the weights; workers
fetch them and send gradients back, asynchronously.

    train.py --lr=0.1 --momentum=0.5 [--epochs=10]

The roles are in TF_CONFIG, as TensorFlow reads it; a program that uses
tf.distribute needs only TFConfigClusterResolver.  The servers run until they
are killed, which is no failure.  The chief reports and saves."""

import argparse
import json
import math
import os
import random
import signal
import socket
import socketserver
import sys
import threading
import time

SIZE = 8  # weights

parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, default=0.1)
parser.add_argument("--momentum", type=float, default=0.5)
parser.add_argument("--epochs", type=int, default=10)
options = parser.parse_args()

config = json.loads(os.environ["TF_CONFIG"])
servers = config["cluster"]["ps"]
role, index = config["task"]["type"], config["task"]["index"]
slices = [range(k, SIZE, len(servers)) for k in range(len(servers))]


def serve():
    """Lines of JSON: gradients to be applied, or weights to be set; the answer
    is the weights of this slice."""
    weights = [0.0] * len(slices[index])
    speed = [0.0] * len(weights)
    lock = threading.Lock()

    class Handler(socketserver.StreamRequestHandler):
        def handle(self):
            for line in self.rfile:
                said = json.loads(line)
                with lock:
                    if "set" in said:
                        weights[:] = said["set"]
                    for i, g in enumerate(said.get("gradient", [])):
                        speed[i] = options.momentum * speed[i] - options.lr * g
                        weights[i] += speed[i]
                    self.wfile.write(json.dumps(weights).encode() + b"\n")

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True

    host, port = servers[index].rsplit(":", 1)
    Server((host, int(port)), Handler).serve_forever()


class Weights:
    """All weights, wherever they are."""

    def __init__(self):
        self.files = [self.connect(address) for address in servers]

    @staticmethod
    def connect(address):
        host, port = address.rsplit(":", 1)
        until = time.monotonic() + 60
        while True:
            try:
                return socket.create_connection((host, int(port))).makefile("rw")
            except OSError:
                # It may have begun a moment later than this process.
                if time.monotonic() > until:
                    raise
                time.sleep(0.05)

    def ask(self, **said):
        weights = [0.0] * SIZE
        for k, file in enumerate(self.files):
            mine = {key: [value[i] for i in slices[k]]
                    for key, value in said.items()}
            file.write(json.dumps(mine) + "\n")
            file.flush()
            for i, w in zip(slices[k], json.loads(file.readline())):
                weights[i] = w
        return weights


def points(n, seed):
    """Yes or no, by a line through eight dimensions, with some noise."""
    rng = random.Random(seed)
    for _ in range(n):
        x = [rng.gauss(0, 1) for _ in range(SIZE)]
        margin = sum(a * (1 if i % 2 else -2) for i, a in enumerate(x))
        yield x, margin + rng.gauss(0, 1) > 0


def guess(weights, x):
    total = sum(w * a for w, a in zip(weights, x))
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))


def learn(weights, data):
    for at in range(0, len(data), 32):
        now, gradient = weights.ask(), [0.0] * SIZE
        for x, yes in data[at:at + 32]:
            error = guess(now, x) - yes
            for i, a in enumerate(x):
                gradient[i] += error * a / 32
        weights.ask(gradient=gradient)


def loss_of(now, data):
    return sum(-math.log(max(1e-9, g if yes else 1 - g)) for g, yes in
               ((guess(now, x), yes) for x, yes in data)) / len(data)


def main():
    told = []
    signal.signal(signal.SIGTERM, lambda number, frame: told.append(number))
    weights, first = Weights(), 1
    saved = os.path.join(os.environ.get("HPOTUNE_CHECKPOINT_DIR", "."), "state")
    if os.path.exists(saved):
        with open(saved, encoding="utf-8") as file:
            first, kept = json.load(file)
        if role == "chief":
            weights.ask(set=kept)
    number = 0 if role == "chief" else index + 1
    data, test = list(points(512, number + 1)), list(points(512, 0))
    for epoch in range(first, options.epochs + 1):
        learn(weights, data)
        if role == "chief":
            now = weights.ask()
            print(f"hpotune: step={epoch} loss={loss_of(now, test):.6f}",
                  flush=True)
            with open(saved + ".new", "w", encoding="utf-8") as file:
                json.dump([epoch + 1, now], file)
            os.replace(saved + ".new", saved)
        if told:
            break


if role == "ps":
    sys.exit(serve())
main()
