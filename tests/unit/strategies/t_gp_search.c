/*
 * gp recovers known answers: the hyperparameters of data drawn from a process,
 * and the minimum that a constraint allows; and what its candidates are compared
 * by.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/base/rng.h"
#include "strategies/gp/gp.h"
#include "tests/support/gp-run.h"
#include "tests/support/tap.h"

static double
matern(const double *a, const double *b, const double *theta, size_t d)
{
	double r2 = 0, t;
	size_t k;

	for (k = 0; k < d; k++)
		r2 += exp(theta[k]) * (a[k] - b[k]) * (a[k] - b[k]);
	t = sqrt(5 * r2);
	return exp(theta[d]) * (1 + t + t * t / 3) * exp(-t);
}

/* Values y drawn from the process itself, through a plain Cholesky factor. */
static void
draw(double *y, const double *x, size_t n, size_t d, const double *theta,
    struct rng *rng)
{
	double *l = xcalloc(n * n, sizeof *l), *z = xcalloc(n, sizeof *z), sum;
	size_t i, j, k;

	for (i = 0; i < n; i++) {
		z[i] = rng_normal(rng);
		y[i] = 0;
		for (j = 0; j <= i; j++) {
			sum = matern(x + i * d, x + j * d, theta, d);
			if (i == j)
				sum += exp(theta[d + 1]);
			for (k = 0; k < j; k++)
				sum -= l[i * n + k] * l[j * n + k];
			l[i * n + j] = i == j ? sqrt(sum) : sum / l[j * n + j];
			y[i] += l[i * n + j] * z[j];
		}
	}
	free(l);
	free(z);
}

static void
check_fit(void)
{
	enum { N = 300, D = 3 };
	static const double want[] = { 3, 0.5, -1.5, 0, -5 };
	double *x = xcalloc(N * D, sizeof *x), *y = xcalloc(N, sizeof *y);
	double theta[D + 3];
	struct gp_data data = { .n = N, .d = D, .x = x, .y = y };
	struct gp_hyperparameters_rule rule = { .restarts = 4,
		.fit_trials = 1000 };
	struct rng rng;
	size_t i;

	rng_init(&rng, 11, 0);
	for (i = 0; i < N * D; i++)
		x[i] = rng_uniform(&rng);
	draw(y, x, N, D, want, &rng);
	data.noise_floor = 1e-6;
	gp_hyperparameters_fit(theta, kernels_cpu(), &data, &rule);
	for (i = 0; i < D; i++)
		ok(fabs(theta[i] - want[i]) < 1, "scale %zu: %g for %g", i,
		    theta[i], want[i]);
	ok(fabs(theta[D + 1] - want[D + 1]) < 0.5, "noise: %g for %g",
	    theta[D + 1], want[D + 1]);
	rule.noiseless = true;
	gp_hyperparameters_fit(theta, kernels_cpu(), &data, &rule);
	ok(theta[D + 1] < -30, "none, when there are declared to be none");
	free(x);
	free(y);
}

/* Rows of the likelihoods asked for, most of them, and how many of so many. */
static size_t asked_most, asked;

static void
likelihood_watched(void *dev, const struct gp_data *data, const double *theta,
    size_t r, double *value, double *gradient, int *status)
{
	asked_most = data->n > asked_most ? data->n : asked_most;
	asked += r * data->n * data->n * data->n;
	kernels_cpu()->gp_likelihood(
	    dev, data, theta, r, value, gradient, status);
}

