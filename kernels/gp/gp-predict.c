/*
 * Mean and variance at given points, and their gradients (Rasmussen and
 * Williams, eq. 2.25 and 2.26).  Covariances have one column per point.
 */

#include <cblas.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/alloc.h"
#include "kernels/gp/gp-few.h"
#include "kernels/gp/gp-model.h"

enum { TOGETHER = 256 /* maximum number of columns in memory */ };

/* Below this share of the signal a variance is nothing but rounding. */
#define LEAST_VARIANCE 1e-14

/* The variance after the data removed this much of the signal. */
double
gp_predict_variance(const struct gp *gp, double taken)
{
	double all = gp->shape.signal + gp->shape.local;
	double least = LEAST_VARIANCE * all;
	double left = all - taken;

	return left > least ? left : least;
}

/* m points in the order and scale of the shape; free it. */
double *
gp_predict_place(const struct gp *gp, const double *x, size_t m)
{
	size_t i, d = gp->shape.d;
	double *z = kernel_alloc(m, d);

	for (i = 0; i < m; i++)
		gp_coordinates_place(&gp->shape, x + i * d, z + i * d);
	return z;
}

/* Covariances of a strip of rows with m placed points: columns of stride. */
void
gp_predict_cross(const struct gp *gp, size_t strip, const double *z, size_t m,
    double *k, size_t stride)
{
	const double *at = gp_tile_at(&gp->strips, &gp->shape, strip);
	size_t i, d = gp->shape.d, to = gp_tile_end(gp->strips.n, strip);

	for (i = 0; i < m; i++)
		gp_tile_values(
		    &gp->shape, z + i * d, at, 0, to, k + i * stride);
}

/* Means at m placed points. */
void
gp_predict_means(const struct gp *gp, const double *z, size_t m, double *mean)
{
	size_t first, i, b, n, to, d = gp->shape.d;
	const double *at;
	double k[STRIP];

	memset(mean, 0, m * sizeof *mean);
	for (first = 0; first < m; first += n) {
		n = m - first < TOGETHER ? m - first : TOGETHER;
		for (b = 0; b * STRIP < gp->n; b++) {
			at = gp_tile_at(&gp->strips, &gp->shape, b);
			to = gp_tile_end(gp->n, b);
			for (i = first; i < first + n; i++) {
				gp_tile_values(
				    &gp->shape, z + i * d, at, 0, to, k);
				mean[i] +=
				    gp_tile_dot(k, gp->alpha + b * STRIP, to);
			}
		}
	}
}

/* The columns of m points, with means. */
static void
columns_fill(const struct gp *gp, const double *z, size_t m, double *k,
    size_t stride, double *mean)
{
	size_t b, i;

	memset(mean, 0, m * sizeof *mean);
	for (b = 0; b < gp->strips.count; b++) {
		gp_predict_cross(gp, b, z, m, k + b * STRIP, stride);
		for (i = 0; i < m && b * STRIP < gp->n; i++)
			mean[i] += gp_tile_dot(k + i * stride + b * STRIP,
			    gp->alpha + b * STRIP, gp_tile_end(gp->n, b));
	}
}

/* From covariances to variances: k becomes L^-1 k. */
void
gp_predict_solve(
    const struct gp *gp, double *k, size_t m, size_t stride, double *variance)
{
	size_t i, n = gp->strips.n;
	double *column;

	if (m <= GP_FEW)
		gp_few_forward(gp->factor, n, gp->stride, k, m, stride);
	else if (n > 0)
		cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans,
		    CblasNonUnit, (int)n, (int)m, 1, gp->factor,
		    (int)gp->stride, k, (int)stride);
	for (i = 0; i < m; i++) {
		column = k + i * stride;
		variance[i] = gp_predict_variance(
		    gp, cblas_ddot((int)n, column, 1, column, 1));
	}
}

/* k becomes L^-T k. */
static void
columns_back(const struct gp *gp, double *k, size_t m, size_t stride)
{
	size_t n = gp->strips.n;

	if (m <= GP_FEW)
		gp_few_back(gp->factor, n, gp->stride, k, m, stride);
	else if (n > 0)
		cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, CblasTrans,
		    CblasNonUnit, (int)n, (int)m, 1, gp->factor,
		    (int)gp->stride, k, (int)stride);
}

void
gp_predict(void *dev, const struct gp *gp, const double *x, size_t m,
    double *mean, double *variance)
{
	size_t stride = gp->strips.count * STRIP, i, some;
	double *z = gp_predict_place(gp, x, m), *k;

	(void)dev;
	if (variance == NULL)
		gp_predict_means(gp, z, m, mean);
	else {
		k = kernel_alloc(stride, TOGETHER);
		for (i = 0; i < m; i += some) {
			some = m - i < TOGETHER ? m - i : TOGETHER;
			columns_fill(
			    gp, z + i * gp->shape.d, some, k, stride, mean + i);
			gp_predict_solve(gp, k, some, stride, variance + i);
		}
		free(k);
	}
	free(z);
}

/*
 * The slopes at one placed point; u: K^-1 k.  The derivative of a covariance by
 * a scaled coordinate is 2 s M' times the difference.
 */
static void
slope_at(const struct gp *gp, const double *z, const double *u, double *d_mean,
    double *d_variance)
{
	const struct gp_coordinates *shape = &gp->shape;
	size_t b, j, q, to, n = gp->strips.n;
	double *sum = kernel_alloc(2, shape->d), *more = sum + shape->d;
	double k[STRIP], slope[STRIP], local[STRIP], w[STRIP], v[STRIP];
	const double *strip;

	memset(sum, 0, 2 * shape->d * sizeof *sum);
	for (b = 0; b * STRIP < n; b++) {
		strip = gp_tile_at(&gp->strips, shape, b);
		to = gp_tile_end(n, b);
		gp_tile_both(shape, z, strip, 0, to, k, slope, local);
		for (q = 0; q < to; q++) {
			w[q] = slope[q] * gp->alpha[b * STRIP + q];
			v[q] =
			    b * STRIP + q < n ? slope[q] * u[b * STRIP + q] : 0;
		}
		gp_tile_pull(shape, z, strip, to, w, sum);
		gp_tile_pull(shape, z, strip, to, v, more);
	}
	for (j = 0; j < shape->d; j++) {
		d_mean[shape->from[j]] = 2 * shape->scale[j] * sum[j];
		d_variance[shape->from[j]] = -4 * shape->scale[j] * more[j];
	}
	free(sum);
}

void
gp_slope(void *dev, const struct gp *gp, const double *x, size_t m,
    double *mean, double *variance, double *d_mean, double *d_variance)
{
	size_t stride = gp->strips.count * STRIP, i, q, some, d = gp->shape.d;
	double *z = gp_predict_place(gp, x, m),
	       *k = kernel_alloc(stride, TOGETHER);

	(void)dev;
	for (i = 0; i < m; i += some) {
		some = m - i < TOGETHER ? m - i : TOGETHER;
		columns_fill(gp, z + i * d, some, k, stride, mean + i);
		gp_predict_solve(gp, k, some, stride, variance + i);
		columns_back(gp, k, some, stride);
		for (q = 0; q < some; q++)
			slope_at(gp, z + (i + q) * d, k + q * stride,
			    d_mean + (i + q) * d, d_variance + (i + q) * d);
	}
	free(k);
	free(z);
}
