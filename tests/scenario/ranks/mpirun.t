#!/bin/sh
# Open MPI's mpirun with shell programs and an MPI program.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
. "$TOP_SRCDIR/tests/support/sh/launchers.sh"

need sqlite3
command -v mpirun >/dev/null || skip_all 'NOT RUN: mpirun is not installed'

# To root it is allowed by the product in a container alone, and here everywhere.
if [ "$(id -u)" -eq 0 ]; then
	make_study refused mpirun end 1
	sed -i 's/"env": {/& "OMPI_ALLOW_RUN_AS_ROOT": "0",/' refused.json
	run refused.json
	is "$(sql refused.db 'SELECT why FROM trials')" \
	    'the launcher ended with status 1: as root, Open MPI needs OMPI_ALLOW_RUN_AS_ROOT=1 and OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 in trial.env' \
	    'where it refuses root the reason names the variables to set'
	OMPI_ALLOW_RUN_AS_ROOT=1
	OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
	export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM
else
	skip 'what it says to root' 'this is not root'
fi

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
