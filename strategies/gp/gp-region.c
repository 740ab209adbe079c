/*
 * A model of the surroundings of the best trial, for when the model of the
 * whole space no longer improves on it: scales, noise and the transformation of
 * the values are those of the trials nearby, and the search stays between them.
 * With each trial nearby the region shrinks.  Trials in its corners, which are
 * not nearby, are in the model as well; without them the search would come to
 * the same corner again.  In the spirit of the trust regions of Eriksson, Pearce,
 * Gardner, Turner and Poloczek, "Scalable global optimization via local Bayesian
 * optimization", NeurIPS 2019.
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

/* Whether two rows have the same levels and choices, of which there are some. */
static bool
is_level_with(const struct gp_axes *g, const double *a, const double *b)
{
	bool any = false;
	size_t k;

	for (k = 0; k < g->d; k++) {
		if (g->axes[k].levels == 0)
			continue;
		if (a[k] != b[k])
			return false;
		any = true;
	}
	return any;
}

static size_t
gp_region_rows_nearby(const struct gp_rows *rows)
{
	size_t m = ROWS + ROWS_PER_AXIS * rows->d;

	return m < rows->n ? m : rows->n;
}

/*
 * Put the surroundings first, in order, and return their number: the nearest
 * rows, of which at most half have all levels and choices of the first one.
 * Else they are soon the same setting but for small steps of the other
 * parameters, and show nothing of what a change of a level does.
 */
static size_t
surroundings_first(
    struct near *order, const struct gp_rows *rows, const struct gp_axes *g)
{
	size_t m = gp_region_rows_nearby(rows), same = 0, kept = 0, left = 0, i;
	const double *centre = rows->x + order[0].row * rows->d;
	struct near *rest = xcalloc(rows->n, sizeof *rest);
	bool level;

	for (i = 0; i < rows->n; i++) {
		level =
		    is_level_with(g, centre, rows->x + order[i].row * rows->d);
		if (kept == m || (level && same >= m / 2)) {
			rest[left++] = order[i];
			continue;
		}
		same += level;
		order[kept++] = order[i];
	}
	memcpy(order + kept, rest, left * sizeof *rest);
	free(rest);
	return kept;
}

/*
 * The rows in order of their distance to one of them, m of them in its
 * surroundings first; free it.
 */
static struct near *
rows_order(
    const struct gp_rows *rows, const struct gp_axes *g, size_t from, size_t *m)
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
	order[from].distance = -1;
	qsort(order, rows->n, sizeof *order, by_distance);
	*m = surroundings_first(order, rows, g);
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

/* One level farther on each side. */
static void
bounds_widen(double *low, double *high, const struct gp_axis *a)
{
	double from = gp_axes_level(a, *low), to = gp_axes_level(a, *high);

	*low = gp_axes_of_level(a, fmax(from - 1, 0));
	*high = gp_axes_of_level(a, fmin(to + 1, a->levels - 1));
}

/*
 * The bounds are around the rows in which a number is active.  Choices, and
 * numbers of which only one value is nearby, stay free.
 */
static void
gp_region_bounds_fill(double *low, double *high, const struct gp_rows *rows,
    const struct near *order, size_t m, const struct gp_axes *g)
{
	bool *active = xcalloc(rows->d + 1, sizeof *active);
	size_t d = rows->d, i, k;
	const double *x;

	for (k = 0; k < d; k++) {
		low[k] = 1;
		high[k] = 0;
	}
	for (i = 0; i < m; i++) {
		x = rows->x + order[i].row * d;
		gp_axes_active(g, x, active);
		for (k = 0; k < d; k++)
			if (active[k]) {
				low[k] = fmin(low[k], x[k]);
				high[k] = fmax(high[k], x[k]);
			}
	}
	for (k = 0; k < d; k++) {
		if (g->axes[k].levels > 0 && !g->category[k] &&
		    low[k] <= high[k])
			bounds_widen(low + k, high + k, &g->axes[k]);
		if (g->category[k] || !(low[k] < high[k])) {
			low[k] = 0;
			high[k] = 1;
		}
	}
	free(active);
}

static bool
gp_region_row_find(size_t *at, const struct gp_rows *rows, int64_t trial)
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
	double least = INFINITY, loss;
	struct near *order;
	int64_t found = 0;
	size_t i, row;

	order = rows_order(rows, g, from, &i);
	for (; i < rows->n; i++) {
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
	    !gp_region_row_find(&from, rows, best))
		return best;
	other = best_beyond(rows, g, ask->history, from);
	return other > 0 ? other : best;
}

/* Whether a row is one that the search of the surroundings may come to. */
static bool
is_within(const double *row, const struct gp_axes *g, const double *centre,
    const double *low, const double *high)
{
	bool *active = xcalloc(g->d + 1, sizeof *active);
	bool is = gp_neighbours_are(g, row, centre);
	size_t k;

	gp_axes_active(g, row, active);
	for (k = 0; k < g->d && is; k++)
		is = !active[k] || (row[k] >= low[k] && row[k] <= high[k]);
	free(active);
	return is;
}

/*
 * After the first m rows of the order, those between the bounds: the nearest m
 * of them.  A trial in a corner is farther away than the surroundings, and the
 * model has to know it.  Returns how many come first then.
 */
static size_t
within_next(struct near *order, size_t m, const struct gp_rows *rows,
    const struct gp_axes *g, const double *low, const double *high)
{
	const double *centre = rows->x + order[0].row * rows->d;
	struct near swap;
	size_t i, kept = m;

	for (i = m; i < rows->n && kept < 2 * m; i++) {
		if (!is_within(
			rows->x + order[i].row * rows->d, g, centre, low, high))
			continue;
		swap = order[i];
		order[i] = order[kept];
		order[kept++] = swap;
	}
	return kept;
}

bool
gp_region_choose(struct gp_rows *rows, const struct gp_axes *g, int64_t centre,
    double *low, double *high)
{
	struct near *order;
	size_t from, m;

	if (!gp_region_row_find(&from, rows, centre))
		return false;
	order = rows_order(rows, g, from, &m);
	gp_region_bounds_fill(low, high, rows, order, m, g);
	m = within_next(order, m, rows, g, low, high);
	rows_keep(rows, order, m);
	free(order);
	return true;
}
