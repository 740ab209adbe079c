/*
 * A multiset of numbers that knows the worst of its best share.  Smaller is
 * better.  An answer depends on the numbers only, not on their order.
 */

#ifndef HPOTUNE_TOP_QUANTILE_H
#define HPOTUNE_TOP_QUANTILE_H

#include <stddef.h>
#include <stdint.h>

/* A heap of doubles, the greatest on top. */
struct top_quantile_heap {
	double *values;
	size_t n, cap;
};

struct top_quantile {
	int64_t factor; /* the best 1 / factor, rounded down; at least one */
	struct top_quantile_heap best;
	struct top_quantile_heap rest; /* with the sign turned */
};

void top_quantile_init(struct top_quantile *, int64_t factor);
void top_quantile_free(struct top_quantile *);
/* O(log n).  Not NaN. */
void top_quantile_add(struct top_quantile *, double);
/* One that is there, in O(n): only a repeated report takes a number back. */
void top_quantile_remove(struct top_quantile *, double);
size_t top_quantile_count(const struct top_quantile *);
/* How many are the best share, and the worst of them; NaN when empty. */
size_t top_quantile_best(const struct top_quantile *);
double top_quantile_worst(const struct top_quantile *);

#endif /* HPOTUNE_TOP_QUANTILE_H */
