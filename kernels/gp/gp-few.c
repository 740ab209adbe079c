/*
 * Triangular systems with few right-hand sides, as local searches have.
 * OpenBLAS copies the whole triangle for each of them, which takes longer than
 * the arithmetic.  Here eight right-hand sides are one vector, and the triangle
 * is read in place.
 */

#include <stdlib.h>
#include <string.h>

#include "kernels/alloc.h"
#include "kernels/formulas.h"
#include "kernels/gp/gp-few.h"
#include "kernels/target-clones.h"

/*
 * As local searches have.  OpenBLAS copies the whole triangle for each of them,
 * which takes longer than the arithmetic.  Here eight right-hand sides are one
 * vector, and the triangle is read in place.
 */

enum {
	LANE = 8, /* right-hand sides in a vector */
	AT_ONCE = 4 /* unknowns whose sums are in registers */
};

typedef double vec __attribute__((vector_size(64), aligned(64), may_alias));

/*
 * One unknown after another, from i to end; the part of those before known has
 * been taken off.
 */
static inline __attribute__((always_inline)) void
forward_some(
    const double *l, size_t known, size_t i, size_t end, size_t stride, vec *x)
{
	size_t j;
	vec sum;

	for (; i < end; i++) {
		sum = x[i];
		for (j = known; j < i; j++)
			sum -= l[j * stride + i] * x[j];
		x[i] = sum / l[i * stride + i];
	}
}

CLONES static void
forward_best(const double *l, size_t n, size_t stride, double *room)
{
	vec *x = (vec *)room, a, b, c, d;
	const double *at;
	size_t i, j;

	for (i = 0; i + AT_ONCE <= n; i += AT_ONCE) {
		a = x[i];
		b = x[i + 1];
		c = x[i + 2];
		d = x[i + 3];
		for (at = l + i, j = 0; j < i; j++, at += stride) {
			a -= at[0] * x[j];
			b -= at[1] * x[j];
			c -= at[2] * x[j];
			d -= at[3] * x[j];
		}
		x[i] = a;
		x[i + 1] = b;
		x[i + 2] = c;
		x[i + 3] = d;
		forward_some(l, i, i, i + AT_ONCE, stride, x);
	}
	forward_some(l, 0, i, n, stride, x);
}

/* With the transposed triangle, from the last unknown to the first. */
CLONES static void
back_best(const double *l, size_t n, size_t stride, double *room)
{
	vec *x = (vec *)room, a, b, c, d;
	const double *at;
	size_t i = n, j, k;

	for (; i % AT_ONCE != 0; i--) {
		at = l + (i - 1) * stride;
		a = x[i - 1];
		for (j = i; j < n; j++)
			a -= at[j] * x[j];
		x[i - 1] = a / at[i - 1];
	}
	for (; i > 0; i -= AT_ONCE) {
		at = l + (i - AT_ONCE) * stride;
		a = x[i - 4];
		b = x[i - 3];
		c = x[i - 2];
		d = x[i - 1];
		for (j = i; j < n; j++) {
			a -= at[j] * x[j];
			b -= at[stride + j] * x[j];
			c -= at[2 * stride + j] * x[j];
			d -= at[3 * stride + j] * x[j];
		}
		x[i - 4] = a;
		x[i - 3] = b;
		x[i - 2] = c;
		x[i - 1] = d;
		for (k = i; k-- > i - AT_ONCE;) {
			a = x[k];
			for (j = k + 1; j < i; j++)
				a -= l[k * stride + j] * x[j];
			x[k] = a / l[k * stride + k];
		}
	}
}

/* Up to LANE columns at a time, as rows of vectors. */
static void
few_solve(void (*solve)(const double *, size_t, size_t, double *),
    const double *l, size_t n, size_t stride, double *k, size_t m,
    size_t k_stride)
{
	double *room = kernel_alloc(n, LANE);
	size_t first, some, i, q;

	for (first = 0; first < m; first += some, k += some * k_stride) {
		some = m - first < LANE ? m - first : LANE;
		memset(room, 0, n * LANE * sizeof *room);
		for (q = 0; q < some; q++)
			for (i = 0; i < n; i++)
				room[i * LANE + q] = k[q * k_stride + i];
		solve(l, n, stride, room);
		for (q = 0; q < some; q++)
			for (i = 0; i < n; i++)
				k[q * k_stride + i] = room[i * LANE + q];
	}
	free(room);
}

void
gp_few_forward(const double *l, size_t n, size_t stride, double *k, size_t m,
    size_t k_stride)
{
	few_solve(forward_best, l, n, stride, k, m, k_stride);
}

void
gp_few_back(const double *l, size_t n, size_t stride, double *k, size_t m,
    size_t k_stride)
{
	few_solve(back_best, l, n, stride, k, m, k_stride);
}
