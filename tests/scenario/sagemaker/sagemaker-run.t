#!/bin/sh
# The entry script of training jobs, run for real in private trees, by every
# shell that is here: values, signals, statuses, output, several hosts.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"

need python3
python3 "$TOP_SRCDIR/tests/scenario/sagemaker/sagemaker_run.py" \
    "$TOP_SRCDIR/trials/sagemaker/sm-run.sh" "$TOP_BUILDDIR/tests/tools/sm-request"
