/* Reference implementation for kernels/gp/. */

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/base/rng.h"
#include "tests/support/gp-reference.h"

#define PI 3.14159265358979323846264338327950288L

void
gp_reference_point(const struct gp_reference *p, struct rng *rng, double *x)
{
	size_t j;

	for (j = 0; j < p->data.d; j++)
		x[j] = p->category[j] ? (double)rng_below(rng, 3)
				      : rng_uniform(rng);
}

/* Move x to another point, but for a hundredth. */
static void
point_approach(const struct gp_reference *p, struct rng *rng, double *x,
    const double *other)
{
	size_t j;

	for (j = 0; j < p->data.d; j++)
		if (p->category[j])
			x[j] = other[j];
		else
			x[j] = other[j] + 0.01 * rng_uniform(rng);
}

void
gp_reference_make(struct gp_reference *p, struct rng *rng, size_t n, size_t d,
    size_t categories, double noise_floor)
{
	size_t i, j;

	p->x = xcalloc(n * d + 1, sizeof *p->x);
	p->y = xcalloc(n + 1, sizeof *p->y);
	p->extra = xcalloc(n + 1, sizeof *p->extra);
	p->theta = xcalloc(d + 3, sizeof *p->theta);
	p->category = xcalloc(d + 1, 1);
	for (j = 0; j < categories; j++)
		p->category[rng_below(rng, d)] = 1;
	p->data = (struct gp_data){ .n = n,
		.d = d,
		.x = p->x,
		.category = p->category,
		.y = p->y,
		.extra = p->extra,
		.noise_floor = noise_floor };
	for (i = 0; i < n; i++) {
		gp_reference_point(p, rng, p->x + i * d);
		if (i % 3 == 2)
			point_approach(
			    p, rng, p->x + i * d, p->x + (i - 1) * d);
		p->extra[i] = rng_below(rng, 3) == 0 ? 0.1 : 0;
		for (j = 0; j < d; j++)
			p->y[i] += sin(5 * p->x[i * d + j] + (double)j);
		p->y[i] += 0.1 * rng_normal(rng);
	}
	for (j = 0; j < d; j++)
		p->theta[j] = rng_normal(rng);
	p->theta[d] = 0.5 * rng_normal(rng);
	p->theta[d + 1] = -4 + rng_normal(rng);
	p->theta[d + 2] = -2 + rng_normal(rng);
	p->data.rough = rng_below(rng, 2) == 1;
}

void
gp_reference_free(struct gp_reference *p)
{
	free(p->x);
	free(p->y);
	free(p->extra);
	free(p->theta);
	free(p->category);
}

static bool
is_category(const struct gp_data *data, size_t j)
{
	return data->category != NULL && data->category[j];
}

static long double
matern(long double t)
{
	return (1 + t + t * t / 3) * expl(-t);
}

static long double
matern_rough(long double t)
{
	return (1 + t) * expl(-t);
}

/* theta as long double, so that a derivative can be taken numerically. */
static long double
covariance(const struct gp_data *data, const long double *theta,
    const double *x, const double *z)
{
	long double r2 = 0, u;
	size_t j;

	for (j = 0; j < data->d; j++) {
		u = (long double)x[j] - z[j];
		r2 += expl(theta[j]) * (is_category(data, j)
					       ? (long double)(x[j] != z[j])
					       : u * u);
	}
	return expl(theta[data->d]) * (data->rough ? matern_rough(sqrtl(3 * r2))
						   : matern(sqrtl(5 * r2))) +
	       expl(theta[data->d + 2]) * matern(20 * sqrtl(5 * r2));
}

static long double *
widened(const struct gp_data *data, const double *theta)
{
	long double *wide = xcalloc(data->d + 3, sizeof *wide);
	size_t j;

	for (j = 0; j < data->d + 3; j++)
		wide[j] = theta[j];
	return wide;
}

long double
gp_reference_covariance(const struct gp_data *data, const double *theta,
    const double *x, const double *z)
{
	long double *wide = widened(data, theta);
	long double k = covariance(data, wide, x, z);

	free(wide);
	return k;
}

/* k = l l', in place, row by row.  False when it is not positive definite. */
static bool
factor(long double *k, size_t n)
{
	long double sum;
	size_t i, j, q;

	for (i = 0; i < n; i++)
		for (j = 0; j <= i; j++) {
			sum = k[i * n + j];
			for (q = 0; q < j; q++)
				sum -= k[i * n + q] * k[j * n + q];
			if (i == j && !(sum > 0))
				return false;
			k[i * n + j] = i == j ? sqrtl(sum) : sum / k[j * n + j];
		}
	return true;
}

