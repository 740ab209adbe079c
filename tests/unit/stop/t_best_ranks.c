/*
 * How far behind the best trials were, against an oracle that reads every
 * curve: streams with irregular steps, repeated and late reports, retries,
 * results that make other trials the best.
 */

#include <stdlib.h>

#include "src/base/rng.h"
#include "src/model/history/history.h"
#include "strategies/stop/median/best-ranks.h"
#include "tests/support/tap.h"

enum { TRIALS = 30, MOST = 4, EVENTS = 400 };

static const struct curve_summary_rule last = { .kind = SUMMARY_LAST };
static const struct curve_summary_rule recent = { .kind = SUMMARY_RECENT };

/* How many others are better than the trial was at its report i. */
static int64_t
slow_better(const struct history *h, const struct curve_summary_rule *own,
    int64_t trial, size_t i)
{
	struct curve c = history_curve(h, trial), o;
	double v = curve_summary_at(own, &c, i), x;
	int64_t t, step = curve_step(&c, i), better = 0;
	ptrdiff_t k;

	for (t = 1; t <= history_count(h); t++) {
		o = history_curve(h, t);
		if (t == trial || o.n == 0 || curve_step(&o, o.n - 1) < step ||
		    (k = curve_at(&o, step)) < 0)
			continue;
		x = curve_summary_at(&recent, &o, (size_t)k);
		better += isfinite(x) && x < v;
	}
	return isfinite(v) ? better : INT64_MIN / 2;
}

static int64_t
slow_find(const struct history *h, const struct curve_summary_rule *own,
    int64_t step, int64_t behind)
{
	int64_t best[MOST];
	size_t n = history_bests(h, best, MOST), k, i;
	struct curve c;

	for (k = 0; k < n; k++) {
		c = history_curve(h, best[k]);
		for (i = 0; i + 1 < c.n; i++)
			if (curve_step(&c, i) >= step &&
			    slow_better(h, own, best[k], i) - (int64_t)k >=
				behind)
				return best[k];
	}
	return 0;
}

static void
any_end(struct rng *r, struct history *h, struct best_ranks *b, int64_t t)
{
	if (history_state(h, t) != TRIAL_RUNNING)
		history_retry(h, t);
	else
		history_end(h, t,
		    rng_below(r, 3) ? TRIAL_COMPLETED : TRIAL_STOPPED,
		    rng_below(r, 12) == 0 ? NAN : floor(8 * rng_uniform(r)));
	best_ranks_ended(b, h, t);
}

static void
any_event(struct rng *r, struct history *h, struct best_ranks *b, bool grid)
{
	int64_t t = 1 + (int64_t)rng_below(r, (uint64_t)history_count(h)), step;
	struct curve c = history_curve(h, t);

	if (c.n > 0 && rng_below(r, 7) == 0) {
		any_end(r, h, b, t);
		return;
	}
	step = c.n == 0 ? 0 : curve_step(&c, c.n - 1) + 1;
	if (!grid)
		step += (int64_t)rng_below(r, 4);
	if (rng_below(r, 15) == 0)
		step = (int64_t)rng_below(r, 20);
	history_report(h, t, step,
	    rng_below(r, 15) == 0 ? NAN : floor(9 * rng_uniform(r)));
	best_ranks_observe(b, h, t, step);
}

static bool
one_stream(uint64_t seed)
{
	const struct curve_summary_rule *own = seed % 2 ? &recent : &last;
	struct best_ranks *b = best_ranks_new(MOST, own, &recent);
	struct history *h = history_new(0, seed % 3 == 0, HISTORY_CURVES);
	int64_t step, behind, fast, slow;
	bool good = true, grid;
	struct rng r;
	int i;

	rng_init(&r, seed, 0);
	grid = rng_below(&r, 2) == 0;
	for (i = 0; i < EVENTS && good; i++) {
		if (history_count(h) == 0 ||
		    (history_count(h) < TRIALS && rng_below(&r, 10) == 0))
			history_add(h, history_count(h) + 1, NULL);
		any_event(&r, h, b, grid);
		if (rng_below(&r, 4) > 0)
			continue;
		step = (int64_t)rng_below(&r, 25);
		behind = (int64_t)rng_below(&r, 8);
		fast = best_ranks_find(b, h, step, behind);
		slow = slow_find(h, own, step, behind);
		/* Any of the best that was so far behind is an answer. */
		good = (fast == 0) == (slow == 0);
	}
	if (!good)
		printf("# seed %llu, event %d: %lld, want %lld\n",
		    (unsigned long long)seed, i, (long long)fast,
		    (long long)slow);
	best_ranks_free(b);
	history_free(h);
	return good;
}

int
main(void)
{
	uint64_t seed;
	int bad = 0;

	for (seed = 1; seed <= 1000; seed++)
		bad += !one_stream(seed);
	ok(bad == 0, "1,000 streams: how far behind the best ones were");
	return done_testing();
}
