#!/bin/sh
# The stand-in AWS of tests/standin, used by botocore's clients, and its answers
# compared with moto's. $HPOTUNE_TEST_PYTHON is a Python that has botocore (and
# moto); else python3.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"

python=${HPOTUNE_TEST_PYTHON:-python3}

if ! "$python" -c 'import asyncio, sys, botocore
sys.exit(sys.version_info < (3, 11))' 2>err; then
	diag 'THE STAND-IN AWS WAS NOT TESTED: no Python 3.11 with botocore'
	diag "$(tail -n 1 err)"
	skip_all 'THE STAND-IN AWS WAS NOT TESTED: no botocore'
fi

TMPDIR=$dir "$python" "$TOP_SRCDIR/tests/standin/check_standin.py" 2>err
status=$?
[ ! -s err ] || diag "$(tail -n 40 err)"
exit $status
