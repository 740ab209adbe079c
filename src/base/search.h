/* Binary search in sorted arrays, and orders to sort by. */

#ifndef HPOTUNE_SEARCH_H
#define HPOTUNE_SEARCH_H

#include <stddef.h>
#include <stdint.h>

/*
 * Set at, a size_t, to the index of the first of n sorted elements that does not
 * satisfy before, or to n.  before is an expression of the element at, which
 * holds for a head of the array and for nothing behind it.
 */
#define SEARCH_FIRST(at, n, before)                                         \
	do {                                                                \
		size_t search_from = 0, search_to = (n);                    \
		while (search_from < search_to) {                           \
			(at) = search_from + (search_to - search_from) / 2; \
			if (before)                                         \
				search_from = (at) + 1;                     \
			else                                                \
				search_to = (at);                           \
		}                                                           \
		(at) = search_from;                                         \
	} while (0)

/* How many of n ascending numbers are smaller than x. */
static inline size_t
search_lower_bound(const double *sorted, size_t n, double x)
{
	size_t at;

	SEARCH_FIRST(at, n, sorted[at] < x);
	return at;
}

/* For qsort: ascending doubles, and int64_t. */
static inline int
search_by_double(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static inline int
search_by_int64(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

#endif /* HPOTUNE_SEARCH_H */
