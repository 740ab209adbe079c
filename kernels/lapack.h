/*
 * The linear algebra that is used, on column-major matrices of which only the
 * lower triangle is used.  LAPACK is called by its own names, because some
 * builds of OpenBLAS lack LAPACKE.
 */

#ifndef HPOTUNE_LAPACK_H
#define HPOTUNE_LAPACK_H

#include <stddef.h>

/* Steps of jitter that a factorisation may take: 1e-10 … 1e-4 of the signal. */
enum { LAPACK_JITTER_STEPS = 7 };

double lapack_jitter(int step);
/* a = l l'.  0, or -1 when a is not positive definite. */
int lapack_factor(double *a, size_t n, size_t stride);
/* a becomes l^-1.  0, or -1 as above. */
int lapack_factor_inverse(double *a, size_t n, size_t stride);
/* x = a^-1 x, and then a becomes a^-1; a: l^-1. */
void lapack_inverse_times(double *a, size_t n, size_t stride, double *x);
/* x = (l l')^-1 x for one vector. */
void lapack_solve(const double *l, size_t n, size_t stride, double *x);
/* See kernels.h. */
int lapack_eigen(void *dev, double *a, size_t n, double *values);

#endif /* HPOTUNE_LAPACK_H */
