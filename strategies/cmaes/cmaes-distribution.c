/* The distribution of CMA-ES: constants, sampling, update and termination. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/kernels.h"
#include "src/base/mem.h"
#include "src/base/rng.h"
#include "strategies/cmaes/cmaes-distribution.h"
#include "strategies/tpe/tpe-normal.h"

#define TINY 1e-8 /* instead of a negative eigenvalue */
#define TOLERANCE_X 1e-9 /* of the first sigma */
#define TOLERANCE_LOSS 1e-12
#define BURST 1e4
#define CONDITION 1e14

size_t
cmaes_distribution_lambda(size_t dims)
{
	return 4 + (size_t)floor(3 * log((double)dims));
}

/* Weights of the full covariance: those of bad points are negative. */
static void
weigh(struct cmaes_distribution *c)
{
	double d = (double)c->dims, sum = 0, squares = 0, good = 0, bad = 0;
	double bad_squares = 0, bad_eff, least, w;
	size_t i;

	for (i = 0; i < c->lambda; i++) {
		w = log((double)(c->lambda + 1) / 2) - log((double)(i + 1));
		c->weights[i] = w;
		*(i < c->mu ? &sum : &bad) += w;
		*(i < c->mu ? &squares : &bad_squares) += w * w;
		good += w > 0 ? w : 0;
	}
	c->mu_eff = sum * sum / squares;
	bad_eff = bad * bad / bad_squares;
	c->c_one = 2 / ((d + 1.3) * (d + 1.3) + c->mu_eff);
	c->c_mu =
	    fmin(1 - c->c_one - 1e-8, 2 * (c->mu_eff - 2 + 1 / c->mu_eff) /
					  ((d + 2) * (d + 2) + c->mu_eff));
	least = fmin(1 + c->c_one / c->c_mu,
	    fmin(1 + 2 * bad_eff / (c->mu_eff + 2),
		(1 - c->c_one - c->c_mu) / (d * c->c_mu)));
	for (bad = 0, i = 0; i < c->lambda; i++)
		bad += c->weights[i] < 0 ? -c->weights[i] : 0;
	for (i = 0; i < c->lambda; i++)
		c->weights[i] *= c->weights[i] < 0 ? least / bad : 1 / good;
	c->c_sigma = (c->mu_eff + 2) / (d + c->mu_eff + 5);
	c->c_path = (4 + c->mu_eff / d) / (d + 4 + 2 * c->mu_eff / d);
}

/* Of the diagonal: bad points weigh nothing, and it learns faster. */
static void
weigh_diagonal(struct cmaes_distribution *c)
{
	double d = (double)c->dims, sum = 0, squares = 0, full;
	size_t i;

	for (i = 0; i < c->mu; i++)
		sum += log((double)(c->mu + 1)) - log((double)(i + 1));
	for (i = 0; i < c->mu; i++) {
		c->weights[i] =
		    (log((double)(c->mu + 1)) - log((double)(i + 1))) / sum;
		squares += c->weights[i] * c->weights[i];
	}
	c->mu_eff = 1 / squares;
	c->c_one = 2 / ((d + 1.3) * (d + 1.3) + c->mu_eff);
	full =
	    2 / c->mu_eff / ((d + M_SQRT2) * (d + M_SQRT2)) +
	    (1 - 1 / c->mu_eff) *
		fmin(1, (2 * c->mu_eff - 1) / ((d + 2) * (d + 2) + c->mu_eff));
	c->c_mu = (d + 2) / 3 * full;
	c->c_sigma = (c->mu_eff + 2) / (d + c->mu_eff + 3);
	c->c_path = 4 / (d + 4);
}

static void
cmaes_distribution_alloc(struct cmaes_distribution *c)
{
	size_t d = c->dims, all = c->diagonal ? d : d * d;

	c->weights = xcalloc(c->lambda, sizeof *c->weights);
	c->mean = xcalloc(5 * d + 2 * all, sizeof *c->mean);
	c->path_sigma = c->mean + d;
	c->path = c->path_sigma + d;
	c->stretch = c->path + d;
	c->roots = c->stretch + d;
	c->cov = c->roots + d;
	c->vectors = c->cov + all;
	c->n_recent = 10 + (size_t)ceil(30 * (double)d / (double)c->lambda);
	c->recent = xcalloc(2 * c->n_recent, sizeof *c->recent);
}

