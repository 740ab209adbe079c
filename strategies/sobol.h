/* Sobol points in bulk, for searches inside a strategy. */

#ifndef HPOTUNE_SOBOL_H
#define HPOTUNE_SOBOL_H

#include <stddef.h>
#include <stdint.h>

enum { SOBOL_DIMS = 128 };

/*
 * The first m < 2^32 points of the sequence as rows of x (m x d), all their
 * bits flipped by shift (one word per dimension): another even set for each
 * shift.  Dimensions from SOBOL_DIMS on are left unchanged.
 */
void sobol_rows(double *x, size_t m, size_t d, const uint32_t *shift);

#endif /* HPOTUNE_SOBOL_H */
