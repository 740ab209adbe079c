#!/bin/sh
# Every request that a study can make of CreateTrainingJob is what botocore's
# model of the service allows: members, types, lengths, patterns, words.  The
# texts in it come out of a shell as they were.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"

python=${HPOTUNE_TEST_PYTHON:-python3}
if ! "$python" -c 'import botocore' 2>/dev/null; then
	skip 'requests against the model of the service' \
	    'botocore is not installed'
	done_testing
	exit
fi
"$python" "$TOP_SRCDIR/tests/peers/sagemaker_request.py" \
    "$TOP_BUILDDIR/tests/tools/sm-request" "$TOP_SRCDIR/man/hpotune-sagemaker.7"