void
cmaes_distribution_init(
    struct cmaes_distribution *c, const struct cmaes_start *s)
{
	size_t d = s->dims, i;
	double n = (double)d;

	*c = (struct cmaes_distribution){ .dims = d,
		.lambda =
		    s->lambda > 0 ? s->lambda : cmaes_distribution_lambda(d),
		.diagonal = s->diagonal && d > 1,
		.margin = s->margin && s->axes != NULL,
		.axes = s->axes,
		.kernels = s->kernels,
		.sigma = s->sigma,
		.sigma_first = s->sigma,
		.is_split = s->cov == NULL,
		.chi = sqrt(n) * (1 - 1 / (4 * n) + 1 / (21 * n * n)) };
	c->mu = c->lambda / 2;
	cmaes_distribution_alloc(c);
	if (c->diagonal)
		weigh_diagonal(c);
	else
		weigh(c);
	c->d_sigma =
	    1 + 2 * fmax(0, sqrt((c->mu_eff - 1) / (n + 1)) - 1) + c->c_sigma;
	for (i = 0; i < d; i++) {
		c->mean[i] = s->mean != NULL ? s->mean[i] : 0.5;
		c->stretch[i] = c->roots[i] = 1;
		c->cov[c->diagonal ? i : i * d + i] = 1;
		if (!c->diagonal)
			c->vectors[i * d + i] = 1;
	}
	if (s->cov != NULL)
		memcpy(
		    c->cov, s->cov, (c->diagonal ? d : d * d) * sizeof *c->cov);
}

void
cmaes_distribution_free(struct cmaes_distribution *c)
{
	free(c->weights);
	free(c->mean);
	free(c->recent);
}

/* An eigenvalue that is below 0 by rounding: the matrix is rebuilt. */
static void
cmaes_distribution_repair(struct cmaes_distribution *c)
{
	size_t d = c->dims, i, j, k;
	double sum;

	for (i = 0; i < d; i++)
		for (j = 0; j < d; j++) {
			for (sum = 0, k = 0; k < d; k++)
				sum += c->vectors[k * d + i] * c->roots[k] *
				       c->roots[k] * c->vectors[k * d + j];
			c->cov[i * d + j] = sum;
		}
}

/* Compute roots and vectors of the covariance if outdated; -1 as above. */
static int
cmaes_distribution_split(struct cmaes_distribution *c)
{
	size_t d = c->dims, i;
	bool bad = false;

	if (c->is_split)
		return 0;
	if (c->diagonal)
		memcpy(c->roots, c->cov, d * sizeof *c->roots);
	else {
		memcpy(c->vectors, c->cov, d * d * sizeof *c->vectors);
		if (c->kernels == NULL || c->kernels->sym_eigen == NULL ||
		    c->kernels->sym_eigen(
			c->kernels->dev, c->vectors, d, c->roots) != 0)
			return -1;
	}
	for (i = 0; i < d; i++) {
		bad = bad || !(c->roots[i] >= 0);
		c->roots[i] = sqrt(c->roots[i] >= 0 ? c->roots[i] : TINY);
	}
	if (bad && !c->diagonal)
		cmaes_distribution_repair(c);
	c->is_split = true;
	return 0;
}

static bool
has_margin(const struct cmaes_distribution *c, size_t d)
{
	return c->margin && c->axes[d].kind != TPE_AXIS_NUMBER;
}

/* Coordinate i of a point with the normal numbers z. */
static double
coordinate(const struct cmaes_distribution *c, const double *z, size_t i)
{
	double sum = 0;
	size_t k, d = c->dims;

	if (c->diagonal)
		return c->mean[i] + c->sigma * c->roots[i] * z[i];
	for (k = 0; k < d; k++)
		sum += c->vectors[k * d + i] * c->roots[k] * z[k];
	return c->mean[i] + c->sigma * sum;
}

