/* Chooses the stopped trial that is resumed next; the header has the formulas. */

#include <math.h>
#include <stdlib.h>

#include "src/base/mem.h"
#include "src/model/history/history.h"
#include "strategies/stop/second-look/second-look.h"

enum {
	HURT_REPORTS = 5, /* the first ones are not judged */
	HURT_OTHERS = 5, /* fewer other trials judge nothing */
	HURT_WARMUP = 5, /* one in this many of max_steps is not judged */
	HURT_OPEN = 2 /* H above one in this many: all candidates are open */
};

/* Values at one report of a trial: all of them, and those that are better. */
struct hurt_pool {
	int64_t n, better;
};

/* Whether both curves have the same steps, as far as the shorter one goes. */
static bool
same_steps(const struct curve *c, const struct curve *o)
{
	return c->steps == NULL && o->steps == NULL && c->first == o->first &&
	       c->stride == o->stride;
}

/* pool_add of curves with the same steps: each value has its own place. */
static void
pool_add_same(
    struct hurt_pool *pool, const struct curve *c, const struct curve *o)
{
	size_t i, n = c->n < o->n ? c->n : o->n;

	for (i = 0; i < n; i++) {
		if (!isfinite(curve_value(o, i)))
			continue;
		pool[i].n++;
		pool[i].better += curve_value(o, i) < curve_value(c, i);
	}
}

/* Compare c with one curve, the same or another, at each report of c. */
static void
pool_add(struct hurt_pool *pool, const struct curve *c, const struct curve *o)
{
	int64_t last = curve_step(o, o->n - 1);
	size_t i, k = 0;

	if (same_steps(c, o)) {
		pool_add_same(pool, c, o);
		return;
	}
	for (i = 0; i < c->n && curve_step(c, i) <= last; i++) {
		while (k < o->n && curve_step(o, k) <= curve_step(c, i))
			k++;
		if (k == 0 || !isfinite(curve_value(o, k - 1)))
			continue;
		pool[i].n++;
		pool[i].better += curve_value(o, k - 1) < curve_value(c, i);
	}
}

/*
 * Whether report i is judged, and worse than the median of the pool, which has
 * the trial itself: so it is when at least half of the pool is better.
 */
static bool
report_worse(const struct curve *c, size_t i, const struct hurt_pool *pool,
    int64_t max_steps)
{
	int64_t step = curve_step(c, i);

	return i >= HURT_REPORTS && i + 1 < c->n &&
	       (max_steps == 0 || i + 1 < (size_t)max_steps) &&
	       step >= (max_steps + HURT_WARMUP - 1) / HURT_WARMUP &&
	       pool[i].n > HURT_OTHERS && !isnan(curve_value(c, i)) &&
	       2 * pool[i].better >= pool[i].n;
}

/* Whether the plain median would have stopped the trial. */
static bool
trial_lost(const struct history *h, int64_t trial, int64_t max_steps)
{
	struct curve c = history_curve(h, trial), other;
	struct hurt_pool *pool;
	bool lost = false;
	int64_t t;
	size_t i;

	pool = xcalloc(c.n + 1, sizeof *pool);
	for (t = 1; t <= history_count(h); t++) {
		other = history_curve(h, t);
		if (other.n > 0)
			pool_add(pool, &c, &other);
	}
	for (i = 0; i < c.n && !lost; i++)
		lost = report_worse(&c, i, pool, max_steps);
	free(pool);
	return lost;
}

void
second_look_hurt(
    struct second_look_hurt *hurt, const struct history *h, int64_t max_steps)
{
	int64_t best[SECOND_LOOK_BEST];
	size_t i, n = history_bests(h, best, SECOND_LOOK_BEST);

	*hurt = (struct second_look_hurt){ .trials = (int64_t)n, .share = 1 };
	for (i = 0; i < n; i++)
		hurt->lost += trial_lost(h, best[i], max_steps);
	if (n > 0)
		hurt->share = (double)hurt->lost / (double)n;
}

/* Steps up to this one: a curve that begins with step 0 has one more. */
static int64_t
steps_done(const struct curve *c, int64_t step)
{
	return c->n == 0 ? 0 : step + (curve_step(c, 0) == 0);
}

/* The steps of a whole trial; 0 = unknown. */
static int64_t
whole_steps(const struct second_look_study *s)
{
	int64_t t, steps, most = 0;
	struct curve c;

	if (s->max_steps > 0)
		return s->max_steps;
	for (t = 1; t <= history_count(s->history); t++) {
		c = history_curve(s->history, t);
		if (c.n == 0 || history_state(s->history, t) != TRIAL_COMPLETED)
			continue;
		steps = steps_done(&c, curve_step(&c, c.n - 1));
		most = steps > most ? steps : most;
	}
	return most;
}

