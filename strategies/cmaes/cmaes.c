/*
 * CMA-ES: points are drawn from a normal distribution that adapts its mean and
 * covariance to good points.
 *
 * It handles unconditional numeric parameters together.  Choices and
 * conditional parameters are suggested one by one by tpe, or at random.  Option
 * names are those of Optuna.
 *
 * For each suggestion the run is rebuilt from the history: trials are cut into
 * generations, the first distribution is set up, and restarts are decided.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/kernels.h"
#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/base/rng.h"
#include "src/model/history/history.h"
#include "src/model/plugin-options.h"
#include "src/model/space.h"
#include "strategies/cmaes/cmaes.h"
#include "strategies/startup.h"
#include "strategies/strategy.h"
#include "strategies/trial-rank.h"

extern const struct strategy strategy_random;
extern const struct strategy strategy_tpe;

enum { FULL_MOST = 100 }; /* dimensions with a full covariance */

static const char *const restarts[] = { "none", "ipop", "bipop", NULL };
static const char *const others[] = { "tpe", "random", NULL };

static const struct option options[] = {
	STARTUP_OPTIONS("0"),
	{ .name = "popsize",
	    .type = OPTION_INT,
	    .min = 4,
	    .max = 1e6,
	    .help = "trials of a generation: 4 + floor(3 ln d) for d "
		    "parameters" },
	{ .name = "sigma0",
	    .type = OPTION_REAL,
	    .min = 1e-6,
	    .max = 10,
	    .help = "initial standard deviation, as a share of each range: a "
		    "sixth" },
	{ .name = "x0",
	    .type = OPTION_JSON,
	    .help =
		"initial mean, {parameter: value}; the middle of the ranges" },
	{ .name = "consider_stopped",
	    .type = OPTION_BOOL,
	    .def = "true",
	    .help = "learn from stopped trials, too: worse than completed "
		    "ones" },
	{ .name = "with_margin",
	    .type = OPTION_BOOL,
	    .def = "true",
	    .help = "keep every value of ints, steps and ordered choices "
		    "likely" },
	{ .name = "use_separable_cma",
	    .type = OPTION_BOOL,
	    .help = "ignore correlations, which is faster: true with more "
		    "than 100 parameters" },
	{ .name = "restart_strategy",
	    .type = OPTION_TEXT,
	    .choices = restarts,
	    .def = "ipop",
	    .help = "after convergence: restart with more trials in a "
		    "generation, or with more and fewer alternately" },
	{ .name = "inc_popsize",
	    .type = OPTION_REAL,
	    .min = 1,
	    .max = 100,
	    .def = "2",
	    .help = "factor by which a generation grows at a restart" },
	{ .name = "independent_sampler",
	    .type = OPTION_TEXT,
	    .choices = others,
	    .def = "tpe",
	    .help = "strategy for choices and conditional parameters" },
	{ .type = OPTION_END },
};

/* ---- the state after the history ---------------------------------------- */

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

/* The random numbers of trial's draw. */
static void
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
place(const struct past *p, int64_t trial, size_t d)
{
	const double *point = history_point(p->ask->history, trial);

	return tpe_axis_from_cube(&p->axes->axes[d], point[p->axes->which[d]]);
}

/*
 * How n of the best trials are taken.  Of other studies, as published: all the
 * same, SPREAD wide because their optimum may be elsewhere, with covariances.
 * Of this study (bench/RESULTS.md): weights as of a generation, a width that
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
			    t->weights[k] * place(p, t->trials[k].trial, i);
	for (i = 0; i < dims; i++)
		for (j = 0; j < dims; j++) {
			cov = &p->cov[i * dims + j];
			*cov = i == j ? spread * spread : 0;
			for (k = 0; k < t->n && (i == j || t->elsewhere); k++) {
				x = place(p, t->trials[k].trial, i);
				y = place(p, t->trials[k].trial, j);
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
		x[d] = place(p, trial, d);
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
tell(const struct past *p, struct cmaes_distribution *c,
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
		if (tell(p, c, p->told + at) != 0)
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

/* ---- the strategy ------------------------------------------------------- */

/* The settings of x0, encoded; NaN where missing. */
static int
read_start(double *u, const struct option_value *values,
    const struct space *space, struct err *e)
{
	const struct option_value *x0 = plugin_option_get(values, "x0");
	struct value *settings;
	int rc = 0;
	size_t i;

	for (i = 0; i < space->n; i++)
		u[i] = NAN;
	if (x0->json == NULL)
		return 0;
	settings = xcalloc(space->n + 1, sizeof *settings);
	rc = space_read_values(space, x0->json, settings, e);
	if (rc == 0)
		space_encode(space, settings, u);
	free(settings);
	return rc;
}

static int
cmaes_check(
    const struct option_value *values, const struct space *space, struct err *e)
{
	double *u = xcalloc(space->n + 1, sizeof *u);
	int rc = read_start(u, values, space, e);

	free(u);
	return rc != 0 ? rc : startup_check(values, space, e);
}

/* Whether it is an unconditional numeric parameter. */
static bool
is_moved(const struct param *p, struct axis *axis)
{
	return p->when == NULL && tpe_axis_init(axis, p) &&
	       axis->kind != TPE_AXIS_CHOICE;
}

