/* The rungs of successive halving, and the trials on them. */

#ifndef HPOTUNE_HALVING_RUNGS_H
#define HPOTUNE_HALVING_RUNGS_H

#include <stddef.h>
#include <stdint.h>

#include "strategies/stop/halving/top-quantile.h"

struct curve;
struct history;

enum {
	HALVING_RUNGS_MAX = 63
}; /* with a factor of 2, more would exceed int64_t */

/*
 * The rungs of successive halving: steps that grow by a factor, and at each the
 * values of the trials that reached it.  A trial is on a rung with its first
 * report at or past the rung's step; NaN is on none.
 *
 * A cache: its contents depend on the curves alone.
 */
struct halving_rungs {
	size_t n;
	int64_t steps[HALVING_RUNGS_MAX]; /* ascending, from 1 */
	struct top_quantile cuts[HALVING_RUNGS_MAX];
};

/* Rungs at unit * factor^rate, unit * factor^(rate + 1), … */
void halving_rungs_init(
    struct halving_rungs *, int64_t unit, int64_t factor, int64_t rate);

void halving_rungs_free(struct halving_rungs *);

/* The rungs of report i: from … to - 1.  Several, if it jumps. */
void halving_rungs_span(const struct halving_rungs *, const struct curve *,
    size_t i, size_t *from, size_t *to);

/*
 * A new report takes the rungs between the previous report and itself; a
 * repeated one replaces its own.
 */
void halving_rungs_observe(struct halving_rungs *, const struct history *,
    int64_t trial, int64_t step);

/* Add all that a trial reported before the ladder existed. */
void halving_rungs_load(
    struct halving_rungs *, const struct history *, int64_t trial);

#endif /* HPOTUNE_HALVING_RUNGS_H */
