#!/bin/sh
# What the entry script of training jobs sets is what AWS's training toolkit of the
# day sets: variables, arguments, EFA.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
# The toolkit has versions of its own of what others use.
python_apart=build-python-toolkit
find_python 'sagemaker-training>=5.1'

HPOTUNE_TEST_TOOLKIT=$python python3 \
    "$TOP_SRCDIR/tests/scenario/sagemaker/sagemaker_run.py" \
    "$TOP_SRCDIR/trials/sagemaker/sm-run.sh" "$TOP_BUILDDIR/tests/tools/sm-request" \
    toolkit
