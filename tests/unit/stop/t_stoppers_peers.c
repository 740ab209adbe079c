/*
 * Decisions of other tools: each derived by hand from the tool's source,
 * Optuna's from running it.  T = stop, . = keep.
 */

#include "tests/support/rule-bench.h"

#define N(a) ((int)(sizeof(a) / sizeof((a)[0])))

/* A complete earlier trial with these values at steps first, first + 1, … */
static void
done(struct bench *b, int64_t trial, int64_t first, const double *v, int n)
{
	int i;

	for (i = 0; i < n; i++)
		bench_feed(b, trial, first + i, v[i]);
	bench_end(b, trial, TRIAL_COMPLETED, n > 0 ? v[n - 1] : 0);
}

/* n complete trials that show 1, 2, … at every one of so many steps. */
static void
fan(struct bench *b, int n, int64_t first, int steps)
{
	int64_t t, s;

	for (t = 1; t <= n; t++) {
		for (s = 0; s < steps; s++)
			bench_feed(b, t, first + s, (double)t);
		bench_end(b, t, TRIAL_COMPLETED, (double)t);
	}
}

/* Judge a new trial with values at steps first, first + 1, … */
static void
judge(struct bench *b, int64_t first, const double *v, int n, const char *want,
    const char *what)
{
	int64_t trial = history_count(b->h) + 1;
	char got[64] = "";
	int i;

	for (i = 0; i < n; i++)
		got[i] = bench_report(b, trial, first + i, v[i]);
	is_str(got, want, what);
	bench_end(b, trial, TRIAL_STOPPED, NAN);
}

#define JUDGE(b, first, want, what, ...)                          \
	do {                                                      \
		double values_[] = { __VA_ARGS__ };               \
		judge(b, first, values_, N(values_), want, what); \
	} while (0)

/* Optuna's reference study: five complete trials of two steps. */
static struct bench
optuna_five(const char *options, bool maximize, int n)
{
	static const double second[] = { .8, .6, .4, .2, .1 };
	struct bench b = bench_open("optuna", options, maximize, 0);
	double v[2];
	int t;

	for (t = 1; t <= n; t++) {
		v[0] = t;
		v[1] = second[t - 1];
		done(&b, t, 0, v, 2);
	}
	return b;
}

static void
test_optuna(void)
{
	struct bench b = optuna_five(NULL, false, 5);

	JUDGE(&b, 0, ".T", "optuna A", 3.0, 0.41);
	is_str(b.last.why,
	    "best 0.41 is above the median 0.4 of 5 completed trials at step 1",
	    "optuna A: why");
	JUDGE(&b, 0, "T", "optuna A2", 3.1);
	JUDGE(&b, 0, "..", "optuna B: best so far", 0.3, 9.0);
	JUDGE(&b, 0, "T.", "optuna E: first NaN", NAN, 0.3);
	JUDGE(&b, 2, ".", "optuna G: nobody reached the step", 99);
	JUDGE(&b, 0, "T", "optuna M: infinity against 1 to 5", INFINITY);
	bench_close(&b);

	b = optuna_five(NULL, false, 4);
	JUDGE(&b, 0, ".", "optuna C: only four complete", 99);
	bench_feed(&b, 6, 0, 5);
	bench_end(&b, 6, TRIAL_STOPPED, 5);
	JUDGE(&b, 0, ".", "optuna D: four complete and one pruned", 99);
	bench_close(&b);

	b = optuna_five(NULL, true, 5);
	JUDGE(&b, 0, "T", "optuna L: maximize, below", 2.9);
	JUDGE(&b, 0, ".", "optuna L: maximize, equal", 3.0);
	bench_close(&b);

	b = optuna_five("{\"percentile\":25}", false, 5);
	JUDGE(&b, 0, ".", "optuna P: 25 %, equal", 2.0);
	JUDGE(&b, 0, "T", "optuna P: 25 %, worse", 2.01);
	bench_close(&b);
	b = optuna_five("{\"percentile\":10}", false, 5);
	JUDGE(&b, 0, ".", "optuna P: 10 %, equal", 1.4);
	JUDGE(&b, 0, "T", "optuna P: 10 %, worse", 1.41);
	bench_close(&b);
}

