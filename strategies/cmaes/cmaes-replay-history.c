/*
 * Rebuilds a CMA-ES run from the history: cuts trials into generations, sets up
 * the first distribution, and decides restarts.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/kernels.h"
#include "src/base/mem.h"
#include "src/base/rng.h"
#include "src/model/history/history.h"
#include "strategies/cmaes/cmaes.h"
#include "strategies/startup.h"
#include "strategies/strategy.h"
#include "strategies/trial-rank.h"

#define SIGMA_FIRST (1 / 6.0)
#define TOP 0.1 /* of the trials that are known before it begins */
#define SPREAD 0.1 /* of what each of them stands for */

enum {
	STREAM_DRAW = 62, /* bits of streams of random numbers */
	STREAM_RESTART = 63,
	POPSIZE_MOST = 1 << 20
};

struct past {
	const struct strategy_ask *ask;
	const struct cmaes_rule *rule;
	const struct cmaes_axes *axes;
	int64_t known; /* the last trial before the first generation, or 0 */
	struct trial_rank *told; /* of this study, by number */
	size_t n_told;
	struct cmaes_start start;
	double *mean, *cov; /* of the start */
	size_t popsize; /* of the first run */
	uint64_t n_restarts; /* of any kind */
	int n_larger;
	bool small;
	double told_small, told_large; /* trials that were spent on each kind */
};

void
cmaes_rng(struct rng *rng, uint64_t seed, int64_t trial, unsigned redraw)
{
	rng_init(rng, seed,
	    (uint64_t)1 << STREAM_DRAW | (uint64_t)redraw << 48 |
		(uint64_t)trial);
}

static bool
has_point(const struct past *p, int64_t trial)
{
	const double *point = history_point(p->ask->history, trial);
	size_t d;

	for (d = 0; d < p->axes->dims; d++)
		if (isnan(point[p->axes->which[d]]))
			return false;
	return true;
}

/* Trials from … to with usable results; the caller frees the list. */
static struct trial_rank *
collect(const struct past *p, int64_t from, int64_t to, size_t *n)
{
	struct trial_rank *told =
			      xcalloc((size_t)(to - from + 2), sizeof *told),
			  t;
	int64_t i;

	for (*n = 0, i = from; i <= to; i++) {
		t = trial_rank_of(p->ask->history, i);
		if (!trial_rank_is_finished(t.kind) || !has_point(p, i) ||
		    (t.kind == TRIAL_RANK_STOPPED && !p->rule->stopped))
			continue;
		told[(*n)++] = t;
	}
	return told;
}

/* Whether the user sets the first distribution. */
static bool
is_placed(const struct cmaes_rule *rule)
{
	return rule->mean != NULL || rule->sigma > 0;
}

/*
 * The last of the trials that are not cut into generations, 0 if there are
 * none: those of other strategies, and the first points.
 */
static int64_t
last_known(const struct past *p)
{
	int64_t first = startup_last(p->ask->history, p->rule->n_startup);

	if (is_placed(p->rule))
		return 0;
	return first > p->ask->n_known ? first : p->ask->n_known;
}

static double
replay_history_place(const struct past *p, int64_t trial, size_t d)
{
	const double *point = history_point(p->ask->history, trial);

	return tpe_axis_from_cube(&p->axes->axes[d], point[p->axes->which[d]]);
}

/*
 * How n of the best trials are taken.  Of other studies, as published: all the
 * same, SPREAD wide because their optimum may be elsewhere, with covariances.
 * Of this study (strategies/README.md): weights as of a generation, a width that
 * falls with the number of points, and no covariances, since few points in many
 * dimensions would give a flat distribution that leaves its plane late.
 */
struct top {
	const struct trial_rank *trials;
	size_t n;
	bool elsewhere; /* some are of other studies */
	double *weights; /* sum: 1 */
};

static void
top_weigh(struct top *t)
{
	double n = (double)t->n, sum = 0;
	size_t k;

	for (k = 0; k < t->n; k++)
		t->elsewhere = t->elsewhere || t->trials[k].trial < 1;
	t->weights = xcalloc(t->n, sizeof *t->weights);
	for (k = 0; k < t->n; k++)
		sum += t->weights[k] =
		    t->elsewhere ? 1 : log(n + 0.5) - log((double)k + 1);
	for (k = 0; k < t->n; k++)
		t->weights[k] /= sum;
}

