/*
 * A Gaussian process word for word as kernels/kernels.h defines it, in long
 * double, one number after the other; and random problems for it.
 */

#ifndef HPOTUNE_GP_REFERENCE_H
#define HPOTUNE_GP_REFERENCE_H

#include <stddef.h>

#include "kernels/kernels.h"

struct rng;

struct problem {
	struct gp_data data;
	double *x, *y, *extra, *theta; /* theta: d + 2 */
	unsigned char *category;
};

/*
 * n points of d coordinates in the unit cube, the first categories of them
 * whole numbers; theta of ordinary size.
 */
void problem_make(struct problem *, struct rng *, size_t n, size_t d,
    size_t categories, double noise_floor);
void problem_free(struct problem *);
/* One more point of the same kind. */
void problem_point(const struct problem *, struct rng *, double *x);

long double long_covariance(const struct gp_data *, const double *theta,
    const double *, const double *);
/* NaN when the covariance is not positive definite in long double either. */
long double long_likelihood(const struct gp_data *, const double *theta);
/* The numeric derivative by theta[j]. */
long double long_slope(const struct gp_data *, const double *theta, size_t j);
/* With k pending points. */
void
long_predict(const struct gp_data *, const double *theta, const double *pending,
    size_t k, const double *x, long double *mean, long double *variance);
/* ln of the expected improvement. */
long double
long_improvement(long double mean, long double variance, long double best);

#endif /* HPOTUNE_GP_REFERENCE_H */
