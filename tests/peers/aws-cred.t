#!/bin/sh
# In random environments the credentials are those that botocore finds, and none
# where it finds none. $AWS_CRED_COUNT: number of environments (120).

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
. "$TOP_SRCDIR/tests/support/sh/botocore.sh"

seed=$(date +%s)
compare() {
	"$python" -W ignore "$TOP_SRCDIR/tests/peers/aws_cred.py" \
	    "$TOP_BUILDDIR/tests/tools/aws-resolve" "${AWS_CRED_COUNT:-120}" "$seed" \
	    >out 2>&1
	status=$?
	diag "$(tail -n 40 out)"
	is $status 0 "seed $seed: whose keys they are, as $botocore"
	like "$(cat out)" ', 9 kinds of answer' 'from every place'
}
each_botocore compare

done_testing
