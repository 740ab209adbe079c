/* The classes of AWS errors, in words. */

#include "tests/support/aws/aws-class.h"

const char *
aws_class_name(enum aws_class what)
{
	static const char *const names[AWS_CLASSES] = {
		[AWS_OK] = "ok",
		[AWS_THROTTLE] = "throttle",
		[AWS_TRANSIENT] = "transient",
		[AWS_CLOCK] = "clock",
		[AWS_CREDENTIALS] = "credentials",
		[AWS_QUOTA] = "quota",
		[AWS_EXISTS] = "exists",
		[AWS_MISSING] = "missing",
		[AWS_CALLER] = "caller",
	};

	return names[what];
}
