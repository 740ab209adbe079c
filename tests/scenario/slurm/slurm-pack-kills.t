#!/bin/sh
# As slurm-kills.t with packed trials: a few kills, also of programs and what serves
# them.

: "${SLURM_KILLS:=10}" "${SLURM_PACK:=3}"
export SLURM_KILLS SLURM_PACK
exec sh "$TOP_SRCDIR/tests/scenario/slurm/slurm-kills.t"
