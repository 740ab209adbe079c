/*
 * The processes of one suggestion: one for the losses, and one per constraint
 * for its violation (Gardner, Kusner, Xu, Weinberger and Cunningham, "Bayesian
 * optimization with inequality constraints", ICML 2014).  Of two or three
 * losses, for every other suggestion, one process each, and the expected
 * improvement of their hypervolume (gp-hypervolume.c).
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/model/history/history.h"
#include "strategies/evolution/pareto.h"
#include "strategies/gp/gp-hypervolume.h"
#include "strategies/gp/gp.h"
#include "strategies/strategy.h"

/* Of the range of the front: how far the reference point is behind it. */
static const double reference_behind = 0.1;

/* For the factorisation; the values have variance 1. */
static const double noise_floor = 1e-8;

struct gp *
gp_models_of(const struct gp_question *q, const double *x, size_t n,
    const struct gp_targets *values, bool rough, double *theta)
{
	const struct kernels *k = q->ask->kernels;
	struct gp_data data = { .n = n, .d = q->rows.d, .x = x };
	struct gp *gp;

	data.category = q->space.category;
	data.y = values->y;
	data.extra = values->extra;
	data.noise_floor = noise_floor;
	data.rough = rough;
	gp_hyperparameters_fit(theta, k, &data, &q->rule);
	gp = k->gp_fit(k->dev, &data, theta);
	if (gp != NULL && q->rows.n_pending > 0)
		k->gp_pend(k->dev, gp, q->rows.pending, q->rows.n_pending);
	return gp;
}

/* Insert a row among the good ones, by its mean. */
static void
good_show(struct gp_question *q, double *means, const double *row, double mean)
{
	size_t d = q->rows.d, i;

	if (q->n_good == GP_GOOD && !(mean < means[q->n_good - 1]))
		return;
	if (q->n_good < GP_GOOD)
		q->n_good++;
	for (i = q->n_good - 1; i > 0 && mean < means[i - 1]; i--) {
		means[i] = means[i - 1];
		memcpy(q->good + i * d, q->good + (i - 1) * d, d * sizeof *row);
	}
	means[i] = mean;
	memcpy(q->good + i * d, row, d * sizeof *row);
}

/* By how much each row breaks constraints; NaN where it cannot be the best. */
static bool
breaches_fill(double *breach, const struct gp_question *q)
{
	const struct history *h = q->ask->history;
	bool completed = false, holds = false;
	size_t i;

	for (i = 0; i < q->rows.n; i++)
		completed = completed || q->rows.kinds[i] == GP_COMPLETED;
	for (i = 0; i < q->rows.n; i++) {
		breach[i] = NAN;
		if (completed && q->rows.kinds[i] != GP_COMPLETED)
			continue;
		breach[i] = history_violation(h, q->rows.trials[i]);
		holds = holds || breach[i] == 0;
	}
	return holds;
}

/*
 * The least mean of running trials: their results are taken to be what the
 * model expects, so that nothing is to be gained beside them ("kriging
 * believer"; Ginsbourger, Le Riche and Carraro, "Kriging is well-suited to
 * parallelize optimization", 2010).  Infinite with constraints: they may break
 * some.
 */
static double
pending_mean(const struct gp_question *q, const struct gp *gp)
{
	const struct kernels *k = q->ask->kernels;
	size_t n = q->rows.n_pending, i;
	double *means, least = INFINITY;

	if (n == 0 || history_n_constraints(q->ask->history) > 0)
		return INFINITY;
	means = xcalloc(n, sizeof *means);
	k->gp_predict(k->dev, gp, q->rows.pending, n, means, NULL);
	for (i = 0; i < n; i++)
		least = fmin(least, means[i]);
	free(means);
	return least;
}

/*
 * The least mean of completed rows (without any, of all) that break no
 * constraint; infinite when every one breaks some, and then those are good that
 * break least.
 */
static double
best_mean(struct gp_question *q, const struct gp *gp)
{
	const struct kernels *k = q->ask->kernels;
	size_t n = q->rows.n, i;
	double *means = xcalloc(2 * n + GP_GOOD, sizeof *means), best;
	double *breach = means + n, *sorted = breach + n;
	bool holds = breaches_fill(breach, q);

	k->gp_predict(k->dev, gp, q->rows.x, n, means, NULL);
	for (i = 0; i < n; i++)
		if (!isnan(breach[i]) && (breach[i] == 0 || !holds))
			good_show(q, sorted, q->rows.x + i * q->rows.d,
			    holds ? means[i] : breach[i]);
	best = holds ? sorted[0] : INFINITY;
	free(means);
	return holds ? fmin(best, pending_mean(q, gp)) : best;
}

