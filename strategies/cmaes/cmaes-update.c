/* The update of the distribution of CMA-ES by a generation. */

#include <math.h>
#include <stdlib.h>

#include "src/base/mem.h"
#include "strategies/cmaes/cmaes-distribution.h"
#include "strategies/tpe/tpe-normal.h"

#define SIGMA_MOST 1e32
/* plus sqrt(dims): the distribution itself draws nothing beyond */
#define FAR 5
#define LEAST 1e-10 /* probability */

/* out = C^(-1/2) y; its length squared. */
static double
whiten(const struct cmaes_distribution *c, const double *y, double *out)
{
	double part, length = 0;
	size_t d = c->dims, i, k;

	for (i = 0; i < d; i++)
		out[i] = 0;
	for (k = 0; k < d; k++) {
		if (c->diagonal) {
			out[k] = part = y[k] / c->roots[k];
		} else {
			for (part = 0, i = 0; i < d; i++)
				part += c->vectors[k * d + i] * y[i];
			part /= c->roots[k];
			for (i = 0; i < d; i++)
				out[i] += part * c->vectors[k * d + i];
		}
		length += part * part;
	}
	return length;
}

/* Points as steps from the mean, in sigmas; near[i]: length, whitened. */
static void
steps(const struct cmaes_distribution *c, const double *points, double *y,
    double *near)
{
	double *white = xcalloc(c->dims, sizeof *white), most;
	size_t d = c->dims, i, k;

	most = sqrt((double)d) + FAR;
	for (k = 0; k < c->lambda; k++) {
		for (i = 0; i < d; i++)
			y[k * d + i] =
			    (points[k * d + i] - c->mean[i]) / c->sigma;
		near[k] = whiten(c, y + k * d, white);
		if (!(near[k] > most * most))
			continue;
		for (i = 0; i < d; i++)
			y[k * d + i] *= most / sqrt(near[k]);
		near[k] = most * most;
	}
	free(white);
}

/* Update the evolution paths.  Returns 1 unless the step was too large. */
static double
go_on(struct cmaes_distribution *c, const double *step)
{
	double *white = xcalloc(c->dims, sizeof *white), length = 0, share;
	double keep = 1 - c->c_sigma, still;
	size_t i;

	(void)whiten(c, step, white);
	for (i = 0; i < c->dims; i++) {
		c->path_sigma[i] =
		    keep * c->path_sigma[i] +
		    sqrt(c->c_sigma * (2 - c->c_sigma) * c->mu_eff) * white[i];
		length += c->path_sigma[i] * c->path_sigma[i];
	}
	free(white);
	length = sqrt(length);
	c->sigma *= exp(c->c_sigma / c->d_sigma * (length / c->chi - 1));
	c->sigma = fmin(c->sigma, SIGMA_MOST);
	share = sqrt(1 - pow(keep, 2 * (double)(c->generation + 1)));
	still = length / share < (1.4 + 2 / ((double)c->dims + 1)) * c->chi;
	for (i = 0; i < c->dims; i++)
		c->path[i] = (1 - c->c_path) * c->path[i] +
			     still *
				 sqrt(c->c_path * (2 - c->c_path) * c->mu_eff) *
				 step[i];
	return still;
}

/* The covariance, or its diagonal, from the path and the steps. */
static void
cmaes_update_learn(struct cmaes_distribution *c, const double *y,
    const double *near, double still)
{
	double sum = 0, keep, w, *cov;
	size_t d = c->dims, i, j, k;

	for (k = 0; k < c->lambda; k++)
		sum += c->weights[k];
	keep = 1 + c->c_one * (1 - still) * c->c_path * (2 - c->c_path) -
	       c->c_one - c->c_mu * sum;
	for (i = 0; i < d; i++)
		for (j = c->diagonal ? i : 0; j < (c->diagonal ? i + 1 : d);
		     j++) {
			cov = &c->cov[c->diagonal ? i : i * d + j];
			*cov = keep * *cov + c->c_one * c->path[i] * c->path[j];
		}
	for (k = 0; k < c->lambda; k++) {
		w = c->weights[k];
		if (w < 0)
			w *= (double)d / (near[k] + 1e-8);
		w *= c->c_mu;
		for (i = 0; i < d && w != 0; i++)
			for (j = c->diagonal ? i : 0;
			     j < (c->diagonal ? i + 1 : d); j++)
				c->cov[c->diagonal ? i : i * d + j] +=
				    w * y[k * d + i] * y[k * d + j];
	}
	c->is_split = false;
}

