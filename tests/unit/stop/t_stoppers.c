/* The median family by hand: every variant in hpotune-stopping(7). */

#include "tests/support/rule-bench.h"

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
	    "it gives the reason");
	is_near(b.last.threshold, 3.875, 0, "threshold is the median");
	is_int(b.last.pool, 5, "the pool has five trials");
	is_str(b.last.rule, "median", "by its name");
	bench_close(&b);
}

/* A trial that reports v at the steps 0 … steps - 1, unjudged. */
static void
feed_flat(struct bench *b, int64_t trial, int steps, double v)
{
	int s;

	for (s = 0; s < steps; s++)
		bench_feed(b, trial, s, v);
}

/*
 * Six of ten trials are stopped early: at step 8 the other four are the best
 * four of ten, and the median lies among those that are gone.
 */
static void
test_begun(void)
{
	const char *open = "{\"pool\":\"begun\",\"warmup_steps\":0,"
			   "\"guard\":false}";
	struct bench b = bench_open("median", open, false, 20);
	struct bench survivors = bench_open(
	    "median", "{\"warmup_steps\":0,\"guard\":false}", false, 20);
	struct bench *both[] = { &b, &survivors };
	int64_t t, n;
	double median;
	int k;

	for (k = 0; k < 2; k++) {
		for (t = 1; t <= 10; t++) {
			feed_flat(both[k], t, t <= 5 ? 9 : 4, (double)t);
			if (t > 5)
				bench_end(both[k], t, TRIAL_STOPPED, (double)t);
		}
		feed_flat(both[k], 11, 8, 4.5);
	}
	is_int(bench_report(&survivors, 11, 8, 4.5), 'T',
	    "the median of survivors stops the fifth of eleven");
	is_int(bench_report(&b, 11, 8, 4.5), '.', "that of all begun does not");
	is_int(b.last.pool, 10, "it compares ten trials");
	is_int(bench_report(&b, 11, 9, 99), '.',
	    "where all others are gone none is worse");
	ok(stop_rule_set_median(b.set, b.h, 8, &n, &median),
	    "the median of all begun");
	is_int(n, 11, "is of eleven");
	is_near(median, 5, 0, "the worst of those that stayed");
	history_retry(b.h, 10);
	stop_rule_set_ended(b.set, b.h, 10);
	is_int(bench_report(&b, 11, 10, 3), '.', "a trial that runs again");
	is_int(b.last.pool, 4, "counts as far as it has come");
	bench_close(&b);
	bench_close(&survivors);
}

/* Ten steps of twelve trials, of which the last five are behind at first. */
static void
feed_crossing(struct bench *b, bool crossing)
{
	int64_t t;
	int s;

	for (t = 1; t <= 12; t++) {
		for (s = 0; s < 10; s++)
			bench_feed(b, t, s,
			    crossing && t > 7 && s > 7 ? -(double)t
						       : (double)t);
		bench_end(b, t, TRIAL_COMPLETED,
		    crossing && t > 7 ? -(double)t : (double)t);
	}
}

static void
test_begun_spares(void)
{
	struct bench plain = bench_open("begun", NULL, false, 10);
	struct bench crossing = bench_open("begun", NULL, false, 10);
	struct bench none = bench_open("begun", "{\"guard\":0}", false, 10);
	double v[] = { 9.5, 9.5, 9.5, 9.5, 9.5 };

	feed_crossing(&plain, false);
	feed_crossing(&crossing, true);
	feed_crossing(&none, true);
	run(&plain, 13, v, 5, "....T",
	    "begun: half, later a tenth, from the "
	    "fifth report on");
	is_str(plain.last.why,
	    "best 9.5 is above 3.09402, the worst of the best 19 % of the 12 "
	    "trials begun, at step 4",
	    "and one sentence says why");
	run(&crossing, 13, v, 5, "....s",
	    "where the best ones were as far behind, it continues");
	is_str(crossing.last.why,
	    "best 9.5 is above 3.09402, the worst of the best 19 % of the 12 "
	    "trials begun, at step 4, but trial 12, the best, was as far "
	    "behind",
	    "and the sentence names one");
	run(&none, 13, v, 5, "....T", "not without a guard");
	bench_close(&plain);
	bench_close(&crossing);
	bench_close(&none);
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
	    bench_report(&b, 7, 0, -3.5), '.', "equal to the median continues");
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
	is_int(
	    bench_report(&b, 8, 9, 99), '.', "no trial has a value at step 9");
	is_int(
	    bench_report(&b, 8, 11, 99), '.', "no trial has reached step 11");
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
	struct bench two =
	    bench_open("median", "{\"warmup_steps\":0,\"guard\":2}", false, 0);
	struct bench *both[] = { &b, &c, &two };
	int t, k;

	for (k = 0; k < 3; k++) {
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
	    "it reports this");
	is_int(bench_report(&b, 7, 1, 9), 's', "at every step");
	is_int(bench_report(&c, 7, 0, 9), 'T', "without the guard it stops");
	/* A better one completes that the rule would have let through. */
	bench_feed(&b, 8, 0, 0.25);
	bench_feed(&b, 8, 1, 0.25);
	bench_end(&b, 8, TRIAL_COMPLETED, 0.25);
	is_int(bench_report(&b, 9, 0, 9), 'T', "another best, another answer");
	bench_feed(&two, 8, 0, 0.25);
	bench_feed(&two, 8, 1, 0.25);
	bench_end(&two, 8, TRIAL_COMPLETED, 0.25);
	is_int(bench_report(&two, 9, 0, 9), 's',
	    "a guard of 2 tests the second best, too");
	is_str(two.last.why,
	    "9 is above the median 2 of 7 trials at step 0, "
	    "but the rule would have stopped trial 5, one of the best",
	    "and names it");
	bench_feed(&two, 10, 0, 0.3);
	bench_feed(&two, 10, 1, 0.3);
	bench_end(&two, 10, TRIAL_COMPLETED, 0.3);
	is_int(bench_report(&two, 11, 0, 9), 'T',
	    "a guard of 2 does not test the third best");
	bench_close(&two);
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
	    "it reports this");
	for (t = 2; t <= 6; t++)
		bench_feed(&b, t, 0, t);
	run(&b, 7, worse, 1, "T", "not finite is worse than all");
	is_str(b.last.why,
	    "inf is no match for the median 3.5 of 6 trials at "
	    "step 0",
	    "it reports this");
	bench_close(&b);
}

