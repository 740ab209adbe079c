/* The goal of an objective, as written in study.json and in the store. */

#ifndef HPOTUNE_GOAL_H
#define HPOTUNE_GOAL_H

#include <stdbool.h>
#include <string.h>

/* "maximize" or "minimize". */
static inline const char *
goal_name(bool maximize)
{
	return maximize ? "maximize" : "minimize";
}

/* The goal of this name; false when there is none, and nothing is set. */
static inline bool
goal_parse(const char *name, bool *maximize)
{
	bool is = strcmp(name, goal_name(true)) == 0;

	if (!is && strcmp(name, goal_name(false)) != 0)
		return false;
	*maximize = is;
	return true;
}

#endif /* HPOTUNE_GOAL_H */