/* The process of constraint c, from the trials that reported it. */
static struct gp *
breach_fit(const struct gp_question *q, size_t c, double *theta, double *limit)
{
	size_t d = q->rows.d, n = 0, i;
	double *x = xcalloc(q->rows.n * (d + 1), sizeof *x);
	double *breach = x + q->rows.n * d;
	const double *all;
	struct gp_targets values;
	struct gp *gp = NULL;

	for (i = 0; i < q->rows.n; i++) {
		all = history_violations(q->ask->history, q->rows.trials[i]);
		if (all == NULL || isnan(all[c]))
			continue;
		memcpy(x + n * d, q->rows.x + i * d, d * sizeof *x);
		breach[n++] = all[c];
	}
	gp_targets_from(&values, breach, n);
	if (n > 0)
		gp = gp_models_of(q, x, n, &values, false, theta);
	*limit = -values.centre / values.scale;
	gp_targets_free(&values);
	free(x);
	return gp;
}

/* Rows that may be of the front, and what the models expect there. */
struct outlook {
	size_t n, m;
	double *x; /* n x d */
	double *means; /* n x m */
	size_t *rank;
};

/*
 * Rows that break no constraint and, without constraints, those of running
 * trials.
 */
static void
outlook_init(struct outlook *o, const struct gp_acquisition_goal *g,
    const struct gp_question *q, const double *breach)
{
	size_t d = q->rows.d, most = q->rows.n + q->rows.n_pending + 1, i, k;
	double *means = xcalloc(most, sizeof *means);

	o->m = g->n_models;
	o->x = xcalloc(most * d, sizeof *o->x);
	o->means = xcalloc(most * o->m, sizeof *o->means);
	o->rank = xcalloc(most, sizeof *o->rank);
	for (o->n = 0, i = 0; i < q->rows.n; i++)
		if (breach[i] == 0)
			memcpy(o->x + o->n++ * d, q->rows.x + i * d,
			    d * sizeof *o->x);
	if (history_n_constraints(q->ask->history) == 0) {
		memcpy(o->x + o->n * d, q->rows.pending,
		    q->rows.n_pending * d * sizeof *o->x);
		o->n += q->rows.n_pending;
	}
	for (k = 0; k < o->m; k++) {
		g->kernels->gp_predict(
		    g->kernels->dev, g->models[k].gp, o->x, o->n, means, NULL);
		for (i = 0; i < o->n; i++)
			o->means[i * o->m + k] = means[i];
	}
	pareto_ranks(o->rank, o->means, o->n, o->m);
	free(means);
}

static void
outlook_free(struct outlook *o)
{
	free(o->x);
	free(o->means);
	free(o->rank);
}

/* The range of loss k over rows up to a rank; returns whether there is one. */
static bool
outlook_range(
    const struct outlook *o, size_t k, size_t rank, double *low, double *high)
{
	double x;
	size_t i;

	*low = INFINITY;
	*high = -INFINITY;
	for (i = 0; i < o->n; i++) {
		if (o->rank[i] > rank)
			continue;
		x = o->means[i * o->m + k];
		*low = fmin(*low, x);
		*high = fmax(*high, x);
	}
	return *low < *high;
}

/* What the front leaves free, up to a point behind its worst of each loss. */
static struct gp_boxes *
boxes_of(const struct outlook *o)
{
	double reference[GP_LOSSES_MAX], low, high, all, worst, range;
	struct gp_boxes *b = xcalloc(1, sizeof *b);
	double *front = xcalloc(o->n * o->m + 1, sizeof *front);
	size_t n = 0, i, k;

	for (i = 0; i < o->n; i++)
		if (o->rank[i] == 0)
			memcpy(front + n++ * o->m, o->means + i * o->m,
			    o->m * sizeof *front);
	for (k = 0; k < o->m; k++) {
		if (outlook_range(o, k, 0, &low, &high))
			range = high - low;
		else if (outlook_range(o, k, SIZE_MAX, &all, &worst))
			range = worst - all;
		else
			range = 1;
		reference[k] = high + reference_behind * range;
	}
	gp_boxes_init(b, front, n, o->m, reference);
	free(front);
	return b;
}

/* Good rows are those of the front, in random order, then of the next ranks. */
static void
good_fill(struct gp_question *q, const struct outlook *o)
{
	size_t *which = xcalloc(o->n + 1, sizeof *which), d = q->rows.d;
	size_t rank, n, i, at, swap;

	for (rank = 0; q->n_good < GP_GOOD && q->n_good < o->n; rank++) {
		for (n = 0, i = 0; i < o->n; i++)
			if (o->rank[i] == rank)
				which[n++] = i;
		for (i = 0; i < n && q->n_good < GP_GOOD; i++) {
			at = i + (size_t)rng_below(&q->rng, n - i);
			swap = which[i];
			which[i] = which[at];
			which[at] = swap;
			memcpy(q->good + q->n_good++ * d, o->x + which[i] * d,
			    d * sizeof *q->good);
		}
	}
	free(which);
}

