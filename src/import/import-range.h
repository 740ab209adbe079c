/* Ranges of numbers that other tools have: with a prior, a step, a condition. */

#ifndef HPOTUNE_IMPORT_RANGE_H
#define HPOTUNE_IMPORT_RANGE_H

#include <stdbool.h>

struct import;

struct import_range {
	double min, max; /* values of the parameter; NAN: those of the prior */
	double mean, sd; /* of the prior, on the scale; sd 0 = none */
	double step; /* 0 = none */
	bool log;
	bool whole; /* an int */
};

/* Whether a number is whole and exact as a double. */
bool import_range_is_whole(double);
/*
 * Make the bounds multiples of the step, within those that it has; a prior has
 * bounds at 4 sd.
 */
void import_range_round(struct import_range *);
/* Write it as the parameter of this name; when: its condition as JSON, or NULL. */
void import_range_put(struct import *, const char *name,
    const struct import_range *, const char *when);

#endif /* HPOTUNE_IMPORT_RANGE_H */
