/*
 * The view medians, kept up to date lazily: which steps have an old row, and
 * from time to time all of these written again.
 *
 * A value counts at every step up to the trial's next report, and a trial
 * counts at a step once it has reached it; so one report makes the rows of all
 * steps between its neighbours old, of those that anybody reported.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/model/curve.h"
#include "src/model/history.h"
#include "src/server/tuner-parts.h"

enum { FLUSH_MOST = 4096 }; /* rows written in one turn */

/* Index of the first known step that is not below step. */
static size_t
first_at(const struct tuner *t, int64_t step)
{
	size_t lo = 0, hi = t->n_median_steps, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (t->median_steps[mid].step < step)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static void
step_know(struct tuner *t, int64_t step)
{
	size_t n = t->n_median_steps, i = first_at(t, step);

	if (i < n && t->median_steps[i].step == step)
		return;
	if (n == t->cap_median_steps) {
		t->cap_median_steps = n < 64 ? 64 : n * 2;
		t->median_steps = xreallocarray(t->median_steps,
		    t->cap_median_steps, sizeof *t->median_steps);
	}
	memmove(&t->median_steps[i + 1], &t->median_steps[i],
	    (n - i) * sizeof *t->median_steps);
	t->median_steps[i] = (struct median_step){ .step = step };
	t->n_median_steps++;
}

void
tuner_touch_medians(struct tuner *t, int64_t trial, int64_t step)
{
	struct curve c = history_curve(t->history, trial);
	ptrdiff_t at = curve_at(&c, step);
	int64_t from = step, until = step + 1;
	size_t i;

	step_know(t, step);
	if (at >= 0 && (size_t)at + 1 < c.n)
		until = curve_step(&c, (size_t)at + 1);
	else if (at > 0)
		from = curve_step(&c, (size_t)at - 1) + 1;
	for (i = first_at(t, from);
	     i < t->n_median_steps && t->median_steps[i].step < until; i++)
		t->median_steps[i].old = true;
}

void
tuner_load_median(struct tuner *t, int64_t step)
{
	step_know(t, step);
	/* The last server may have died before it wrote it. */
	t->median_steps[first_at(t, step)].old = true;
}

static void
median_write(struct tuner *t, struct median_step *m)
{
	struct err e = ERR_INIT;
	int64_t trials;
	double median;

	m->old = false;
	if (!t->median->median(
		t->median_state, t->history, m->step, &trials, &median)) {
		trials = 0;
		median = NAN;
	}
	if (store_median_put(t->store, m->step, trials, median, &e) != 0)
		tuner_break(t, &e);
}

bool
tuner_flush_medians(struct tuner *t, bool all)
{
	size_t i, k, n = t->n_median_steps, written = 0;
	struct median_step *m;

	/* From where the last one ended, so that no step waits for ever. */
	for (k = 0; k < n && !t->store_failed; k++) {
		i = (t->median_next + k) % n;
		m = &t->median_steps[i];
		if (!m->old)
			continue;
		if (written == FLUSH_MOST && !all) {
			t->median_next = i;
			return true;
		}
		median_write(t, m);
		written++;
	}
	return false;
}
