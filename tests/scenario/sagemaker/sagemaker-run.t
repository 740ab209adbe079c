#!/bin/sh
# The entry script of training jobs, run for real in private trees, by every
# shell that is here: values, signals, statuses, output, several hosts.

. "$TOP_SRCDIR/tests/lib.sh"

need python3
python3 "$TOP_SRCDIR/tests/sagemaker-run.py" \
    "$TOP_SRCDIR/trials/sagemaker-run.sh" "$TOP_BUILDDIR/tests/sm-request"