static void
test_optuna_odd_pools(void)
{
	struct bench b = bench_open("optuna", NULL, false, 0);
	double nan = NAN, one[] = { 1.0, 0.5 };
	double m[] = { 1, 2, INFINITY, INFINITY, INFINITY };
	int t, k;

	for (t = 1; t <= 5; t++)
		done(&b, t, 0, &nan, 1);
	JUDGE(&b, 0, ".", "optuna F: all five have NaN", 99);
	bench_close(&b);

	for (k = 0; k < 2; k++) {
		b = bench_open(
		    "optuna", k ? "{\"n_min_trials\":2}" : NULL, false, 0);
		for (t = 1; t <= 5; t++)
			done(&b, t, 0, one, t == 3 ? 2 : 1);
		JUDGE(&b, 0, k ? ".." : ".T",
		    k ? "optuna H: n_min_trials 2" : "optuna H", 1.0, 0.9);
		bench_close(&b);
	}

	b = bench_open("optuna", NULL, false, 0);
	fan(&b, 6, 0, 1);
	JUDGE(&b, 0, ".", "optuna K: even pool, equal", 3.5);
	JUDGE(&b, 0, "T", "optuna K: even pool, worse", 3.51);
	bench_close(&b);

	b = bench_open("optuna", NULL, false, 0);
	for (t = 1; t <= 5; t++)
		done(&b, t, 0, &m[t - 1], 1);
	JUDGE(&b, 0, ".", "optuna M: infinities in the pool", 1e300);
	bench_close(&b);
}

static void
test_optuna_interval(void)
{
	static const int64_t steps[] = { 0, 4, 5, 7, 9 };
	struct bench b = bench_open(
	    "optuna", "{\"n_warmup_steps\":2,\"interval_steps\":3}", false, 0);
	char got[8] = "";
	int i;

	fan(&b, 5, 0, 12);
	JUDGE(&b, 0, "..T..T..T..T", "optuna I: warm-up 2, interval 3", 9, 9, 9,
	    9, 9, 9, 9, 9, 9, 9, 9, 9);
	for (i = 0; i < N(steps); i++)
		got[i] = bench_report(&b, 7, steps[i], 9);
	is_str(got, ".TT.T", "optuna J: the same with gaps");
	bench_close(&b);
}

static void
test_ray(void)
{
	struct bench b = bench_open("ray", "{\"grace_period\":2}", false, 0);
	double one[] = { 10, 10, 1, 1 }, two[] = { 10, 10, 2, 2 };
	double three[] = { 10, 10, 3, 3 };

	done(&b, 1, 0, one, 4);
	done(&b, 2, 0, two, 4);
	JUDGE(&b, 0, "...", "ray: two others are too few", 9, 9, 9);
	/* That one was stopped at step 2 and counts there: median of 1 2 9. */
	JUDGE(&b, 0, "...", "ray: equal to the median 2 goes on", 9, 9, 2);
	JUDGE(&b, 0, "..T", "ray: running and stopped ones count", 9, 9, 2.1);
	is_near(b.last.threshold, 2, 0, "ray: median of 1 2 2 9 is 2");
	JUDGE(&b, 0, "....", "ray: a best inside the grace period counts", 1.5,
	    9, 9, 9);
	is_int(b.last.pool, 2, "ray: who ended before step 3 does not count");
	done(&b, 7, 0, three, 4);
	JUDGE(&b, 0, "..TT", "ray: three at step 3, mean since the grace", 9, 9,
	    9, 9);
	is_near(b.last.threshold, 2.5, 0,
	    "ray: median of the means 1 2 3 and 9 of the one at step 3");
	bench_close(&b);

	b = bench_open("ray", "{\"grace_period\":0}", false, 0);
	fan(&b, 3, 0, 2);
	bench_feed(&b, 4, 0, NAN);
	JUDGE(&b, 0, ".", "ray: a NaN in the pool stops no trial", 1.5);
	JUDGE(&b, 0, "T", "ray: own first value NaN stops", NAN);
	JUDGE(&b, 0, "..", "ray: own later NaN is ignored", 1.5, NAN);
	bench_close(&b);
}

