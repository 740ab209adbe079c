/* gp as a strategy: deterministic, and robust against odd histories. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "tests/support/gp-run.h"
#include "tests/support/tap.h"

static void
check_endings(void)
{
	static const char *const names[] = { "equal", "NaN", "failed",
		"stopped", "infinite", "mixed" };
	double x[DIMS_MAX];
	struct strategy_run r;
	int64_t trial;
	int i, k, good;

	for (i = 0; i <= END_MIX; i++) {
		gp_open(&r, strategy_run_small, "{\"candidates\": 512}", 5);
		for (k = 0, good = 0; k < 40; k++) {
			trial = strategy_run_next(&r, x);
			good += trial > 0 && strategy_run_in_cube(&r, x);
			/* Some are left to run. */
			if (k % 9 != 8)
				strategy_run_end(&r, trial, (enum ending)i);
		}
		is_int(good, 40, names[i]);
		strategy_run_close(&r);
	}
}

/* Two that are asked in a row, and the same question twice. */
static void
check_same(void)
{
	double x[DIMS_MAX], y[DIMS_MAX];
	struct strategy_run a, b;
	bool same = true;
	int i;

	gp_open(&a, strategy_run_small, "{\"candidates\": 512}", 5);
	gp_open(&b, strategy_run_small, "{\"candidates\": 512}", 5);
	for (i = 0; i < 30; i++) {
		strategy_run_end(&a, strategy_run_next(&a, x), END_MIX);
		strategy_run_end(&b, strategy_run_next(&b, y), END_MIX);
		same = same && memcmp(x, y, sizeof x) == 0;
	}
	ok(same, "the same history has the same next point");
	b.seed = 6;
	(void)strategy_run_next(&a, x);
	(void)strategy_run_next(&b, y);
	ok(memcmp(x, y, sizeof x) != 0, "another seed has another answer");
	strategy_run_close(&a);
	strategy_run_close(&b);
}

enum { DEFAULT_TRIALS = 40 };

/* The points of the trials with some options, on a function of valleys. */
static void
points_fill(double *points, const char *options)
{
	double x[DIMS_MAX] = { 0 };
	struct strategy_run r;
	int64_t trial;
	int i;

	gp_open(&r,
	    "{" UNIT("a") ", \"b\": {\"type\": \"int\", \"min\": 1, "
			  "\"max\": 200}}",
	    options, 3);
	for (i = 0; i < DEFAULT_TRIALS; i++) {
		trial = strategy_run_next(&r, x);
		memcpy(points + 2 * i, x, 2 * sizeof *x);
		history_end(r.history, trial, TRIAL_COMPLETED,
		    i == 3 ? 50
			   : sin(19 * x[0]) * cos(11 * x[1]) + x[0] * x[0]);
	}
	strategy_run_close(&r);
}

/* The defaults are those of the manual, and each option has an effect. */
static void
check_options(void)
{
	static const char said[] =
	    "{\"n_startup_trials\": 6, \"startup\": \"middle\", "
	    "\"deterministic_objective\": false, \"warp\": true, "
	    "\"cost_aware\": false, \"greedy\": 10, \"exact_after\": 10, "
	    "\"kernel\": \"auto\", "
	    "\"local_after\": 5, \"shorten\": 1, \"candidates\": 2048, "
	    "\"local_searches\": 8, \"restarts\": 4, \"fit_trials\": 200, "
	    "\"max_trials\": 4000}";
	static const char *const others[] = { "{\"n_startup_trials\": 9}",
		"{\"startup\": \"random\"}", "{\"startup\": \"sobol\"}",
		"{\"warp\": false}", "{\"exact_after\": 0}",
		"{\"kernel\": \"matern32\"}", "{\"exact_after\": 1}",
		"{\"local_after\": 0}", "{\"local_after\": 12}",
		"{\"shorten\": 0}", "{\"candidates\": 4096}",
		"{\"local_searches\": 1}", "{\"restarts\": 1}",
		"{\"fit_trials\": 12}", "{\"max_trials\": 12}" };
	double usual[2 * DEFAULT_TRIALS], points[2 * DEFAULT_TRIALS];
	size_t i;

	points_fill(usual, "{}");
	points_fill(points, said);
	ok(memcmp(usual, points, sizeof usual) == 0,
	    "without options it is as with the defaults of the manual");
	for (i = 0; i < sizeof others / sizeof *others; i++) {
		points_fill(points, others[i]);
		ok(memcmp(usual, points, sizeof usual) != 0,
		    "it is another search with %s", others[i]);
	}
}

