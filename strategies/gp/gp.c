/*
 * Bayesian optimisation: a Gaussian process is fitted to the results, and the
 * point with the largest expected improvement is suggested, or, of the first
 * trials of a continuous space, that with the least lower confidence bound
 * (Srinivas, Krause, Kakade and Seeger, "Gaussian process optimization in the
 * bandit setting", ICML 2010, with a constant number of deviations).
 *
 * Jones, Schonlau and Welch, "Efficient global optimization of expensive
 * black-box functions", J.  Global Optimization 13 (1998); Snoek, Larochelle
 * and Adams, "Practical Bayesian optimization of machine learning algorithms",
 * NIPS 2012; Ament et al. 2023 (gp-acquisition.c).  The prior of the
 * hyperparameters is that of Optuna's GPSampler, but for the noise, for a local
 * variation beside it (gp-hyperparameters.c), and in that parameters matter alike
 * until trials show otherwise.
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
	KEPT = 64, /* of a sweep: enough to step over what was tried */
	LESS = 4, /* of the candidates with constraints */
	MORE_BRIEF = 2, /* of several objectives as one */
	WHOLE =
	    4, /* times the candidates: a space that is searched completely */
	TURN_WITHOUT_NOISE = 2, /* of four trials */
	FULL_ROWS = 200 /* with more rows there are fewer candidates */
};

static const char *const kernels_known[] = { "auto", "matern52", "matern32",
	NULL };

static const struct option options[] = {
	{ .name = "n_startup_trials",
	    .type = OPTION_INT,
	    .min = 1,
	    .max = 1e9,
	    .help = "trials before the model is used; default: 6 with numbers "
		    "alone, 5 where most parameters are choices or have few "
		    "values, otherwise 10" },
	{ .name = "startup",
	    .type = OPTION_TEXT,
	    .choices = startup_choices,
	    .def = "middle",
	    .help = "method for the first points" },
	{ .name = "deterministic_objective",
	    .type = OPTION_BOOL,
	    .def = "false",
	    .help = "the same setting always has the same result" },
	{ .name = "cost_aware",
	    .type = OPTION_BOOL,
	    .help = "the expected improvement per second of a trial counts; "
		    "default: where the time of the study is limited" },
	{ .name = "warp",
	    .type = OPTION_BOOL,
	    .def = "true",
	    .help = "transform the results to be like normal ones" },
	{ .name = "candidates",
	    .type = OPTION_INT,
	    .min = 64,
	    .max = 1e8,
	    .def = "2048",
	    .help = "points whose expected improvement is compared" },
	{ .name = "local_searches",
	    .type = OPTION_INT,
	    .min = 1,
	    .max = KEPT,
	    .def = "8",
	    .help = "starts of local searches, the best of the candidates" },
	{ .name = "local_after",
	    .type = OPTION_INT,
	    .min = 0,
	    .max = 1e9,
	    .def = "5",
	    .help = "finished trials without improvement, after which every "
		    "other suggestion is for the surroundings of the best" },
	{ .name = "shorten",
	    .type = OPTION_REAL,
	    .min = 0,
	    .max = 1e3,
	    .def = "1",
	    .help =
		"how fast length scales are shortened without improvement" },
	{ .name = "kernel",
	    .type = OPTION_TEXT,
	    .choices = kernels_known,
	    .def = "auto",
	    .help = "covariance of the process of an objective; auto: matern32 "
		    "with one objective where no parameter has choices or "
		    "steps, otherwise matern52" },
	{ .name = "exact_after",
	    .type = OPTION_INT,
	    .min = 0,
	    .max = 1e9,
	    .def = "10",
	    .help = "finished trials without progress, after which results "
		    "count as exact" },
	{ .name = "greedy",
	    .type = OPTION_REAL,
	    .min = 0,
	    .max = 1e9,
	    .def = "10",
	    .help = "finished trials per parameter, of which none has choices "
		    "or steps, after which the expected improvement counts; "
		    "before it the lower confidence bound" },
	{ .name = "restarts",
	    .type = OPTION_INT,
	    .min = 1,
	    .max = 1000,
	    .def = "4",
	    .help = "starts of the fit of the hyperparameters" },
	{ .name = "fit_trials",
	    .type = OPTION_INT,
	    .min = 10,
	    .max = 1e5,
	    .def = "200",
	    .help = "greatest number of trials to which the hyperparameters "
		    "are fitted" },
	{ .name = "max_trials",
	    .type = OPTION_INT,
	    .min = 10,
	    .max = 1e5,
	    .def = "4000",
	    .help = "greatest number of trials in the model: the best, then "
		    "the newest" },
	{ .type = OPTION_END },
};