/*
 * Draw until the point is inside; a coordinate with a margin is not restricted.
 */
static bool
draw_inside(
    const struct cmaes_distribution *c, struct rng *rng, double *z, double *x)
{
	size_t i;

	for (i = 0; i < c->dims; i++)
		z[i] = rng_normal(rng);
	for (i = 0; i < c->dims; i++) {
		x[i] = coordinate(c, z, i);
		if (!has_margin(c, i) && !(x[i] >= 0 && x[i] <= 1))
			return false;
	}
	return true;
}

int
cmaes_distribution_draw(
    struct cmaes_distribution *c, struct rng *rng, double *x, double *at)
{
	double *z = xcalloc(c->dims, sizeof *z), wide;
	size_t i, tries = 10 * c->dims;
	bool inside = false;

	if (cmaes_distribution_split(c) != 0) {
		free(z);
		return -1;
	}
	while (!inside && tries-- > 0)
		inside = draw_inside(c, rng, z, x);
	for (i = 0; i < c->dims; i++) {
		x[i] = coordinate(c, z, i);
		if (!has_margin(c, i))
			x[i] = fmin(fmax(x[i], 0), 1);
		wide = c->mean[i] + (x[i] - c->mean[i]) * c->stretch[i];
		wide = fmin(fmax(wide, 0), 1);
		at[i] =
		    c->axes != NULL ? tpe_axis_round(&c->axes[i], wide) : wide;
	}
	free(z);
	return 0;
}

double
cmaes_distribution_undo(const struct cmaes_distribution *c, size_t d, double at)
{
	return c->mean[d] + (at - c->mean[d]) / c->stretch[d];
}

static bool
has_stalled(const struct cmaes_distribution *c)
{
	double low = INFINITY, high = -INFINITY;
	size_t i;

	if (c->generation <= (int64_t)c->n_recent)
		return false;
	for (i = 0; i < 2 * c->n_recent; i++) {
		low = fmin(low, c->recent[i]);
		high = fmax(high, c->recent[i]);
	}
	return high - low < TOLERANCE_LOSS;
}

/* Whether a step within the distribution is too small to change the mean. */
static bool
has_no_effect(const struct cmaes_distribution *c)
{
	size_t d = c->dims, i, axis = (size_t)c->generation % d;
	double variance, step;
	bool along = true;

	for (i = 0; i < d; i++) {
		variance = c->cov[c->diagonal ? i : i * d + i];
		if (c->mean[i] == c->mean[i] + 0.2 * c->sigma * sqrt(variance))
			return true;
		step = c->diagonal ? c->roots[i]
				   : c->roots[axis] * c->vectors[axis * d + i];
		along =
		    along && c->mean[i] == c->mean[i] + 0.1 * c->sigma * step;
	}
	return along && !c->diagonal;
}

bool
cmaes_distribution_is_over(struct cmaes_distribution *c)
{
	double low = INFINITY, high = 0, least = TOLERANCE_X * c->sigma_first;
	bool small = true;
	size_t d = c->dims, i;

	if (cmaes_distribution_split(c) != 0 || !isfinite(c->sigma))
		return true;
	for (i = 0; i < d; i++) {
		low = fmin(low, c->roots[i]);
		high = fmax(high, c->roots[i]);
		small =
		    small &&
		    c->sigma * c->cov[c->diagonal ? i : i * d + i] < least &&
		    c->sigma * c->path[i] < least;
	}
	return has_stalled(c) || small || c->sigma * high > BURST ||
	       has_no_effect(c) || high > CONDITION * low;
}

/* ---- the update by a generation ----------------------------------------- */

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
learn(struct cmaes_distribution *c, const double *y, const double *near,
    double still)
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
	learn(c, y, near, still);
	level_out(c);
	free(y);
	for (i = 0; i < c->dims; i++)
		if (c->margin && c->axes[i].kind != TPE_AXIS_NUMBER)
			keep_margin(c, i);
	return 0;
}
