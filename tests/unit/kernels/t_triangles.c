/*
 * Small triangles and triangular systems with few right-hand sides, of every
 * size around their vectors and panels, compared with plain loops.
 */

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/gp/gp-few.h"
#include "kernels/lapack.h"
#include "kernels/triangle.h"
#include "src/base/mem.h"
#include "src/base/rng.h"
#include "tests/support/tap.h"

enum { MOST = 150, STRIDE = 152, COLUMNS = 2 * GP_FEW };

/* Two triangles; above the diagonal NaN, which nothing may read. */
struct work {
	double a[MOST * STRIDE], l[MOST * STRIDE];
	double x[COLUMNS * STRIDE], was[COLUMNS * STRIDE];
};

static void
triangle_fill(double *l, size_t n, struct rng *rng)
{
	size_t i, j;

	for (j = 0; j < n; j++)
		for (i = 0; i < STRIDE; i++)
			l[j * STRIDE + i] = i < j || i >= n ? NAN
					    : i == j ? 2 + rng_uniform(rng)
						     : rng_uniform(rng) - 0.5;
}

/* (l l')[i][j], or (l' l)[i][j]. */
static double
product(const double *l, size_t n, size_t i, size_t j, bool transposed)
{
	size_t k, least = i < j ? i : j, most = i < j ? j : i;
	double sum = 0;

	for (k = 0; k <= least && !transposed; k++)
		sum += l[k * STRIDE + i] * l[k * STRIDE + j];
	for (k = most; k < n && transposed; k++)
		sum += l[i * STRIDE + k] * l[j * STRIDE + k];
	return sum;
}

static void
product_fill(double *to, const double *l, size_t n, bool transposed)
{
	size_t i, j;

	for (j = 0; j < n; j++)
		for (i = 0; i < STRIDE; i++)
			to[j * STRIDE + i] =
			    i < j || i >= n ? NAN
					    : product(l, n, i, j, transposed);
}

/* The greatest difference between l^-1 and what it should be, by l^-1 l. */
static double
inverse_apart(const double *inverse, const double *l, size_t n)
{
	double worst = 0, sum;
	size_t i, j, k;

	for (j = 0; j < n; j++)
		for (i = j; i < n; i++) {
			sum = i == j ? -1 : 0;
			for (k = j; k <= i; k++)
				sum +=
				    inverse[k * STRIDE + i] * l[j * STRIDE + k];
			worst = isnan(sum) ? INFINITY : fmax(worst, fabs(sum));
		}
	return worst;
}

static void
test_inverse(struct work *w, struct rng *rng)
{
	double worst = 0, *x = w->x, sum;
	size_t n, i, j;
	bool made = true;

	for (n = 0; n <= MOST; n += n < 70 ? 1 : 16) {
		triangle_fill(w->l, n, rng);
		product_fill(w->a, w->l, n, false);
		made = made && lapack_factor_inverse(w->a, n, STRIDE) == 0;
		worst = fmax(worst, inverse_apart(w->a, w->l, n));
	}
	ok(made && worst < 1e-12, "the inverse of a factor");
	for (worst = 0, n = 0; n <= MOST; n += n < 70 ? 1 : 16) {
		triangle_fill(w->l, n, rng);
		memcpy(w->a, w->l, sizeof w->a);
		product_fill(w->l, w->a, n, true);
		for (i = 0; i < n; i++)
			w->was[i] = x[i] = rng_uniform(rng);
		lapack_inverse_times(w->a, n, STRIDE, x);
		for (j = 0; j < n; j++)
			for (i = j; i < n; i++)
				worst = fmax(worst, fabs(w->a[j * STRIDE + i] -
							 w->l[j * STRIDE + i]));
		for (i = 0; i < n; i++) {
			for (sum = 0, j = 0; j < n; j++)
				sum += w->l[(i < j ? i : j) * STRIDE +
					    (i < j ? j : i)] *
				       w->was[j];
			worst = isnan(x[i]) ? INFINITY
					    : fmax(worst, fabs(sum - x[i]));
		}
	}
	ok(worst < 1e-10, "a square of it, and its product with a vector");
}

static void
test_refused(struct work *w, struct rng *rng)
{
	static const double bad[] = { 0, -1, -INFINITY, INFINITY, NAN };
	size_t i, at, n = TRIANGLE_MOST - 1;
	bool refused = true;

	for (at = 0; at < n; at += 7)
		for (i = 0; i < sizeof bad / sizeof *bad; i++) {
			triangle_fill(w->l, n, rng);
			product_fill(w->a, w->l, n, false);
			w->a[at * (STRIDE + 1)] = bad[i];
			refused = refused &&
				  lapack_factor_inverse(w->a, n, STRIDE) != 0;
		}
	ok(refused, "what is not positive definite is refused");
}

/* l times column q of x is the column before. */
static double
solved_apart(const struct work *w, size_t n, size_t q, bool transposed)
{
	const double *x = w->x + q * STRIDE, *l = w->l;
	double worst = 0, sum;
	size_t i, j;

	for (i = 0; i < n; i++) {
		sum = -w->was[q * STRIDE + i];
		for (j = 0; j <= i && !transposed; j++)
			sum += l[j * STRIDE + i] * x[j];
		for (j = i; j < n && transposed; j++)
			sum += l[i * STRIDE + j] * x[j];
		worst = isnan(sum) ? INFINITY : fmax(worst, fabs(sum));
	}
	return worst;
}

static void
test_few(struct work *w, struct rng *rng, bool transposed)
{
	size_t n, m, i, q, outside = 0;
	double worst = 0;

	for (n = 0; n <= 70; n++)
		for (m = 0; m <= GP_FEW + 1; m++) {
			triangle_fill(w->l, n, rng);
			for (i = 0; i < COLUMNS * STRIDE; i++)
				w->was[i] = w->x[i] = rng_uniform(rng);
			(transposed ? gp_few_back : gp_few_forward)(
			    w->l, n, STRIDE, w->x, m, STRIDE);
			for (q = 0; q < m; q++)
				worst = fmax(
				    worst, solved_apart(w, n, q, transposed));
			for (i = 0; i < COLUMNS * STRIDE; i++)
				outside +=
				    (i / STRIDE >= m || i % STRIDE >= n) &&
				    w->x[i] != w->was[i];
		}
	ok(worst < 1e-10, "few right-hand sides%s",
	    transposed ? " of the transposed triangle" : "");
	ok(outside == 0, "and nothing beside them is written");
}

int
main(void)
{
	struct work *w = xcalloc(1, sizeof *w);
	struct rng rng;

	rng_init(&rng, 1, 1);
	test_inverse(w, &rng);
	test_refused(w, &rng);
	test_few(w, &rng, false);
	test_few(w, &rng, true);
	free(w);
	return done_testing();
}
