/*
 * From good and bad trials to a point: fits both densities, draws points from
 * the good one, and selects the one with the largest ratio.
 */

#include <math.h>
#include <stdlib.h>

#include "src/base/mem.h"
#include "src/base/rng.h"
#include "src/base/search.h"
#include "src/model/history/history.h"
#include "src/model/space.h"
#include "strategies/strategy.h"
#include "strategies/tpe/tpe-normal.h"
#include "strategies/tpe/tpe-parzen.h"
#include "strategies/tpe/tpe.h"

/* A suggestion, and the current group of parameters. */
struct chooser {
	struct tpe_question *q;
	struct axis *axes;
	size_t *which; /* its parameters */
	size_t dims;
};

static void
group_fit(struct parzen *p, const struct chooser *t,
    const struct parzen_rule *rule, const int64_t *trials, size_t n)
{
	size_t kept;
	double *z = tpe_groups_observations(
	    t->q->ask->history, trials, n, t->axes, t->which, t->dims, &kept);

	tpe_parzen_fit(p, rule, t->axes, t->dims, z, kept);
	free(z);
}

/* The candidate with the largest ratio, the first of equals. */
static size_t
best_of(const double *below, const double *above, size_t n)
{
	size_t i, best = 0;

	for (i = 1; i < n; i++)
		if (below[i] - above[i] > below[best] - above[best])
			best = i;
	return best;
}

/* Choose the parameters of the current group. */
static void
group_suggest(struct chooser *t, double *x)
{
	size_t n = t->q->n_candidates, best, d;
	double *points = xcalloc(n * t->dims, sizeof *points);
	double *below = xcalloc(2 * n, sizeof *below), *above = below + n;
	struct parzen good, bad;

	group_fit(
	    &good, t, &t->q->good_rule, t->q->split.below, t->q->split.n_below);
	group_fit(&bad, t, &t->q->rule, t->q->split.above, t->q->split.n_above);
	tpe_sample(&good, &t->q->rng, points, n);
	tpe_density_log(&good, points, n, below);
	tpe_density_log(&bad, points, n, above);
	best = best_of(below, above, n);
	for (d = 0; d < t->dims; d++)
		x[t->which[d]] =
		    tpe_axis_to_cube(&t->axes[d], points[best * t->dims + d]);
	tpe_parzen_free(&good);
	tpe_parzen_free(&bad);
	free(points);
	free(below);
}

/* Make the group whose first parameter is i the current one. */
static void
group_take(struct chooser *t, const int *group, size_t i)
{
	const struct space *space = t->q->ask->space;
	size_t k;

	t->dims = 0;
	for (k = i; k < space->n; k++) {
		if (group[k] != group[i])
			continue;
		t->which[t->dims] = k;
		t->dims += tpe_axis_init(&t->axes[t->dims], &space->params[k]);
	}
}

static bool
is_first(const int *group, size_t i)
{
	size_t k;

	for (k = 0; k < i; k++)
		if (group[k] == group[i])
			return false;
	return true;
}

void
tpe_candidates_best(struct tpe_question *q, double *x, enum tpe_joint joint)
{
	const struct space *space = q->ask->space;
	int *group = xcalloc(space->n, sizeof *group);
	struct chooser t = { .q = q };
	size_t i;

	t.axes = xcalloc(space->n, sizeof *t.axes);
	t.which = xcalloc(space->n, sizeof *t.which);
	tpe_groups(group, space, q->ask->history, joint);
	for (i = 0; i < space->n; i++)
		x[i] = 0.5;
	for (i = 0; i < space->n; i++) {
		if (!is_first(group, i))
			continue;
		group_take(&t, group, i);
		if (t.dims > 0)
			group_suggest(&t, x);
	}
	free(t.axes);
	free(t.which);
	free(group);
}

/* Points drawn from a Parzen estimator. */

/* The component at quantile q of the weights. */
static size_t
component_at(const struct parzen *p, double q)
{
	size_t at;

	SEARCH_FIRST(at, p->n - 1, !(q < p->share[at]));
	return at;
}

/* The choice of component k's observation, or with the remaining mass any. */
static double
draw_choice(const struct parzen *p, size_t d, size_t k, double q)
{
	double levels = p->axes[d].levels, seen = p->mu[d * p->stride + k];
	double left = seen < levels ? q * (p->own + levels * p->other) - p->own
				    : q * levels * p->other;

	if (left < 0 || p->other == 0)
		return seen;
	return fmin(floor(left / p->other), levels - 1);
}

static double
draw_number(const struct parzen *p, size_t d, size_t k, double q)
{
	size_t at = d * p->stride + k;
	double mu = p->mu[at], by = p->scale[at] * M_SQRT2;
	double z = tpe_normal_between_quantile(q, -mu * by, (1 - mu) * by);

	z = fmin(fmax(mu + z / by, 0), 1);
	return tpe_axis_round(&p->axes[d], z);
}

void
tpe_sample(const struct parzen *p, struct rng *rng, double *points, size_t n)
{
	size_t i, d, k;
	double q;

	for (i = 0; i < n; i++) {
		k = component_at(p, rng_uniform(rng));
		for (d = 0; d < p->dims; d++) {
			q = rng_uniform(rng);
			points[i * p->dims + d] =
			    p->axes[d].kind == TPE_AXIS_CHOICE
				? draw_choice(p, d, k, q)
				: draw_number(p, d, k, q);
		}
	}
}
