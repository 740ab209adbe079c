/*
 * Cholesky by rows: what a row of the factor explains is taken off the rows below
 * it, so that all loops go along rows, in vectors.
 */

#include "strategies/cholesky/cholesky.h"

#define KIND_LOOPS "strategies/cholesky/cholesky-loops.h"
#include "kernels/kinds.h"

bool
cholesky_factor(double *a, size_t n)
{
	return KIND_CALL(cholesky_factor, a, n);
}

void
cholesky_forward(const double *u, size_t n, size_t first, double *x)
{
	KIND_CALL(cholesky_forward, u, n, first, x);
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
