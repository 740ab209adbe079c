#!/bin/sh
# TPE equals Optuna 5: the split, the groups and the densities on random
# histories, with stopped and running trials, every kind of parameter,
# conditions, several objectives and constraints.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"

seeds=$(often 8 25)
find_python 'optuna>=5'

for kind in one bound two three wide; do
	timeout 300 "$python" "$TOP_SRCDIR/tests/peers/optuna_tpe.py" \
	    "$TOP_BUILDDIR/tests/tools/tpe-densities" $kind $seeds \
	    >found 2>differences
	read -r splits groups worst <found
	is "${splits:-?}" 0 "$kind: good trials and others are the same" ||
	    diag "$(tail -n 20 differences)"
	is "${groups:-?}" 0 "$kind: parameters are grouped the same way"
	ok "$kind: densities differ by less than 1e-9 (by ${worst:-?})" \
	    awk -v worst="${worst:-1}" 'BEGIN { exit !(worst < 1e-9) }' ||
	    diag "$(tail -n 20 differences)"
done

done_testing
