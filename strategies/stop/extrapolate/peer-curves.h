/*
 * Competitors: at each mark the values of all trials that reached it, and how
 * many were stopped before.  Smaller is better.
 *
 * A cache: its contents depend on the curves in the history and on which trials
 * were stopped, not on the order of the calls.
 */

#ifndef HPOTUNE_PEER_CURVES_H
#define HPOTUNE_PEER_CURVES_H

#include <stddef.h>
#include <stdint.h>

#include "strategies/stop/extrapolate/curve-grid.h"

struct peer_curves;
struct history;

struct peer_curves *peer_curves_new(int64_t steps);
void peer_curves_free(struct peer_curves *);
/* Call after each history_report. */
void peer_curves_observe(
    struct peer_curves *, const struct history *, int64_t trial, int64_t step);
/* Call after history_end and history_retry. */
void
peer_curves_ended(struct peer_curves *, const struct history *, int64_t trial);

const struct curve_grid *peer_curves_grid(const struct peer_curves *);
/* The best finite value reported by any trial; infinite = none. */
double peer_curves_best(const struct peer_curves *);
/* The median of the finite values at this mark (from 0); NaN = none. */
double peer_curves_median(const struct peer_curves *, size_t mark);
/*
 * How many trials are ahead of a value at this mark, and of how many.  Trials
 * stopped before it count, as behind.
 */
int64_t peer_curves_count_ahead(
    const struct peer_curves *, size_t mark, double value, int64_t *all);
/* The value of this rank (from 0) at a mark; infinite if there is none. */
double peer_curves_rank(const struct peer_curves *, size_t mark, int64_t rank);

#endif /* HPOTUNE_PEER_CURVES_H */
