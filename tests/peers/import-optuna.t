#!/bin/sh
# Studies that Optuna has written: their distributions and trials are those that
# import reads.  COUNT random ones, from SEED.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
find_python 'optuna>=5'

ok 'they are imported' quietly timeout 900 "$python" \
    "$TOP_SRCDIR/tests/peers/import_optuna.py" "$HPOTUNE" "${COUNT:-30}" "${SEED:-1}"
is "$(sed '/^compared/d' out)" '' 'no value differs without a note' || diag "$(tail -n 5 err)"
like "$(tail -n 1 out)" "^compared ${COUNT:-30}\$" 'all were compared'
done_testing
