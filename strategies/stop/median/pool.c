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
#include "strategies/stop/median/pool-step.h"
#include "strategies/stop/median/pool.h"
#include "strategies/stop/median/order-window.h"

enum {
	WINDOW_LEAST = 256, /* numbers a window keeps, at least */
	WINDOW_SHARE = 64, /* and one of so many members */
	/* Work on cells per report beyond which intervals are better. */
	FILLED_PER_REPORT = 8, /* curves read to fill a cell */
	TOUCHED_PER_REPORT = 64, /* cells between two reports of a trial */
	WORK_FREE = 131072, /* work before the heuristic applies */
	CELLS_MOST = 65536 /* of a pool of means, which has no spans */
};

/* One bit a trial. */
struct pool_marks {
	uint8_t *bits;
	size_t cap; /* bytes */
};

struct pool {
	struct pool_rule rule;
	struct curve_summary_cache *values; /* of trials that report */
	struct pool_steps cells;
	struct pool_intervals
	    *spans; /* of numbers; NULL while there are cells */
	struct pool_intervals *others; /* of what is no number */
	int64_t reports, filled, touched;
	struct pool_marks member, gone; /* gone: stopped, with a report */
	int64_t members;
	int64_t *gone_last; /* the last step of each that is gone, ascending */
	size_t n_gone, gone_cap;
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
	free(p->member.bits);
	free(p->gone.bits);
	free(p->gone_last);
	free(p);
}

int64_t
pool_members(const struct pool *p)
{
	return p->members;
}

static bool
mark_is(const struct pool_marks *m, int64_t trial)
{
	size_t at = (size_t)trial / 8;

	return at < m->cap && (m->bits[at] >> (trial % 8) & 1) != 0;
}

/* Whether the mark has changed. */
static bool
mark_set(struct pool_marks *m, int64_t trial, bool is)
{
	size_t at = (size_t)trial / 8, old = m->cap;

	if (mark_is(m, trial) == is)
		return false;
	if (at >= old) {
		m->cap = at + at / 2 + 64;
		m->bits = xrealloc(m->bits, m->cap);
		memset(m->bits + old, 0, m->cap - old);
	}
	m->bits[at] = (uint8_t)(m->bits[at] ^ 1 << trial % 8);
	return true;
}

static bool
member_is(const struct pool *p, int64_t trial)
{
	return mark_is(&p->member, trial);
}

static void
member_set(struct pool *p, int64_t trial, bool is)
{
	if (mark_set(&p->member, trial, is))
		p->members += is ? 1 : -1;
}

/* How many trials that are gone made their last step before this one. */
static int64_t
gone_before(const struct pool *p, int64_t step)
{
	size_t at;

	SEARCH_FIRST(at, p->n_gone, p->gone_last[at] < step);
	return (int64_t)at;
}

/* The same of all trials but one. */
static int64_t
pool_gone(
    const struct pool *p, const struct history *h, int64_t step, int64_t but)
{
	int64_t gone = gone_before(p, step);
	struct curve c;

	if (gone > 0 && mark_is(&p->gone, but)) {
		c = history_curve(h, but);
		gone -= curve_step(&c, c.n - 1) < step;
	}
	return gone;
}

/* Count a trial that is gone with this last step (sign 1), or no more (-1). */
static void
gone_change(struct pool *p, int64_t last, int sign)
{
	size_t at = (size_t)gone_before(p, last), more;

	if (sign > 0) {
		XGROW(p->gone_last, p->n_gone, p->gone_cap);
		more = p->n_gone++ - at;
		memmove(p->gone_last + at + 1, p->gone_last + at,
		    more * sizeof(*p->gone_last));
		p->gone_last[at] = last;
		return;
	}
	assert(at < p->n_gone && p->gone_last[at] == last);
	more = --p->n_gone - at;
	memmove(p->gone_last + at, p->gone_last + at + 1,
	    more * sizeof(*p->gone_last));
}

