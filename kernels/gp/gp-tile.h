/*
 * The basic operation on covariances: one point against a strip of 64 others.
 * In a strip the values of one coordinate are contiguous, so a loop over the 64
 * is vectorised, and a strip stays in the L1 cache while many points are
 * processed.
 */

#ifndef HPOTUNE_GP_TILE_H
#define HPOTUNE_GP_TILE_H

#include <stddef.h>

#include "kernels/kernels.h"

enum { STRIP = 64 };

/* How coordinates enter the covariance: numbers first, then categories. */
struct gp_coordinates {
	size_t d, numbers; /* the first numbers of d are numeric */
	size_t *from; /* d: index of the user's coordinate */
	double *scale; /* d: sqrt(a) of a number, a of a category */
	double signal; /* s */
	double noise; /* variance of each observation */
	double local; /* variance of the local variation */
};

/*
 * n points in strips: each strip has d rows of STRIP; the last one is padded.
 */
struct gp_tiles {
	size_t n, count;
	double *z;
};

/* theta as in kernels.h. */
void gp_coordinates_init(
    struct gp_coordinates *, const struct gp_data *, const double *theta);
void gp_coordinates_free(struct gp_coordinates *);
/* Convert a point to the order and scale of the shape; z has d numbers. */
void
gp_coordinates_place(const struct gp_coordinates *, const double *x, double *z);
/* The points x[order[0]], …; order NULL: as they are. */
void gp_coordinates_tiles(struct gp_tiles *, const struct gp_coordinates *,
    const double *x, size_t n, const size_t *order);
void gp_coordinates_tiles_free(struct gp_tiles *);

/* The strip b. */
static inline const double *
gp_tile_at(
    const struct gp_tiles *s, const struct gp_coordinates *shape, size_t b)
{
	return s->z + b * shape->d * STRIP;
}

/* Squared distances, STRIP of them. */
void gp_tile_distance(const struct gp_coordinates *, const double *c,
    const double *strip, double *r2);
/* Covariances s M, and those of the local variation. */
void gp_tile_values(const struct gp_coordinates *, const double *c,
    const double *strip, double *k);
/* The same, and their derivatives by the squared distance. */
void gp_tile_both(const struct gp_coordinates *, const double *c,
    const double *strip, double *k, double *slope);
/*
 * M of the local variation.  0: it is 0 in all of the strip, and k is not
 * written.
 */
int gp_tile_local(const struct gp_coordinates *, const double *c,
    const double *strip, double *k);
/* sum of k[i] w[i] over a strip. */
double gp_tile_dot(const double *k, const double *w);
/*
 * sum[j] += sum over the strip of w times the squared distance in coordinate j.
 */
void gp_tile_spread(const struct gp_coordinates *, const double *c,
    const double *strip, const double *w, double *sum);
/*
 * sum[j] += sum over the strip of w times the difference c - z in numeric
 * coordinate j.
 */
void gp_tile_pull(const struct gp_coordinates *, const double *c,
    const double *strip, const double *w, double *sum);

#endif /* HPOTUNE_GP_TILE_H */
