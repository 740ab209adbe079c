#!/usr/bin/env python3
"""Packed training by the batched products of torch: the peer of bench/pack-kernel
and of mlp --pack.

    pack-peer.py NETWORKS HIDDEN [EPOCHS [PICTURES [DEVICE [graph]]]]

One line: microseconds for a picture of a network in the fastest epoch, of a
processor on the CPU (one thread), of the clock on a GPU; imports and data are not
counted.  The same networks: 784 pixels, ten classes, batches of 128, SGD with
momentum and weight decay, and an order of its own for each.  graph: a step is one
CUDA graph.
"""

import sys
import time

import torch

PIXELS, CLASSES, BATCH = 784, 10, 128
LR, MOMENTUM, DECAY = 0.05, 0.9, 1e-4


class Pack:
    def __init__(self, n, hidden, pictures, device):
        g = torch.Generator().manual_seed(1)
        self.n = n
        self.x = torch.randint(0, 256, (pictures, PIXELS), generator=g,
                               dtype=torch.uint8).to(device)
        self.label = torch.randint(0, CLASSES, (pictures,),
                                   generator=g).to(device)

        def weights(rows, columns):
            bound = (6 / rows) ** 0.5
            w = torch.rand(n, rows, columns, generator=g) * 2 - 1
            return (w * bound).to(device)

        self.params = [weights(PIXELS, hidden),
                       torch.zeros(n, 1, hidden, device=device),
                       weights(hidden, CLASSES),
                       torch.zeros(n, 1, CLASSES, device=device)]
        self.memory = [torch.zeros_like(p) for p in self.params]
        self.rows = torch.zeros(n, BATCH, dtype=torch.long, device=device)

    def step(self):
        """Forward, backward and update of all networks by hand, without
        autograd: nothing is computed that is not needed."""
        w1, b1, w2, b2 = self.params
        x = self.x[self.rows].float().mul_(1 / 255).sub_(0.5)
        y = torch.baddbmm(b1, x, w1).clamp_(min=0)
        d = torch.baddbmm(b2, y, w2).softmax(2)
        d.scatter_add_(2, self.label[self.rows].unsqueeze(2),
                       d.new_full((1, 1, 1), -1).expand(self.n, BATCH, 1))
        d.mul_(1 / BATCH)
        back = torch.bmm(d, w2.transpose(1, 2)).mul_(y > 0)
        grads = [torch.bmm(x.transpose(1, 2), back), back.sum(1, True),
                 torch.bmm(y.transpose(1, 2), d), d.sum(1, True)]
        for p, m, grad in zip(self.params, self.memory, grads):
            m.mul_(MOMENTUM).add_(grad)
            p.mul_(1 - LR * DECAY).sub_(m, alpha=LR)


def captured(pack):
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(3):
            pack.step()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        pack.step()
    return graph.replay


def main():
    def number(i, otherwise):
        return int(sys.argv[i]) if len(sys.argv) > i else otherwise

    n, hidden, epochs = number(1, 64), number(2, 32), number(3, 3)
    pictures = number(4, 10000)
    device = sys.argv[5] if len(sys.argv) > 5 else "cpu"
    on_cpu = device == "cpu"
    clock = time.process_time if on_cpu else time.perf_counter
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    pack = Pack(n, hidden, pictures, device)
    step = captured(pack) if "graph" in sys.argv[6:] else pack.step
    steps = pictures // BATCH
    least = float("inf")
    for _ in range(epochs):
        order = torch.rand(n, pictures, device=device).argsort(1)
        if not on_cpu:
            torch.cuda.synchronize()
        began = clock()
        for k in range(steps):
            pack.rows.copy_(order[:, k * BATCH:(k + 1) * BATCH])
            step()
        if not on_cpu:
            torch.cuda.synchronize()
        least = min(least, clock() - began)
    print("%.3f" % (1e6 * least / (n * steps * BATCH)))


main()
