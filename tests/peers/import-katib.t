#!/bin/sh
# Experiments of Katib: the command of a trial, with values, is that of the study that
# import makes; so are parameters, objective, stopping and limits.  COUNT random ones,
# from SEED, where kubeflow-katib is installed; otherwise those that its models, of
# version 0.19, have written.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need python3
python=python3
for python in ${HPOTUNE_TEST_PYTHON-} python3; do
	python_has kubeflow-katib && break
done

ok 'they are imported' quietly timeout 900 "$python" \
    "$TOP_SRCDIR/tests/peers/import_katib.py" "$HPOTUNE" "${COUNT:-25}" "${SEED:-1}" \
    "$TOP_SRCDIR/tests/peers/katib-0.19-experiments.json"
is "$(sed '/^compared/d' out)" '' 'no value differs without a note' || diag "$(tail -n 5 err)"
like "$(tail -n 1 out)" '^compared [1-9]' 'some were compared'
done_testing
