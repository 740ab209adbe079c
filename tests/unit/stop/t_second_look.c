/*
 * Second looks: H against the rule median's own pool, the order, the budget.
 */

#include "src/base/mem.h"
#include "src/base/rng.h"
#include "strategies/stop/second-look/second-look.h"
#include "tests/support/rule-bench.h"

enum { STUDIES = 300, TRIALS = 24, STEPS = 20 };

/* H by medians of the pool of a rule that has seen every report. */
static int64_t
lost_by_medians(struct bench *b, int64_t trial, int64_t max_steps)
{
	struct curve c = history_curve(b->h, trial);
	int64_t step, n;
	double median;
	size_t i;

	for (i = 5; i + 1 < c.n; i++) {
		step = curve_step(&c, i);
		if (5 * step < max_steps ||
		    (max_steps > 0 && i + 1 >= (size_t)max_steps) ||
		    !stop_rule_set_median(b->set, b->h, step, &n, &median) ||
		    n <= 5)
			continue;
		if (curve_value(&c, i) > history_flip_sign(b->h, median))
			return 1;
	}
	return 0;
}

/* The five best by repeated search. */
static void
hurt_by_medians(struct bench *b, struct second_look_hurt *hurt, int64_t max)
{
	bool seen[TRIALS + 1] = { false };
	int64_t t, best;

	*hurt = (struct second_look_hurt){ .share = 1 };
	while (hurt->trials < 5) {
		best = 0;
		for (t = 1; t <= history_count(b->h); t++)
			if (!seen[t] &&
			    history_state(b->h, t) == TRIAL_COMPLETED &&
			    isfinite(history_loss(b->h, t)) &&
			    (best == 0 || history_loss(b->h, t) <
					      history_loss(b->h, best)))
				best = t;
		if (best == 0)
			break;
		seen[best] = true;
		hurt->trials++;
		hurt->lost += lost_by_medians(b, best, max);
		hurt->share = (double)hurt->lost / (double)hurt->trials;
	}
}

/* Trials of any length, with gaps, equal values and values that are none. */
static void
any_study(struct bench *b, struct rng *r)
{
	int64_t t, step, until;
	double value = 0;
	int grid = (int)rng_below(r, 2);

	for (t = 1; t <= TRIALS; t++) {
		bench_report(b, t, 0, 1);
		until =
		    rng_below(r, 2) ? STEPS : 1 + (int64_t)rng_below(r, STEPS);
		for (step = 1; step <= until; step++) {
			if (!grid && rng_below(r, 3) == 0)
				continue;
			value = rng_below(r, 30) == 0 ? NAN
				: rng_below(r, 30) == 0
				    ? INFINITY
				    : floor(8 * rng_normal(r)) / 8 +
					  (double)(t * step) / 99;
			bench_report(b, t, step, value);
		}
		bench_end(b, t,
		    rng_below(r, 3) ? TRIAL_COMPLETED : TRIAL_STOPPED, value);
	}
}

static void
test_hurt(void)
{
	struct second_look_hurt got, want;
	int differ = 0, some = 0, k;
	struct rng r;

	for (k = 0; k < STUDIES; k++) {
		int64_t max = k % 3 ? STEPS : 0;
		struct bench b = bench_open("median", "{}", k % 2, max);

		rng_init(&r, 1, (uint64_t)k);
		any_study(&b, &r);
		second_look_hurt(&got, b.h, max);
		hurt_by_medians(&b, &want, max);
		differ += got.trials != want.trials || got.lost != want.lost ||
			  got.share != want.share;
		some += got.lost > 0 && got.lost < got.trials;
		bench_close(&b);
	}
	is_int(differ, 0, "H is that of the rule median");
	ok(some > STUDIES / 4, "in studies where it matters");
}

/* Reports 1 to until; the last one is the result. */
static void
line(struct bench *b, int64_t trial, int64_t until, double from, double by,
    enum trial_state state)
{
	int64_t step;

	for (step = 1; step <= until; step++)
		bench_report(b, trial, step, from + by * (double)step);
	bench_end(b, trial, state, from + by * (double)until);
}

/*
 * 10 trials of 20 steps, 2 of them completed: stopped at step 8 with the values
 * 3 to 9, and 4 again.
 */
static void
plain_study(struct bench *b, struct second_look_trial *stopped)
{
	int64_t t;

	line(b, 1, STEPS, 1, 0, TRIAL_COMPLETED);
	line(b, 2, STEPS, 2, 0, TRIAL_COMPLETED);
	for (t = 3; t <= 10; t++) {
		line(b, t, 8, t == 10 ? 4 : (double)t, 0, TRIAL_STOPPED);
		stopped[t - 3] = (struct second_look_trial){ .trial = t,
			.step = 8,
			.candidate = true,
			.checkpoint = true };
	}
}

