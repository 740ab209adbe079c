#!/usr/bin/env python3
"""TensorFlow's parameter servers: they hold the variables, workers compute the
gradients, and the chief schedules the work.

    train.py --lr=0.01 --hidden=32 [--epochs=10]

The roles are in TF_CONFIG.  Under hpotune's "ranks" there is a chief; the
toolkit in AWS's images calls it master.  Workers and servers never exit by
themselves: hpotune ends them after the chief."""

import argparse
import json
import os
import signal

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
config = json.loads(os.environ["TF_CONFIG"])
cluster, task = config["cluster"], config["task"]
if "master" in cluster:
    cluster["chief"] = cluster.pop("master")
    task["type"] = task["type"].replace("master", "chief")
os.environ["TF_CONFIG"] = json.dumps({"cluster": cluster, "task": task})

import tensorflow as tf  # noqa: E402  it reads TF_CONFIG

parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, default=0.01)
parser.add_argument("--hidden", type=int, default=32)
parser.add_argument("--batch", type=int, default=128)
parser.add_argument("--epochs", type=int, default=10)
parser.add_argument("--model_dir", help="as AWS's Python kit passes it")
options = parser.parse_args()

resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
if task["type"] in ("worker", "ps"):
    tf.distribute.Server(resolver.cluster_spec(), job_name=task["type"],
                         task_index=task["index"], protocol="grpc").join()

told = []
signal.signal(signal.SIGTERM, lambda number, frame: told.append(number))
strategy = tf.distribute.ParameterServerStrategy(resolver)
coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)

random = tf.random.Generator.from_seed(1)
points = random.uniform((2048, 2), -2.0, 2.0)
values = tf.sin(2 * points[:, :1]) + points[:, 1:] ** 2

with strategy.scope():
    start = tf.random.Generator.from_seed(2)
    weights = [tf.Variable(start.normal(shape, stddev=0.5)) for shape in
               ((2, options.hidden), (1, options.hidden),
                (options.hidden, 1), (1, 1))]
    epoch = tf.Variable(0, dtype=tf.int64)


def loss_of(at, size):
    hidden = tf.tanh(points[at:at + size] @ weights[0] + weights[1])
    guess = hidden @ weights[2] + weights[3]
    return tf.reduce_mean((guess - values[at:at + size]) ** 2)


@tf.function
def step(at):
    """On a worker: its gradients go straight to the servers."""
    with tf.GradientTape() as tape:
        loss = loss_of(at, options.batch)
    for weight, slope in zip(weights, tape.gradient(loss, weights)):
        weight.assign_sub(options.lr * slope)
    return loss


@tf.function
def judge():
    return loss_of(1536, 512)


folder = os.environ.get("HPOTUNE_CHECKPOINT_DIR", ".")
checkpoint = tf.train.Checkpoint(weights=weights, epoch=epoch)
manager = tf.train.CheckpointManager(checkpoint, folder, max_to_keep=1)
checkpoint.restore(manager.latest_checkpoint)

for number in range(int(epoch.numpy()) + 1, options.epochs + 1):
    for at in range(0, 1536, options.batch):
        coordinator.schedule(step, args=(tf.constant(at),))
    coordinator.join()
    loss = coordinator.fetch(coordinator.schedule(judge))
    print(f"hpotune: step={number} loss={loss:.6f}", flush=True)
    epoch.assign(number)
    manager.save()
    if told:
        break
