/*
 * Improvement per second: the model of durations against a known function, its
 * part of the score, when it counts, and a search of two equal valleys one of
 * which is cheap.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/rng.h"
#include "strategies/gp/gp.h"
#include "tests/support/gp-run.h"
#include "tests/support/tap.h"

enum { TRIALS = 40, POINTS = 50 };

static const char square[] = "{" UNIT("a") "," UNIT("b") "}";

/* A question about the trials of a run, and what is fitted to them. */
struct scene {
	struct strategy_run run;
	struct strategy_ask ask;
	struct gp_question q;
	struct gp_acquisition_goal goal;
};

/* exp(3 a) seconds, and some noise. */
static double
seconds_of(const double *x, struct rng *rng)
{
	return exp(3 * x[0] + 0.1 * rng_normal(rng));
}

static void
scene_open(struct scene *s, const char *options)
{
	struct rng rng;
	double x[2];
	int64_t i;

	*s = (struct scene){ 0 };
	gp_open(&s->run, square, options, 1);
	rng_init(&rng, 7, 0);
	for (i = 1; i <= TRIALS; i++) {
		x[0] = rng_uniform(&rng);
		x[1] = rng_uniform(&rng);
		history_add(s->run.history, i, x);
		history_set_seconds(s->run.history, i, seconds_of(x, &rng));
		history_end(s->run.history, i, TRIAL_COMPLETED,
		    (x[0] - 0.7) * (x[0] - 0.7) + x[1]);
	}
}

static void
scene_fit(struct scene *s)
{
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
	s->goal.kernels = s->run.kernels;
	s->goal.space = &s->q.space;
	gp_cost_fit(&s->goal, &s->q);
}

static void
scene_close(struct scene *s)
{
	gp_models_free(&s->goal);
	gp_training_rows_free(&s->q.rows);
	gp_axes_free(&s->q.space);
	strategy_run_close(&s->run);
}

/* Without models the score is the part of the durations alone. */
static void
check_known(void)
{
	double x[2 * POINTS], score[POINTS], slopes[2 * POINTS], more[2];
	double wrong = 0, bent = 0, base[2] = { 0.5, 0.5 }, middle;
	static const double step = 1e-5;
	struct scene s;
	struct rng rng;
	size_t i, k;

	scene_open(&s, "{\"cost_aware\": true}");
	scene_fit(&s);
	rng_init(&rng, 8, 0);
	for (i = 0; i < 2 * POINTS; i++)
		x[i] = 0.05 + 0.9 * rng_uniform(&rng);
	gp_acquisition(&s.goal, base, 1, &middle, NULL);
	gp_acquisition(&s.goal, x, POINTS, score, NULL);
	for (i = 0; i < POINTS; i++)
		wrong = fmax(
		    wrong, fabs(score[i] - middle + 3 * (x[2 * i] - base[0])));
	ok(wrong < 0.25, "minus the logarithm of the seconds: %g", wrong);
	gp_acquisition(&s.goal, x, POINTS, score, slopes);
	for (i = 0; i < POINTS; i++)
		for (k = 0; k < 2; k++) {
			memcpy(base, x + 2 * i, sizeof base);
			base[k] += step;
			gp_acquisition(&s.goal, base, 1, more, NULL);
			base[k] -= 2 * step;
			gp_acquisition(&s.goal, base, 1, more + 1, NULL);
			bent =
			    fmax(bent, fabs(slopes[2 * i + k] -
					    (more[0] - more[1]) / (2 * step)));
		}
	ok(bent < 1e-4, "with its slopes: %g", bent);
	scene_close(&s);
}

