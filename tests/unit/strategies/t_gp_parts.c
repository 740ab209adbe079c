/*
 * The parts of gp that need no factorisation: scores and their slopes,
 * coordinates, values, guesses for stopped trials, sweeps.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/base/rng.h"
#include "src/model/history/history.h"
#include "src/model/space.h"
#include "strategies/gp/gp.h"
#include "strategies/sobol.h"
#include "tests/support/tap.h"

/* The worst relative error of slopes against differences. */
static double
slope_error(double (*score)(double, double, double, double *, double *))
{
	static const double zs[] = { -60, -26, -25.01, -24.99, -10, -3, -1, 0,
		0.5, 3, 8 };
	double a, b, mean, sd, h = 1e-5, want, worst = 0, none;
	size_t i, k;

	for (i = 0; i < sizeof zs / sizeof *zs; i++)
		for (k = 0; k < 3; k++) {
			sd = pow(10, -(double)k);
			mean = 0.3 - zs[i] * sd;
			(void)score(mean, sd, 0.3, &a, &b);
			want =
			    (score(mean + h * sd, sd, 0.3, &none, &none) -
				score(mean - h * sd, sd, 0.3, &none, &none)) /
			    (2 * h * sd);
			worst = fmax(
			    worst, fabs(a - want) / fmax(fabs(want), 1e-3));
			want =
			    (score(mean, sd * (1 + h), 0.3, &none, &none) -
				score(mean, sd * (1 - h), 0.3, &none, &none)) /
			    (2 * h * sd);
			worst = fmax(
			    worst, fabs(b - want) / fmax(fabs(want), 1e-3));
		}
	return worst;
}

/* By Mills' ratio as a continued fraction, with 60 digits. */
static void
check_tails(void)
{
	static const double known[][2] = { { 2, -4.768783523917114156881 },
		{ 10, -55.55312203612235592718 },
		{ 24.9, -317.3584857426673791230 },
		{ 25.1, -322.3744098724640307179 },
		{ 100, -5010.129578800249792325 } };
	double a, b, worst = 0, score;
	size_t i;

	for (i = 0; i < sizeof known / sizeof *known; i++) {
		score = gp_acquisition_log_ei(known[i][0], 1, 0, &a, &b);
		worst = fmax(worst, fabs(score / known[i][1] - 1));
	}
	ok(worst < 1e-12, "log improvement in the tail: %g", worst);
}

static void
check_scores(void)
{
	double a, b, error;

	/* log(phi(0)), and z Phi(z) + phi(z) from tables at -2. */
	is_near(gp_acquisition_log_ei(1, 1, 1, &a, &b), log(0.3989422804014327),
	    1e-14, "expected improvement at the mean");
	is_near(gp_acquisition_log_ei(2, 1, 0, &a, &b), log(0.008490702616829),
	    1e-12, "expected improvement two deviations away");
	is_near(gp_acquisition_log_ei(30, 1, 0, &a, &b),
	    -450 - 0.5 * log(2 * M_PI) - 2 * log(30) + log1p(-0.00331495741),
	    1e-8, "thirty deviations away");
	is_near(
	    gp_acquisition_log_below(0, 1, 0, &a, &b), -M_LN2, 1e-15, "half");
	is_near(gp_acquisition_log_below(40, 1, 0, &a, &b), -804.608442, 1e-6,
	    "forty deviations away");
	error = slope_error(gp_acquisition_log_ei);
	ok(error < 1e-4, "slopes of the improvement: %g", error);
	error = slope_error(gp_acquisition_log_below);
	ok(error < 1e-4, "slopes of the probability: %g", error);
}

static void
check_prior(void)
{
	static const unsigned char kinds[] = { 0, 1, 0, 1, 0 };
	double t[] = { 0.5, -1, 2, 0.3, -0.4, 0.2, -4, -3 }, g[8], none[8], up,
	       down;
	double worst = 0;
	size_t i;

	(void)gp_hyperparameters_prior(t, 5, kinds, 1e-4, 0.1, 30, g);
	for (i = 0; i < 8; i++) {
		t[i] += 1e-5;
		up = gp_hyperparameters_prior(t, 5, kinds, 1e-4, 0.1, 30, none);
		t[i] -= 2e-5;
		down =
		    gp_hyperparameters_prior(t, 5, kinds, 1e-4, 0.1, 30, none);
		t[i] += 1e-5;
		worst = fmax(worst, fabs((up - down) / 2e-5 - g[i]));
	}
	ok(worst < 1e-8, "slopes of the prior: %g", worst);
}

/*
 * By how much the prior falls when two of three relevances, the first and
 * another, move apart by 2 and their mean stays.
 */
static double
fall_apart(const unsigned char *kinds, size_t other)
{
	double t[] = { 0, 0, 0, 0, -4, -3 }, none[6], together;

	together = gp_hyperparameters_prior(t, 3, kinds, 1e-4, 0, 30, none);
	t[0] = 1;
	t[other] = -1;
	return together -
	       gp_hyperparameters_prior(t, 3, kinds, 1e-4, 0, 30, none);
}

