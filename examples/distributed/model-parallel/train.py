#!/usr/bin/env python3
"""Model parallel training: one process whose network is distributed over all
GPUs of the trial.

    train.py --lr=0.01 --hidden=64 [--epochs=10]

No launcher is needed: the process sees as many GPUs as trial.gpus says,
numbered from 0.  Without any, all parts are on the CPU."""

import argparse
import os
import signal

import torch
from torch import nn

told = []
signal.signal(signal.SIGTERM, lambda number, frame: told.append(number))

parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, default=0.01)
parser.add_argument("--hidden", type=int, default=64)
parser.add_argument("--epochs", type=int, default=10)
options = parser.parse_args()

parts = max(2, torch.cuda.device_count())
devices = [torch.device("cuda", k) if k < torch.cuda.device_count()
           else torch.device("cpu") for k in range(parts)]


class Net(nn.Module):
    """A layer on each device, and what flows goes from one to the next."""

    def __init__(self):
        super().__init__()
        sizes = [2] + [options.hidden] * (parts - 1) + [1]
        self.layers = nn.ModuleList(
            nn.Linear(sizes[k], sizes[k + 1]).to(devices[k])
            for k in range(parts))

    def forward(self, x):
        for k, layer in enumerate(self.layers):
            x = layer(x.to(devices[k]))
            if k + 1 < parts:
                x = torch.tanh(x)
        return x


torch.manual_seed(1)
points = torch.rand(2048, 2) * 4 - 2
values = (torch.sin(2 * points[:, :1]) + points[:, 1:] ** 2).to(devices[-1])
net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=options.lr)

first = 1
saved = os.path.join(os.environ.get("HPOTUNE_CHECKPOINT_DIR", "."), "state.pt")
if os.path.exists(saved):
    state = torch.load(saved, map_location="cpu")
    net.load_state_dict(state["net"])
    optimizer.load_state_dict(state["optimizer"])
    first = state["epoch"] + 1

for epoch in range(first, options.epochs + 1):
    for at in range(0, 1536, 128):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(net(points[at:at + 128]),
                                      values[at:at + 128])
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        loss = nn.functional.mse_loss(net(points[1536:]), values[1536:])
    print(f"hpotune: step={epoch} loss={loss.item():.6f}", flush=True)
    torch.save({"net": net.state_dict(), "epoch": epoch,
                "optimizer": optimizer.state_dict()}, saved + ".new")
    os.replace(saved + ".new", saved)
    if told:
        break
