/*
 * Small lower triangles, column-major, of up to TRIANGLE_MOST rows.  OpenBLAS
 * has a price for each call, which is most of what such a triangle takes.
 */

#ifndef HPOTUNE_TRIANGLE_H
#define HPOTUNE_TRIANGLE_H

#include <stddef.h>

enum { TRIANGLE_MOST = 64 };

/* a = l l' becomes l^-1.  0, or -1 when a is not positive definite. */
int triangle_factor_inverse(double *a, size_t n, size_t stride);
/* The lower triangle of l' l replaces l. */
void triangle_square(double *l, size_t n, size_t stride);
/* x = l' l x, of any size. */
void triangle_times(const double *l, size_t n, size_t stride, double *x);

#endif /* HPOTUNE_TRIANGLE_H */