/* v = l^-1 v */
static void
forward(const long double *l, size_t n, long double *v)
{
	size_t i, j;

	for (i = 0; i < n; i++) {
		for (j = 0; j < i; j++)
			v[i] -= l[i * n + j] * v[j];
		v[i] /= l[i * n + i];
	}
}

/* The matrix of the observations and of k more points after them. */
static long double *
matrix(const struct gp_data *data, const long double *theta,
    const double *pending, size_t k)
{
	size_t n = data->n + k, d = data->d, i, j;
	long double *m = xcalloc(n * n + 1, sizeof *m);
	const double *x, *z;

	for (i = 0; i < n; i++)
		for (j = 0; j < n; j++) {
			x = i < data->n ? data->x + i * d
					: pending + (i - data->n) * d;
			z = j < data->n ? data->x + j * d
					: pending + (j - data->n) * d;
			m[i * n + j] = covariance(data, theta, x, z);
			if (i != j)
				continue;
			m[i * n + i] += data->noise_floor + expl(theta[d + 1]);
			if (i < data->n && data->extra != NULL)
				m[i * n + i] += data->extra[i];
		}
	return m;
}

static long double
likelihood(const struct gp_data *data, const long double *theta)
{
	size_t n = data->n, i;
	long double *m = matrix(data, theta, NULL, 0), sum = NAN;
	long double *v = xcalloc(n + 1, sizeof *v);

	for (i = 0; i < n; i++)
		v[i] = data->y[i];
	if (factor(m, n)) {
		forward(m, n, v);
		sum = -0.5L * (long double)n * logl(2 * PI);
		for (i = 0; i < n; i++)
			sum -= v[i] * v[i] / 2 + logl(m[i * n + i]);
	}
	free(m);
	free(v);
	return sum;
}

long double
gp_reference_likelihood(const struct gp_data *data, const double *theta)
{
	long double *wide = widened(data, theta);
	long double value = likelihood(data, wide);

	free(wide);
	return value;
}

long double
gp_reference_slope(const struct gp_data *data, const double *theta, size_t j)
{
	const long double h = 1e-5L;
	long double *wide = widened(data, theta), up, down;

	wide[j] = theta[j] + h;
	up = likelihood(data, wide);
	wide[j] = theta[j] - h;
	down = likelihood(data, wide);
	free(wide);
	return (up - down) / (2 * h);
}

void
gp_reference_predict(const struct gp_data *data, const double *theta,
    const double *pending, size_t k, const double *x, long double *mean,
    long double *variance)
{
	size_t n = data->n + k, d = data->d, i;
	long double *wide = widened(data, theta);
	long double *m = matrix(data, wide, pending, k);
	long double *v = xcalloc(n + 1, sizeof *v);
	long double *y = xcalloc(n + 1, sizeof *y);

	for (i = 0; i < n; i++)
		v[i] = covariance(data, wide, x,
		    i < data->n ? data->x + i * d
				: pending + (i - data->n) * d);
	for (i = 0; i < data->n; i++)
		y[i] = data->y[i];
	*mean = *variance = NAN;
	if (factor(m, n)) {
		forward(m, n, v);
		forward(m, n, y);
		*mean = 0;
		*variance = expl(wide[d]) + expl(wide[d + 2]);
		for (i = 0; i < n; i++) {
			*mean += i < data->n ? v[i] * y[i] : 0;
			*variance -= v[i] * v[i];
		}
	}
	free(wide);
	free(m);
	free(v);
	free(y);
}

/*
 * Left of -5 by the continued fraction of Mills' ratio R: 1 / R = x + c, so
 * 1 - x R = c / (x + c), where nothing cancels.
 */
long double
gp_reference_improvement(
    long double mean, long double variance, long double best)
{
	long double sd = sqrtl(variance), z = (best - mean) / sd, x = -z, c = 0;
	long double ln_phi = -z * z / 2 - logl(2 * PI) / 2;
	int i;

	if (z > -5)
		return logl(expl(ln_phi) + z * erfcl(-z / sqrtl(2)) / 2) +
		       logl(sd);
	for (i = 400; i > 0; i--)
		c = i / (x + c);
	return ln_phi + logl(c / (x + c)) + logl(sd);
}
