/*
 * The kernel that scores settings of the rule median against the rule itself,
 * run again report by report on the same studies.
 */

#include <math.h>
#include <stdlib.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/base/rng.h"
#include "src/replay/curve-file.h"
#include "src/replay/policy-search.h"
#include "src/replay/replay.h"
#include "tests/support/tap.h"

struct task {
	size_t curves, reports;
	bool coarse; /* few different numbers, so many are equal */
	bool odd; /* own steps, lengths and what is not finite */
};

static double
random_value(const struct task *t, struct rng *rng, double level, double slope,
    size_t at)
{
	static const double odd[] = { NAN, INFINITY, -INFINITY };
	double v = level + slope * (double)at + 0.1 * rng_normal(rng);

	if (t->odd && rng_below(rng, 12) == 0)
		return odd[rng_below(rng, 3)];
	return t->coarse ? round(4 * v) : v;
}

static void
bank_random(struct curve_file *b, const struct task *t, uint64_t seed)
{
	struct curve_file_curve *c;
	int64_t step;
	double level, slope;
	struct rng rng;
	size_t i, k, n;

	*b = (struct curve_file){ 0 };
	rng_init(&rng, 8, seed);
	for (i = 0; i < t->curves; i++) {
		c = curve_file_begin(b);
		level = rng_normal(&rng);
		slope = 0.1 * rng_normal(&rng);
		n = t->odd ? 1 + (size_t)rng_below(&rng, t->reports)
			   : t->reports;
		step = t->odd ? (int64_t)rng_below(&rng, 3) : 0;
		for (k = 0; k < n; k++) {
			curve_file_report(
			    b, c, step, random_value(t, &rng, level, slope, k));
			step += t->odd ? 1 + (int64_t)rng_below(&rng, 3) : 1;
		}
	}
}

static bool
same_sums(const struct replay_sum *a, const struct replay_sum *b)
{
	return a->studies == b->studies && a->trials == b->trials &&
	       a->stopped == b->stopped && a->reports == b->reports &&
	       a->skipped == b->skipped && a->saved == b->saved &&
	       a->killed == b->killed && a->regret == b->regret;
}

/* Whether the rule comes to the same; a seed at a time, so nothing cancels. */
static bool
same_policy(const struct policy_setting *p, const struct curve_file *b,
    const struct replay_plan *plan)
{
	struct replay_sum sum = { 0 };
	struct replay_rule *rule;
	struct err e = ERR_INIT;
	struct buf text = { 0 };
	bool same;

	policy_grid_put_rule(&text, p);
	if (replay_rule_read(&rule, buf_str(&text), &e) == -1 ||
	    replay_simulate(&sum, b, plan, rule, &e) == -1) {
		printf("# %s\n", e.text);
		return false;
	}
	same = same_sums(&sum, &p->sum);
	if (!same)
		printf("# %s: %lld stopped, %lld skipped, not %lld and %lld\n",
		    buf_str(&text), (long long)p->sum.stopped,
		    (long long)p->sum.skipped, (long long)sum.stopped,
		    (long long)sum.skipped);
	replay_rule_free(rule);
	buf_free(&text);
	return same;
}

/* Every fourth one has settings that the grid has not. */
static void
tune_vary(struct policy_grid *t, uint64_t seed)
{
	struct policy_setting *p;
	struct rng rng;
	size_t i;

	rng_init(&rng, 9, seed);
	for (i = 4; i < t->n; i += 4) {
		p = &t->policies[i];
		p->percentile = (int)rng_below(&rng, 101);
		p->min_trials = 1 + (int)rng_below(&rng, 12);
		p->warmup = (int)rng_below(&rng, 60);
		p->interval = 1 + (int)rng_below(&rng, 4);
		p->guard = rng_below(&rng, 2) == 0;
	}
}

static void
test_same(const struct task *task, int64_t workers, bool maximize,
    bool value_last, const char *what)
{
	struct replay_plan plan = { .workers = workers,
		.trials = 30,
		.seeds = 1,
		.maximize = maximize,
		.value_last = value_last };
	size_t i, good = 0, all = 0;
	int64_t stopped = 0, killed = 0;
	struct policy_grid tune;
	struct curve_file bank;

	for (plan.seed = 1; plan.seed <= 3; plan.seed++) {
		bank_random(&bank, task, plan.seed);
		policy_grid_open(&tune);
		tune_vary(&tune, plan.seed);
		policy_search_run(&tune, &bank, &plan);
		for (i = 0; i < tune.n; i++, all++) {
			good += same_policy(&tune.policies[i], &bank, &plan);
			stopped += tune.policies[i].sum.stopped;
			killed += tune.policies[i].sum.killed;
		}
		policy_grid_close(&tune);
		curve_file_free(&bank);
	}
	ok(good == all, "%s: all as the rule itself", what);
	ok(stopped > (int64_t)all && killed > 0, "… and much was stopped");
	printf("# %lld stopped, %lld of %zu best ones\n", (long long)stopped,
	    (long long)killed, all);
}

int
main(void)
{
	const struct task smooth = { 40, 20, false, false };
	const struct task coarse = { 40, 15, true, false };
	const struct task odd = { 40, 25, false, true };
	const struct task both = { 25, 12, true, true };

	test_same(&smooth, 8, false, false, "curves of one shape");
	test_same(&smooth, 1, true, true, "one worker, greatest last value");
	test_same(&coarse, 4, false, true, "many equal values");
	test_same(&odd, 8, false, false, "steps and lengths of their own");
	test_same(
	    &both, 40, true, false, "equal ones, more workers than trials");
	test_same(&both, 3, false, true, "the last value, which may be none");
	return done_testing();
}
