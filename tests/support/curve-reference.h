/* Curves for the learning-curve bank, many at once. */

#ifndef HPOTUNE_CURVE_REFERENCE_H
#define HPOTUNE_CURVE_REFERENCE_H

#include "kernels/kernels.h"

struct many {
	size_t m, slots, *n;
	double *y, *threshold;
	struct curve_guess *out; /* of two backends */
};

/* With holes; of each some values, or none, are known. */
void many_make(struct many *, size_t slots, size_t m);
void many_free(struct many *);
/*
 * The largest difference of the guesses: chances, means and deviations are all
 * of the size of 1.
 */
double
many_apart(const struct many *, const struct kernels *, const struct kernels *);

#endif /* HPOTUNE_CURVE_REFERENCE_H */
