/*
 * Cholesky by rows: what a row of the factor explains is taken off the rows below
 * it, so that all loops go along rows, in vectors.
 */

#include <math.h>

#include "kernels/target-clones.h"
#include "strategies/cholesky/cholesky.h"

enum { WIDE = 8 };

typedef double row_vec __attribute__((vector_size(64), aligned(8), may_alias));

/* to[i] -= w a[i] for i from first to n. */
static inline __attribute__((always_inline)) void
cholesky_take(double *to, double w, const double *a, size_t first, size_t n)
{
	size_t i = first;

	for (; i + WIDE <= n; i += WIDE)
		*(row_vec *)(to + i) -= w * *(const row_vec *)(a + i);
	for (; i < n; i++)
		to[i] -= w * a[i];
}

CLONES static bool
factor_best(double *a, size_t n)
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
			cholesky_take(a + i * n, row[i], row, i, n);
	}
	return true;
}

CLONES static void
forward_rows(const double *u, size_t n, size_t first, double *x)
{
	size_t k;

	for (u += first * n, k = first; k < n; k++, u += n) {
		x[k] /= u[k];
		cholesky_take(x, x[k], u, k + 1, n);
	}
}

bool
cholesky_factor(double *a, size_t n)
{
	return factor_best(a, n);
}

void
cholesky_forward(const double *u, size_t n, size_t first, double *x)
{
	forward_rows(u, n, first, x);
}

void
cholesky_back(const double *u, size_t n, double *x)
{
	double sum;
	size_t i, k;

	for (k = n; k-- > 0;) {
		for (sum = x[k], i = k + 1; i < n; i++)
			sum -= u[k * n + i] * x[i];
		x[k] = sum / u[k * n + k];
	}
}
