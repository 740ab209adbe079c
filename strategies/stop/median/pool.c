/*
 * Pools of curves by key.  There is one cell per queried step; a report updates
 * the cells it passes, and a cell whose window lost its rank is filled again
 * from the curves.  Where every trial reports different steps that would be too
 * much work: then the values are kept as intervals instead.
 */

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/base/search.h"
#include "src/model/history/history.h"
#include "strategies/stop/median/curve-summary.h"
#include "strategies/stop/median/pool-interval.h"
#include "strategies/stop/median/pool.h"
#include "strategies/stop/median/order-window.h"

/* ---- one step: order statistics and sums --------------------------------- */

/* The two ranks next to the aggregate, and its distance from the first. */
struct pool_ranks {
	int64_t first, second;
	double share;
};

struct pool_step {
	int64_t key;
	bool filled; /* the following fields are valid */
	int64_t seen; /* trials with a report here */
	int64_t n; /* those whose value is not NaN */
	struct order_window
	    window; /* their values, unless the mean is wanted */
	double sum, rest; /* sum + rest is the sum in double-double precision */
};

/* Cells in the order of their keys. */
struct pool_steps {
	struct pool_step **all;
	size_t n, cap;
	size_t hint; /* last cell found */
};

static size_t
pool_steps_from(const struct pool_steps *s, int64_t key)
{
	size_t at;

	if (s->n > 0 && s->all[s->n - 1]->key < key)
		return s->n;
	SEARCH_FIRST(at, s->n, s->all[at]->key < key);
	return at;
}

/* The cell of this key, or NULL. */
static struct pool_step *
pool_steps_find(struct pool_steps *s, int64_t key)
{
	size_t at;

	/* The same step as last time, or the one after it. */
	for (at = s->hint; at < s->n && at <= s->hint + 1; at++)
		if (s->all[at]->key == key)
			break;
	if (at >= s->n || at > s->hint + 1)
		at = pool_steps_from(s, key);
	if (at == s->n || s->all[at]->key != key)
		return NULL;
	s->hint = at;
	return s->all[at];
}

/* The same, created empty if missing; filled: whether it is valid. */
static struct pool_step *
pool_steps_make(struct pool_steps *s, int64_t key, bool filled)
{
	struct pool_step *c = pool_steps_find(s, key);
	size_t at;

	if (c != NULL)
		return c;
	c = xcalloc(1, sizeof(*c));
	c->key = key;
	c->filled = filled;
	XGROW(s->all, s->n, s->cap);
	at = pool_steps_from(s, key);
	memmove(s->all + at + 1, s->all + at, (s->n - at) * sizeof(*s->all));
	s->all[at] = c;
	s->n++;
	s->hint = at;
	return c;
}

static void
pool_steps_free(struct pool_steps *s)
{
	size_t i;

	for (i = 0; i < s->n; i++) {
		order_window_free(&s->all[i]->window);
		free(s->all[i]);
	}
	free(s->all);
	*s = (struct pool_steps){ 0 };
}

static bool
pool_step_counts(const struct pool_rule *r, double v)
{
	return r->infinite ? !isnan(v) : isfinite(v);
}

/* The greatest k with k / n <= share, in floating point. */
static int64_t
rank_below(double share, int64_t n)
{
	int64_t k = (int64_t)(share * (double)n);

	if ((double)k / (double)n > share)
		return k - 1;
	if ((double)(k + 1) / (double)n <= share)
		k++;
	return k;
}

static struct pool_ranks
ranks_of_percentile(const struct pool_rule *r, int64_t n)
{
	double h = (double)(n - 1) * r->share;
	struct pool_ranks w = { .first = (int64_t)h };

	w.share = h - floor(h);
	w.second = w.first + 1 < n ? w.first + 1 : w.first;
	if (r->mirrored) {
		w.first = n - 1 - w.first;
		w.second = n - 1 - w.second;
	}
	return w;
}

/* Whether v is used for medians and means. */
static struct pool_ranks
pool_step_ranks(const struct pool_rule *r, int64_t n)
{
	struct pool_ranks w = { 0, 0, 0 };

	switch (r->aggregate) {
	case POOL_PERCENTILE:
		return ranks_of_percentile(r, n);
	case POOL_MEAN:
		break;
	case POOL_RANK:
		w.first = rank_below(r->share, n + 1);
		break;
	case POOL_MIDDLE:
		w.first = n / 2;
		break;
	}
	w.second = w.first;
	return w;
}