/* A brief fit finds the same for less, and another fit goes on from there. */
static void
check_brief(void)
{
	enum { N = 300, D = 3 };
	static const double want[] = { 3, 0.5, -1.5, 0, -5 };
	double *x = xcalloc(N * D, sizeof *x), *y = xcalloc(N, sizeof *y);
	double theta[D + 3], more[D + 3], slope[D + 3], was, is;
	struct gp_data data = { .n = N, .d = D, .x = x, .y = y };
	struct gp_hyperparameters_rule rule = { .restarts = 4,
		.fit_trials = 200 };
	struct kernels watched = *kernels_cpu();
	struct rng rng;
	size_t full, i;
	int step;

	rng_init(&rng, 11, 0);
	for (i = 0; i < N * D; i++)
		x[i] = rng_uniform(&rng);
	draw(y, x, N, D, want, &rng);
	data.noise_floor = 1e-6;
	watched.gp_likelihood = likelihood_watched;
	gp_hyperparameters_fit(theta, &watched, &data, &rule);
	is_int((long long)asked_most, 200, "a fit has all fit_trials");
	full = asked;
	asked = asked_most = 0;
	rule.brief = true;
	gp_hyperparameters_fit(theta, &watched, &data, &rule);
	is_int((long long)asked_most, 160, "a brief one has 160 at most");
	ok(2 * asked < 3 * full, "and less to compute: %g",
	    (double)asked / (double)full);
	for (i = 0; i < D; i++)
		ok(fabs(theta[i] - want[i]) < 1, "scale %zu: %g for %g", i,
		    theta[i], want[i]);
	asked = asked_most = 0;
	rule.brief = false;
	rule.from = theta;
	gp_hyperparameters_fit(more, &watched, &data, &rule);
	is_int((long long)asked_most, 200, "one that goes on has all of them");
	ok(asked <= (size_t)200 * 200 * 200 * 12, "and few likelihoods");
	kernels_cpu()->gp_likelihood(NULL, &data, theta, 1, &was, slope, &step);
	kernels_cpu()->gp_likelihood(NULL, &data, more, 1, &is, slope, &step);
	ok(is > was, "it is likelier for all %d: %g, %g", N, is, was);
	rule.noiseless = true;
	gp_hyperparameters_fit(more, &watched, &data, &rule);
	ok(more[D + 1] < -30, "its own rule counts");
	free(x);
	free(y);
}

/* The fitted variance of the noise in values of a smooth function. */
static double
noise_found(double deviation, uint64_t seed)
{
	enum { N = 60, D = 2 };
	double x[N * D], y[N], theta[D + 3];
	struct gp_data data = { .n = N, .d = D, .x = x, .y = y };
	struct gp_hyperparameters_rule rule = { .restarts = 4,
		.fit_trials = 1000 };
	struct rng rng;
	size_t i;

	rng_init(&rng, seed, 0);
	for (i = 0; i < N; i++) {
		x[i * D] = rng_uniform(&rng);
		x[i * D + 1] = rng_uniform(&rng);
		y[i] = 1.4 * sin(6 * x[i * D]) + cos(3 * x[i * D + 1]) +
		       deviation * rng_normal(&rng);
	}
	data.noise_floor = 1e-8;
	gp_hyperparameters_fit(theta, kernels_cpu(), &data, &rule);
	return exp(theta[D + 1]);
}

/* Noise vanishes where there is none, and only there. */
static void
check_noise(void)
{
	double exact = 0, noisy = INFINITY, loud = 0;
	uint64_t seed;

	for (seed = 1; seed <= 5; seed++) {
		exact = fmax(exact, noise_found(0, seed));
		noisy = fmin(noisy, noise_found(0.1, seed));
		loud = fmax(loud, noise_found(0.1, seed));
	}
	ok(exact < 1e-6, "a smooth function has no noise: %g", exact);
	ok(noisy > 0.004 && loud < 0.02, "noise of variance 0.01: %g to %g",
	    noisy, loud);
}

/*
 * Noise and local variation that are fitted to a bowl with something on it at 60
 * rows, the last 15 of which are within 1e-6 of others: the something is noise,
 * another value in each row, or a function of the place.
 */
static void
something_found(bool noise, uint64_t seed, double *noisy, double *local)
{
	enum { N = 60, AGAIN = 45, D = 2 };
	double x[N * D], y[N], theta[D + 3], *p;
	struct gp_data data = { .n = N, .d = D, .x = x, .y = y };
	struct gp_hyperparameters_rule rule = {
		.restarts = 4, .fit_trials = 1000, .local = true
	};
	struct rng rng;
	size_t i;

	rng_init(&rng, seed, 0);
	for (i = 0; i < N; i++) {
		p = x + i * D;
		p[0] = i < AGAIN ? rng_uniform(&rng)
				 : p[-AGAIN * D] + 1e-6 * rng_uniform(&rng);
		p[1] = i < AGAIN ? rng_uniform(&rng) : p[1 - AGAIN * D];
		y[i] = 6 * (p[0] - 0.4) * (p[0] - 0.4) + 3 * p[1] * p[1] +
		       0.4 * (noise ? rng_normal(&rng)
				    : 1.4 * sin(900 * p[0] + 700 * p[1]));
	}
	data.noise_floor = 1e-8;
	gp_hyperparameters_fit(theta, kernels_cpu(), &data, &rule);
	*noisy = exp(theta[D + 1]);
	*local = exp(theta[D + 2]);
}

