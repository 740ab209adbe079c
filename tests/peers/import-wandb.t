#!/bin/sh
# Sweeps of W&B: their parameters, and the arguments of its agent, are those of the
# study that import makes.  COUNT random sweeps, from SEED.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
# sweeps wants an older numpy than others.
python_apart=build-python-wandb
find_python wandb 'sweeps>=0.3'

ok 'they are imported' quietly timeout 900 "$python" \
    "$TOP_SRCDIR/tests/peers/import_wandb.py" "$HPOTUNE" "${COUNT:-25}" "${SEED:-1}"
is "$(sed '/^compared/d' out)" '' 'no value differs without a note' || diag "$(tail -n 5 err)"
like "$(tail -n 1 out)" "^compared ${COUNT:-25}\$" 'all were compared'
done_testing
