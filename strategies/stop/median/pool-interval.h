/*
 * Values that hold over spans of steps, for pools in which every trial reports
 * other steps: how many hold at a step, and the one of a rank among them.
 * Blocks in the order of the values, so that a question costs the square root
 * of what there is and a change little more than a block.
 */

#ifndef HPOTUNE_POOL_INTERVAL_H
#define HPOTUNE_POOL_INTERVAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct spans;

struct spans *spans_new(void);
void spans_free(struct spans *);
/* v (not NaN) holds from … to, both included. */
void spans_add(struct spans *, int64_t from, int64_t to, double v);
/* Takes back what was added with the same three. */
void spans_remove(struct spans *, int64_t from, int64_t to, double v);
/* How many hold at step; prepares spans_rank for it. */
int64_t spans_at(struct spans *, int64_t step);
/*
 * The value of this rank (from 0) among those at the step of the newest
 * spans_at, not counting one copy of *skip unless that is NULL.
 */
double spans_rank(const struct spans *, int64_t rank, const double *skip);

#endif /* HPOTUNE_POOL_INTERVAL_H */