static int
gp_check(
    const struct option_value *values, const struct space *space, struct err *e)
{
	return startup_check(values, space, e);
}

/*
 * Whether results count as exact.  Without progress what was taken for noise may
 * be structure, which is then searched.
 */
static bool
is_exact(const struct gp_question *q)
{
	size_t after = (size_t)plugin_option_number(q->options, "exact_after");
	const struct history *h = q->ask->history;

	if (plugin_option_is(q->options, "deterministic_objective"))
		return true;
	return after > 0 && history_n_objectives(h) == 1 &&
	       history_n_constraints(h) == 0 && !q->noisy &&
	       gp_stagnation_trials(h) >= after;
}

/*
 * With large noise progress is luck: there is no search around the best trial,
 * and no result counts as exact.  The transformation of the values would draw out
 * the noise of the best ones.  Every fourth suggestion is as without noise: few
 * trials of a very rough function look like noise.  In continuous spaces, where such functions were tried (bbob 16, 18, 23
 * and 24), the search without this was better.
 */
static void
question_of_noise(struct gp_question *q)
{
	if (q->ask->trial % 4 == TURN_WITHOUT_NOISE ||
	    history_n_objectives(q->ask->history) != 1 ||
	    gp_axes_continuous(&q->space) ||
	    plugin_option_is(q->options, "deterministic_objective") ||
	    q->rows.n == 0 || q->rows.d == 0)
		return;
	q->n_known = q->rows.n;
	q->known = xcalloc(q->rows.d + 3, sizeof *q->known);
	q->noisy = gp_noise_is_large(q, q->known);
	if (q->noisy)
		q->warp = GP_WARP_NONE;
}

/*
 * Whether processes of losses are of the rough form, by which the search of a
 * continuous space was a little better (strategies/README.md).
 */
static bool
is_rough(const struct gp_question *q)
{
	if (!plugin_option_says(q->options, "kernel", "auto"))
		return plugin_option_says(q->options, "kernel", "matern32");
	return gp_axes_continuous(&q->space) &&
	       history_n_objectives(q->ask->history) == 1;
}

static struct gp_hyperparameters_rule
gp_rule_of(const struct option_value *values, const struct strategy_ask *ask)
{
	return (struct gp_hyperparameters_rule){
		.restarts = (size_t)plugin_option_number(values, "restarts"),
		.fit_trials =
		    (size_t)plugin_option_number(values, "fit_trials"),
		.brief = ask->history != NULL &&
			 history_n_objectives(ask->history) > 1,
	};
}

/* Whether the setting of a point is one of a trial. */
static bool
is_tried(const struct strategy_ask *ask, const double *point)
{
	const struct history *h = ask->history;
	int64_t i, count = history_count(h);
	const double *other;
	size_t k, n = ask->space->n;

	for (i = history_first(h); i <= count; i++) {
		if (gp_training_kind(h, i) == GP_UNUSED)
			continue;
		other = history_point(h, i);
		for (k = 0; k < n; k++)
			if (point[k] != other[k] &&
			    !(isnan(point[k]) && isnan(other[k])))
				break;
		if (k == n)
			return true;
	}
	return false;
}

/*
 * Whether a row is next to a running trial.  The model may be sure enough of a
 * place that all workers would go there.
 */
static bool
is_beside_running(const struct gp_question *q, const double *row)
{
	static const double beside = 2e-3;
	size_t d = q->rows.d, i, k;
	double sum, step;

	for (i = 0; i < q->rows.n_pending; i++) {
		for (sum = 0, k = 0; k < d; k++) {
			step = row[k] - q->rows.pending[i * d + k];
			sum += step * step;
		}
		if (sum < beside * beside)
			return true;
	}
	return false;
}

/* The first of the rows, by score, that is none tried and none running. */
static bool
take_new(double *x, const struct gp_question *q, const double *rows,
    const double *score, size_t n)
{
	bool *seen = xcalloc(n, sizeof *seen), is_new = false;
	size_t turn, i, best;

	for (turn = 0; turn < n && !is_new; turn++) {
		for (best = n, i = 0; i < n; i++)
			if (!seen[i] && (best == n || score[i] > score[best]))
				best = i;
		seen[best] = true;
		gp_axes_decode(&q->space, rows + best * q->rows.d, x);
		space_snap(q->ask->space, x);
		is_new = !is_beside_running(q, rows + best * q->rows.d) &&
			 gp_where_holds(&q->space, x) && !is_tried(q->ask, x);
	}
	free(seen);
	return is_new;
}

/*
 * A row beside another.  At a tried row itself the slope of the improvement is
 * that of rounding errors.
 */
