/*
 * Ranks of the best completed trials.  A report changes them by one at the
 * steps that it reached; only a new best trial needs all curves.
 */

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/base/search.h"
#include "src/model/history/history.h"
#include "strategies/stop/median/best-ranks.h"

/* One of the best. */
struct best_place {
	int64_t trial;
	size_t n; /* reports */
	bool regular; /* steps are first, first + stride, … */
	int64_t first, stride;
	int64_t *steps;
	double *own; /* values; not finite: nothing is counted there */
	int64_t *better; /* others that are better */
	size_t last_found; /* report of the last answer */
};

struct best_ranks {
	struct curve_summary_rule own, other;
	size_t most;
	struct best_place *places; /* the best first */
	size_t n;
	bool current; /* the places are the best of the history */
};

struct best_ranks *
best_ranks_new(size_t most, const struct curve_summary_rule *own,
    const struct curve_summary_rule *other)
{
	struct best_ranks *r = xcalloc(1, sizeof *r);

	r->most = most;
	r->own = *own;
	r->other = *other;
	r->places = xcalloc(most + 1, sizeof *r->places);
	return r;
}

static void
best_ranks_place_free(struct best_place *p)
{
	free(p->steps);
	free(p->own);
	free(p->better);
	*p = (struct best_place){ 0 };
}

static void
best_ranks_places_free(struct best_place *places, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		best_ranks_place_free(&places[i]);
}

void
best_ranks_free(struct best_ranks *r)
{
	if (r == NULL)
		return;
	best_ranks_places_free(r->places, r->n);
	free(r->places);
	free(r);
}

/* The first report of the place at or after step. */
static size_t
place_from(const struct best_place *p, int64_t step)
{
	size_t at;

	if (p->n == 0 || step <= p->first)
		return 0;
	if (p->regular) {
		at = (size_t)((step - p->first + p->stride - 1) / p->stride);
		return at < p->n ? at : p->n;
	}
	SEARCH_FIRST(at, p->n, p->steps[at] < step);
	return at;
}

/* Another trial had v at the reports from … to - 1. */
static void
place_count(struct best_place *p, size_t from, size_t to, double v)
{
	if (!isfinite(v))
		return;
	for (; from < to; from++)
		p->better[from] += v < p->own[from];
}

/*
 * What report i of another curve adds: its value at its own step, and the one
 * before it between the two.
 */
static void
place_add(const struct best_ranks *r, struct best_place *p,
    const struct curve *c, size_t i)
{
	int64_t step = curve_step(c, i);
	size_t at = place_from(p, step), from;

	if (i > 0) {
		from = place_from(p, curve_step(c, i - 1) + 1);
		if (from < at)
			place_count(
			    p, from, at, curve_summary_at(&r->other, c, i - 1));
	}
	if (at < p->n && p->steps[at] == step)
		place_count(p, at, at + 1, curve_summary_at(&r->other, c, i));
}

/* The same of a whole curve. */
static void
place_add_curve(
    const struct best_ranks *r, struct best_place *p, const struct curve *c)
{
	struct curve_summary_run run = { 0 };
	double before = NAN, v;
	size_t i, at = 0;

	for (i = 0; i < c->n && at < p->n; i++, before = v) {
		v = curve_summary_next(&run, &r->other, c);
		for (; at < p->n && p->steps[at] < curve_step(c, i); at++)
			place_count(p, at, at + 1, before);
		if (at < p->n && p->steps[at] == curve_step(c, i)) {
			place_count(p, at, at + 1, v);
			at++;
		}
	}
}

/* A completed trial, compared with all others. */
static void
place_fill(const struct best_ranks *r, struct best_place *p,
    const struct history *h, int64_t trial)
{
	struct curve c = history_curve(h, trial);
	struct curve_summary_run run = { 0 };
	int64_t t;
	size_t i;

	*p = (struct best_place){ .trial = trial, .n = c.n };
	p->steps = xreallocarray(NULL, c.n + 1, sizeof *p->steps);
	p->own = xreallocarray(NULL, c.n + 1, sizeof *p->own);
	p->better = xcalloc(c.n + 1, sizeof *p->better);
	for (i = 0; i < c.n; i++) {
		p->steps[i] = curve_step(&c, i);
		p->own[i] = curve_summary_next(&run, &r->own, &c);
	}
	p->regular = c.steps == NULL && c.stride > 0;
	p->first = c.n > 0 ? p->steps[0] : 0;
	p->stride = c.stride;
	for (t = 1; t <= history_count(h); t++) {
		c = history_curve(h, t);
		if (t != trial && c.n > 0)
			place_add_curve(r, p, &c);
	}
}