/* The exponent falls with the time that is left. */
static void
check_cooled(void)
{
	static const double used[] = { 0, 0.5, 1 };
	double score[3][2];
	static const double x[] = { 0.1, 0.5, 0.9, 0.5 };
	struct scene s;
	size_t i;

	for (i = 0; i < 3; i++) {
		scene_open(&s, "{}");
		s.ask.time_used = used[i];
		scene_fit(&s);
		gp_acquisition(&s.goal, x, 2, score[i], NULL);
		scene_close(&s);
	}
	ok(fabs(score[0][0] - score[0][1] - 2.4) < 0.25,
	    "at the beginning it counts in full: %g",
	    score[0][0] - score[0][1]);
	ok(fabs((score[1][0] - score[1][1]) / (score[0][0] - score[0][1]) -
		0.5) < 1e-9,
	    "half of it after half of the time");
	ok(score[2][0] == score[2][1], "and nothing at the end");
}

static void
check_unknown(void)
{
	struct scene s;
	int64_t i;

	scene_open(&s, "{}");
	for (i = 5; i <= TRIALS; i++)
		history_set_seconds(s.run.history, i, 0);
	scene_fit(&s);
	ok(s.goal.cost == NULL, "no model of four known durations");
	scene_close(&s);
	scene_open(&s, "{}");
	for (i = 1; i <= TRIALS; i++)
		history_set_seconds(s.run.history, i, 60 + 0.1 * (double)i);
	scene_fit(&s);
	ok(s.goal.cost == NULL, "nor of those that are alike");
	scene_close(&s);
	scene_open(&s, "{}");
	for (i = 1; i <= TRIALS; i++)
		history_end(s.run.history, i,
		    i < 5 ? TRIAL_COMPLETED : TRIAL_FAILED, NAN);
	scene_fit(&s);
	ok(s.goal.cost == NULL, "nor of those of failed trials");
	scene_close(&s);
}

static void
check_counts(void)
{
	static const struct {
		const char *options;
		bool limited, counts;
	} rows[] = { { "{}", false, false }, { "{}", true, true },
		{ "{\"cost_aware\": true}", false, true },
		{ "{\"cost_aware\": true}", true, true },
		{ "{\"cost_aware\": false}", true, false } };
	struct strategy_run r;
	size_t i;

	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct strategy_ask ask = { .time_limited = rows[i].limited };
		struct gp_question q = { .ask = &ask };

		gp_open(&r, square, rows[i].options, 1);
		q.options = r.options;
		ok(gp_cost_counts(&q) == rows[i].counts,
		    "durations %s with %s%s",
		    rows[i].counts ? "count" : "do not count", rows[i].options,
		    rows[i].limited ? " and a limit of time" : "");
		strategy_run_close(&r);
	}
}

/* Two valleys that are equally deep; seconds before one is found, and where. */
static double
valleys(const char *options, double *found)
{
	double x[2], loss, left, right, used = 0, best = INFINITY;
	struct strategy_run r;
	int64_t trial;

	gp_open(&r, square, options, 3);
	while (best > 1e-3) {
		trial = strategy_run_next(&r, x);
		left = (x[0] - 0.2) * (x[0] - 0.2);
		right = (x[0] - 0.8) * (x[0] - 0.8);
		loss = fmin(left, right) + (x[1] - 0.4) * (x[1] - 0.4);
		history_set_seconds(r.history, trial, exp(5 * x[0]));
		history_end(r.history, trial, TRIAL_COMPLETED, loss);
		used += exp(5 * x[0]);
		if (loss < best) {
			best = loss;
			*found = x[0];
		}
	}
	strategy_run_close(&r);
	return used;
}

static void
check_valleys(void)
{
	double usual, aware, there, found = 0;

	usual = valleys("{}", &there);
	aware = valleys("{\"cost_aware\": true}", &found);
	ok(fabs(found - 0.2) < 0.1, "the cheap valley is found: at %g", found);
	ok(aware <= usual, "in %g seconds, without durations in %g", aware,
	    usual);
}

int
main(void)
{
	check_known();
	check_cooled();
	check_unknown();
	check_counts();
	check_valleys();
	return done_testing();
}
