/*
 * Mean and variance at given points, and their gradients (Rasmussen and
 * Williams, eq. 2.25 and 2.26).  Covariances have one column per point.
 */

#include <cblas.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/alloc.h"
#include "kernels/formulas.h"
#include "kernels/gp/gp-model.h"
#include "kernels/gp/gp-sweep.h"
#include "kernels/target-clones.h"

/* ---- triangular systems with few right-hand sides ----------------------- */

/*
 * As local searches have.  OpenBLAS copies the whole triangle for each of them,
 * which takes longer than the arithmetic.  Here eight right-hand sides are one
 * vector, and the triangle is read in place.
 */

enum {
	LANE = 8, /* right-hand sides in a vector */
	AT_ONCE = 4 /* unknowns whose sums are in registers */
};

typedef double vec __attribute__((vector_size(64), aligned(64), may_alias));

/*
 * One unknown after another, from i to end; the part of those before known has
 * been taken off.
 */
static inline __attribute__((always_inline)) void
forward_some(
    const double *l, size_t known, size_t i, size_t end, size_t stride, vec *x)
{
	size_t j;
	vec sum;

	for (; i < end; i++) {
		sum = x[i];
		for (j = known; j < i; j++)
			sum -= l[j * stride + i] * x[j];
		x[i] = sum / l[i * stride + i];
	}
}

CLONES static void
forward_best(const double *l, size_t n, size_t stride, double *room)
{
	vec *x = (vec *)room, a, b, c, d;
	const double *at;
	size_t i, j;

	for (i = 0; i + AT_ONCE <= n; i += AT_ONCE) {
		a = x[i];
		b = x[i + 1];
		c = x[i + 2];
		d = x[i + 3];
		for (at = l + i, j = 0; j < i; j++, at += stride) {
			a -= at[0] * x[j];
			b -= at[1] * x[j];
			c -= at[2] * x[j];
			d -= at[3] * x[j];
		}
		x[i] = a;
		x[i + 1] = b;
		x[i + 2] = c;
		x[i + 3] = d;
		forward_some(l, i, i, i + AT_ONCE, stride, x);
	}
	forward_some(l, 0, i, n, stride, x);
}

/* With the transposed triangle, from the last unknown to the first. */
CLONES static void
back_best(const double *l, size_t n, size_t stride, double *room)
{
	vec *x = (vec *)room, a, b, c, d;
	const double *at;
	size_t i = n, j, k;

	for (; i % AT_ONCE != 0; i--) {
		at = l + (i - 1) * stride;
		a = x[i - 1];
		for (j = i; j < n; j++)
			a -= at[j] * x[j];
		x[i - 1] = a / at[i - 1];
	}
	for (; i > 0; i -= AT_ONCE) {
		at = l + (i - AT_ONCE) * stride;
		a = x[i - 4];
		b = x[i - 3];
		c = x[i - 2];
		d = x[i - 1];
		for (j = i; j < n; j++) {
			a -= at[j] * x[j];
			b -= at[stride + j] * x[j];
			c -= at[2 * stride + j] * x[j];
			d -= at[3 * stride + j] * x[j];
		}
		x[i - 4] = a;
		x[i - 3] = b;
		x[i - 2] = c;
		x[i - 1] = d;
		for (k = i; k-- > i - AT_ONCE;) {
			a = x[k];
			for (j = k + 1; j < i; j++)
				a -= l[k * stride + j] * x[j];
			x[k] = a / l[k * stride + k];
		}
	}
}

/* Up to LANE columns at a time, as rows of vectors. */
static void
few_solve(void (*solve)(const double *, size_t, size_t, double *),
    const double *l, size_t n, size_t stride, double *k, size_t m,
    size_t k_stride)
{
	double *room = kernel_alloc(n, LANE);
	size_t first, some, i, q;

	for (first = 0; first < m; first += some, k += some * k_stride) {
		some = m - first < LANE ? m - first : LANE;
		memset(room, 0, n * LANE * sizeof *room);
		for (q = 0; q < some; q++)
			for (i = 0; i < n; i++)
				room[i * LANE + q] = k[q * k_stride + i];
		solve(l, n, stride, room);
		for (q = 0; q < some; q++)
			for (i = 0; i < n; i++)
				k[q * k_stride + i] = room[i * LANE + q];
	}
	free(room);
}

