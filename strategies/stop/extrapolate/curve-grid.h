/*
 * A curve at up to 64 marks that lie evenly along the steps of a trial, so that
 * long curves cost no more than short ones.  The value at a mark is the mean of
 * the finite reports since the mark before, up to the first report at or past
 * this one; with at most 64 steps that is the report itself.
 */

#ifndef HPOTUNE_CURVE_GRID_H
#define HPOTUNE_CURVE_GRID_H

#include <stddef.h>
#include <stdint.h>

struct curve;

enum { CURVE_GRID_MAX = 64 };

struct curve_grid {
	int64_t steps; /* of a whole trial, at least 2 */
	size_t n;
};

void curve_grid_init(struct curve_grid *, int64_t steps);
/*
 * Steps done after report i: its step, or one more for a curve whose first
 * step is 0.
 */
int64_t curve_grid_steps_done(const struct curve *, size_t i);
/* How many marks a curve has passed with report i. */
size_t
curve_grid_passed(const struct curve_grid *, const struct curve *, size_t i);
/*
 * The values at the marks that reports 0 … i have passed, and how many those
 * are.  Infinite: no report there was finite; NaN: jumped over, with the report
 * that stands at the next mark that has a value.
 */
size_t curve_grid_read(const struct curve_grid *, const struct curve *,
    size_t i, double values[CURVE_GRID_MAX]);

#endif /* HPOTUNE_CURVE_GRID_H */
