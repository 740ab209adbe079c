/*
 * Streaming quantile of a multiset: the worst value among the best 1/factor.
 * Smaller is better.  The result depends on the numbers only, not on their
 * order.
 */

#ifndef HPOTUNE_TOP_QUANTILE_H
#define HPOTUNE_TOP_QUANTILE_H

#include <stddef.h>
#include <stdint.h>

/* A heap of doubles, the greatest at the top. */
struct top_quantile_heap {
	double *values;
	size_t n, cap;
};

struct top_quantile {
	int64_t factor; /* the best 1 / factor, rounded down; at least one */
	struct top_quantile_heap best;
	struct top_quantile_heap rest; /* values negated */
};

void top_quantile_init(struct top_quantile *, int64_t factor);
void top_quantile_free(struct top_quantile *);
/* O(log n). v must not be NaN. */
void top_quantile_add(struct top_quantile *, double);
/* Remove a contained value, in O(n); happens only for a repeated report. */
void top_quantile_remove(struct top_quantile *, double);
size_t top_quantile_count(const struct top_quantile *);
/* Size of the best share, and its worst value; NaN when empty. */
size_t top_quantile_best(const struct top_quantile *);
double top_quantile_worst(const struct top_quantile *);

#endif /* HPOTUNE_TOP_QUANTILE_H */