static void
check_alike(void)
{
	static const unsigned char kinds[] = { 0, 1, 0 },
				   choices[] = { 1, 0, 1 };
	double plain = 2 * 0.2 * (cosh(1) - 1);

	is_near(fall_apart(NULL, 2), plain + 1, 1e-12,
	    "relevances of numbers are like one another");
	is_near(fall_apart(kinds, 2), plain + 1, 1e-12,
	    "… also where there are choices");
	is_near(fall_apart(choices, 2), plain + 1, 1e-12,
	    "relevances of choices are like one another");
	is_near(fall_apart(kinds, 1), plain + 0.25, 1e-12,
	    "a choice may be unlike the numbers");
}

static const char nested[] =
    "{\"lr\": {\"type\": \"float\", \"min\": 1e-4, \"max\": 1,"
    " \"scale\": \"log\"},"
    "\"inner\": {\"type\": \"int\", \"min\": 1, \"max\": 4,"
    " \"when\": {\"deep\": [true]}},"
    "\"deep\": {\"type\": \"choice\", \"values\": [false, true],"
    " \"when\": {\"model\": [\"net\"]}},"
    "\"model\": {\"type\": \"choice\", \"values\": [\"net\", \"svm\","
    " \"tree\"]},"
    "\"size\": {\"type\": \"int\", \"min\": 4, \"max\": 900,"
    " \"scale\": \"log\"},"
    "\"grade\": {\"type\": \"choice\", \"values\": [1, 5, 9],"
    " \"ordered\": true},"
    "\"one\": {\"type\": \"fixed\", \"value\": 3},"
    "\"always\": {\"type\": \"float\", \"min\": 0, \"max\": 1,"
    " \"when\": {\"one\": [3]}}}";

static struct space *
space_of(const char *text)
{
	struct json_doc *doc = NULL;
	struct space *space = NULL;
	struct err e = ERR_INIT;

	if (json_parse(&doc, text, strlen(text), "test", false, &e) == -1 ||
	    space_read(&space, json_root(doc), &e) == -1)
		printf("# %s\n", e.text);
	json_free(doc);
	return space;
}

/* How many inactive coordinates of random rows are not in the middle. */
static size_t
inactive_elsewhere(const struct gp_axes *g, struct rng *rng)
{
	double row[8];
	bool active[8];
	size_t n = 0, i, k;

	for (i = 0; i < 200; i++) {
		for (k = 0; k < g->d; k++)
			row[k] = 0.9 * rng_uniform(rng);
		gp_axes_snap(g, row, 1);
		gp_axes_active(g, row, active);
		for (k = 0; k < g->d; k++)
			n += !active[k] && row[k] != 0.5;
	}
	return n;
}

/* A failed trial has the value of the worst one. */
static void
check_failed(void)
{
	static const double losses[] = { 3, -2, 9, NAN };
	struct history *h = history_new(1, false, HISTORY_POINTS);
	struct space *space =
	    space_of("{\"x\": {\"type\": \"float\", \"min\": 0, \"max\": 1}}");
	struct gp_axes g;
	struct gp_rows rows;
	struct gp_targets out;
	double x = 0.5;
	int64_t t;

	for (t = 1; t <= 4; t++) {
		history_add(h, t, &x);
		history_end(h, t, t == 4 ? TRIAL_FAILED : TRIAL_COMPLETED,
		    losses[t - 1]);
	}
	history_set_noise(h, 2, 0.5);
	gp_axes_init(&g, space);
	gp_training_rows_init(&rows, &g, h, 100);
	gp_targets_from_losses(&out, &rows, h, GP_WARP_NONE);
	ok(out.extra[0] == 0 &&
		fabs(sqrt(out.extra[1]) * out.scale - 0.5) < 1e-12,
	    "a known standard error is that of the value");
	ok(rows.n == 4 && out.y[3] == out.y[2] && out.y[2] > out.y[0],
	    "a failed trial is as bad as the worst");
	gp_targets_free(&out);
	gp_training_rows_free(&rows);
	gp_axes_free(&g);
	space_free(space);
	history_free(h);
}

static void
check_axes(void)
{
	struct space *space = space_of(nested);
	struct gp_axes g;
	double point[8], row[8], back[8];
	bool agree = true, levels = true;
	struct rng rng;
	size_t i, k;

	gp_axes_init(&g, space);
	is_int((long long)g.d, 7, "what has one value is no coordinate");
	rng_init(&rng, 1, 1);
	for (i = 0; i < 500; i++) {
		for (k = 0; k < space->n; k++)
			point[k] = rng_uniform(&rng);
		space_snap(space, point);
		gp_axes_encode(&g, point, row);
		gp_axes_decode(&g, row, back);
		space_snap(space, back);
		for (k = 0; k < space->n; k++)
			agree = agree &&
				(isnan(point[k])
					? isnan(back[k])
					: fabs(point[k] - back[k]) < 1e-12);
		for (k = 0; k < g.d; k++)
			levels =
			    levels &&
			    (g.axes[k].levels == 0 ||
				fabs(gp_axes_of_level(&g.axes[k],
					 gp_axes_level(&g.axes[k], row[k])) -
				     row[k]) < 1e-12 ||
				row[k] == 0.5);
	}
	ok(agree, "a point that became a row is the same point again");
	ok(levels, "levels are where the space has them");
	ok(isinf(gp_axes_size(&g)), "a continuum has no size");
	is_int((long long)inactive_elsewhere(&g, &rng), 0,
	    "inactive coordinates are moved to the middle");
	gp_axes_free(&g);
	space_free(space);
}

