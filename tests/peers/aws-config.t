#!/bin/sh
# Shared files, regions and endpoints are interpreted as by botocore.  Endpoints
# in files are supported by newer versions only.

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
. "$TOP_SRCDIR/tests/support/sh/botocore.sh"

compare() { # what [argument …]
	"$python" -W ignore "$TOP_SRCDIR/tests/peers/aws_config.py" \
	    "$TOP_BUILDDIR/tests/tools/aws-resolve" "$@" >out 2>&1
	compare_status=$?
	diag "$(tail -n 40 out)"
	is $compare_status 0 "$1: as $botocore"
	like "$(cat out)" '^[0-9]{3,} compared' 'hundreds of them'
}
compare_all() {
	compare ini 150 "$(date +%s)"
	[ -n "$newer" ] || return 0
	compare hosts
	compare named
}
each_botocore compare_all

done_testing
