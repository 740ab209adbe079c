#!/usr/bin/env python3
"""Data parallel training with torch: each rank computes its share of every
batch, and the gradients are averaged.

    train.py --lr=0.01 --hidden=32 --batch=64 [--epochs=10]

The ranks find each other by RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT, as
torchrun or hpotune's own "ranks" set them; on GPUs each takes number
LOCAL_RANK of the visible ones.  Rank 0 reports and saves."""

import argparse
import os
import signal

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

told = []
signal.signal(signal.SIGTERM, lambda number, frame: told.append(number))

parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, default=0.01)
parser.add_argument("--hidden", type=int, default=32)
parser.add_argument("--batch", type=int, default=64, help="of one rank")
parser.add_argument("--epochs", type=int, default=10)
options = parser.parse_args()

rank = int(os.environ["RANK"])
local = int(os.environ["LOCAL_RANK"])
gpu = torch.cuda.is_available()
device = torch.device("cuda", local) if gpu else torch.device("cpu")
if gpu:
    torch.cuda.set_device(device)
dist.init_process_group("nccl" if gpu else "gloo")

# The same points on each rank, of which each takes its own.
make = torch.Generator().manual_seed(1)
points = torch.rand(2048, 2, generator=make) * 4 - 2
values = (torch.sin(2 * points[:, :1]) + points[:, 1:] ** 2).to(device)
points = points.to(device)
test_points, test_values = points[1536:], values[1536:]

torch.manual_seed(2)
net = nn.Sequential(nn.Linear(2, options.hidden), nn.Tanh(),
                    nn.Linear(options.hidden, 1)).to(device)
model = DistributedDataParallel(net, device_ids=[local] if gpu else None)
optimizer = torch.optim.Adam(model.parameters(), lr=options.lr)

first = 1
saved = os.path.join(os.environ.get("HPOTUNE_CHECKPOINT_DIR", "."), "state.pt")
if os.path.exists(saved):
    state = torch.load(saved, map_location=device)
    net.load_state_dict(state["net"])
    optimizer.load_state_dict(state["optimizer"])
    first = state["epoch"] + 1

size = dist.get_world_size()
for epoch in range(first, options.epochs + 1):
    order = torch.randperm(1536, generator=torch.Generator().manual_seed(epoch))
    for at in range(0, 1536 - options.batch * size + 1, options.batch * size):
        mine = order[at + rank * options.batch:][:options.batch]
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(points[mine]), values[mine])
        loss.backward()
        optimizer.step()
    if rank == 0:
        with torch.no_grad():
            loss = nn.functional.mse_loss(net(test_points), test_values)
        print(f"hpotune: step={epoch} loss={loss.item():.6f}", flush=True)
        torch.save({"net": net.state_dict(), "epoch": epoch,
                    "optimizer": optimizer.state_dict()}, saved + ".new")
        os.replace(saved + ".new", saved)
    # All leave after the same epoch, or those that stay would wait for ever.
    leave = torch.tensor([len(told)], device=device)
    dist.all_reduce(leave)
    if leave.item() > 0:
        break
dist.destroy_process_group()