/* Rows that are almost at the same place tell noise from local variation. */
static void
check_something(void)
{
	double noise, local, least = INFINITY, most = 0, rest = 0, other = 0;
	uint64_t seed;

	for (seed = 1; seed <= 5; seed++) {
		something_found(true, seed, &noise, &local);
		least = fmin(least, noise);
		other = fmax(other, local / noise);
		something_found(false, seed, &noise, &local);
		most = fmax(most, noise);
		rest = fmax(rest, noise / local);
	}
	ok(least > 0.05 && other < 0.1, "noise: %g, of local variation %g",
	    least, other);
	ok(most < 1e-3 && rest < 0.01, "none in a function: %g, %g", most,
	    rest);
}

/*
 * A slope and a wave of many periods: from some starts all but the slope is
 * taken for noise.
 */
static void
check_starts(void)
{
	enum { N = 60, D = 2 };
	double x[N * D], y[N], theta[D + 3], most = -INFINITY;
	struct gp_data data = { .n = N, .d = D, .x = x, .y = y };
	struct gp_hyperparameters_rule rule = { .restarts = 4,
		.fit_trials = 1000 };
	struct rng rng;
	uint64_t seed;
	size_t i;

	data.noise_floor = 1e-8;
	for (seed = 1; seed <= 5; seed++) {
		rng_init(&rng, seed, 0);
		for (i = 0; i < N * D; i++)
			x[i] = rng_uniform(&rng);
		for (i = 0; i < N; i++)
			y[i] = sin(25 * x[i * D]);
		gp_hyperparameters_fit(theta, kernels_cpu(), &data, &rule);
		most = fmax(most, theta[D + 1]);
	}
	ok(most < -5, "the best of several starts is taken: noise %g", most);
}

/* x + y is least at (0, 0), but allowed only in a disk around (0.7, 0.6). */
static void
check_constraint(void)
{
	double x[2], best = INFINITY, sum, breach, far = 0.2 * M_SQRT2;
	const bool maximize = false;
	struct strategy_run r;
	int64_t trial;
	int i;

	gp_open(&r, "{" UNIT("a") "," UNIT("b") "}", FEW, 3);
	history_set_objectives(r.history, 1, &maximize, 1);
	for (i = 0; i < 40; i++) {
		trial = strategy_run_next(&r, x);
		sum = x[0] + x[1];
		breach = hypot(x[0] - 0.7, x[1] - 0.6) - 0.2;
		if (i % 7 == 6)
			breach = NAN; /* nothing was said about it */
		history_results(r.history, trial, &sum, &breach);
		history_end(r.history, trial, TRIAL_COMPLETED, sum);
		if (breach <= 0)
			best = fmin(best, sum);
	}
	ok(best < 1.3 - far + 0.01, "the best that is allowed: %g of %g", best,
	    1.3 - far);
	strategy_run_close(&r);
}

static const char both[] = "{" UNIT("a") "," UNIT(
    "b") ","
	 "\"c\": {\"type\": \"choice\", \"values\": [1, 2, 3, 4]},"
	 "\"n\": {\"type\": \"int\", \"min\": 1, \"max\": 9}}";

/* The greatest score of rows that differ from one in one coordinate. */
static double
score_beside(const struct gp_acquisition_goal *g, const double *row)
{
	static const double step = 1e-3;
	double x[4], score, best = -INFINITY;
	int i, k;

	for (k = 0; k < 4; k++)
		for (i = 0; i < (k < 2 ? 2 : k == 2 ? 4 : 9); i++) {
			memcpy(x, row, sizeof x);
			if (k < 2)
				x[k] = fmin(
				    fmax(x[k] + (i == 0 ? step : -step), 0), 1);
			else
				x[k] = gp_axes_of_level(&g->space->axes[k], i);
			gp_acquisition(g, x, 1, &score, NULL);
			best = fmax(best, score);
		}
	return best;
}

