/* The median family by hand: every choice of stopping.md section 1. */

#include "tests/stoppers.h"

/* Report values at steps 0, 1, …; the verdicts as a string. */
static void
run(struct bench *b, int64_t trial, const double *v, int n, const char *want,
    const char *what)
{
	char got[64] = "";
	int i;

	for (i = 0; i < n; i++)
		got[i] = bench_report(b, trial, i, v[i]);
	is_str(got, want, what);
}

/* Trials 1 … n that end after steps 0 … steps - 1 with value t + step / 8. */
static void
feed_fan(struct bench *b, int n, int steps, enum trial_state state)
{
	int t, s;

	for (t = 1; t <= n; t++) {
		for (s = 0; s < steps; s++)
			bench_feed(b, t, s, t + s / 8.0);
		bench_end(b, t, state, t);
	}
}

static void
test_default(void)
{
	struct bench b = bench_open("median", NULL, false, 20);
	double v[] = { 9, 9, 9, 9, 9, 9, 9, 9 };

	feed_fan(&b, 5, 8, TRIAL_STOPPED);
	run(&b, 6, v, 8, ".....TTT",
	    "median: warm-up of 5 reports, then worse than the median");
	is_str(b.last.why, "9 is above the median 3.875 of 5 trials at step 7",
	    "it says why");
	is_near(b.last.threshold, 3.875, 0, "threshold is the median");
	is_int(b.last.pool, 5, "of five");
	is_str(b.last.rule, "median", "by its name");
	bench_close(&b);
}

static void
test_maximize(void)
{
	struct bench b = bench_open("median", "{\"warmup_steps\":0}", true, 0);
	int t;

	/* Negative metrics, to be maximised. */
	for (t = 1; t <= 6; t++)
		bench_feed(&b, t, 0, -t);
	is_int(
	    bench_report(&b, 7, 0, -3.5), '.', "equal to the median goes on");
	is_int(bench_report(&b, 8, 0, -3.75), 'T', "below it stops");
	is_near(b.last.threshold, -3.5, 0, "threshold in the user's sign");
	is_near(b.last.value, -3.75, 0, "value in the user's sign");
	is_str(b.last.why,
	    "-3.75 is below the median -3.5 of 7 trials at step 0",
	    "below, when more is better");
	bench_close(&b);
}

static void
test_pool(void)
{
	struct bench b = bench_open("median", "{\"warmup_steps\":0}", false, 0);
	int t;

	for (t = 1; t <= 4; t++)
		bench_feed(&b, t, 10, t);
	is_int(bench_report(&b, 5, 10, 99), '.', "four others do not judge");
	bench_feed(&b, 6, 10, NAN);
	is_int(bench_report(&b, 7, 10, 99), 'T',
	    "the stopped one counts, the NaN does not");
	is_int(b.last.pool, 5, "five others have a number");
	is_int(bench_report(&b, 8, 9, 99), '.', "nobody has a value at step 9");
	is_int(bench_report(&b, 8, 11, 99), '.', "nobody has reached step 11");
	bench_feed(&b, 1, 20, 1.5);
	bench_feed(&b, 2, 20, 1.5);
	bench_feed(&b, 3, 20, 1.5);
	bench_feed(&b, 4, 20, 1.5);
	bench_feed(&b, 5, 20, 1.5);
	is_int(bench_report(&b, 9, 15, 2.6), '.',
	    "at step 15 the values of step 10 are carried: median 3");
	is_int(bench_report(&b, 10, 15, 3.5), 'T', "worse than that stops");
	bench_close(&b);
}