static void
test_order(void)
{
	struct bench b = bench_open("none", "{}", false, STEPS);
	struct second_look_trial stopped[8], swap;
	struct second_look_study s = { .history = b.h,
		.max_steps = STEPS,
		.share = 1,
		.stopped = stopped,
		.n_stopped = 8 };
	struct second_look look;

	plain_study(&b, stopped);
	second_look_decide(&look, &s);
	is_int(look.full, 200, "T is the steps of all trials");
	is_int(look.saved, 8 * 12, "what stopping has skipped");
	is_int(look.hurt.lost, 0, "flat curves cause no error");
	is_int(look.budget, 4, "so 2 %% of T may be spent");
	is_int(look.trial, 0, "which is less than any trial needs");

	/* The best one begins late: the median would have stopped it. */
	line(&b, 11, STEPS, 30, -1.5, TRIAL_COMPLETED);
	second_look_decide(&look, &s);
	is_int(look.hurt.lost, 1, "one of three would have been stopped");
	is_int(look.budget, 77, "(2 %% + 1/3) x 220");
	is_int(look.trial, 3, "the first of equal chances");
	is_int(look.rank, 2, "two were better at step 8");
	is_int(look.reached, 10, "of ten that got there");
	is_int(look.price, 12, "to the end");
	ok(look.value == 3, "with its value");

	s.share = 0.5;
	stopped[0].price = 12;
	stopped[0].candidate = false;
	second_look_decide(&look, &s);
	is_int(look.budget, 41, "(2 %% + 1/6) x 220");
	is_int(look.spent, 12, "one earlier second look has spent 12 steps");
	is_int(look.trial, 4, "the next");
	is_int(look.rank, 3, "an equal one is not better");
	swap = stopped[1];
	stopped[1] = stopped[7];
	stopped[7] = swap;
	second_look_decide(&look, &s);
	is_int(look.trial, 4, "in any order of the list");
	stopped[7].checkpoint = false;
	second_look_decide(&look, &s);
	is_int(look.price, 20, "all steps without a checkpoint");
	stopped[7].price = 20;
	stopped[7].candidate = false;
	second_look_decide(&look, &s);
	is_int(look.trial, 0, "9 steps are left, which is no trial");
	s.share = 0;
	second_look_decide(&look, &s);
	is_int(look.budget, 0, "off");
	bench_close(&b);
}

/* A candidate behind all of the best is none, until H shows that they cross. */
static void
test_open(void)
{
	struct bench b = bench_open("none", "{}", false, STEPS);
	struct second_look_trial stopped[8];
	struct second_look_study s = { .history = b.h,
		.max_steps = STEPS,
		.share = 1,
		.stopped = stopped,
		.n_stopped = 8 };
	struct second_look look;

	plain_study(&b, stopped);
	/* At step 8 it has 4.8, and three stopped ones are better. */
	line(&b, 11, STEPS, 6.4, -0.2, TRIAL_COMPLETED);
	second_look_decide(&look, &s);
	is_int(look.hurt.lost, 1, "one of the best was late");
	is_int(look.trial, 3, "a trial that was before it there is resumed");
	stopped[0].candidate = false;
	stopped[1].candidate = false;
	stopped[7].candidate = false;
	second_look_decide(&look, &s);
	ok(look.trial == 0 && look.budget >= 12,
	    "trials behind all of the best are not resumed");
	/* Late at step 6, at step 8 the first. */
	line(&b, 12, STEPS, 30, -4, TRIAL_COMPLETED);
	second_look_decide(&look, &s);
	is_int(look.trial, 0, "half of the best are not more than half");
	line(&b, 13, STEPS, 30, -4, TRIAL_COMPLETED);
	second_look_decide(&look, &s);
	is_int(look.hurt.lost, 3, "when the median is wrong about most");
	is_int(look.trial, 5, "they are");
	bench_close(&b);
}

static void
test_edges(void)
{
	struct bench b = bench_open("none", "{}", true, 0);
	struct second_look_trial stopped[3] = {
		{ .trial = 1,
		    .step = 9,
		    .candidate = true,
		    .checkpoint = true },
		{ .trial = 2,
		    .step = 8,
		    .candidate = true,
		    .checkpoint = true },
		{ .trial = 3, .step = 8, .candidate = true, .checkpoint = true }
	};
	struct second_look_study s = {
		.history = b.h, .share = 1, .stopped = stopped, .n_stopped = 3
	};
	struct second_look look;
	int64_t step;

	for (step = 0; step <= 9; step++)
		bench_report(&b, 1, step, step < 9 ? 9 : NAN);
	bench_end(&b, 1, TRIAL_STOPPED, 9);
	line(&b, 2, 8, 1, 0, TRIAL_STOPPED);
	for (step = 1; step <= 8; step++)
		bench_report(&b, 3, step, step == 6 ? 5 : 0);
	bench_end(&b, 3, TRIAL_STOPPED, 5);
	second_look_decide(&look, &s);
	ok(look.hurt.share == 1 && look.trial == 0,
	    "nothing completed: H is 1, and how far a trial goes is unknown");
	s.max_steps = 12;
	second_look_decide(&look, &s);
	is_int(look.saved, 2 + 4 + 4, "a step 0 is a step");
	is_int(look.budget, 10, "never more than was saved");
	is_int(look.trial, 3, "the best of the last three, to maximize");
	is_int(look.rank, 1, "behind the one that is not a number now");
	for (step = 0; step <= 13; step++)
		bench_report(&b, 4, step, 0);
	bench_end(&b, 4, TRIAL_COMPLETED, 0);
	s.max_steps = 0;
	second_look_decide(&look, &s);
	is_int(look.full, 4 * 14, "the longest completed one decides");
	stopped[2].candidate = stopped[1].candidate = false;
	second_look_decide(&look, &s);
	is_int(look.trial, 0, "a last report that is none is no candidate");
	bench_close(&b);
}

int
main(void)
{
	test_hurt();
	test_order();
	test_open();
	test_edges();
	return done_testing();
}
