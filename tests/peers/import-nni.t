#!/bin/sh
# Search spaces of NNI: what its own sampler draws from them is what the study has
# that import makes.  COUNT random ones, from SEED, where NNI is installed;
# otherwise those that NNI 3.0 has written.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need python3
python=python3
for python in ${HPOTUNE_TEST_PYTHON-} python3; do
	python_has nni numpy && break
done

ok 'they are imported' quietly timeout 900 "$python" \
    "$TOP_SRCDIR/tests/peers/import_nni.py" "$HPOTUNE" "${COUNT:-25}" "${SEED:-1}" \
    "$TOP_SRCDIR/tests/peers/nni-3.0-spaces.json"
is "$(sed '/^compared/d' out)" '' 'no value differs without a note' || diag "$(tail -n 5 err)"
like "$(tail -n 1 out)" '^compared [1-9]' 'some were compared'
done_testing
