/*
 * Triangular systems with few right-hand sides, as local searches have.
 * OpenBLAS copies the whole triangle for each of them, which takes longer than
 * the arithmetic.  Here eight right-hand sides are a row, and the triangle is read in
 * place.
 */

#include <stdlib.h>
#include <string.h>

#include "kernels/alloc.h"
#include "kernels/gp/gp-few.h"

enum {
	FEW_LANE = 8, /* right-hand sides of a row */
	FEW_AT_ONCE = 4 /* unknowns whose sums are in registers */
};

#define KIND_LOOPS "kernels/gp/gp-few-loops.h"
#include "kernels/kinds.h"

static void
few_forward(const double *l, size_t n, size_t stride, double *x)
{
	KIND_CALL(few_forward, l, n, stride, x);
}

static void
few_back(const double *l, size_t n, size_t stride, double *x)
{
	KIND_CALL(few_back, l, n, stride, x);
}

/* Up to FEW_LANE columns at a time, as rows. */
static void
few_solve(void (*solve)(const double *, size_t, size_t, double *),
    const double *l, size_t n, size_t stride, double *k, size_t m,
    size_t k_stride)
{
	double *room = kernel_alloc(n, FEW_LANE);
	size_t first, some, i, q;

	for (first = 0; first < m; first += some, k += some * k_stride) {
		some = m - first < FEW_LANE ? m - first : FEW_LANE;
		memset(room, 0, n * FEW_LANE * sizeof *room);
		for (q = 0; q < some; q++)
			for (i = 0; i < n; i++)
				room[i * FEW_LANE + q] = k[q * k_stride + i];
		solve(l, n, stride, room);
		for (q = 0; q < some; q++)
			for (i = 0; i < n; i++)
				k[q * k_stride + i] = room[i * FEW_LANE + q];
	}
	free(room);
}

void
gp_few_forward(const double *l, size_t n, size_t stride, double *k, size_t m,
    size_t k_stride)
{
	few_solve(few_forward, l, n, stride, k, m, k_stride);
}

void
gp_few_back(const double *l, size_t n, size_t stride, double *k, size_t m,
    size_t k_stride)
{
	few_solve(few_back, l, n, stride, k, m, k_stride);
}
