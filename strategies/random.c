/*
 * Random points: each parameter uniform in the cube or as its prior, independent
 * of the history.  Bergstra and Bengio, "Random search for hyper-parameter
 * optimization", JMLR 13 (2012).
 */

#include <stddef.h>

#include "src/base/rng.h"
#include "src/model/prior.h"
#include "src/model/space.h"
#include "strategies/strategy.h"

static int
random_suggest(struct suggestion *out, const struct strategy_ask *ask,
    const struct option_value *values, struct err *e)
{
	struct rng rng;
	size_t i;

	(void)values;
	(void)e;
	strategy_rng(&rng, ask);
	for (i = 0; i < ask->space->n; i++)
		out->x[i] = rng_uniform(&rng);
	prior_move(ask->space, out->x);
	return 0;
}

const struct strategy strategy_random = {
	.name = "random",
	.about = "independent random points",
	.source = "Bergstra and Bengio 2012",
	.several = true,
	.suggest = random_suggest,
};
