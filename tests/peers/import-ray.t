#!/bin/sh
# Experiments of Ray Tune: the settings that its generator makes and its logger writes
# are those of the trials that import makes.  COUNT random ones, from SEED.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
find_python 'ray>=2.40' numpy pandas pyarrow fsspec requests

ok 'they are imported' quietly timeout 900 "$python" \
    "$TOP_SRCDIR/tests/peers/import_ray.py" "$HPOTUNE" "${COUNT:-30}" "${SEED:-1}"
is "$(sed '/^compared/d' out)" '' 'no value differs without a note' || diag "$(tail -n 5 err)"
like "$(tail -n 1 out)" "^compared ${COUNT:-30}\$" 'all were compared'
done_testing
