/*
 * Pools of curves by step.  One cell per step that was asked for: a window
 * around the wanted rank, and sums.  A report touches the cells it passes; a
 * cell that loses sight of its rank is filled again from the curves.
 */

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/model/history.h"
#include "strategies/pool.h"
#include "strategies/window.h"

enum {
	WINDOW_LEAST = 256, /* numbers a window keeps, at least */
	WINDOW_SHARE = 64 /* and one of so many members */
};

struct cell {
	int64_t key;
	bool filled; /* what follows is true to the curves */
	struct window window;
	int64_t seen;
	double sum, rest; /* sum + rest is the sum, to twice the digits */
};

struct pool {
	struct pool_rule rule;
	struct cell **cells; /* by key */
	size_t n, cap;
	size_t hint; /* the cell found last */
	uint8_t *member; /* one bit a trial */
	size_t member_cap; /* bytes */
	int64_t members;
};

struct pool *
pool_new(const struct pool_rule *rule)
{
	struct pool *p = xcalloc(1, sizeof(*p));

	p->rule = *rule;
	return p;
}

void
pool_free(struct pool *p)
{
	size_t i;

	if (p == NULL)
		return;
	for (i = 0; i < p->n; i++) {
		window_free(&p->cells[i]->window);
		free(p->cells[i]);
	}
	free(p->cells);
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

/* First cell at or after key. */
static size_t
cell_from(const struct pool *p, int64_t key)
{
	size_t lo = 0, hi = p->n, mid;

	if (p->n > 0 && p->cells[p->n - 1]->key < key)
		return p->n;
	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (p->cells[mid]->key < key)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static struct cell *
cell_find(struct pool *p, int64_t key)
{
	size_t at;

	/* The same step as last time, or the one after it. */
	for (at = p->hint; at < p->n && at <= p->hint + 1; at++)
		if (p->cells[at]->key == key)
			goto found;
	at = cell_from(p, key);
	if (at == p->n || p->cells[at]->key != key)
		return NULL;
found:
	p->hint = at;
	return p->cells[at];
}

static struct cell *
cell_make(struct pool *p, int64_t key, bool filled)
{
	struct cell *c = cell_find(p, key);
	size_t at;

	if (c != NULL)
		return c;
	c = xcalloc(1, sizeof(*c));
	c->key = key;
	c->filled = filled;
	if (p->n == p->cap) {
		p->cap = p->cap == 0 ? 64 : p->cap * 2;
		p->cells = xreallocarray(p->cells, p->cap, sizeof(*p->cells));
	}
	at = cell_from(p, key);
	memmove(
	    p->cells + at + 1, p->cells + at, (p->n - at) * sizeof(*p->cells));
	p->cells[at] = c;
	p->n++;
	p->hint = at;
	return c;
}

/* Whether v enters medians and means. */
static bool
is_number(const struct pool *p, double v)
{
	return p->rule.infinite ? !isnan(v) : isfinite(v);
}

/* The ranks between which the aggregate of n numbers lies. */
struct ranks {
	int64_t first, second;
	double share;
};

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

static struct ranks
ranks_wanted(const struct pool_rule *r, int64_t n)
{
	struct ranks w = { 0, 0, 0 };
	double h;

	switch (r->aggregate) {
	case POOL_PERCENTILE:
		h = (double)(n - 1) * r->share;
		w.first = (int64_t)h;
		w.share = h - floor(h);
		w.second = w.first + 1 < n ? w.first + 1 : w.first;
		if (!r->mirrored)
			return w;
		w.first = n - 1 - w.first;
		w.second = n - 1 - w.second;
		return w;
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

static size_t
window_size(const struct pool *p)
{
	int64_t n = p->members / WINDOW_SHARE;

	return n < WINDOW_LEAST ? WINDOW_LEAST : (size_t)n;
}

/* Add to a sum without losing digits (Knuth's two-sum). */
static void
cell_sum(struct cell *c, double v)
{
	double s = c->sum + v, t = s - c->sum;

	c->rest += (c->sum - (s - t)) + (v - t);
	c->sum = s;
}

/* One trial's value comes to (sign 1) or leaves (-1) a cell. */
static void
cell_change(struct pool *p, struct cell *c, double v, int sign)
{
	size_t size = window_size(p);

	if (!c->filled)
		return;
	c->seen += sign;
	if (!is_number(p, v))
		return;
	if (p->rule.aggregate == POOL_MEAN)
		cell_sum(c, sign > 0 ? v : -v);
	c->filled =
	    sign > 0 ? window_add(&c->window, v) : window_remove(&c->window, v);
	if (c->window.n > 2 * size)
		window_trim(&c->window,
		    ranks_wanted(&p->rule, window_count(&c->window)).first,
		    size);
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

/* Count all members' values at the cell's key. */
static void
cell_fill(struct pool *p, const struct history *h, struct cell *c)
{
	double *numbers =
	    xreallocarray(NULL, (size_t)p->members + 1, sizeof(*numbers));
	int64_t trial, count = history_count(h);
	struct curve curve;
	ptrdiff_t i;
	size_t n = 0;
	double v;

	c->seen = 0;
	c->sum = c->rest = 0;
	for (trial = 1; trial <= count; trial++) {
		if (!member_is(p, trial))
			continue;
		curve = history_curve(h, trial);
		i = report_at(p, &curve, c->key);
		if (i < 0)
			continue;
		v = value_at(&p->rule.value, &curve, (size_t)i);
		c->seen++;
		if (!is_number(p, v))
			continue;
		numbers[n++] = v;
		if (p->rule.aggregate == POOL_MEAN)
			cell_sum(c, v);
	}
	window_fill(&c->window, numbers, n,
	    ranks_wanted(&p->rule, (int64_t)n).first, window_size(p));
	c->filled = true;
	free(numbers);
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

static void
span_change(struct pool *p, int64_t from, int64_t to, double v, int sign)
{
	size_t k;

	if (p->rule.key == POOL_CARRY) {
		for (k = cell_from(p, from); k < p->n && p->cells[k]->key <= to;
		     k++)
			cell_change(p, p->cells[k], v, sign);
	} else if (from <= to)
		/* Cells of other keys hold all there is from the start. */
		cell_change(p, cell_make(p, from, true), v, sign);
}

/* A whole curve comes (sign 1) or leaves (-1). */
static void
curve_change(struct pool *p, const struct curve *c, int sign)
{
	struct value_run run = { 0 };
	int64_t from = 0, to = 0;
	size_t i;
	double v;

	for (i = 0; i < c->n; i++) {
		v = value_next(&run, &p->rule.value, c);
		report_span(p, c, i, &from, &to);
		span_change(p, from, to, v, sign);
	}
}

/* The usual case: the newest report is the last one of its curve. */
static void
curve_extend(struct pool *p, const struct curve *c)
{
	int64_t from = 0, to = 0, last = curve_step(c, c->n - 1);

	if (p->rule.key == POOL_ONCE && c->n > 1)
		span_change(p, 0, 0, value_at(&p->rule.value, c, c->n - 2), -1);
	if (p->rule.key == POOL_CARRY && c->n > 1) {
		/* Only now the report before it reaches up to here. */
		from = curve_step(c, c->n - 2) + 1;
		to = last - 1;
		if (from <= to && cell_from(p, from) < cell_from(p, last))
			span_change(p, from, to,
			    value_at(&p->rule.value, c, c->n - 2), 1);
	}
	report_span(p, c, c->n - 1, &from, &to);
	span_change(p, from, to, value_at(&p->rule.value, c, c->n - 1), 1);
}

/*
 * A report that came late or again: the curve as it was without it, or with
 * the old value, goes; the curve as it is comes.
 */
static void
curve_mend(
    struct pool *p, const struct history *h, const struct curve *now, size_t at)
{
	double *values = xreallocarray(NULL, now->n, sizeof(double));
	int64_t *steps = xreallocarray(NULL, now->n, sizeof(int64_t));
	struct curve old = { .steps = steps, .values = values };
	double was;
	bool again = history_replaced(h, &was);
	size_t i;

	for (i = 0; i < now->n; i++) {
		if (i == at && !again)
			continue;
		values[old.n] = i == at ? was : now->values[i];
		steps[old.n++] = curve_step(now, i);
	}
	curve_change(p, &old, -1);
	curve_change(p, now, 1);
	free(values);
	free(steps);
}

void
pool_observe(
    struct pool *p, const struct history *h, int64_t trial, int64_t step)
{
	struct curve c;
	double old;
	ptrdiff_t at;

	if (p->rule.completed && !member_is(p, trial))
		return;
	c = history_curve(h, trial);
	if (!member_is(p, trial)) {
		member_set(p, trial, true);
		curve_change(p, &c, 1);
		return;
	}
	at = curve_at(&c, step);
	assert(at >= 0);
	if ((size_t)at + 1 == c.n && !history_replaced(h, &old))
		curve_extend(p, &c);
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
	member_set(p, trial, is);
	curve_change(p, &c, is ? 1 : -1);
}

/* The aggregate of a cell, one trial's number left out if skip is given. */
static bool
cell_answer(const struct pool *p, const struct cell *c, const double *skip,
    struct pool_answer *a)
{
	struct ranks w;
	double sum;

	if (p->rule.aggregate == POOL_MEAN) {
		sum = skip != NULL ? (c->sum - *skip) + c->rest
				   : c->sum + c->rest;
		a->first = a->second = sum / (double)a->n;
		return true;
	}
	w = ranks_wanted(&p->rule, a->n);
	a->share = w.share;
	return w.first >= a->n ||
	       (window_rank(&c->window, w.first, skip, &a->first) &&
		   window_rank(&c->window, w.second, skip, &a->second));
}

void
pool_ask(struct pool *p, const struct history *h, int64_t key, int64_t but,
    struct pool_answer *a)
{
	struct cell *c;
	struct curve curve;
	const double *skip = NULL;
	ptrdiff_t i = -1;
	double own;

	*a = (struct pool_answer){ .first = NAN, .second = NAN };
	if (p->rule.key == POOL_ONCE)
		key = 0;
	c = p->rule.key == POOL_CARRY ? cell_make(p, key, false)
				      : cell_find(p, key);
	if (c == NULL)
		return;
	if (!c->filled)
		cell_fill(p, h, c);
	if (but != 0 && member_is(p, but)) {
		curve = history_curve(h, but);
		i = report_at(p, &curve, key);
	}
	if (i >= 0) {
		own = value_at(&p->rule.value, &curve, (size_t)i);
		skip = is_number(p, own) ? &own : NULL;
	}
	a->seen = c->seen - (i >= 0);
	a->n = window_count(&c->window) - (skip != NULL);
	if (a->n == 0 || cell_answer(p, c, skip, a))
		return;
	cell_fill(p, h, c);
	if (!cell_answer(p, c, skip, a))
		assert(!"a fresh window shows the wanted rank");
}

double
pool_threshold(const struct pool_answer *a)
{
	if (a->first == a->second)
		return a->first;
	return a->first * (1 - a->share) + a->second * a->share;
}
