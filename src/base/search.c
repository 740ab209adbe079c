/* Binary search in sorted numbers. */

#include "src/base/search.h"

size_t
search_lower_bound(const double *sorted, size_t n, double x)
{
	size_t from = 0, to = n, middle;

	while (from < to) {
		middle = from + (to - from) / 2;
		if (sorted[middle] < x)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}
