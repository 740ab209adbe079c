/*
 * A multiset of numbers of which only those around one rank are kept in
 * order; of the others it is known how many lie below and above.  Any rank
 * inside the window is exact; outside, the owner fills it again.
 */

#ifndef HPOTUNE_ORDER_WINDOW_H
#define HPOTUNE_ORDER_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct window {
	double *values; /* ascending */
	size_t n, cap;
	int64_t below, above; /* numbers outside, each side */
};

/* How many numbers there are. */
int64_t window_count(const struct window *);
/* False: the window has run empty and must be filled again. */
bool window_add(struct window *, double);
bool window_remove(struct window *, double);
/*
 * The number of this rank (from 0), not counting one copy of *skip if that is
 * not NULL.  False: it is not in the window.
 */
bool window_rank(
    const struct window *, int64_t rank, const double *skip, double *out);
/* Keep only size numbers around rank. */
void window_trim(struct window *, int64_t rank, size_t size);
/* Start again from n numbers, in any order and reordered here. */
void window_fill(
    struct window *, double *numbers, size_t n, int64_t rank, size_t size);
void window_free(struct window *);

#endif /* HPOTUNE_ORDER_WINDOW_H */
