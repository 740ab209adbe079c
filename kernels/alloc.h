/*
 * Memory for kernels, which include nothing of src/: allocation ends the
 * program on failure, as elsewhere.
 */

#ifndef HPOTUNE_ALLOC_H
#define HPOTUNE_ALLOC_H

#include <stdint.h>
#include <stdlib.h>

/* n x m numbers, uninitialised, aligned for the widest vectors. */
static inline double *
kernel_alloc(size_t n, size_t m)
{
	void *p;

	if (m != 0 && n > (SIZE_MAX / sizeof(double) - 64) / m)
		abort();
	if (posix_memalign(&p, 64, (n * m + 1) * sizeof(double)) != 0)
		abort();
	return (double *)p;
}

static inline size_t *
kernel_alloc_sizes(size_t n)
{
	size_t *p = (size_t *)reallocarray(NULL, n + 1, sizeof *p);

	if (p == NULL)
		abort();
	return p;
}

#endif /* HPOTUNE_ALLOC_H */
