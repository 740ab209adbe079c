/* Triangular systems with few right-hand sides. */

#ifndef HPOTUNE_GP_FEW_H
#define HPOTUNE_GP_FEW_H

#include <stddef.h>

/* With more right-hand sides OpenBLAS is faster. */
enum { GP_FEW = 16 };

/*
 * Replace the m columns of k, whose first n numbers are used, by l^-1 k; l is a
 * lower triangle, column-major.
 */
void gp_few_forward(const double *l, size_t n, size_t stride, double *k,
    size_t m, size_t k_stride);
/* The same with the transposed triangle: l^-T k. */
void gp_few_back(const double *l, size_t n, size_t stride, double *k, size_t m,
    size_t k_stride);

#endif /* HPOTUNE_GP_FEW_H */