void
gp_predict_forward(const double *l, size_t n, size_t stride, double *k,
    size_t m, size_t k_stride)
{
	few_solve(forward_best, l, n, stride, k, m, k_stride);
}

void
gp_predict_back(const double *l, size_t n, size_t stride, double *k, size_t m,
    size_t k_stride)
{
	few_solve(back_best, l, n, stride, k, m, k_stride);
}

/* ---- means and variances at given points -------------------------------- */

enum { TOGETHER = 256 /* maximum number of columns in memory */ };

/* Below this share of the signal a variance is nothing but rounding. */
#define LEAST_VARIANCE 1e-14

/* The variance after the data removed this much of the signal. */
static double
variance_of(const struct gp *gp, double taken)
{
	double all = gp->shape.signal + gp->shape.local;
	double least = LEAST_VARIANCE * all;
	double left = all - taken;

	return left > least ? left : least;
}

/* m points in the order and scale of the shape; free it. */
static double *
points_place(const struct gp *gp, const double *x, size_t m)
{
	size_t i, d = gp->shape.d;
	double *z = kernel_alloc(m, d);

	for (i = 0; i < m; i++)
		gp_coordinates_place(&gp->shape, x + i * d, z + i * d);
	return z;
}

/* Covariances of a strip of rows with m placed points: columns of stride. */
static void
cross_fill(const struct gp *gp, size_t strip, const double *z, size_t m,
    double *k, size_t stride)
{
	const double *at = gp_tile_at(&gp->strips, &gp->shape, strip);
	size_t i, d = gp->shape.d, to = gp_tile_end(gp->strips.n, strip);

	for (i = 0; i < m; i++)
		gp_tile_values(
		    &gp->shape, z + i * d, at, 0, to, k + i * stride);
}

/* Means at m placed points. */
static void
means_fill(const struct gp *gp, const double *z, size_t m, double *mean)
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
		cross_fill(gp, b, z, m, k + b * STRIP, stride);
		for (i = 0; i < m && b * STRIP < gp->n; i++)
			mean[i] += gp_tile_dot(k + i * stride + b * STRIP,
			    gp->alpha + b * STRIP, gp_tile_end(gp->n, b));
	}
}

/* From covariances to variances: k becomes L^-1 k. */
static void
columns_solve(
    const struct gp *gp, double *k, size_t m, size_t stride, double *variance)
{
	size_t i, n = gp->strips.n;
	double *column;

	if (m <= GP_FEW)
		gp_predict_forward(gp->factor, n, gp->stride, k, m, stride);
	else if (n > 0)
		cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans,
		    CblasNonUnit, (int)n, (int)m, 1, gp->factor,
		    (int)gp->stride, k, (int)stride);
	for (i = 0; i < m; i++) {
		column = k + i * stride;
		variance[i] =
		    variance_of(gp, cblas_ddot((int)n, column, 1, column, 1));
	}
}

