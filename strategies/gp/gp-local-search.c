/*
 * Improves good rows locally.  Continuous coordinates by gradient descent, all
 * starts in lock-step, in the length scales of the process; levels and
 * categories by the best single change, repeatedly.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "strategies/gp/gp.h"
#include "strategies/gp/lbfgs.h"

enum {
	EVALS_MAX = 50, /* of one descent */
	TURNS_MAX = 4, /* of descents and changes */
	CHANGES_MAX = 8, /* per round */
	CHANGES_MANY = 128, /* with more, later ones are from … */
	CHANGES_KEPT = 32, /* … the best of the first */
	AHEAD = 3, /* best rows whose changes are compared again */
	LEVELS_ALL = 16 /* up to this number all levels are tried */
};

static const double gain_least = 1e-6; /* of the score, to go on */
static const double nearby = 0.01; /* squared, in scales of the process */

/* A change: its axis, and the coordinate there. */
struct change {
	size_t axis;
	double x;
};

struct refine {
	const struct gp_acquisition_goal *goal;
	double *rows; /* n x d, in the cube */
	bool *free; /* n x d: coordinates moved by descent */
	double *score; /* n */
	size_t n, d;
	/* The changes that count in a wide space: of each row; 0: not chosen. */
	struct change *kept; /* n x CHANGES_KEPT */
	size_t *count; /* n */
};

/* The scores of rows of which only free coordinates differ from the starts. */
static void
slope_eval(void *arg, const size_t *which, const double *z, size_t k, double *f,
    double *g)
{
	struct refine *r = arg;
	const double *w = r->goal->weights;
	double *x = xcalloc(k * r->d, sizeof *x);
	size_t i, j, at;

	for (i = 0; i < k; i++)
		for (j = 0; j < r->d; j++) {
			at = which[i] * r->d + j;
			x[i * r->d + j] =
			    r->free[at] ? z[i * r->d + j] / w[j] : r->rows[at];
		}
	gp_acquisition(r->goal, x, k, f, g);
	for (i = 0; i < k; i++) {
		f[i] = -f[i];
		for (j = 0; j < r->d; j++) {
			at = which[i] * r->d + j;
			g[i * r->d + j] *= r->free[at] ? -1 / w[j] : 0;
		}
	}
	free(x);
}

static bool
free_find(struct refine *r)
{
	const struct gp_axes *g = r->goal->space;
	bool *active = xcalloc(r->d, sizeof *active), any = false;
	size_t i, j;

	for (i = 0; i < r->n; i++) {
		gp_axes_active(g, r->rows + i * r->d, active);
		for (j = 0; j < r->d; j++) {
			r->free[i * r->d + j] =
			    active[j] && g->axes[j].levels == 0;
			any = any || r->free[i * r->d + j];
		}
	}
	free(active);
	return any;
}

static void
refine_descend(struct refine *r)
{
	const double *w = r->goal->weights;
	double *low, *high, *z, *f;
	struct lbfgs l = { .d = r->d, .eval = slope_eval, .arg = r };
	size_t i, j, at;

	if (!free_find(r))
		return;
	low = xcalloc(2 * r->d + r->n * (r->d + 1), sizeof *low);
	high = low + r->d;
	z = high + r->d;
	f = z + r->n * r->d;
	for (at = 0; at < r->n * r->d; at++)
		z[at] = r->rows[at] * w[at % r->d];
	for (j = 0; j < r->d; j++) {
		low[j] = r->goal->low[j] * w[j];
		high[j] = r->goal->high[j] * w[j];
	}
	l.low = low;
	l.high = high;
	l.max_evals = EVALS_MAX;
	l.gradient_tol = 1e-4;
	l.value_tol = 1e-7;
	lbfgs_run(&l, z, r->n, f);
	for (i = 0; i < r->n; i++) {
		for (j = 0; j < r->d; j++) {
			at = i * r->d + j;
			if (r->free[at])
				r->rows[at] = fmin(z[at] / w[j], 1);
		}
		r->score[i] = -f[i];
	}
	free(low);
}

/* The changes of one coordinate: levels to be tried instead. */
static size_t
axis_changes(double *levels, const struct gp_axis *a, double level)
{
	double other, step;
	size_t n = 0;

	if (a->category || a->levels <= LEVELS_ALL) {
		for (other = 0; other < a->levels; other++)
			if (other != level)
				levels[n++] = other;
		return n;
	}
	for (step = 1; step < a->levels; step *= 2) {
		if (level + step < a->levels)
			levels[n++] = level + step;
		if (level - step >= 0)
			levels[n++] = level - step;
	}
	return n;
}

/* At least the number of changes of a row, and room for those that are joined. */
static size_t
changes_max(const struct gp_axes *g)
{
	const struct gp_axis *a;
	size_t n = 0, k;
	double step;

	for (k = 0; k < g->d; k++) {
		a = &g->axes[k];
		if (a->category || a->levels <= LEVELS_ALL)
			n += (size_t)a->levels;
		else
			for (step = 1; step < a->levels; step *= 2)
				n += 2;
	}
	return n > 0 && n < 2 * CHANGES_KEPT ? 2 * CHANGES_KEPT : n;
}

