/* Everything there is: the strategies, in the order of the manual. */

#include <stddef.h>
#include <string.h>

#include "strategies/strategy.h"

extern const struct strategy strategy_grid;
extern const struct strategy strategy_random;
extern const struct strategy strategy_sobol;
extern const struct strategy strategy_tpe;

const struct strategy *const strategies[] = {
	&strategy_tpe,
	&strategy_random,
	&strategy_grid,
	&strategy_sobol,
	NULL,
};

const struct strategy *
strategy_find(const char *name)
{
	size_t i;

	for (i = 0; strategies[i] != NULL; i++)
		if (strcmp(strategies[i]->name, name) == 0)
			return strategies[i];
	return NULL;
}
