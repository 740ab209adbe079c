#!/bin/sh
# Tuning jobs of the SDK of SageMaker: ranges, static values, objective and limits of its
# request are those of the study that import makes.  COUNT random ones, from SEED,
# where the SDK, of version 3, is installed.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
found=
for python in ${HPOTUNE_TEST_PYTHON-} python3; do
	python_has 'sagemaker>=3' && found=1 && break
done
[ "$found" ] || skip_all 'NOT COMPARED: no Python with sagemaker in HPOTUNE_TEST_PYTHON'

ok 'they are imported' quietly timeout 900 "$python" \
    "$TOP_SRCDIR/tests/peers/import_sagemaker.py" "$HPOTUNE" "${COUNT:-25}" "${SEED:-1}"
is "$(sed '/^compared/d' out)" '' 'no value differs without a note' || diag "$(tail -n 5 err)"
like "$(tail -n 1 out)" "^compared ${COUNT:-25}\$" 'all were compared'
done_testing