/* Keep the neighbours of centre among n rows; returns their number. */
static size_t
local_search_rows_nearby(
    double *rows, size_t n, const struct gp_axes *g, const double *centre)
{
	size_t i, kept = 0;

	for (i = 0; i < n; i++)
		if (gp_neighbours_are(g, rows + i * g->d, centre))
			memmove(rows + kept++ * g->d, rows + i * g->d,
			    g->d * sizeof *rows);
	return kept;
}

/*
 * n rows on levels, of which levels were changed: those that depend on them become
 * inactive, and the neighbours of the centre are kept.  Returns their number.
 */
static size_t
rows_settle(double *rows, size_t n, const struct gp_acquisition_goal *goal)
{
	if (goal->space->conditional)
		gp_axes_snap(goal->space, rows, n);
	return goal->centre == NULL ? n
				    : local_search_rows_nearby(
					  rows, n, goal->space, goal->centre);
}

/*
 * All rows between the bounds that differ from row in one level; returns their
 * number.
 */
static size_t
row_changes(double *to, const struct gp_acquisition_goal *goal,
    const double *row, double *levels, bool *active)
{
	const struct gp_axes *g = goal->space;
	const struct gp_axis *a;
	size_t n = 0, k, i, changes;
	double x;

	gp_axes_active(g, row, active);
	for (k = 0; k < g->d; k++) {
		a = &g->axes[k];
		if (a->levels == 0 || !active[k])
			continue;
		changes = axis_changes(levels, a, gp_axes_level(a, row[k]));
		for (i = 0; i < changes; i++) {
			x = gp_axes_of_level(a, levels[i]);
			if (x < goal->low[k] || x > goal->high[k])
				continue;
			memcpy(to + n * g->d, row, g->d * sizeof *row);
			to[n++ * g->d + k] = x;
		}
	}
	return rows_settle(to, n, goal);
}

/*
 * What was changed in a row.  An axis is before those that depend on it, so the
 * first that differs is the one that was changed.
 */
static struct change
change_of(const double *row, const double *to, size_t d)
{
	size_t k = 0;

	while (k + 1 < d && to[k] == row[k])
		k++;
	return (struct change){ k, to[k] };
}

/*
 * The best changes of a row, which n rows with scores are the result of; returns
 * their number.
 */
static size_t
changes_best(struct change *kept, const double *row, const double *to,
    const double *score, size_t n, size_t d)
{
	double least[CHANGES_KEPT];
	size_t count = 0, i, at;

	for (i = 0; i < n; i++) {
		if (count == CHANGES_KEPT && !(score[i] > least[count - 1]))
			continue;
		count += count < CHANGES_KEPT;
		for (at = count - 1; at > 0 && score[i] > least[at - 1]; at--) {
			least[at] = least[at - 1];
			kept[at] = kept[at - 1];
		}
		least[at] = score[i];
		kept[at] = change_of(row, to + i * d, d);
	}
	return count;
}

/* The best of many changes of row i, which n rows are the result of. */
static void
changes_keep(struct refine *r, size_t i, const double *to, size_t n)
{
	const double *row = r->rows + i * r->d;
	size_t best[CHANGES_KEPT], k;

	r->count[i] =
	    gp_acquisition_near_best(r->goal, row, to, n, CHANGES_KEPT, best);
	for (k = 0; k < r->count[i]; k++)
		r->kept[i * CHANGES_KEPT + k] =
		    change_of(row, to + best[k] * r->d, r->d);
}

/* The rows that these changes make of a row; returns their number. */
static size_t
changes_apply(double *to, const struct gp_acquisition_goal *goal,
    const double *row, const struct change *kept, size_t count, bool *active)
{
	const struct gp_axes *g = goal->space;
	size_t n = 0, i;

	gp_axes_active(g, row, active);
	for (i = 0; i < count; i++) {
		if (!active[kept[i].axis] || row[kept[i].axis] == kept[i].x)
			continue;
		memcpy(to + n * g->d, row, g->d * sizeof *row);
		to[n++ * g->d + kept[i].axis] = kept[i].x;
	}
	return rows_settle(to, n, goal);
}

/*
 * Rows with the two best changes, the three best, and so on: the best first, one an
 * axis.  Returns their number.
 */
static size_t
changes_join(double *to, const struct gp_acquisition_goal *goal,
    const double *row, const struct change *best, size_t count)
{
	size_t d = goal->space->d, n = 0, i, axis;
	double *at = xcalloc(d, sizeof *at);

	memcpy(at, row, d * sizeof *at);
	for (i = 0; i < count; i++) {
		axis = best[i].axis;
		if (at[axis] != row[axis])
			continue;
		at[axis] = best[i].x;
		if (i > 0)
			memcpy(to + n++ * d, at, d * sizeof *at);
	}
	free(at);
	return rows_settle(to, n, goal);
}

