/*
 * Neighbours of a setting: at most one of its choices, and of its steps where
 * there are few, is another.  A trust region of numbers shrinks with the trials
 * in it; that of choices is the ball of the settings with few differences (Wan,
 * Nguyen, Ha, Ru, Lu and Osborne, "Think global and act local: Bayesian
 * optimisation over high-dimensional categorical and mixed search spaces", ICML
 * 2021), here with one.
 */

#include <stdlib.h>

#include "src/base/mem.h"
#include "src/base/rng.h"
#include "src/model/space.h"
#include "src/model/when.h"
#include "strategies/gp/gp.h"

enum { FEW_LEVELS = 16 }; /* with more a number is as if continuous */

static bool
is_of_few(const struct gp_axis *a)
{
	return a->category || (a->levels > 0 && a->levels <= FEW_LEVELS);
}

bool
gp_neighbours_are(const struct gp_axes *g, const double *a, const double *b)
{
	bool *active = xcalloc(2 * g->d + 1, sizeof *active);
	bool *other = active + g->d;
	size_t k, n = 0;

	gp_axes_active(g, a, active);
	gp_axes_active(g, b, other);
	for (k = 0; k < g->d; k++)
		n += is_of_few(&g->axes[k]) && active[k] && other[k] &&
		     a[k] != b[k];
	free(active);
	return n <= 1;
}

/* Whether a parameter of the condition is changed; changed: per parameter. */
static bool
is_below(const struct when *w, const bool *changed)
{
	size_t k;

	for (k = 0; w != NULL && k < w->n_parents; k++)
		if (changed[w->parents[k]])
			return true;
	return false;
}

/* What depends on a changed choice stays as it is. */
static void
row_restore(double *row, const struct gp_axes *g, const double *centre,
    bool *changed, size_t change)
{
	const struct space *space = g->space;
	size_t at, i, n = 0;
	int k;

	for (at = 0; at < space->n; at++) {
		i = (size_t)space->order[at];
		changed[i] = is_below(space->params[i].when, changed);
		k = g->axis_of[i];
		if (k < 0 || !is_of_few(&g->axes[k]))
			continue;
		if (n++ == change)
			changed[i] = true;
		if (!changed[i])
			row[k] = centre[k];
	}
}

void
gp_neighbours_make(double *rows, size_t m, const struct gp_axes *g,
    const double *centre, struct rng *rng)
{
	bool *changed = xcalloc(g->space->n + 1, sizeof *changed);
	size_t few = 0, i, k, change;

	for (k = 0; k < g->d; k++)
		few += is_of_few(&g->axes[k]);
	for (i = 0; i < m && few > 0; i++) {
		/* None in one of two. */
		change = (size_t)rng_below(rng, (uint32_t)(2 * few));
		row_restore(rows + i * g->d, g, centre, changed, change);
	}
	free(changed);
}
