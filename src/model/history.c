/*
 * Points, results and curves of every trial of one study.  Finished curves lie
 * packed in one arena; curves of trials that may still report grow in buffers
 * of their own.  Knows numbers and final states; refuses to know rows,
 * parameters and time.
 */

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/model/curve.h"
#include "src/model/history.h"

/* Where a trial's curve is. */
enum entry_form {
	FORM_NONE, /* no report yet */
	FORM_LIVE, /* at = index into live */
	FORM_PLAIN, /* arena: values; steps are first, first + 1, … */
	FORM_STRIDE, /* arena: first, stride, values */
	FORM_STEPS /* arena: values, steps */
};

/* One trial: 24 bytes. */
struct entry {
	double loss;
	uint32_t at;
	uint32_t n; /* reports, unless live */
	int32_t first; /* FORM_PLAIN */
	uint8_t state; /* enum trial_state */
	uint8_t form;
};

/* A word of the arena. */
union word {
	double value;
	int64_t step;
};
_Static_assert(sizeof(union word) == sizeof(double), "curves are borrowed");

struct history {
	size_t dims;
	unsigned keep;
	bool maximize;
	struct entry *trials;
	size_t n, cap;
	double *points;
	size_t points_cap; /* trials */
	union word *arena;
	size_t used, arena_cap; /* words */
	size_t dead; /* words of curves that moved away */
	struct curve_buf *live;
	uint32_t *vacant; /* indices of live that are free */
	size_t n_live, live_cap, n_vacant;
	int64_t best;
	bool replaced;
	double old;
};

struct history *
history_new(size_t dims, bool maximize, unsigned keep)
{
	struct history *h = xcalloc(1, sizeof(*h));

	h->dims = dims;
	h->maximize = maximize;
	h->keep = keep;
	return h;
}

void
history_free(struct history *h)
{
	size_t i;

	if (h == NULL)
		return;
	for (i = 0; i < h->n_live; i++)
		curve_buf_free(&h->live[i]);
	free(h->live);
	free(h->vacant);
	free(h->trials);
	free(h->points);
	free(h->arena);
	free(h);
}

static struct entry *
history_entry(const struct history *h, int64_t trial)
{
	assert(trial >= 1 && (uint64_t)trial <= h->n);
	return &h->trials[trial - 1];
}

static uint32_t
live_take(struct history *h)
{
	if (h->n_vacant > 0)
		return h->vacant[--h->n_vacant];
	if (h->n_live == h->live_cap) {
		h->live_cap = h->live_cap == 0 ? 16 : h->live_cap * 2;
		h->live = xreallocarray(h->live, h->live_cap, sizeof(*h->live));
		h->vacant =
		    xreallocarray(h->vacant, h->live_cap, sizeof(*h->vacant));
	}
	h->live[h->n_live] = (struct curve_buf){ 0 };
	return (uint32_t)h->n_live++;
}

static size_t
entry_words(const struct entry *t)
{
	switch ((enum entry_form)t->form) {
	case FORM_NONE:
	case FORM_LIVE:
		return 0;
	case FORM_PLAIN:
		return t->n;
	case FORM_STRIDE:
		return (size_t)t->n + 2;
	case FORM_STEPS:
		return (size_t)t->n * 2;
	}
	return 0;
}

/* Close the gaps: curves keep their order, so they only move down. */
static void
arena_compact(struct history *h)
{
	union word *fresh = xreallocarray(NULL, h->used + 1, sizeof(*fresh));
	size_t i, words, to = 0;

	for (i = 0; i < h->n; i++) {
		words = entry_words(&h->trials[i]);
		if (words == 0)
			continue;
		memcpy(fresh + to, h->arena + h->trials[i].at,
		    words * sizeof(*fresh));
		h->trials[i].at = (uint32_t)to;
		to += words;
	}
	free(h->arena);
	h->arena = fresh;
	h->arena_cap = h->used + 1;
	h->used = to;
	h->dead = 0;
}

/* Room for words more; returns their index. */
static uint32_t
arena_take(struct history *h, size_t words)
{
	size_t at;

	if (h->dead > 1024 && h->dead > h->used / 2)
		arena_compact(h);
	if (h->used + words > h->arena_cap) {
		h->arena_cap = h->arena_cap + h->arena_cap / 2 + words + 1024;
		h->arena =
		    xreallocarray(h->arena, h->arena_cap, sizeof(*h->arena));
	}
	at = h->used;
	h->used += words;
	assert(h->used <= UINT32_MAX);
	return (uint32_t)at;
}

static enum entry_form
frozen_form(const struct curve_buf *b)
{
	if (b->steps != NULL)
		return FORM_STEPS;
	if (b->stride == 1 && b->first >= INT32_MIN && b->first <= INT32_MAX)
		return FORM_PLAIN;
	return FORM_STRIDE;
}

/* Pack a live curve into the arena. */
static void
entry_freeze(struct history *h, struct entry *t)
{
	struct entry frozen = *t;
	struct curve_buf *b;
	union word *w;

	if (t->form != FORM_LIVE)
		return;
	b = &h->live[t->at];
	curve_buf_settle(b);
	frozen.form = (uint8_t)frozen_form(b);
	frozen.n = (uint32_t)b->n;
	frozen.first = frozen.form == FORM_PLAIN ? (int32_t)b->first : 0;
	frozen.at = arena_take(h, entry_words(&frozen));
	w = h->arena + frozen.at;
	if (frozen.form == FORM_STRIDE) {
		(w++)->step = b->first;
		(w++)->step = b->stride;
	}
	memcpy(w, b->values, b->n * sizeof(*w));
	if (frozen.form == FORM_STEPS)
		memcpy(w + b->n, b->steps, b->n * sizeof(*w));
	curve_buf_free(b);
	h->vacant[h->n_vacant++] = t->at;
	*t = frozen;
}