/*
 * A slope with noise, and one lucky value away from its lower end: a value that
 * cannot be luck is followed, another one is not.
 */
static void
check_luck(bool exact)
{
	double x, found = 0;
	struct strategy_run r;
	int i;

	gp_open(&r, "{" UNIT("a") "}",
	    exact ? "{\"deterministic_objective\": true, \"local_after\": 0, "
		    "\"warp\": false}"
		  : "{\"local_after\": 0, \"warp\": false}",
	    5);
	for (i = 1; i <= 41; i++) {
		x = (i - 0.5) / 41;
		history_add(r.history, i, &x);
		history_end(r.history, i, TRIAL_COMPLETED,
		    i == 33 ? -0.4 : x + 0.24 * sin(3.0 * i * i));
	}
	(void)strategy_run_next(&r, &found);
	ok(exact ? fabs(found - 32.5 / 41) < 0.05 : found < 0.3, "%s: %g",
	    exact ? "beside the lucky value" : "at the lower end", found);
	strategy_run_close(&r);
}

/* Eight side by side: no two of them close together. */
static void
check_pending(void)
{
	double x[8][2], apart = INFINITY, u[2];
	struct strategy_run r;
	int i, k;

	gp_open(&r, "{" UNIT("a") "," UNIT("b") "}", FEW, 4);
	for (i = 0; i < 15; i++) {
		int64_t trial = strategy_run_next(&r, u);

		history_end(r.history, trial, TRIAL_COMPLETED,
		    (u[0] - 0.5) * (u[0] - 0.5) + sin(5 * u[1]));
	}
	for (i = 0; i < 8; i++) {
		(void)strategy_run_next(&r, x[i]);
		for (k = 0; k < i; k++)
			apart = fmin(
			    apart, hypot(x[i][0] - x[k][0], x[i][1] - x[k][1]));
	}
	ok(apart > 1e-3, "eight in a row are eight points: distance %g", apart);
	strategy_run_close(&r);
}

/*
 * Of a function that is hardly known: side by side they go to other places, as
 * the model has the running ones.
 */
static void
check_spread(const char *options, double least)
{
	double x[8][2], near, sum = 0, u[2];
	struct strategy_run r;
	int64_t trial;
	int i, k, seed;

	for (seed = 1; seed <= 4; seed++) {
		gp_open(&r, "{" UNIT("a") "," UNIT("b") "}", options,
		    (uint64_t)seed);
		for (i = 0; i < 10; i++) {
			trial = strategy_run_next(&r, u);
			history_end(r.history, trial, TRIAL_COMPLETED,
			    sin(9 * u[0]) + cos(7 * u[1]));
		}
		for (i = 0; i < 8; i++)
			(void)strategy_run_next(&r, x[i]);
		for (i = 0; i < 8; i++) {
			near = INFINITY;
			for (k = 0; k < 8; k++)
				if (k != i)
					near =
					    fmin(near, hypot(x[i][0] - x[k][0],
							   x[i][1] - x[k][1]));
			sum += near / 32;
		}
		strategy_run_close(&r);
	}
	ok(sum > least, "eight in a row go to other places: distance %g", sum);
}

