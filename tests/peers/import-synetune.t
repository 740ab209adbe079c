#!/bin/sh
# Experiments of Syne Tune: its own classes and import read the same from their files.
# COUNT random ones, from SEED, where Syne Tune is installed; otherwise one that Syne
# Tune 0.16 has run.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
need python3
set -- --read "$TOP_SRCDIR/tests/peers/syne-tune-0.16"
for python in ${HPOTUNE_TEST_PYTHON-} python3; do
	python_has syne-tune || continue
	set -- "${COUNT:-20}" "${SEED:-1}"
	break
done

ok 'they are imported' quietly timeout 900 "$python" \
    "$TOP_SRCDIR/tests/peers/import_synetune.py" "$HPOTUNE" "$@"
is "$(sed '/^compared/d' out)" '' 'no value differs' || diag "$(tail -n 5 err)"
like "$(tail -n 1 out)" '^compared [1-9]' 'some were compared'
done_testing
