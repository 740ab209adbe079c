/*
 * A multiset of numbers of which only those around one rank are kept in order;
 * the others are only counted as below or above.  Any rank inside the window is
 * exact; outside, the owner fills it again.
 */

#ifndef HPOTUNE_ORDER_WINDOW_H
#define HPOTUNE_ORDER_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct order_window {
	double *values; /* ascending */
	size_t n, cap;
	int64_t below, above; /* numbers outside, per side */
};

/* False: the window is empty and must be filled again. */
bool order_window_add(struct order_window *, double);
bool order_window_remove(struct order_window *, double);
/*
 * The number of this rank (from 0), not counting one copy of *skip if that is
 * not NULL.  False: outside the window.
 */
bool order_window_rank(
    const struct order_window *, int64_t rank, const double *skip, double *out);
/* Keep only size numbers around rank. */
void order_window_trim(struct order_window *, int64_t rank, size_t size);
/* Start again from n numbers, in any order; reorders them. */
void order_window_fill(struct order_window *, double *numbers, size_t n,
    int64_t rank, size_t size);
void order_window_free(struct order_window *);

#endif /* HPOTUNE_ORDER_WINDOW_H */
