#!/bin/sh
# mlp, which uses the kernels, behaves like train when it runs alone.

trainer=mlp
. "$TOP_SRCDIR/tests/scenario/packed/trainer.t"
