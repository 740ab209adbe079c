/* Where there is room for another attempt. */

#ifndef HPOTUNE_CAPACITY_H
#define HPOTUNE_CAPACITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct live_trial;
struct tuner;

enum { CAPACITY_BACKENDS_MAX = 64 };
/* Where the next attempts can go: a free slot of each backend, or -1. */
struct capacity {
	int slot[CAPACITY_BACKENDS_MAX];
	bool any;
};
/* limits.parallel, over all backends; 0 = not given. */
int64_t capacity_parallel(const struct tuner *);
void capacity_find(struct tuner *, struct capacity *);
/* The backend for a waiting trial, or with NULL for a new one; or -1. */
int capacity_backend(
    const struct tuner *, const struct capacity *, const struct live_trial *);
/*
 * Whether limits.cost is all that prevents the start of waiting and new trials;
 * why then holds the reason.
 */
bool capacity_cost_blocks(struct tuner *, char *why, size_t n);
/*
 * Record the upper bound of running attempts' cost; least: the total if all
 * ended now.
 */
void capacity_put_costs(struct tuner *, double *least);

#endif /* HPOTUNE_CAPACITY_H */
