#!/bin/sh
# CMA-ES behaves as the package cmaes: both get the same points, and their
# states are compared after every generation.  They differ by rounding:
# eigenvectors, and the 60 generations that build on them.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"

find_python cmaes numpy

for kind in full separable margin; do
	worst=$(timeout 300 "$python" "$TOP_SRCDIR/tests/peers/cmaes_steps.py" \
	    "$TOP_BUILDDIR/tests/tools/cma-steps" $kind "$(often 4 12)" 2>differences)
	ok "$kind: states differ by less than 1e-7 (by ${worst:-?})" \
	    awk -v worst="${worst:-1}" 'BEGIN { exit !(worst < 1e-7) }' ||
	    diag "$(tail -n 20 differences)"
done

done_testing
