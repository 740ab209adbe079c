#!/bin/sh
# Experiments of Ray Tune: the settings that its generator makes and its logger writes
# are those of the trials that import makes.  COUNT random ones, from SEED, where Ray
# is installed.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
found=
for python in ${HPOTUNE_TEST_PYTHON-} python3; do
	python_has 'ray>=2.40' && found=1 && break
done
[ "$found" ] || skip_all 'NOT COMPARED: no Python with ray in HPOTUNE_TEST_PYTHON'

ok 'they are imported' quietly timeout 900 "$python" \
    "$TOP_SRCDIR/tests/peers/import_ray.py" "$HPOTUNE" "${COUNT:-25}" "${SEED:-1}"
is "$(sed '/^compared/d' out)" '' 'no value differs without a note' || diag "$(tail -n 5 err)"
like "$(tail -n 1 out)" "^compared ${COUNT:-25}\$" 'all were compared'
done_testing
