/*
 * What gp does to values before the fit, and the region around the best trial.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/rng.h"
#include "src/model/history/history.h"
#include "src/model/space.h"
#include "strategies/gp/gp.h"
#include "strategies/strategy.h"
#include "strategies/tpe/tpe-normal.h"
#include "tests/support/tap.h"

enum { N = 200 };

/* The inverse of Yeo and Johnson's power. */
static double
power_inverse(double v, double power)
{
	double p = v < 0 ? 2 - power : power, size = fabs(v);

	size = p == 0 ? expm1(size) : pow(1 + p * size, 1 / p) - 1;
	return copysign(size, v);
}

static void
check_power_of(void)
{
	static const double powers[] = { -3, -1, 0, 0.5, 1, 2 };
	double y, v, slope, none, h = 1e-6, back = 0, error = 0, low;
	size_t i;

	for (i = 0; i < sizeof powers / sizeof *powers; i++)
		for (low = -INFINITY, y = -3; y < 3; y += 0.37, low = v) {
			v = gp_warp_power_of(y, powers[i], &slope);
			back =
			    fmax(back, fabs(power_inverse(v, powers[i]) - y));
			error = fmax(error,
			    fabs(
				(gp_warp_power_of(y + h, powers[i], &none) -
				    gp_warp_power_of(y - h, powers[i], &none)) /
				    (2 * h) -
				slope) /
				slope);
			if (!(v > low))
				error = INFINITY;
		}
	ok(back < 1e-9, "the inverse leads back: %g", back);
	ok(error < 1e-6, "rising, with the slope of differences: %g", error);
	is_near(gp_warp_power_of(-1.5, 1, &slope), -1.5, 1e-15,
	    "the power 1 changes nothing");
	is_near(gp_warp_power_of(M_E - 1, 0, &slope), 1, 1e-15,
	    "the power 0 is a logarithm");
}

/* Whether values are in the order of their indices. */
static bool
is_rising(const double *y, size_t n)
{
	size_t i;

	for (i = 1; i < n; i++)
		if (!(y[i] > y[i - 1]))
			return false;
	return true;
}

static void
check_power(void)
{
	double normal[N], y[N], slope[N], power;
	size_t i;

	for (i = 0; i < N; i++)
		normal[i] = tpe_normal_quantile(((double)i + 0.5) / N);
	memcpy(y, normal, sizeof y);
	power = gp_warp_power(y, slope, N);
	is_near(power, 1, 0.051, "normal values stay as they are");
	for (i = 0; i < N; i++)
		y[i] = 40 + 7 * exp(normal[i]);
	power = gp_warp_power(y, slope, N);
	ok(power < 0 && is_rising(y, N), "a long tail is shortened: %g", power);
	ok(y[N - 1] - y[N / 2] < 2 * (y[N / 2] - y[0]),
	    "and then hardly longer than the other, instead of 16 times");
	for (i = 0; i < N; i++)
		y[i] = normal[i];
	y[N - 1] = 1e30;
	(void)gp_warp_power(y, slope, N);
	ok(is_rising(y, N) && y[N / 2] - y[0] > 0.02 * (y[N - 1] - y[0]),
	    "an absurd value does not hide the others: %g of %g",
	    y[N / 2] - y[0], y[N - 1] - y[0]);
	for (i = 0; i < N; i++)
		y[i] = 3;
	is_near(gp_warp_power(y, slope, N), 1, 0, "equal values have no power");
	ok(y[0] == y[N - 1] && isfinite(y[0]), "and stay equal");
}

/* A search that came close has most values near the best. */
static void
check_middle(void)
{
	double y[40];
	int i;

	for (i = 0; i < 40; i++)
		y[i] = i < 10 ? 5 + i : 1;
	is_near(gp_warp_middle(y, 40), 9.5, 1e-12,
	    "the middle is that of the first ten");
	for (i = 0; i < 10; i++)
		y[i] = 0;
	is_near(
	    gp_warp_middle(y, 40), 1, 1e-12, "or of all, if that is larger");
}

/* The better half keeps its distances, the worse its order. */
static void
check_ranks(void)
{
	double y[] = { 0, 1, 2, 3, 4, 5, 6, 1e20 };

	gp_warp_ranks(y, 8);
	ok(y[0] == 0 && y[3] == 3, "good values stay as they are");
	ok(is_rising(y, 8) && y[7] < 20, "bad ones keep their order: %g", y[7]);
}

static const char cube[] =
    "{\"a\": {\"type\": \"float\", \"min\": 0, \"max\": 1},"
    "\"b\": {\"type\": \"float\", \"min\": 0, \"max\": 1},"
    "\"c\": {\"type\": \"choice\", \"values\": [1, 2]}}";

