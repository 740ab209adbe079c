/*
 * Detects convergence: a Gaussian process is fitted to the results, and the
 * study has converged when an upper bound on the possible gain is no larger
 * than the noise.
 *
 * Makarova, Shen, Perrone, Klein, Faddoul, Krause, Seeger and Archambeau,
 * "Automatic termination for hyperparameter optimization", AutoML 2022: min
 * over tried x of (m(x) + b s(x)) - min over all x of (m(x) - b s(x)) with mean
 * m, deviation s and b^2 = 2/5 ln(d n^2 pi^2 / (6 delta)), delta 0.1.
 *
 * It has the interface of a strategy: suggest returns 1 for convergence, and
 * the error's text has the numbers.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/base/rng.h"
#include "src/model/history/history.h"
#include "src/model/plugin-options.h"
#include "src/model/space.h"
#include "strategies/gp/gp.h"
#include "strategies/startup.h"
#include "strategies/strategy.h"

enum {
	ROWS_MOST = 500, /* maximum number of trials used */
	CANDIDATES = 16384,
	KEPT = 8, /* of them, that are improved */
	RESTARTS = 4
};

static const double noise_floor = 1e-6; /* the values have variance 1 */

static const struct option options[] = {
	{ .name = "min_trials",
	    .type = OPTION_INT,
	    .min = 5,
	    .max = 1e9,
	    .def = "20",
	    .help = "finished trials before the first check" },
	{ .name = "tolerance",
	    .type = OPTION_REAL,
	    .max = 1,
	    .def = "0.01",
	    .help = "greatest gain that does not count, as a share of the "
		    "difference between best and median" },
	{ .name = "error",
	    .type = OPTION_REAL,
	    .max = 1e300,
	    .def = "0",
	    .help = "the same in units of the objective" },
	{ .type = OPTION_END },
};

/* One question. */
struct look {
	struct gp_axes space;
	struct gp_rows rows;
	struct gp_targets values;
	struct gp_acquisition_goal goal;
	struct gp_model model;
	double *weights; /* d */
	double *low, *high; /* d */
	double b; /* of the bounds, in deviations */
	double noise; /* deviation of a result, of the values' unit */
};

/* By how much the best of n values is better than their middle. */
static double
lead(const double *y, size_t n)
{
	double best = INFINITY;
	size_t i;

	for (i = 0; i < n; i++)
		best = fmin(best, y[i]);
	return gp_warp_middle(y, n) - best;
}

/*
 * The process of the losses, Matern 5/2 whatever gp uses: the rule was measured
 * with it.  -1: none can be fitted.
 */
static int
look_fit(struct look *l, const struct strategy_ask *ask)
{
	static const struct gp_hyperparameters_rule rule = {
		.restarts = RESTARTS, .fit_trials = ROWS_MOST, .noise_log = 0.1
	};
	const struct kernels *k = ask->kernels;
	size_t d = l->rows.d, i;
	double *theta = xcalloc(d + 3, sizeof *theta);
	struct gp_data data = { .n = l->rows.n,
		.d = d,
		.x = l->rows.x,
		.category = l->space.category,
		.y = l->values.y,
		.extra = l->values.extra,
		.noise_floor = noise_floor };

	gp_hyperparameters_fit(theta, k, &data, &rule);
	l->model.gp = k->gp_fit(k->dev, &data, theta);
	for (i = 0; i < d; i++)
		l->weights[i] = exp(theta[i] / 2);
	l->noise = sqrt(noise_floor + exp(theta[d + 1]));
	free(theta);
	l->goal = (struct gp_acquisition_goal){ .kernels = k,
		.space = &l->space,
		.models = &l->model,
		.n_models = 1,
		.weights = l->weights,
		.low = l->low,
		.high = l->high,
		.lower = l->b };
	return l->model.gp != NULL ? 0 : -1;
}

/* The least of m(x) + b s(x) over what was tried; its row in best. */
static double
upper_least(const struct look *l, size_t *best)
{
	const struct kernels *k = l->goal.kernels;
	size_t n = l->rows.n, i;
	double *mean = xcalloc(2 * n, sizeof *mean), *variance = mean + n;
	double upper, least = INFINITY;

	*best = 0;
	k->gp_predict(k->dev, l->model.gp, l->rows.x, n, mean, variance);
	for (i = 0; i < n; i++) {
		if (l->rows.kinds[i] == GP_BAD)
			continue;
		upper = mean[i] + l->b * sqrt(fmax(variance[i], 0));
		if (upper < least) {
			least = upper;
			*best = i;
		}
	}
	free(mean);
	return least;
}