/* The best rows are starts, but one next to another, in scales, is not. */
static void
check_apart(struct gp_acquisition_goal *goal)
{
	enum { N = 6, D = 4, M = 4 };
	/* Next to is 0.1; the third is a choice. */
	const double weights[D] = { 2.7, 1.6, 0.2, 1.6 };
	const double *others = goal->weights;
	double rows[N * D] = { 0.5, 0.5, 0.375, 0.5, /* the best */
		0.53, 0.5, 0.375, 0.5, /* 0.08 from it */
		0.54, 0.5, 0.375, 0.5, /* 0.11 */
		0.5, 0.5, 0.625, 0.5, /* another choice */
		0.5, 0.55, 0.375, 0.5, /* 0.08 from the best */
		0.5, 0.5, 0.625, 0.56 }; /* 0.1 from the other choice */
	double starts[M * D];

	goal->weights = weights;
	gp_local_search_starts(starts, 3, goal, rows, N);
	ok(memcmp(starts, rows, D * sizeof *rows) == 0,
	    "the best row is a start");
	ok(memcmp(starts + D, rows + (size_t)2 * D, D * sizeof *rows) == 0,
	    "the next one is not next to it");
	ok(memcmp(starts + (size_t)2 * D, rows + (size_t)3 * D,
	       D * sizeof *rows) == 0,
	    "another choice is not next to it");
	gp_local_search_starts(starts, M, goal, rows, M);
	ok(memcmp(starts + (size_t)3 * D, rows, D * sizeof *rows) == 0,
	    "where too few are apart, the best one comes again");
	goal->weights = others;
}

/* With a centre, candidates and what is found from it are its neighbours. */
static void
check_beside(struct gp_acquisition_goal *goal, struct rng *rng)
{
	enum { KEPT = 40, D = 4 };
	struct gp_candidates_rule rule = { .candidates = 4096, .whole = 4096 };
	double centre[D] = { 0.5, 0.5, 0.1, 0.05 }, rows[KEPT * D];
	double score[KEPT], free_score[KEPT];
	size_t beyond = 0, i;

	gp_axes_snap(goal->space, centre, 1);
	memcpy(rows, centre, sizeof centre);
	gp_local_search(goal, rows, 1, free_score);
	ok(!gp_neighbours_are(goal->space, rows, centre),
	    "the best setting is not beside the centre");
	goal->centre = centre;
	gp_candidates_best(rows, score, KEPT, goal, &rule, rng);
	for (i = 0; i < KEPT; i++)
		beyond += !gp_neighbours_are(goal->space, rows + i * D, centre);
	is_int((long long)beyond, 0, "candidates are neighbours of a centre");
	memcpy(rows, centre, sizeof centre);
	gp_local_search(goal, rows, 1, score);
	ok(gp_neighbours_are(goal->space, rows, centre) &&
		score[0] < free_score[0],
	    "a local search improves the score and stays a neighbour");
}

/* Levels stay between the bounds, as numbers do. */
static void
check_between(struct gp_acquisition_goal *goal)
{
	enum { D = 4 };
	const double low[D] = { 0.4, 0.4, 0, 0.4 };
	const double high[D] = { 0.6, 0.6, 1, 0.6 };
	const double *all[] = { goal->low, goal->high };
	double row[D] = { 0.5, 0.5, 0.1, 0.5 }, free_row[D], score;

	goal->centre = NULL;
	gp_axes_snap(goal->space, row, 1);
	memcpy(free_row, row, sizeof row);
	gp_local_search(goal, free_row, 1, &score);
	ok(free_row[3] < low[3] || free_row[3] > high[3],
	    "the best level is beyond bounds: %g", free_row[3]);
	goal->low = low;
	goal->high = high;
	gp_local_search(goal, row, 1, &score);
	ok(row[3] >= low[3] && row[3] <= high[3],
	    "a local search does not come to it: %g", row[3]);
	goal->low = all[0];
	goal->high = all[1];
}

