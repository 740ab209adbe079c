/* The distribution of CMA-ES: constants, sampling, update and termination. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/kernels.h"
#include "src/base/mem.h"
#include "src/base/rng.h"
#include "strategies/cmaes/cmaes-distribution.h"

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

/*
 * The weights of the diagonal, which learns faster: bad points weigh nothing.
 */
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

int
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
