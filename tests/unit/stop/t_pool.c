/*
 * Pools against an oracle that reads every curve every time: random streams
 * with irregular steps, values out of order and repeated, NaN, infinities,
 * retries.
 */

#include <stdlib.h>

#include "src/base/rng.h"
#include "src/model/history/history.h"
#include "src/base/mem.h"
#include "strategies/stop/median/order-window.h"
#include "strategies/stop/median/pool.h"
#include "tests/support/tap.h"

enum { TRIALS = 40 };

static int
number_order(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* The value of a curve at report i, by its definition. */
static double
slow_value(const struct curve_summary_rule *r, const struct curve *c, size_t i)
{
	double sum = 0, best = INFINITY, width;
	size_t k, from = 0, n = 0;

	if (r->kind == SUMMARY_LAST)
		return curve_value(c, i);
	width = ceil(r->share * (double)(i + 1));
	if (r->kind == SUMMARY_WINDOW && width < (double)(i + 1))
		from = i + 1 - (size_t)width;
	if (r->kind == SUMMARY_RECENT && i >= 2)
		from = i - 2;
	for (k = from; k <= i; k++) {
		if (!isfinite(curve_value(c, k)) ||
		    (r->kind == SUMMARY_MEAN_FROM &&
			curve_step(c, k) < r->from) ||
		    (r->kind == SUMMARY_MEAN_FIRST && k >= r->count))
			continue;
		sum += curve_value(c, k);
		best = curve_value(c, k) < best ? curve_value(c, k) : best;
		n++;
	}
	if (n == 0)
		return NAN;
	return r->kind == SUMMARY_BEST || r->kind == SUMMARY_RECENT
		   ? best
		   : sum / (double)n;
}

/* The report of the curve that stands at key, or -1. */
static ptrdiff_t
slow_report(const struct pool_rule *r, const struct curve *c, int64_t key)
{
	ptrdiff_t found = -1;
	size_t i;

	for (i = 0; i < c->n; i++)
		switch (r->key) {
		case POOL_CARRY:
			if (curve_step(c, i) <= key)
				found = (ptrdiff_t)i;
			break;
		case POOL_STEP:
			if (curve_step(c, i) == key)
				found = (ptrdiff_t)i;
			break;
		case POOL_INDEX:
			if ((int64_t)i + 1 == key)
				found = (ptrdiff_t)i;
			break;
		case POOL_ONCE:
			found = (ptrdiff_t)i;
			break;
		}
	if (r->key == POOL_CARRY && c->n > 0 && curve_step(c, c->n - 1) < key)
		return -1;
	return found;
}

/* The share at a step, from its definition. */
static double
slow_share(const struct pool_rule *r, int64_t key)
{
	double past = (double)(key - r->narrow_from) /
		      (double)(r->narrow_to - r->narrow_from);

	if (r->narrow_share <= 0 || past <= 0)
		return r->share;
	if (past >= 1)
		return r->narrow_share;
	return r->share * pow(r->narrow_share / r->share, past);
}

static void
slow_aggregate(const struct pool_rule *r, double share, const double *v,
    struct pool_answer *a)
{
	double h, sum = 0;
	int64_t i, k;

	if (a->n == 0)
		return;
	switch (r->aggregate) {
	case POOL_PERCENTILE:
		h = (double)(a->n - 1) * share;
		k = (int64_t)floor(h);
		a->share = h - (double)k;
		a->first = v[k];
		a->second = k + 1 < a->n ? v[k + 1] : v[k];
		if (r->begun && a->share == 0)
			a->second = v[k];
		break;
	case POOL_MEAN:
		for (i = 0; i < a->n; i++)
			sum += v[i];
		a->first = a->second = sum / (double)a->n;
		break;
	case POOL_RANK:
		for (k = 0; (double)(k + 1) / (double)(a->n + 1) <= share; k++)
			;
		if (k < a->n)
			a->first = a->second = v[k];
		break;
	case POOL_MIDDLE:
		a->first = a->second = v[a->n / 2];
		break;
	}
}

/* Whether the trial is gone at the key: stopped before it. */
static bool
slow_gone(const struct pool_rule *r, const struct history *h, int64_t t,
    const struct curve *c, int64_t key)
{
	return r->begun && c->n > 0 && history_state(h, t) == TRIAL_STOPPED &&
	       curve_step(c, c->n - 1) < key;
}

static void
slow_ask(const struct pool_rule *r, const struct history *h, int64_t key,
    double share, int64_t but, struct pool_answer *a)
{
	double v[TRIALS + 2000], x;
	struct curve c;
	int64_t t;
	ptrdiff_t i;

	*a = (struct pool_answer){ .first = NAN, .second = NAN };
	for (t = 1; t <= history_count(h); t++) {
		c = history_curve(h, t);
		if (t != but && slow_gone(r, h, t, &c, key)) {
			a->seen++;
			v[a->n++] = INFINITY;
			continue;
		}
		if (t == but || (i = slow_report(r, &c, key)) < 0 ||
		    (r->completed && history_state(h, t) != TRIAL_COMPLETED))
			continue;
		a->seen++;
		x = slow_value(&r->value, &c, (size_t)i);
		if (r->infinite ? !isnan(x) : isfinite(x))
			v[a->n++] = x;
	}
	qsort(v, (size_t)a->n, sizeof(v[0]), number_order);
	slow_aggregate(r, share, v, a);
}

/* How many trials but one are better than v. */
static int64_t
slow_better(const struct pool_rule *r, const struct history *h, int64_t key,
    int64_t but, double v)
{
	int64_t t, better = 0;
	struct curve c;
	ptrdiff_t i;
	double x;

	for (t = 1; t <= history_count(h); t++) {
		c = history_curve(h, t);
		if (t == but || (i = slow_report(r, &c, key)) < 0 ||
		    (r->completed && history_state(h, t) != TRIAL_COMPLETED))
			continue;
		x = slow_value(&r->value, &c, (size_t)i);
		better += (r->infinite ? !isnan(x) : isfinite(x)) && x < v;
	}
	return better;
}

static bool
same(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

static bool
same_answer(const struct pool_rule *r, const struct pool_answer *a,
    const struct pool_answer *b)
{
	if (a->n != b->n || a->seen != b->seen)
		return false;
	if (r->aggregate == POOL_MEAN && a->n > 0)
		return fabs(a->first - b->first) <= 1e-12;
	return same(a->first, b->first) && same(a->second, b->second) &&
	       (a->n == 0 || same(a->share, b->share));
}

static struct pool_rule
any_rule(struct rng *r)
{
	static const double shares[] = { 0.5, 0.5, 0.25, 0.9, 0, 1, 0.29 };
	struct pool_rule rule = { 0 };

	rule.value.kind = (enum curve_summary_kind)rng_below(r, 7);
	rule.value.share = 0.05 + 0.95 * rng_uniform(r);
	rule.value.from = (int64_t)rng_below(r, 8);
	rule.value.count = 1 + rng_below(r, 5);
	rule.key =
	    rng_below(r, 2) ? POOL_CARRY : (enum pool_key)rng_below(r, 4);
	rule.aggregate = rng_below(r, 2) ? POOL_PERCENTILE
					 : (enum pool_aggregate)rng_below(r, 4);
	rule.share = shares[rng_below(r, 7)];
	rule.completed = rng_below(r, 3) == 0;
	rule.infinite = rule.aggregate != POOL_MEAN && rng_below(r, 4) == 0;
	if (rule.key != POOL_CARRY || rng_below(r, 2) == 0 ||
	    (rule.aggregate != POOL_PERCENTILE && rule.aggregate != POOL_RANK))
		return rule;
	rule.begun = !rule.completed && !rule.infinite;
	if (rule.share > 0.1 && rng_below(r, 2)) {
		rule.narrow_share = 0.1;
		rule.narrow_from = (int64_t)rng_below(r, 10);
		rule.narrow_to =
		    rule.narrow_from + 1 + (int64_t)rng_below(r, 20);
	}
	return rule;
}

static double
any_value(struct rng *r)
{
	switch (rng_below(r, 16)) {
	case 0:
		return NAN;
	case 1:
		return INFINITY;
	case 2:
		return -INFINITY;
	case 3:
	case 4:
		return rng_normal(r);
	default:
		return floor(rng_uniform(r) * 8);
	}
}

/* A step for trial t: mostly further on, on a grid of the stream's kind. */
static int64_t
any_step(struct rng *r, const struct history *h, int64_t t, unsigned kind)
{
	struct curve c = history_curve(h, t);
	int64_t next = c.n > 0 ? curve_step(&c, c.n - 1) + 1 : 0;

	if (rng_below(r, 10) == 0)
		return (int64_t)rng_below(r, 30);
	if (kind == 0)
		return next;
	if (kind == 1)
		return next + 9 - next % 10;
	return next + (int64_t)rng_below(r, 12);
}

static void
any_change(struct rng *r, struct history *h, struct pool *p, unsigned kind)
{
	int64_t t = 1 + (int64_t)rng_below(r, (uint64_t)history_count(h)), step;
	enum trial_state state;

	if (rng_below(r, 10) > 0) {
		step = any_step(r, h, t, kind);
		history_report(h, t, step, any_value(r));
		pool_observe(p, h, t, step);
		return;
	}
	state = rng_below(r, 2) ? TRIAL_COMPLETED : TRIAL_STOPPED;
	if (history_state(h, t) == TRIAL_RUNNING)
		history_end(h, t, state, 1.0);
	else
		history_retry(h, t);
	pool_ended(p, h, t);
}

/* What a rule asks beside the aggregate of its own share. */
static bool
same_others(const struct pool_rule *rule, struct pool *p,
    const struct history *h, int64_t key, int64_t but, double v)
{
	struct pool_answer fast, slow;
	int64_t better, least;

	if (rule->key != POOL_CARRY || rule->aggregate == POOL_MEAN)
		return true;
	better = slow_better(rule, h, key, but, v);
	least = pool_better(p, h, key, but, v, false);
	pool_query_share(p, h, key, 0.5, &fast);
	slow_ask(rule, h, key, 0.5, 0, &slow);
	return pool_better(p, h, key, but, v, true) == better && least >= 0 &&
	       least <= better && same_answer(rule, &fast, &slow);
}

static bool
one_stream(uint64_t seed, int64_t trials, int length, uint64_t spread)
{
	struct pool_answer fast, slow;
	struct pool_rule rule;
	struct history *h;
	struct pool *p;
	struct rng r;
	int64_t key, but;
	bool good = true;
	unsigned kind;
	int i;

	rng_init(&r, seed, 0);
	rule = any_rule(&r);
	kind = (unsigned)rng_below(&r, 3);
	h = history_new(0, rng_below(&r, 2), HISTORY_CURVES);
	p = pool_new(&rule);
	for (i = 0; i < length && good; i++) {
		if (history_count(h) < trials &&
		    rng_below(&r, 12) < (trials > TRIALS ? 6 : 1))
			history_add(h, history_count(h) + 1, NULL);
		if (history_count(h) == 0)
			continue;
		any_change(&r, h, p, kind);
		if (rng_below(&r, spread) == 0)
			pool_use_intervals(p, h);
		if (trials > TRIALS && rng_below(&r, 40) > 0)
			continue;
		key = (int64_t)rng_below(&r, 40);
		but = (int64_t)rng_below(&r, (uint64_t)history_count(h) + 1);
		pool_query(p, h, key, but, &fast);
		slow_ask(&rule, h, key, slow_share(&rule, key), but, &slow);
		good = same_answer(&rule, &fast, &slow) &&
		       same_others(&rule, p, h, key, but, any_value(&r));
	}
	if (!good)
		printf("# seed %llu, change %d: %lld of %lld, %g %g; want "
		       "%lld of %lld, %g %g\n",
		    (unsigned long long)seed, i, (long long)fast.n,
		    (long long)fast.seen, fast.first, fast.second,
		    (long long)slow.n, (long long)slow.seen, slow.first,
		    slow.second);
	pool_free(p);
	history_free(h);
	return good;
}

static void
test_streams(
    uint64_t first, uint64_t n, int64_t trials, int length, uint64_t spread)
{
	uint64_t seed, bad = 0;

	for (seed = first; seed < first + n; seed++)
		bad += !one_stream(seed, trials, length, spread);
	ok(bad == 0, "%d random streams of %d trials agree with the oracle",
	    (int)n, (int)trials);
}

/* A pool of trials that report one value each at step 0. */
static struct pool *
flat_pool(
    struct history *h, const struct pool_rule *rule, const double *v, int64_t n)
{
	struct pool *p = pool_new(rule);
	int64_t t;

	for (t = 1; t <= n; t++) {
		history_add(h, t, NULL);
		history_report(h, t, 0, v != NULL ? v[t - 1] : (double)t - 1);
		pool_observe(p, h, t, 0);
	}
	return p;
}

static void
test_arithmetic(void)
{
	static const double far[] = { 1e16, 1, 1, -1e16, 2 };
	struct pool_rule rank = { .aggregate = POOL_RANK, .share = 0.29 };
	struct pool_rule mean = { .aggregate = POOL_MEAN };
	struct history *h = history_new(0, false, HISTORY_CURVES);
	struct history *g = history_new(0, false, HISTORY_CURVES);
	struct pool *p = flat_pool(h, &rank, NULL, 99);
	struct pool *q = flat_pool(g, &mean, far, 3);
	struct pool_answer a;

	pool_query(p, h, 0, 0, &a);
	is_near(a.first, 29, 0, "29 of 100 are 0.29, whatever 0.29 * 100 is");
	pool_query(q, g, 0, 0, &a);
	history_add(g, 4, NULL);
	history_report(g, 4, 0, far[3]);
	pool_observe(q, g, 4, 0);
	history_add(g, 5, NULL);
	history_report(g, 5, 0, far[4]);
	pool_observe(q, g, 5, 0);
	pool_query(q, g, 0, 5, &a);
	is_near(a.first, 0.5, 0, "sums keep what great numbers would swallow");
	pool_free(p);
	pool_free(q);
	history_free(h);
	history_free(g);
}

/* One of the shapes of numbers that are hard to part. */
static double
shape_at(int shape, size_t i, size_t n, struct rng *rng)
{
	switch (shape) {
	case 0:
		return rng_uniform(rng);
	case 1:
		return (double)i;
	case 2:
		return -(double)i;
	case 3:
		return 7;
	case 4:
		return floor(3 * rng_uniform(rng));
	case 5:
		return (double)(i < n / 2 ? i : n - i);
	default:
		return i % 64 == 0 ? -INFINITY : rng_normal(rng);
	}
}

/* Windows of many numbers hold what sorting all of them gives. */
static void
test_windows(void)
{
	static const size_t sizes[] = { 1, 2, 1023, 1024, 1025, 9000 };
	struct order_window w = { 0 };
	double *v = xcalloc(2 * 9000, sizeof *v), *all = v + 9000;
	size_t s, i, n;
	struct rng rng;
	int shape, at;
	bool good = true;

	rng_init(&rng, 3, 3);
	for (s = 0; s < sizeof sizes / sizeof *sizes; s++)
		for (shape = 0; shape <= 6; shape++)
			for (at = -1; at <= 11; at++) {
				n = sizes[s];
				for (i = 0; i < n; i++)
					v[i] = all[i] =
					    shape_at(shape, i, n, &rng);
				qsort(all, n, sizeof *all, number_order);
				order_window_fill(
				    &w, v, n, (int64_t)n * at / 10, 65);
				good = good && w.n == (n < 65 ? n : 65) &&
				       w.below + (int64_t)w.n + w.above ==
					   (int64_t)n;
				for (i = 0; i < w.n && good; i++)
					good = w.values[i] ==
					       all[(size_t)w.below + i];
			}
	ok(good, "windows of up to 9,000 numbers of seven shapes");
	order_window_free(&w);
	free(v);
}

int
main(void)
{
	test_arithmetic();
	test_windows();
	test_streams(1, often(800, 4000), TRIALS, 300, UINT64_MAX);
	test_streams(10001, often(600, 3000), TRIALS, 300, 100);
	test_streams(100001, often(10, 40), 2000, 12000, UINT64_MAX);
	test_streams(200001, often(5, 20), 2000, 12000, 4000);
	return done_testing();
}
