#!/bin/sh
# TPE sees what Optuna 5 sees: the densities of both on random histories, with
# stopped and running trials and every kind of parameter.

. "$TOP_SRCDIR/tests/lib.sh"

seeds=40
find_python 'optuna>=5'

worst=$(timeout 300 "$python" "$TOP_SRCDIR/tests/optuna_tpe.py" \
    "$TOP_BUILDDIR/tests/tpe-density" $seeds 2>differences)
ok "densities differ by less than 1e-9 (by ${worst:-?})" \
    awk -v worst="${worst:-1}" 'BEGIN { exit !(worst < 1e-9) }' ||
    diag "$(tail -n 20 differences)"

done_testing