/* Numbers, levels and choices end where no single change is better. */
static void
check_local(void)
{
	enum { N = 30, D = 4, STARTS = 12 };
	const double theta[] = { 2, 1, 0, 1, 0, -12, -12 };
	const double weights[] = { 2.7, 1.6, 1, 1.6 };
	const double low[D] = { 0 }, high[] = { 1, 1, 1, 1 };
	double x[N * D], y[N], rows[STARTS * D], score[STARTS], worst = 0;
	struct json_doc *doc = NULL;
	struct space *space = NULL;
	struct err e = ERR_INIT;
	const struct kernels *k = kernels_cpu();
	struct gp_data data = { .n = N, .d = D, .x = x, .y = y };
	struct gp_axes axes;
	struct gp_model model = { .limit = -1 };
	struct gp_acquisition_goal goal = { .kernels = k,
		.space = &axes,
		.models = &model,
		.n_models = 1,
		.improve = true,
		.weights = weights,
		.low = low,
		.high = high };
	struct rng rng;
	size_t i;

	if (json_parse(&doc, both, strlen(both), "test", false, &e) != 0 ||
	    space_read(&space, json_root(doc), &e) != 0)
		printf("# %s\n", e.text);
	gp_axes_init(&axes, space);
	rng_init(&rng, 9, 0);
	for (i = 0; i < N * D; i++)
		x[i] = rng_uniform(&rng);
	for (i = 0; i < STARTS * D; i++)
		rows[i] = rng_uniform(&rng);
	gp_axes_snap(&axes, x, N);
	gp_axes_snap(&axes, rows, STARTS);
	for (i = 0; i < N; i++)
		y[i] = sin(5 * x[i * D]) +
		       x[i * D + 1] * cos(4 * x[i * D + 3]) +
		       (x[i * D + 2] < 0.3);
	data.category = axes.category;
	data.noise_floor = 1e-8;
	model.gp = k->gp_fit(k->dev, &data, theta);
	gp_local_search(&goal, rows, STARTS, score);
	for (i = 0; i < STARTS; i++)
		worst =
		    fmax(worst, score_beside(&goal, rows + i * D) - score[i]);
	ok(worst < 1e-4, "no change of one coordinate is better: by %g", worst);
	check_apart(&goal);
	check_beside(&goal, &rng);
	check_between(&goal);
	k->gp_free(k->dev, model.gp);
	gp_axes_free(&axes);
	space_free(space);
	json_free(doc);
}

enum { WIDE_D = 24, WIDE_STARTS = 4 };

/* The best score that local searches of a wide space end with; its row. */
static double
wide_search(struct gp_acquisition_goal *goal, double *best)
{
	double rows[WIDE_STARTS * WIDE_D], score[WIDE_STARTS];
	struct rng rng;
	size_t i, at = 0;

	rng_init(&rng, 10, 0);
	for (i = 0; i < WIDE_STARTS * WIDE_D; i++)
		rows[i] = rng_uniform(&rng);
	gp_axes_snap(goal->space, rows, WIDE_STARTS);
	gp_local_search(goal, rows, WIDE_STARTS, score);
	for (i = 1; i < WIDE_STARTS; i++)
		if (score[i] > score[at])
			at = i;
	memcpy(best, rows + at * WIDE_D, WIDE_D * sizeof *best);
	return score[at];
}

static double
wide_beside(const struct gp_acquisition_goal *g, const double *row)
{
	double x[WIDE_D], score, best = -INFINITY;
	size_t k;
	int i;

	for (k = 0; k < WIDE_D; k++)
		for (i = 0; i < 12; i++) {
			memcpy(x, row, sizeof x);
			x[k] = gp_axes_of_level(&g->space->axes[k], i);
			gp_acquisition(g, x, 1, &score, NULL);
			best = fmax(best, score);
		}
	return best;
}

/*
 * Of 264 single changes none is better in the end, although several are made at
 * once, and kernels without gp_near come to the same.
 */
