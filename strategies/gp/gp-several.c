/*
 * Several losses as one: a suggestion draws weights and looks for the least
 * weighted distance to the ideal point, so over many suggestions the whole
 * front is approached.  J. Knowles, "ParEGO: a hybrid algorithm with on-line
 * landscape approximation for expensive multiobjective optimization problems",
 * IEEE Trans. Evolutionary Computation 10 (2006).
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/base/rng.h"
#include "src/model/history/history.h"
#include "strategies/evolution/pareto.h"
#include "strategies/gp/gp.h"

/* The share of the sum: without it, rows that are dominated would be equal. */
static const double sum_share = 0.05;

/* Uniformly among those with sum 1. */
static void
weights_draw(double *weights, size_t m, struct rng *rng)
{
	double sum = 0;
	size_t k;

	for (k = 0; k < m; k++) {
		weights[k] = -log(1 - rng_uniform(rng)) + 1e-9;
		sum += weights[k];
	}
	for (k = 0; k < m; k++)
		weights[k] /= sum;
}

/* The range of loss k over the rows of a rank, any rank where most is SIZE_MAX. */
static bool
range_find(double *low, double *high, const double *losses, const size_t *rank,
    size_t n, size_t m, size_t k, size_t most)
{
	size_t i;

	*low = INFINITY;
	*high = -INFINITY;
	for (i = 0; i < n; i++) {
		if (rank[i] > most || !isfinite(losses[i * m + k]))
			continue;
		*low = fmin(*low, losses[i * m + k]);
		*high = fmax(*high, losses[i * m + k]);
	}
	return *low < *high;
}

/* Losses as shares of the range of the front or, if it has none, of all. */
static void
losses_scale(double *losses, size_t n, size_t m)
{
	size_t *rank = xcalloc(n + 1, sizeof *rank), i, k;
	double *old = xcalloc(n * m + 1, sizeof *old), low, high;

	memcpy(old, losses, n * m * sizeof *old);
	pareto_ranks(rank, old, n, m);
	for (k = 0; k < m; k++) {
		if (!range_find(&low, &high, old, rank, n, m, k, 0) &&
		    !range_find(&low, &high, old, rank, n, m, k, SIZE_MAX)) {
			low = isfinite(low) ? low : 0;
			high = low + 1;
		}
		for (i = 0; i < n; i++)
			losses[i * m + k] =
			    (old[i * m + k] - low) / (high - low);
	}
	free(old);
	free(rank);
}

double
gp_several_norm(const double *losses, const double *weights, size_t m)
{
	double most = -INFINITY, sum = 0, part;
	size_t k;

	for (k = 0; k < m; k++) {
		if (isnan(losses[k]))
			return NAN;
		part = weights[k] * losses[k];
		most = fmax(most, part);
		sum += part;
	}
	return most + sum_share * sum;
}

void
gp_several_losses(double *values, const struct gp_rows *rows,
    const struct history *h, struct rng *rng)
{
	size_t m = history_n_objectives(h), n = rows->n, i, k;
	double *losses = xcalloc((n + 1) * m, sizeof *losses);
	double *weights = losses + n * m;

	for (i = 0; i < n; i++)
		for (k = 0; k < m; k++)
			losses[i * m + k] =
			    rows->kinds[i] == GP_COMPLETED
				? history_losses(h, rows->trials[i])[k]
				: NAN;
	losses_scale(losses, n, m);
	weights_draw(weights, m, rng);
	for (i = 0; i < n; i++)
		values[i] = gp_several_norm(losses + i * m, weights, m);
	free(losses);
}
