/*
 * A random setting is moved until it satisfies all conditions: one parameter
 * after the other to where the conditions are broken least.  It finds what the
 * boxes of the search do not in many dimensions, such as thirty shares with a
 * sum of at most 1.  Then it walks on among the settings that satisfy them, one
 * parameter after the other (Neal, "Slice sampling", 2003, section 5.1), so
 * that the result is not at their border.
 */

#include <math.h>
#include <stdlib.h>

#include "src/base/mem.h"
#include "src/base/rng.h"
#include "src/model/partial-setting.h"
#include "src/model/space.h"
#include "src/model/where-internal.h"

enum {
	STARTS = 3,
	ROUNDS = 200, /* of one start, each of all parameters */
	IDLE = 30, /* rounds without an improvement end a start */
	TRIES = 6, /* values of a parameter in a round */
	FINEST = 20, /* halvings of the least move */
	WALKS = 3, /* rounds among the settings found */
	SHRINKS = 12
};

/* A cost that no other start makes less: an equation between floats. */
static const double nearly = 1e-4;

struct repair {
	const struct space *space;
	const struct value *fixed; /* or NULL */
	const bool *matters; /* per parameter: of a condition */
	struct rng *rng;
	double *u; /* the setting, without NaN where it is inactive */
	struct value *values;
	struct span *spans;
};

/* 0: all conditions hold. */
static double
repair_cost(struct repair *r)
{
	const struct where *w = r->space->where;
	double sum = 0;
	size_t i;

	space_decode(r->space, r->u, r->values);
	if (r->fixed != NULL) {
		partial_setting_overlay(r->space, r->values, r->fixed);
		partial_setting_complete(r->space, r->values);
	}
	where_setting_spans(r->spans, r->space, r->values);
	for (i = 0; i < w->n; i++)
		sum += log1p(expression_distance(w->list[i], r->spans));
	return sum;
}

static bool
repair_is_open(const struct repair *r, size_t i)
{
	return r->matters[i] &&
	       (r->fixed == NULL || r->fixed[i].kind == VALUE_NONE);
}

/* A random value, or one that is nearer by a random power of two. */
static double
repair_moved(struct repair *r, double from)
{
	double reach = ldexp(1, -(int)rng_below(r->rng, FINEST));
	double to = from + (2 * rng_uniform(r->rng) - 1) * reach;

	return reach == 1 || to < 0 || to > 1 ? rng_uniform(r->rng) : to;
}

/* Move each parameter to the best of some values; the cost after it. */
static double
repair_improve(struct repair *r, double least)
{
	size_t first = (size_t)rng_below(r->rng, r->space->n), k, i;
	double from, now;
	int n;

	for (k = 0; k < r->space->n && least > 0; k++) {
		i = (first + k) % r->space->n;
		for (n = 0; n < TRIES && repair_is_open(r, i) && least > 0;
		     n++) {
			from = r->u[i];
			r->u[i] = repair_moved(r, from);
			now = repair_cost(r);
			if (now <= least)
				least = now;
			else
				r->u[i] = from;
		}
	}
	return least;
}

/* A random value that keeps the conditions, of each parameter. */
static void
repair_walk(struct repair *r)
{
	double from, low, high;
	size_t i;
	int n;

	for (i = 0; i < r->space->n; i++) {
		from = r->u[i];
		low = 0;
		high = 1;
		for (n = 0; n < SHRINKS && repair_is_open(r, i); n++) {
			r->u[i] = low + (high - low) * rng_uniform(r->rng);
			if (repair_cost(r) == 0)
				break;
			if (r->u[i] < from)
				low = r->u[i];
			else
				high = r->u[i];
			r->u[i] = from;
		}
	}
}

/* What is left of the cost: 0 is a setting. */
static double
repair_start(struct repair *r)
{
	double least, before;
	int round, idle = 0;
	size_t i;

	for (i = 0; i < r->space->n; i++)
		r->u[i] = rng_uniform(r->rng);
	least = repair_cost(r);
	for (round = 0; round < ROUNDS && idle < IDLE && least > 0; round++) {
		before = least;
		least = repair_improve(r, least);
		idle = least < before ? 0 : idle + 1;
	}
	for (i = 0; i < WALKS && least == 0; i++)
		repair_walk(r);
	return least;
}

bool
where_repair(double *u, const struct space *space, const struct value *fixed,
    const bool *matters, struct rng *rng)
{
	struct repair r = {
		.space = space,
		.fixed = fixed,
		.matters = matters,
		.rng = rng,
		.u = xcalloc(space->n, sizeof *r.u),
		.values = xcalloc(space->n, sizeof *r.values),
		.spans = xcalloc(space->n, sizeof *r.spans),
	};
	double left = INFINITY;
	bool found = false;
	int i;

	for (i = 0; i < STARTS && left > nearly; i++)
		left = repair_start(&r);
	if (left == 0) {
		(void)repair_cost(&r);
		space_encode(space, r.values, u);
		space_snap(space, u);
		found = where_holds(space, u);
	}
	free(r.u);
	free(r.values);
	free(r.spans);
	return found;
}
