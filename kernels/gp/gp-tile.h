/*
 * The tile under all work with covariances: one point against a strip of 64
 * others.  In a strip the numbers of one coordinate lie together, so a loop
 * over the 64 becomes vectors, and a strip stays in the first cache while many
 * points are held against it.
 */

#ifndef HPOTUNE_GP_TILE_H
#define HPOTUNE_GP_TILE_H

#include <stddef.h>

enum { STRIP = 64 };

/* How coordinates enter the covariance: numbers first, then categories. */
struct shape {
	size_t d, numbers; /* the first so many are numbers */
	size_t *from; /* d: the user's coordinate */
	double *scale; /* d: sqrt(a) of a number, a of a category */
	double signal; /* s */
	double noise; /* of each observation */
};

/* n points in strips: strip by strip d rows of STRIP; the last is filled up. */
struct strips {
	size_t n, count;
	double *z;
};

/* theta as in kernels.h. */
void shape_init(struct shape *, const unsigned char *category, size_t d,
    const double *theta, double noise_floor);
void shape_free(struct shape *);
/* A point in the order and scale of the shape; z has d numbers. */
void shape_place(const struct shape *, const double *x, double *z);
/* The points x[order[0]], …; order NULL: as they are. */
void strips_init(struct strips *, const struct shape *, const double *x,
    size_t n, const size_t *order);
void strips_free(struct strips *);

/* The strip b. */
static inline const double *
strips_at(const struct strips *s, const struct shape *shape, size_t b)
{
	return s->z + b * shape->d * STRIP;
}

/* Squared distances, STRIP of them. */
void strip_distance(
    const struct shape *, const double *c, const double *strip, double *r2);
/* Covariances s M. */
void strip_values(
    const struct shape *, const double *c, const double *strip, double *k);
/* The same, and s M' (by the squared distance). */
void strip_both(const struct shape *, const double *c, const double *strip,
    double *k, double *slope);
/* sum of k[i] w[i] over a strip. */
double strip_dot(const double *k, const double *w);
/* sum[j] += sum over the strip of w times the squared distance in j. */
void strip_spread(const struct shape *, const double *c, const double *strip,
    const double *w, double *sum);
/* sum[j] += sum over the strip of w times the difference c - z in j, numbers. */
void strip_pull(const struct shape *, const double *c, const double *strip,
    const double *w, double *sum);

#endif /* HPOTUNE_GP_TILE_H */
