/*
 * A trial's chance to end better than a given value, by the learning-curve
 * bank, in the units of the field it runs in.
 */

#ifndef HPOTUNE_WIN_PROBABILITY_H
#define HPOTUNE_WIN_PROBABILITY_H

#include <stdbool.h>
#include <stddef.h>

#include "strategies/stop/extrapolate/curve-grid.h"

struct curve_guess;
struct field;
struct odds;

enum { ODDS_LEAST = 4 }; /* values that a chance needs */

/* For curves with so many marks, at least 2; temper: see kernels.h. */
struct odds *odds_new(size_t marks, double temper);
void odds_free(struct odds *);
/*
 * The chance of a curve with these values at its first marks to end below a
 * goal; mean and sd in the curve's units.  False: nothing can be said, for
 * want of values, or because nobody in the field gets better.
 */
bool odds_guess(const struct odds *, const struct field *,
    const double values[MARKS_MOST], size_t passed, double goal,
    struct curve_guess *);

#endif /* HPOTUNE_WIN_PROBABILITY_H */
