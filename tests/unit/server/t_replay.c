/*
 * Replays of curves whose steps are far apart against the same curves with
 * dense steps, and both against a simple simulation.
 */

#include <math.h>
#include <stdlib.h>

#include "src/base/err.h"
#include "src/base/rng.h"
#include "src/replay/curve-file.h"
#include "src/replay/replay.h"
#include "tests/support/tap.h"

enum { CURVES = 60, REPORTS = 51, TRIALS = 40, SEEDS = 6, WORKERS = 4 };

/* What every bank below has: a row for each curve. */
static double value[CURVES][REPORTS];

static void
values_make(void)
{
	double level, slope;
	struct rng rng;
	int i, k;

	rng_init(&rng, 16, 1);
	for (i = 0; i < CURVES; i++) {
		level = rng_normal(&rng);
		slope = rng_uniform(&rng);
		for (k = 0; k < REPORTS; k++)
			value[i][k] = level + 2 * exp(-slope * k / 5) +
				      0.1 * rng_normal(&rng);
	}
}

/* Steps first, first + apart, … */
static void
bank_make(struct curve_file *b, int64_t first, int64_t apart)
{
	struct curve_file_curve *c;
	int i, k;

	*b = (struct curve_file){ 0 };
	for (i = 0; i < CURVES; i++) {
		c = curve_file_begin(b);
		for (k = 0; k < REPORTS; k++)
			curve_file_report(b, c, first + apart * k, value[i][k]);
	}
}

static const struct replay_plan plan = {
	.workers = WORKERS, .trials = TRIALS, .seeds = SEEDS, .seed = 3
};

static struct replay_sum
run(const struct curve_file *b, const char *text)
{
	struct replay_sum sum = { 0 };
	struct replay_rule *rule;
	struct err e = ERR_INIT;

	if (replay_rule_read(&rule, text, &e) != 0 ||
	    replay_simulate(&sum, b, &plan, rule, &e) != 0)
		ok(false, "%s: %s", text, e.text);
	replay_rule_free(rule);
	return sum;
}

static bool
same(const struct replay_sum *a, const struct replay_sum *b)
{
	return a->stopped == b->stopped && a->skipped == b->skipped &&
	       a->killed == b->killed && a->reports == b->reports &&
	       a->regret == b->regret && a->saved == b->saved;
}

/* Rules whose options are shares, or counts of reports. */
static void
test_same(void)
{
	static const char *const rules[] = { "none", "median",
		"{\"rule\": \"median\", \"guard\": false}",
		"{\"rule\": \"median\", \"warmup_steps\": \"10%\"}",
		"{\"rule\": \"median\", \"warmup_steps\": \"99%\", "
		"\"guard\": false}",
		"vizier", "sagemaker", "percentile", "patience", "katib",
		"{\"rule\": \"threshold\", \"upper\": 1, "
		"\"warmup_steps\": \"30%\"}" };
	static const int64_t apart[] = { 20, 250, INT64_C(1000000007) };
	struct curve_file near, far;
	struct replay_sum a, b;
	size_t i, k;
	int from;

	for (from = 0; from < 2; from++)
		for (k = 0; k < sizeof apart / sizeof *apart; k++) {
			bank_make(&near, from, 1);
			bank_make(&far, from * apart[k], apart[k]);
			for (i = 0; i < sizeof rules / sizeof *rules; i++) {
				a = run(&near, rules[i]);
				b = run(&far, rules[i]);
				ok(same(&a, &b),
				    "%s: steps from %d, %lld apart: %lld of "
				    "%lld skipped, and %lld",
				    rules[i], from, (long long)apart[k],
				    (long long)b.skipped, (long long)b.reports,
				    (long long)a.skipped);
				if (i == 1)
					ok(b.skipped > b.reports / 4,
					    "which is much");
			}
			curve_file_free(&near);
			curve_file_free(&far);
		}
}

/* Rules that see curves at marks: where these fall depends on the steps. */
static void
test_marks(void)
{
	static const char *const rules[] = { "narrow", "curve" };
	struct curve_file near, far;
	struct replay_sum a, b;
	size_t i;

	bank_make(&near, 0, 1);
	bank_make(&far, 0, 250);
	for (i = 0; i < sizeof rules / sizeof *rules; i++) {
		a = run(&near, rules[i]);
		b = run(&far, rules[i]);
		ok(llabs(a.skipped - b.skipped) < a.skipped / 10,
		    "%s: 250 steps apart: %lld of %lld skipped, and %lld",
		    rules[i], (long long)b.skipped, (long long)b.reports,
		    (long long)a.skipped);
	}
	curve_file_free(&near);
	curve_file_free(&far);
}