/* Make the places those of the best now; what is known of one is kept. */
static void
best_ranks_renew(struct best_ranks *r, const struct history *h)
{
	int64_t *best = xcalloc(r->most + 1, sizeof *best);
	size_t n = history_bests(h, best, r->most), i, k;
	struct best_place *places = xcalloc(r->most + 1, sizeof *places);

	for (i = 0; i < n; i++) {
		for (k = 0; k < r->n && r->places[k].trial != best[i]; k++)
			;
		if (k < r->n) {
			places[i] = r->places[k];
			r->places[k] = (struct best_place){ 0 };
		} else
			place_fill(r, &places[i], h, best[i]);
	}
	best_ranks_places_free(r->places, r->n);
	free(r->places);
	free(best);
	r->places = places;
	r->n = n;
	r->current = true;
}

/* Nothing is known any more. */
static void
best_ranks_forget(struct best_ranks *r)
{
	best_ranks_places_free(r->places, r->n);
	r->n = 0;
	r->current = false;
}

void
best_ranks_observe(
    struct best_ranks *r, const struct history *h, int64_t trial, int64_t step)
{
	struct curve c;
	double old;
	size_t k;

	if (r->n == 0)
		return;
	c = history_curve(h, trial);
	for (k = 0; k < r->n && r->places[k].trial != trial; k++)
		;
	if (k < r->n || curve_step(&c, c.n - 1) != step ||
	    history_replaced_value(h, &old)) {
		best_ranks_forget(r);
		return;
	}
	for (k = 0; k < r->n; k++)
		place_add(r, &r->places[k], &c, c.n - 1);
}

/* Whether a completed trial certainly is none of the best. */
static bool
places_beat(const struct best_ranks *r, const struct history *h, int64_t trial)
{
	double loss = history_loss(h, trial), last;

	if (r->n == 0 || r->n < r->most || history_has_results(h))
		return false;
	last = history_loss(h, r->places[r->n - 1].trial);
	return loss > last ||
	       (loss == last && trial > r->places[r->n - 1].trial);
}

void
best_ranks_ended(struct best_ranks *r, const struct history *h, int64_t trial)
{
	size_t k;

	if (!r->current)
		return;
	for (k = 0; k < r->n && r->places[k].trial != trial; k++)
		;
	if (k < r->n || (history_state(h, trial) == TRIAL_COMPLETED &&
			    !places_beat(r, h, trial)))
		r->current = false;
}

/* Whether the place was so far behind at the report. */
static bool
place_behind(const struct best_ranks *r, const struct best_place *p, size_t i,
    int64_t behind)
{
	return isfinite(p->own[i]) &&
	       p->better[i] - (int64_t)(p - r->places) >= behind;
}

static bool
best_ranks_place_find(const struct best_ranks *r, struct best_place *p,
    int64_t step, int64_t behind)
{
	size_t i, from = place_from(p, step);

	/* That of the last answer usually is the report again. */
	if (p->last_found >= from && p->last_found + 1 < p->n &&
	    place_behind(r, p, p->last_found, behind))
		return true;
	for (i = from; i + 1 < p->n; i++)
		if (place_behind(r, p, i, behind)) {
			p->last_found = i;
			return true;
		}
	return false;
}

int64_t
best_ranks_find(
    struct best_ranks *r, const struct history *h, int64_t step, int64_t behind)
{
	size_t k;

	if (!r->current)
		best_ranks_renew(r, h);
	for (k = 0; k < r->n; k++)
		if (best_ranks_place_find(r, &r->places[k], step, behind))
			return r->places[k].trial;
	return 0;
}
