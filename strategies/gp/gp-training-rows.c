/*
 * Converts a history to rows of a matrix: selects the trials. gp-targets.c
 * computes their values.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/model/history/history.h"
#include "strategies/gp/gp.h"

/* A trial and by what it is chosen. */
struct rank {
	double loss;
	int64_t trial;
};

/* A trial stopped by a rule is used if its last report is finite. */
static enum gp_training_kind
kind_stopped(const struct history *h, int64_t trial)
{
	struct curve c = history_curve(h, trial);
	double last =
	    c.n > 0 ? curve_value(&c, c.n - 1) : history_loss(h, trial);

	return isfinite(last) ? GP_STOPPED : GP_BAD;
}

enum gp_training_kind
gp_training_kind(const struct history *h, int64_t trial)
{
	switch (history_state(h, trial)) {
	case TRIAL_COMPLETED:
		return isnan(history_loss(h, trial)) ? GP_BAD : GP_COMPLETED;
	case TRIAL_STOPPED:
		return kind_stopped(h, trial);
	case TRIAL_FAILED:
		return GP_BAD;
	case TRIAL_STARTING:
	case TRIAL_RUNNING:
	case TRIAL_STOPPING:
		return GP_PENDING;
	case TRIAL_WAITING:
	case TRIAL_CANCELLED:
	case TRIAL_STATES:
		break;
	}
	return GP_UNUSED;
}

static int
by_loss(const void *a, const void *b)
{
	const struct rank *x = a, *y = b;

	if (x->loss != y->loss)
		return x->loss < y->loss ? -1 : 1;
	return (x->trial > y->trial) - (x->trial < y->trial);
}

static int
by_trial(const void *a, const void *b)
{
	const struct rank *x = a, *y = b;

	return (x->trial > y->trial) - (x->trial < y->trial);
}

/* The better half of max to the front, then the newest; back in order. */
static size_t
ranks_cut(struct rank *r, size_t n, size_t max)
{
	size_t best = (max + 1) / 2, rest = max - best;

	if (n <= max)
		return n;
	qsort(r, n, sizeof *r, by_loss);
	qsort(r + best, n - best, sizeof *r, by_trial);
	memmove(r + best, r + n - rest, rest * sizeof *r);
	qsort(r, max, sizeof *r, by_trial);
	return max;
}

static double
rank_loss(const struct history *h, int64_t trial, enum gp_training_kind kind)
{
	double loss = kind == GP_BAD ? INFINITY : history_loss(h, trial);

	return isnan(loss) ? INFINITY : loss;
}

static void
gp_training_rows_fill(struct gp_rows *rows, const struct gp_axes *g,
    const struct history *h, const struct rank *r)
{
	size_t i;

	rows->trials = xcalloc(rows->n + 1, sizeof *rows->trials);
	rows->kinds = xcalloc(rows->n + 1, sizeof *rows->kinds);
	rows->x = xcalloc(rows->n * g->d + 1, sizeof *rows->x);
	for (i = 0; i < rows->n; i++) {
		rows->trials[i] = r[i].trial;
		rows->kinds[i] = gp_training_kind(h, r[i].trial);
		gp_axes_encode(
		    g, history_point(h, r[i].trial), rows->x + i * g->d);
	}
}

void
gp_training_rows_init(struct gp_rows *rows, const struct gp_axes *g,
    const struct history *h, size_t max)
{
	int64_t i, first = history_first(h), count = history_count(h);
	size_t most = (size_t)(count - first + 1), n = 0;
	struct rank *r = xcalloc(most + 1, sizeof *r);
	enum gp_training_kind kind;

	*rows = (struct gp_rows){ .d = g->d };
	rows->pending = xcalloc(most * g->d + 1, sizeof *rows->pending);
	for (i = first; i <= count; i++) {
		kind = gp_training_kind(h, i);
		if (kind == GP_PENDING)
			gp_axes_encode(g, history_point(h, i),
			    rows->pending + rows->n_pending++ * g->d);
		else if (kind != GP_UNUSED)
			r[n++] = (struct rank){ rank_loss(h, i, kind), i };
	}
	rows->n = ranks_cut(r, n, max);
	gp_training_rows_fill(rows, g, h, r);
	free(r);
}

void
gp_training_rows_free(struct gp_rows *rows)
{
	free(rows->trials);
	free(rows->kinds);
	free(rows->x);
	free(rows->pending);
}
