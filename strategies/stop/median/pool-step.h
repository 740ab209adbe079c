/*
 * What the members of a pool have at one step: numbers of which those around the
 * rank of the share are in order, or their sum.
 */

#ifndef HPOTUNE_POOL_STEP_H
#define HPOTUNE_POOL_STEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "strategies/stop/median/order-window.h"
#include "strategies/stop/median/pool.h"

/* The two ranks next to the aggregate, and its distance from the first. */
struct pool_ranks {
	int64_t first, second;
	double share;
};

struct pool_step {
	int64_t key;
	double share; /* of the rule at this key */
	int64_t gone; /* trials stopped before it, when it was asked last */
	bool filled; /* the following fields are valid */
	int64_t seen; /* trials with a report here */
	int64_t n; /* those whose value is not NaN */
	struct order_window
	    window; /* their values, unless the mean is wanted */
	double sum, rest; /* sum + rest is the sum in double-double precision */
};

/* Cells in the order of their keys. */
struct pool_steps {
	struct pool_step **all;
	size_t n, cap;
	size_t hint; /* last cell found */
};

/* The first cell at or after the key. */
size_t pool_steps_from(const struct pool_steps *, int64_t key);
/* The cell of this key, or NULL. */
struct pool_step *pool_steps_find(struct pool_steps *, int64_t key);
/* The same, created empty if missing; filled: whether it is valid. */
struct pool_step *pool_steps_make(
    struct pool_steps *, const struct pool_rule *, int64_t key, bool filled);
void pool_steps_free(struct pool_steps *);

/* Whether v is used for medians and means. */
bool pool_step_counts(const struct pool_rule *, double v);
/* Where the aggregate of n numbers is. */
struct pool_ranks
pool_step_ranks(const struct pool_rule *, double share, int64_t n);
/* Add (sign 1) or remove (-1) one value; size is the window's. */
void pool_step_change(struct pool_step *, const struct pool_rule *, double v,
    int sign, size_t size);
/* Start again from n values (reordered here) of seen trials. */
void pool_step_fill(struct pool_step *, const struct pool_rule *,
    double *values, size_t n, int64_t seen, size_t size);
/*
 * The aggregate of the a->n numbers, of which gone trials have none, left
 * without *skip, unless NULL.  False: it is outside the window.
 */
bool pool_step_answer(const struct pool_step *, const struct pool_rule *,
    double share, int64_t gone, const double *skip, struct pool_answer *);

#endif /* HPOTUNE_POOL_STEP_H */
