/* Binary search in sorted numbers. */

#ifndef HPOTUNE_SEARCH_H
#define HPOTUNE_SEARCH_H

#include <stddef.h>

/* How many of n ascending numbers are smaller than x. */
size_t search_lower_bound(const double *, size_t n, double x);

#endif /* HPOTUNE_SEARCH_H */
