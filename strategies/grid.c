/* All combinations once, in lattice order or in an order drawn by the seed. */

#include "src/base/err.h"
#include "src/base/rng.h"
#include "src/model/space-index.h"
#include "src/model/plugin-options.h"
#include "src/model/space.h"
#include "strategies/strategy.h"

static const struct option options[] = {
	{ .name = "levels",
	    .type = OPTION_INT,
	    .min = 1,
	    .max = 1000000,
	    .def = "5",
	    .help = "values of a continuous parameter, from min to max" },
	{ .name = "shuffle",
	    .type = OPTION_BOOL,
	    .def = "true",
	    .help = "visit the points in an order drawn by the seed" },
	{ .type = OPTION_END },
};

/*
 * Position of index in a random permutation of 0 to n-1: a Feistel network over
 * the smallest even number of bits that holds n, iterated until the result is
 * below n.
 */
static uint64_t
shuffle_index(uint64_t index, uint64_t n, uint64_t seed)
{
	uint32_t key[2] = { (uint32_t)seed, (uint32_t)(seed >> 32) };
	uint32_t counter[4] = { 0, 0, 0, UINT32_C(0x67726964) }, out[4];
	uint64_t left, right, mask;
	unsigned half = 1, round;

	while ((n - 1) >> (2 * half) != 0)
		half++;
	mask = (UINT64_C(1) << half) - 1;
	do {
		for (round = 0; round < 8; round++) {
			left = index >> half;
			right = index & mask;
			counter[0] = (uint32_t)right;
			counter[1] = round;
			rng_philox(out, counter, key);
			index = right << half | (left ^ (out[0] & mask));
		}
	} while (index >= n);
	return index;
}

static uint64_t
option_levels(const struct option_value *values)
{
	return (uint64_t)plugin_option_number(values, "levels");
}

static int
grid_too_many(struct err *e)
{
	return err_set(e, ERR_USAGE,
	    "grid: more than 9e15 points: give parameters a step, or use "
	    "another strategy");
}

static int
grid_check(
    const struct option_value *values, const struct space *space, struct err *e)
{
	struct space_index *l = space_index_new(space, option_levels(values));
	uint64_t n = space_index_count(l);

	space_index_free(l);
	return n == 0 ? grid_too_many(e) : 0;
}

/* One that was tried, by the user's wish, is passed over (redraw). */
static int
grid_suggest(struct suggestion *out, const struct strategy_ask *ask,
    const struct option_value *values, struct err *e)
{
	bool shuffle = plugin_option_is(values, "shuffle");
	uint64_t index = (uint64_t)(ask->trial - 1 - ask->n_enqueued), n;
	struct space_index *l =
	    space_index_new(ask->space, option_levels(values));
	int rc = 0;

	index += ask->redraw;
	n = space_index_count(l);
	if (n == 0)
		rc = grid_too_many(e);
	else if (index >= n)
		rc = 1;
	else {
		if (shuffle)
			index = shuffle_index(index, n, ask->seed);
		space_index_point(l, index, out->x);
	}
	space_index_free(l);
	return rc;
}

const struct strategy strategy_grid = {
	.name = "grid",
	.about = "every combination once",
	.source = "full factorial design",
	.options = options,
	.check = grid_check,
	.several = true,
	.suggest = grid_suggest,
};
