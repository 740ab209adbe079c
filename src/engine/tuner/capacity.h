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
	bool last[CAPACITY_BACKENDS_MAX]; /* only when there is no other */
	bool any;
};
/* limits.parallel, over all backends; 0 = not given. */
int64_t capacity_parallel(const struct tuner *);
void capacity_find(struct tuner *, struct capacity *);
/* Learn what trials need of the memory of GPUs that they share, where they do. */
void capacity_learn_memory(struct tuner *);
/*
 * Tell a backend, by its index, what the trial that it gets next is likely to need of
 * it; NULL: it is not known, and needs the least that any has.
 */
void capacity_expect(struct tuner *, int backend, struct live_trial *);
/* The backend for a waiting trial, or with NULL for a new one; or -1. */
int capacity_backend(
    const struct tuner *, const struct capacity *, const struct live_trial *);
/*
 * Record the upper bound of running attempts' cost; least: the total if all
 * ended now.
 */
void capacity_put_costs(struct tuner *, double *least);
/* Cost of all attempts in dollars, or its upper bound; 0 without limits.cost. */
double capacity_committed(struct tuner *);
/*
 * Whether limits.cost allows an attempt of this trial, or of a new one (NULL),
 * on some backend; dollars are committed.
 */
bool capacity_money_for(
    const struct tuner *, const struct live_trial *, double dollars);

#endif /* HPOTUNE_CAPACITY_H */
