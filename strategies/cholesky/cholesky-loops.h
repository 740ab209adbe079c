/* The loops of cholesky.c for one kind of processor (kernels/kinds.h). */

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#define vec KIND(cholesky_vec)
#define take KIND(cholesky_take)

typedef double vec
    __attribute__((vector_size(KIND_WIDE * 8), aligned(8), may_alias));

/* to[i] -= w a[i] for i from first to n. */
static inline __attribute__((always_inline)) KIND_TARGET void
take(double *to, double w, const double *a, size_t first, size_t n)
{
	size_t i = first;

	for (; i + KIND_WIDE <= n; i += KIND_WIDE)
		*(vec *)(to + i) -= w * *(const vec *)(a + i);
	for (; i < n; i++)
		to[i] -= w * a[i];
}

static KIND_TARGET bool
KIND(cholesky_factor)(double *a, size_t n)
{
	double *row = a, root;
	size_t i, k;

	for (k = 0; k < n; k++, row += n) {
		if (!(row[k] > 0))
			return false;
		row[k] = sqrt(row[k]);
		root = 1 / row[k];
		for (i = k + 1; i < n; i++)
			row[i] *= root;
		for (i = k + 1; i < n; i++)
			take(a + i * n, row[i], row, i, n);
	}
	return true;
}

static KIND_TARGET void
KIND(cholesky_forward)(const double *u, size_t n, size_t first, double *x)
{
	size_t k;

	for (u += first * n, k = first; k < n; k++, u += n) {
		x[k] /= u[k];
		take(x, x[k], u, k + 1, n);
	}
}

#undef vec
#undef take