static void
row_beside(double *row, struct gp_question *q, const double *from)
{
	static const double reach = 1e-3;
	double x;
	size_t k;

	for (k = 0; k < q->rows.d; k++) {
		x = from[k] + reach * (rng_uniform(&q->rng) - 0.5);
		row[k] = fmin(fmax(x, q->low[k]), q->high[k]);
	}
	gp_axes_snap(&q->space, row, 1);
}

/*
 * How many candidates are compared.  Their time grows with the rows: with many
 * rows there are fewer, in proportion, unless they are the whole space.
 */
static size_t
candidates_of(
    const struct gp_question *q, const struct gp_acquisition_goal *goal)
{
	double m = plugin_option_number(q->options, "candidates");

	if (q->rows.n > FULL_ROWS && gp_axes_size(&q->space) > WHOLE * m)
		m *= FULL_ROWS / (double)q->rows.n;
	if (goal->n_models > 1 + goal->failures || !goal->improve)
		m /= LESS;
	else if (q->rule.brief && goal->cost == NULL)
		m *= MORE_BRIEF;
	return m > 1 ? (size_t)m : 1;
}

/*
 * How many local searches are made.  Their time grows with the square of the
 * rows.  With several objectives, whose suggestions take longest, and with
 * rough processes, whose searches have more steps, there are fewer with many
 * rows.
 */
static size_t
searches_of(const struct gp_question *q)
{
	size_t m = (size_t)plugin_option_number(q->options, "local_searches");

	if ((q->rule.brief || q->rough) && q->rows.n > FULL_ROWS)
		m = m * FULL_ROWS / q->rows.n;
	return m > 1 ? m : 1;
}

/* Whether a number is strictly within its bounds, or anywhere in its range. */
static bool
is_movable(const struct gp_question *q, const double *row, const bool *active,
    size_t k, bool within)
{
	return active[k] && q->space.axes[k].levels == 0 &&
	       (!within || (row[k] > q->low[k] && row[k] < q->high[k]));
}

/*
 * Where the model is sure, the local searches of all seeds find the same row: it
 * is moved a little, so that each seed has an answer of its own, and one that is
 * asked again has another.  Numbers at an end stay there, unless all do.
 */
static void
row_shake(double *row, struct gp_question *q)
{
	static const double reach = 1e-5;
	size_t d = q->rows.d, k;
	bool *active = xcalloc(d, sizeof *active), within = false;

	gp_axes_active(&q->space, row, active);
	for (k = 0; k < d; k++)
		within = within || is_movable(q, row, active, k, true);
	for (k = 0; k < d; k++) {
		if (!is_movable(q, row, active, k, within))
			continue;
		row[k] += reach * (rng_uniform(&q->rng) - 0.5);
		if (row[k] < q->low[k])
			row[k] = fmin(2 * q->low[k] - row[k], q->high[k]);
		if (row[k] > q->high[k])
			row[k] = fmax(2 * q->high[k] - row[k], q->low[k]);
	}
	free(active);
}

/* The rows of a sweep, and after them those found by local search. */
static void
search(double *x, struct gp_question *q, const struct gp_acquisition_goal *goal)
{
	size_t d = q->rows.d, wanted = searches_of(q), n, m, i;
	double *rows = xcalloc((2 * KEPT + 1) * d, sizeof *rows), *starts;
	double *before;
	double score[2 * KEPT + 1];
	struct gp_candidates_rule rule = { .good = q->good,
		.n_good = q->n_good };

	rule.candidates = candidates_of(q, goal);
	rule.whole = rule.candidates * (goal->n_models > 1 ? 1 : WHOLE);
	n = gp_candidates_best(rows, score, KEPT, goal, &rule, &q->rng);
	if (n == 0 && q->space.memory != NULL) {
		/* Nothing is likely to fit: strategy_suggest takes the likeliest. */
		q->space.memory = NULL;
		n = gp_candidates_best(rows, score, KEPT, goal, &rule, &q->rng);
	}
	m = wanted < n ? wanted : n;
	starts = rows + n * d;
	gp_local_search_starts(starts, m, goal, rows, n);
	row_beside(starts + m * d, q, q->centre != NULL ? q->centre : q->good);
	before = gp_where_copy(&q->space, starts, m + 1);
	gp_local_search(goal, starts, m + 1, score + n);
	for (i = 0; i <= m; i++)
		row_shake(starts + i * d, q);
	gp_where_approach(goal, starts, before, m + 1, score + n);
	free(before);
	if (!take_new(x, q, rows, score, n + m + 1))
		for (m = 0; m < q->ask->space->n; m++)
			x[m] = rng_uniform(&q->rng);
	free(rows);
}

/*
 * The number of deviations of the lower confidence bound; 0: the expected
 * improvement counts.  While trials are too few to cover a continuous space, the
 * improvement leads away from the best of them too early (strategies/README.md).
 */