static void
test_nni(void)
{
	struct bench b = bench_open("nni", NULL, false, 0);
	double v[] = { 6, 2 }, w[] = { 8 };

	JUDGE(&b, 0, ".", "nni: nobody succeeded, nobody is stopped", 99);
	done(&b, 2, 0, v, 2);
	JUDGE(&b, 0, ".", "nni: one success judges, equal goes on", 6);
	JUDGE(&b, 0, "T", "nni: worse stops", 6.1);
	JUDGE(&b, 100, ".T", "nni: reports are counted, mean of two is 4", 6,
	    4.1);
	JUDGE(&b, 0, "...", "nni: nobody has a third report", 6, 4, 99);
	done(&b, 7, 0, w, 1);
	JUDGE(&b, 0, ".", "nni: of two means the greater one, 8", 8);
	JUDGE(&b, 0, "T", "nni: worse than that stops", 8.1);
	JUDGE(&b, 0, ".T", "nni: a short trial does not count later", 8, 8);
	bench_close(&b);

	b = bench_open("nni", NULL, true, 0);
	fan(&b, 4, 0, 1);
	JUDGE(&b, 0, ".", "nni: maximize, the smaller middle one of four", 2);
	JUDGE(&b, 0, "T", "nni: below it stops", 1.9);
	bench_close(&b);

	b = bench_open("nni", "{\"start_step\":3}", false, 0);
	fan(&b, 3, 0, 4);
	JUDGE(&b, 0, "..TT", "nni: start_step 3 judges the third report", 9, 9,
	    9, 9);
	bench_close(&b);
}

static void
test_syne_tune(void)
{
	struct bench b = bench_open("syne-tune", NULL, false, 0);
	double v[] = { 3, 7 };
	int t;

	for (t = 1; t <= 3; t++)
		bench_feed(&b, t, 1, t);
	JUDGE(&b, 1, ".", "syne-tune: four at a step do not judge", 99);
	JUDGE(&b, 1, ".", "syne-tune: 1 2 3 99 and 3: rank 2 of 5 goes on", 3);
	JUDGE(&b, 1, ".", "syne-tune: rank 3 of 6 is the cutoff itself", 3);
	JUDGE(&b, 1, "T", "syne-tune: rank 5 of 7 stops", 3.5);
	JUDGE(&b, 1, "T", "syne-tune: NaN ranks last", NAN);
	JUDGE(&b, 0, ".", "syne-tune: step 0 is in the grace time", 99);
	bench_close(&b);

	b = bench_open("syne-tune", NULL, false, 0);
	for (t = 1; t <= 4; t++) {
		v[1] = 2 * t - 3.0;
		done(&b, t, 1, v, 2);
	}
	/* Means at step 2: 1 2 3 4. */
	JUDGE(&b, 1, "..", "syne-tune: mean 3 ranks 2 of 5", 3, 3);
	JUDGE(&b, 1, "TT", "syne-tune: means 6 and 3.5 rank 5 and 4", 6, 1);
	JUDGE(&b, 2, ".", "syne-tune: the mean of its own reports only", 3);
	bench_close(&b);

	b = bench_open("syne-tune",
	    "{\"running_average\":false,"
	    "\"rank_cutoff\":0.25,\"grace_population\":2}",
	    false, 0);
	for (t = 1; t <= 3; t++)
		bench_feed(&b, t, 1, t);
	JUDGE(&b, 1, ".", "syne-tune: cutoff 1/4 of 4: one may be better", 2);
	JUDGE(&b, 1, "T", "syne-tune: of 5: three are", 2.5);
	bench_close(&b);
}

