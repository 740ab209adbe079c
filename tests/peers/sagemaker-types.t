#!/bin/sh
# The instance types of botocore's newest model of SageMaker are those of our table
# of accelerators, or have none.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
find_python 'botocore>=1.44'

table=trials/sagemaker/options/sm-instance-types.inc
quietly "$python" "$TOP_SRCDIR/build-aux/sagemaker-types.py"
is "$(cat err)" '' "the table has each of its types: build-aux/sagemaker-types.py"
# A model that is older has fewer types.
is "$(grep -vxF -f "$TOP_SRCDIR/$table" out)" '' 'their accelerators are those of the table'
ok 'it has types with several GPUs' [ "$(grep -c ', [48], 0 }' out)" -gt 5 ]
done_testing
