/*
 * The probability of a trial to end below a given value, by the learning-curve
 * bank, in units of its competitors.
 */

#ifndef HPOTUNE_WIN_PROBABILITY_H
#define HPOTUNE_WIN_PROBABILITY_H

#include <stdbool.h>
#include <stddef.h>

#include "strategies/stop/extrapolate/curve-grid.h"

struct curve_guess;
struct peer_curves;
struct win_probability;

enum { WIN_PROBABILITY_MIN = 4 }; /* minimum number of values */

/* For curves with this many marks, at least 2; temper: see kernels.h. */
struct win_probability *win_probability_new(size_t marks, double temper);
void win_probability_free(struct win_probability *);
/*
 * The probability that a curve with these values at its first marks ends below
 * a goal; mean and sd in the curve's units.  False: unknown, because of too few
 * values, or because no competitor improves.
 */
bool win_probability_estimate(const struct win_probability *,
    const struct peer_curves *, const double values[CURVE_GRID_MAX],
    size_t passed, double goal, struct curve_guess *);

#endif /* HPOTUNE_WIN_PROBABILITY_H */
