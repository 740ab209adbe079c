/*
 * The log marginal likelihood of hyperparameters and its gradient (Rasmussen
 * and Williams, "Gaussian processes for machine learning", 2006, eq. 5.8 and
 * 5.9).  One vector after the other: the factor and its inverse take n^3,
 * everything else one pass over the triangle each.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/alloc.h"
#include "kernels/gp/gp-model.h"
#include "kernels/lapack.h"

#define LN_2PI 1.83787706640934548356

struct likelihood {
	const struct gp_data *data;
	struct gp_coordinates shape;
	struct gp_tiles strips;
	double jitter; /* in units of the signal */
	size_t stride;
	double *k; /* the covariance, the factor's inverse, its own inverse */
	double *slope; /* s M' */
	double *alpha; /* K^-1 y */
};

size_t
gp_likelihood_stride(size_t n)
{
	size_t stride = (n + STRIP - 1) / STRIP * STRIP;

	return stride % 512 == 0 ? stride + STRIP : stride;
}

void
gp_likelihood_matrix(const struct gp_coordinates *shape,
    const struct gp_tiles *t, double *k, double *slope, size_t stride)
{
	size_t i, j, b;
	double *c = kernel_alloc(shape->d, 1);
	const double *at;

	for (i = 0; i < t->n; i++) {
		at = gp_tile_at(t, shape, i / STRIP) + i % STRIP;
		for (j = 0; j < shape->d; j++)
			c[j] = at[j * STRIP];
		for (b = i / STRIP; b < t->count; b++)
			if (slope == NULL)
				gp_tile_values(shape, c,
				    gp_tile_at(t, shape, b),
				    k + i * stride + b * STRIP);
			else
				gp_tile_both(shape, c, gp_tile_at(t, shape, b),
				    k + i * stride + b * STRIP,
				    slope + i * stride + b * STRIP);
	}
	free(c);
}

static double
noise_of(const struct likelihood *l, size_t i)
{
	const double *extra = l->data->extra;

	return l->shape.noise + (extra != NULL ? extra[i] : 0);
}

/* The steps of jitter until K can be factorised, or -1; k: l^-1. */
static int
factorise(struct likelihood *l)
{
	size_t i, n = l->data->n;
	double diagonal;
	int step;

	for (step = 0; step <= LAPACK_JITTER_STEPS; step++) {
		l->jitter = lapack_jitter(step);
		gp_likelihood_matrix(
		    &l->shape, &l->strips, l->k, l->slope, l->stride);
		diagonal = l->shape.signal * (1 + l->jitter) + l->shape.local;
		for (i = 0; i < n; i++)
			l->k[i * (l->stride + 1)] = diagonal + noise_of(l, i);
		if (lapack_factor_inverse(l->k, n, l->stride) == 0)
			return step;
	}
	return -1;
}

/*
 * (alpha alpha' - K^-1) times s M' for the strip b against point i; each pair
 * once, so nothing at and above the diagonal.
 */
static void
weights(const struct likelihood *l, size_t i, size_t b, double *w)
{
	const double *inverse = l->k + i * l->stride + b * STRIP;
	const double *slope = l->slope + i * l->stride + b * STRIP;
	const double *alpha = l->alpha + b * STRIP;
	size_t n = l->data->n, at = b * STRIP;
	int q;

	for (q = 0; q < STRIP; q++)
		w[q] = (l->alpha[i] * alpha[q] - inverse[q]) * slope[q];
	for (q = 0; q < STRIP && at + q <= i; q++)
		w[q] = 0;
	for (q = STRIP; q > 0 && at + q > n; q--)
		w[q - 1] = 0;
}

/* The part of the coordinates, in the user's order. */
static void
gradient_reach(const struct likelihood *l, double *gradient)
{
	const struct gp_coordinates *shape = &l->shape;
	double *sum = kernel_alloc(shape->d, 1);
	double *c = kernel_alloc(shape->d, 1), w[STRIP];
	const double *at;
	size_t i, j, b;

	memset(sum, 0, shape->d * sizeof *sum);
	for (i = 0; i < l->data->n; i++) {
		at = gp_tile_at(&l->strips, shape, i / STRIP) + i % STRIP;
		for (j = 0; j < shape->d; j++)
			c[j] = at[j * STRIP];
		for (b = i / STRIP; b < l->strips.count; b++) {
			weights(l, i, b, w);
			gp_tile_spread(
			    shape, c, gp_tile_at(&l->strips, shape, b), w, sum);
		}
	}
	for (j = 0; j < shape->d; j++)
		gradient[shape->from[j]] = sum[j];
	free(sum);
	free(c);
}

