/* Failure places of the installed programs: nothing happens. */

#include "src/base/fail.h"

void
fail_point(const char *name)
{
	(void)name;
}

bool
fail_bug(const char *name)
{
	(void)name;
	return false;
}
