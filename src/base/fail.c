/* Failure points of the installed programs: they do nothing. */

#include "src/base/fail.h"

void
fail_point(const char *name)
{
	(void)name;
}
