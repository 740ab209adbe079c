#!/usr/bin/env python3
"""The least time of a step of packed training on a GPU, before anything is measured:
the bytes that its kernels move and the operations that they make, over the rates of
two cards; beside it the same for the batched products of bench/pack-peer.py.

    pack-floor.py

Rows of bench/RESULTS.md.  A step: 128 of 784 pixels for each network, ten classes,
SGD with momentum.
"""

PIXELS, CLASSES, BATCH = 784, 10, 128
# Bytes/s of a copy, operations/s: bfloat16 on tensor cores, single precision.
CARDS = (("H200", 4.3e12, 990e12, 67e12), ("H100", 3.0e12, 990e12, 67e12))
SIZES = ((1, 32), (64, 32), (256, 32), (1024, 32), (64, 256))
# Measured on an H200, without a graph: seconds, pictures, epochs.
TORCH = {(1, 32): (0.20, 10000, 3), (64, 32): (0.19, 10000, 3),
         (256, 32): (0.25, 10000, 3), (1024, 32): (0.56, 10000, 3),
         (64, 256): (1.77, 50000, 5)}


def padded(n, to):
    return (n + to - 1) // to * to


def ours(hidden):
    """Bytes of global memory: pictures for both products; weights for the first
    one, weights and momentum to and fro; activations and their gradients."""
    first = 4 * (PIXELS + 1) * hidden
    last = 4 * padded(hidden + 1, 8) * padded(CLASSES, 4)
    rows = 4 * BATCH * (padded(hidden + 1, 8) + padded(CLASSES, 4))
    return 2 * BATCH * PIXELS + 5 * first + 7 * last + 5 * rows


def torch(hidden):
    """The same for pack-peer.py: a picture is a byte, copied, then a number that
    is written, scaled, shifted and read by two products; a gradient is written and
    then used in four passes."""
    first = 4 * (PIXELS + 1) * hidden
    pictures = BATCH * PIXELS * (1 + 1 + 1 + 4 + 8 + 8 + 4 + 4)
    return pictures + first * (2 + 1 + 2 + 3 + 2 + 3) + 4 * BATCH * hidden * 9


def operations(hidden):
    both = 2 * 2 * BATCH * PIXELS * hidden
    return both, 3 * 2 * BATCH * (hidden + 1) * CLASSES


def main():
    for n, hidden in SIZES:
        both, last = operations(hidden)
        seconds, pictures, epochs = TORCH[n, hidden]
        peer = 1e6 * seconds / (pictures // BATCH * epochs)
        floors = []
        for _, bandwidth, tensor, single in CARDS:
            floors.append("%.2g, %.2g" % (
                1e6 * n * ours(hidden) / bandwidth,
                1e6 * n * (3 * both / tensor + last / single)))
        print("| %d of %d | %.3g; %.3g | %.3g | %s | %.0f | %.1f | %.1f |" % (
            n, hidden, n * ours(hidden) / 1e6, n * torch(hidden) / 1e6,
            n * (both + last) / 1e9, " | ".join(floors), peer,
            peer / 2 / (1e6 * n * ours(hidden) / CARDS[0][1]
                        + 1e6 * n * (3 * both / CARDS[0][2]
                                     + last / CARDS[0][3])),
            torch(hidden) / ours(hidden)))


main()
