/*
 * Which trial a model of the results holds best.  With noise the best result is
 * also the luckiest: a setting whose neighbours are good is a better choice.
 */

#ifndef HPOTUNE_INCUMBENT_H
#define HPOTUNE_INCUMBENT_H

#include <stdbool.h>
#include <stddef.h>

struct space;

enum { INCUMBENT_LEAST = 12 }; /* results: fewer tell nothing of noise */

struct incumbent {
	size_t at; /* the row with the least expected loss */
	size_t looks; /* the row with the least loss */
	double expected, expected_looks; /* the losses expected there */
	double noise; /* deviation of a loss at one setting */
};

/*
 * n losses at points (n x space->n, in the unit cube, NaN = inactive).  False:
 * there are too few, or noise is not large beside the differences of good rows; the
 * best result is then what it looks like.  No random numbers: the same rows give
 * the same answer.
 */
bool incumbent_find(struct incumbent *, const struct space *, size_t n,
    const double *points, const double *losses);

#endif /* HPOTUNE_INCUMBENT_H */