static void
test_late(void)
{
	struct bench b = bench_open("median", "{\"warmup_steps\":0}", false, 3);
	double v[] = { 9, 9, 9, 9 };

	feed_fan(&b, 6, 4, TRIAL_COMPLETED);
	run(&b, 7, v, 4, "TT..", "nothing is judged at the last step or later");
	is_int(bench_report(&b, 8, 3, 9), '.',
	    "nothing is judged at step max_steps");
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

	ok(!stop_rule_set_median(b.set, b.h, 0, &n, &median), "no median yet");
	bench_feed(&b, 1, 0, 2);
	bench_feed(&b, 2, 0, 3);
	bench_feed(&c, 1, 0, 2);
	ok(stop_rule_set_median(b.set, b.h, 0, &n, &median) && n == 2 &&
		median == 2.5,
	    "view medians: last values of all");
	ok(!stop_rule_set_median(c.set, c.h, 0, &n, &median),
	    "a rule that compares other values has none to show");
	bench_close(&b);
	bench_close(&c);
}

/* The pitfalls that other tools fell into. */
static void
test_pitfalls(void)
{
	struct bench b =
	    bench_open("median", "{\"warmup_steps\":0}", false, 10);
	double equal[] = { 2, 2, 2 }, bad_start[] = { 99, 1, 1 };
	int t, s;

	/* Step 0 before any training, much worse than all that follows. */
	for (t = 1; t <= 6; t++)
		for (s = 0; s < 3; s++)
			bench_feed(&b, t, s, s == 0 ? 99 : 2);
	run(&b, 7, bad_start, 3, "...",
	    "a bad value everybody has is no fault");
	run(&b, 8, equal, 3, "...", "all equal: nobody is stopped");
	bench_end(&b, 1, TRIAL_COMPLETED, 2);
	/* A resumed trial repeats its steps: the later report counts. */
	bench_feed(&b, 9, 0, 99);
	bench_feed(&b, 9, 1, 50);
	bench_feed(&b, 9, 0, 99);
	is_int(bench_report(&b, 9, 1, 2), '.', "a repeated step is replaced");
	is_int(b.last.pool, 8, "and the trial is still one trial");
	for (t = 2; t <= 8; t++)
		bench_feed(&b, t, 1, 3);
	is_int(bench_report(&b, 10, 1, 2.5), '.',
	    "repeated steps of other trials are replaced");
	is_near(b.last.threshold, 3, 0, "which move the median");
	/* Trials of other lengths: who ended before does not count. */
	for (t = 2; t <= 5; t++)
		bench_feed(&b, t, 6, 1);
	is_int(bench_report(&b, 11, 6, 99), '.', "four reached step 6");
	bench_feed(&b, 6, 7, 1);
	is_int(bench_report(&b, 12, 6, 99), 'T',
	    "five have, one of them without a report there");
	bench_close(&b);
}

