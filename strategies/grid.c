/* All combinations once, in lattice order or in an order drawn by the seed. */

#include "src/base/err.h"
#include "src/base/rng.h"
#include "src/model/space-index.h"
#include "src/model/plugin-options.h"
#include "src/model/space.h"
#include "src/model/where.h"
#include "strategies/strategy.h"

enum {
	WHERE_POINTS = 1000000 /* of a grid whose points satisfy conditions */
};

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
	if (n > WHERE_POINTS && where_count(space) > 0)
		return err_set(e, ERR_USAGE,
		    "grid: more than %d points, each of which is tested by "
		    "where: give parameters a step, or use another strategy",
		    WHERE_POINTS);
	return n == 0 ? grid_too_many(e) : 0;
}

/* A grid of n points in the order of its visits. */
struct grid {
	const struct space *space;
	const struct space_index *index;
	uint64_t n, seed;
	bool shuffle;
};

static void
grid_point(const struct grid *g, uint64_t at, double *x)
{
	space_index_point(
	    g->index, g->shuffle ? shuffle_index(at, g->n, g->seed) : at, x);
}

/* Point number at of those that satisfy the conditions; false: none is left. */
static bool
grid_visit(const struct grid *g, uint64_t at, double *x)
{
	uint64_t i;

	if (where_count(g->space) == 0) {
		if (at < g->n)
			grid_point(g, at, x);
		return at < g->n;
	}
	for (i = 0; i < g->n && at < g->n; i++) {
		grid_point(g, i, x);
		if (where_holds(g->space, x) && at-- == 0)
			return true;
	}
	return false;
}

/*
 * A point that was tried already, by the user's wish, is passed over (redraw).
 */
static int
grid_suggest(struct suggestion *out, const struct strategy_ask *ask,
    const struct option_value *values, struct err *e)
{
	uint64_t at = (uint64_t)(ask->trial - 1 - ask->n_enqueued);
	struct space_index *l =
	    space_index_new(ask->space, option_levels(values));
	struct grid grid = { .space = ask->space,
		.index = l,
		.n = space_index_count(l),
		.seed = ask->seed,
		.shuffle = plugin_option_is(values, "shuffle") };
	int rc = 0;

	if (grid.n == 0)
		rc = grid_too_many(e);
	else if (!grid_visit(&grid, at + ask->redraw, out->x))
		rc = 1;
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
