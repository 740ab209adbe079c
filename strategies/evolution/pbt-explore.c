/*
 * Explore: each parameter is resampled or perturbed.  A number is multiplied in
 * the user's units, but a logarithmic one below 1 by its distance from 1; a
 * choice moves to a neighbour.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/base/rng.h"
#include "src/model/prior.h"
#include "src/model/space.h"
#include "strategies/evolution/pbt.h"

static bool
pbt_explore_is_listed(const char *names, const char *name)
{
	size_t len = strlen(name), n;

	if (names == NULL)
		return true;
	for (; *names != '\0'; names += n + (names[n] == ',')) {
		n = strcspn(names, ",");
		if (n == len && strncmp(names, name, n) == 0)
			return true;
	}
	return false;
}

/* The next place of a parameter that has so many. */
static double
pbt_explore_step_levels(double u, double levels, bool up)
{
	return fmin(fmax(u + (up ? 1 : -1) / levels, 0), 1);
}

static double
number_moved(
    const struct param *p, double v, const struct pbt_change *c, bool up)
{
	double by = up ? c->up : c->down, moved;

	moved = p->scale == SCALE_REVERSE_LOG ? 1 - (1 - v) * by : v * by;
	if (p->step > 0) {
		moved = p->min + round((moved - p->min) / p->step) * p->step;
		/* At least to the next one. */
		if (moved == v)
			moved += up ? p->step : -p->step;
	}
	return fmin(fmax(moved, p->min), p->max);
}

/* Move parameter i of the values, or of x where it has no order of numbers. */
static void
param_move(double *x, struct value *values, const struct space *space, size_t i,
    const struct pbt_change *c, bool up)
{
	const struct param *p = &space->params[i];
	double moved;

	switch (p->type) {
	case PARAM_FIXED:
		return;
	case PARAM_CHOICE:
		x[i] = pbt_explore_step_levels(x[i], (double)p->n_values, up);
		return;
	case PARAM_INT:
	case PARAM_FLOAT:
		break;
	}
	moved = number_moved(p, values[i].real, c, up);
	values[i].real = moved;
	values[i].integer = p->type == PARAM_INT ? (int64_t)llround(moved) : 0;
}

void
pbt_explore(double *x, const struct space *space, const struct pbt_change *c,
    struct rng *rng)
{
	struct value *values = xcalloc(space->n, sizeof *values);
	double *u = xcalloc(space->n, sizeof *u), anew;
	size_t i;
	bool up, draw;

	space_decode(space, x, values);
	for (i = 0; i < space->n; i++) {
		/* The same number of random draws in each case. */
		draw = rng_uniform(rng) < c->resample;
		anew = prior_move_one(&space->params[i], rng_uniform(rng));
		up = rng_below(rng, 2) != 0;
		if (isnan(x[i]))
			/*
			 * An inactive parameter may become active with new
			 * values of others.
			 */
			x[i] = anew;
		else if (!pbt_explore_is_listed(c->only, space->params[i].name))
			continue;
		else if (draw)
			x[i] = anew;
		else {
			param_move(x, values, space, i, c, up);
			if (space->params[i].type == PARAM_CHOICE)
				continue;
			space_encode(space, values, u);
			if (!isnan(u[i]))
				x[i] = u[i];
		}
	}
	free(values);
	free(u);
}
