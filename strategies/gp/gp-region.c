/*
 * A model of the surroundings of the best trial, for when the model of the
 * whole space no longer improves on it: scales, noise and the transformation of
 * the values are those of the trials nearby, and the search stays between them.
 * With each trial there the region shrinks.  In the spirit of the trust regions
 * of Eriksson, Pearce, Gardner, Turner and Poloczek, "Scalable global
 * optimization via local Bayesian optimization", NeurIPS 2019.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/model/history/history.h"
#include "strategies/gp/gp.h"
#include "strategies/strategy.h"

enum {
	ROWS = 10,
	ROWS_PER_AXIS = 4, /* how many trials are nearby */
	ELSEWHERE_PER_AXIS = 5 /* trials without improvement, then elsewhere */
};

struct near {
	double distance;
	size_t row;
};

static int
by_distance(const void *a, const void *b)
{
	const struct near *x = a, *y = b;

	if (x->distance != y->distance)
		return x->distance < y->distance ? -1 : 1;
	return (x->row > y->row) - (x->row < y->row);
}

/* Number of finished trials after the best one; 0 when there is no best. */
static size_t
trials_since_best(const struct history *h)
{
	int64_t best = history_best(h), count = history_count(h), i;
	enum gp_training_kind kind;
	size_t n = 0;

	if (best < history_first(h))
		return 0;
	for (i = best + 1; i <= count; i++) {
		kind = gp_training_kind(h, i);
		n += kind != GP_UNUSED && kind != GP_PENDING;
	}
	return n;
}

bool
gp_region_wanted(const struct strategy_ask *ask, size_t after)
{
	return after > 0 && ask->trial % 2 == 0 &&
	       history_n_objectives(ask->history) == 1 &&
	       trials_since_best(ask->history) >= after;
}

/* The rows in order of their distance to one of them; free it. */
static struct near *
rows_order(const struct gp_rows *rows, const struct gp_axes *g, size_t from)
{
	struct near *order = xcalloc(rows->n, sizeof *order);
	const double *a = rows->x + from * rows->d, *b;
	double step;
	size_t i, k;

	for (i = 0; i < rows->n; i++) {
		b = rows->x + i * rows->d;
		order[i].row = i;
		for (k = 0; k < rows->d; k++) {
			step = g->category[k] ? a[k] != b[k] : a[k] - b[k];
			order[i].distance += step * step;
		}
	}
	qsort(order, rows->n, sizeof *order, by_distance);
	return order;
}

/* Keep the first m of the order. */
static void
rows_keep(struct gp_rows *rows, const struct near *order, size_t m)
{
	size_t d = rows->d, i;
	double *x = xcalloc(m * d + 1, sizeof *x);
	int64_t *trials = xcalloc(m, sizeof *trials);
	enum gp_training_kind *kinds = xcalloc(m, sizeof *kinds);

	for (i = 0; i < m; i++) {
		memcpy(x + i * d, rows->x + order[i].row * d, d * sizeof *x);
		trials[i] = rows->trials[order[i].row];
		kinds[i] = rows->kinds[order[i].row];
	}
	free(rows->x);
	free(rows->trials);
	free(rows->kinds);
	rows->x = x;
	rows->trials = trials;
	rows->kinds = kinds;
	rows->n = m;
}

/* Choices, and numbers of which only one value is nearby, stay free. */
static void
bounds_fill(double *low, double *high, const struct gp_rows *rows,
    const struct gp_axes *g)
{
	size_t d = rows->d, i, k;

	for (k = 0; k < d; k++) {
		low[k] = 1;
		high[k] = 0;
		for (i = 0; i < rows->n; i++) {
			low[k] = fmin(low[k], rows->x[i * d + k]);
			high[k] = fmax(high[k], rows->x[i * d + k]);
		}
		if (g->category[k] || !(low[k] < high[k])) {
			low[k] = 0;
			high[k] = 1;
		}
	}
}

static size_t
rows_nearby(const struct gp_rows *rows)
{
	size_t m = ROWS + ROWS_PER_AXIS * rows->d;

	return m < rows->n ? m : rows->n;
}

static bool
row_find(size_t *at, const struct gp_rows *rows, int64_t trial)
{
	for (*at = 0; *at < rows->n && rows->trials[*at] != trial;)
		++*at;
	return *at < rows->n;
}

/*
 * The best completed trial that breaks no constraint, beyond the surroundings
 * of another; 0: none.
 */
static int64_t
best_beyond(const struct gp_rows *rows, const struct gp_axes *g,
    const struct history *h, size_t from)
{
	struct near *order = rows_order(rows, g, from);
	double least = INFINITY, loss;
	int64_t found = 0;
	size_t i, row;

	for (i = rows_nearby(rows); i < rows->n; i++) {
		row = order[i].row;
		loss = history_loss(h, rows->trials[row]);
		if (rows->kinds[row] != GP_COMPLETED || !(loss < least) ||
		    history_violation(h, rows->trials[row]) != 0)
			continue;
		least = loss;
		found = rows->trials[row];
	}
	free(order);
	return found;
}

int64_t
gp_region_centre(const struct gp_rows *rows, const struct gp_axes *g,
    const struct strategy_ask *ask)
{
	int64_t best = history_best(ask->history), other;
	size_t from;

	if (ask->trial % 4 != 0 ||
	    trials_since_best(ask->history) < ELSEWHERE_PER_AXIS * rows->d ||
	    !row_find(&from, rows, best))
		return best;
	other = best_beyond(rows, g, ask->history, from);
	return other > 0 ? other : best;
}

bool
gp_region_choose(struct gp_rows *rows, const struct gp_axes *g, int64_t centre,
    double *low, double *high)
{
	struct near *order;
	size_t from;

	if (!row_find(&from, rows, centre))
		return false;
	order = rows_order(rows, g, from);
	rows_keep(rows, order, rows_nearby(rows));
	free(order);
	bounds_fill(low, high, rows, g);
	return true;
}
