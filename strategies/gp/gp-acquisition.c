/*
 * Acquisition functions in logarithms, so that very small improvements remain
 * distinguishable.  Ament, Daulton, Eriksson, Balandat and Bakshy, "Unexpected
 * improvements to expected improvement for Bayesian optimization", NeurIPS
 * 2023.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "strategies/gp/gp-hypervolume.h"
#include "strategies/gp/gp.h"

/* Below it the differences of the plain formulas lose too many digits. */
static const double far_below = -25;

/*
 * Lower bound of the variance of a known value: rounding may make it negative.
 */
static const double variance_least = 1e-14;

static const double log_root_2pi = 0.91893853320467274;

static double
gp_acquisition_density(double z)
{
	return exp(-0.5 * z * z - log_root_2pi);
}

static double
below(double z)
{
	return 0.5 * erfc(-z * M_SQRT1_2);
}

double
gp_acquisition_log_ei(
    double mean, double sd, double best, double *d_mean, double *d_sd)
{
	double z = (best - mean) / sd, w = 1 / (z * z), h, p, q;

	if (z > far_below) {
		h = gp_acquisition_density(z) + z * below(z);
		p = below(z) / h;
		q = gp_acquisition_density(z) / h;
		h = log(h);
	} else {
		/* Mills' ratio, asymptotically, to w^4. */
		h = -0.5 * z * z - log_root_2pi - 2 * log(-z) +
		    log1p(w * (-3 + w * (15 + w * (-105 + w * 945))));
		q = 1 / (w * (1 + w * (-3 + w * (15 + w * (-105 + w * 945)))));
		p = q / -z *
		    (1 + w * (-1 + w * (3 + w * (-15 + w * (105 - w * 945)))));
	}
	*d_mean = -p / sd;
	*d_sd = q / sd;
	return h + log(sd);
}

double
gp_acquisition_log_below(
    double mean, double sd, double limit, double *d_mean, double *d_sd)
{
	double z = (limit - mean) / sd, w = 1 / (z * z), ratio, p;

	if (z > far_below) {
		p = log(below(z));
		ratio = gp_acquisition_density(z) / below(z);
	} else {
		p = 1 + w * (-1 + w * (3 + w * (-15 + w * (105 - w * 945))));
		ratio = -z / p;
		p = -0.5 * z * z - log_root_2pi - log(-z) + log(p);
	}
	*d_mean = -ratio / sd;
	*d_sd = -ratio * z / sd;
	return p;
}

/* Means and variances at m rows; base as in gp_acquisition_near, or NULL. */
static void
rows_predict(const struct gp_acquisition_goal *g, const struct gp *gp,
    const double *base, const double *rows, size_t m, double *mean,
    double *variance)
{
	const struct kernels *k = g->kernels;

	if (base != NULL && k->gp_near != NULL)
		k->gp_near(k->dev, gp, base, rows, m, mean, variance);
	else
		k->gp_predict(k->dev, gp, rows, m, mean, variance);
}

/* One model's part of the score of m rows, added to it and to its slopes. */
static void
model_add(const struct gp_acquisition_goal *g, size_t which, const double *base,
    const double *rows, size_t m, double *score, double *slopes)
{
	const struct gp_model *model = &g->models[which];
	size_t d = g->space->d, i, j;
	double *mean = xcalloc(2 * m * (d + 1) + 1, sizeof *mean);
	double *variance = mean + m, *d_mean = variance + m;
	double *d_variance = d_mean + m * d, by_mean, by_sd, sd;

	if (slopes != NULL)
		g->kernels->gp_slope(g->kernels->dev, model->gp, rows, m, mean,
		    variance, d_mean, d_variance);
	else
		rows_predict(g, model->gp, base, rows, m, mean, variance);
	for (i = 0; i < m; i++) {
		sd = sqrt(fmax(variance[i], variance_least));
		if (g->lower > 0 && which == 0) {
			score[i] = g->lower * sd - mean[i];
			by_mean = -1;
			by_sd = g->lower;
		} else
			score[i] += (which == 0 && g->improve
					 ? gp_acquisition_log_ei
					 : gp_acquisition_log_below)(
			    mean[i], sd, model->limit, &by_mean, &by_sd);
		if (variance[i] < variance_least)
			by_sd = 0;
		for (j = 0; slopes != NULL && j < d; j++)
			slopes[i * d + j] +=
			    by_mean * d_mean[i * d + j] +
			    by_sd * d_variance[i * d + j] / (2 * sd);
	}
	free(mean);
}