/* The other way: a finished trial reports after all, or runs again. */
static struct curve_buf *
entry_thaw(struct history *h, struct entry *t)
{
	struct curve c;
	uint32_t slot;

	if (t->form == FORM_LIVE)
		return &h->live[t->at];
	slot = live_take(h);
	if (t->form != FORM_NONE) {
		c = history_curve(h, t - h->trials + 1);
		curve_buf_load(&h->live[slot], &c);
		h->dead += entry_words(t);
	}
	t->form = FORM_LIVE;
	t->at = slot;
	return &h->live[slot];
}

static void
history_grow(struct history *h)
{
	if (h->n < h->cap)
		return;
	h->cap = h->cap + h->cap / 2 + 64;
	h->trials = xreallocarray(h->trials, h->cap, sizeof(*h->trials));
	if ((h->keep & HISTORY_POINTS) != 0 && h->dims > 0)
		h->points =
		    xreallocarray(h->points, h->cap, h->dims * sizeof(double));
}

static void
history_append(struct history *h, enum trial_state state)
{
	size_t i;

	history_grow(h);
	h->trials[h->n] =
	    (struct entry){ .loss = NAN, .state = (uint8_t)state };
	for (i = 0; h->points != NULL && i < h->dims; i++)
		h->points[h->n * h->dims + i] = NAN;
	h->n++;
}

void
history_add(struct history *h, int64_t trial, const double *point)
{
	assert(trial >= 1);
	while ((int64_t)h->n < trial - 1)
		history_append(h, TRIAL_WAITING);
	if ((int64_t)h->n < trial)
		history_append(h, TRIAL_RUNNING);
	else
		history_retry(h, trial);
	if (h->points != NULL && point != NULL)
		memcpy(h->points + (size_t)(trial - 1) * h->dims, point,
		    h->dims * sizeof(double));
}

bool
history_report(struct history *h, int64_t trial, int64_t step, double value)
{
	struct entry *t = history_entry(h, trial);
	struct curve_buf *b;

	h->replaced = false;
	if ((h->keep & HISTORY_CURVES) == 0)
		return true;
	b = entry_thaw(h, t);
	h->replaced = !curve_buf_put(b, step, history_turn(h, value), &h->old);
	if (t->state != TRIAL_RUNNING)
		entry_freeze(h, t);
	return !h->replaced;
}

bool
history_replaced(const struct history *h, double *old)
{
	if (h->replaced)
		*old = h->old;
	return h->replaced;
}

static bool
entry_beats(const struct history *h, int64_t trial, int64_t best)
{
	const struct entry *t = history_entry(h, trial);
	double least;

	if (t->state != TRIAL_COMPLETED || isnan(t->loss))
		return false;
	if (best == 0)
		return true;
	least = history_entry(h, best)->loss;
	return t->loss < least || (t->loss == least && trial < best);
}

static void
history_find_best(struct history *h)
{
	int64_t i;

	h->best = 0;
	for (i = 1; i <= (int64_t)h->n; i++)
		if (entry_beats(h, i, h->best))
			h->best = i;
}

void
history_end(
    struct history *h, int64_t trial, enum trial_state state, double objective)
{
	struct entry *t = history_entry(h, trial);

	t->state = (uint8_t)state;
	t->loss = history_turn(h, objective);
	entry_freeze(h, t);
	if (h->best == trial)
		history_find_best(h);
	else if (entry_beats(h, trial, h->best))
		h->best = trial;
}

void
history_retry(struct history *h, int64_t trial)
{
	struct entry *t = history_entry(h, trial);

	t->state = TRIAL_RUNNING;
	t->loss = NAN;
	if (h->best == trial)
		history_find_best(h);
}

bool
history_maximize(const struct history *h)
{
	return h->maximize;
}

size_t
history_dims(const struct history *h)
{
	return h->dims;
}

int64_t
history_count(const struct history *h)
{
	return (int64_t)h->n;
}

enum trial_state
history_state(const struct history *h, int64_t trial)
{
	return (enum trial_state)history_entry(h, trial)->state;
}

const double *
history_point(const struct history *h, int64_t trial)
{
	history_entry(h, trial);
	if (h->points == NULL)
		return NULL;
	return h->points + (size_t)(trial - 1) * h->dims;
}

double
history_loss(const struct history *h, int64_t trial)
{
	return history_entry(h, trial)->loss;
}

struct curve
history_curve(const struct history *h, int64_t trial)
{
	const struct entry *t = history_entry(h, trial);
	struct curve c = { .n = t->n, .stride = 1 };
	const union word *w;

	if (t->form == FORM_NONE)
		return c;
	if (t->form == FORM_LIVE)
		return curve_buf_view(&h->live[t->at]);
	w = h->arena + t->at;
	c.first = t->first;
	if (t->form == FORM_STRIDE) {
		c.first = w[0].step;
		c.stride = w[1].step;
		w += 2;
	} else if (t->form == FORM_STEPS)
		c.steps = &w[t->n].step;
	c.values = &w->value;
	return c;
}

int64_t
history_best(const struct history *h)
{
	return h->best;
}

double
history_turn(const struct history *h, double value)
{
	return h->maximize ? -value : value;
}