/* A small space is tried out, every setting once. */
static void
check_every(void)
{
	bool seen[24] = { false };
	double x[2];
	struct value v[2];
	struct strategy_run r;
	int i, at, n = 0;

	gp_open(&r,
	    "{\"n\": {\"type\": \"int\", \"min\": 1, \"max\": 8},"
	    "\"k\": {\"type\": \"choice\", \"values\": [0, 1, 2]}}",
	    "{\"n_startup_trials\": 1}", 2);
	for (i = 0; i < 24; i++) {
		int64_t trial = strategy_run_next(&r, x);

		space_decode(r.space, x, v);
		at = (int)((v[0].integer - 1) * 3 + v[1].integer);
		n += i == 0 || !seen[at];
		seen[at] = true;
		history_end(r.history, trial, TRIAL_COMPLETED, v[0].real);
	}
	is_int(n, 24, "no setting is proposed twice");
	strategy_run_close(&r);
}

/* Known trials of any number, the better the smaller the first coordinate. */
static void
check_many(int n, int max_trials)
{
	char options[128];
	double x[DIMS_MAX] = { 0 };
	struct strategy_run r;
	int i, k;

	(void)snprintf(options, sizeof options,
	    "{\"candidates\": 2048, \"fit_trials\": 200, \"max_trials\": %d}",
	    max_trials);
	gp_open(&r, strategy_run_small, options, 5);
	for (i = 1; i <= n; i++) {
		for (k = 0; k < 8; k++)
			x[k] = fmod(i * 0.61803398875 * (k + 1), 1);
		if (i % 10 == 0)
			x[0] = 0.5; /* many alike */
		space_snap(r.space, x);
		history_add(r.history, i, x);
		history_end(r.history, i, TRIAL_COMPLETED, x[0]);
	}
	ok(strategy_run_next(&r, x) == n + 1 && x[0] < 0.1,
	    "after %d trials it searches near the good ones: %g", n, x[0]);
	strategy_run_close(&r);
}

/* Nothing to choose, and choices alone, and one trial. */
static void
check_odd(void)
{
	double x[DIMS_MAX];
	struct strategy_run r;
	int i;

	gp_open(&r, "{\"one\": {\"type\": \"int\", \"min\": 3, \"max\": 3}}",
	    "{\"n_startup_trials\": 1}", 1);
	for (i = 0; i < 3; i++)
		strategy_run_end(&r, strategy_run_next(&r, x), END_EQUAL);
	is_int(history_count(r.history), 3, "one setting again and again");
	strategy_run_close(&r);
	gp_open(&r, strategy_run_small,
	    "{\"n_startup_trials\": 1, \"candidates\": 64}", 1);
	strategy_run_end(&r, strategy_run_next(&r, x), END_EQUAL);
	is_int(strategy_run_next(&r, x), 2, "after one trial");
	strategy_run_close(&r);
}

/* The hpotune program itself has no LAPACK. */
static void
check_plain(void)
{
	double x[DIMS_MAX];
	struct strategy_ask ask = { 0 };
	struct suggestion out = { .x = x };
	struct err e = ERR_INIT;
	struct strategy_run r;

	gp_open(&r, strategy_run_small, "{\"n_startup_trials\": 1}", 1);
	strategy_run_end(&r, strategy_run_next(&r, x), END_EQUAL);
	ask = (struct strategy_ask){ .space = r.space,
		.history = r.history,
		.trial = 2,
		.kernels = kernels_plain() };
	ok(r.strategy->suggest(&out, &ask, r.options, &e) == -1 &&
		strstr(e.text, "LAPACK") != NULL,
	    "without LAPACK it reports it");
	strategy_run_close(&r);
}

int
main(void)
{
	check_endings();
	check_same();
	check_options();
	check_luck(true);
	check_luck(false);
	check_pending();
	check_spread(FEW, 0.008);
	check_spread("{\"candidates\": 4096, \"greedy\": 0}", 0.03);
	check_every();
	check_many(1000, 4000);
	check_many(10000, 300);
	check_odd();
	check_plain();
	return done_testing();
}
