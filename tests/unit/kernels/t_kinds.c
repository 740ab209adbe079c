/*
 * Loops that are compiled for several kinds of processors: every kind that this
 * processor can run gives the same results but for rounding, and those with fused
 * multiplications the same ones.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/rng.h"
#include "tests/support/tap.h"

#define KIND_LOOPS "kernels/gp/gp-tile-loops.h"
#include "kernels/kinds.h"

enum { FEW_LANE = 8, FEW_AT_ONCE = 4 };
#define KIND_LOOPS "kernels/gp/gp-few-loops.h"
#include "kernels/kinds.h"

enum { TRIANGLE_MOST = 64, TRIANGLE_WIDE = 8, TRIANGLE_PANEL = 4 };
struct lines {
	double v[TRIANGLE_MOST][TRIANGLE_MOST];
};
#define KIND_LOOPS "kernels/triangle-loops.h"
#include "kernels/kinds.h"

#define KIND_LOOPS "strategies/cholesky/cholesky-loops.h"
#include "kernels/kinds.h"

enum { COORDINATES_MOST = 7, RESULTS_MOST = 20000, STRIDE = TRIANGLE_MOST + 8 };

/* What one kind computes, one number after another. */
struct results {
	double x[RESULTS_MOST];
	size_t n;
};

static void
keep(struct results *r, const double *x, size_t n)
{
	memcpy(r->x + r->n, x, n * sizeof *x);
	r->n += n;
}

static void
uniform_fill(double *x, size_t n, double shift)
{
	struct rng rng;
	size_t i;

	rng_init(&rng, 38, n);
	for (i = 0; i < n; i++)
		x[i] = rng_uniform(&rng) + shift;
}

/* Positive: what is beside the diagonal is little. */
static void
matrix_fill(double *a, size_t n, size_t stride)
{
	size_t i;

	uniform_fill(a, n * stride, -0.5);
	for (i = 0; i < n; i++)
		a[i * (stride + 1)] = (double)n + 0.25 * (double)i;
}

/* Some numbers on levels, so that categories agree in some of them. */
static void
strip_fill(double *strip, double *c, size_t d, size_t numbers)
{
	size_t i;

	uniform_fill(strip, d * STRIP, 0);
	uniform_fill(c, d, 0);
	for (i = numbers * STRIP; i < d * STRIP; i++)
		strip[i] = floor(3 * strip[i]);
	for (i = numbers; i < d; i++)
		c[i] = floor(3 * c[i]);
}

static struct gp_coordinates
shape_of(size_t d, size_t numbers, double local, size_t *from, double *scale)
{
	struct gp_coordinates s = { .d = d,
		.numbers = numbers,
		.from = from,
		.scale = scale,
		.signal = 1.5,
		.local = local,
		.form = matern_form(d % 2) };
	size_t i;

	for (i = 0; i < d; i++) {
		from[i] = i;
		scale[i] = 0.5 + (double)i;
	}
	return s;
}

#define KIND_LOOPS "tests/unit/kernels/kinds-run.h"
#include "kernels/kinds.h"

/* The largest difference, beside the size of the numbers. */
static double
difference(const struct results *a, const struct results *b)
{
	double most = a->n == b->n ? 0 : INFINITY, off;
	size_t i;

	for (i = 0; i < a->n && i < b->n; i++) {
		off = fabs(a->x[i] - b->x[i]) / (1 + fabs(a->x[i]));
		most = off <= most ? most : off;
	}
	return most;
}

static void
kinds_agree(size_t n)
{
	static struct results plain, v3, v4;

	kind_run_plain(&plain, n);
	ok(plain.n > 6 * STRIP + n * n, "%zu: there are results", n);
#ifdef HAVE_TARGET_CLONES
	if (kind_best() < KIND_V3)
		return;
	kind_run_v3(&v3, n);
	ok(difference(&plain, &v3) < 1e-12, "%zu: v3 is near plain: %g", n,
	    difference(&plain, &v3));
	if (kind_best() < KIND_V4)
		return;
	kind_run_v4(&v4, n);
	ok(difference(&v3, &v4) < 1e-14, "%zu: v4 is v3: %g", n,
	    difference(&v3, &v4));
#else
	(void)v3;
	(void)v4;
#endif
}

int
main(void)
{
	size_t n;

	for (n = 1; n <= TRIANGLE_MOST; n++)
		kinds_agree(n);
	return done_testing();
}
