/* Points, results and curves of each trial of one study. */

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/model/history/curve.h"
#include "src/model/history/history.h"

/* Where a trial's curve is. */
enum history_form {
	HISTORY_FORM_NONE, /* no report yet */
	HISTORY_FORM_LIVE, /* at = index into live */
	HISTORY_FORM_PLAIN, /* arena: values; steps are first, first + 1, … */
	HISTORY_FORM_STRIDE, /* arena: first, stride, values */
	HISTORY_FORM_STEPS /* arena: steps, values */
};

/* One trial: 24 bytes. */
struct history_entry {
	double loss;
	uint32_t at;
	uint32_t n; /* reports, unless live */
	int32_t first; /* HISTORY_FORM_PLAIN */
	uint8_t state; /* enum trial_state */
	uint8_t form;
	uint8_t pack, digits; /* of its values: struct curve_pack */
};
_Static_assert(sizeof(struct history_entry) == 24, "many are kept");

/* What history_set_parent recorded. */
struct history_origin {
	int64_t from, member;
};

/* What history_set_memory recorded. */
struct history_memory {
	double peak; /* bytes */
	bool over;
};

/* One word of the arena. */
union word {
	double value;
	int64_t step;
};
_Static_assert(sizeof(union word) == sizeof(double), "curves are borrowed");

struct history {
	size_t dims;
	unsigned keep;
	bool maximize;
	struct history_entry *trials;
	size_t n, cap;
	size_t n_before; /* trials of other studies */
	size_t n_objectives, n_constraints;
	bool *goals; /* of the objectives: maximize; NULL = one */
	double *results; /* a row of both per trial; NULL = none */
	struct history_origin *descents; /* per trial; NULL = none */
	double *noises; /* per trial; NULL = none */
	double *seconds; /* per trial; NULL = none */
	struct history_memory *memories; /* per trial; NULL = none */
	double *points;
	union word *arena;
	size_t used, arena_cap; /* words */
	size_t dead; /* words no longer used by any curve */
	struct curve_buf *live;
	uint32_t *vacant; /* indices of live that are free */
	size_t n_live, live_cap, n_vacant;
	int64_t best;
	bool replaced;
	double old;
};

/*
 * Curves of a history.  Finished ones lie packed in one arena; those of trials
 * that may still report grow in buffers of their own.
 */

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

static struct curve_pack
entry_pack(const struct history *h, const struct history_entry *t)
{
	return (struct curve_pack){
		.form = t->pack, .digits = t->digits, .negative = h->maximize
	};
}

