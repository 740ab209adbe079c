/*
 * Failed trials in gp: by chance they say nothing, a region and a choice in which
 * all fail are left, and the search is as good as without them.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/base/rng.h"
#include "strategies/gp/gp.h"
#include "tests/support/gp-run.h"
#include "tests/support/tap.h"

enum { TRIALS = 60, D = 2 };

static const char square[] = "{" UNIT("a") "," UNIT("b") "}";
static const char chosen[] =
    "{" UNIT("a") ", \"c\": {\"type\": \"choice\", \"values\": [1, 2, 3, 4]}}";

/* Random trials of which some fail, and their rows. */
struct scene {
	struct strategy_run run;
	struct strategy_ask ask;
	struct gp_question q;
};

/* Trials beyond a bound of the first parameter fail, and others by chance. */
static void
scene_open(struct scene *s, double bound, double chance)
{
	struct rng rng;
	double x[D];
	int64_t i;
	bool fails;

	*s = (struct scene){ 0 };
	gp_open(&s->run, square, "{}", 1);
	rng_init(&rng, 5, 0);
	for (i = 1; i <= TRIALS; i++) {
		x[0] = rng_uniform(&rng);
		x[1] = rng_uniform(&rng);
		fails = rng_uniform(&rng) < chance || x[0] > bound;
		history_add(s->run.history, i, x);
		history_end(s->run.history, i,
		    fails ? TRIAL_FAILED : TRIAL_COMPLETED, x[1]);
	}
	s->ask.space = s->run.space;
	s->ask.history = s->run.history;
	s->ask.trial = TRIALS + 1;
	s->ask.kernels = s->run.kernels;
	s->q.ask = &s->ask;
	s->q.options = s->run.options;
	s->q.rule.restarts = 4;
	s->q.rule.fit_trials = 200;
	gp_axes_init(&s->q.space, s->run.space);
	gp_training_rows_init(&s->q.rows, &s->q.space, s->run.history, 1000);
	gp_failures_set_apart(&s->q.rows, &s->q.failures);
}

static void
scene_close(struct scene *s)
{
	gp_failures_free(&s->q.failures);
	gp_training_rows_free(&s->q.rows);
	gp_axes_free(&s->q.space);
	strategy_run_close(&s->run);
}

static void
check_rows(void)
{
	struct scene s;
	size_t i, bad = 0;

	scene_open(&s, 0.7, 0);
	for (i = 0; i < s.q.rows.n; i++)
		bad += s.q.rows.kinds[i] == GP_BAD || s.q.rows.x[i * D] > 0.7 ||
		       history_state(s.run.history, s.q.rows.trials[i]) !=
			   TRIAL_COMPLETED;
	ok(bad == 0 && s.q.rows.n + s.q.failures.failed == TRIALS &&
		s.q.failures.n == TRIALS,
	    "failed trials are no rows of results");
	scene_close(&s);
	scene_open(&s, -1, 0);
	ok(s.q.rows.n == TRIALS && s.q.failures.failed == 0,
	    "unless no result would be left");
	scene_close(&s);
	scene_open(&s, 2, 0);
	ok(s.q.rows.n == TRIALS && s.q.failures.failed == 0,
	    "nothing is set apart without a failure");
	scene_close(&s);
}

/* The probability that the process of failures is below its limit. */
static double
probability(const struct scene *s, const struct gp *gp, double limit, double a)
{
	const double x[D] = { a, 0.5 };
	double mean, variance, slopes[2];

	s->run.kernels->gp_predict(
	    s->run.kernels->dev, gp, x, 1, &mean, &variance);
	return exp(gp_acquisition_log_below(
	    mean, sqrt(variance), limit, slopes, slopes + 1));
}

static void
check_model(void)
{
	struct scene s;
	struct gp *gp;
	double theta[D + 3], limit, left, right;

	scene_open(&s, 2, 0.3);
	ok(s.q.failures.failed > 10, "%zu fail by chance", s.q.failures.failed);
	ok(gp_failures_fit(&s.q, theta, &limit) == NULL,
	    "which says nothing against any place");
	scene_close(&s);
	scene_open(&s, 0.7, 0.1);
	gp = gp_failures_fit(&s.q, theta, &limit);
	ok(gp != NULL, "a region is found among failures by chance");
	left = gp != NULL ? probability(&s, gp, limit, 0.3) : NAN;
	right = gp != NULL ? probability(&s, gp, limit, 0.9) : NAN;
	ok(left > 0.9 && right < 0.01, "it is left: %g, elsewhere %g", right,
	    left);
	if (gp != NULL)
		s.run.kernels->gp_free(s.run.kernels->dev, gp);
	scene_close(&s);
}

/* The least loss of 40 trials, of which some fail by chance. */
static double
least_found(double chance, enum trial_state end)
{
	double x[D], loss, best = INFINITY;
	struct strategy_run r;
	struct rng rng;
	int64_t trial, i;
	bool fails;

	gp_open(&r, square, "{}", 3);
	rng_init(&rng, 9, 0);
	for (i = 0; i < 40; i++) {
		trial = strategy_run_next(&r, x);
		loss = (x[0] - 0.3) * (x[0] - 0.3) +
		       2 * (x[1] - 0.6) * (x[1] - 0.6);
		fails = rng_uniform(&rng) < chance;
		history_end(r.history, trial, fails ? end : TRIAL_COMPLETED,
		    fails ? NAN : loss);
		best = fails ? best : fmin(best, loss);
	}
	strategy_run_close(&r);
	return best;
}

/* How many of the last 20 of 40 trials use a choice that always fails. */
static size_t
wasted(void)
{
	double x[D];
	struct strategy_run r;
	int64_t trial, i;
	size_t n = 0;
	bool fails;

	gp_open(&r, chosen, "{}", 4);
	for (i = 0; i < 40; i++) {
		trial = strategy_run_next(&r, x);
		fails = x[1] > 0.5;
		n += fails && i >= 20;
		history_end(r.history, trial,
		    fails ? TRIAL_FAILED : TRIAL_COMPLETED,
		    fails ? NAN : fabs(x[0] - 0.4) + (x[1] > 0.25));
	}
	strategy_run_close(&r);
	return n;
}

static void
check_search(void)
{
	double best = least_found(0.3, TRIAL_FAILED);

	ok(best < 1e-5, "three of ten fail by chance: %g of 40 trials", best);
	best = least_found(0.3, TRIAL_COMPLETED);
	ok(best < 1e-5, "or have no result: %g", best);
	ok(wasted() <= 4, "choices that always fail are left: %zu", wasted());
}

int
main(void)
{
	check_rows();
	check_model();
	check_search();
	return done_testing();
}
