/*
 * The log marginal likelihood of hyperparameters and its gradient (Rasmussen
 * and Williams, "Gaussian processes for machine learning", 2006, eq. 5.8 and
 * 5.9).  One vector after the other: the factor and its inverse take n^3,
 * everything else one pass over the triangle each.
 */

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/alloc.h"
#include "kernels/gp/gp-model.h"
#include "kernels/gp/gp-tile.h"
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
	double *local; /* M of the local variation */
	double *alpha; /* K^-1 y */
};

/* A stride with room for whole strips that is not a power of two. */
size_t
gp_likelihood_stride(size_t n)
{
	size_t stride = (n + STRIP - 1) / STRIP * STRIP;

	return stride % 512 == 0 ? stride + STRIP : stride;
}

/* From which position of strip b a row of the lower triangle is needed. */
static size_t
row_from(size_t row, size_t b)
{
	return b == row / STRIP ? row % STRIP / GROUP * GROUP : 0;
}

/*
 * The covariance of n points, lower triangle, without noise; slope and local as
 * of gp_tile_both, or NULL.
 */
void
gp_likelihood_matrix(const struct gp_coordinates *shape,
    const struct gp_tiles *t, double *k, double *slope, double *local,
    size_t stride)
{
	size_t i, j, b, at, from, to;
	double *c = kernel_alloc(shape->d, 1);
	const double *strip;

	for (i = 0; i < t->n; i++) {
		strip = gp_tile_at(t, shape, i / STRIP) + i % STRIP;
		for (j = 0; j < shape->d; j++)
			c[j] = strip[j * STRIP];
		for (b = i / STRIP; b < t->count; b++) {
			at = i * stride + b * STRIP;
			strip = gp_tile_at(t, shape, b);
			from = row_from(i, b);
			to = gp_tile_end(t->n, b);
			if (slope == NULL)
				gp_tile_values(
				    shape, c, strip, from, to, k + at);
			else
				gp_tile_both(shape, c, strip, from, to, k + at,
				    slope + at, local + at);
		}
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
		    &l->shape, &l->strips, l->k, l->slope, l->local, l->stride);
		diagonal = l->shape.signal * (1 + l->jitter) + l->shape.local;
		for (i = 0; i < n; i++)
			l->k[i * (l->stride + 1)] = diagonal + noise_of(l, i);
		if (lapack_factor_inverse(l->k, n, l->stride) == 0)
			return step;
	}
	return -1;
}

/*
 * The sums over pairs of (alpha alpha' - K^-1) times s M' and the squared
 * difference in each coordinate, in the user's order; returned is that with M
 * of the local variation.
 */
static double
gradient_reach(const struct likelihood *l, double *gradient)
{
	const struct gp_coordinates *shape = &l->shape;
	double *c = kernel_alloc(shape->d, 1), sum;
	double *total = kernel_alloc(LANES, shape->d + 1);
	size_t i, j, b, at, n = l->data->n;
	const double *strip;
	struct gp_tile_pairs p;

	memset(total, 0, LANES * (shape->d + 1) * sizeof *total);
	for (i = 0; i < n; i++) {
		strip = gp_tile_at(&l->strips, shape, i / STRIP) + i % STRIP;
		for (j = 0; j < shape->d; j++)
			c[j] = strip[j * STRIP];
		for (b = i / STRIP; b < l->strips.count; b++) {
			at = i * l->stride + b * STRIP;
			p = (struct gp_tile_pairs){
				.first = (int)i + 1 - (int)(b * STRIP),
				.end = (int)(n - b * STRIP),
				.own = l->alpha[i],
				.alpha = l->alpha + b * STRIP,
				.inverse = l->k + at,
				.slope = l->slope + at,
				.local = l->local + at,
			};
			gp_tile_gradient(shape, c,
			    gp_tile_at(&l->strips, shape, b), &p,
			    row_from(i, b), gp_tile_end(n, b), total);
		}
	}
	for (j = 0; j < shape->d; j++)
		gradient[shape->from[j]] =
		    gp_tile_total(total, j) *
		    (j < shape->numbers ? 1 : shape->scale[j]);
	sum = gp_tile_total(total, shape->d);
	free(total);
	free(c);
	return sum;
}

/*
 * Signal, noise and local variation: traces, of which that of K is
 * known.  pairs: the sum over pairs of the local variation.
 */
static void
gradient_diagonal(const struct likelihood *l, double fit, double pairs,
    const double *theta, double *out)
{
	size_t i, n = l->data->n;
	double w, sum = 0, noise = 0, local;

	for (i = 0; i < n; i++) {
		w = l->alpha[i] * l->alpha[i] - l->k[i * (l->stride + 1)];
		sum += w;
		noise += w * noise_of(l, i);
	}
	local = l->shape.local * (sum + 2 * pairs);
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
	double fit = 0, det = 0, pairs;
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
	pairs = gradient_reach(l, gradient);
	gradient_diagonal(l, fit, pairs, theta, gradient + d);
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
	l.local = kernel_alloc(l.stride, data->n);
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
	free(l.local);
	free(l.alpha);
}
