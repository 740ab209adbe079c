/* Binary search in sorted arrays. */

#include "src/base/search.h"

size_t
search_lower_bound(const double *sorted, size_t n, double x)
{
	size_t at;

	SEARCH_FIRST(at, n, sorted[at] < x);
	return at;
}