static size_t
history_entry_words(const struct history_entry *t)
{
	size_t values =
	    curve_pack_words((struct curve_pack){ .form = t->pack }, t->n);

	switch ((enum history_form)t->form) {
	case HISTORY_FORM_NONE:
	case HISTORY_FORM_LIVE:
		return 0;
	case HISTORY_FORM_PLAIN:
		return values;
	case HISTORY_FORM_STRIDE:
		return values + 2;
	case HISTORY_FORM_STEPS:
		return values + t->n;
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

/* Pack a live curve into the arena. */
static void
history_curve_freeze(struct history *h, struct history_entry *t, bool packs)
{
	struct history_entry frozen = *t;
	struct curve_pack pack = { .form = CURVE_PACK_DOUBLE };
	struct curve_buf *b;
	union word *w;

	if (t->form != HISTORY_FORM_LIVE)
		return;
	b = &h->live[t->at];
	curve_buf_settle(b);
	frozen.form = (uint8_t)frozen_form(b);
	frozen.n = (uint32_t)b->n;
	if (packs)
		pack = curve_pack_choose(b->values, b->n, h->maximize);
	frozen.pack = pack.form;
	frozen.digits = pack.digits;
	frozen.first =
	    frozen.form == HISTORY_FORM_PLAIN ? (int32_t)b->first : 0;
	frozen.at = arena_take(h, history_entry_words(&frozen));
	w = h->arena + frozen.at;
	if (frozen.form == HISTORY_FORM_STRIDE) {
		(w++)->step = b->first;
		(w++)->step = b->stride;
	}
	if (frozen.form == HISTORY_FORM_STEPS) {
		memcpy(w, b->steps, b->n * sizeof(*w));
		w += b->n;
	}
	curve_pack_put(w, pack, b->values, b->n);
	curve_buf_clear(b);
	h->vacant[h->n_vacant++] = t->at;
	*t = frozen;
}

/* Unpack a finished curve: its trial reports again, or is retried. */
static struct curve_buf *
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

static void
history_curves_free(struct history *h)
{
	size_t i;

	for (i = 0; i < h->n_live; i++)
		curve_buf_free(&h->live[i]);
	free(h->live);
	free(h->vacant);
	free(h->arena);
}

struct history *
history_new(size_t dims, bool maximize, unsigned keep)
{
	struct history *h = xcalloc(1, sizeof(*h));

	h->dims = dims;
	h->maximize = maximize;
	h->keep = keep;
	h->n_objectives = 1;
	return h;
}

void
history_set_objectives(struct history *h, size_t objectives,
    const bool *maximize, size_t constraints)
{
	assert(h->n == 0 && objectives >= 1 && maximize[0] == h->maximize);
	h->n_objectives = objectives;
	h->n_constraints = constraints;
	free(h->goals);
	h->goals = xcalloc(objectives, sizeof(*h->goals));
	memcpy(h->goals, maximize, objectives * sizeof(*h->goals));
}

void
history_add_prior(struct history *h, size_t n)
{
	assert(h->n == 0);
	h->n_before = n;
}

/* Numbers per trial of history_results; 0 = not stored. */
static size_t
history_result_columns(const struct history *h)
{
	return h->goals == NULL ? 0 : h->n_objectives + h->n_constraints;
}

static size_t
history_index(const struct history *h, int64_t trial)
{
	return (size_t)(trial - 1 + (int64_t)h->n_before);
}

void
history_free(struct history *h)
{
	if (h == NULL)
		return;
	history_curves_free(h);
	free(h->trials);
	free(h->points);
	free(h->descents);
	free(h->noises);
	free(h->seconds);
	free(h->memories);
	free(h->goals);
	free(h->results);
	free(h);
}

static struct history_entry *
history_entry(const struct history *h, int64_t trial)
{
	assert(trial >= history_first(h) && history_index(h, trial) < h->n);
	return &h->trials[history_index(h, trial)];
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
	if (h->descents != NULL)
		h->descents =
		    xreallocarray(h->descents, h->cap, sizeof(*h->descents));
	if (h->noises != NULL)
		h->noises = xreallocarray(h->noises, h->cap, sizeof *h->noises);
	if (h->seconds != NULL)
		h->seconds =
		    xreallocarray(h->seconds, h->cap, sizeof *h->seconds);
	if (h->memories != NULL)
		h->memories =
		    xreallocarray(h->memories, h->cap, sizeof *h->memories);
	if (history_result_columns(h) > 0)
		h->results = xreallocarray(h->results, h->cap,
		    history_result_columns(h) * sizeof(double));
}

static void
history_append(struct history *h, enum trial_state state)
{
	size_t i;

	history_grow(h);
	h->trials[h->n] =
	    (struct history_entry){ .loss = NAN, .state = (uint8_t)state };
	for (i = 0; h->points != NULL && i < h->dims; i++)
		h->points[h->n * h->dims + i] = NAN;
	if (h->descents != NULL)
		h->descents[h->n] = (struct history_origin){ 0 };
	if (h->noises != NULL)
		h->noises[h->n] = 0;
	if (h->seconds != NULL)
		h->seconds[h->n] = 0;
	if (h->memories != NULL)
		h->memories[h->n] = (struct history_memory){ 0 };
	for (i = 0; i < history_result_columns(h); i++)
		h->results[h->n * history_result_columns(h) + i] = NAN;
	h->n++;
}

void
history_add(struct history *h, int64_t trial, const double *point)
{
	size_t at = history_index(h, trial);

	assert(trial >= history_first(h));
	while (h->n < at)
		history_append(h, TRIAL_WAITING);
	if (h->n == at)
		history_append(h, TRIAL_RUNNING);
	else
		history_retry(h, trial);
	if (h->points != NULL && point != NULL)
		memcpy(
		    h->points + at * h->dims, point, h->dims * sizeof(double));
}

void
history_set_parent(
    struct history *h, int64_t trial, int64_t from, int64_t member)
{
	(void)history_entry(h, trial);
	if (h->descents == NULL)
		h->descents = xcalloc(h->cap, sizeof(*h->descents));
	h->descents[history_index(h, trial)] =
	    (struct history_origin){ from, member };
}

int64_t
history_parent(const struct history *h, int64_t trial)
{
	(void)history_entry(h, trial);
	return h->descents != NULL ? h->descents[history_index(h, trial)].from
				   : 0;
}

int64_t
history_member(const struct history *h, int64_t trial)
{
	(void)history_entry(h, trial);
	return h->descents != NULL ? h->descents[history_index(h, trial)].member
				   : 0;
}

void
history_set_noise(struct history *h, int64_t trial, double noise)
{
	if (h->noises == NULL && noise > 0)
		h->noises = xcalloc(h->cap, sizeof *h->noises);
	if (h->noises != NULL)
		h->noises[history_index(h, trial)] = noise;
}

double
history_noise(const struct history *h, int64_t trial)
{
	return h->noises != NULL ? h->noises[history_index(h, trial)] : 0;
}

void
history_set_seconds(struct history *h, int64_t trial, double seconds)
{
	(void)history_entry(h, trial);
	if (h->seconds == NULL && seconds > 0)
		h->seconds = xcalloc(h->cap, sizeof *h->seconds);
	if (h->seconds != NULL)
		h->seconds[history_index(h, trial)] = seconds;
}

double
history_seconds(const struct history *h, int64_t trial)
{
	(void)history_entry(h, trial);
	return h->seconds != NULL ? h->seconds[history_index(h, trial)] : 0;
}

void
history_set_memory(struct history *h, int64_t trial, double peak, bool over)
{
	(void)history_entry(h, trial);
	if (h->memories == NULL && (peak > 0 || over))
		h->memories = xcalloc(h->cap, sizeof *h->memories);
	if (h->memories != NULL)
		h->memories[history_index(h, trial)] =
		    (struct history_memory){ peak, over };
}

bool
history_has_memory(const struct history *h)
{
	return h->memories != NULL;
}

double
history_memory(const struct history *h, int64_t trial)
{
	(void)history_entry(h, trial);
	return h->memories != NULL ? h->memories[history_index(h, trial)].peak
				   : 0;
}

bool
history_memory_over(const struct history *h, int64_t trial)
{
	(void)history_entry(h, trial);
	return h->memories != NULL && h->memories[history_index(h, trial)].over;
}

bool
history_report(struct history *h, int64_t trial, int64_t step, double value)
{
	struct history_entry *t = history_entry(h, trial);
	struct curve_buf *b;

	h->replaced = false;
	if ((h->keep & HISTORY_CURVES) == 0)
		return true;
	b = history_curve_thaw(h, t);
	h->replaced =
	    !curve_buf_put(b, step, history_flip_sign(h, value), &h->old);
	/* A late one: others may follow, so packing is not worth the time. */
	if (t->state != TRIAL_RUNNING)
		history_curve_freeze(h, t, false);
	return !h->replaced;
}

bool
history_replaced_value(const struct history *h, double *old)
{
	if (h->replaced)
		*old = h->old;
	return h->replaced;
}

static bool
history_entry_beats(const struct history *h, int64_t trial, int64_t best)
{
	const struct history_entry *t = history_entry(h, trial);
	double least, here, there;

	if (trial < 1 || t->state != TRIAL_COMPLETED || isnan(t->loss))
		return false;
	if (best == 0)
		return true;
	here = history_violation(h, trial);
	there = history_violation(h, best);
	if (here != there)
		return here < there;
	least = history_entry(h, best)->loss;
	return t->loss < least || (t->loss == least && trial < best);
}

static void
history_find_best(struct history *h)
{
	int64_t i;

	h->best = 0;
	for (i = 1; i <= history_count(h); i++)
		if (history_entry_beats(h, i, h->best))
			h->best = i;
}

void
history_results(struct history *h, int64_t trial, const double *objectives,
    const double *violations)
{
	double *row;
	size_t i;

	history_entry(h, trial);
	if (history_result_columns(h) == 0)
		return;
	row = h->results + history_index(h, trial) * history_result_columns(h);
	for (i = 0; i < h->n_objectives; i++)
		row[i] = h->goals[i] ? -objectives[i] : objectives[i];
	for (i = 0; i < h->n_constraints; i++)
		row[h->n_objectives + i] = violations[i];
}

void
history_end(
    struct history *h, int64_t trial, enum trial_state state, double objective)
{
	struct history_entry *t = history_entry(h, trial);

	t->state = (uint8_t)state;
	t->loss = history_flip_sign(h, objective);
	history_curve_freeze(h, t, true);
	if (h->best == trial)
		history_find_best(h);
	else if (history_entry_beats(h, trial, h->best))
		h->best = trial;
}

void
history_retry(struct history *h, int64_t trial)
{
	struct history_entry *t = history_entry(h, trial);
	size_t i;

	t->state = TRIAL_RUNNING;
	t->loss = NAN;
	for (i = 0; i < history_result_columns(h); i++)
		h->results[history_index(h, trial) * history_result_columns(h) +
			   i] = NAN;
	if (h->best == trial)
		history_find_best(h);
}

bool
history_goal(const struct history *h, size_t i)
{
	assert(i < h->n_objectives);
	return h->goals != NULL ? h->goals[i] : h->maximize;
}

unsigned
history_keeps(const struct history *h)
{
	return h->keep;
}

bool
history_has_results(const struct history *h)
{
	return h->goals != NULL;
}

size_t
history_dims(const struct history *h)
{
	return h->dims;
}

int64_t
history_first(const struct history *h)
{
	return 1 - (int64_t)h->n_before;
}

int64_t
history_count(const struct history *h)
{
	return (int64_t)h->n - (int64_t)h->n_before;
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
	return h->points + history_index(h, trial) * h->dims;
}

double
history_loss(const struct history *h, int64_t trial)
{
	return history_entry(h, trial)->loss;
}

size_t
history_n_objectives(const struct history *h)
{
	return h->n_objectives;
}

size_t
history_n_constraints(const struct history *h)
{
	return h->n_constraints;
}

const double *
history_losses(const struct history *h, int64_t trial)
{
	const struct history_entry *t = history_entry(h, trial);

	if (history_result_columns(h) == 0)
		return &t->loss;
	return h->results + history_index(h, trial) * history_result_columns(h);
}

const double *
history_violations(const struct history *h, int64_t trial)
{
	if (h->n_constraints == 0)
		return NULL;
	return history_losses(h, trial) + h->n_objectives;
}

double
history_violation(const struct history *h, int64_t trial)
{
	const double *v = history_violations(h, trial);
	double sum = 0;
	size_t i;

	for (i = 0; i < h->n_constraints; i++)
		if (isnan(v[i]))
			return INFINITY;
		else if (v[i] > 0)
			sum += v[i];
	return sum;
}

int64_t
history_best(const struct history *h)
{
	return h->best;
}

size_t
history_bests(const struct history *h, int64_t *best, size_t n)
{
	size_t found = 0, i;
	int64_t t;
	double loss;

	for (t = 1; n > 1 && t <= history_count(h); t++) {
		loss = history_loss(h, t);
		if (history_state(h, t) != TRIAL_COMPLETED || !isfinite(loss) ||
		    history_violation(h, t) > 0)
			continue;
		for (i = found; i > 0 && loss < history_loss(h, best[i - 1]);
		     i--)
			if (i < n)
				best[i] = best[i - 1];
		if (i < n)
			best[i] = t;
		found += found < n;
	}
	if (found == 0 && n > 0 && h->best != 0)
		best[found++] = h->best;
	return found;
}

double
history_flip_sign(const struct history *h, double value)
{
	return h->maximize ? -value : value;
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
	} else if (t->form == HISTORY_FORM_STEPS) {
		c.steps = &w->step;
		w += t->n;
	}
	if (t->pack == CURVE_PACK_DOUBLE) {
		c.plain = &w->value;
		return c;
	}
	c.packed = w;
	c.form = t->pack;
	c.units = curve_pack_units(entry_pack(h, t));
	return c;
}
