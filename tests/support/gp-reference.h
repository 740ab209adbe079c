/*
 * A Gaussian process as defined in kernels/kernels.h, in long double, without
 * optimisation; and random problems for it.
 */

#ifndef HPOTUNE_GP_REFERENCE_H
#define HPOTUNE_GP_REFERENCE_H

#include <stddef.h>

#include "kernels/kernels.h"

struct rng;

struct gp_reference {
	struct gp_data data;
	double *x, *y, *extra, *theta; /* theta: d + 3 */
	unsigned char *category;
};

/*
 * n points of d coordinates in the unit cube, the first categories of them
 * whole numbers; theta of ordinary size.  A third of the points are next to
 * another, within the reach of the local variation.  Whether it is rough is
 * random, too.
 */
void gp_reference_make(struct gp_reference *, struct rng *, size_t n, size_t d,
    size_t categories, double noise_floor);
void gp_reference_free(struct gp_reference *);
/* One more point of the same kind. */
void gp_reference_point(const struct gp_reference *, struct rng *, double *x);

long double gp_reference_covariance(const struct gp_data *, const double *theta,
    const double *, const double *);
/* NaN when the covariance is not positive definite in long double either. */
long double
gp_reference_likelihood(const struct gp_data *, const double *theta);
/* The numeric derivative by theta[j]. */
long double
gp_reference_slope(const struct gp_data *, const double *theta, size_t j);
/* With k pending points. */
void gp_reference_predict(const struct gp_data *, const double *theta,
    const double *pending, size_t k, const double *x, long double *mean,
    long double *variance);
/* ln of the expected improvement. */
long double gp_reference_improvement(
    long double mean, long double variance, long double best);

#endif /* HPOTUNE_GP_REFERENCE_H */
