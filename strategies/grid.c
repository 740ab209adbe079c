/*
 * Every combination once.  Discrete parameters give all their values,
 * continuous ones a number of levels.
 *
 * A parameter that is inactive has one state, so combinations that differ
 * only in inactive parameters are one point.  Conditions make a forest: a
 * parameter's children are active under some of its values.  A tree has as
 * many points as the sum over the root's values of the product over the
 * children active there; that count also turns a point's number into the
 * point, so no list of points is ever made.
 */

#include <math.h>
#include <stdlib.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/base/rng.h"
#include "src/model/options.h"
#include "src/model/space.h"
#include "strategies/strategy.h"

#define GRID_MAX (UINT64_C(1) << 53) /* points */
#define GRID_PARENT_MAX (UINT64_C(1) << 20) /* values of one with children */

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

struct grid {
	const struct space *space;
	uint64_t levels; /* of a continuous parameter */
	uint64_t *points; /* per parameter: points of its tree */
	bool *has_children;
};

/* a * b and a + b, no further than GRID_MAX + 1. */
static uint64_t
times(uint64_t a, uint64_t b)
{
	return b != 0 && a > GRID_MAX / b ? GRID_MAX + 1 : a * b;
}

static uint64_t
plus(uint64_t a, uint64_t b)
{
	return a > GRID_MAX || b > GRID_MAX ? GRID_MAX + 1 : a + b;
}

static bool
param_continuous(const struct param *p)
{
	return param_levels(p) == 0 && p->min < p->max;
}

static uint64_t
param_count(const struct grid *grid, const struct param *p)
{
	if (param_continuous(p))
		return grid->levels;
	return param_levels(p) > 0 ? param_levels(p) : 1;
}

/* Value number k of a parameter; a continuum's is set by its coordinate. */
static struct value
param_value(const struct param *p, uint64_t k)
{
	struct value v = { .kind = VALUE_REAL };

	switch (p->type) {
	case PARAM_CHOICE:
	case PARAM_FIXED:
		return p->values[k];
	case PARAM_INT:
		v.kind = VALUE_INT;
		v.real = p->min + (double)k * (p->step > 0 ? p->step : 1);
		v.integer = (int64_t)v.real;
		return v;
	case PARAM_FLOAT:
		v.real = fmin(p->min + (double)k * p->step, p->max);
		return v;
	}
	return v;
}

static bool
child_active(const struct param *child, const struct value *parent)
{
	size_t i;

	for (i = 0; i < child->n_when; i++)
		if (value_equal(&child->when[i], parent))
			return true;
	return false;
}

/* Points of all trees under parameter i when it has value number k. */
static uint64_t
below_count(const struct grid *grid, size_t i, uint64_t k)
{
	struct value v = param_value(&grid->space->params[i], k);
	const struct param *child;
	uint64_t n = 1;
	size_t c;

	for (c = 0; c < grid->space->n; c++) {
		child = &grid->space->params[c];
		if (child->parent == (int)i && child_active(child, &v))
			n = times(n, grid->points[c]);
	}
	return n;
}

/* Count the points of every tree, leaves first, and of the whole. */
static uint64_t
grid_init(struct grid *grid, const struct space *space, uint64_t levels)
{
	uint64_t all = 1, count, k;
	size_t at, i;

	grid->space = space;
	grid->levels = levels;
	grid->points = xcalloc(space->n + 1, sizeof *grid->points);
	grid->has_children = xcalloc(space->n + 1, sizeof *grid->has_children);
	for (i = 0; i < space->n; i++)
		if (space->params[i].parent >= 0)
			grid->has_children[space->params[i].parent] = true;
	for (at = space->n; at-- > 0;) {
		i = (size_t)space->order[at];
		count = param_count(grid, &space->params[i]);
		if (!grid->has_children[i])
			grid->points[i] = count;
		else if (count > GRID_PARENT_MAX)
			grid->points[i] = GRID_MAX + 1;
		else
			for (k = 0; k < count; k++)
				grid->points[i] = plus(
				    grid->points[i], below_count(grid, i, k));
		if (space->params[i].parent < 0)
			all = times(all, grid->points[i]);
	}
	return all;
}

static void
grid_fini(struct grid *grid)
{
	free(grid->points);
	free(grid->has_children);
}

/*
 * Point number index of the tree of parameter i: find its value, then hand
 * what is left of the number to the children in turn.
 */
static void
tree_fill(const struct grid *grid, size_t i, uint64_t index,
    struct value *values, double *x)
{
	const struct param *p = &grid->space->params[i], *child;
	uint64_t k = 0, n;
	size_t c;

	if (!grid->has_children[i])
		k = index;
	else
		while (index >= (n = below_count(grid, i, k))) {
			index -= n;
			k++;
		}
	values[i] = param_value(p, k);
	if (param_continuous(p))
		x[i] = grid->levels == 1
			   ? 0.5
			   : (double)k / (double)(grid->levels - 1);
	for (c = 0; c < grid->space->n && grid->has_children[i]; c++) {
		child = &grid->space->params[c];
		if (child->parent != (int)i || !child_active(child, &values[i]))
			continue;
		tree_fill(grid, c, index % grid->points[c], values, x);
		index /= grid->points[c];
	}
}

static void
grid_point(const struct grid *grid, uint64_t index, double *x)
{
	const struct space *space = grid->space;
	struct value *values = xcalloc(space->n + 1, sizeof *values);
	double *u = xcalloc(space->n + 1, sizeof *u);
	size_t i;

	for (i = 0; i < space->n; i++) {
		if (space->params[i].parent >= 0)
			continue;
		tree_fill(grid, i, index % grid->points[i], values, u);
		index /= grid->points[i];
	}
	space_encode(space, values, x);
	for (i = 0; i < space->n; i++)
		if (values[i].kind != VALUE_NONE &&
		    param_continuous(&space->params[i]))
			x[i] = u[i];
	free(values);
	free(u);
}

/*
 * Where index goes when 0 … n-1 are shuffled: a Feistel network over the
 * smallest even number of bits that holds n, walked until it falls inside.
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
	return (uint64_t)option_get(options, values, "levels")->number;
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
	struct grid grid;
	uint64_t n = grid_init(&grid, space, option_levels(values));

	grid_fini(&grid);
	return n > GRID_MAX ? grid_too_many(e) : 0;
}

static int
grid_suggest(double *x, const struct strategy_ask *ask,
    const struct option_value *values, struct err *e)
{
	bool shuffle = option_get(options, values, "shuffle")->number != 0;
	uint64_t index = (uint64_t)(ask->trial - 1 - ask->n_enqueued), n;
	struct grid grid;
	int rc = 0;

	n = grid_init(&grid, ask->space, option_levels(values));
	if (n > GRID_MAX)
		rc = grid_too_many(e);
	else if (index >= n)
		rc = 1;
	else {
		if (shuffle)
			index = shuffle_index(index, n, ask->seed);
		grid_point(&grid, index, x);
	}
	grid_fini(&grid);
	return rc;
}

const struct strategy strategy_grid = {
	.name = "grid",
	.about = "every combination once",
	.source = "full factorial design",
	.options = options,
	.check = grid_check,
	.suggest = grid_suggest,
};