/* The part of the first models: the gain of the hypervolume. */
static void
boxes_add(const struct gp_acquisition_goal *g, const double *base,
    const double *rows, size_t m, double *score, double *slopes)
{
	size_t d = g->space->d, n = g->boxes->m, part = m * (2 + 2 * d), i, j,
	       k;
	double *room = xcalloc(n * part + 1, sizeof *room), *at;
	double mean[GP_LOSSES_MAX], sd[GP_LOSSES_MAX];
	double by_mean[GP_LOSSES_MAX], by_sd[GP_LOSSES_MAX];

	for (k = 0; k < n; k++) {
		at = room + k * part;
		if (slopes != NULL)
			g->kernels->gp_slope(g->kernels->dev, g->models[k].gp,
			    rows, m, at, at + m, at + 2 * m, at + m * (2 + d));
		else
			rows_predict(
			    g, g->models[k].gp, base, rows, m, at, at + m);
	}
	for (i = 0; i < m; i++) {
		for (k = 0; k < n; k++) {
			at = room + k * part;
			mean[k] = at[i];
			sd[k] = sqrt(fmax(at[m + i], variance_least));
		}
		score[i] +=
		    gp_boxes_log_gain(g->boxes, mean, sd, by_mean, by_sd);
		for (k = 0; slopes != NULL && k < n; k++) {
			at = room + k * part;
			if (at[m + i] < variance_least)
				by_sd[k] = 0;
			for (j = 0; j < d; j++)
				slopes[i * d + j] +=
				    by_mean[k] * at[2 * m + i * d + j] +
				    by_sd[k] * at[m * (2 + d) + i * d + j] /
					(2 * sd[k]);
		}
	}
	free(room);
}

/* Lower the scores of rows by their cost: cheaper ones are better. */
static void
cost_take(const struct gp_acquisition_goal *g, const double *rows, size_t m,
    double *score, double *slopes)
{
	size_t d = g->space->d, i;
	double *mean = xcalloc(2 * m * (d + 1) + 1, sizeof *mean);
	double *d_mean = mean + 2 * m;

	if (slopes != NULL)
		g->kernels->gp_slope(g->kernels->dev, g->cost, rows, m, mean,
		    mean + m, d_mean, d_mean + m * d);
	else
		g->kernels->gp_predict(
		    g->kernels->dev, g->cost, rows, m, mean, NULL);
	for (i = 0; i < m; i++)
		score[i] -= g->cost_weight * mean[i];
	for (i = 0; slopes != NULL && i < m * d; i++)
		slopes[i] -= g->cost_weight * d_mean[i];
	free(mean);
}

static void
gp_acquisition_sum(const struct gp_acquisition_goal *g, const double *base,
    const double *rows, size_t m, double *score, double *slopes)
{
	size_t i;

	memset(score, 0, m * sizeof *score);
	if (slopes != NULL)
		memset(slopes, 0, m * g->space->d * sizeof *slopes);
	if (g->boxes != NULL)
		boxes_add(g, base, rows, m, score, slopes);
	for (i = g->boxes != NULL ? g->boxes->m : 0; i < g->n_models; i++)
		model_add(g, i, base, rows, m, score, slopes);
	if (g->cost != NULL)
		cost_take(g, rows, m, score, slopes);
}

void
gp_acquisition(const struct gp_acquisition_goal *g, const double *rows,
    size_t m, double *score, double *slopes)
{
	gp_acquisition_sum(g, NULL, rows, m, score, slopes);
}

void
gp_acquisition_near(const struct gp_acquisition_goal *g, const double *base,
    const double *rows, size_t m, double *score)
{
	gp_acquisition_sum(g, base, rows, m, score, NULL);
}

/* The k best of n scores, best first; of equal ones the first. */
static size_t
scores_best(const double *score, size_t n, size_t k, size_t *best)
{
	size_t count = 0, i, at;

	for (i = 0; i < n; i++) {
		if (count == k && !(score[i] > score[best[count - 1]]))
			continue;
		count += count < k;
		for (at = count - 1; at > 0 && score[i] > score[best[at - 1]];
		     at--)
			best[at] = best[at - 1];
		best[at] = i;
	}
	return count;
}

bool
gp_acquisition_is_improvement(const struct gp_acquisition_goal *g)
{
	return g->n_models == 1 && g->improve && g->lower == 0 &&
	       g->cost == NULL && g->boxes == NULL;
}

size_t
gp_acquisition_near_best(const struct gp_acquisition_goal *g,
    const double *base, const double *rows, size_t m, size_t k, size_t *best)
{
	const struct kernels *kernels = g->kernels;
	double *score = xcalloc(m + k, sizeof *score);
	size_t n;

	if (gp_acquisition_is_improvement(g) && kernels->gp_near_top != NULL)
		n = kernels->gp_near_top(kernels->dev, g->models[0].gp, base,
		    rows, m, g->models[0].limit, k, best, score, NULL);
	else {
		gp_acquisition_near(g, base, rows, m, score);
		n = scores_best(score, m, k, best);
	}
	free(score);
	return n;
}
