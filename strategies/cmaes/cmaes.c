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

/* Whether a parameter is unconditional and numeric. */
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

	/*
	 * The other strategy's random numbers must differ from those of the
	 * draw.
	 */
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
cmaes_rule_of(const struct option_value *values, size_t dims)
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
	struct cmaes_rule rule = cmaes_rule_of(values, a->dims);
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