static void
test_share(void)
{
	struct bench b = bench_open("median", NULL, false, 50);
	struct bench c =
	    bench_open("median", "{\"warmup_steps\":\"10%\"}", false, 50);
	struct bench d = bench_open("median", NULL, false, 0);
	char at_b[32] = "", at_c[32] = "", at_d[32] = "";
	int t, s;

	for (t = 1; t <= 6; t++)
		for (s = 0; s < 12; s++) {
			bench_feed(&b, t, s, t);
			bench_feed(&c, t, s, t);
			bench_feed(&d, t, s, t);
		}
	for (s = 0; s < 12; s++) {
		at_b[s] = bench_report(&b, 7, s, 9);
		at_c[s] = bench_report(&c, 7, s, 9);
		at_d[s] = bench_report(&d, 7, s, 9);
	}
	is_str(at_b, "..........TT", "warm-up of 20 % of 50 steps");
	is_str(at_c, ".....TTTTTTT", "of 10 %");
	is_str(at_d, ".....TTTTTTT", "of 5 reports when max_steps is unknown");
	bench_close(&b);
	bench_close(&c);
	bench_close(&d);
}

static void
test_settings(void)
{
	struct bench b = bench_open(
	    "percentile", "{\"percentile\":25,\"warmup_steps\":0}", true, 0);
	struct bench c = bench_open("median",
	    "{\"warmup_steps\":0,"
	    "\"aggregate\":\"mean\"}",
	    false, 0);
	struct bench d = bench_open("median",
	    "{\"warmup_steps\":0,"
	    "\"value\":\"window:50%\",\"reference\":\"best\"}",
	    false, 0);
	double v[] = { 8, 8, 2, 2 };
	int t;

	for (t = 1; t <= 5; t++)
		bench_feed(&b, t, 0, t);
	is_int(bench_report(&b, 6, 0, 4), '.', "percentile: the best quarter");
	is_int(bench_report(&b, 7, 0, 3.9), 'T', "percentile: not among it");
	is_str(b.last.why,
	    "3.9 is below the 25 % quantile 4 of 6 trials at "
	    "step 0",
	    "percentile: why");
	for (t = 1; t <= 5; t++)
		bench_feed(&c, t, 0, t == 5 ? 90 : t);
	is_int(bench_report(&c, 6, 0, 19), '.', "mean: below the mean of 20");
	is_int(bench_report(&c, 7, 0, 20), 'T', "mean: above the mean");
	for (t = 1; t <= 5; t++) {
		bench_feed(&d, t, 0, t);
		bench_feed(&d, t, 3, 9);
	}
	run(&d, 6, v, 4, "TTT.", "window: the mean of the last half");
	is_near(d.last.value, 2, 0, "window: of four reports two");
	is_near(d.last.threshold, 3, 0, "reference: the best so far");
	bench_close(&b);
	bench_close(&c);
	bench_close(&d);
}

static void
test_patience(void)
{
	struct bench b = bench_open("patience", "{\"steps\":3}", false, 0);
	struct bench c = bench_open("patience",
	    "{\"steps\":2,\"min_delta\":0.5,\"warmup_steps\":4}", true, 0);
	struct bench d =
	    bench_open("patience", "{\"steps\":3,\"equal\":true}", false, 0);
	struct bench s = bench_open("patience", "{\"steps\":5}", false, 0);
	double loss[] = { 0.9, 0.6, 0.4, 0.31, 0.31, 0.32, 0.31, 0.33, 0.31 };
	double fell[] = { 0.9, 0.6, 0.4, 0.31, 0.31, 0.32, 0.31, 0.33, 0.3 };
	double flat[] = { 0.5, 0.5, 0.5, 0.5, 0.5, 0.5 };
	double v[] = { 5, 6, 7, 8 }, w[] = { 5, 6, 7, 5, 6 };
	double x[] = { 1, 2, 2.2, 2.4, 2.6 };
	double y[] = { NAN, NAN, 5, NAN, NAN, 6 };

	run(&b, 1, v, 4, "...T", "patience: three reports without improvement");
	is_str(b.last.why,
	    "the best of the last 3 reports, 6, is not better than 5 before "
	    "them "
	    "at step 3",
	    "patience: why");
	run(&b, 2, w, 5, "...TT", "patience: equal is no improvement");
	run(&d, 2, w, 5, ".....", "patience: unless the study says so");
	run(&d, 3, v, 4, "...T", "patience: but worse is not");
	is_str(d.last.why,
	    "the best of the last 3 reports, 6, is not as good as 5 before "
	    "them "
	    "at step 3",
	    "patience: why");
	/* "... has not decreased for 5 consecutive epochs": SageMaker's words. */
	run(&s, 1, loss, 9, "........T",
	    "patience: the loss has not decreased for 5 consecutive epochs");
	is_str(s.last.why,
	    "the best of the last 5 reports, 0.31, is not better than 0.31 "
	    "before them at step 8",
	    "patience: which is reported");
	run(&s, 2, fell, 9, ".........", "patience: it has within 5 epochs");
	run(&s, 3, flat, 6, ".....T", "patience: a flat curve has not");
	run(&b, 3, y, 6, ".....T", "patience: NaN is no improvement");
	run(&c, 4, x, 5, "....T", "patience: min_delta, warm-up");
	is_str(c.last.why,
	    "the best of the last 2 reports, 2.6, is not better by 0.5 than "
	    "2.2 "
	    "before them at step 4",
	    "patience: why");
	is_int(
	    bench_report(&c, 4, 5, 2.9), '.', "patience: just better enough");
	bench_close(&b);
	bench_close(&c);
	bench_close(&d);
	bench_close(&s);
}

