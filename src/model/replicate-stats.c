/* Replicates of a setting: values, tests, the race. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/model/replicate-stats.h"

/* The level of the race's test, one-sided. */
#define RACE_LEVEL 0.05

enum { DF_LEAST = 2 };

static int
replicate_stats_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

double
replicate_stats_value(const double *losses, size_t n, double quantile)
{
	double *sorted = xcalloc(n + 1, sizeof *sorted), mean, error, at, value;
	size_t i, k, m = 0;

	for (i = 0; i < n; i++)
		if (!isnan(losses[i]))
			sorted[m++] = losses[i];
	if (m == 0)
		value = NAN;
	else if (isnan(quantile)) {
		(void)replicate_stats_mean(losses, n, &mean, &error);
		value = mean;
	} else {
		qsort(sorted, m, sizeof *sorted, replicate_stats_compare);
		at = quantile * (double)(m - 1);
		k = (size_t)at;
		value = sorted[k];
		/* Two infinite ones have no difference. */
		if (k + 1 < m && at > (double)k && sorted[k + 1] > sorted[k])
			value += (at - (double)k) * (sorted[k + 1] - sorted[k]);
	}
	free(sorted);
	return value;
}

size_t
replicate_stats_mean(
    const double *losses, size_t n, double *mean, double *error)
{
	double sum = 0, squares = 0;
	size_t i, m = 0;

	for (i = 0; i < n; i++)
		if (!isnan(losses[i])) {
			sum += losses[i];
			m++;
		}
	*mean = m > 0 ? sum / (double)m : NAN;
	for (i = 0; i < n; i++)
		if (!isnan(losses[i]))
			squares += (losses[i] - *mean) * (losses[i] - *mean);
	*error = m > 1 ? sqrt(squares / (double)(m - 1) / (double)m) : NAN;
	return m;
}

double
replicate_stats_student_tail(double t, size_t df)
{
	static const double half_pi = 1.57079632679489661923;
	double theta = atan(fabs(t) / sqrt((double)df));
	double c = cos(theta), s = sin(theta), term, sum, within;
	size_t k;

	if (df % 2 == 1) {
		term = df > 1 ? c : 0;
		sum = term;
		for (k = 3; k + 2 <= df; k += 2) {
			term *= c * c * (double)(k - 1) / (double)k;
			sum += term;
		}
		within = (theta + s * sum) / half_pi;
	} else {
		term = sum = 1;
		for (k = 2; k + 2 <= df; k += 2) {
			term *= c * c * (double)(k - 1) / (double)k;
			sum += term;
		}
		within = s * sum;
	}
	within = fmin(within, 1);
	return t > 0 ? (1 - within) / 2 : (1 + within) / 2;
}

/* Differences a - b where both are known: how many, mean, sum of squares. */
static size_t
differences(
    const double *a, const double *b, size_t n, double *mean, double *squares)
{
	double sum = 0, d;
	size_t i, m = 0;

	for (i = 0; i < n; i++)
		if (!isnan(a[i]) && !isnan(b[i])) {
			sum += a[i] - b[i];
			m++;
		}
	*mean = m > 0 ? sum / (double)m : NAN;
	*squares = 0;
	for (i = 0; i < n; i++)
		if (!isnan(a[i]) && !isnan(b[i])) {
			d = a[i] - b[i] - *mean;
			*squares += d * d;
		}
	return m;
}

/* The tail of a mean difference above 0, of m, with this variance. */
static double
tail(double mean, double variance, size_t m, size_t df)
{
	if (!(variance > 0))
		return mean > 0 ? 0 : 1;
	return replicate_stats_student_tail(
	    mean / sqrt(variance / (double)m), df);
}

double
replicate_stats_better(
    const double *a, const double *b, size_t n, size_t *pairs)
{
	double mean, squares;

	*pairs = differences(b, a, n, &mean, &squares);
	if (*pairs < 2)
		return NAN;
	return tail(mean, squares / (double)(*pairs - 1), *pairs, *pairs - 1);
}

/*
 * The variance within settings, pooled, with its degrees of freedom; 0 when none
 * has two replicates.
 */
static double
within(const double *losses, size_t m, size_t n, size_t *freedom)
{
	double mean, error, sum = 0;
	size_t i, k, df = 0;

	for (i = 0; i < m; i++) {
		k = replicate_stats_mean(losses + i * n, n, &mean, &error);
		if (k < 2 || !isfinite(error))
			continue;
		sum += error * error * (double)(k * (k - 1));
		df += k - 1;
	}
	*freedom = df;
	return df > 0 ? sum / (double)df : 0;
}

struct replicate_race
replicate_stats_race(const double *losses, size_t m, size_t n, size_t best)
{
	struct replicate_race race = { .losses = losses, .n = n, .best = best };
	double mean, squares, sum = 0;
	size_t i, pairs;

	for (i = 0; i < m; i++) {
		if (i == best)
			continue;
		pairs = differences(
		    losses + i * n, losses + best * n, n, &mean, &squares);
		if (pairs < 2 || !isfinite(squares))
			continue;
		race.df += pairs - 1;
		sum += squares;
	}
	race.variance = race.df > 0 ? sum / (double)race.df : NAN;
	race.within = within(losses, m, n, &race.df_within);
	return race;
}

bool
replicate_stats_may_win(const struct replicate_race *race, size_t k)
{
	size_t n = race->n, pairs;
	double mean, squares;

	if (k == race->best)
		return true;
	pairs = differences(race->losses + k * n, race->losses + race->best * n,
	    n, &mean, &squares);
	return pairs == 0 || race->df < DF_LEAST ||
	       tail(mean, race->variance, pairs, race->df) >= RACE_LEVEL;
}

bool
replicate_stats_same(const struct replicate_race *race, size_t k)
{
	const double *a = race->losses + k * race->n;
	const double *b = race->losses + race->best * race->n;
	size_t i, pairs = 0;

	for (i = 0; i < race->n; i++) {
		if (isnan(a[i]) || isnan(b[i]))
			continue;
		if (a[i] < b[i] || a[i] > b[i])
			return false;
		pairs++;
	}
	return pairs > 0;
}

bool
replicate_stats_positive(const struct replicate_race *race, size_t k)
{
	double mean, error;
	size_t n = replicate_stats_mean(
	    race->losses + k * race->n, race->n, &mean, &error);

	return n > 0 && race->df_within >= DF_LEAST && isfinite(mean) &&
	       tail(mean, race->within, n, race->df_within) < RACE_LEVEL;
}

double
replicate_stats_noise(const struct replicate_race *race, size_t k)
{
	double own = race->within, shared = 0, share = 1 / (double)k;

	if (race->df >= DF_LEAST) {
		own = fmin(race->variance / 2, race->within);
		shared = race->within - own;
	}
	return sqrt(own * share + shared * (share - 1 / (double)race->n));
}