static void
axes_find(struct cmaes_axes *a, const struct space *space)
{
	size_t i;

	*a = (struct cmaes_axes){ 0 };
	a->axes = xcalloc(space->n + 1, sizeof *a->axes);
	a->which = xcalloc(space->n + 1, sizeof *a->which);
	for (i = 0; i < space->n; i++)
		if (is_moved(&space->params[i], &a->axes[a->dims]))
			a->which[a->dims++] = i;
}

/* Everything, as another strategy would have it. */
static int
suggest_others(struct suggestion *out, const struct strategy_ask *ask,
    const struct option_value *values, struct err *e)
{
	const char *name = plugin_option_text(values, "independent_sampler");
	const struct strategy *other =
	    strcmp(name, "tpe") == 0 ? &strategy_tpe : &strategy_random;
	struct strategy_ask apart = *ask;
	struct option_value *theirs;
	size_t i;
	int rc;

	/* Its random numbers must differ from those of the draw. */
	apart.seed = ~ask->seed;
	if (plugin_options_read(&theirs, other->options, NULL, NULL, e) != 0)
		return -1;
	for (i = 0; i < plugin_options_count(other->options); i++)
		if (strcmp(other->options[i].name, "multivariate") == 0)
			theirs[i].is_set = true; /* to false */
	rc = other->suggest(out, &apart, theirs, e);
	plugin_options_free(theirs);
	return rc;
}

static enum cmaes_restart
restart_kind(const char *name)
{
	if (strcmp(name, "none") == 0)
		return CMAES_NO_RESTART;
	return strcmp(name, "ipop") == 0 ? CMAES_IPOP : CMAES_BIPOP;
}

/*
 * Above 100 dimensions a full covariance has more to learn than studies have
 * trials, and splitting it takes seconds in all.
 */
static bool
is_diagonal(const struct option_value *values, size_t dims)
{
	return plugin_option_get(values, "use_separable_cma")->is_set
		   ? plugin_option_is(values, "use_separable_cma")
		   : dims > FULL_MOST;
}

static struct cmaes_rule
rule_of(const struct option_value *values, size_t dims)
{
	return (struct cmaes_rule){
		.popsize = (size_t)plugin_option_number(values, "popsize"),
		.sigma = plugin_option_number(values, "sigma0"),
		.n_startup =
		    (size_t)plugin_option_number(values, "n_startup_trials"),
		.diagonal = is_diagonal(values, dims),
		.margin = plugin_option_is(values, "with_margin"),
		.stopped = plugin_option_is(values, "consider_stopped"),
		.restart = restart_kind(
		    plugin_option_text(values, "restart_strategy")),
		.grow = plugin_option_number(values, "inc_popsize"),
	};
}

/* Where x0 is missing, use the middle. */
static void
place_start(
    double *u, struct cmaes_rule *rule, const struct cmaes_axes *a, size_t n)
{
	double *mean = u + n;
	size_t d;

	for (d = 0; d < a->dims; d++) {
		mean[d] = 0.5;
		if (isnan(u[a->which[d]]))
			continue;
		mean[d] = tpe_axis_from_cube(&a->axes[d], u[a->which[d]]);
		rule->mean = mean;
	}
}

static int
suggest_moved(struct suggestion *out, const struct strategy_ask *ask,
    const struct option_value *values, const struct cmaes_axes *a,
    struct err *e)
{
	struct cmaes_rule rule = rule_of(values, a->dims);
	double *u = xcalloc(2 * ask->space->n + 2 * a->dims, sizeof *u);
	double *x = u + 2 * ask->space->n;
	struct cmaes_distribution cma;
	struct rng rng;
	int rc = read_start(u, values, ask->space, e);
	size_t d;

	place_start(u, &rule, a, ask->space->n);
	if (rc == 0 && cmaes_replay_history(&cma, ask, &rule, a) != 0)
		rc = err_set(e, ERR_USAGE,
		    "cmaes: the covariance of %zu parameters cannot be split",
		    a->dims);
	else if (rc == 0) {
		cmaes_rng(&rng, ask->seed, ask->trial, ask->redraw);
		if (cmaes_distribution_draw(&cma, &rng, x, x + a->dims) != 0)
			rc = err_set(e, ERR_USAGE,
			    "cmaes: the covariance cannot be split");
		cmaes_distribution_free(&cma);
	}
	for (d = 0; d < a->dims && rc == 0; d++)
		out->x[a->which[d]] =
		    tpe_axis_to_cube(&a->axes[d], x[a->dims + d]);
	free(u);
	return rc;
}

static int
cmaes_suggest(struct suggestion *out, const struct strategy_ask *ask,
    const struct option_value *values, struct err *e)
{
	struct cmaes_axes a;
	int rc = 0;

	if (startup_wanted(values, ask->history))
		return startup_suggest(out, ask, values, e);
	axes_find(&a, ask->space);
	if (a.dims < ask->space->n)
		rc = suggest_others(out, ask, values, e);
	if (rc == 0 && a.dims > 0)
		rc = suggest_moved(out, ask, values, &a, e);
	if (rc == 0 && ask->kernels != NULL)
		out->made_by = ask->kernels->name;
	free(a.axes);
	free(a.which);
	return rc;
}

const struct strategy strategy_cmaes = {
	.name = "cmaes",
	.about = "a normal distribution that moves to where trials are good",
	.source = "Hansen 2016; Hamano et al. 2022; as Optuna 5",
	.options = options,
	.wants_points = true,
	.wants_curves = true,
	.wants_last = true,
	.slow = true,
	.constraints = true,
	.check = cmaes_check,
	.suggest = cmaes_suggest,
};