static void
check_values(void)
{
	double v[] = { 1, NAN, 3, INFINITY, -INFINITY, 2 };
	double same[] = { 7, 7, 7 }, none[] = { NAN, INFINITY };
	double huge[] = { 1e308, -1e308, 1e308, -1e308 };
	struct gp_targets out;

	gp_targets_from(&out, v, 6);
	ok(out.y[1] == out.y[2] && out.y[3] == out.y[2],
	    "nothing and infinity are as bad as the worst");
	ok(out.y[4] == out.y[0], "minus infinity is as good as the best");
	is_near(out.centre + out.scale * out.y[5], 2, 1e-12, "and back");
	gp_targets_free(&out);
	gp_targets_from(&out, same, 3);
	ok(out.y[0] == 0 && out.y[2] == 0, "equal ones are 0");
	gp_targets_free(&out);
	gp_targets_from(&out, none, 2);
	ok(out.y[0] == 0 && out.y[1] == 0, "without any number they are 0");
	gp_targets_free(&out);
	gp_targets_from(&out, huge, 4);
	is_near(out.y[0], 1, 1e-12, "the greatest numbers there are");
	gp_targets_free(&out);
}

/* Curves that fall by 1 a step, by about as much after step 2. */
static void
check_stopped(void)
{
	static const double drops[] = { 0.9, 1, 1.1, 1.05, 0.95 };
	struct history *h =
	    history_new(1, false, HISTORY_POINTS | HISTORY_CURVES);
	struct space *space =
	    space_of("{\"x\": {\"type\": \"float\", \"min\": 0, \"max\": 1}}");
	struct gp_axes g;
	struct gp_rows rows;
	double x = 0.5, values[8], variances[8];
	int64_t t;
	int i;

	for (t = 1; t <= 5; t++) {
		history_add(h, t, &x);
		for (i = 0; i <= 3; i++)
			history_report(
			    h, t, i, 10 - i - (i == 3 ? drops[t - 1] - 1 : 0));
		history_end(h, t, TRIAL_COMPLETED, 8 - drops[t - 1]);
	}
	for (t = 6; t <= 8; t++)
		history_add(h, t, &x);
	history_report(h, 6, 2, 20);
	history_end(h, 6, TRIAL_STOPPED, 20);
	history_report(h, 7, 9, 30);
	history_end(h, 7, TRIAL_STOPPED, 30);
	history_report(h, 8, 1, NAN);
	history_end(h, 8, TRIAL_STOPPED, NAN);
	gp_axes_init(&g, space);
	gp_training_rows_init(&rows, &g, h, 100);
	is_int((long long)rows.n, 8, "all that ended are rows");
	gp_targets_guess_stopped(values, variances, &rows, h);
	is_near(values[5], 19, 1e-12, "the median change is added");
	ok(variances[5] > 0.001 && variances[5] < 0.02,
	    "its spread is the variance: %g", variances[5]);
	is_near(values[6], 30, 0, "without a trial there, the last value");
	ok(isnan(variances[6]), "with a variance that is not known");
	is_int(rows.kinds[7], GP_BAD, "one that diverged is bad");
	gp_training_rows_free(&rows);
	gp_training_rows_init(&rows, &g, h, 4);
	ok(rows.n == 4 && rows.trials[0] == 3 && rows.trials[1] == 4 &&
		rows.trials[2] == 7 && rows.trials[3] == 8,
	    "of too many the best and the newest");
	gp_training_rows_free(&rows);
	gp_axes_free(&g);
	space_free(space);
	history_free(h);
}

/* Every elementary interval of 2^8 parts has its one point. */
static void
check_even(void)
{
	enum { M = 256, D = 5 };
	static double x[M * D];
	uint32_t shift[D];
	unsigned char seen[D][M] = { 0 };
	struct rng rng;
	bool good = true;
	size_t i, k;

	rng_init(&rng, 3, 3);
	for (k = 0; k < D; k++)
		shift[k] = rng_u32(&rng);
	sobol_rows(x, M, D, shift);
	for (i = 0; i < M * D; i++)
		seen[i % D][(size_t)(x[i] * M)]++;
	for (k = 0; k < D; k++)
		for (i = 0; i < M; i++)
			good = good && seen[k][i] == 1;
	ok(good, "shifted Sobol points are evenly spread");
}

int
main(void)
{
	check_scores();
	check_tails();
	check_prior();
	check_alike();
	check_axes();
	check_values();
	check_failed();
	check_stopped();
	check_even();
	return done_testing();
}