static void
test_guard(void)
{
	const char *open = "{\"warmup_steps\":0,\"guard\":false}";
	struct bench b = bench_open("median", "{\"warmup_steps\":0}", false, 0);
	struct bench c = bench_open("median", open, false, 0);
	struct bench *both[] = { &b, &c };
	int t, k;

	for (k = 0; k < 2; k++) {
		for (t = 1; t <= 5; t++) {
			bench_feed(both[k], t, 0, t);
			bench_feed(both[k], t, 1, t == 5 ? 0.5 : t);
			bench_end(
			    both[k], t, TRIAL_COMPLETED, t == 5 ? 0.5 : t);
		}
		bench_feed(both[k], 6, 0, 2);
	}
	is_int(bench_report(&b, 7, 0, 9), 's',
	    "the best trial would have been stopped at step 0: suspended");
	is_str(b.last.why,
	    "9 is above the median 2.5 of 6 trials at step 0, "
	    "but the rule would have stopped trial 5, the best",
	    "it says so");
	is_int(bench_report(&b, 7, 1, 9), 's', "at every step");
	is_int(bench_report(&c, 7, 0, 9), 'T', "without the guard it stops");
	/* A better one completes that the rule would have let through. */
	bench_feed(&b, 8, 0, 0.25);
	bench_feed(&b, 8, 1, 0.25);
	bench_end(&b, 8, TRIAL_COMPLETED, 0.25);
	is_int(bench_report(&b, 9, 0, 9), 'T', "another best, another answer");
	bench_close(&b);
	bench_close(&c);
}

static void
test_diverged(void)
{
	struct bench b = bench_open("median", "{\"warmup_steps\":0}", false, 0);
	double v[] = { 1, NAN, INFINITY, 1, NAN, -INFINITY, NAN };
	double worse[] = { INFINITY };
	int t;

	run(&b, 1, v, 7, "......D", "three in a row are a divergence");
	is_str(b.last.why, "3 reports in a row are not finite, up to step 6",
	    "it says so");
	for (t = 2; t <= 6; t++)
		bench_feed(&b, t, 0, t);
	run(&b, 7, worse, 1, "T", "not finite is worse than all");
	is_str(b.last.why,
	    "inf is no match for the median 3.5 of 6 trials at "
	    "step 0",
	    "it says so");
	bench_close(&b);
}

static void
test_late(void)
{
	struct bench b = bench_open("median", "{\"warmup_steps\":0}", false, 3);
	double v[] = { 9, 9, 9, 9 };

	feed_fan(&b, 6, 4, TRIAL_COMPLETED);
	run(&b, 7, v, 4, "TT..", "nothing is judged at the last step or later");
	is_int(bench_report(&b, 8, 3, 9), '.', "nor at step max_steps");
	bench_close(&b);
}

static void
test_interval(void)
{
	struct bench b = bench_open(
	    "median", "{\"warmup_steps\":2,\"interval_steps\":3}", false, 0);
	double v[] = { 9, 9, 9, 9, 9, 9, 9, 9, 9 };

	feed_fan(&b, 6, 9, TRIAL_STOPPED);
	run(&b, 7, v, 9, "..T..T..T", "from step 2 on, every third report");
	bench_close(&b);
}

static void
test_view(void)
{
	struct bench b = bench_open("median", NULL, true, 0);
	struct bench c = bench_open("vizier", NULL, true, 0);
	double median = 0;
	int64_t n = 0;

	ok(!stopper_set_median(b.set, b.h, 0, &n, &median), "no median yet");
	bench_feed(&b, 1, 0, 2);
	bench_feed(&b, 2, 0, 3);
	bench_feed(&c, 1, 0, 2);
	ok(stopper_set_median(b.set, b.h, 0, &n, &median) && n == 2 &&
		median == 2.5,
	    "view medians: last values of all");
	ok(!stopper_set_median(c.set, c.h, 0, &n, &median),
	    "a rule that compares other values has none to show");
	bench_close(&b);
	bench_close(&c);
}

int
main(void)
{
	test_default();
	test_maximize();
	test_pool();
	test_guard();
	test_diverged();
	test_late();
	test_interval();
	test_view();
	return done_testing();
}
