/* Small triangles: in copies whose rows or columns are vectors of eight. */

#include <stdlib.h>
#include <string.h>

#include "kernels/alloc.h"
#include "kernels/triangle.h"

enum {
	TRIANGLE_WIDE = 8,
	TRIANGLE_PANEL = 4 /* lines of one pass */
};

/* 64 lines: columns of a factor, or rows of its inverse. */
struct lines {
	double v[TRIANGLE_MOST][TRIANGLE_MOST] __attribute__((aligned(64)));
};

#define KIND_LOOPS "kernels/triangle-loops.h"
#include "kernels/kinds.h"

/* The rows of the unit matrix that fill up whole panels. */
static size_t
panels_end(size_t n)
{
	return (n + TRIANGLE_PANEL - 1) / TRIANGLE_PANEL * TRIANGLE_PANEL;
}

/* Where the vector begins in which number i is, and where it ends. */
static size_t
vector_begin(size_t i)
{
	return i / TRIANGLE_WIDE * TRIANGLE_WIDE;
}

static size_t
vector_end(size_t i)
{
	return vector_begin(i) + TRIANGLE_WIDE;
}

static void
line_clear(double *line, size_t from, size_t to)
{
	memset(line + from, 0, (to - from) * sizeof *line);
}

/* a = l l' becomes l^-1.  0, or -1 when a is not positive definite. */
int
triangle_factor_inverse(double *a, size_t n, size_t stride)
{
	struct lines l, x;
	size_t i, j, end = panels_end(n);

	for (j = 0; j < end; j++) {
		line_clear(l.v[j], vector_begin(j), vector_end(end - 1));
		line_clear(x.v[j], 0, vector_end(j));
		l.v[j][j] = x.v[j][j] = 1;
	}
	for (j = 0; j < n; j++)
		memcpy(l.v[j] + j, a + j * stride + j, (n - j) * sizeof *a);
	if (KIND_CALL(triangle_invert, &l, &x, end) != 0)
		return -1;
	for (j = 0; j < n; j++)
		for (i = j; i < n; i++)
			a[j * stride + i] = x.v[i][j];
	return 0;
}

/* The lower triangle of l' l replaces l. */
void
triangle_square(double *a, size_t n, size_t stride)
{
	struct lines l, to;
	size_t i, j, end = panels_end(n);

	for (j = 0; j < end; j++) {
		line_clear(l.v[j], 0, vector_end(j));
		line_clear(to.v[j], vector_begin(j), vector_end(end - 1));
	}
	for (j = 0; j < n; j++)
		for (i = j; i < n; i++)
			l.v[i][j] = a[j * stride + i];
	KIND_CALL(triangle_square, &l, &to, end);
	for (j = 0; j < n; j++)
		memcpy(a + j * stride + j, to.v[j] + j, (n - j) * sizeof *a);
}

/* x = l' l x, of any size. */
void
triangle_times(const double *l, size_t n, size_t stride, double *x)
{
	double *to = kernel_alloc(n, 1);

	memset(to, 0, n * sizeof *to);
	KIND_CALL(triangle_times, l, n, stride, x, to);
	free(to);
}
