/*
 * Whether results are noisy.  The best result is then luck, and what is decided by
 * how long ago it was found is, too: the search around it, and that results count
 * as exact.
 */

#include <math.h>
#include <stdlib.h>

#include "src/base/mem.h"
#include "src/model/history/history.h"
#include "strategies/gp/gp.h"
#include "strategies/strategy.h"

/*
 * Of the distance from the median to the least of the means at the trials: the
 * deviation of noise that is large.
 */
static const double large = 0.3;

/* Numbers that differ by no more, as a share of the range, are close. */
static const double close_by = 0.02;

enum { PAIRS_LEAST = 4 };
/* Of the variance of the noise: pairs with less are alike. */
static const double alike = 0.3;

static int
gp_noise_by_number(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The distance from the median to the least of the means at n rows. */
static double
spread_of(const struct gp_question *q, const struct gp *gp)
{
	const struct kernels *k = q->ask->kernels;
	size_t n = q->rows.n;
	double *means = xcalloc(n, sizeof *means), spread;

	k->gp_predict(k->dev, gp, q->rows.x, n, means, NULL);
	qsort(means, n, sizeof *means, gp_noise_by_number);
	spread = means[n / 2] - means[0];
	free(means);
	return spread;
}

/* Whether no number of two rows differs by much, and no level. */
static bool
is_close(const struct gp_axes *g, const double *a, const double *b)
{
	size_t k;

	for (k = 0; k < g->d; k++)
		if (fabs(a[k] - b[k]) > (g->axes[k].levels > 0 ? 0 : close_by))
			return false;
	return true;
}

/*
 * Whether trials that are close to one another have results that are too alike
 * for noise of this variance: then the function is rough.
 */
static bool
is_refuted(const struct gp_question *q, const double *y, double variance)
{
	const double *x = q->rows.x;
	size_t d = q->rows.d, i, j, pairs = 0;
	double sum = 0;

	for (i = 1; i < q->rows.n; i++)
		for (j = i; j-- > 0;)
			if (is_close(&q->space, x + i * d, x + j * d)) {
				sum += (y[i] - y[j]) * (y[i] - y[j]) / 2;
				pairs++;
				break;
			}
	return pairs >= PAIRS_LEAST && sum < alike * variance * (double)pairs;
}

bool
gp_noise_is_large(const struct gp_question *q, double *theta)
{
	const struct kernels *k = q->ask->kernels;
	struct gp_question mine = *q;
	struct gp_targets values;
	struct gp *gp;
	bool is = false;

	mine.rule.noiseless = false;
	mine.rule.local = true;
	mine.rule.brief = true;
	mine.rows.n_pending = 0;
	gp_targets_from_losses(&values, &q->rows, q->ask->history, q->warp);
	gp =
	    gp_models_of(&mine, q->rows.x, q->rows.n, &values, q->rough, theta);
	if (gp != NULL) {
		is = exp(theta[q->rows.d + 1] / 2) > large * spread_of(q, gp) &&
		     !is_refuted(q, values.y, exp(theta[q->rows.d + 1]));
		k->gp_free(k->dev, gp);
	}
	gp_targets_free(&values);
	return is;
}
