/*
 * How far behind the best completed trials were: at each of their reports, the
 * number of other trials that were better at that step.  What the study's own
 * best trials recovered from is no reason to stop another one.
 *
 * A cache: results depend on the curves and the ends in the history alone.
 */

#ifndef HPOTUNE_BEST_RANKS_H
#define HPOTUNE_BEST_RANKS_H

#include <stddef.h>
#include <stdint.h>

#include "strategies/stop/median/curve-summary.h"

struct history;
struct best_ranks;

/* most: trials that are looked at; own, other: of them, and of all others. */
struct best_ranks *
best_ranks_new(size_t most, const struct curve_summary_rule *own,
    const struct curve_summary_rule *other);
void best_ranks_free(struct best_ranks *);
/* Call after each history_report. */
void best_ranks_observe(
    struct best_ranks *, const struct history *, int64_t trial, int64_t step);
/* Call after history_end and history_retry. */
void
best_ranks_ended(struct best_ranks *, const struct history *, int64_t trial);
/*
 * One of the best completed trials that at some report at or after the step,
 * but its last, had at least so many better ones than it has in the end among
 * the best; 0: none.  Time: that of the reports of the best, and of all reports
 * when one of them is new; mostly that of one comparison.
 */
int64_t best_ranks_find(
    struct best_ranks *, const struct history *, int64_t step, int64_t behind);

#endif /* HPOTUNE_BEST_RANKS_H */
