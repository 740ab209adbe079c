/* The table of strategies, in the order of the manual. */

#include <stddef.h>
#include <string.h>

#include "strategies/strategy.h"

extern const struct strategy strategy_auto;
extern const struct strategy strategy_bohb;
extern const struct strategy strategy_cmaes;
extern const struct strategy strategy_external;
extern const struct strategy strategy_gp;
extern const struct strategy strategy_grid;
extern const struct strategy strategy_nsga2;
extern const struct strategy strategy_pbt;
extern const struct strategy strategy_random;
extern const struct strategy strategy_sobol;
extern const struct strategy strategy_tpe;

const struct strategy *const strategies[] = {
	&strategy_auto,
	&strategy_tpe,
	&strategy_gp,
	&strategy_bohb,
	&strategy_cmaes,
	&strategy_nsga2,
	&strategy_pbt,
	&strategy_random,
	&strategy_grid,
	&strategy_sobol,
	&strategy_external,
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