static void
test_katib(void)
{
	struct bench b = bench_open("katib", NULL, false, 0);
	double low[] = { 1, 1, 1, 1, 50 }, high[] = { 10, 10, 10, 10, 0 };
	double brief[] = { 4 };

	done(&b, 1, 0, low, 5);
	done(&b, 2, 0, low, 5);
	bench_feed(&b, 3, 0, 9);
	done(&b, 4, 0, high, 5);
	is_int(bench_report(&b, 3, 1, 99) == '.' &&
		   bench_report(&b, 3, 2, 99) == '.' &&
		   bench_report(&b, 3, 3, 99) == '.',
	    true, "katib: who began before three successes is never stopped");
	JUDGE(&b, 0, "....", "katib: best equal to the mean 4 goes on", 9, 9, 9,
	    4);
	JUDGE(&b, 0, "...T", "katib: judged from the fourth report on", 9, 9, 9,
	    4.1);
	is_near(b.last.threshold, 4, 0, "katib: a mean, not the median 1");
	JUDGE(&b, 0, "....", "katib: best so far", 3, 9, 9, 9);
	bench_feed(&b, 8, 0, 9);
	done(&b, 9, 0, brief, 1);
	done(&b, 10, 0, high, 5);
	bench_feed(&b, 8, 1, 9);
	bench_feed(&b, 8, 2, 9);
	is_int(bench_report(&b, 8, 3, 4.5), 'T',
	    "katib: the threshold was frozen when the trial began");
	is_int(b.last.pool, 3, "katib: of three");
	JUDGE(&b, 0, "...T", "katib: means of fewer reports count: 5.2", 9, 9,
	    9, 5.3);
	bench_close(&b);
}

/* Running means at step s of trial t are t + s, so own values tell. */
static void
ramp(struct bench *b, int n, int steps)
{
	int64_t t, s;

	for (t = 1; t <= n; t++) {
		for (s = 0; s < steps; s++)
			bench_feed(b, t, s, (double)(t + 2 * s));
		bench_end(b, t, TRIAL_COMPLETED, (double)t);
	}
}

static void
test_vizier(void)
{
	struct bench b = bench_open("vizier", NULL, false, 0);

	ramp(&b, 5, 8);
	JUDGE(&b, 0, ".....T..", "vizier: 5 reports, then best against means",
	    99, 99, 99, 99, 99, 99, 9, 99);
	is_near(b.last.threshold, 10, 0, "vizier: median of running means");
	bench_feed(&b, 7, 0, 99);
	bench_feed(&b, 7, 7, 99);
	JUDGE(&b, 0, "........", "vizier: one lucky report protects", 1, 99, 99,
	    99, 99, 99, 99, 99);
	is_int(b.last.pool, 5, "vizier: only completed trials count");
	bench_close(&b);

	b = bench_open("vizier", "{\"warmup_steps\":0}", false, 0);
	ramp(&b, 4, 2);
	JUDGE(&b, 0, "..", "vizier: four completed do not judge", 99, 99);
	bench_close(&b);
}

static void
test_sagemaker(void)
{
	struct bench b = bench_open("sagemaker", NULL, false, 0);

	ramp(&b, 2, 4);
	JUDGE(
	    &b, 0, "....", "sagemaker: two jobs do not judge", 99, 99, 99, 99);
	bench_close(&b);
	b = bench_open("sagemaker", NULL, false, 0);
	ramp(&b, 3, 4);
	JUDGE(&b, 0, "..T.", "sagemaker: current against running means", 2, 1,
	    4.5, 5);
	bench_close(&b);
}

static void
test_no_diverged(void)
{
	static const char *const rules[] = { "optuna", "ray", "nni",
		"syne-tune", "katib", "vizier", "sagemaker" };
	struct bench b;
	int i, s;
	bool kept;

	for (i = 0; i < N(rules); i++) {
		b = bench_open(rules[i], NULL, false, 0);
		kept = true;
		for (s = 0; s < 9; s++)
			kept = bench_report(&b, 1, s, NAN) == '.' && kept;
		ok(kept, "%s: NaN alone stops no trial without a pool",
		    rules[i]);
		bench_close(&b);
		b = bench_open(rules[i], "{\"diverged_after\":2}", false, 0);
		bench_report(&b, 1, 0, NAN);
		is_int(bench_report(&b, 1, 1, NAN), 'D',
		    "but diverged_after does, when asked for");
		bench_close(&b);
	}
}

int
main(void)
{
	test_optuna();
	test_optuna_odd_pools();
	test_optuna_interval();
	test_ray();
	test_nni();
	test_syne_tune();
	test_katib();
	test_vizier();
	test_sagemaker();
	test_no_diverged();
	return done_testing();
}