static double
deviations_of(
    const struct gp_question *q, const struct gp_acquisition_goal *goal)
{
	static const double deviations = 1;
	double few = plugin_option_number(q->options, "greedy");

	if (goal->n_models != 1 + goal->failures || !goal->improve ||
	    goal->cost != NULL || q->rule.brief ||
	    !gp_axes_continuous(&q->space) ||
	    (double)startup_finished(q->ask->history) >=
		few * (double)q->space.d)
		return 0;
	return deviations;
}

static int
gp_learn(double *x, struct gp_question *q, struct err *e)
{
	struct gp_acquisition_goal goal;
	int rc = gp_models_fit(&goal, q);

	if (rc == 0) {
		goal.lower = deviations_of(q, &goal);
		search(x, q, &goal);
	} else
		err_set(e, ERR_USAGE,
		    "gp: no Gaussian process can be fitted to the results");
	gp_models_free(&goal);
	return rc;
}

/*
 * The bounds of the search, and which rows the model is of: the whole space,
 * with shorter scales when nothing improves, or the surroundings of a good
 * trial.  A space that is looked through completely has no surroundings.
 */
static void
bounds_choose(struct gp_question *q)
{
	size_t after = (size_t)plugin_option_number(q->options, "local_after"),
	       k;

	for (k = 0; k < q->space.d; k++) {
		q->low[k] = 0;
		q->high[k] = 1;
	}
	if (gp_axes_size(&q->space) >
		WHOLE * plugin_option_number(q->options, "candidates") &&
	    !q->noisy && gp_region_wanted(q->ask, after)) {
		if (gp_region_choose(&q->rows, &q->space,
			gp_region_centre(&q->rows, &q->space, q->ask), q->low,
			q->high))
			q->centre = q->rows.x; /* the first of the rows */
	} else if (!q->noisy)
		q->rule.shorten = log(gp_stagnation_factor(q->ask, &q->space,
		    after, plugin_option_number(q->options, "shorten")));
}

static bool
gp_is_starting(
    const struct strategy_ask *ask, const struct option_value *values)
{
	const struct option_value *o =
	    plugin_option_get(values, "n_startup_trials");

	return ask->history == NULL ||
	       startup_lasts(ask->history,
		   o->is_set ? o->number
			     : startup_trials(ask->space, ask->history));
}

static int
gp_suggest(struct suggestion *out, const struct strategy_ask *ask,
    const struct option_value *values, struct err *e)
{
	struct gp_question q = { .ask = ask,
		.options = values,
		.rule = gp_rule_of(values, ask),
		.warp = plugin_option_is(values, "warp") ? GP_WARP_POWER
							 : GP_WARP_NONE };
	size_t max = (size_t)plugin_option_number(values, "max_trials"), k;
	int rc = 0;

	if (gp_is_starting(ask, values))
		return startup_suggest(out, ask, values, e);
	if (ask->kernels == NULL || ask->kernels->gp_fit == NULL)
		return err_set(
		    e, ERR_USAGE, "gp: this program was built without LAPACK");
	out->made_by = ask->kernels->name;
	strategy_rng(&q.rng, ask);
	gp_axes_init(&q.space, ask->space);
	q.space.memory = ask->memory;
	q.rough = is_rough(&q);
	gp_training_rows_init(&q.rows, &q.space, ask->history, max);
	q.good = xcalloc(GP_GOOD * q.space.d + 1, sizeof *q.good);
	q.weights = xcalloc(3 * q.space.d + 1, sizeof *q.weights);
	q.low = q.weights + q.space.d;
	q.high = q.low + q.space.d;
	gp_failures_set_apart(&q.rows, &q.failures);
	question_of_noise(&q);
	q.rule.noiseless = is_exact(&q);
	bounds_choose(&q);
	for (k = 0; k < ask->space->n; k++)
		out->x[k] = 0.5;
	if (q.space.d > 0)
		rc = gp_learn(out->x, &q, e);
	free(q.good);
	free(q.weights);
	free(q.known);
	gp_failures_free(&q.failures);
	gp_training_rows_free(&q.rows);
	gp_axes_free(&q.space);
	return rc;
}

const struct strategy strategy_gp = {
	.name = "gp",
	.about = "where a Gaussian process expects the largest improvement",
	.source = "Jones et al. 1998; Snoek et al. 2012; Ament et al. 2023",
	.options = options,
	.wants_points = true,
	.wants_curves = true,
	.wants_seconds = true,
	.slow = true,
	.ahead = true,
	.several = true,
	.constraints = true,
	.check = gp_check,
	.suggest = gp_suggest,
};
