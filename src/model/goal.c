/* The names of the two goals. */

#include <string.h>

#include "src/model/goal.h"

const char *
goal_name(bool maximize)
{
	return maximize ? "maximize" : "minimize";
}

bool
goal_parse(const char *name, bool *maximize)
{
	bool is = strcmp(name, goal_name(true)) == 0;

	if (!is && strcmp(name, goal_name(false)) != 0)
		return false;
	*maximize = is;
	return true;
}