static void
check_wide(void)
{
	enum { N = 60 };
	double theta[WIDE_D + 3], weights[WIDE_D], low[WIDE_D], high[WIDE_D];
	double x[N * WIDE_D], y[N], best[WIDE_D], score;
	struct buf text = { 0 };
	struct json_doc *doc = NULL;
	struct space *space = NULL;
	struct err e = ERR_INIT;
	struct kernels kernels = *kernels_cpu();
	struct gp_data data = { .n = N, .d = WIDE_D, .x = x, .y = y };
	struct gp_axes axes;
	struct gp_model model = { .limit = -1 };
	struct gp_acquisition_goal goal = { .kernels = &kernels,
		.space = &axes,
		.models = &model,
		.n_models = 1,
		.improve = true,
		.weights = weights,
		.low = low,
		.high = high };
	struct rng rng;
	size_t i, j;

	for (j = 0; j < WIDE_D; j++) {
		buf_printf(&text,
		    "%s\"i%zu\": {\"type\": \"int\", \"min\": 1, \"max\": 12}",
		    j == 0 ? "{" : ", ", j);
		theta[j] = j % 4 == 0 ? 1 : -2;
		weights[j] = exp(theta[j] / 2);
		low[j] = 0;
		high[j] = 1;
	}
	buf_puts(&text, "}");
	theta[WIDE_D] = 0;
	theta[WIDE_D + 1] = theta[WIDE_D + 2] = -12;
	if (json_parse(&doc, buf_str(&text), strlen(buf_str(&text)), "test",
		false, &e) != 0 ||
	    space_read(&space, json_root(doc), &e) != 0)
		printf("# %s\n", e.text);
	gp_axes_init(&axes, space);
	rng_init(&rng, 9, 1);
	for (i = 0; i < N * WIDE_D; i++)
		x[i] = rng_uniform(&rng);
	gp_axes_snap(&axes, x, N);
	for (i = 0; i < N; i++)
		for (y[i] = -1, j = 0; j < WIDE_D; j += 4)
			y[i] += pow(x[i * WIDE_D + j] - 0.3, 2);
	data.category = axes.category;
	data.noise_floor = 1e-8;
	model.gp = kernels.gp_fit(kernels.dev, &data, theta);
	score = wide_search(&goal, best);
	ok(wide_beside(&goal, best) - score < 1e-4,
	    "many whole numbers: no change of one is better: by %g",
	    wide_beside(&goal, best) - score);
	kernels.gp_near_top = NULL;
	is_near(wide_search(&goal, best), score, 1e-6,
	    "and so it does where the best are sorted out by all scores");
	kernels.gp_near = NULL;
	is_near(wide_search(&goal, best), score, 1e-6,
	    "without gp_near the search ends there, too");
	kernels.gp_free(kernels.dev, model.gp);
	gp_axes_free(&axes);
	space_free(space);
	json_free(doc);
	buf_free(&text);
}

static size_t n_scored; /* candidates of a suggestion */

static size_t
count_top(void *dev, const struct gp *gp, const double *x, size_t m,
    double best, size_t k, size_t *index, double *score, struct gp_sweep *sweep)
{
	n_scored += m;
	return kernels_cpu()->gp_top(
	    dev, gp, x, m, best, k, index, score, sweep);
}

/*
 * The number of candidates by expected improvement after so many trials, of which
 * the last ones run.
 */
static size_t
scored_with(const char *space, const char *options, size_t objectives,
    int trials, int running)
{
	struct kernels kernels = *kernels_cpu();
	const bool goals[2] = { false, false };
	double x[DIMS_MAX];
	struct strategy_run r;
	int i;

	kernels.gp_top = count_top;
	gp_open(&r, space, options, 1);
	r.kernels = &kernels;
	if (objectives > 1)
		history_set_objectives(r.history, objectives, goals, 0);
	for (i = 1; i <= trials; i++) {
		x[0] = fmod(i * 0.618, 1);
		x[1] = fmod(i * 0.414, 1);
		space_snap(r.space, x);
		history_add(r.history, i, x);
		if (objectives > 1)
			history_results(r.history, i, x, NULL);
		if (i <= trials - running)
			history_end(r.history, i, TRIAL_COMPLETED, *x);
	}
	n_scored = 0;
	(void)strategy_run_next(&r, x);
	strategy_run_close(&r);
	return n_scored;
}

static double noise; /* its logarithm, of the last process */
static int n_fitted, n_rough; /* processes of one suggestion */
static int n_starts; /* fits with starts of their own */
static int n_apart; /* the fit of their hyperparameters was of another form */
static bool fit_rough; /* the last likelihood */
static size_t n_searches; /* rows that are improved at once, at most */

static void
note_slope(void *dev, const struct gp *gp, const double *x, size_t m,
    double *mean, double *variance, double *d_mean, double *d_variance)
{
	n_searches = m > n_searches ? m : n_searches;
	kernels_cpu()->gp_slope(
	    dev, gp, x, m, mean, variance, d_mean, d_variance);
}

static void
note_likelihood(void *dev, const struct gp_data *data, const double *theta,
    size_t r, double *value, double *gradient, int *status)
{
	fit_rough = data->rough;
	n_starts += r > 1 && theta[0] == 0 && theta[1] == 0;
	kernels_cpu()->gp_likelihood(
	    dev, data, theta, r, value, gradient, status);
}