static void
test_threshold(void)
{
	struct bench b = bench_open("threshold",
	    "{\"lower\":-1,\"upper\":4,\"warmup_steps\":1}", true, 0);
	double v[] = { 9, 4, 4.1, -1, -1.1, INFINITY };
	struct err e = ERR_INIT;

	run(&b, 1, v, 6, "..T.TT",
	    "threshold: outside stops, the bounds do not");
	is_str(b.last.why, "inf is above the upper threshold 4 at step 5",
	    "threshold: why");
	is_int(bench_report(&b, 2, 1, NAN), 'D', "threshold: NaN");
	is_int(bench_rule(&b, "threshold", NULL, &(struct stopper_env){ 0 },
		   false, &e),
	    -1, "threshold: without bounds refused");
	is_int(bench_rule(&b, "threshold", "{\"lower\":2,\"upper\":1}",
		   &(struct stopper_env){ 0 }, false, &e),
	    -1, "threshold: bounds the wrong way round refused");
	bench_close(&b);
}

static void
test_sets(void)
{
	struct stopper_env env = { .study = "demo" };
	struct bench b = bench_open("threshold", "{\"upper\":10}", false, 0);
	struct bench c = bench_open("threshold", "{\"upper\":10}", false, 0);
	struct bench none = bench_open("none", NULL, false, 0);
	double v[] = { NAN, NAN, NAN, NAN };
	struct err e = ERR_INIT;

	run(&none, 1, v, 4, "....", "none stops no trial");
	bench_rule(&b, "patience", "{\"steps\":2}", &env, false, &e);
	bench_feed(&b, 1, 0, 1);
	is_int(bench_report(&b, 1, 1, 11), 'T', "a list: the first rule stops");
	is_str(b.last.rule, "threshold", "by its name");
	is_int(bench_report(&b, 1, 2, 9), 'T', "or the second one");
	is_str(b.last.rule, "patience", "by its name");
	bench_rule(&c, "threshold", "{\"upper\":20}", &env, true, &e);
	is_int(bench_report(&c, 1, 0, 15), 's', "a veto rule keeps the trial");
	is_str(c.last.why,
	    "15 is above the upper threshold 10 at step 0, "
	    "but threshold keeps it",
	    "it reports this");
	is_int(bench_report(&c, 1, 1, 25), 'T', "unless it would stop it too");
	is_int(bench_report(&c, 1, 2, NAN), 'D', "a divergence has no veto");
	bench_close(&b);
	bench_close(&c);
	bench_close(&none);
}

/* Trials that are not to be compared: further replicates of settings. */
static void
test_compare_nothing(void)
{
	struct stopper_env env = { .study = "demo" };
	struct bench b = bench_open(
	    "median", "{\"warmup_steps\":0,\"min_trials\":2}", false, 0);
	struct bench c = bench_open(
	    "median", "{\"warmup_steps\":0,\"min_trials\":2}", false, 0);
	double v[] = { NAN, NAN, NAN };
	struct err e = ERR_INIT;
	int t;

	bench_rule(&b, "threshold", "{\"upper\":100}", &env, false, &e);
	for (t = 1; t <= 6; t++) {
		bench_feed(&b, t, 0, t);
		bench_feed(&c, t, 0, t);
	}
	is_int(bench_report(&c, 7, 0, 50), 'T', "a rule that compares stops");
	stop_rule_set_compare_nothing(b.set);
	is_int(bench_report(&b, 7, 0, 50), '.', "when it may");
	is_int(
	    bench_report(&b, 7, 1, 500), 'T', "one that does not still does");
	is_str(b.last.rule, "threshold", "by its name");
	stop_rule_set_compare_nothing(c.set);
	run(&c, 8, v, 3, "..D", "and any stops what diverges");
	bench_close(&b);
	bench_close(&c);
}

int
main(void)
{
	test_compare_nothing();
	test_default();
	test_begun();
	test_begun_spares();
	test_maximize();
	test_pool();
	test_guard();
	test_diverged();
	test_late();
	test_interval();
	test_view();
	test_pitfalls();
	test_share();
	test_settings();
	test_patience();
	test_threshold();
	test_sets();
	return done_testing();
}
