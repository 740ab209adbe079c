/*
 * Candidates that satisfy the conditions of the space and are likely to fit into
 * memory: the others are left out before they are scored, and what a local search has moved out of the allowed
 * part is brought back to its border.
 */

#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/model/space.h"
#include "src/model/where.h"
#include "strategies/gp/gp.h"
#include "strategies/memory/memory-model.h"

enum { HALVINGS = 20 };

bool
gp_where_holds(const struct gp_axes *g, const double *point)
{
	return where_holds(g->space, point) &&
	       (g->memory == NULL || memory_model_allows(g->memory, point));
}

static bool
row_holds(const struct gp_axes *g, const double *row, double *x)
{
	gp_axes_decode(g, row, x);
	return gp_where_holds(g, x);
}

static bool
is_whole(const struct gp_axes *g)
{
	return where_count(g->space) == 0 && g->memory == NULL;
}

size_t
gp_where_rows(const struct gp_axes *g, double *rows, size_t m)
{
	double *x;
	size_t i, kept = 0;

	if (is_whole(g))
		return m;
	x = xcalloc(g->space->n, sizeof *x);
	for (i = 0; i < m; i++)
		if (row_holds(g, rows + i * g->d, x)) {
			memmove(rows + kept * g->d, rows + i * g->d,
			    g->d * sizeof *rows);
			kept++;
		}
	free(x);
	return kept;
}

double *
gp_where_copy(const struct gp_axes *g, const double *rows, size_t m)
{
	double *copy;

	if (is_whole(g))
		return NULL;
	copy = xcalloc(m * g->d + 1, sizeof *copy);
	memcpy(copy, rows, m * g->d * sizeof *rows);
	return copy;
}

/* The last row on the way from a good one to another that is good, too. */
static void
row_approach(
    const struct gp_axes *g, double *row, const double *good, double *x)
{
	double low = 0, high = 1, middle;
	double *at = xcalloc(2 * g->d + 1, sizeof *at), *best = at + g->d;
	size_t k;
	int i;

	memcpy(best, good, g->d * sizeof *best);
	for (i = 0; i < HALVINGS; i++) {
		middle = (low + high) / 2;
		for (k = 0; k < g->d; k++)
			at[k] = good[k] + (row[k] - good[k]) * middle;
		gp_axes_snap(g, at, 1);
		if (row_holds(g, at, x)) {
			memcpy(best, at, g->d * sizeof *best);
			low = middle;
		} else
			high = middle;
	}
	memcpy(row, best, g->d * sizeof *best);
	free(at);
}

void
gp_where_approach(const struct gp_acquisition_goal *goal, double *rows,
    const double *before, size_t m, double *score)
{
	const struct gp_axes *g = goal->space;
	bool moved = false;
	double *x;
	size_t i;

	if (before == NULL)
		return;
	x = xcalloc(g->space->n, sizeof *x);
	for (i = 0; i < m; i++)
		if (!row_holds(g, rows + i * g->d, x) &&
		    row_holds(g, before + i * g->d, x)) {
			row_approach(g, rows + i * g->d, before + i * g->d, x);
			moved = true;
		}
	if (moved)
		gp_acquisition(goal, rows, m, score, NULL);
	free(x);
}