/* The sum over pairs of the weight times M of the local variation. */
static double
local_pairs(const struct likelihood *l)
{
	const struct gp_coordinates *shape = &l->shape;
	double *c = kernel_alloc(shape->d, 1), k[STRIP], sum = 0;
	const double *at, *inverse;
	size_t i, j, b, n = l->data->n;
	int q;

	for (i = 0; i < n && shape->local > 0; i++) {
		at = gp_tile_at(&l->strips, shape, i / STRIP) + i % STRIP;
		for (j = 0; j < shape->d; j++)
			c[j] = at[j * STRIP];
		for (b = i / STRIP; b < l->strips.count; b++) {
			if (!gp_tile_local(
				shape, c, gp_tile_at(&l->strips, shape, b), k))
				continue;
			inverse = l->k + i * l->stride + b * STRIP;
			for (q = 0; q < STRIP; q++)
				if (b * STRIP + q > i && b * STRIP + q < n)
					sum += (l->alpha[i] *
						       l->alpha[b * STRIP + q] -
						   inverse[q]) *
					       k[q];
		}
	}
	free(c);
	return sum;
}

/* Signal, noise and local variation: traces, of which that of K is known. */
static void
gradient_diagonal(
    const struct likelihood *l, double fit, const double *theta, double *out)
{
	size_t i, n = l->data->n;
	double w, sum = 0, noise = 0, local;

	for (i = 0; i < n; i++) {
		w = l->alpha[i] * l->alpha[i] - l->k[i * (l->stride + 1)];
		sum += w;
		noise += w * noise_of(l, i);
	}
	local = l->shape.local * (sum + 2 * local_pairs(l));
	out[0] = 0.5 * (fit - (double)n - noise - local);
	out[1] = 0.5 * exp(theta[l->shape.d + 1]) * sum;
	out[2] = 0.5 * local;
}

/* One vector of hyperparameters. */
static int
evaluate(
    struct likelihood *l, const double *theta, double *value, double *gradient)
{
	size_t i, n = l->data->n, d = l->data->d;
	double fit = 0, det = 0;
	int step = factorise(l);

	*value = -INFINITY;
	memset(gradient, 0, (d + 3) * sizeof *gradient);
	if (step < 0)
		return step;
	for (i = 0; i < n; i++)
		det -= log(l->k[i * (l->stride + 1)]);
	memcpy(l->alpha, l->data->y, n * sizeof *l->alpha);
	lapack_inverse_times(l->k, n, l->stride, l->alpha);
	for (i = 0; i < n; i++)
		fit += l->alpha[i] * l->data->y[i];
	*value = -0.5 * fit - det - 0.5 * (double)n * LN_2PI;
	gradient_reach(l, gradient);
	gradient_diagonal(l, fit, theta, gradient + d);
	return step;
}

void
gp_likelihood(void *dev, const struct gp_data *data, const double *theta,
    size_t r, double *value, double *gradient, int *status)
{
	struct likelihood l = { .data = data,
		.stride = gp_likelihood_stride(data->n) };
	size_t i, d = data->d;

	(void)dev;
	l.k = kernel_alloc(l.stride, data->n);
	l.slope = kernel_alloc(l.stride, data->n);
	l.alpha = kernel_alloc(l.stride, 1);
	memset(l.alpha, 0, l.stride * sizeof *l.alpha);
	for (i = 0; i < r; i++, theta += d + 3) {
		gp_coordinates_init(&l.shape, data, theta);
		gp_coordinates_tiles(
		    &l.strips, &l.shape, data->x, data->n, NULL);
		status[i] =
		    evaluate(&l, theta, value + i, gradient + i * (d + 3));
		gp_coordinates_tiles_free(&l.strips);
		gp_coordinates_free(&l.shape);
	}
	free(l.k);
	free(l.slope);
	free(l.alpha);
}