/* k becomes L^-T k. */
static void
columns_back(const struct gp *gp, double *k, size_t m, size_t stride)
{
	size_t n = gp->strips.n;

	if (m <= GP_FEW)
		gp_predict_back(gp->factor, n, gp->stride, k, m, stride);
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
	double *z = points_place(gp, x, m), *k;

	(void)dev;
	if (variance == NULL)
		means_fill(gp, z, m, mean);
	else {
		k = kernel_alloc(stride, TOGETHER);
		for (i = 0; i < m; i += some) {
			some = m - i < TOGETHER ? m - i : TOGETHER;
			columns_fill(
			    gp, z + i * gp->shape.d, some, k, stride, mean + i);
			columns_solve(gp, k, some, stride, variance + i);
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
	double *z = points_place(gp, x, m), *k = kernel_alloc(stride, TOGETHER);

	(void)dev;
	for (i = 0; i < m; i += some) {
		some = m - i < TOGETHER ? m - i : TOGETHER;
		columns_fill(gp, z + i * d, some, k, stride, mean + i);
		columns_solve(gp, k, some, stride, variance + i);
		columns_back(gp, k, some, stride);
		for (q = 0; q < some; q++)
			slope_at(gp, z + (i + q) * d, k + q * stride,
			    d_mean + (i + q) * d, d_variance + (i + q) * d);
	}
	free(k);
	free(z);
}

/* ---- the best of many --------------------------------------------------- */

/*
 * The CPU backend of gp-sweep.c: means, and the triangular solve for a strip of
 * rows at a time.  One column per active candidate; dropping some compacts the
 * columns.
 */

enum { FIRST = 64 /* as many as are wanted, usually */ };

struct under_way {
	const struct gp *gp;
	double best;
	const double *z; /* placed candidates, by number */
	size_t m;
	double *mean; /* by number */
	/* By place. */
	size_t *number;
	double *point, *column, *taken;
	size_t stride;
};

static int
way_means(void *arg, double *mean)
{
	struct under_way *w = arg;

	means_fill(w->gp, w->z, w->m, w->mean);
	memcpy(mean, w->mean, w->m * sizeof *mean);
	return 0;
}

static int
way_load(void *arg, const size_t *number, size_t m)
{
	struct under_way *w = arg;
	size_t i, d = w->gp->shape.d;

	for (i = 0; i < m; i++) {
		w->number[i] = number[i];
		w->taken[i] = 0;
		memcpy(w->point + i * d, w->z + number[i] * d,
		    d * sizeof *w->point);
	}
	return 0;
}

/* at is the first row of a strip: k becomes L^-1 k in these rows. */
static int
way_solve(void *arg, size_t at, size_t rows, size_t m, double *score)
{
	struct under_way *w = arg;
	const struct gp *gp = w->gp;
	const double *l = gp->factor + at;
	double *k = w->column + at, sum, *v;
	size_t i, q;

	cross_fill(gp, at / STRIP, w->point, m, k, w->stride);
	if (at > 0)
		cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans,
		    (int)rows, (int)m, (int)at, -1, l, (int)gp->stride,
		    w->column, (int)w->stride, 1, k, (int)w->stride);
	cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans,
	    CblasNonUnit, (int)rows, (int)m, 1, l + at * gp->stride,
	    (int)gp->stride, k, (int)w->stride);
	for (i = 0; i < m; i++) {
		v = k + i * w->stride;
		for (sum = 0, q = 0; q < rows; q++)
			sum += v[q] * v[q];
		w->taken[i] += sum;
		score[i] = log_improvement(w->mean[w->number[i]],
		    variance_of(gp, w->taken[i]), w->best);
	}
	return 0;
}

static int
way_keep(void *arg, const size_t *which, size_t left, size_t solved)
{
	struct under_way *w = arg;
	size_t i, from, d = w->gp->shape.d;

	for (i = 0; i < left; i++) {
		from = which[i];
		if (from == i)
			continue;
		w->number[i] = w->number[from];
		w->taken[i] = w->taken[from];
		memcpy(w->point + i * d, w->point + from * d,
		    d * sizeof *w->point);
		memcpy(w->column + i * w->stride, w->column + from * w->stride,
		    solved * sizeof *w->column);
	}
	return 0;
}

size_t
gp_top(void *dev, const struct gp *gp, const double *x, size_t m, double best,
    size_t k, size_t *index, double *score, struct gp_sweep *said)
{
	double *z = points_place(gp, x, m);
	struct under_way w = { .gp = gp, .best = best, .z = z, .m = m };
	struct gp_sweep_device way = { .arg = &w,
		.rows = gp->strips.n,
		.block = STRIP,
		.first = FIRST,
		.together = TOGETHER,
		.signal = gp->shape.signal + gp->shape.local,
		.best = best,
		.means = way_means,
		.load = way_load,
		.solve = way_solve,
		.keep = way_keep };
	size_t found;

	(void)dev;
	w.stride = gp->strips.count * STRIP;
	w.mean = kernel_alloc(m, 1);
	w.number = kernel_alloc_sizes(TOGETHER);
	w.point = kernel_alloc(TOGETHER, gp->shape.d);
	w.column = kernel_alloc(TOGETHER, w.stride);
	w.taken = kernel_alloc(TOGETHER, 1);
	found = gp_sweep_top(&way, m, k, index, score, said);
	free(w.taken);
	free(w.column);
	free(w.point);
	free(w.number);
	free(w.mean);
	free(z);
	return found;
}