/* Without an allowed row, good are those that break least. */
static void
front_find(struct gp_acquisition_goal *g, struct gp_question *q)
{
	size_t n = q->rows.n, i;
	double *breach = xcalloc(n + GP_GOOD, sizeof *breach);
	struct outlook o = { 0 };

	g->improve = breaches_fill(breach, q);
	if (g->improve) {
		outlook_init(&o, g, q, breach);
		g->boxes = boxes_of(&o);
		good_fill(q, &o);
	}
	for (i = 0; i < n && !g->improve; i++)
		if (!isnan(breach[i]))
			good_show(q, breach + n, q->rows.x + i * q->rows.d,
			    breach[i]);
	outlook_free(&o);
	free(breach);
}

/* A process per loss; their values are not transformed: volumes would be. */
static int
several_fit(struct gp_acquisition_goal *g, struct gp_question *q, double *theta)
{
	size_t m = history_n_objectives(q->ask->history), i, k;
	struct gp_targets values;

	for (i = 0; i < m; i++) {
		gp_targets_from_loss(&values, &q->rows, q->ask->history, i);
		g->models[i].gp = gp_models_of(
		    q, q->rows.x, q->rows.n, &values, q->rough, theta);
		gp_targets_free(&values);
		if (g->models[i].gp == NULL)
			return -1;
		g->n_models++;
		for (k = 0; k < q->rows.d; k++)
			q->weights[k] += theta[k] / 2 / (double)m;
	}
	for (k = 0; k < q->rows.d; k++)
		q->weights[k] = exp(q->weights[k]);
	front_find(g, q);
	return 0;
}

/*
 * Every other suggestion: the hypervolume alone stays with the part of the
 * front that it knows, and weighted losses find its ends.
 */
static bool
is_of_volume(const struct strategy_ask *ask)
{
	size_t m = history_n_objectives(ask->history);

	return m > 1 && m <= GP_LOSSES_MAX && ask->trial % 2 == 1;
}

static int
losses_fit(struct gp_acquisition_goal *g, struct gp_question *q, double *theta)
{
	struct gp_targets values;
	size_t k;

	if (history_n_objectives(q->ask->history) > 1)
		gp_targets_from_several(
		    &values, &q->rows, q->ask->history, q->warp, &q->rng);
	else
		gp_targets_from_losses(
		    &values, &q->rows, q->ask->history, q->warp);
	/* With one loss alone it was measured to be of use. */
	q->rule.local = history_n_objectives(q->ask->history) == 1;
	/* Of the same rows and values, by the same rule. */
	if (q->rows.n == q->n_known && !q->noisy && !q->rule.noiseless)
		q->rule.from = q->known;
	g->models[0].gp =
	    gp_models_of(q, q->rows.x, q->rows.n, &values, q->rough, theta);
	q->rule.local = false;
	q->rule.from = NULL;
	gp_targets_free(&values);
	if (g->models[0].gp == NULL)
		return -1;
	g->n_models = 1;
	g->models[0].limit = best_mean(q, g->models[0].gp);
	g->improve = isfinite(g->models[0].limit);
	for (k = 0; k < q->rows.d; k++)
		q->weights[k] = exp(theta[k] / 2);
	return 0;
}

/* The last model is of where trials fail. */
static void
failures_add(
    struct gp_acquisition_goal *g, struct gp_question *q, double *theta)
{
	struct gp_model *m = &g->models[g->n_models];

	m->gp = gp_failures_fit(q, theta, &m->limit);
	g->failures = m->gp != NULL;
	g->n_models += g->failures;
}

int
gp_models_fit(struct gp_acquisition_goal *g, struct gp_question *q)
{
	size_t n = history_n_constraints(q->ask->history), c;
	double *theta = xcalloc(q->rows.d + 3, sizeof *theta);
	struct gp_model *m;
	int rc;

	*g = (struct gp_acquisition_goal){ .kernels = q->ask->kernels,
		.space = &q->space,
		.weights = q->weights,
		.low = q->low,
		.high = q->high,
		.centre = q->centre };
	g->models = xcalloc(n + GP_LOSSES_MAX + 1, sizeof *g->models);
	rc = is_of_volume(q->ask) ? several_fit(g, q, theta)
				  : losses_fit(g, q, theta);
	/* First something that is allowed at all. */
	while (rc == 0 && !g->improve && g->n_models > 0)
		g->kernels->gp_free(
		    g->kernels->dev, g->models[--g->n_models].gp);
	for (c = 0; c < n && rc == 0; c++) {
		m = &g->models[g->n_models];
		m->gp = breach_fit(q, c, theta, &m->limit);
		g->n_models += m->gp != NULL;
	}
	if (rc == 0)
		failures_add(g, q, theta);
	if (rc == 0 && gp_cost_counts(q))
		gp_cost_fit(g, q);
	free(theta);
	return rc;
}

void
gp_models_free(struct gp_acquisition_goal *g)
{
	size_t i;

	for (i = 0; i < g->n_models; i++)
		g->kernels->gp_free(g->kernels->dev, g->models[i].gp);
	if (g->cost != NULL)
		g->kernels->gp_free(g->kernels->dev, g->cost);
	free(g->models);
	if (g->boxes != NULL)
		gp_boxes_free(g->boxes);
	free(g->boxes);
}
