#!/bin/sh
# Open MPI's mpirun, for real, with programs of the shell and one of MPI.

. "$TOP_SRCDIR/tests/lib.sh"
. "$TOP_SRCDIR/tests/launchers.sh"

need sqlite3
command -v mpirun >/dev/null || skip_all 'NOT RUN: mpirun is not installed'

launcher mpirun
mkdir -p example
cp -r "$TOP_SRCDIR/examples/distributed/mpi" example
chmod -R u+w example
if mpicc -O2 -o example/mpi/train example/mpi/train.c -lm 2>err; then
	example mpi
else
	skip 'the example' 'NOT RUN: there is no mpicc'
fi
done_testing
