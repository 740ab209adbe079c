/* Binary search in sorted arrays. */

#ifndef HPOTUNE_SEARCH_H
#define HPOTUNE_SEARCH_H

#include <stddef.h>

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

#endif /* HPOTUNE_SEARCH_H */
