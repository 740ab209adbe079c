/* TPE as a strategy: deterministic, and robust against odd histories. */

#include <math.h>
#include <string.h>

#include "src/base/err.h"
#include "tests/support/strategy-run.h"
#include "tests/support/tap.h"

static void
check_endings(const char *options)
{
	static const char *const names[] = { "equal", "NaN", "failed",
		"stopped", "infinite", "mixed" };
	double x[DIMS_MAX];
	struct strategy_run r;
	int i, k, good;

	for (i = 0; i <= END_MIX; i++) {
		strategy_run_open(&r, "tpe", strategy_run_small, options, 5);
		for (k = 0, good = 0; k < 60; k++) {
			int64_t trial = strategy_run_next(&r, x);

			good += trial > 0 && strategy_run_in_cube(&r, x);
			/* Some are left to run. */
			if (k % 9 != 8)
				strategy_run_end(&r, trial, (enum ending)i);
		}
		ok(good == 60, "%s: all %s", options, names[i]);
		strategy_run_close(&r);
	}
}

/* Two that are asked in a row, and the same question twice. */
static void
check_same(void)
{
	double x[DIMS_MAX], y[DIMS_MAX], z[DIMS_MAX];
	struct strategy_run a, b;
	bool same = true;
	int i;

	strategy_run_open(&a, "tpe", strategy_run_small, "{}", 5);
	strategy_run_open(&b, "tpe", strategy_run_small, "{}", 5);
	for (i = 0; i < 40; i++) {
		strategy_run_end(&a, strategy_run_next(&a, x), END_MIX);
		strategy_run_end(&b, strategy_run_next(&b, y), END_MIX);
		same = same && memcmp(x, y, sizeof x) == 0;
	}
	ok(same, "the same history has the same next point");
	(void)strategy_run_next(&a, x);
	(void)strategy_run_next(&a, y);
	ok(memcmp(x, y, sizeof x) != 0, "two in a row are two");
	b.seed = 6;
	(void)strategy_run_next(&b, z);
	ok(memcmp(x, z, sizeof x) != 0, "another seed has another answer");
	strategy_run_close(&a);
	strategy_run_close(&b);
}

/* Trials that run drive the next ones away: the liar spreads a batch. */
static double
batch_spread(const char *options)
{
	static const char line[] = "{" UNIT("x") "}";
	double x, sum = 0, squares = 0;
	struct strategy_run r;
	int i;

	strategy_run_open(&r, "tpe", line, options, 2);
	for (i = 0; i < 30; i++) {
		int64_t trial = strategy_run_next(&r, &x);

		history_end(r.history, trial, TRIAL_COMPLETED, fabs(x - 0.6));
	}
	for (i = 0; i < 40; i++) {
		(void)strategy_run_next(&r, &x);
		sum += x / 40;
		squares += x * x / 40;
	}
	strategy_run_close(&r);
	return sqrt(squares - sum * sum);
}

static void
check_long(void)
{
	double x[DIMS_MAX] = { 0 };
	struct strategy_run r;
	int i, k;

	strategy_run_open(&r, "tpe", strategy_run_small, "{}", 5);
	for (i = 1; i <= 10000; i++) {
		for (k = 0; k < 8; k++)
			x[k] = fmod(i * 0.61803398875 * (k + 1), 1);
		space_snap(r.space, x);
		history_add(r.history, i, x);
		history_end(r.history, i, TRIAL_COMPLETED, x[0]);
	}
	is_int(strategy_run_next(&r, x), 10001, "after 10,000 trials");
	ok(x[0] < 0.1, "it searches near the good ones");
	strategy_run_close(&r);
}

static void
check_options(void)
{
	struct err e = ERR_INIT;
	struct strategy_run r;

	strategy_run_open(&r, "tpe", strategy_run_small,
	    "{\"group\": true, \"multivariate\": false}", 1);
	is_int(r.strategy->check(r.options, r.space, &e), -1,
	    "group without multivariate is refused");
	strategy_run_close(&r);
	strategy_run_open(
	    &r, "tpe", strategy_run_small, "{\"startup\": \"sobol\"}", 1);
	is_int(r.strategy->check(r.options, r.space, &e), 0, "sobol starts it");
	strategy_run_close(&r);
}

int
main(void)
{
	double liar, none;

	check_endings("{}");
	check_endings("{\"group\": true}");
	check_endings("{\"multivariate\": false, \"n_startup_trials\": 0,"
		      " \"prior_weight\": 0, \"gamma\": \"hyperopt\","
		      " \"weights\": \"uniform\"}");
	check_endings("{\"consider_magic_clip\": false,"
		      " \"consider_endpoints\": true, \"startup\": \"sobol\"}");
	check_same();
	liar = batch_spread("{}");
	none = batch_spread("{\"constant_liar\": false}");
	ok(liar > none, "the liar spreads a batch: %g against %g", liar, none);
	check_long();
	check_options();
	return done_testing();
}
