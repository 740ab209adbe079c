/* Small triangles: in copies whose rows or columns are vectors of eight. */

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/alloc.h"
#include "kernels/target-clones.h"
#include "kernels/triangle.h"

enum {
	WIDE = 8,
	VECTORS = TRIANGLE_MOST / WIDE,
	AT_ONCE = 4 /* lines of one pass: a panel */
};

typedef double vec __attribute__((vector_size(64), aligned(64), may_alias));
typedef double open_vec __attribute__((vector_size(64), aligned(8), may_alias));

/* 64 lines of vectors: columns of a factor, or rows of its inverse. */
struct lines {
	vec v[TRIANGLE_MOST][VECTORS];
};

static inline double *
line(struct lines *l, size_t i)
{
	return (double *)l->v[i];
}

/* The next AT_ONCE columns and rows, from k on, complete. */
static inline __attribute__((always_inline)) int
invert_panel(struct lines *l, struct lines *x, size_t k, size_t used)
{
	size_t end = k + AT_ONCE, i, r;
	double root, part;

	for (; k < end; k++) {
		root = line(l, k)[k];
		if (!(root > 0 && isfinite(root)))
			return -1;
		root = 1 / sqrt(root);
		for (r = k / WIDE; r < used; r++)
			l->v[k][r] *= root;
		for (r = 0; r <= k / WIDE; r++)
			x->v[k][r] *= root;
		for (i = k + 1; i < end; i++) {
			part = line(l, k)[i];
			for (r = i / WIDE; r < used; r++)
				l->v[i][r] -= part * l->v[k][r];
			for (r = 0; r <= k / WIDE; r++)
				x->v[i][r] -= part * x->v[k][r];
		}
	}
	return 0;
}

/* to -= a weighted sum of AT_ONCE lines, in the vectors first to end. */
static inline __attribute__((always_inline)) void
triangle_take(
    vec *to, vec (*from)[VECTORS], const double *w, size_t first, size_t end)
{
	double a = w[0], b = w[1], c = w[2], d = w[3];
	size_t r;

	for (r = first; r < end; r++)
		to[r] -= a * from[0][r] + b * from[1][r] +
			 (c * from[2][r] + d * from[3][r]);
}

/*
 * A few columns of the factor after another, which are subtracted from the
 * columns behind them, and likewise the rows of the inverse.
 */
CLONES static int
invert_best(struct lines *l, struct lines *x, size_t n)
{
	size_t used = (n + WIDE - 1) / WIDE, i, k, q;
	double w[AT_ONCE];

	for (k = 0; k < n; k += AT_ONCE) {
		if (invert_panel(l, x, k, used) != 0)
			return -1;
		for (i = k + AT_ONCE; i < n; i++) {
			for (q = 0; q < AT_ONCE; q++)
				w[q] = line(l, k + q)[i];
			triangle_take(l->v[i], l->v + k, w, i / WIDE, used);
			triangle_take(x->v[i], x->v + k, w, 0, k / WIDE + 1);
		}
	}
	return 0;
}

/* The rows of the unit matrix that fill up whole panels. */
static size_t
panels_end(size_t n)
{
	return (n + AT_ONCE - 1) / AT_ONCE * AT_ONCE;
}

/* a = l l' becomes l^-1.  0, or -1 when a is not positive definite. */
int
triangle_factor_inverse(double *a, size_t n, size_t stride)
{
	struct lines l, x;
	size_t i, j, end = panels_end(n);

	memset(l.v, 0, end * sizeof *l.v);
	memset(x.v, 0, end * sizeof *x.v);
	for (j = 0; j < n; j++)
		memcpy(
		    line(&l, j) + j, a + j * stride + j, (n - j) * sizeof *a);
	for (j = 0; j < end; j++)
		line(&x, j)[j] = 1;
	for (j = n; j < end; j++)
		line(&l, j)[j] = 1;
	if (invert_best(&l, &x, end) != 0)
		return -1;
	for (j = 0; j < n; j++)
		for (i = j; i < n; i++)
			a[j * stride + i] = line(&x, i)[j];
	return 0;
}

/* Columns of l' l from rows of l, subtracted. */
CLONES static void
square_best(struct lines *l, struct lines *to, size_t n)
{
	double w[AT_ONCE];
	size_t j, k, q;

	for (k = 0; k < n; k += AT_ONCE)
		for (j = 0; j < k + AT_ONCE; j++) {
			for (q = 0; q < AT_ONCE; q++)
				w[q] = -line(l, k + q)[j];
			triangle_take(
			    to->v[j], l->v + k, w, j / WIDE, k / WIDE + 1);
		}
}

/* The lower triangle of l' l replaces l. */
void
triangle_square(double *a, size_t n, size_t stride)
{
	struct lines l, to;
	size_t i, j, end = panels_end(n);

	memset(l.v, 0, end * sizeof *l.v);
	memset(to.v, 0, end * sizeof *to.v);
	for (j = 0; j < n; j++)
		for (i = j; i < n; i++)
			line(&l, i)[j] = a[j * stride + i];
	square_best(&l, &to, end);
	for (j = 0; j < n; j++)
		memcpy(
		    a + j * stride + j, line(&to, j) + j, (n - j) * sizeof *a);
}

/* to += l x, and then x = l' to. */
CLONES static void
times_best(
    const double *l, size_t n, size_t stride, double *x, double *restrict to)
{
	const double *column;
	size_t i, j;
	double sum[WIDE], all;

	for (j = 0; j < n; j++) {
		column = l + j * stride;
		for (i = j; i < n; i++)
			to[i] += column[i] * x[j];
	}
	for (j = 0; j < n; j++) {
		column = l + j * stride;
		open_vec part = { 0 };
		for (i = j; i + WIDE <= n; i += WIDE)
			part += *(const open_vec *)(column + i) *
				*(const open_vec *)(to + i);
		*(open_vec *)sum = part;
		all = ((sum[0] + sum[4]) + (sum[2] + sum[6])) +
		      ((sum[1] + sum[5]) + (sum[3] + sum[7]));
		for (; i < n; i++)
			all += column[i] * to[i];
		x[j] = all;
	}
}

/* x = l' l x, of any size. */
void
triangle_times(const double *l, size_t n, size_t stride, double *x)
{
	double *to = kernel_alloc(n, 1);

	memset(to, 0, n * sizeof *to);
	times_best(l, n, stride, x, to);
	free(to);
}