/* Add to a sum without losing digits (Knuth's two-sum). */
static void
pool_step_sum(struct pool_step *c, double v)
{
	double s = c->sum + v, t = s - c->sum;

	c->rest += (c->sum - (s - t)) + (v - t);
	c->sum = s;
}

/* Add (sign 1) or remove (-1) one value; size is the window's. */
static void
pool_step_change(struct pool_step *c, const struct pool_rule *r, double v,
    int sign, size_t size)
{
	if (!c->filled)
		return;
	c->seen += sign;
	if (!pool_step_counts(r, v))
		return;
	c->n += sign;
	if (r->aggregate == POOL_MEAN) {
		pool_step_sum(c, sign > 0 ? v : -v);
		return;
	}
	c->filled = sign > 0 ? order_window_add(&c->window, v)
			     : order_window_remove(&c->window, v);
	if (c->window.n > 2 * size)
		order_window_trim(
		    &c->window, pool_step_ranks(r, c->n).first, size);
}

/* Start again from n values (reordered here) of seen trials. */
static void
pool_step_fill(struct pool_step *c, const struct pool_rule *r, double *values,
    size_t n, int64_t seen, size_t size)
{
	size_t i;

	c->filled = true;
	c->seen = seen;
	c->n = (int64_t)n;
	c->sum = c->rest = 0;
	if (r->aggregate == POOL_MEAN)
		for (i = 0; i < n; i++)
			pool_step_sum(c, values[i]);
	else
		order_window_fill(&c->window, values, n,
		    pool_step_ranks(r, c->n).first, size);
}

/*
 * The aggregate of the a->n numbers left without *skip, unless NULL.  False: it
 * is outside the window.
 */
static bool
pool_step_answer(const struct pool_step *c, const struct pool_rule *r,
    const double *skip, struct pool_answer *a)
{
	struct pool_ranks w;
	double sum;

	if (r->aggregate == POOL_MEAN) {
		sum = skip != NULL ? c->sum - *skip : c->sum;
		a->first = a->second = (sum + c->rest) / (double)a->n;
		return true;
	}
	w = pool_step_ranks(r, a->n);
	a->share = w.share;
	return w.first >= a->n ||
	       (order_window_rank(&c->window, w.first, skip, &a->first) &&
		   order_window_rank(&c->window, w.second, skip, &a->second));
}

/* ---- the pool ------------------------------------------------------------ */

enum {
	WINDOW_LEAST = 256, /* numbers a window keeps, at least */
	WINDOW_SHARE = 64, /* and one of so many members */
	/* Work on cells per report beyond which intervals are better. */
	FILLED_PER_REPORT = 8, /* curves read to fill a cell */
	TOUCHED_PER_REPORT = 64, /* cells between two reports of a trial */
	WORK_FREE = 131072, /* work before the heuristic applies */
	CELLS_MOST = 65536 /* of a pool of means, which has no spans */
};

struct pool {
	struct pool_rule rule;
	struct curve_summary_cache *values; /* of trials that report */
	struct pool_steps cells;
	struct pool_intervals
	    *spans; /* of numbers; NULL while there are cells */
	struct pool_intervals *others; /* of what is no number */
	int64_t reports, filled, touched;
	uint8_t *member; /* one bit a trial */
	size_t member_cap; /* bytes */
	int64_t members;
};

struct pool *
pool_new(const struct pool_rule *rule)
{
	struct pool *p = xcalloc(1, sizeof(*p));

	p->rule = *rule;
	p->values = curve_summary_cache_new(&rule->value);
	return p;
}

void
pool_free(struct pool *p)
{
	if (p == NULL)
		return;
	pool_steps_free(&p->cells);
	pool_intervals_free(p->spans);
	pool_intervals_free(p->others);
	curve_summary_cache_free(p->values);
	free(p->member);
	free(p);
}

int64_t
pool_members(const struct pool *p)
{
	return p->members;
}

static bool
member_is(const struct pool *p, int64_t trial)
{
	size_t at = (size_t)trial / 8;

	return at < p->member_cap && (p->member[at] >> (trial % 8) & 1) != 0;
}

static void
member_set(struct pool *p, int64_t trial, bool is)
{
	size_t at = (size_t)trial / 8, old = p->member_cap;

	if (at >= old) {
		p->member_cap = at + at / 2 + 64;
		p->member = xrealloc(p->member, p->member_cap);
		memset(p->member + old, 0, p->member_cap - old);
	}
	if (member_is(p, trial) == is)
		return;
	p->member[at] = (uint8_t)(p->member[at] ^ 1 << trial % 8);
	p->members += is ? 1 : -1;
}

