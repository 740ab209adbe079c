/*
 * A curve at up to 64 marks, evenly spaced along the steps of a trial, so that
 * long curves cost no more than short ones.  The value at a mark is the mean of
 * the finite reports since the previous mark, up to the first report at or past
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
 * Number of steps after report i: its step, plus one for a curve whose first
 * step is 0.
 */
int64_t curve_grid_steps_done(const struct curve *, size_t i);
/* Number of marks that a curve has passed with report i. */
size_t
curve_grid_passed(const struct curve_grid *, const struct curve *, size_t i);
/*
 * The values at the marks passed by reports 0 … i; returns their number.
 * Infinite: all reports were non-finite; NaN: no report, counted with the
 * report of the next mark that has one.
 */
size_t curve_grid_read(const struct curve_grid *, const struct curve *,
    size_t i, double values[CURVE_GRID_MAX]);

#endif /* HPOTUNE_CURVE_GRID_H */
