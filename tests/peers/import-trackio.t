#!/bin/sh
# Runs of Trackio: its own reader and import find the same in its file.  COUNT random
# ones, from SEED, where Trackio is installed; otherwise those that Trackio 0.43 has
# written.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need python3
set -- --read "$TOP_SRCDIR/tests/peers/trackio-0.43-runs.sql"
for python in ${HPOTUNE_TEST_PYTHON-} python3; do
	python_has trackio || continue
	set -- "${COUNT:-20}" "${SEED:-1}"
	break
done

ok 'they are imported' quietly timeout 900 "$python" \
    "$TOP_SRCDIR/tests/peers/import_trackio.py" "$HPOTUNE" "$@"
is "$(sed '/^compared/d' out)" '' 'no value differs' || diag "$(tail -n 5 err)"
like "$(tail -n 1 out)" '^compared [1-9]' 'some were compared'
done_testing