static struct gp *
note_fit(void *dev, const struct gp_data *data, const double *theta)
{
	noise = theta[data->d + 1];
	n_fitted++;
	n_rough += data->rough;
	n_apart += data->rough != fit_rough;
	return kernels_cpu()->gp_fit(dev, data, theta);
}

/* One suggestion, so many trials after the best one. */
static void
note_suggestion(const char *space, int trials, const char *options,
    size_t objectives, size_t constraints)
{
	struct kernels kernels = *kernels_cpu();
	const bool goals[2] = { false, false };
	const double best = fmod(4 * 0.618, 1);
	double x[DIMS_MAX] = { 0 }, losses[2], violation = -1;
	struct strategy_run r;
	int64_t i;

	noise = NAN;
	n_fitted = n_rough = n_apart = n_starts = 0;
	n_searches = 0;
	kernels.gp_slope = note_slope;
	kernels.gp_likelihood = note_likelihood;
	kernels.gp_fit = note_fit;
	gp_open(&r, space, options, 1);
	r.kernels = &kernels;
	history_set_objectives(r.history, objectives, goals, constraints);
	for (i = 1; i <= 4 + trials; i++) {
		*x = fmod((double)i * 0.618, 1);
		history_add(r.history, i, x);
		losses[0] = losses[1] = fabs(*x - best);
		history_results(
		    r.history, i, losses, constraints > 0 ? &violation : NULL);
		history_end(r.history, i, TRIAL_COMPLETED, *losses);
	}
	(void)strategy_run_next(&r, x);
	strategy_run_close(&r);
}

/* Whether the results count as exact, so many trials after the best one. */
static bool
is_exact_after(
    int trials, const char *options, size_t objectives, size_t constraints)
{
	note_suggestion(
	    "{" UNIT("a") "}", trials, options, objectives, constraints);
	return noise < -30;
}

static void
check_exact(void)
{
	ok(!is_exact_after(9, "{}", 1, 0), "9 trials without progress: noise");
	ok(is_exact_after(10, "{}", 1, 0), "10: results count as exact");
	ok(!is_exact_after(12, "{\"exact_after\": 13}", 1, 0),
	    "so many as the option says");
	ok(is_exact_after(13, "{\"exact_after\": 13}", 1, 0), "and no more");
	ok(!is_exact_after(20, "{\"exact_after\": 0}", 1, 0), "never with 0");
	ok(!is_exact_after(20, "{}", 2, 0), "nor with two objectives");
	ok(!is_exact_after(20, "{}", 1, 1), "nor with a constraint");
	ok(is_exact_after(3, "{\"deterministic_objective\": true}", 1, 0),
	    "always where the objective is deterministic");
}

/* The process of results goes on from that of noise, where it is of the same kind. */
static void
check_known(void)
{
	static const char never[] = "{\"exact_after\": 0}";
	static const char whole[] = "{" UNIT("a") ", \"b\": {\"type\": "
						  "\"int\", \"min\": 1, "
						  "\"max\": 200}}";

	note_suggestion(whole, 16, never, 1, 0);
	ok(n_fitted == 2 && n_starts == 1,
	    "of two processes one has starts of its own");
	note_suggestion(whole, 16, "{}", 1, 0);
	ok(n_fitted == 2 && n_starts == 2, "both where results are exact");
	note_suggestion(whole, 17, never, 1, 0);
	ok(n_fitted == 1 && n_starts == 1, "where noise is not looked for");
	note_suggestion(whole, 19, never, 1, 0);
	ok(n_fitted == 2 && n_starts == 2, "or the rows are those nearby");
}

/*
 * Which processes have the rough covariance; with whole numbers there is one
 * more, as noise is looked for first.
 */