static size_t
window_size(const struct pool *p)
{
	int64_t n = p->members / WINDOW_SHARE;

	return n < WINDOW_LEAST ? WINDOW_LEAST : (size_t)n;
}

/* Which report of the curve stands at key; -1 = none. */
static ptrdiff_t
report_at(const struct pool *p, const struct curve *c, int64_t key)
{
	ptrdiff_t i = -1;

	if (c->n == 0)
		return -1;
	switch (p->rule.key) {
	case POOL_CARRY:
		return key > curve_step(c, c->n - 1) ? -1 : curve_at(c, key);
	case POOL_STEP:
		i = curve_at(c, key);
		return i >= 0 && curve_step(c, (size_t)i) == key ? i : -1;
	case POOL_INDEX:
		return key >= 1 && (uint64_t)key <= c->n ? key - 1 : -1;
	case POOL_ONCE:
		return (ptrdiff_t)c->n - 1;
	}
	return i;
}

/* Fill a cell with what all members have at its key. */
static void
pool_fill(struct pool *p, const struct history *h, struct pool_step *c)
{
	bool last = p->rule.value.kind == SUMMARY_LAST;
	double v, *values;
	int64_t trial, seen = 0, count = history_count(h);
	struct curve curve;
	ptrdiff_t i;
	size_t n = 0;

	values = xreallocarray(NULL, (size_t)p->members + 1, sizeof(*values));
	for (trial = 1; trial <= count; trial++) {
		if (!member_is(p, trial))
			continue;
		curve = history_curve(h, trial);
		i = report_at(p, &curve, c->key);
		if (i < 0)
			continue;
		v = last ? curve_value(&curve, i)
			 : curve_summary_at(&p->rule.value, &curve, (size_t)i);
		seen++;
		if (pool_step_counts(&p->rule, v))
			values[n++] = v;
	}
	pool_step_fill(c, &p->rule, values, n, seen, window_size(p));
	free(values);
}

/* Keys at which report i of a curve stands. */
static void
report_span(const struct pool *p, const struct curve *c, size_t i,
    int64_t *from, int64_t *to)
{
	switch (p->rule.key) {
	case POOL_CARRY:
		*from = *to = curve_step(c, i);
		if (i + 1 < c->n)
			*to = curve_step(c, i + 1) - 1;
		break;
	case POOL_STEP:
		*from = *to = curve_step(c, i);
		break;
	case POOL_INDEX:
		*from = *to = (int64_t)i + 1;
		break;
	case POOL_ONCE:
		*from = i + 1 == c->n ? 0 : 1;
		*to = 0;
		break;
	}
}

/* Into the spans or out of them. */
static void
spans_change(struct pool *p, int64_t from, int64_t to, double v, int sign)
{
	struct pool_intervals *s = p->spans;

	if (!pool_step_counts(&p->rule, v)) {
		s = p->others;
		v = 0;
	}
	if (sign > 0)
		pool_intervals_add(s, from, to, v);
	else
		pool_intervals_remove(s, from, to, v);
}

static void
span_change(struct pool *p, int64_t from, int64_t to, double v, int sign)
{
	size_t k, size = window_size(p);

	if (from > to)
		return;
	if (p->spans != NULL)
		spans_change(p, from, to, v, sign);
	else if (p->rule.key != POOL_CARRY)
		/* Such cells are complete from the start. */
		pool_step_change(pool_steps_make(&p->cells, from, true),
		    &p->rule, v, sign, size);
	else
		for (k = pool_steps_from(&p->cells, from);
		     k < p->cells.n && p->cells.all[k]->key <= to;
		     k++, p->touched++)
			pool_step_change(
			    p->cells.all[k], &p->rule, v, sign, size);
}

/* Add (sign 1) or remove (-1) a curve from this report on. */
static void
curve_change(struct pool *p, const struct curve *c, size_t first, int sign)
{
	struct curve_summary_run run = { 0 };
	int64_t from = 0, to = 0;
	size_t i;
	double v;

	for (i = 0; i < c->n; i++) {
		v = curve_summary_next(&run, &p->rule.value, c);
		if (i < first)
			continue;
		report_span(p, c, i, &from, &to);
		span_change(p, from, to, v, sign);
	}
}