static int
number_order(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* The median at report k of those that have come there, but for one. */
static double
median_at(const int *seen, const size_t *order, int but, int k, int *n)
{
	double v[TRIALS];
	int i;

	for (i = *n = 0; i < TRIALS; i++)
		if (i != but && seen[i] > k)
			v[(*n)++] = value[order[i]][k];
	qsort(v, (size_t)*n, sizeof *v, number_order);
	return *n == 0 ? NAN : (v[(*n - 1) / 2] + v[*n / 2]) / 2;
}

/* Median, no guard, 3 others at least, nothing before report first. */
static int
simulate(const size_t *order, int first)
{
	int at[WORKERS], seen[TRIALS] = { 0 }, next = 0, busy, w, t, n, left;
	int skipped = 0;
	double median;

	for (w = 0; w < WORKERS; w++)
		at[w] = -1;
	do {
		for (busy = w = 0; w < WORKERS; w++) {
			if (at[w] < 0 && next < TRIALS)
				at[w] = next++;
			if ((t = at[w]) < 0)
				continue;
			busy++;
			left = REPORTS - ++seen[t];
			median = median_at(seen, order, t, seen[t] - 1, &n);
			if (left > 0 && seen[t] > first && n >= 3 &&
			    value[order[t]][seen[t] - 1] > median) {
				skipped += left;
				at[w] = -1;
			} else if (left == 0)
				at[w] = -1;
		}
	} while (busy > 0);
	return skipped;
}

static void
test_simulated(void)
{
	static const int64_t apart[] = { 1, 20, 250 };
	struct replay_sum sum;
	size_t order[CURVES], i;
	struct curve_file b;
	int skipped = 0;
	uint64_t k;

	/* 30 % of 51 steps are 15.3: the first that is judged is step 16. */
	for (k = 0; k < SEEDS; k++) {
		rng_sample(order, CURVES, TRIALS, plan.seed, k);
		skipped += simulate(order, 16);
	}
	for (i = 0; i < sizeof apart / sizeof *apart; i++) {
		bank_make(&b, 0, apart[i]);
		sum = run(&b, "{\"rule\": \"median\", \"guard\": false, "
			      "\"min_trials\": 3, "
			      "\"warmup_steps\": \"30%\"}");
		ok(sum.skipped == skipped,
		    "a simulation skips %d, %lld, %lld apart", skipped,
		    (long long)sum.skipped, (long long)apart[i]);
		curve_file_free(&b);
	}
}

/* Every second curve ends by itself after this many reports. */
enum { SHORT = 20 };

/*
 * Falling curves, the later ones worse: where all that come after the first six
 * would be stopped at the last report of the short ones, only the others are.
 */
static void
test_own_end(void)
{
	struct curve_file b = { 0 };
	struct curve_file_curve *c;
	struct replay_sum sum;
	int i, k;

	for (i = 0; i < CURVES; i++) {
		c = curve_file_begin(&b);
		for (k = 1; k <= (i % 2 ? SHORT : 2 * SHORT); k++)
			curve_file_report(&b, c, k, i - k / 100.0);
	}
	sum = run(&b, "{\"rule\": \"median\", \"guard\": false, "
		      "\"warmup_steps\": 20, \"interval_steps\": 99}");
	ok(sum.stopped > 0 && sum.skipped == SHORT * sum.stopped,
	    "a short trial that ends by itself is not stopped at its end: "
	    "%lld stops skip %lld reports",
	    (long long)sum.stopped, (long long)sum.skipped);
	curve_file_free(&b);
}

static void
turn_count(void *arg)
{
	*(size_t *)arg += 1;
}

/* Who waits for many studies is told that they go on. */
static void
test_turns(void)
{
	struct replay_plan turning = plan;
	struct replay_sum sum = { 0 };
	struct replay_rule *rule;
	struct curve_file b;
	size_t turns = 0;

	turning.turn = turn_count;
	turning.turn_arg = &turns;
	bank_make(&b, 1, 1);
	if (replay_rule_read(&rule, "none", NULL) == 0)
		(void)replay_simulate(&sum, &b, &turning, rule, NULL);
	ok(turns == SEEDS && sum.studies == SEEDS,
	    "each simulated study is told");
	replay_rule_free(rule);
	curve_file_free(&b);
}

int
main(void)
{
	values_make();
	test_own_end();
	test_same();
	test_marks();
	test_simulated();
	test_turns();
	return done_testing();
}
