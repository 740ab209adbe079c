/*
 * gp under noise: it is told from roughness, and the search is then neither around
 * a lucky trial nor of what is taken for structure.  And what a search of a wide
 * space costs.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/base/rng.h"
#include "strategies/gp/gp.h"
#include "tests/support/gp-run.h"
#include "tests/support/tap.h"

enum { D = 2, TRIALS = 40, WIDE = 40 };

static const char square[] =
    "{" UNIT("a") ", \"b\": {\"type\": \"int\", \"min\": 0, \"max\": 100}}";

static double
smooth(const double *x)
{
	return (x[0] - 0.3) * (x[0] - 0.3) + 2 * (x[1] - 0.6) * (x[1] - 0.6);
}

static double
rough(const double *x)
{
	return sqrt(fabs(x[0] - 0.3)) + fabs(x[1] - 0.6) + 0.1 * sin(20 * x[0]);
}

/* Whether the noise of random trials is found to be large. */
static bool
is_found(double (*f)(const double *), double deviation)
{
	struct strategy_run r;
	struct strategy_ask ask = { 0 };
	struct gp_question q = { .rule = { .restarts = 4, .fit_trials = 200 } };
	struct rng rng;
	double x[D], theta[D + 3];
	int64_t i;
	bool is;

	gp_open(&r, square, "{}", 1);
	rng_init(&rng, 3, 0);
	for (i = 1; i <= TRIALS; i++) {
		x[0] = rng_uniform(&rng);
		x[1] = rng_uniform(&rng);
		history_add(r.history, i, x);
		history_end(r.history, i, TRIAL_COMPLETED,
		    f(x) + deviation * rng_normal(&rng));
	}
	ask.space = r.space;
	ask.history = r.history;
	ask.kernels = r.kernels;
	q.ask = &ask;
	q.options = r.options;
	q.warp = GP_WARP_POWER;
	gp_axes_init(&q.space, r.space);
	gp_training_rows_init(&q.rows, &q.space, r.history, 1000);
	is = gp_noise_is_large(&q, theta);
	gp_training_rows_free(&q.rows);
	gp_axes_free(&q.space);
	strategy_run_close(&r);
	return is;
}

static int
noise_by_number(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The median of the last 21 of 60 trials, without their noise. */
static double
middle_late(double deviation, uint64_t seed)
{
	double x[D], late[21];
	struct strategy_run r;
	struct rng rng;
	int64_t trial, i;

	gp_open(&r, square, "{}", seed);
	rng_init(&rng, seed, 7);
	for (i = 0; i < 60; i++) {
		trial = strategy_run_next(&r, x);
		history_end(r.history, trial, TRIAL_COMPLETED,
		    smooth(x) + deviation * rng_normal(&rng));
		if (i >= 39)
			late[i - 39] = smooth(x);
	}
	strategy_run_close(&r);
	qsort(late, 21, sizeof *late, noise_by_number);
	return late[10];
}

static void
check_noise(void)
{
	double sum = 0, late;
	uint64_t seed;

	ok(is_found(smooth, 0.2), "noise of a third of the deviation is large");
	ok(!is_found(smooth, 0), "a smooth function has none");
	ok(!is_found(smooth, 0.001), "nor is that of a thousandth");
	ok(!is_found(rough, 0), "and a rough function has none");
	for (seed = 1; seed <= 8; seed++) {
		late = middle_late(0.2, seed);
		sum += late;
		printf("# seed %d: %g\n", (int)seed, late);
	}
	ok(sum / 8 < 0.04, "late trials are near the optimum: %g", sum / 8);
}

/* Rows whose predictions were asked for. */
static size_t predicted;

static void
predict_watched(void *dev, const struct gp *gp, const double *x, size_t m,
    double *mean, double *variance)
{
	predicted += m;
	kernels_cpu()->gp_predict(dev, gp, x, m, mean, variance);
}

/*
 * Whole numbers of 12 values, whose distances from the middle add up: each change
 * is better or worse whatever the others are.
 */
static void
check_wide(void)
{
	struct gp_acquisition_goal goal = { .n_models = 1, .improve = true };
	double x[60 * WIDE], y[60], weights[WIDE], low[WIDE], high[WIDE];
	double theta[WIDE + 3], row[WIDE], score, before;
	struct gp_data data = { .n = 60, .d = WIDE, .x = x, .y = y };
	struct kernels watched = *kernels_cpu();
	struct buf space = { 0 };
	struct gp_model model;
	struct strategy_run r;
	struct gp_axes g;
	struct rng rng;
	size_t i, k;

	for (k = 0; k < WIDE; k++)
		buf_printf(&space,
		    "%s\"p%zu\": {\"type\": \"int\", \"min\": 1, \"max\": 12}",
		    k == 0 ? "{" : ",", k);
	buf_putc(&space, '}');
	gp_open(&r, buf_str(&space), "{}", 1);
	gp_axes_init(&g, r.space);
	rng_init(&rng, 2, 0);
	for (i = 0; i < (size_t)60 * WIDE; i++)
		x[i] = rng_uniform(&rng);
	gp_axes_snap(&g, x, 60);
	for (i = 0; i < 60; i++)
		for (y[i] = -5, k = 0; k < WIDE; k++)
			y[i] += fabs(x[i * WIDE + k] - 0.5) / 2;
	for (k = 0; k < WIDE + 3; k++)
		theta[k] = k < WIDE ? -2 : k == WIDE ? 0 : -9;
	for (k = 0; k < WIDE; k++) {
		weights[k] = exp(-1);
		low[k] = 0;
		high[k] = 1;
	}
	watched.gp_predict = predict_watched;
	model.gp = watched.gp_fit(watched.dev, &data, theta);
	model.limit = -1;
	goal.kernels = &watched;
	goal.space = &g;
	goal.models = &model;
	goal.weights = weights;
	goal.low = low;
	goal.high = high;
	memcpy(row, x, sizeof row);
	gp_acquisition(&goal, row, 1, &before, NULL);
	predicted = 0;
	gp_local_search(&goal, row, 1, &score);
	ok(score > before + 1, "a local search improves: %g from %g", score,
	    before);
	ok(predicted <= 4 * (11 * WIDE + 7 * 32) + 1,
	    "all changes are compared once a turn: %zu", predicted);
	watched.gp_free(watched.dev, model.gp);
	gp_axes_free(&g);
	strategy_run_close(&r);
	buf_free(&space);
}

int
main(void)
{
	check_noise();
	check_wide();
	return done_testing();
}