static void
check_kernel(void)
{
	static const char numbers[] = "{" UNIT("a") ", " UNIT("b") "}";
	static const char whole[] = "{" UNIT("a") ", \"b\": {\"type\": "
						  "\"int\", \"min\": 1, "
						  "\"max\": 200}}";

	static const char rough[] = "{\"kernel\": \"matern32\"}";
	static const char smooth[] = "{\"kernel\": \"matern52\"}";
	static const struct {
		const char *space;
		int trials;
		const char *options;
		size_t objectives, constraints;
		int fitted, rough;
		const char *what;
	} rows[] = {
		{ numbers, 12, "{}", 1, 0, 1, 1, "continuous: 3/2" },
		{ whole, 12, "{}", 1, 0, 2, 0, "with whole numbers 5/2" },
		{ numbers, 12, "{}", 2, 0, 2, 0, "two objectives: 5/2" },
		{ numbers, 12, "{}", 1, 1, 2, 1, "of a constraint 5/2" },
		{ numbers, 12, smooth, 1, 0, 1, 0, "5/2 as the option says" },
		{ whole, 12, rough, 1, 0, 2, 2, "3/2 as the option says" },
		{ numbers, 12, rough, 2, 0, 2, 2, "of each objective" },
		{ numbers, 13, rough, 2, 0, 1, 1, "of weighted ones" },
	};
	size_t i;

	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		note_suggestion(rows[i].space, rows[i].trials, rows[i].options,
		    rows[i].objectives, rows[i].constraints);
		ok(n_fitted == rows[i].fitted && n_rough == rows[i].rough &&
			n_apart == 0,
		    "%s", rows[i].what);
	}
	/* An odd trial: an even one is for the surroundings of the best. */
	note_suggestion(numbers, 196, "{}", 1, 0);
	ok(n_searches == 9, "8 local searches, and one beside the best");
	note_suggestion(numbers, 396, "{}", 1, 0);
	ok(n_searches == 5, "with 400 trials half of them");
	note_suggestion(numbers, 396, "{\"kernel\": \"matern52\"}", 1, 0);
	ok(n_searches == 9, "with 5/2 all");
}

static size_t
candidates_with(const char *space, int trials)
{
	return scored_with(space,
	    "{\"candidates\": 1000, \"local_after\": 0, \"restarts\": 1}", 1,
	    trials, 0);
}

/* Before ten trials per parameter the lower confidence bound counts. */
static void
check_greedy(void)
{
	static const char two[] = "{" UNIT("a") ", " UNIT("b") "}";
	static const char steps[] =
	    "{" UNIT("a") ", \"b\": {\"type\": \"int\", \"min\": 1, "
			  "\"max\": 200}}";
	static const char usual[] = "{\"local_after\": 0}";

	is_int((long long)scored_with(two, usual, 1, 19, 0), 0,
	    "of two numbers 19 trials: the lower confidence bound");
	ok(scored_with(two, usual, 1, 20, 0) > 0,
	    "20: the expected improvement");
	is_int((long long)scored_with(
		   two, "{\"local_after\": 0, \"greedy\": 13}", 1, 25, 0),
	    0, "so many as the option says");
	ok(scored_with(two, "{\"local_after\": 0, \"greedy\": 0}", 1, 12, 0) >
		0,
	    "and never with 0");
	ok(scored_with(steps, usual, 1, 12, 0) > 0,
	    "nor where a parameter has steps");
	ok(scored_with(two, usual, 2, 12, 0) +
		    scored_with(two, usual, 2, 13, 0) >
		0,
	    "nor with two objectives");
	is_int((long long)scored_with(two, usual, 1, 14, 1), 0,
	    "the same while one trial runs");
	is_int((long long)scored_with(two, usual, 1, 15, 2), 0,
	    "while two run for trial 16");
	is_int((long long)scored_with(two, usual, 1, 14, 2), 0,
	    "and for trial 15");
	is_int((long long)scored_with(two, usual, 1, 27, 8), 0,
	    "running ones do not count: 19 of 27 have finished");
	ok(scored_with(two, usual, 1, 28, 8) > 0,
	    "20 of 28: the expected improvement");
}

static void
check_candidates(void)
{
	static const char line[] = "{" UNIT("a") "}";
	static const char steps[] =
	    "{\"a\": {\"type\": \"int\", \"min\": 1, \"max\": 900}}";

	is_int((long long)candidates_with(line, 200), 1000,
	    "with 200 trials all candidates");
	is_int((long long)candidates_with(line, 250), 800,
	    "with more trials fewer, in proportion");
	is_int((long long)candidates_with(steps, 250), 900,
	    "but a small space is searched completely");
}

int
main(void)
{
	check_candidates();
	check_exact();
	check_kernel();
	check_known();
	check_greedy();
	check_fit();
	check_brief();
	check_noise();
	check_something();
	check_starts();
	check_constraint();
	check_local();
	check_wide();
	return done_testing();
}
