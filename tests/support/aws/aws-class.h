/* The classes of AWS errors, in words. */

#ifndef TESTS_AWS_CLASS_H
#define TESTS_AWS_CLASS_H

#include "trials/aws/config/aws-retry.h"

/* "throttle"; borrowed. */
const char *aws_class_name(enum aws_class);

#endif /* TESTS_AWS_CLASS_H */
