/* The density of mixtures; see kernels.h, mix.c. */

#ifndef HPOTUNE_MIX_H
#define HPOTUNE_MIX_H

#include "kernels/kernels.h"

void mix_density(void *dev, const struct mix *, const double *x,
    const double *more, size_t m, double *out);

#endif /* HPOTUNE_MIX_H */
