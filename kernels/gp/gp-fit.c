/*
 * A Gaussian process with fixed hyperparameters: order, factor, weights, and
 * pending points.
 */

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/alloc.h"
#include "kernels/gp/gp-model.h"
#include "kernels/gp/gp-tile.h"
#include "kernels/lapack.h"

struct near {
	double r2;
	size_t row;
};

static int
near_compare(const void *a, const void *b)
{
	const struct near *x = a, *y = b;

	if (x->r2 != y->r2)
		return x->r2 < y->r2 ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

size_t *
gp_fit_order(const struct gp_coordinates *shape, const struct gp_data *data)
{
	size_t *order = kernel_alloc_sizes(data->n), best = 0, i;
	struct near *near = reallocarray(NULL, data->n + 1, sizeof *near);
	double *c = kernel_alloc(shape->d, 1), r2[STRIP];
	struct gp_tiles t;

	if (near == NULL)
		abort();
	for (i = 1; i < data->n; i++)
		if (data->y[i] < data->y[best])
			best = i;
	gp_coordinates_tiles(&t, shape, data->x, data->n, NULL);
	if (data->n > 0)
		gp_coordinates_place(shape, data->x + best * data->d, c);
	for (i = 0; i < data->n; i++) {
		if (i % STRIP == 0)
			gp_tile_distance(shape, c,
			    gp_tile_at(&t, shape, i / STRIP),
			    gp_tile_end(t.n, i / STRIP), r2);
		near[i] = (struct near){ r2[i % STRIP], i };
	}
	qsort(near, data->n, sizeof *near, near_compare);
	for (i = 0; i < data->n; i++)
		order[i] = near[i].row;
	gp_coordinates_tiles_free(&t);
	free(near);
	free(c);
	return order;
}

/* The factor, with as little jitter as it needs. */
static int
fit_factor(struct gp *gp, const struct gp_data *data, const size_t *order)
{
	size_t i;
	double *a, extra;
	int step;

	for (step = 0; step <= LAPACK_JITTER_STEPS; step++) {
		gp_likelihood_matrix(&gp->shape, &gp->strips, gp->factor, NULL,
		    NULL, gp->stride);
		for (i = 0; i < gp->n; i++) {
			a = gp->factor + i * (gp->stride + 1);
			extra = data->extra != NULL ? data->extra[order[i]] : 0;
			*a = gp->shape.signal * (1 + lapack_jitter(step)) +
			     gp->shape.local + gp->shape.noise + extra;
		}
		if (lapack_factor(gp->factor, gp->n, gp->stride) == 0)
			return 0;
	}
	return -1;
}

struct gp *
gp_fit(void *dev, const struct gp_data *data, const double *theta)
{
	struct gp *gp = malloc(sizeof *gp);
	size_t *order, i;
	int made;

	if (gp == NULL)
		abort();
	gp_coordinates_init(&gp->shape, data, theta);
	order = gp_fit_order(&gp->shape, data);
	gp_coordinates_tiles(&gp->strips, &gp->shape, data->x, data->n, order);
	gp->n = data->n;
	gp->stride = gp_likelihood_stride(gp->n);
	gp->factor = kernel_alloc(gp->stride, gp->n);
	gp->alpha = kernel_alloc(gp->stride, 1);
	memset(gp->alpha, 0, gp->stride * sizeof *gp->alpha);
	made = fit_factor(gp, data, order);
	if (made == 0) {
		for (i = 0; i < gp->n; i++)
			gp->alpha[i] = data->y[order[i]];
		lapack_solve(gp->factor, gp->n, gp->stride, gp->alpha);
	}
	free(order);
	if (made == 0)
		return gp;
	gp_free(dev, gp);
	return NULL;
}

void
gp_free(void *dev, struct gp *gp)
{
	(void)dev;
	if (gp == NULL)
		return;
	gp_coordinates_free(&gp->shape);
	gp_coordinates_tiles_free(&gp->strips);
	free(gp->factor);
	free(gp->alpha);
	free(gp);
}

/* Room for k more points: strips, factor and weights get longer. */
static void
gp_fit_grow(struct gp *gp, const double *z, size_t k)
{
	size_t was = gp->strips.n, n = was + k,
	       stride = gp_likelihood_stride(n), i, j;
	size_t d = gp->shape.d, count = (n + STRIP - 1) / STRIP;
	double *factor = kernel_alloc(stride, n);
	double *alpha = kernel_alloc(stride, 1);
	double *strips = kernel_alloc(count * STRIP, d), *to;

	for (i = 0; i < was; i++)
		memcpy(factor + i * (stride + 1),
		    gp->factor + i * (gp->stride + 1),
		    (was - i) * sizeof *factor);
	memset(alpha, 0, stride * sizeof *alpha);
	memcpy(alpha, gp->alpha, gp->n * sizeof *alpha);
	memset(strips, 0, count * STRIP * d * sizeof *strips);
	memcpy(strips, gp->strips.z,
	    gp->strips.count * STRIP * d * sizeof *strips);
	for (i = was; i < n; i++) {
		to = strips + i / STRIP * d * STRIP + i % STRIP;
		for (j = 0; j < d; j++)
			to[j * STRIP] = z[(i - was) * d + j];
	}
	gp_coordinates_tiles_free(&gp->strips);
	free(gp->factor);
	free(gp->alpha);
	gp->factor = factor;
	gp->alpha = alpha;
	gp->strips = (struct gp_tiles){ n, count, strips };
	gp->stride = stride;
}

/* Covariances of the rows from was on with everything before them. */
static void
fill_rows(struct gp *gp, size_t was)
{
	size_t n = gp->strips.n, i, j, b, first, from;
	double *c = kernel_alloc(gp->shape.d, 1), k[STRIP];
	const double *at;

	for (i = 0; i < n; i++) {
		first = i < was ? was : i;
		at = gp_tile_at(&gp->strips, &gp->shape, i / STRIP) + i % STRIP;
		for (j = 0; j < gp->shape.d; j++)
			c[j] = at[j * STRIP];
		for (b = first / STRIP; b < gp->strips.count; b++) {
			gp_tile_values(&gp->shape, c,
			    gp_tile_at(&gp->strips, &gp->shape, b), 0,
			    gp_tile_end(n, b), k);
			from = b * STRIP < first ? first : b * STRIP;
			for (j = from; j < n && j < (b + 1) * STRIP; j++)
				gp->factor[i * gp->stride + j] =
				    k[j - b * STRIP];
		}
	}
	free(c);
}

/* Factorise the corner of the new rows after subtracting the older ones. */
static int
fit_corner(struct gp *gp, size_t was)
{
	size_t k = gp->strips.n - was, i;
	double *corner = gp->factor + was * (gp->stride + 1), *copy;
	int step, made = -1, lda = (int)gp->stride;

	cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, (int)k, (int)was,
	    -1, gp->factor + was, lda, 1, corner, lda);
	copy = kernel_alloc(k, k);
	for (i = 0; i < k; i++)
		memcpy(copy + i * k, corner + i * gp->stride, k * sizeof *copy);
	for (step = 0; step <= LAPACK_JITTER_STEPS && made != 0; step++) {
		for (i = 0; i < k; i++) {
			memcpy(corner + i * gp->stride, copy + i * k,
			    k * sizeof *copy);
			corner[i * (gp->stride + 1)] +=
			    gp->shape.noise +
			    gp->shape.signal * lapack_jitter(step);
		}
		made = lapack_factor(corner, k, gp->stride);
	}
	free(copy);
	return made;
}

void
gp_pend(void *dev, struct gp *gp, const double *x, size_t k)
{
	size_t was = gp->strips.n, i, d = gp->shape.d;
	double *z;

	(void)dev;
	if (k == 0)
		return;
	z = kernel_alloc(k, d);
	for (i = 0; i < k; i++)
		gp_coordinates_place(&gp->shape, x + i * d, z + i * d);
	gp_fit_grow(gp, z, k);
	free(z);
	fill_rows(gp, was);
	cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans,
	    CblasNonUnit, (int)k, (int)was, 1, gp->factor, (int)gp->stride,
	    gp->factor + was, (int)gp->stride);
	/*
	 * If the factorisation fails, the pending points are dropped: their
	 * values add nothing then.
	 */
	if (fit_corner(gp, was) != 0)
		gp->strips.n = was;
}
