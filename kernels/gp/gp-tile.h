/*
 * The basic operation on covariances: one point against a strip of 64 others.
 * In a strip the values of one coordinate are contiguous, so a loop over 16 of
 * them is vectorised, and a strip stays in the L1 cache while many points are
 * processed.  The first and the last strip of a row need not be processed
 * completely: from and to are positions in it, multiples of GROUP.
 */

#ifndef HPOTUNE_GP_TILE_H
#define HPOTUNE_GP_TILE_H

#include <stddef.h>

#include "kernels/formulas.h"
#include "kernels/kernels.h"

enum {
	STRIP = 64,
	GROUP = 16, /* positions of a strip that are processed at once */
	LANES = 8 /* sums of one coordinate */
};

/* How coordinates enter the covariance: numbers first, then categories. */
struct gp_coordinates {
	size_t d, numbers; /* the first numbers of d are numeric */
	size_t *from; /* d: index of the user's coordinate */
	double *scale; /* d: sqrt(a) of a number, a of a category */
	double signal; /* s */
	double noise; /* variance of each observation */
	double local; /* variance of the local variation */
	struct matern form; /* but of the local variation */
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

/* Of n points, the end of those in strip b, as a multiple of GROUP. */
size_t gp_tile_end(size_t n, size_t b);

/* Squared distances. */
void gp_tile_distance(const struct gp_coordinates *, const double *c,
    const double *strip, size_t to, double *r2);
/* Covariances s M, and those of the local variation. */
void gp_tile_values(const struct gp_coordinates *, const double *c,
    const double *strip, size_t from, size_t to, double *k);
/* Covariances at squared distances. */
void gp_tile_values_at(
    const struct gp_coordinates *, const double *r2, size_t to, double *k);
/*
 * Squared distances of a point whose coordinate j becomes z instead of c; rounding
 * may leave a little less than 0, which becomes 0.
 */
void gp_tile_shift(const struct gp_coordinates *, size_t j, double c, double z,
    const double *strip, size_t to, double *r2);
/*
 * Covariances, their derivatives by the squared distance, and M of the local
 * variation.
 */
void gp_tile_both(const struct gp_coordinates *, const double *c,
    const double *strip, size_t from, size_t to, double *k, double *slope,
    double *local);
/* sum of k[i] w[i]. */
double gp_tile_dot(const double *k, const double *w, size_t to);

/* Pairs of a point with a strip; the arrays are indexed by position. */
struct gp_tile_pairs {
	int first, end; /* others weigh nothing */
	double own; /* alpha of the point */
	const double *alpha, *inverse;
	const double *slope, *local; /* from gp_tile_both */
};

/*
 * With w = own alpha - inverse: add w slope times the squared difference, or for
 * categories whether there is one, to the LANES sums of each coordinate, and w
 * local to those after them.
 */
void gp_tile_gradient(const struct gp_coordinates *, const double *c,
    const double *strip, const struct gp_tile_pairs *, size_t from, size_t to,
    double *total);
/* The sum of eight lanes. */
static inline double
gp_tile_sum(const double *l)
{
	return ((l[0] + l[4]) + (l[2] + l[6])) +
	       ((l[1] + l[5]) + (l[3] + l[7]));
}

/* The sum of coordinate j. */
double gp_tile_total(const double *total, size_t j);
/*
 * sum[j] += sum of w times the difference c - z in numeric coordinate j.
 */
void gp_tile_pull(const struct gp_coordinates *, const double *c,
    const double *strip, size_t to, const double *w, double *sum);

#endif /* HPOTUNE_GP_TILE_H */