/* The trial has ended, or runs again. */
static void
gone_ended(struct pool *p, const struct history *h, int64_t trial)
{
	struct curve c = history_curve(h, trial);
	bool is = history_state(h, trial) == TRIAL_STOPPED && c.n > 0;

	if (mark_set(&p->gone, trial, is))
		gone_change(p, curve_step(&c, c.n - 1), is ? 1 : -1);
}

/* A trial has reported: one that is gone may have a new last step. */
static void
gone_observe(
    struct pool *p, const struct history *h, int64_t trial, int64_t step)
{
	struct curve c;
	double old;

	if (!p->rule.begun || history_state(h, trial) != TRIAL_STOPPED)
		return;
	if (!mark_is(&p->gone, trial)) {
		gone_ended(p, h, trial);
		return;
	}
	c = history_curve(h, trial);
	if (curve_step(&c, c.n - 1) != step || history_replaced_value(h, &old))
		return;
	gone_change(p, curve_step(&c, c.n - 2), -1);
	gone_change(p, step, 1);
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

/* The numbers that members have at the key, owned by the caller. */
static double *
pool_collect(const struct pool *p, const struct history *h, int64_t key,
    size_t *out, int64_t *seen)
{
	bool last = p->rule.value.kind == SUMMARY_LAST;
	double v, *values;
	int64_t trial, count = history_count(h);
	struct curve curve;
	ptrdiff_t i;
	size_t n = 0;

	*seen = 0;
	values = xreallocarray(NULL, (size_t)p->members + 1, sizeof(*values));
	for (trial = 1; trial <= count; trial++) {
		if (!member_is(p, trial))
			continue;
		curve = history_curve(h, trial);
		i = report_at(p, &curve, key);
		if (i < 0)
			continue;
		v = last ? curve_value(&curve, i)
			 : curve_summary_at(&p->rule.value, &curve, (size_t)i);
		++*seen;
		if (pool_step_counts(&p->rule, v))
			values[n++] = v;
	}
	*out = n;
	return values;
}

/* Fill a cell with what all members have at its key. */
static void
pool_fill(struct pool *p, const struct history *h, struct pool_step *c)
{
	int64_t seen;
	size_t n;
	double *values = pool_collect(p, h, c->key, &n, &seen);

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
		/*
		 * Cells of a rule that carries nothing are complete from the
		 * start.
		 */
		pool_step_change(
		    pool_steps_make(&p->cells, &p->rule, from, true), &p->rule,
		    v, sign, size);
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

	gone_observe(p, h, trial, step);
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

	if (p->rule.begun)
		gone_ended(p, h, trial);
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
		c = pool_steps_make(&p->cells, &p->rule, key, false);
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
ask_spans(struct pool *p, int64_t key, double share, int64_t gone, int has,
    const double *skip, struct pool_answer *a)
{
	struct pool_ranks w;
	int64_t real;

	real = pool_intervals_at(p->spans, key);
	a->seen = real + pool_intervals_at(p->others, key) + gone - (has > 0);
	real -= skip != NULL;
	a->n = real + gone;
	if (a->n == 0)
		return;
	w = pool_step_ranks(&p->rule, share, a->n);
	a->share = w.share;
	if (w.first >= a->n)
		return;
	a->first = w.first < real ? pool_intervals_rank(p->spans, w.first, skip)
				  : INFINITY;
	a->second = w.second == w.first ? a->first
		    : w.second < real
			? pool_intervals_rank(p->spans, w.second, skip)
			: INFINITY;
}

/* Before a question: whether intervals are less work by now. */
static void
pool_choose(struct pool *p, const struct history *h)
{
	if (p->filled > WORK_FREE + FILLED_PER_REPORT * p->reports ||
	    p->touched > WORK_FREE + TOUCHED_PER_REPORT * p->reports)
		pool_use_intervals(p, h);
}

void
pool_query(struct pool *p, const struct history *h, int64_t key, int64_t but,
    struct pool_answer *a)
{
	double own = NAN;
	const double *skip;
	struct pool_step *c;
	int64_t gone;
	int has;

	*a = (struct pool_answer){ .first = NAN, .second = NAN };
	if (p->rule.key == POOL_ONCE)
		key = 0;
	has = pool_own(p, h, key, but, &own);
	skip = has == 2 ? &own : NULL;
	gone = pool_gone(p, h, key, but);
	pool_choose(p, h);
	if (p->spans != NULL) {
		ask_spans(
		    p, key, pool_share_at(&p->rule, key), gone, has, skip, a);
		return;
	}
	c = pool_cell(p, h, key);
	if (c == NULL)
		return;
	c->gone = gone;
	a->seen = c->seen + gone - (has > 0);
	a->n = c->n + gone - (skip != NULL);
	if (a->n == 0 || pool_step_answer(c, &p->rule, c->share, gone, skip, a))
		return;
	pool_fill(p, h, c);
	if (!pool_step_answer(c, &p->rule, c->share, gone, skip, a))
		assert(!"a fresh window shows the wanted rank");
}

/* Without the window of the cell, which is that of the rule's share. */
static void
ask_all(struct pool *p, const struct history *h, int64_t key, double share,
    int64_t gone, struct pool_answer *a)
{
	struct pool_step cell = { .key = key, .share = share, .gone = gone };
	int64_t seen;
	size_t n;
	double *values = pool_collect(p, h, key, &n, &seen);

	pool_step_fill(&cell, &p->rule, values, n, seen, 4);
	if (!pool_step_answer(&cell, &p->rule, share, gone, NULL, a))
		assert(!"a fresh window shows the wanted rank");
	order_window_free(&cell.window);
	free(values);
}

void
pool_query_share(struct pool *p, const struct history *h, int64_t key,
    double share, struct pool_answer *a)
{
	struct pool_step *c;
	int64_t gone = gone_before(p, key);

	assert(p->rule.key == POOL_CARRY);
	*a = (struct pool_answer){ .first = NAN, .second = NAN };
	pool_choose(p, h);
	if (p->spans != NULL) {
		ask_spans(p, key, share, gone, 0, NULL, a);
		return;
	}
	c = pool_cell(p, h, key);
	c->gone = gone;
	a->seen = c->seen + gone;
	a->n = c->n + gone;
	if (a->n > 0 && !pool_step_answer(c, &p->rule, share, gone, NULL, a))
		ask_all(p, h, key, share, gone, a);
}

/* As pool_better, of all trials, by the window; whether it is exact. */
static bool
window_better(const struct order_window *w, double v, int64_t *better)
{
	size_t at = search_lower_bound(w->values, w->n, v);

	*better = at > 0 || w->below == 0 ? w->below + (int64_t)at : 0;
	return (at > 0 || w->below == 0) && (at < w->n || w->above == 0);
}

int64_t
pool_better(struct pool *p, const struct history *h, int64_t key, int64_t but,
    double v, bool exact)
{
	int64_t better = 0, seen;
	double own, *values;
	bool known = false;
	size_t i, n;

	assert(p->rule.key == POOL_CARRY && p->rule.aggregate != POOL_MEAN);
	pool_choose(p, h);
	if (p->spans == NULL)
		known =
		    window_better(&pool_cell(p, h, key)->window, v, &better);
	if (exact && !known) {
		values = pool_collect(p, h, key, &n, &seen);
		for (i = 0, better = 0; i < n; i++)
			better += values[i] < v;
		free(values);
	}
	if (pool_own(p, h, key, but, &own) == 2 && own < v && better > 0)
		better--;
	return better;
}

double
pool_threshold(const struct pool_answer *a)
{
	if (a->first == a->second)
		return a->first;
	return a->first * (1 - a->share) + a->second * a->share;
}
