#!/bin/sh
# Shared files, regions and endpoints mean what they mean to botocore.

. "$TOP_SRCDIR/tests/lib.sh"

find_python botocore
compare() { # what [argument …]
	"$python" -W ignore "$TOP_SRCDIR/tests/aws_config.py" \
	    "$TOP_BUILDDIR/tests/aws-ask" "$@" >out 2>&1
	compare_status=$?
	diag "$(tail -n 40 out)"
	is $compare_status 0 "$1: as botocore"
	like "$(cat out)" '^[0-9]{3,} compared' 'hundreds of them'
}
compare ini 150 "$(date +%s)"
compare hosts
compare named

done_testing
