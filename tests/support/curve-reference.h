/* Curves for the learning-curve bank, many at once. */

#ifndef HPOTUNE_CURVE_REFERENCE_H
#define HPOTUNE_CURVE_REFERENCE_H

#include "kernels/kernels.h"

struct curve_reference {
	size_t m, slots, *n;
	double *y, *threshold;
	struct curve_guess *out; /* of two backends */
};

/* With holes; of each some values, or none, are known. */
void curve_reference_make(struct curve_reference *, size_t slots, size_t m);
void curve_reference_free(struct curve_reference *);
/*
 * The largest difference of the guesses: chances, means and deviations are all
 * of the size of 1.
 */
double curve_reference_difference(const struct curve_reference *,
    const struct kernels *, const struct kernels *);

#endif /* HPOTUNE_CURVE_REFERENCE_H */