/* The least of m(x) - b s(x) over the whole space. */
static double
lower_least(const struct look *l, size_t best, struct rng *rng)
{
	size_t d = l->rows.d, n, i;
	double *rows = xcalloc((KEPT + 1) * d, sizeof *rows);
	double score[KEPT + 1], most = -INFINITY;
	struct gp_candidates_rule rule = { .candidates = CANDIDATES,
		.whole = CANDIDATES,
		.good = l->rows.x + best * d,
		.n_good = 1 };

	n = gp_candidates_best(rows, score, KEPT, &l->goal, &rule, rng);
	memcpy(rows + n * d, l->rows.x + best * d, d * sizeof *rows);
	gp_local_search(&l->goal, rows, n + 1, score);
	for (i = 0; i <= n; i++)
		most = fmax(most, score[i]);
	free(rows);
	return -most;
}

/* What can be gained at most, and what is not worth while: of the values' unit. */
static int
look_judge(struct look *l, const struct strategy_ask *ask,
    const struct option_value *values, double *gain, double *enough)
{
	double n = (double)l->rows.n, d = (double)l->rows.d;
	struct rng rng;
	size_t best;

	l->b = sqrt(0.4 * log(d * n * n * M_PI * M_PI / (6 * 0.1)));
	if (look_fit(l, ask) != 0)
		return -1;
	strategy_rng(&rng, ask);
	*gain = upper_least(l, &best);
	*gain -= lower_least(l, best, &rng);
	*enough = plugin_option_number(values, "tolerance") *
		  lead(l->values.y, l->rows.n);
	*enough = fmax(*enough,
	    plugin_option_number(values, "error") / fabs(l->values.scale));
	*enough = fmax(*enough, l->noise);
	ask->kernels->gp_free(ask->kernels->dev, l->model.gp);
	return 0;
}

static int
converged(struct look *l, const struct strategy_ask *ask,
    const struct option_value *values, struct err *e)
{
	double gain, enough;

	if (look_judge(l, ask, values, &gain, &enough) != 0 ||
	    !(gain <= enough))
		return 0;
	(void)err_set(e, ERR_USAGE,
	    "according to the model no setting improves on the best by more "
	    "than %.3g; a difference of %.3g is within the noise or irrelevant",
	    gain * l->values.scale, enough * l->values.scale);
	return 1;
}

static int
gp_convergence_suggest(struct suggestion *out, const struct strategy_ask *ask,
    const struct option_value *values, struct err *e)
{
	struct look l = { 0 };
	size_t k;
	int rc = 0;

	if (ask->kernels == NULL || ask->kernels->gp_fit == NULL)
		return err_set(e, ERR_USAGE,
		    "convergence: this program was built without LAPACK");
	out->made_by = ask->kernels->name;
	if ((double)startup_finished(ask->history) <
	    plugin_option_number(values, "min_trials"))
		return 0;
	gp_axes_init(&l.space, ask->space);
	gp_training_rows_init(&l.rows, &l.space, ask->history, ROWS_MOST);
	l.weights = xcalloc(3 * l.rows.d + 1, sizeof *l.weights);
	l.low = l.weights + l.rows.d;
	l.high = l.low + l.rows.d;
	for (k = 0; k < l.rows.d; k++)
		l.high[k] = 1;
	/* The gain is in the units of the objective: linear for good values. */
	gp_targets_from_losses(&l.values, &l.rows, ask->history, GP_WARP_RANKS);
	if (l.rows.d > 0 && l.rows.n > 0)
		rc = converged(&l, ask, values, e);
	gp_targets_free(&l.values);
	free(l.weights);
	gp_training_rows_free(&l.rows);
	gp_axes_free(&l.space);
	return rc;
}

const struct strategy strategy_convergence = {
	.name = "convergence",
	.about = "whether the model expects further improvement",
	.source = "Makarova et al. 2022",
	.options = options,
	.wants_points = true,
	.wants_curves = true,
	.slow = true,
	.suggest = gp_convergence_suggest,
};
