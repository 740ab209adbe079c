/*
 * A program of the user suggests points; the server exchanges messages with it
 * (suggest-external.c).  This file has only its options.
 */

#include <stddef.h>

#include "src/base/err.h"
#include "src/base/rng.h"
#include "src/model/plugin-options.h"
#include "src/model/space.h"
#include "strategies/strategy.h"

static const struct option options[] = {
	{ .name = "command",
	    .type = OPTION_JSON,
	    .help = "list of texts: the program and its arguments" },
	{ .name = "timeout",
	    .type = OPTION_DURATION,
	    .min = 1,
	    .max = 31536000,
	    .def = "10m",
	    .help = "longest time for a response" },
	{ .type = OPTION_END },
};

static int
external_check(
    const struct option_value *values, const struct space *space, struct err *e)
{
	(void)space;
	if (plugin_option_get(values, "command")->given)
		return 0;
	return err_set(e, ERR_USAGE,
	    "external: \"command\" is missing: the program to ask");
}

/* An example, for plans: the answers of the program are unknown. */
static int
external_suggest(struct suggestion *out, const struct strategy_ask *ask,
    const struct option_value *values, struct err *e)
{
	struct rng rng;
	size_t i;

	(void)values;
	(void)e;
	strategy_rng(&rng, ask);
	for (i = 0; i < ask->space->n; i++)
		out->x[i] = rng_uniform(&rng);
	return 0;
}

const struct strategy strategy_external = {
	.name = "external",
	.about = "a program of your own",
	.source = "the protocol is in hpotune-strategies(7)",
	.options = options,
	.wants_points = true,
	.outside = true,
	.several = true,
	.constraints = true,
	.check = external_check,
	.suggest = external_suggest,
};
