/*
 * TPE: two densities are estimated, of the parameters of good trials and of
 * those of all others; of a few points drawn from the first the one is tried
 * where the ratio of the two is largest.
 *
 * Bergstra, Bardenet, Bengio and Kegl, "Algorithms for hyper-parameter
 * optimization", NIPS 2011; Watanabe, "Tree-structured Parzen estimator",
 * arXiv:2304.11127 (2023).  Options, defaults and densities are those of
 * Optuna 5.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/base/rng.h"
#include "src/model/history.h"
#include "src/model/options.h"
#include "src/model/space.h"
#include "strategies/strategy.h"
#include "strategies/tpe.h"

extern const struct strategy strategy_random;
extern const struct strategy strategy_sobol;

static const char *const startups[] = { "random", "sobol", NULL };
static const char *const gammas[] = { "default", "hyperopt", NULL };
static const char *const weights[] = { "default", "uniform", NULL };

static const struct option options[] = {
	{ .name = "n_startup_trials",
	    .type = OPTION_INT,
	    .max = 1e9,
	    .def = "10",
	    .help = "finished trials before it begins to learn" },
	{ .name = "startup",
	    .type = OPTION_TEXT,
	    .choices = startups,
	    .def = "random",
	    .help = "where the first points come from" },
	{ .name = "n_ei_candidates",
	    .type = OPTION_INT,
	    .min = 1,
	    .max = 1e6,
	    .def = "24",
	    .help = "points drawn, of which the best is tried" },
	{ .name = "multivariate",
	    .type = OPTION_BOOL,
	    .def = "true",
	    .help = "look at the parameters together, not one by one" },
	{ .name = "group",
	    .type = OPTION_BOOL,
	    .def = "false",
	    .help = "look at conditional parameters in groups, too" },
	{ .name = "constant_liar",
	    .type = OPTION_BOOL,
	    .def = "true",
	    .help = "count trials that still run among the bad ones" },
	{ .name = "gamma",
	    .type = OPTION_TEXT,
	    .choices = gammas,
	    .def = "default",
	    .help = "how many trials are good: a tenth, or a quarter of the "
		    "root (hyperopt); 25 at most" },
	{ .name = "weights",
	    .type = OPTION_TEXT,
	    .choices = weights,
	    .def = "default",
	    .help = "whether older trials than the newest 25 count less, or "
		    "all the same (uniform)" },
	{ .name = "prior_weight",
	    .type = OPTION_REAL,
	    .max = 1e6,
	    .def = "1",
	    .help = "weight of the prior; a trial has 1" },
	{ .name = "consider_magic_clip",
	    .type = OPTION_BOOL,
	    .def = "true",
	    .help = "keep bandwidths above a share of the range" },
	{ .name = "consider_endpoints",
	    .type = OPTION_BOOL,
	    .def = "false",
	    .help = "let the bounds widen the outermost bandwidths" },
	{ .type = OPTION_END },
};

/* One question, once the history is split. */
struct tpe {
	const struct strategy_ask *ask;
	struct parzen_rule rule;
	struct tpe_split split;
	size_t n_candidates;
	struct rng rng;
	struct axis *axes; /* of the group in hand */
	size_t *which; /* its parameters */
	size_t dims;
};

static bool
option_is(const struct option_value *values, const char *name)
{
	return option_get(options, values, name)->number != 0;
}

static size_t
option_size(const struct option_value *values, const char *name)
{
	return (size_t)option_get(options, values, name)->number;
}

static bool
option_says(
    const struct option_value *values, const char *name, const char *text)
{
	return strcmp(option_get(options, values, name)->text, text) == 0;
}

static enum tpe_joint
option_joint(const struct option_value *values)
{
	if (!option_is(values, "multivariate"))
		return TPE_ALONE;
	return option_is(values, "group") ? TPE_GROUPED : TPE_JOINT;
}

static int
tpe_check(
    const struct option_value *values, const struct space *space, struct err *e)
{
	if (option_is(values, "group") && !option_is(values, "multivariate"))
		return err_set(
		    e, ERR_USAGE, "tpe: group goes with multivariate only");
	if (option_says(values, "startup", "sobol"))
		return strategy_sobol.check(NULL, space, e);
	return 0;
}

