#!/usr/bin/env python3
"""Pipeline parallel training with torch: each rank has a stage of the network,
and a batch is processed in pieces, so that all stages work at once.

    train.py --lr=0.01 --hidden=32 --microbatches=4 [--epochs=10]

First all pieces go forward, then all go back, and each stage takes one step
with the sum of its gradients: the result equals that of the whole batch, as
the loss shows.  The stages use gloo on the CPU and NCCL on GPUs.  The last
stage has the loss; rank 0 reports and saves what all stages send it."""

import argparse
import os
import signal

import torch
import torch.distributed as dist
from torch import nn

told = []
signal.signal(signal.SIGTERM, lambda number, frame: told.append(number))

parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, default=0.01)
parser.add_argument("--hidden", type=int, default=32)
parser.add_argument("--microbatches", type=int, default=4)
parser.add_argument("--batch", type=int, default=128)
parser.add_argument("--epochs", type=int, default=10)
options = parser.parse_args()

rank, local = int(os.environ["RANK"]), int(os.environ["LOCAL_RANK"])
gpu = torch.cuda.is_available()
device = torch.device("cuda", local) if gpu else torch.device("cpu")
if gpu:
    torch.cuda.set_device(device)
dist.init_process_group("nccl" if gpu else "gloo")
stages = dist.get_world_size()
first_stage, last_stage = rank == 0, rank == stages - 1
if options.batch % options.microbatches != 0:
    raise SystemExit("--microbatches does not divide --batch")
piece = options.batch // options.microbatches

torch.manual_seed(2 + rank)
layers = [nn.Linear(2 if first_stage else options.hidden,
                    1 if last_stage else options.hidden)]
if not last_stage:
    layers.append(nn.Tanh())
stage = nn.Sequential(*layers).to(device)
optimizer = torch.optim.Adam(stage.parameters(), lr=options.lr)

# Points enter at the first stage; the last one knows their values.
make = torch.Generator().manual_seed(1)
points = torch.rand(2048, 2, generator=make) * 4 - 2
values = (torch.sin(2 * points[:, :1]) + points[:, 1:] ** 2).to(device)
points = points.to(device)


def forward(x):
    """One piece through this stage; x is None but at the first."""
    if not first_stage:
        x = torch.empty(piece, options.hidden, device=device)
        dist.recv(x, rank - 1)
        x.requires_grad_()
    y = stage(x)
    if not last_stage:
        dist.send(y.detach(), rank + 1)
    return x, y


def backward(x, y, loss):
    """The same piece back."""
    if last_stage:
        loss.backward()
    else:
        slope = torch.empty_like(y)
        dist.recv(slope, rank + 1)
        y.backward(slope)
    if not first_stage:
        dist.send(x.grad, rank - 1)


def pieces(indices):
    return [indices[k:k + piece] for k in range(0, len(indices), piece)]


def learn(indices):
    optimizer.zero_grad()
    held = []
    for one in pieces(indices):
        x, y = forward(points[one] if first_stage else None)
        loss = None
        if last_stage:
            loss = nn.functional.mse_loss(y, values[one]) / \
                options.microbatches
        held.append((x, y, loss))
    for one in held:
        backward(*one)
    optimizer.step()


def judge(indices):
    """The mean loss, known to every rank."""
    total = torch.zeros(1, device=device)
    with torch.no_grad():
        for one in pieces(indices):
            y = forward(points[one] if first_stage else None)[1]
            if last_stage:
                total += nn.functional.mse_loss(y, values[one])
    dist.broadcast(total, stages - 1)
    return total.item() * piece / len(indices)


first = 1
folder = os.environ.get("HPOTUNE_CHECKPOINT_DIR", ".")
saved = os.path.join(folder, "stages.pt")
if os.path.exists(saved):
    state = torch.load(saved, map_location=device)
    stage.load_state_dict(state["stages"][rank])
    optimizer.load_state_dict(state["optimizers"][rank])
    first = state["epoch"] + 1

for epoch in range(first, options.epochs + 1):
    order = torch.randperm(1536, generator=torch.Generator().manual_seed(epoch))
    for at in range(0, 1536, options.batch):
        learn(order[at:at + options.batch])
    loss = judge(torch.arange(1536, 2048))
    held = [None] * stages
    dist.all_gather_object(held, (stage.state_dict(), optimizer.state_dict(),
                                  len(told)))
    if rank == 0:
        print(f"hpotune: step={epoch} loss={loss:.6f}", flush=True)
        torch.save({"stages": [one[0] for one in held], "epoch": epoch,
                    "optimizers": [one[1] for one in held]}, saved + ".new")
        os.replace(saved + ".new", saved)
    # All leave after the same epoch, or those that stay would wait for ever.
    if any(one[2] for one in held):
        break
dist.destroy_process_group()
