/* Numbers in ascending order. */

#ifndef SORTED_H
#define SORTED_H

#include <stddef.h>

/* How many of n ascending numbers are smaller than x. */
size_t sorted_below(const double *, size_t n, double x);

#endif /* SORTED_H */