static int
tpe_start(double *x, const struct strategy_ask *ask,
    const struct option_value *values, struct err *e)
{
	const struct strategy *first = &strategy_random;
	struct option_value *defaults;
	int rc;

	if (option_says(values, "startup", "sobol"))
		first = &strategy_sobol;
	if (options_read(&defaults, first->options, NULL, NULL, e) != 0)
		return -1;
	rc = first->suggest(x, ask, defaults, e);
	options_free(defaults, first->options);
	return rc;
}

static void
group_fit(
    struct parzen *p, const struct tpe *t, const int64_t *trials, size_t n)
{
	size_t kept;
	double *z = tpe_observe(
	    t->ask->history, trials, n, t->axes, t->which, t->dims, &kept);

	parzen_fit(p, &t->rule, t->axes, t->dims, z, kept);
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

/* Choose the parameters of the group in hand. */
static void
group_suggest(struct tpe *t, double *x)
{
	size_t n = t->n_candidates, best, d;
	double *points = xcalloc(n * t->dims, sizeof *points);
	double *below = xcalloc(2 * n, sizeof *below), *above = below + n;
	struct parzen good, bad;

	group_fit(&good, t, t->split.below, t->split.n_below);
	group_fit(&bad, t, t->split.above, t->split.n_above);
	parzen_draw(&good, &t->rng, points, n);
	parzen_log_density(&good, points, n, below);
	parzen_log_density(&bad, points, n, above);
	best = best_of(below, above, n);
	for (d = 0; d < t->dims; d++)
		x[t->which[d]] =
		    axis_cube(&t->axes[d], points[best * t->dims + d]);
	parzen_free(&good);
	parzen_free(&bad);
	free(points);
	free(below);
}

/* Take the group of parameter i in hand, which is its first one. */
static void
group_take(struct tpe *t, const int *group, size_t i)
{
	const struct space *space = t->ask->space;
	size_t k;

	t->dims = 0;
	for (k = i; k < space->n; k++) {
		if (group[k] != group[i])
			continue;
		t->which[t->dims] = k;
		t->dims += axis_init(&t->axes[t->dims], &space->params[k]);
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

static void
tpe_learn(struct tpe *t, double *x, enum tpe_joint joint)
{
	const struct space *space = t->ask->space;
	int *group = xcalloc(space->n, sizeof *group);
	size_t i;

	t->axes = xcalloc(space->n, sizeof *t->axes);
	t->which = xcalloc(space->n, sizeof *t->which);
	tpe_groups(group, space, t->ask->history, joint);
	for (i = 0; i < space->n; i++)
		x[i] = 0.5;
	for (i = 0; i < space->n; i++) {
		if (!is_first(group, i))
			continue;
		group_take(t, group, i);
		if (t->dims > 0)
			group_suggest(t, x);
	}
	free(t->axes);
	free(t->which);
	free(group);
}

static int
tpe_suggest(double *x, const struct strategy_ask *ask,
    const struct option_value *values, struct err *e)
{
	const struct history *h = ask->history;
	size_t n = h != NULL ? tpe_finished(h) : 0;
	enum tpe_gamma gamma = option_says(values, "gamma", "default")
				   ? TPE_GAMMA_TENTH
				   : TPE_GAMMA_ROOT;
	struct tpe t = { .ask = ask };

	if (h == NULL || n < option_size(values, "n_startup_trials"))
		return tpe_start(x, ask, values, e);
	t.n_candidates = option_size(values, "n_ei_candidates");
	t.rule = (struct parzen_rule){
		.prior_weight =
		    option_get(options, values, "prior_weight")->number,
		.magic_clip = option_is(values, "consider_magic_clip"),
		.endpoints = option_is(values, "consider_endpoints"),
		.weights = option_says(values, "weights", "default")
			       ? PARZEN_RECENT
			       : PARZEN_UNIFORM,
	};
	rng_init(&t.rng, ask->seed, (uint64_t)ask->trial);
	tpe_split(&t.split, h, tpe_gamma(gamma, n),
	    option_is(values, "constant_liar"));
	tpe_learn(&t, x, option_joint(values));
	tpe_split_free(&t.split);
	return 0;
}

const struct strategy strategy_tpe = {
	.name = "tpe",
	.about = "where good trials are dense and others are not",
	.source = "Bergstra et al. 2011; Watanabe 2023; as Optuna 5",
	.options = options,
	.wants_points = true,
	.check = tpe_check,
	.suggest = tpe_suggest,
};
