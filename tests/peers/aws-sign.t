#!/bin/sh
# Random requests get the same signatures as from botocore. $AWS_SIGN_COUNT:
# number of requests (600).

. "$TOP_SRCDIR/tests/support/sh/lib.sh"
. "$TOP_SRCDIR/tests/support/sh/botocore.sh"

sign() { # argument …
	"$python" "$TOP_SRCDIR/tests/peers/aws_sign.py" "$@"
}
check() { # file
	"$TOP_BUILDDIR/tests/unit/aws/t_aws_sign" "$1" >out 2>&1
}

seed=$(date +%s)
compare() {
	sign "${AWS_SIGN_COUNT:-600}" "$seed" >random.json
	ok "random requests, seed $seed: as $botocore" check random.json ||
	    diag "$(grep -B 14 '^not' out | head -n 40)"
	like "$(grep -c '^ok' out)" '^[0-9]{3,}$' 'hundreds of them'

	sign table >table.json
	ok "the table of the unit test is what $botocore says" \
	    cmp table.json "$TOP_SRCDIR/tests/data/aws-sign.json"
}
each_botocore compare

# The comparison finds a difference when there is one.
sed 's/"method": "GET"/"method": "PUT"/' table.json >wrong.json
fails 'another method, another signature' 1 check wrong.json

done_testing
