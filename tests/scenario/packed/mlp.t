#!/bin/sh
# mlp, which computes by the kernels, does alone what train does.

trainer=mlp
. "$TOP_SRCDIR/tests/scenario/packed/trainer.t"
