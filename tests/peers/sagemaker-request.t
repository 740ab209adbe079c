#!/bin/sh
# Every request that a study can make of CreateTrainingJob is valid in
# botocore's model of the service: members, types, lengths, patterns, words.  A
# shell reproduces the texts in it unchanged.

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
