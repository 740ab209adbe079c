/*
 * The rungs of successive halving: steps that grow by a factor, and at each
 * the values of the trials that came so far.  A trial stands on a rung with
 * its first report at or past the rung's step; NaN stands nowhere.
 *
 * A cache only: what is on a rung depends on the curves alone.
 */

#ifndef HPOTUNE_HALVING_RUNGS_H
#define HPOTUNE_HALVING_RUNGS_H

#include <stddef.h>
#include <stdint.h>

#include "strategies/stop/halving/top-quantile.h"

struct curve;
struct history;

enum {
	HALVING_RUNGS_MAX = 63
}; /* a factor of 2 leaves int64_t after as many */

struct halving_rungs {
	size_t n;
	int64_t steps[HALVING_RUNGS_MAX]; /* ascending, from 1 */
	struct top_quantile cuts[HALVING_RUNGS_MAX];
};

/* Rungs at unit * factor^rate, unit * factor^(rate + 1), … */
void halving_rungs_init(
    struct halving_rungs *, int64_t unit, int64_t factor, int64_t rate);
void halving_rungs_free(struct halving_rungs *);
/* After each history_report of a trial of this ladder. */
void halving_rungs_observe(struct halving_rungs *, const struct history *,
    int64_t trial, int64_t step);
/* All that a trial has reported before there was a ladder. */
void halving_rungs_load(
    struct halving_rungs *, const struct history *, int64_t trial);
/*
 * The rungs on which report i stands: from … to - 1.  Several, when it jumps.
 */
void halving_rungs_span(const struct halving_rungs *, const struct curve *,
    size_t i, size_t *from, size_t *to);

#endif /* HPOTUNE_HALVING_RUNGS_H */
