/*
 * Domination: ranks by fronts, and crowding.
 *
 * Ranks by the efficient sort of Zhang, Tian, Cheng and Jin, "An efficient
 * approach to nondominated sorting" (2015): rows in the order of their numbers,
 * each into the first front that does not dominate it, found by bisection.
 */

#include "strategies/evolution/pareto.h"

#include <math.h>
#include <stdlib.h>

#include "src/base/mem.h"
#include "src/base/search.h"

/* A row on its way into order. */
struct row {
	const double *losses;
	size_t i, m;
};

/* The rows of a front from last to first: links by row. */
struct fronts {
	const double *losses;
	size_t m, n;
	size_t *last; /* by front: its newest row + 1 */
	size_t *before; /* by row: the row + 1 before it in its front */
};

static double
worth(double x)
{
	return isnan(x) ? INFINITY : x;
}

static int
pareto_compare(double a, double b)
{
	a = worth(a);
	b = worth(b);
	return (a > b) - (a < b);
}

/* At least as good in all losses, and better in one. */
static bool
dominates(const double *a, const double *b, size_t m)
{
	bool better = false;
	size_t i;
	int order;

	for (i = 0; i < m; i++) {
		order = pareto_compare(a[i], b[i]);
		if (order > 0)
			return false;
		better = better || order < 0;
	}
	return better;
}

static int
pareto_by_losses(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	size_t i;
	int order;

	for (i = 0; i < x->m; i++) {
		order = pareto_compare(x->losses[i], y->losses[i]);
		if (order != 0)
			return order;
	}
	return (x->i > y->i) - (x->i < y->i);
}

/*
 * Rows are sorted: with two losses the newest of a front has the least second
 * one, so only that must be compared.
 */
static bool
front_dominates(const struct fronts *f, size_t front, const double *row)
{
	size_t k;

	for (k = f->last[front]; k != 0; k = f->before[k - 1]) {
		if (dominates(f->losses + (k - 1) * f->m, row, f->m))
			return true;
		if (f->m <= 2)
			break;
	}
	return false;
}

static size_t
fronts_add(struct fronts *f, size_t i)
{
	const double *row = f->losses + i * f->m;
	size_t at;

	SEARCH_FIRST(at, f->n, front_dominates(f, at, row));
	f->n += at == f->n;
	f->before[i] = f->last[at];
	f->last[at] = i + 1;
	return at;
}

void
pareto_ranks(size_t *rank, const double *losses, size_t n, size_t m)
{
	struct row *rows = xcalloc(n + 1, sizeof *rows);
	struct fronts f = { .losses = losses, .m = m };
	size_t k;

	f.last = xcalloc(2 * n + 1, sizeof *f.last);
	f.before = f.last + n;
	for (k = 0; k < n; k++)
		rows[k] = (struct row){ losses + k * m, k, m };
	qsort(rows, n, sizeof *rows, pareto_by_losses);
	for (k = 0; k < n; k++)
		rank[rows[k].i] = fronts_add(&f, rows[k].i);
	free(rows);
	free(f.last);
}

/* Rank the rows that are listed, from rank first on; returns the next rank. */
static size_t
ranks_of(size_t *rank, const double *numbers, const size_t *list, size_t n,
    size_t m, size_t first)
{
	double *some = xcalloc(n * m + 1, sizeof *some);
	size_t *ranks = xcalloc(n + 1, sizeof *ranks), k, d, next = first;

	for (k = 0; k < n; k++)
		for (d = 0; d < m; d++)
			some[k * m + d] = numbers[list[k] * m + d];
	pareto_ranks(ranks, some, n, m);
	for (k = 0; k < n; k++) {
		rank[list[k]] = first + ranks[k];
		if (first + ranks[k] >= next)
			next = first + ranks[k] + 1;
	}
	free(some);
	free(ranks);
	return next;
}

void
pareto_ranks_constrained(size_t *rank, const double *losses,
    const double *violation, size_t n, size_t m)
{
	size_t *list, kept = 0, bad = 0, unknown = 0, k, next;

	if (violation == NULL) {
		pareto_ranks(rank, losses, n, m);
		return;
	}
	list = xcalloc(3 * n + 1, sizeof *list);
	for (k = 0; k < n; k++)
		if (isnan(violation[k]))
			list[2 * n + unknown++] = k;
		else if (violation[k] > 0)
			list[n + bad++] = k;
		else
			list[kept++] = k;
	next = ranks_of(rank, losses, list, kept, m, 0);
	next = ranks_of(rank, violation, list + n, bad, 1, next);
	(void)ranks_of(rank, losses, list + 2 * n, unknown, m, next);
	free(list);
}

/* Rows in the order of one loss, the first one of rows[].losses. */
static void
crowd_one(double *distance, struct row *rows, size_t n)
{
	double low = INFINITY, high = -INFINITY, left, right;
	size_t k;

	qsort(rows, n, sizeof *rows, pareto_by_losses);
	for (k = 0; k < n; k++)
		if (isfinite(*rows[k].losses)) {
			low = fmin(low, *rows[k].losses);
			high = fmax(high, *rows[k].losses);
		}
	if (worth(*rows[0].losses) == worth(*rows[n - 1].losses))
		return;
	distance[rows[0].i] = distance[rows[n - 1].i] = INFINITY;
	for (k = 1; k + 1 < n; k++) {
		left = worth(*rows[k - 1].losses);
		right = worth(*rows[k + 1].losses);
		if (left != right)
			distance[rows[k].i] +=
			    high > low ? (right - left) / (high - low)
				       : right - left;
	}
}

void
pareto_crowding(double *distance, const double *losses, size_t n, size_t m)
{
	struct row *rows = xcalloc(n + 1, sizeof *rows);
	size_t d, k;

	for (k = 0; k < n; k++)
		distance[k] = 0;
	for (d = 0; d < m && n > 0; d++) {
		for (k = 0; k < n; k++)
			rows[k] = (struct row){ losses + k * m + d, k, 1 };
		crowd_one(distance, rows, n);
	}
	free(rows);
}
