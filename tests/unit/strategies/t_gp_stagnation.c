/*
 * gp without progress: how many trials are counted, by how much the scales
 * become shorter, and for which suggestions.
 */

#include <math.h>
#include <string.h>

#include "kernels/kernels.h"
#include "src/model/history/history.h"
#include "strategies/gp/gp.h"
#include "strategies/strategy.h"
#include "tests/support/tap.h"

static void
add(struct history *h, enum trial_state state, double value)
{
	double x = 0.5;
	int64_t trial = history_count(h) + 1;

	history_add(h, trial, &x);
	if (state != TRIAL_RUNNING)
		history_end(h, trial, state, value);
}

/* The median of what is there is 100, the best 0, and so it stays. */
static void
check_trials(void)
{
	struct history *h = history_new(1, false, HISTORY_POINTS);
	int i;

	is_int((long)gp_stagnation_trials(h), 0,
	    "without a trial there is no "
	    "stagnation");
	add(h, TRIAL_FAILED, NAN);
	add(h, TRIAL_FAILED, NAN);
	is_int((long)gp_stagnation_trials(h), 0,
	    "without a result there is no "
	    "stagnation");
	for (i = 0; i < 9; i++)
		add(h, TRIAL_COMPLETED, 100);
	add(h, TRIAL_COMPLETED, 0);
	is_int((long)gp_stagnation_trials(h), 0, "the last trial is progress");
	add(h, TRIAL_COMPLETED, 50);
	add(h, TRIAL_FAILED, NAN);
	add(h, TRIAL_STOPPED, 70);
	is_int((long)gp_stagnation_trials(h), 3,
	    "trials that completed, failed or were stopped count");
	add(h, TRIAL_RUNNING, 0);
	add(h, TRIAL_CANCELLED, 0);
	is_int((long)gp_stagnation_trials(h), 3,
	    "running and cancelled trials do not count");
	add(h, TRIAL_COMPLETED, -0.05);
	is_int((long)gp_stagnation_trials(h), 4,
	    "half a thousandth of the way from the median is no progress");
	add(h, TRIAL_COMPLETED, -0.2);
	is_int((long)gp_stagnation_trials(h), 0, "two thousandths are");
	history_free(h);
}

/* A value that breaks a constraint is no progress. */
static void
check_constraint(void)
{
	struct history *h = history_new(1, false, HISTORY_POINTS);
	const bool maximize = false;
	double value, breach, x = 0.5;
	int64_t i;

	history_set_objectives(h, 1, &maximize, 1);
	for (i = 1; i <= 6; i++) {
		value = i == 4 ? -9 : 10 - (double)(i < 3 ? i : 2);
		breach = i == 4 ? 1 : 0;
		history_add(h, i, &x);
		history_results(h, i, &value, &breach);
		history_end(h, i, TRIAL_COMPLETED, value);
	}
	is_int((long)gp_stagnation_trials(h), 4,
	    "the best value that breaks a constraint is no progress");
	history_free(h);
}

/* Trials of another study are numbered up to 0. */
static void
check_others(void)
{
	struct history *h = history_new(1, false, HISTORY_POINTS);
	double x = 0.5;
	int64_t i;

	history_add_prior(h, 10);
	for (i = -9; i <= 0; i++) {
		history_add(h, i, &x);
		history_end(h, i, TRIAL_COMPLETED, i == -7 ? 0 : 100);
	}
	is_int((long)gp_stagnation_trials(h), 0,
	    "trials of other studies are no stagnation");
	add(h, TRIAL_COMPLETED, 50);
	is_int((long)gp_stagnation_trials(h), 1,
	    "but what they found is what is to be improved");
	add(h, TRIAL_COMPLETED, -50);
	is_int((long)gp_stagnation_trials(h), 0, "as the last trial does");
	history_free(h);
}

static void
check_factor(void)
{
	struct history *h = history_new(1, false, HISTORY_POINTS);
	struct history *several = history_new(1, false, HISTORY_POINTS);
	const bool goals[2] = { false, false };
	struct strategy_ask ask = { .history = h, .trial = 12 };
	double x = 0.5, losses[2] = { 1, 1 };
	struct gp_axis axes[5] = { { .levels = 0 }, { .levels = 4 } };
	struct gp_axes g = { .axes = axes, .d = 5 };
	int64_t i;

	history_set_objectives(several, 2, goals, 0);
	for (i = 1; i <= 26; i++) {
		add(h, TRIAL_COMPLETED, i == 1 ? 0 : 1);
		history_add(several, i, &x);
		history_results(several, i, losses, NULL);
		history_end(several, i, TRIAL_COMPLETED, 1);
	}
	ok(gp_stagnation_factor(&ask, &g, 25, 1) == 1, "as the fit until then");
	is_near(gp_stagnation_factor(&ask, &g, 5, 1), 5, 1e-12,
	    "20 more trials in 5 dimensions");
	is_near(gp_stagnation_factor(&ask, &g, 5, 0.5), 3, 1e-12,
	    "at half the rate");
	is_near(gp_stagnation_factor(&ask, &g, 5, 9), 16, 1e-12, "16 at most");
	ok(gp_stagnation_factor(&ask, &g, 0, 1) == 1,
	    "never with local_after 0");
	axes[1].levels = 0;
	ok(gp_stagnation_factor(&ask, &g, 5, 1) == 1,
	    "never where all parameters are continuous");
	axes[1].levels = 4;
	ask.trial = 13;
	ok(gp_stagnation_factor(&ask, &g, 5, 1) == 1,
	    "every fourth suggestion is with the scales of the fit");
	ask.trial = 14;
	ask.history = several;
	ok(gp_stagnation_factor(&ask, &g, 5, 1) == 1,
	    "with several objectives every suggestion has those of the fit");
	history_free(h);
	history_free(several);
}

/* The relevances of the fit and nothing else become larger. */
static void
check_fit(void)
{
	enum { N = 20, D = 2 };
	struct gp_hyperparameters_rule rule = { .restarts = 2,
		.fit_trials = N };
	double x[N * D], y[N], fitted[D + 3], theta[D + 3];
	struct gp_data data = { .n = N, .d = D, .x = x, .y = y };
	int i;

	data.noise_floor = 1e-8;
	for (i = 0; i < N; i++) {
		x[i * D] = fmod(i * 0.618, 1);
		x[i * D + 1] = fmod(i * 0.414, 1);
		y[i] = sin(7 * x[i * D]) + x[i * D + 1];
	}
	gp_hyperparameters_fit(fitted, kernels_cpu(), &data, &rule);
	rule.shorten = 1.5;
	gp_hyperparameters_fit(theta, kernels_cpu(), &data, &rule);
	for (i = 0; i < D; i++)
		is_near(theta[i] - fitted[i], 1.5, 1e-12, "a relevance");
	ok(memcmp(theta + D, fitted + D, 3 * sizeof *theta) == 0,
	    "variances are those of the fit");
}

int
main(void)
{
	check_trials();
	check_constraint();
	check_others();
	check_factor();
	check_fit();
	return done_testing();
}
