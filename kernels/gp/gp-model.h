/*
 * Declarations shared by the files of the Gaussian process.  Matrices are
 * column-major lower triangles with a stride that is a multiple of STRIP, so
 * that whole strips can be written.
 */

#ifndef HPOTUNE_GP_MODEL_H
#define HPOTUNE_GP_MODEL_H

#include "kernels/kernels.h"
#include "kernels/gp/gp-tile.h"

/*
 * Observations are sorted by their distance to the best one, so that the first
 * rows of the factor already explain most of the variance near it; pending
 * points come last.
 */
struct gp {
	struct gp_coordinates shape;
	struct gp_tiles strips; /* observations, then pending */
	size_t n; /* observations; strips.n with the pending ones */
	size_t stride;
	double *factor; /* strips.n rows */
	double *alpha; /* K^-1 y; a multiple of STRIP, 0 behind n */
};

/* A stride with room for whole strips that is not a power of two. */
size_t gp_likelihood_stride(size_t n);
/*
 * The covariance of n points, lower triangle, without noise; slope and local as
 * of gp_tile_both, or NULL.
 */
void
gp_likelihood_matrix(const struct gp_coordinates *, const struct gp_tiles *,
    double *k, double *slope, double *local, size_t stride);
/* Rows sorted by their distance to the best one; free it. */
size_t *gp_fit_order(const struct gp_coordinates *, const struct gp_data *);
/* m points in the order and scale of the shape; free it. */
double *gp_predict_place(const struct gp *, const double *x, size_t m);
/* Means at m placed points. */
void
gp_predict_means(const struct gp *, const double *z, size_t m, double *mean);
/* Covariances of a strip of rows with m placed points: columns of stride. */
void gp_predict_cross(const struct gp *, size_t strip, const double *z,
    size_t m, double *k, size_t stride);
/* From m columns of covariances to variances: k becomes L^-1 k. */
void gp_predict_solve(
    const struct gp *, double *k, size_t m, size_t stride, double *variance);
/* The variance after the data removed this much of the signal. */
double gp_predict_variance(const struct gp *, double taken);

/* As in kernels.h. */
void gp_likelihood(void *dev, const struct gp_data *, const double *theta,
    size_t r, double *value, double *gradient, int *status);
struct gp *gp_fit(void *dev, const struct gp_data *, const double *theta);
void gp_free(void *dev, struct gp *);
void gp_pend(void *dev, struct gp *, const double *x, size_t k);
void gp_predict(void *dev, const struct gp *, const double *x, size_t m,
    double *mean, double *variance);
void gp_near(void *dev, const struct gp *, const double *base, const double *x,
    size_t m, double *mean, double *variance);
void gp_slope(void *dev, const struct gp *, const double *x, size_t m,
    double *mean, double *variance, double *d_mean, double *d_variance);
size_t gp_top(void *dev, const struct gp *, const double *x, size_t m,
    double best, size_t k, size_t *index, double *score, struct gp_sweep *);
size_t gp_near_top(void *dev, const struct gp *, const double *base,
    const double *x, size_t m, double best, size_t k, size_t *index,
    double *score, struct gp_sweep *);

#endif /* HPOTUNE_GP_MODEL_H */