/* Every other trial of a choice; number 40 at (0.3, 0.6) is the best. */
static struct history *
history_fill(struct rng *rng, int64_t trials)
{
	struct history *h =
	    history_new(3, false, HISTORY_POINTS | HISTORY_CURVES);
	double x[3];
	int64_t t;

	for (t = 1; t <= trials; t++) {
		x[0] = t == 40 ? 0.3 : rng_uniform(rng);
		x[1] = t == 40 ? 0.6 : rng_uniform(rng);
		x[2] = t % 2 == 0 ? 0.25 : 0.75;
		history_add(h, t, x);
		history_end(h, t, TRIAL_COMPLETED, t == 40 ? -1 : x[0] + x[1]);
	}
	return h;
}

/* How many trials better than one are not among the rows. */
static size_t
better_elsewhere(
    const struct history *h, const struct gp_rows *rows, int64_t one)
{
	size_t n = 0, i;
	int64_t t;

	for (t = 1; t <= history_count(h); t++) {
		for (i = 0; i < rows->n && rows->trials[i] != t;)
			i++;
		n += i == rows->n && history_loss(h, t) < history_loss(h, one);
	}
	return n;
}

/* rows: of all 60 trials, of which the best is number 40. */
static void
check_centre(
    struct gp_rows *rows, const struct gp_axes *g, const struct history *h)
{
	struct strategy_ask ask = { .trial = 64, .history = h };
	double low[3], high[3];
	bool nearby = false;
	int64_t other;
	size_t i;

	other = gp_region_centre(rows, g, &ask);
	ask.trial = 62;
	is_int(gp_region_centre(rows, g, &ask), 40,
	    "the centre is the best trial");
	(void)gp_region_choose(rows, g, 40, low, high);
	for (i = 0; i < rows->n; i++)
		nearby = nearby || rows->trials[i] == other;
	ok(other != 40 && !nearby, "every other time one that is elsewhere");
	is_int((long long)better_elsewhere(h, rows, other), 0,
	    "the best of those");
	ask.trial = 64;
	is_int(gp_region_centre(rows, g, &ask), 40,
	    "where none is elsewhere, the best trial");
}

/* Whether the centre is elsewhere when so many trials are there. */
static bool
is_elsewhere(const struct gp_axes *g, int64_t trials)
{
	struct strategy_ask ask = { .trial = 64 };
	struct gp_rows rows;
	struct history *h;
	struct rng rng;
	bool elsewhere;

	rng_init(&rng, 4, 4);
	h = history_fill(&rng, trials);
	ask.history = h;
	gp_training_rows_init(&rows, g, h, 1000);
	elsewhere = gp_region_centre(&rows, g, &ask) != 40;
	gp_training_rows_free(&rows);
	history_free(h);
	return elsewhere;
}

/* A line of 40 trials, the best at one end; at the other two are allowed. */
static void
check_centre_allowed(const struct gp_axes *g)
{
	static const bool maximize = false;
	struct history *h = history_new(3, false, HISTORY_POINTS);
	struct strategy_ask ask = { .trial = 64, .history = h };
	struct gp_rows rows;
	double x[3] = { 0, 0.5, 0.25 }, loss, breach;
	int64_t t;

	history_set_objectives(h, 1, &maximize, 1);
	for (t = 1; t <= 40; t++) {
		x[0] = t == 1 ? 1 : (double)(41 - t) / 40;
		loss = t == 1 ? -9 : x[0];
		breach = t < 15 || t == 33 || t == 37 ? -1 : 1;
		history_add(h, t, x);
		history_results(h, t, &loss, &breach);
		history_end(h, t, TRIAL_COMPLETED, loss);
	}
	gp_training_rows_init(&rows, g, h, 1000);
	is_int(gp_region_centre(&rows, g, &ask), 37,
	    "one elsewhere breaks no constraint");
	gp_training_rows_free(&rows);
	history_free(h);
}

static void
check_region(void)
{
	struct json_doc *doc = NULL;
	struct space *space = NULL;
	struct err e = ERR_INIT;
	struct strategy_ask ask = { .trial = 62 };
	struct gp_axes g;
	struct gp_rows rows;
	struct history *h;
	struct rng rng;
	double low[3], high[3];
	bool inside = true;
	long long alike = 0;
	size_t i, k;

	rng_init(&rng, 4, 4);
	h = history_fill(&rng, 60);
	if (json_parse(&doc, cube, strlen(cube), "test", false, &e) != 0 ||
	    space_read(&space, json_root(doc), &e) != 0)
		printf("# %s\n", e.text);
	gp_axes_init(&g, space);
	gp_training_rows_init(&rows, &g, h, 1000);
	check_centre(&rows, &g, h);
	check_centre_allowed(&g);
	ok(!is_elsewhere(&g, 54) && is_elsewhere(&g, 55),
	    "after five trials per axis without an improvement");
	gp_training_rows_free(&rows);
	gp_training_rows_init(&rows, &g, h, 1000);
	ok(gp_region_choose(&rows, &g, 40, low, high), "a region");
	ok(rows.n >= 22, "of ten trials and four per axis, and others");
	is_int(rows.trials[0], 40, "the best one is the first");
	for (i = 0; i < 22; i++)
		alike += rows.x[i * 3 + 2] == 0.25;
	is_int(alike, 11, "half of them have the choice of the best one");
	for (i = 0; i < rows.n; i++)
		for (k = 0; k < 2; k++)
			inside = inside && rows.x[i * 3 + k] >= low[k] &&
				 rows.x[i * 3 + k] <= high[k];
	ok(inside && high[0] - low[0] < 0.9 && high[1] - low[1] < 0.9,
	    "its bounds are around them: %g to %g, %g to %g", low[0], high[0],
	    low[1], high[1]);
	ok(low[2] == 0 && high[2] == 1,
	    "a choice is free, with one value nearby");
	gp_training_rows_free(&rows);
	gp_training_rows_init(&rows, &g, h, 30);
	ok(gp_region_choose(&rows, &g, 40, low, high) && low[2] == 0 &&
		high[2] == 1,
	    "and with both");
	ok(!gp_region_choose(&rows, &g, 61, low, high),
	    "none around a trial that is not there");
	ask.history = h;
	ok(gp_region_wanted(&ask, 20) && !gp_region_wanted(&ask, 21),
	    "it is wanted after so many trials without an improvement");
	ok(!gp_region_wanted(&ask, 0), "and never, if so set");
	ask.trial = 61;
	ok(!gp_region_wanted(&ask, 20), "every other time");
	gp_training_rows_free(&rows);
	gp_axes_free(&g);
	space_free(space);
	json_free(doc);
	history_free(h);
}

