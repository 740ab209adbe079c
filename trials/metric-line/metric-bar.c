/* Which states of progress bars are reports. */

#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "trials/metric-line/metric-bar.h"

enum { METRIC_BARS = 4, METRIC_BAR_STATES = 64 };

/* Values of one state. */
struct bar_state {
	size_t n;
	struct metric_value *values;
};

struct metric_bar {
	uint32_t id; /* as in struct metric_line */
	bool known; /* it was shown */
	bool live; /* … in the line that is being written */
	bool blank; /* its only state is zeros at count 0 */
	bool ahead; /* its values come before the count, */
	bool followed; /* … the count has followed once */
	bool early; /* … with the values of the step behind it already */
	int64_t told; /* the step that was reported before its count */
	bool has_step;
	int64_t step; /* that is shown */
	/*
	 * The states that are not reported yet, the oldest first; the last one
	 * stays when it is.
	 */
	struct bar_state states[METRIC_BAR_STATES];
	size_t n;
	bool reported; /* the last one, which is alone then */
};

/* A report that waits. */
struct bar_report {
	bool has_step;
	int64_t step;
	struct bar_state state;
};

struct metric_bars {
	struct metric_bar bars[METRIC_BARS];
	size_t next; /* which is reused */
	bool opened; /* the line began with a state without values, */
	int64_t opened_step; /* at this step */
	struct bar_report *out;
	size_t n_out, cap_out, at_out;
};

struct metric_bars *
metric_bar_new(void)
{
	return xcalloc(1, sizeof(struct metric_bars));
}

static void
bar_drop(struct metric_bar *b)
{
	size_t i;

	for (i = 0; i < b->n; i++)
		free(b->states[i].values);
	b->n = 0;
	b->reported = false;
}

void
metric_bar_free(struct metric_bars *all)
{
	size_t i;

	if (all == NULL)
		return;
	for (i = 0; i < METRIC_BARS; i++)
		bar_drop(&all->bars[i]);
	for (i = all->at_out; i < all->n_out; i++)
		free(all->out[i].state.values);
	free(all->out);
	free(all);
}

bool
metric_bar_shown(const struct metric_bars *all)
{
	return all->bars[0].live;
}

static struct bar_state
state_copy(size_t n, const struct metric_value *values)
{
	struct bar_state s = { n, xreallocarray(NULL, n + 1, sizeof *values) };

	memcpy(s.values, values, n * sizeof *values);
	return s;
}

static void
bar_report(struct metric_bars *all, bool has_step, int64_t step,
    const struct bar_state *state)
{
	XGROW(all->out, all->n_out, all->cap_out);
	all->out[all->n_out++] = (struct bar_report){ has_step, step,
		state_copy(state->n, state->values) };
}

static bool
bar_same(const struct metric_bar *b, const struct metric_line *r)
{
	const struct bar_state *s = &b->states[b->n - 1];
	size_t i;

	if (b->n == 0 || s->n != r->n)
		return false;
	for (i = 0; i < r->n; i++)
		/* The same bits: NaN is itself. NOLINTNEXTLINE(bugprone-*) */
		if (strcmp(s->values[i].name, r->values[i].name) != 0 ||
		    memcmp(&s->values[i].value, &r->values[i].value,
			sizeof(double)) != 0)
			return false;
	return true;
}

/* The same metrics. */
static bool
bar_same_names(const struct metric_bar *b, const struct metric_line *r)
{
	const struct bar_state *s = &b->states[b->n - 1];
	size_t i;

	if (b->n == 0 || s->n != r->n)
		return false;
	for (i = 0; i < r->n; i++)
		if (strcmp(s->values[i].name, r->values[i].name) != 0)
			return false;
	return true;
}

static void
bar_keep(struct metric_bar *b, const struct metric_line *r, bool reported)
{
	/* A bar that shows many states counts otherwise: the last ones count. */
	if (b->n == METRIC_BAR_STATES || !b->ahead || b->reported)
		bar_drop(b);
	b->states[b->n++] = state_copy(r->n, r->values);
	b->reported = reported;
}

static void
bar_begin(struct metric_bar *b, const struct metric_line *r, bool first)
{
	bar_drop(b);
	b->id = r->bar;
	b->known = true;
	b->has_step = r->has_step;
	b->step = r->step;
	b->ahead = r->has_step && first && r->step < INT64_C(1) << 53;
	b->followed = b->early = b->blank = false;
	b->told = -1;
	bar_keep(b, r, false);
}

/* The last state of the step that was shown. */
static void
bar_flush(struct metric_bars *all, struct metric_bar *b)
{
	if (b->n > 0 && !b->reported) {
		b->told = b->step + b->ahead;
		bar_report(all, b->has_step, b->told, &b->states[b->n - 1]);
	}
	b->reported = true;
}

