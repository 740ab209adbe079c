/*
 * The hypervolume, exactly.  Two losses: a sweep along the staircase; three:
 * the staircase grows during the sweep; more: contributions of single rows, one
 * loss less at a time.  While, Bradstreet and Barone, "A fast way of
 * calculating exact hypervolumes" (2012); Beume, Fonseca, Lopez-Ibanez, Paquete
 * and Vahrenhold (2009) for three.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/base/search.h"
#include "strategies/evolution/pareto.h"

/* A corner of a staircase: x ascending, y descending. */
struct corner {
	double x, y;
};

/*
 * Rows that are better than the reference in all losses, sorted descending by
 * the last loss in use.
 */
static int
by_last_down(const void *a, const void *b, void *at)
{
	size_t d = *(const size_t *)at;
	double x = ((const double *)a)[d], y = ((const double *)b)[d];

	return (x < y) - (x > y);
}

static int
by_last_up(const void *a, const void *b, void *at)
{
	return by_last_down(b, a, at);
}

static bool
is_inside(const double *row, size_t m, const double *reference)
{
	size_t d;

	for (d = 0; d < m; d++)
		if (!(row[d] < reference[d]))
			return false;
	return true;
}

/*
 * Insert a corner inside of the reference into a staircase of n; returns the
 * added area.
 */
static double
stairs_add(struct corner *s, size_t *n, struct corner c, const double *ref)
{
	size_t from, to;
	double area = 0, top, right;

	SEARCH_FIRST(from, *n, s[from].x < c.x);
	top = from > 0 ? s[from - 1].y : ref[1];
	if (top <= c.y || (from < *n && s[from].x == c.x && s[from].y <= c.y))
		return 0;
	right = c.x;
	for (to = from; to < *n && s[to].y >= c.y; to++) {
		area += (s[to].x - right) * (top - c.y);
		right = s[to].x;
		top = s[to].y;
	}
	area += ((to < *n ? s[to].x : ref[0]) - right) * (top - c.y);
	memmove(s + from + 1, s + to, (*n - to) * sizeof *s);
	s[from] = c;
	*n = *n - (to - from) + 1;
	return area;
}

static double
volume2(const double *rows, size_t n, size_t m, const double *ref)
{
	struct corner *stairs = xcalloc(n + 1, sizeof *stairs);
	double area = 0;
	size_t i, steps = 0;

	for (i = 0; i < n; i++)
		area += stairs_add(stairs, &steps,
		    (struct corner){ rows[i * m], rows[i * m + 1] }, ref);
	free(stairs);
	return area;
}

/* Rows ascending by the third loss. */
static double
volume3(const double *rows, size_t n, size_t m, const double *ref)
{
	struct corner *stairs = xcalloc(n + 1, sizeof *stairs);
	double area = 0, volume = 0, up;
	size_t i, steps = 0;

	for (i = 0; i < n; i++) {
		area += stairs_add(stairs, &steps,
		    (struct corner){ rows[i * m], rows[i * m + 1] }, ref);
		up = i + 1 < n ? rows[(i + 1) * m + 2] : ref[2];
		if (up > rows[i * m + 2])
			volume += area * (up - rows[i * m + 2]);
	}
	free(stairs);
	return volume;
}

static double
box(const double *row, size_t m, const double *ref)
{
	double volume = 1;
	size_t d;

	for (d = 0; d < m; d++)
		volume *= ref[d] - row[d];
	return volume;
}

/*
 * Remove rows that another row dominates or equals; returns the remaining
 * number.
 */
static size_t
thin(double *rows, size_t n, size_t m, size_t stride)
{
	size_t i, k, d, left = 0;
	bool covered;

	for (i = 0; i < n; i++) {
		covered = false;
		for (k = 0; k < n && !covered; k++) {
			if (k == i)
				continue;
			for (d = 0; d < m; d++)
				if (rows[k * stride + d] > rows[i * stride + d])
					break;
			covered = d == m;
			/* The last one of equal rows stays. */
			if (covered && k < i)
				for (covered = false, d = 0; d < m; d++)
					covered =
					    covered || rows[k * stride + d] <
							   rows[i * stride + d];
		}
		if (covered)
			rows[i * stride] = INFINITY;
	}
	for (i = 0; i < n; i++)
		if (!isinf(rows[i * stride]))
			memmove(rows + left++ * stride, rows + i * stride,
			    stride * sizeof *rows);
	return left;
}

static double
volume_of(double *rows, size_t n, size_t m, size_t stride, const double *ref);

/* What row i adds to those after it, which are no worse in the last loss. */
static double
alone(const double *rows, size_t i, size_t n, size_t m, size_t stride,
    const double *ref)
{
	const double *row = rows + i * stride;
	size_t rest = n - i - 1, k, d;
	double *cut = xcalloc(rest * m + 1, sizeof *cut), others;

	for (k = 0; k < rest; k++)
		for (d = 0; d + 1 < m; d++)
			cut[k * m + d] =
			    fmax(row[d], rows[(i + 1 + k) * stride + d]);
	rest = thin(cut, rest, m - 1, m);
	others = volume_of(cut, rest, m - 1, m, ref);
	free(cut);
	return (ref[m - 1] - row[m - 1]) * (box(row, m - 1, ref) - others);
}

/* Reorders the rows, all of which are inside. */
static double
volume_of(double *rows, size_t n, size_t m, size_t stride, const double *ref)
{
	size_t last = m - 1, i;
	double volume = 0;

	if (n == 0)
		return 0;
	if (n == 1)
		return box(rows, m, ref);
	if (m == 1) {
		for (i = 0; i < n; i++)
			volume = fmax(volume, ref[0] - rows[i * stride]);
		return volume;
	}
	qsort_r(rows, n, stride * sizeof *rows,
	    m > 3 ? by_last_down : by_last_up, &last);
	if (m == 2)
		return volume2(rows, n, stride, ref);
	if (m == 3)
		return volume3(rows, n, stride, ref);
	for (i = 0; i < n; i++)
		volume += alone(rows, i, n, m, stride, ref);
	return volume;
}

double
hypervolume_of(
    const double *losses, size_t n, size_t m, const double *reference)
{
	double *rows = xcalloc(n * m + 1, sizeof *rows), volume;
	size_t i, kept = 0;

	for (i = 0; i < n; i++)
		if (is_inside(losses + i * m, m, reference))
			memcpy(rows + kept++ * m, losses + i * m,
			    m * sizeof *rows);
	volume = volume_of(rows, kept, m, m, reference);
	free(rows);
	return volume;
}

double
hypervolume_gain(const double *row, const double *losses, size_t n, size_t m,
    const double *reference)
{
	double *cut, volume;
	size_t i, d, kept = 0;

	if (!is_inside(row, m, reference))
		return 0;
	volume = box(row, m, reference);
	if (isinf(volume))
		return volume;
	cut = xcalloc(n * m + 1, sizeof *cut);
	for (i = 0; i < n; i++) {
		if (!is_inside(losses + i * m, m, reference))
			continue;
		for (d = 0; d < m; d++)
			cut[kept * m + d] = fmax(row[d], losses[i * m + d]);
		kept++;
	}
	if (m > 3)
		kept = thin(cut, kept, m, m);
	volume -= volume_of(cut, kept, m, m, reference);
	free(cut);
	return volume;
}