/* The newest report extends the previous one up to its step. */
static void
curve_reach(struct pool *p, int64_t trial, const struct curve *c)
{
	int64_t from = curve_step(c, c->n - 2);
	int64_t to = curve_step(c, c->n - 1) - 1;
	double v;

	if (from == to ||
	    (p->spans == NULL && pool_steps_from(&p->cells, from + 1) ==
				     pool_steps_from(&p->cells, to + 1)))
		return;
	v = curve_summary_cache_at(p->values, trial, c, c->n - 2);
	if (p->spans != NULL)
		spans_change(p, from, from, v, -1);
	else
		from++;
	span_change(p, from, to, v, 1);
}

/* The usual case: the newest report is the last one of its curve. */
static void
curve_extend(struct pool *p, int64_t trial, const struct curve *c)
{
	int64_t from = 0, to = 0;

	if (p->rule.key == POOL_ONCE && c->n > 1)
		span_change(p, 0, 0,
		    curve_summary_cache_at(p->values, trial, c, c->n - 2), -1);
	if (p->rule.key == POOL_CARRY && c->n > 1)
		curve_reach(p, trial, c);
	report_span(p, c, c->n - 1, &from, &to);
	span_change(p, from, to,
	    curve_summary_cache_at(p->values, trial, c, c->n - 1), 1);
}

/*
 * The same where a report stands for itself alone: only it and the one before
 * it have another place now.
 */
static void
report_mend(
    struct pool *p, const struct history *h, const struct curve *c, size_t at)
{
	int64_t from = 0, to = 0, reached;
	double was;

	report_span(p, c, at, &from, &to);
	if (history_replaced_value(h, &was))
		span_change(p, from, to, was, -1);
	span_change(p, from, to, curve_value(c, at), 1);
	if (history_replaced_value(h, &was) || at == 0 ||
	    p->rule.key != POOL_CARRY)
		return;
	reached = to;
	report_span(p, c, at - 1, &from, &to);
	span_change(p, from, reached, curve_value(c, at - 1), -1);
	span_change(p, from, to, curve_value(c, at - 1), 1);
}

/*
 * Repair after a late or repeated report: remove the curve without it, or with
 * the old value, and add the current one.  Values before the neighbouring
 * report are unchanged.
 */
static void
curve_mend(
    struct pool *p, const struct history *h, const struct curve *now, size_t at)
{
	double *values = xreallocarray(NULL, now->n, sizeof(double));
	int64_t *steps = xreallocarray(NULL, now->n, sizeof(int64_t));
	struct curve old = { .steps = steps, .plain = values };
	double was;
	bool again = history_replaced_value(h, &was);
	size_t i, first = at > 0 ? at - 1 : 0;

	for (i = 0; i < now->n; i++) {
		if (i == at && !again)
			continue;
		values[old.n] = i == at ? was : curve_value(now, i);
		steps[old.n++] = curve_step(now, i);
	}
	curve_change(p, &old, first, -1);
	curve_change(p, now, first, 1);
	free(values);
	free(steps);
}

bool
pool_asked(const struct pool *p)
{
	return p->rule.key != POOL_CARRY || p->spans != NULL || p->cells.n > 0;
}

/* Nothing was asked yet: the first question fills its cell from the curves. */
static void
observe_unasked(struct pool *p, int64_t trial)
{
	curve_summary_cache_forget(p->values, trial);
	if (p->rule.completed && !member_is(p, trial))
		return;
	p->reports++;
	if (!member_is(p, trial))
		member_set(p, trial, true);
}

void
pool_observe(
    struct pool *p, const struct history *h, int64_t trial, int64_t step)
{
	struct curve c;
	ptrdiff_t at;
	double old;
	bool grew;

	if (!pool_asked(p)) {
		observe_unasked(p, trial);
		return;
	}
	c = history_curve(h, trial);
	at = curve_at(&c, step);
	assert(at >= 0);
	grew = (size_t)at + 1 == c.n && !history_replaced_value(h, &old);
	if (!grew)
		curve_summary_cache_forget(p->values, trial);
	if (p->rule.completed && !member_is(p, trial))
		return;
	p->reports++;
	if (!member_is(p, trial)) {
		member_set(p, trial, true);
		curve_change(p, &c, 0, 1);
	} else if (grew)
		curve_extend(p, trial, &c);
	else if (p->rule.value.kind == SUMMARY_LAST &&
		 p->rule.key != POOL_INDEX)
		report_mend(p, h, &c, (size_t)at);
	else
		curve_mend(p, h, &c, (size_t)at);
}