/* Values came before the count, which has followed now. */
static void
bar_follow(struct metric_bars *all, struct metric_bar *b,
    const struct metric_line *r, bool same)
{
	int64_t steps = r->step - b->step;
	size_t i, n = b->reported ? 0 : b->n;

	/* The first step was counted when its values came. */
	if (r->bar_counted && !b->followed && n > 1)
		bar_report(all, true, b->step, &b->states[0]);
	/*
	 * A quick program counts, and the next state that is shown has the next
	 * values: they, too, come before their count.
	 */
	if (!same && !b->followed && steps == 1 && bar_same_names(b, r))
		b->early = true;
	b->followed = true;
	if (!same && b->early && steps == 1) {
		bar_flush(all, b);
		bar_drop(b);
		bar_keep(b, r, false);
		return;
	}
	if (!same && n > 0 && steps > 1)
		bar_report(all, true, b->step + 1, &b->states[b->n - 1]);
	if (same && n > 1 && (int64_t)n == steps)
		for (i = 0; i + 1 < n; i++)
			bar_report(
			    all, true, b->step + 1 + (int64_t)i, &b->states[i]);
	bar_drop(b);
	bar_keep(b, r, true);
	if (!same || b->told != r->step)
		bar_report(all, true, r->step, &b->states[0]);
}

static struct metric_bar *
bar_find(struct metric_bars *all, uint32_t id)
{
	struct metric_bar *b;
	size_t i;

	if (id == 0)
		return &all->bars[0];
	for (i = 1; i < METRIC_BARS; i++)
		if (all->bars[i].known && all->bars[i].id == id)
			return &all->bars[i];
	b = &all->bars[1 + all->next++ % (METRIC_BARS - 1)];
	bar_flush(all, b);
	b->known = false;
	return b;
}

/* Whether values are shown at the first step, before it is counted. */
static bool
bar_is_first(const struct metric_bars *all, const struct metric_line *r)
{
	if (r->bar != 0)
		return r->bar_first;
	return r->step == 0 || (all->opened && r->step == all->opened_step);
}

bool
metric_bar_opens(const struct metric_bars *all)
{
	return !all->opened && !all->bars[0].live;
}

void
metric_bar_open(struct metric_bars *all, int64_t step)
{
	all->opened = true;
	all->opened_step = step;
}

void
metric_bar_put(struct metric_bars *all, const struct metric_line *r, bool ends)
{
	struct metric_bar *b = bar_find(all, r->bar);
	bool same = b->known && bar_same(b, r), fresh;

	if (b->known && b->blank && r->has_step &&
	    (!same || r->step > b->step) && bar_same_names(b, r)) {
		same = false;
		bar_drop(b);
		b->known = false;
		metric_bar_open(all, b->step);
	}
	if (!b->known || !b->has_step || !r->has_step || r->step < b->step) {
		if (b->known && b->has_step)
			bar_flush(all, b);
		fresh = r->bar == 0 && !b->live && !all->opened;
		bar_begin(b, r, bar_is_first(all, r));
		b->blank = fresh && r->has_step && r->step == 0 &&
			   metric_line_zeros(r);
	} else if (r->step == b->step) {
		if (!same)
			bar_keep(b, r, false);
	} else if (b->ahead && (same || r->bar != 0)) {
		bar_follow(all, b, r, same);
		b->step = r->step;
	} else {
		/* An epoch from 0 with a bar of its own: its last state counts. */
		b->ahead = false;
		bar_flush(all, b);
		b->step = r->step;
		bar_keep(b, r, false);
	}
	b->live = !ends;
	all->opened &= !ends || r->bar != 0;
	/* A bar of one step, which ends as it began. */
	if (ends && !b->followed)
		b->ahead = false;
	if (ends)
		bar_flush(all, b);
}

void
metric_bar_end(struct metric_bars *all, bool every)
{
	size_t i;

	all->opened = false;
	for (i = 0; i < METRIC_BARS; i++) {
		if (!every && i > 0)
			break;
		if (every || all->bars[i].live)
			bar_flush(all, &all->bars[i]);
		all->bars[i].live = false;
	}
}

bool
metric_bar_next(struct metric_bars *all, struct metric_line *r)
{
	struct bar_report *one;

	if (all->at_out == all->n_out) {
		all->at_out = all->n_out = 0;
		return false;
	}
	one = &all->out[all->at_out++];
	r->has_step = one->has_step;
	r->step = one->step;
	r->n = one->state.n;
	memcpy(r->values, one->state.values, r->n * sizeof *r->values);
	free(one->state.values);
	return true;
}
