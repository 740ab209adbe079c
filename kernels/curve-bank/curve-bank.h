/* The learning-curve bank, for the kernel tables. */

#ifndef HPOTUNE_CURVE_BANK_H
#define HPOTUNE_CURVE_BANK_H

#include "kernels/kernels.h"

struct curve_bank *curve_bank_new(void *dev, size_t slots);
void curve_bank_free(void *dev, struct curve_bank *);
void curve_bank_guess(void *dev, const struct curve_bank *, const double *y,
    size_t n, double temper, double threshold, struct curve_guess *);

#endif /* HPOTUNE_CURVE_BANK_H */