/* A choice on which one of the numbers depends, and a number of few levels. */
static const char branch[] =
    "{\"c\": {\"type\": \"choice\", \"values\": [1, 2]},"
    "\"n\": {\"type\": \"int\", \"min\": 1, \"max\": 4},"
    "\"a\": {\"type\": \"float\", \"min\": 0, \"max\": 1},"
    "\"b\": {\"type\": \"float\", \"min\": 0, \"max\": 1},"
    "\"h\": {\"type\": \"float\", \"min\": 0, \"max\": 1, "
    "\"when\": {\"c\": [1]}}}";

static void
trial_add(struct history *h, double c, double n, double a, double b)
{
	int64_t trial = history_count(h) + 1;
	double x[] = { c, n, a, b, NAN };

	if (c < 0.5)
		x[4] = 0.8 + 0.01 * (double)(trial % 10);

	history_add(h, trial, x);
	history_end(h, trial, TRIAL_COMPLETED, (double)trial);
}

/*
 * Trial 1 is the centre of a circle of trials with its choice and of a smaller
 * one with the other; 38 is in a corner of the bounds of both, farther away than
 * the 30 trials nearby.
 */
static struct history *
circles_fill(void)
{
	struct history *h = history_new(5, false, HISTORY_POINTS);
	int i;

	trial_add(h, 0.25, 0.375, 0.5, 0.5);
	for (i = 0; i < 20; i++)
		trial_add(h, 0.25, 0.375, 0.5 + 0.2 * cos(i * M_PI / 10),
		    0.5 + 0.2 * sin(i * M_PI / 10));
	for (i = 0; i < 16; i++)
		trial_add(h, 0.75, 0.375, 0.5 + 0.05 * cos(i * M_PI / 8),
		    0.5 + 0.05 * sin(i * M_PI / 8));
	trial_add(h, 0.75, 0.375, 0.69, 0.68);
	trial_add(h, 0.75, 0.375, 0.75, 0.5); /* beyond the bounds */
	trial_add(h, 0.75, 0.625, 0.69, 0.68); /* and no neighbour */
	return h;
}

/* Otherwise its search comes to the same setting again and again. */
static void
check_corner(void)
{
	struct history *h = circles_fill();
	struct json_doc *doc = NULL;
	struct space *space = NULL;
	struct err e = ERR_INIT;
	struct gp_axes g;
	struct gp_rows rows;
	double low[5], high[5];
	int64_t most = 0;
	size_t i;

	if (json_parse(&doc, branch, strlen(branch), "test", false, &e) != 0 ||
	    space_read(&space, json_root(doc), &e) != 0)
		printf("# %s\n", e.text);
	gp_axes_init(&g, space);
	gp_training_rows_init(&rows, &g, h, 1000);
	ok(gp_region_choose(&rows, &g, 1, low, high), "a region");
	for (i = 0; i < rows.n; i++)
		most = rows.trials[i] > most ? rows.trials[i] : most;
	is_int((long long)rows.n, 32, "of ten trials and four per axis");
	is_int(most, 38, "and of others that its search may come to");
	gp_training_rows_free(&rows);
	for (i = 0; i < 90; i++)
		trial_add(h, 0.75, 0.375, 0.6 + 0.001 * (double)i, 0.6);
	gp_training_rows_init(&rows, &g, h, 1000);
	ok(gp_region_choose(&rows, &g, 1, low, high), "with many trials there");
	is_int((long long)rows.n, 60, "twice ten and four per axis at most");
	gp_training_rows_free(&rows);
	gp_axes_free(&g);
	space_free(space);
	json_free(doc);
	history_free(h);
}

int
main(void)
{
	check_power_of();
	check_power();
	check_middle();
	check_ranks();
	check_region();
	check_corner();
	return done_testing();
}
