/*
 * Curves of a history.  Finished ones lie packed in one arena; those of trials
 * that may still report grow in buffers of their own.
 */

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/model/history/history-internal.h"

static uint32_t
curve_slot_take(struct history *h)
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
history_entry_words(const struct history_entry *t)
{
	switch ((enum history_form)t->form) {
	case HISTORY_FORM_NONE:
	case HISTORY_FORM_LIVE:
		return 0;
	case HISTORY_FORM_PLAIN:
		return t->n;
	case HISTORY_FORM_STRIDE:
		return (size_t)t->n + 2;
	case HISTORY_FORM_STEPS:
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
		words = history_entry_words(&h->trials[i]);
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

/* Reserve words more; returns their index. */
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

static enum history_form
frozen_form(const struct curve_buf *b)
{
	if (b->steps != NULL)
		return HISTORY_FORM_STEPS;
	if (b->stride == 1 && b->first >= INT32_MIN && b->first <= INT32_MAX)
		return HISTORY_FORM_PLAIN;
	return HISTORY_FORM_STRIDE;
}

void
history_curve_freeze(struct history *h, struct history_entry *t)
{
	struct history_entry frozen = *t;
	struct curve_buf *b;
	union word *w;

	if (t->form != HISTORY_FORM_LIVE)
		return;
	b = &h->live[t->at];
	curve_buf_settle(b);
	frozen.form = (uint8_t)frozen_form(b);
	frozen.n = (uint32_t)b->n;
	frozen.first =
	    frozen.form == HISTORY_FORM_PLAIN ? (int32_t)b->first : 0;
	frozen.at = arena_take(h, history_entry_words(&frozen));
	w = h->arena + frozen.at;
	if (frozen.form == HISTORY_FORM_STRIDE) {
		(w++)->step = b->first;
		(w++)->step = b->stride;
	}
	memcpy(w, b->values, b->n * sizeof(*w));
	if (frozen.form == HISTORY_FORM_STEPS)
		memcpy(w + b->n, b->steps, b->n * sizeof(*w));
	curve_buf_free(b);
	h->vacant[h->n_vacant++] = t->at;
	*t = frozen;
}

struct curve_buf *
history_curve_thaw(struct history *h, struct history_entry *t)
{
	struct curve c;
	uint32_t slot;

	if (t->form == HISTORY_FORM_LIVE)
		return &h->live[t->at];
	slot = curve_slot_take(h);
	if (t->form != HISTORY_FORM_NONE) {
		c = history_curve(h, t - h->trials + history_first(h));
		curve_buf_load(&h->live[slot], &c);
		h->dead += history_entry_words(t);
	}
	t->form = HISTORY_FORM_LIVE;
	t->at = slot;
	return &h->live[slot];
}

struct curve
history_curve(const struct history *h, int64_t trial)
{
	const struct history_entry *t = history_entry(h, trial);
	struct curve c = { .n = t->n, .stride = 1 };
	const union word *w;

	if (t->form == HISTORY_FORM_NONE)
		return c;
	if (t->form == HISTORY_FORM_LIVE)
		return curve_buf_view(&h->live[t->at]);
	w = h->arena + t->at;
	c.first = t->first;
	if (t->form == HISTORY_FORM_STRIDE) {
		c.first = w[0].step;
		c.stride = w[1].step;
		w += 2;
	} else if (t->form == HISTORY_FORM_STEPS)
		c.steps = &w[t->n].step;
	c.values = &w->value;
	return c;
}

void
history_curves_free(struct history *h)
{
	size_t i;

	for (i = 0; i < h->n_live; i++)
		curve_buf_free(&h->live[i]);
	free(h->live);
	free(h->vacant);
	free(h->arena);
}