/* The mean, and the covariance of normal distributions around the points. */
static void
top_moments(struct past *p, const struct top *t)
{
	size_t dims = p->axes->dims, k, i, j;
	double spread = t->elsewhere ? SPREAD : SPREAD / sqrt((double)t->n);
	double x, y;
	double *cov;

	for (i = 0; i < dims; i++)
		for (p->mean[i] = 0, k = 0; k < t->n; k++)
			p->mean[i] +=
			    t->weights[k] *
			    replay_history_place(p, t->trials[k].trial, i);
	for (i = 0; i < dims; i++)
		for (j = 0; j < dims; j++) {
			cov = &p->cov[i * dims + j];
			*cov = i == j ? spread * spread : 0;
			for (k = 0; k < t->n && (i == j || t->elsewhere); k++) {
				x = replay_history_place(
				    p, t->trials[k].trial, i);
				y = replay_history_place(
				    p, t->trials[k].trial, j);
				*cov += t->weights[k] * (x - p->mean[i]) *
					(y - p->mean[j]);
			}
		}
}

/* Multiply the covariance out: it gets volume 1, and sigma the rest. */
static int
normalise(struct past *p)
{
	size_t dims = p->axes->dims, i;
	const struct kernels *k = p->ask->kernels;
	double *split = xcalloc(dims * dims + dims, sizeof *split);
	double log_volume = 0;
	int rc = 0;

	memcpy(split, p->cov, dims * dims * sizeof *split);
	if (k == NULL || k->sym_eigen == NULL ||
	    k->sym_eigen(k->dev, split, dims, split + dims * dims) != 0)
		rc = -1;
	for (i = 0; i < dims && rc == 0; i++)
		log_volume += log(split[dims * dims + i]);
	free(split);
	p->start.sigma = exp(log_volume / 2 / (double)dims);
	for (i = 0; i < dims * dims; i++)
		p->cov[i] /= p->start.sigma * p->start.sigma;
	return rc;
}

/*
 * The best of the trials that are known, n at least 1, give the initial mean
 * and covariance: Nomura, Watanabe, Akimoto, Ozaki and Onishi, "Warm starting
 * CMA-ES for hyperparameter optimization" (2021).
 */
static int
begin_warm(struct past *p, const struct trial_rank *known, size_t n)
{
	size_t dims = p->axes->dims, i;
	struct top t = { .trials = known, .n = (size_t)(TOP * (double)n) };
	int rc;

	t.n = t.n > 0 ? t.n : 1;
	top_weigh(&t);
	top_moments(p, &t);
	free(t.weights);
	rc = normalise(p);
	/* With diagonal only the diagonal is kept. */
	for (i = 0; p->rule->diagonal && dims > 1 && i < dims; i++)
		p->cov[i] = p->cov[i * dims + i];
	p->start.mean = p->mean;
	p->start.cov = p->cov;
	return rc;
}

/* The first distribution. */
static int
begin(struct past *p)
{
	const struct history *h = p->ask->history;
	struct trial_rank *known;
	int rc = 0;
	size_t n;

	p->start = (struct cmaes_start){ .dims = p->axes->dims,
		.lambda = p->popsize,
		.diagonal = p->rule->diagonal,
		.margin = p->rule->margin,
		.axes = p->axes->axes,
		.kernels = p->ask->kernels,
		.mean = p->rule->mean,
		.sigma = p->rule->sigma > 0 ? p->rule->sigma : SIGMA_FIRST };
	if (is_placed(p->rule))
		return 0;
	known = collect(p, history_first(h), p->known, &n);
	qsort(known, n, sizeof *known, trial_rank_order);
	while (n > 0 && known[n - 1].kind == TRIAL_RANK_FAILED)
		n--;
	if (n > 0)
		rc = begin_warm(p, known, n);
	free(known);
	return rc;
}

/* How many points a generation of the next run has. */
static size_t
next_popsize(struct past *p, struct rng *rng, double *shrink)
{
	double first = (double)p->popsize, u = rng_uniform(rng), n;

	*shrink = 1;
	if (p->rule->restart == CMAES_BIPOP && p->told_small < p->told_large) {
		p->small = true;
		n = floor(first * pow(pow(p->rule->grow, p->n_larger), u * u));
		*shrink = pow(10, -2 * rng_uniform(rng));
	} else {
		p->small = false;
		n = first * pow(p->rule->grow, ++p->n_larger);
	}
	return (size_t)fmin(fmax(n, 4), POPSIZE_MOST);
}

/*
 * Restart at a random mean: Auger and Hansen (2005), "A restart CMA evolution
 * strategy with increasing population size"; Hansen (2009), "Benchmarking a
 * BI-population CMA-ES".
 */
