/*
 * The Cholesky factor of a small positive matrix, without LAPACK, for what is also
 * asked outside hpotune-worker.  A factor u is row-major, and only numbers at and
 * right of the diagonal are read or written: a = u' u.
 */

#ifndef HPOTUNE_CHOLESKY_H
#define HPOTUNE_CHOLESKY_H

#include <stdbool.h>
#include <stddef.h>

/* Replace the upper half of a, n x n, by u.  False: a is not positive. */
bool cholesky_factor(double *a, size_t n);
/*
 * x = u'^-1 x, whose squares sum up to x' a^-1 x; x is 0 before first, and stays so.
 */
void cholesky_forward(const double *u, size_t n, size_t first, double *x);
/* x = u^-1 x; after cholesky_forward x is a^-1 x. */
void cholesky_back(const double *u, size_t n, double *x);

#endif /* HPOTUNE_CHOLESKY_H */
