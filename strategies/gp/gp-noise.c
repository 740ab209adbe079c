/*
 * Whether results are noisy.  The best result is then luck, and what is decided by
 * how long ago it was found is, too: the search around it, and that results count
 * as exact.
 */

#include <math.h>
#include <stdlib.h>

#include "src/base/mem.h"
#include "src/base/rng.h"
#include "src/model/history/history.h"
#include "src/model/space.h"
#include "strategies/gp/gp.h"
#include "strategies/strategy.h"

/*
 * Of the distance from the median to the least of the means at the trials: the
 * deviation of noise that is large.
 */
static const double large = 0.3;

/* Numbers that differ by no more, as a share of the range, are close. */
static const double close_by = 0.02;
/* In a continuous space, where functions may be rough from one such to the next. */
static const double close_by_continuous = 1e-4;

enum { PAIRS_LEAST = 4, PAIRS_CONTINUOUS = 3 };
/*
 * Of the variance of the noise: close trials whose results differ by less, half of the
 * squares on average, are alike.
 */
static const double alike = 0.3;
/* In a continuous space: after PAIRS_CONTINUOUS, and after fewer. */
static const double alike_continuous = 0.1;
static const double alike_at_once = 0.01;

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

/* Whether no number of two rows differs by more than this, and no level. */
static bool
is_close(const struct gp_axes *g, const double *a, const double *b, double by)
{
	size_t k;

	for (k = 0; k < g->d; k++)
		if (fabs(a[k] - b[k]) > (g->axes[k].levels > 0 ? 0 : by))
			return false;
	return true;
}

/*
 * How many trials are close to an earlier one; and the sum of half of the squares of
 * the differences of their values, where these are not NULL.
 */
static size_t
pairs_of(const struct gp_question *q, const double *y, double by, double *sum)
{
	const double *x = q->rows.x;
	size_t d = q->rows.d, i, j, pairs = 0;

	*sum = 0;
	for (i = 1; i < q->rows.n; i++)
		for (j = i; j-- > 0;)
			if (is_close(&q->space, x + i * d, x + j * d, by)) {
				if (y != NULL)
					*sum +=
					    (y[i] - y[j]) * (y[i] - y[j]) / 2;
				pairs++;
				break;
			}
	return pairs;
}

/*
 * What close trials say of noise of this variance: results that are too alike for it
 * show that the function is rough.
 */
static enum gp_noise
gp_noise_judge(const struct gp_question *q, const double *y, double variance)
{
	bool continuous = gp_axes_continuous(&q->space);
	double sum, share = alike;
	size_t pairs;

	pairs =
	    pairs_of(q, y, continuous ? close_by_continuous : close_by, &sum);
	if (continuous)
		share =
		    pairs < PAIRS_CONTINUOUS ? alike_at_once : alike_continuous;
	if (pairs >= (continuous ? 1 : PAIRS_LEAST) &&
	    sum < share * variance * (double)pairs)
		return GP_NOISE_SMALL;
	return continuous && pairs < PAIRS_CONTINUOUS ? GP_NOISE_UNPROVEN
						      : GP_NOISE_LARGE;
}

enum gp_noise
gp_noise_of(const struct gp_question *q, double *theta)
{
	const struct kernels *k = q->ask->kernels;
	struct gp_question mine = *q;
	struct gp_targets values;
	struct gp *gp;
	enum gp_noise noise = GP_NOISE_SMALL;

	mine.rule.noiseless = false;
	mine.rule.local = true;
	mine.rule.brief = true;
	mine.rows.n_pending = 0;
	gp_targets_from_losses(&values, &q->rows, q->ask->history, q->warp);
	gp =
	    gp_models_of(&mine, q->rows.x, q->rows.n, &values, q->rough, theta);
	if (gp != NULL) {
		if (exp(theta[q->rows.d + 1] / 2) > large * spread_of(q, gp))
			noise = gp_noise_judge(
			    q, values.y, exp(theta[q->rows.d + 1]));
		k->gp_free(k->dev, gp);
	}
	gp_targets_free(&values);
	return noise;
}

bool
gp_noise_was_asked(const struct gp_question *q)
{
	double sum;

	return pairs_of(q, NULL, close_by_continuous, &sum) >= PAIRS_CONTINUOUS;
}

void
gp_noise_ask(double *x, struct gp_question *q)
{
	static const double reach =
	    1e-5; /* so that no two settings are the same */
	const struct history *h = q->ask->history;
	const double *best = history_point(h, history_best(h));
	size_t k;

	for (k = 0; k < q->ask->space->n; k++) {
		x[k] = best[k];
		if (best[k] > reach && best[k] < 1 - reach)
			x[k] += reach * (rng_uniform(&q->rng) - 0.5);
	}
}
