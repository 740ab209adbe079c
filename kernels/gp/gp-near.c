/*
 * Many points that differ from one in few coordinates, as a local search over
 * levels compares.
 */

#include <stdlib.h>
#include <string.h>

#include "kernels/alloc.h"
#include "kernels/gp/gp-near.h"
#include "kernels/gp/gp-tile.h"

enum { TOGETHER = 256 /* maximum number of columns in memory */ };

void
gp_near_init(struct gp_near *b, const struct gp *gp, const double *base)
{
	size_t i;

	b->gp = gp;
	b->base = gp_predict_place(gp, base, 1);
	b->r2 = kernel_alloc(gp->strips.count, STRIP);
	b->moved = kernel_alloc_sizes(gp->shape.d);
	for (i = 0; i < gp->strips.count; i++)
		gp_tile_distance(&gp->shape, b->base,
		    gp_tile_at(&gp->strips, &gp->shape, i),
		    gp_tile_end(gp->strips.n, i), b->r2 + i * STRIP);
}

void
gp_near_free(struct gp_near *b)
{
	free(b->base);
	free(b->r2);
	free(b->moved);
}

/* How many coordinates of a placed point differ; which ones: moved. */
static size_t
near_moved(const struct gp_near *b, const double *z)
{
	size_t d = b->gp->shape.d, moved = 0, j;

	for (j = 0; j < d; j++)
		if (z[j] != b->base[j])
			b->moved[moved++] = j;
	return moved;
}

/* Covariances of a strip of rows with a point of which so many differ. */
static void
near_strip(const struct gp_near *b, size_t strip, const double *z, size_t moved,
    double *k)
{
	const struct gp *gp = b->gp;
	const double *at = gp_tile_at(&gp->strips, &gp->shape, strip);
	size_t to = gp_tile_end(gp->strips.n, strip), i;
	double r2[STRIP];

	memcpy(r2, b->r2 + strip * STRIP, to * sizeof *r2);
	for (i = 0; i < moved; i++)
		gp_tile_shift(&gp->shape, b->moved[i], b->base[b->moved[i]],
		    z[b->moved[i]], at, to, r2);
	gp_tile_values_at(&gp->shape, r2, to, k);
}

void
gp_near_cross(const struct gp_near *b, size_t strip, const double *z, double *k)
{
	near_strip(b, strip, z, near_moved(b, z), k);
}

/* Covariances with a placed point, or room for a strip; returns its mean. */
static double
near_column(const struct gp_near *b, const double *z, double *k, size_t step)
{
	const struct gp *gp = b->gp;
	size_t moved = near_moved(b, z), i;
	double mean = 0;

	for (i = 0; i < gp->strips.count; i++, k += step) {
		if (step == 0 && i * STRIP >= gp->n)
			break;
		near_strip(b, i, z, moved, k);
		if (i * STRIP < gp->n)
			mean += gp_tile_dot(
			    k, gp->alpha + i * STRIP, gp_tile_end(gp->n, i));
	}
	return mean;
}

void
gp_near_means(const struct gp_near *b, const double *z, size_t m, double *mean)
{
	double k[STRIP];
	size_t i;

	for (i = 0; i < m; i++)
		mean[i] = near_column(b, z + i * b->gp->shape.d, k, 0);
}

void
gp_near(void *dev, const struct gp *gp, const double *base, const double *x,
    size_t m, double *mean, double *variance)
{
	size_t stride = gp->strips.count * STRIP, d = gp->shape.d, i, q, some;
	double *z = gp_predict_place(gp, x, m);
	double *k = kernel_alloc(stride, TOGETHER);
	struct gp_near b;

	(void)dev;
	gp_near_init(&b, gp, base);
	for (i = 0; i < m; i += some) {
		some = m - i < TOGETHER ? m - i : TOGETHER;
		for (q = 0; q < some; q++)
			mean[i + q] = near_column(
			    &b, z + (i + q) * d, k + q * stride, STRIP);
		gp_predict_solve(gp, k, some, stride, variance + i);
	}
	gp_near_free(&b);
	free(k);
	free(z);
}
