/*
 * The list of strategies for programs that use hpotune-worker: all strategies
 * are slow.
 */

#include <stddef.h>
#include <string.h>

#include "strategies/strategy.h"

extern const struct strategy strategy_grid, strategy_random, strategy_sobol,
    strategy_tpe;

static struct strategy slow[4];
const struct strategy *const strategies[] = { &slow[0], &slow[1], &slow[2],
	&slow[3], NULL };

__attribute__((constructor)) static void
slow_down(void)
{
	const struct strategy *const all[] = { &strategy_tpe, &strategy_random,
		&strategy_grid, &strategy_sobol };
	size_t i;

	for (i = 0; i < sizeof all / sizeof all[0]; i++) {
		slow[i] = *all[i];
		slow[i].slow = true;
	}
}

const struct strategy *
strategy_find(const char *name)
{
	size_t i;

	for (i = 0; strategies[i] != NULL; i++)
		if (strcmp(strategies[i]->name, name) == 0)
			return strategies[i];
	return NULL;
}