/* The mean of the good steps. */
static void
good_step(const struct cmaes_distribution *c, const double *y, double *step)
{
	size_t i, k;

	for (i = 0; i < c->dims; i++)
		for (step[i] = 0, k = 0; k < c->mu; k++)
			step[i] += c->weights[k] * y[k * c->dims + i];
}

/* Make the matrix exactly symmetric. */
static void
level_out(struct cmaes_distribution *c)
{
	size_t d = c->dims, i, j;

	for (i = 0; i < d && !c->diagonal; i++)
		for (j = 0; j < i; j++)
			c->cov[i * d + j] = c->cov[j * d + i] =
			    (c->cov[i * d + j] + c->cov[j * d + i]) / 2;
}

/*
 * Bounds of the level of the mean: for the first level both are its upper
 * bound, for the last one both its lower.
 */
static void
limits(const struct axis *a, double mean, double *low, double *high)
{
	double left, right;

	tpe_axis_share(a, fmin(fmax(mean, 0), 1), &left, &right);
	*low = left > 0 ? left : right;
	*high = right < 1 - 1e-12 ? right : left;
}

/* The number of sigmas beyond which a share p lies. */
static double
reach(double p)
{
	return -tpe_normal_quantile(p);
}

static void
keep_margin(struct cmaes_distribution *c, size_t d)
{
	double margin = 1 / (double)(c->dims * c->lambda), low, high, p, q;
	double root = sqrt(c->cov[c->diagonal ? d : d * c->dims + d]);
	double scale = c->sigma * c->stretch[d] * root, middle, rest, by;

	limits(&c->axes[d], c->mean[d], &low, &high);
	p = exp(tpe_normal_log_below((low - c->mean[d]) / scale));
	q = exp(tpe_normal_log_below((c->mean[d] - high) / scale));
	if (fmax(p, q) > 0.5) {
		/* The mean is in the first or the last level. */
		if (fmin(p, q) < margin)
			c->mean[d] = high + (c->mean[d] > high ? 1 : -1) *
						scale * reach(margin);
		return;
	}
	middle = 1 - (p + q);
	p = fmax(p, margin / 2);
	q = fmax(q, margin / 2);
	rest = 1 - p - q - middle;
	by = rest / (p + middle + q - 3 * margin / 2);
	p += by * (p - margin / 2);
	q += by * (q - margin / 2);
	p = reach(fmin(fmax(p, LEAST), 0.5 - LEAST));
	q = reach(fmin(fmax(q, LEAST), 0.5 - LEAST));
	c->stretch[d] = (high - low) / ((p + q) * c->sigma * root);
	c->mean[d] = (low * q + high * p) / (p + q);
}

int
cmaes_update(struct cmaes_distribution *c, const double *points, double best,
    double worst)
{
	double *y, *near, *step, still;
	size_t i, at;

	if (cmaes_distribution_split(c) != 0)
		return -1;
	y = xcalloc(c->lambda * (c->dims + 1) + c->dims, sizeof *y);
	near = y + c->lambda * c->dims;
	step = near + c->lambda;
	c->generation++;
	at = 2 * ((size_t)c->generation % c->n_recent);
	c->recent[at] = best;
	c->recent[at + 1] = worst;
	steps(c, points, y, near);
	good_step(c, y, step);
	for (i = 0; i < c->dims; i++)
		c->mean[i] += c->sigma * step[i];
	still = go_on(c, step);
	cmaes_update_learn(c, y, near, still);
	level_out(c);
	free(y);
	for (i = 0; i < c->dims; i++)
		if (c->margin && c->axes[i].kind != TPE_AXIS_NUMBER)
			keep_margin(c, i);
	return 0;
}
