/*
 * The field of competitors: at each mark the values of all trials that came so
 * far, and how many were stopped on the way.  Smaller is better.
 *
 * A cache only: what is here depends on the curves in the history and on who
 * was stopped, never on the order of the calls.
 */

#ifndef HPOTUNE_PEER_CURVES_H
#define HPOTUNE_PEER_CURVES_H

#include <stddef.h>
#include <stdint.h>

#include "strategies/stop/extrapolate/curve-grid.h"

struct field;
struct history;

struct field *field_new(int64_t steps);
void field_free(struct field *);
/* After each history_report. */
void field_observe(
    struct field *, const struct history *, int64_t trial, int64_t step);
/* After history_end and history_retry. */
void field_ended(struct field *, const struct history *, int64_t trial);

const struct marks *field_marks(const struct field *);
/* The best finite value that anybody has reported; infinite = none. */
double field_best(const struct field *);
/* The median of the finite values at this mark (from 0); NaN = none. */
double field_middle(const struct field *, size_t mark);
/*
 * How many are ahead of a value at this mark, of how many.  Trials that were
 * stopped before it count, and are behind.
 */
int64_t
field_ahead(const struct field *, size_t mark, double value, int64_t *all);
/* The value of this rank (from 0) there; infinite when that is nobody. */
double field_rank(const struct field *, size_t mark, int64_t rank);

#endif /* HPOTUNE_PEER_CURVES_H */
