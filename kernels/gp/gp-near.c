/*
 * Many points that differ from one in few coordinates, as a local search over
 * levels compares: the squared distances to a point are those to the base, with the
 * changed coordinates exchanged.
 */

#include <stdlib.h>
#include <string.h>

#include "kernels/alloc.h"
#include "kernels/gp/gp-model.h"
#include "kernels/gp/gp-tile.h"

enum { TOGETHER = 256 /* maximum number of columns in memory */ };

/* The base, by rows in strips. */
struct near_base {
	const struct gp *gp;
	const double *z; /* placed */
	double *r2; /* squared distances */
	size_t *moved; /* d: scratch, coordinates that differ */
};

static void
near_base_init(struct near_base *b, const struct gp *gp, const double *z)
{
	size_t i;

	b->gp = gp;
	b->z = z;
	b->r2 = kernel_alloc(gp->strips.count, STRIP);
	b->moved = kernel_alloc_sizes(gp->shape.d);
	for (i = 0; i < gp->strips.count; i++)
		gp_tile_distance(&gp->shape, z,
		    gp_tile_at(&gp->strips, &gp->shape, i),
		    gp_tile_end(gp->strips.n, i), b->r2 + i * STRIP);
}

static void
near_base_free(struct near_base *b)
{
	free(b->r2);
	free(b->moved);
}

/* Covariances with a placed point; returns its mean. */
static double
near_column(const struct near_base *b, const double *z, double *k)
{
	const struct gp *gp = b->gp;
	size_t d = gp->shape.d, moved = 0, i, j, to;
	double r2[STRIP], mean = 0;
	const double *strip;

	for (j = 0; j < d; j++)
		if (z[j] != b->z[j])
			b->moved[moved++] = j;
	for (i = 0; i < gp->strips.count; i++, k += STRIP) {
		strip = gp_tile_at(&gp->strips, &gp->shape, i);
		to = gp_tile_end(gp->strips.n, i);
		memcpy(r2, b->r2 + i * STRIP, to * sizeof *r2);
		for (j = 0; j < moved; j++)
			gp_tile_shift(&gp->shape, b->moved[j],
			    b->z[b->moved[j]], z[b->moved[j]], strip, to, r2);
		gp_tile_values_at(&gp->shape, r2, to, k);
		if (i * STRIP < gp->n)
			mean += gp_tile_dot(
			    k, gp->alpha + i * STRIP, gp_tile_end(gp->n, i));
	}
	return mean;
}

void
gp_near(void *dev, const struct gp *gp, const double *base, const double *x,
    size_t m, double *mean, double *variance)
{
	size_t stride = gp->strips.count * STRIP, d = gp->shape.d, i, q, some;
	double *z = gp_predict_place(gp, x, m);
	double *from = gp_predict_place(gp, base, 1);
	double *k = kernel_alloc(stride, TOGETHER);
	struct near_base b;

	(void)dev;
	near_base_init(&b, gp, from);
	for (i = 0; i < m; i += some) {
		some = m - i < TOGETHER ? m - i : TOGETHER;
		for (q = 0; q < some; q++)
			mean[i + q] =
			    near_column(&b, z + (i + q) * d, k + q * stride);
		gp_predict_solve(gp, k, some, stride, variance + i);
	}
	near_base_free(&b);
	free(k);
	free(from);
	free(z);
}
