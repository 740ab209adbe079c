#!/bin/sh
# The entry script of training jobs, run in private trees with every installed
# shell: values, signals, statuses, output, several hosts.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"

need python3
python3 "$TOP_SRCDIR/tests/scenario/sagemaker/sagemaker_run.py" \
    "$TOP_SRCDIR/trials/sagemaker/sm-run.sh" "$TOP_BUILDDIR/tests/tools/sm-request"
