/*
 * Replaces the worse half of the values by their ranks: keeps the order and
 * drops the distances, so that outliers do not hide the differences between
 * good values.  After Song, Zhang, Lee and others, "The Vizier Gaussian process
 * bandit algorithm", arXiv:2408.11527 (2024).
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "strategies/gp/gp.h"
#include "strategies/tpe/tpe-normal.h"

static int
by_number(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* How many of the sorted numbers are below x, or not above it. */
static size_t
count_below(const double *sorted, size_t n, double x, bool equal)
{
	size_t low = 0, high = n, at;

	while (low < high) {
		at = low + (high - low) / 2;
		if (sorted[at] < x || (equal && sorted[at] == x))
			low = at + 1;
		else
			high = at;
	}
	return low;
}

/* Root of the mean square by which the better half is below the middle. */
static double
better_spread(const double *sorted, size_t n, double middle)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < n && sorted[i] < middle; i++)
		sum += (middle - sorted[i]) * (middle - sorted[i]);
	return i > 0 ? sqrt(sum / (double)i) : 0;
}

/* The worse half becomes the mirror image of a normal better half. */
void
gp_warp(double *y, size_t n)
{
	double *sorted = xcalloc(n + 1, sizeof *sorted), middle, spread, rank;
	double least = 0.5 / (double)n;
	size_t i;

	memcpy(sorted, y, n * sizeof *y);
	qsort(sorted, n, sizeof *sorted, by_number);
	middle = n > 0 ? (sorted[(n - 1) / 2] + sorted[n / 2]) / 2 : 0;
	spread = better_spread(sorted, n, middle);
	for (i = 0; i < n && spread > 0; i++) {
		if (!(y[i] > middle))
			continue;
		rank = (double)(count_below(sorted, n, y[i], false) +
				count_below(sorted, n, y[i], true)) *
		       least;
		y[i] = middle +
		       spread * tpe_normal_quantile(fmin(rank, 1 - least));
	}
	free(sorted);
}
