/*
 * A multiset of numbers that knows the worst of its best share.  Smaller is
 * better.  An answer depends on the numbers only, not on their order.
 */

#ifndef HPOTUNE_TOP_QUANTILE_H
#define HPOTUNE_TOP_QUANTILE_H

#include <stddef.h>
#include <stdint.h>

/* A heap of doubles, the greatest on top. */
struct heap {
	double *values;
	size_t n, cap;
};

struct cut {
	int64_t factor; /* the best 1 / factor, rounded down; at least one */
	struct heap best;
	struct heap rest; /* with the sign turned */
};

void cut_init(struct cut *, int64_t factor);
void cut_free(struct cut *);
/* O(log n).  Not NaN. */
void cut_add(struct cut *, double);
/* One that is there, in O(n): only a repeated report takes a number back. */
void cut_remove(struct cut *, double);
size_t cut_count(const struct cut *);
/* How many are the best share, and the worst of them; NaN when empty. */
size_t cut_best(const struct cut *);
double cut_worst(const struct cut *);

#endif /* HPOTUNE_TOP_QUANTILE_H */
