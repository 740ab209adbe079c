/* Competitors at each mark: the sorted values of the trials that passed it. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/model/history/history.h"
#include "strategies/stop/extrapolate/peer-curves.h"
#include "src/base/search.h"

/* Values at one mark. */
struct tier {
	double *values; /* ascending, infinite ones last */
	size_t n, cap;
};

struct peer_curves {
	struct curve_grid marks;
	struct tier tiers[CURVE_GRID_MAX];
	double best;
	int64_t
	    ended[CURVE_GRID_MAX + 1]; /* trials stopped after so many marks */
	uint8_t *gone; /* by trial: 1 + marks it was counted with; 0 = not */
	size_t cap;
};

struct peer_curves *
peer_curves_new(int64_t steps)
{
	struct peer_curves *f = xcalloc(1, sizeof(*f));

	curve_grid_init(&f->marks, steps);
	f->best = INFINITY;
	return f;
}

void
peer_curves_free(struct peer_curves *f)
{
	size_t j;

	if (f == NULL)
		return;
	for (j = 0; j < CURVE_GRID_MAX; j++)
		free(f->tiers[j].values);
	free(f->gone);
	free(f);
}

static void
tier_add(struct tier *t, double v)
{
	size_t at = search_lower_bound(t->values, t->n, v);

	XGROW(t->values, t->n, t->cap);
	memmove(t->values + at + 1, t->values + at,
	    (t->n - at) * sizeof(*t->values));
	t->values[at] = v;
	t->n++;
}

static void
tier_remove(struct tier *t, double v)
{
	size_t at = search_lower_bound(t->values, t->n, v);

	if (at == t->n || t->values[at] != v)
		return;
	t->n--;
	memmove(t->values + at, t->values + at + 1,
	    (t->n - at) * sizeof(*t->values));
}

/* Add or remove the values of a curve at the marks first … passed - 1. */
static void
peer_curves_change(struct peer_curves *f, const double *values, size_t first,
    size_t passed, void (*change)(struct tier *, double))
{
	double v = NAN;
	size_t j;

	for (j = passed; j-- > first;) {
		if (!isnan(values[j]))
			v = values[j];
		change(&f->tiers[j], v);
	}
}

/* How many marks a trial was counted with when it was stopped, and 1; or 0. */
static void
gone_set(struct peer_curves *f, int64_t trial, size_t value)
{
	size_t at = (size_t)trial, old = f->cap;

	if (at >= old) {
		if (value == 0)
			return;
		f->cap = at + at / 2 + 64;
		f->gone = xrealloc(f->gone, f->cap);
		memset(f->gone + old, 0, f->cap - old);
	}
	if (f->gone[at] > 0)
		f->ended[f->gone[at] - 1]--;
	f->gone[at] = (uint8_t)value;
	if (value > 0)
		f->ended[value - 1]++;
}

void
peer_curves_ended(struct peer_curves *f, const struct history *h, int64_t trial)
{
	struct curve c = history_curve(h, trial);
	bool stopped = history_state(h, trial) == TRIAL_STOPPED;
	size_t passed = c.n > 0 ? curve_grid_passed(&f->marks, &c, c.n - 1) : 0;

	gone_set(f, trial, stopped ? passed + 1 : 0);
}

/* The best of all curves, when the one that was has been replaced. */
static void
best_again(struct peer_curves *f, const struct history *h)
{
	int64_t t, count = history_count(h);
	struct curve c;
	size_t i;

	f->best = INFINITY;
	for (t = 1; t <= count; t++) {
		c = history_curve(h, t);
		for (i = 0; i < c.n; i++)
			if (isfinite(curve_value(&c, i)) &&
			    curve_value(&c, i) < f->best)
				f->best = curve_value(&c, i);
	}
}

/*
 * Repair after a late or repeated report: remove the curve without it, or with
 * the old value, and add the current one.
 */
static void
peer_curves_repair(struct peer_curves *f, const struct history *h,
    const struct curve *now, size_t at)
{
	double *values = xreallocarray(NULL, now->n, sizeof(double));
	int64_t *steps = xreallocarray(NULL, now->n, sizeof(int64_t));
	struct curve old = { .steps = steps, .plain = values };
	double was = NAN, marks[CURVE_GRID_MAX];
	bool again = history_replaced_value(h, &was);
	size_t i;

	for (i = 0; i < now->n; i++) {
		if (i == at && !again)
			continue;
		values[old.n] = i == at ? was : curve_value(now, i);
		steps[old.n++] = curve_step(now, i);
	}
	if (old.n > 0)
		peer_curves_change(f, marks, 0,
		    curve_grid_read(&f->marks, &old, old.n - 1, marks),
		    tier_remove);
	peer_curves_change(f, marks, 0,
	    curve_grid_read(&f->marks, now, now->n - 1, marks), tier_add);
	free(values);
	free(steps);
	if (again && was == f->best)
		best_again(f, h);
}

/* The usual case: the newest report is the last one of its curve. */
static void
peer_curves_extend(struct peer_curves *f, const struct curve *c)
{
	size_t i = c->n - 1, to = curve_grid_passed(&f->marks, c, i);
	size_t from = i > 0 ? curve_grid_passed(&f->marks, c, i - 1) : 0;
	double marks[CURVE_GRID_MAX];

	if (from < to)
		peer_curves_change(f, marks, from,
		    curve_grid_read(&f->marks, c, i, marks), tier_add);
}

void
peer_curves_observe(
    struct peer_curves *f, const struct history *h, int64_t trial, int64_t step)
{
	struct curve c = history_curve(h, trial);
	size_t at = (size_t)curve_at(&c, step);
	double v = curve_value(&c, at), old;

	if (at + 1 == c.n && !history_replaced_value(h, &old))
		peer_curves_extend(f, &c);
	else
		peer_curves_repair(f, h, &c, at);
	if (isfinite(v) && v < f->best)
		f->best = v;
	if ((size_t)trial < f->cap && f->gone[trial] > 0)
		peer_curves_ended(f, h, trial);
}

const struct curve_grid *
peer_curves_grid(const struct peer_curves *f)
{
	return &f->marks;
}

double
peer_curves_best(const struct peer_curves *f)
{
	return f->best;
}

double
peer_curves_median(const struct peer_curves *f, size_t mark)
{
	const struct tier *t = &f->tiers[mark];
	size_t n = search_lower_bound(t->values, t->n, INFINITY);

	if (n == 0)
		return NAN;
	return t->values[(n - 1) / 2] / 2 + t->values[n / 2] / 2;
}

int64_t
peer_curves_count_ahead(
    const struct peer_curves *f, size_t mark, double value, int64_t *all)
{
	size_t j;

	*all = (int64_t)f->tiers[mark].n;
	for (j = 0; j <= mark; j++)
		*all += f->ended[j];
	return (int64_t)search_lower_bound(
	    f->tiers[mark].values, f->tiers[mark].n, value);
}

double
peer_curves_rank(const struct peer_curves *f, size_t mark, int64_t rank)
{
	const struct tier *t = &f->tiers[mark];

	return rank >= 0 && (size_t)rank < t->n ? t->values[rank] : INFINITY;
}