void
pool_ended(struct pool *p, const struct history *h, int64_t trial)
{
	bool is = history_state(h, trial) == TRIAL_COMPLETED;
	struct curve c;

	if (!p->rule.completed || is == member_is(p, trial))
		return;
	c = history_curve(h, trial);
	p->reports += (int64_t)c.n;
	member_set(p, trial, is);
	curve_change(p, &c, 0, is ? 1 : -1);
}

void
pool_use_intervals(struct pool *p, const struct history *h)
{
	int64_t trial, count = history_count(h);
	struct curve c;

	if (p->spans != NULL || p->rule.key != POOL_CARRY ||
	    p->rule.aggregate == POOL_MEAN)
		return;
	pool_steps_free(&p->cells);
	p->spans = pool_intervals_new();
	p->others = pool_intervals_new();
	for (trial = 1; trial <= count; trial++)
		if (member_is(p, trial)) {
			c = history_curve(h, trial);
			curve_change(p, &c, 0, 1);
		}
}

/* A valid cell, or NULL if no trial has a value. */
static struct pool_step *
pool_cell(struct pool *p, const struct history *h, int64_t key)
{
	struct pool_step *c;

	if (p->rule.key != POOL_CARRY)
		c = pool_steps_find(&p->cells, key);
	else {
		if (p->cells.n >= CELLS_MOST && p->rule.aggregate == POOL_MEAN)
			pool_steps_free(&p->cells);
		c = pool_steps_make(&p->cells, key, false);
	}
	if (c != NULL && !c->filled) {
		p->filled += p->members;
		pool_fill(p, h, c);
	}
	return c;
}

/* What one trial has here: 0 = nothing, 1 = no number, 2 = *own. */
static int
pool_own(struct pool *p, const struct history *h, int64_t key, int64_t trial,
    double *own)
{
	struct curve c;
	ptrdiff_t i;

	if (trial == 0 || !member_is(p, trial))
		return 0;
	c = history_curve(h, trial);
	i = report_at(p, &c, key);
	if (i < 0)
		return 0;
	*own = curve_summary_cache_at(p->values, trial, &c, (size_t)i);
	return pool_step_counts(&p->rule, *own) ? 2 : 1;
}

static void
ask_spans(struct pool *p, int64_t key, int has, const double *skip,
    struct pool_answer *a)
{
	struct pool_ranks w;

	a->n = pool_intervals_at(p->spans, key);
	a->seen = a->n + pool_intervals_at(p->others, key) - (has > 0);
	a->n -= skip != NULL;
	if (a->n == 0)
		return;
	w = pool_step_ranks(&p->rule, a->n);
	a->share = w.share;
	if (w.first >= a->n)
		return;
	a->first = pool_intervals_rank(p->spans, w.first, skip);
	a->second = w.second == w.first
			? a->first
			: pool_intervals_rank(p->spans, w.second, skip);
}

void
pool_query(struct pool *p, const struct history *h, int64_t key, int64_t but,
    struct pool_answer *a)
{
	double own = NAN;
	const double *skip;
	struct pool_step *c;
	int has;

	*a = (struct pool_answer){ .first = NAN, .second = NAN };
	if (p->rule.key == POOL_ONCE)
		key = 0;
	has = pool_own(p, h, key, but, &own);
	skip = has == 2 ? &own : NULL;
	if (p->filled > WORK_FREE + FILLED_PER_REPORT * p->reports ||
	    p->touched > WORK_FREE + TOUCHED_PER_REPORT * p->reports)
		pool_use_intervals(p, h);
	if (p->spans != NULL) {
		ask_spans(p, key, has, skip, a);
		return;
	}
	c = pool_cell(p, h, key);
	if (c == NULL)
		return;
	a->seen = c->seen - (has > 0);
	a->n = c->n - (skip != NULL);
	if (a->n == 0 || pool_step_answer(c, &p->rule, skip, a))
		return;
	pool_fill(p, h, c);
	if (!pool_step_answer(c, &p->rule, skip, a))
		assert(!"a fresh window shows the wanted rank");
}

double
pool_threshold(const struct pool_answer *a)
{
	if (a->first == a->second)
		return a->first;
	return a->first * (1 - a->share) + a->second * a->share;
}
