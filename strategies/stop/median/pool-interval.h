/*
 * Values that hold over intervals of steps, for pools in which trials report
 * different steps: how many hold at a step, and the one of a rank among them.
 * Sorted in blocks, so that a query costs the square root of the size and a
 * change about one block.
 */

#ifndef HPOTUNE_POOL_INTERVAL_H
#define HPOTUNE_POOL_INTERVAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pool_intervals;

struct pool_intervals *pool_intervals_new(void);
void pool_intervals_free(struct pool_intervals *);
/* v (not NaN) holds from … to, both included. */
void
pool_intervals_add(struct pool_intervals *, int64_t from, int64_t to, double v);
/* Remove what was added with the same three. */
void pool_intervals_remove(
    struct pool_intervals *, int64_t from, int64_t to, double v);
/* Number of values at step; prepares pool_intervals_rank for it. */
int64_t pool_intervals_at(struct pool_intervals *, int64_t step);
/*
 * The value of this rank (from 0) at the step of the last pool_intervals_at,
 * not counting one copy of *skip unless that is NULL.
 */
double pool_intervals_rank(
    const struct pool_intervals *, int64_t rank, const double *skip);

#endif /* HPOTUNE_POOL_INTERVAL_H */