/* The best of the last reports at or before step; NaN = none. */
static double
last_best(const struct curve *c, int64_t step)
{
	ptrdiff_t i = curve_at(c, step);
	double best = NAN;
	int k;

	for (k = 0; k < SECOND_LOOK_LAST && i - k >= 0; k++)
		if (!(curve_value(c, i - k) >= best) &&
		    !isnan(curve_value(c, i - k)))
			best = curve_value(c, i - k);
	return best;
}

/*
 * Other trials that reached the last step of this one; returns how many of
 * them are better, or most when there are at least as many.
 */
static int64_t
rank_up_to(
    const struct history *h, int64_t trial, int64_t most, int64_t *reached)
{
	struct curve c = history_curve(h, trial), other;
	int64_t step = curve_step(&c, c.n - 1), t, rank = 0;
	double own = last_best(&c, step);

	*reached = 0;
	for (t = 1; t <= history_count(h) && rank < most; t++) {
		other = history_curve(h, t);
		if (t == trial || other.n == 0 ||
		    curve_step(&other, other.n - 1) < step)
			continue;
		++*reached;
		rank += last_best(&other, step) < own;
	}
	return rank;
}

/* The price of a second look; 0: the trial cannot have one. */
static int64_t
look_price(const struct second_look_study *s,
    const struct second_look_trial *one, int64_t whole)
{
	struct curve c = history_curve(s->history, one->trial);
	int64_t left;

	if (!one->candidate || c.n == 0 || !isfinite(curve_value(&c, c.n - 1)))
		return 0;
	left = whole - steps_done(&c, curve_step(&c, c.n - 1));
	if (left <= 0)
		return 0;
	return one->checkpoint ? left : whole;
}

/*
 * Whether a trial can be among the best by their curves: it is not behind all
 * of them at its last step.
 */
static bool
look_open(const struct second_look *look, const struct second_look_study *s,
    int64_t trial)
{
	int64_t best[SECOND_LOOK_NEAR];
	size_t i, n, reached = 0;
	struct curve c = history_curve(s->history, trial), other;
	int64_t step = curve_step(&c, c.n - 1);
	double own = last_best(&c, step);

	if (HURT_OPEN * look->hurt.lost > look->hurt.trials)
		return true;
	n = history_bests(s->history, best, SECOND_LOOK_NEAR);
	for (i = 0; i < n; i++) {
		other = history_curve(s->history, best[i]);
		if (other.n == 0 || curve_step(&other, other.n - 1) < step)
			continue;
		reached++;
		if (!(last_best(&other, step) < own))
			return true;
	}
	return reached == 0;
}

/* T, what was saved and spent, H and B. */
static void
look_budget(
    struct second_look *look, const struct second_look_study *s, int64_t whole)
{
	const struct second_look_trial *one;
	struct curve c;
	double most;
	int64_t t, skipped;
	size_t i;

	for (t = 1; t <= history_count(s->history); t++)
		look->full += history_curve(s->history, t).n > 0 ? whole : 0;
	for (i = 0; i < s->n_stopped; i++) {
		one = &s->stopped[i];
		c = history_curve(s->history, one->trial);
		skipped = whole - steps_done(&c, one->step);
		look->saved += skipped > 0 && c.n > 0 ? skipped : 0;
		look->spent += one->price;
	}
	second_look_hurt(&look->hurt, s->history, s->max_steps);
	most = (SECOND_LOOK_FLOOR + s->share * look->hurt.share) *
	       (double)look->full;
	/* 2 % of 50 steps are one step, not 1.0000000000000002. */
	most = floor(most + 1e-9 * most);
	look->budget = most < (double)look->saved ? (int64_t)most : look->saved;
}

/* Whether a candidate comes before the chosen one. */
static bool
look_earlier(const struct second_look *look, int64_t rank, int64_t trial)
{
	return look->trial == 0 || rank < look->rank ||
	       (rank == look->rank && trial < look->trial);
}

void
second_look_decide(struct second_look *look, const struct second_look_study *s)
{
	int64_t whole = whole_steps(s), price, rank, reached, most;
	const struct second_look_trial *one;
	struct curve c;
	size_t i;

	*look = (struct second_look){ .value = NAN };
	if (s->share <= 0)
		return;
	look_budget(look, s, whole);
	for (i = 0; i < s->n_stopped; i++) {
		one = &s->stopped[i];
		price = look_price(s, one, whole);
		if (price == 0 || look->spent + price > look->budget ||
		    !look_open(look, s, one->trial))
			continue;
		most = look->trial == 0 ? INT64_MAX : look->rank + 1;
		rank = rank_up_to(s->history, one->trial, most, &reached);
		if (!look_earlier(look, rank, one->trial))
			continue;
		c = history_curve(s->history, one->trial);
		look->trial = one->trial;
		look->rank = rank;
		look->reached = reached;
		look->price = price;
		look->value = history_flip_sign(
		    s->history, last_best(&c, curve_step(&c, c.n - 1)));
	}
}