/*
 * In a wide space: rows with one of the changes that are kept, and with several of
 * those that improve the score.  Returns their number.
 */
static size_t
changes_compare(
    const struct refine *r, size_t i, double *to, double *score, bool *active)
{
	const double *row = r->rows + i * r->d;
	struct change best[CHANGES_KEPT];
	size_t n, more, count, better = 0, k;

	n = changes_apply(
	    to, r->goal, row, r->kept + i * CHANGES_KEPT, r->count[i], active);
	if (n == 0)
		return 0;
	gp_acquisition_near(r->goal, row, to, n, score);
	for (k = 0; k < n; k++)
		better += score[k] > r->score[i] + gain_least;
	if (better < 2)
		return n;
	count = changes_best(best, row, to, score, n, r->d);
	more = changes_join(
	    to + n * r->d, r->goal, row, best, better < count ? better : count);
	if (more > 0)
		gp_acquisition(r->goal, to + n * r->d, more, score + n, NULL);
	return n + more;
}

/*
 * Rows with a change of row i, and their scores; returns their number.  In a wide
 * space all changes are compared once, nearly, and then those that were best.
 */
static size_t
refine_compare(
    struct refine *r, size_t i, size_t most, double *to, bool *active)
{
	double *score = to + most * r->d, *levels = score + most;
	const double *row = r->rows + i * r->d;
	size_t n;

	if (r->count[i] == 0) {
		n = row_changes(to, r->goal, row, levels, active);
		if (n <= CHANGES_MANY) {
			if (n > 0)
				gp_acquisition_near(r->goal, row, to, n, score);
			return n;
		}
		changes_keep(r, i, to, n);
	}
	return changes_compare(r, i, to, score, active);
}

/* Take the best change of row i while it improves the score. */
static bool
refine_change(struct refine *r, size_t i, size_t most)
{
	double *to = xcalloc(most * (r->d + 2) + 1, sizeof *to);
	const double *score = to + most * r->d;
	bool *active = xcalloc(r->d, sizeof *active), changed = false;
	size_t n, k, best, turn;

	for (turn = 0; turn < CHANGES_MAX; turn++) {
		n = refine_compare(r, i, most, to, active);
		if (n == 0)
			break;
		for (best = 0, k = 1; k < n; k++)
			if (score[k] > score[best])
				best = k;
		if (!(score[best] > r->score[i] + gain_least))
			break;
		r->score[i] = score[best];
		memcpy(r->rows + i * r->d, to + best * r->d, r->d * sizeof *to);
		changed = true;
	}
	free(to);
	free(active);
	return changed;
}

/* Number of rows that are better than row i. */
static size_t
refine_before(const struct refine *r, size_t i)
{
	size_t before = 0, k;

	for (k = 0; k < r->n; k++)
		before += r->score[k] > r->score[i];
	return before;
}

/* Squared distance in the scales of the process. */
static double
apart(const struct gp_acquisition_goal *g, const double *a, const double *b)
{
	double sum = 0, step;
	size_t k;

	for (k = 0; k < g->space->d; k++) {
		step = g->space->axes[k].category ? a[k] != b[k] : a[k] - b[k];
		step *= g->weights[k];
		sum += step * step;
	}
	return sum;
}

void
gp_local_search_starts(double *starts, size_t m,
    const struct gp_acquisition_goal *g, const double *rows, size_t n)
{
	size_t d = g->space->d, chosen = 0, i, k;

	for (i = 0; i < n && chosen < m; i++) {
		for (k = 0; k < chosen; k++)
			if (apart(g, rows + i * d, starts + k * d) < nearby)
				break;
		if (k == chosen)
			memcpy(starts + chosen++ * d, rows + i * d,
			    d * sizeof *starts);
	}
	for (i = 0; chosen < m; i++)
		memcpy(starts + chosen++ * d, rows + i * d, d * sizeof *starts);
}

void
gp_local_search(const struct gp_acquisition_goal *goal, double *rows, size_t n,
    double *score)
{
	size_t d = goal->space->d, most = changes_max(goal->space), i, turn;
	struct refine r = { .goal = goal, .rows = rows, .score = score };
	bool changed = true;

	r.n = n;
	r.d = d;
	r.free = xcalloc(n * d + 1, sizeof *r.free);
	r.kept = xcalloc(n * CHANGES_KEPT, sizeof *r.kept);
	r.count = xcalloc(n, sizeof *r.count);
	gp_acquisition(goal, rows, n, score, NULL);
	for (turn = 0; turn < TURNS_MAX && changed; turn++) {
		refine_descend(&r);
		changed = false;
		for (i = 0; i < n && most > 0; i++) {
			if (turn > 0 && r.count[i] > 0 &&
			    refine_before(&r, i) >= AHEAD)
				continue;
			r.count[i] = 0;
			changed = refine_change(&r, i, most) || changed;
		}
	}
	if (changed)
		refine_descend(&r);
	free(r.free);
	free(r.kept);
	free(r.count);
}
