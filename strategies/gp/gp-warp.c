/*
 * Monotone transformations of the values before the fit: a process expects
 * values like those of a normal distribution.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/base/search.h"
#include "strategies/gp/gp.h"
#include "strategies/tpe/tpe-normal.h"

enum { FIRST_ROWS = 10 }; /* before a strategy has come close */

/* The powers that are compared: a coarse grid, then a fine one. */
static const double power_low = -3, power_high = 1;
static const double power_coarse = 0.25, power_fine = 0.05;

/* Beyond this many spreads above the middle, values grow like logarithms. */
static const double far_above = 100;

static int
gp_warp_by_number(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* How many of the sorted numbers are below x, or not above it. */
static size_t
count_below(const double *sorted, size_t n, double x, bool equal)
{
	size_t at;

	SEARCH_FIRST(at, n, sorted[at] < x || (equal && sorted[at] == x));
	return at;
}

/*
 * The median, and the root of the mean square by which the better half is below
 * it.  sorted (n) receives the values in order.
 */
static double
middle_find(double *sorted, const double *y, size_t n, double *spread)
{
	double middle, sum = 0;
	size_t i;

	*spread = 0;
	if (n == 0)
		return 0;
	memcpy(sorted, y, n * sizeof *y);
	qsort(sorted, n, sizeof *sorted, gp_warp_by_number);
	middle = (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
	for (i = 0; i < n && sorted[i] < middle; i++)
		sum += (middle - sorted[i]) * (middle - sorted[i]);
	if (i > 0)
		*spread = sqrt(sum / (double)i);
	return middle;
}

double
gp_warp_middle(const double *y, size_t n)
{
	double *sorted = xcalloc(n + 1, sizeof *sorted), middle, first, spread;

	middle = middle_find(sorted, y, n, &spread);
	first =
	    middle_find(sorted, y, n < FIRST_ROWS ? n : FIRST_ROWS, &spread);
	free(sorted);
	return fmax(middle, first);
}

/* Root of the mean square by which values are below the middle. */
static double
spread_below(const double *y, size_t n, double middle)
{
	double sum = 0, below;
	size_t i, count = 0;

	for (i = 0; i < n; i++) {
		below = middle - y[i];
		if (!(below > 0))
			continue;
		sum += below * below;
		count++;
	}
	return count > 0 ? sqrt(sum / (double)count) : 0;
}

void
gp_warp_ranks(double *y, size_t n)
{
	double *sorted = xcalloc(n + 1, sizeof *sorted), middle, spread, rank;
	double least = 0.5 / (double)n;
	size_t i;

	(void)middle_find(sorted, y, n, &spread);
	middle = gp_warp_middle(y, n);
	spread = spread_below(y, n, middle);
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

double
gp_warp_power_of(double y, double power, double *slope)
{
	double sign = y < 0 ? -1 : 1, p = y < 0 ? 2 - power : power;
	double at = log1p(fabs(y));

	*slope = exp((p - 1) * at);
	return sign * (fabs(p) < 1e-9 ? at : expm1(p * at) / p);
}

/*
 * Log likelihood of a power for values that are normal after it; logs: the sum
 * of the signed log1p |y|, for the Jacobian.
 */
static double
power_likelihood(const double *y, size_t n, double logs, double power)
{
	double mean = 0, squares = 0, old, v, slope;
	size_t i;

	for (i = 0; i < n; i++) {
		v = gp_warp_power_of(y[i], power, &slope);
		old = mean;
		mean += (v - mean) / (double)(i + 1);
		squares += (v - old) * (v - mean);
	}
	return (power - 1) * logs -
	       0.5 * (double)n * log(fmax(squares / (double)n, 1e-300));
}

/* The likeliest of the powers from low to high. */
static double
power_best(const double *y, size_t n, double low, double high, double step)
{
	double logs = 0, best = -INFINITY, at = 1, power, f;
	size_t i, count = (size_t)((high - low) / step + 1.5);

	for (i = 0; i < n; i++)
		logs += copysign(log1p(fabs(y[i])), y[i]);
	for (i = 0; i < count; i++) {
		power = high - (double)i * step;
		f = power_likelihood(y, n, logs, power);
		if (f > best) {
			best = f;
			at = power;
		}
	}
	return at;
}

/* Mean 0 and variance 1; returns the deviation, 0 when they hardly differ. */
static double
unit(double *y, size_t n)
{
	double mean = 0, squares = 0, deviation;
	size_t i;

	for (i = 0; i < n; i++)
		mean += y[i] / (double)n;
	for (i = 0; i < n; i++)
		squares += (y[i] - mean) * (y[i] - mean) / (double)n;
	deviation = sqrt(squares);
	if (!(deviation > 1e-12))
		return 0;
	for (i = 0; i < n; i++)
		y[i] = (y[i] - mean) / deviation;
	return deviation;
}

/* Values far above the middle come nearer, in their order. */
static void
tail_shorten(double *y, double *slope, size_t n)
{
	double *sorted = xcalloc(n + 1, sizeof *sorted), middle, spread, over;
	size_t i;

	middle = middle_find(sorted, y, n, &spread);
	for (i = 0; i < n; i++) {
		slope[i] = 1;
		over = (y[i] - middle) / spread - far_above;
		if (!(spread > 0) || !(over > 0))
			continue;
		y[i] = middle + spread * (far_above + log1p(over));
		slope[i] = 1 / (1 + over);
	}
	free(sorted);
}

double
gp_warp_power(double *y, double *slope, size_t n)
{
	double deviation, power, low, high, more;
	size_t i;

	tail_shorten(y, slope, n);
	deviation = unit(y, n);
	if (!(deviation > 0))
		return 1;
	power = power_best(y, n, power_low, power_high, power_coarse);
	low = fmax(power - power_coarse, power_low);
	high = fmin(power + power_coarse, power_high);
	power = power_best(y, n, low, high, power_fine);
	for (i = 0; i < n; i++) {
		y[i] = gp_warp_power_of(y[i], power, &more);
		slope[i] *= more / deviation;
	}
	return power;
}