static void
begin_again(struct past *p, struct cmaes_distribution *c)
{
	double spent = (double)c->generation * (double)c->lambda, shrink;
	struct rng rng;
	size_t d;

	*(p->small ? &p->told_small : &p->told_large) += spent;
	rng_init(&rng, p->ask->seed,
	    (uint64_t)1 << STREAM_RESTART | p->n_restarts++);
	p->start.lambda = next_popsize(p, &rng, &shrink);
	p->start.sigma =
	    (p->rule->sigma > 0 ? p->rule->sigma : SIGMA_FIRST) * shrink;
	p->start.mean = p->mean;
	p->start.cov = NULL;
	for (d = 0; d < p->start.dims; d++)
		p->mean[d] = rng_uniform(&rng);
	cmaes_distribution_free(c);
	cmaes_distribution_init(c, &p->start);
}

/*
 * A trial's point as drawn.  For levels only the level is recorded: use the
 * draw of the same trial from this distribution if it has the same level, else
 * the middle of the level.
 */
static int
undraw(const struct past *p, struct cmaes_distribution *c, int64_t trial,
    double *x)
{
	double *drawn, at;
	bool levels = false;
	struct rng rng;
	size_t d;
	int rc = 0;

	for (d = 0; d < c->dims; d++) {
		x[d] = replay_history_place(p, trial, d);
		levels = levels || c->axes[d].kind != TPE_AXIS_NUMBER;
	}
	if (!levels || !c->margin)
		return 0;
	drawn = xcalloc(2 * c->dims, sizeof *drawn);
	cmaes_rng(&rng, p->ask->seed, trial, 0);
	rc = cmaes_distribution_draw(c, &rng, drawn, drawn + c->dims);
	for (d = 0; d < c->dims && rc == 0; d++) {
		if (c->axes[d].kind == TPE_AXIS_NUMBER)
			continue;
		at = drawn[c->dims + d];
		x[d] = fabs(at - x[d]) < 1e-9
			   ? drawn[d]
			   : cmaes_distribution_undo(c, d, x[d]);
	}
	free(drawn);
	return rc;
}

static int
replay_history_tell(const struct past *p, struct cmaes_distribution *c,
    const struct trial_rank *generation)
{
	struct trial_rank *order = xcalloc(c->lambda, sizeof *order);
	double *x = xcalloc(c->lambda * c->dims, sizeof *x);
	double best = INFINITY, worst = -INFINITY;
	int rc = 0;
	size_t k;

	memcpy(order, generation, c->lambda * sizeof *order);
	qsort(order, c->lambda, sizeof *order, trial_rank_order);
	for (k = 0; k < c->lambda && rc == 0; k++) {
		rc = undraw(p, c, order[k].trial, x + k * c->dims);
		if (order[k].kind != TRIAL_RANK_COMPLETED)
			continue;
		best = fmin(best, order[k].first);
		worst = fmax(worst, order[k].first);
	}
	/* If all trials failed, no update is possible. */
	if (rc == 0 && order[0].kind != TRIAL_RANK_FAILED)
		rc = cmaes_update(c, x, best, worst);
	free(order);
	free(x);
	return rc;
}

static int
recall(struct past *p, struct cmaes_distribution *c)
{
	size_t at = 0;

	while (p->n_told - at >= c->lambda) {
		if (replay_history_tell(p, c, p->told + at) != 0)
			return -1;
		at += c->lambda;
		if (p->rule->restart == CMAES_NO_RESTART
			? !isfinite(c->sigma)
			: cmaes_distribution_is_over(c))
			begin_again(p, c);
	}
	return 0;
}

int
cmaes_replay_history(struct cmaes_distribution *c,
    const struct strategy_ask *ask, const struct cmaes_rule *rule,
    const struct cmaes_axes *axes)
{
	struct past p = {
		.ask = ask, .rule = rule, .axes = axes, .small = true
	};
	int rc;

	p.popsize = rule->popsize > 0 ? rule->popsize
				      : cmaes_distribution_lambda(axes->dims);
	p.mean = xcalloc(axes->dims * (axes->dims + 1), sizeof *p.mean);
	p.cov = p.mean + axes->dims;
	p.known = last_known(&p);
	p.told =
	    collect(&p, p.known + 1, history_count(ask->history), &p.n_told);
	rc = begin(&p);
	cmaes_distribution_init(c, &p.start);
	if (rc == 0)
		rc = recall(&p, c);
	if (rc != 0)
		cmaes_distribution_free(c);
	free(p.told);
	free(p.mean);
	return rc;
}
