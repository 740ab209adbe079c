/*
 * Products of packed training, for each kind of processor that this one can run:
 * equal to the sums in double but for rounding; what lies beyond the matrices has
 * no influence, nothing is written there, and a row does not depend on others.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/mlp-batch/mlp-product.h"
#include "src/base/mem.h"
#include "src/base/rng.h"
#include "tests/support/tap.h"

enum { MOST = 60, BEYOND = 4242 };

/* Three matrices with room around them. */
struct three {
	float *a, *b, *c;
	size_t a_n, b_n, c_n; /* without the room */
};

static float *
matrix_make(struct rng *rng, size_t n, size_t room)
{
	float *x = xcalloc(n + room, sizeof *x);
	size_t i;

	for (i = 0; i < n + room; i++)
		x[i] = i < n ? (float)rng_uniform(rng) - 0.5f : NAN;
	return x;
}

static void
three_make(struct three *t, struct rng *rng, size_t m, size_t n, size_t k)
{
	size_t i;

	t->a_n = m * k;
	t->b_n = k * n;
	t->c_n = m * n;
	t->a = matrix_make(rng, t->a_n, MLP_PRODUCT_ROWS * k);
	t->b = matrix_make(rng, t->b_n, MLP_PRODUCT_MORE);
	t->c = xcalloc(t->c_n + MLP_PRODUCT_MORE, sizeof *t->c);
	for (i = 0; i < t->c_n + MLP_PRODUCT_MORE; i++)
		t->c[i] = BEYOND;
}

static void
three_free(struct three *t)
{
	free(t->a);
	free(t->b);
	free(t->c);
}

/* The largest error; INFINITY where something beyond was written. */
static double
error_of(const struct three *t, size_t m, size_t n, size_t k, bool turned)
{
	double worst = 0, sum;
	size_t i, j, l;

	for (i = 0; i < m; i++)
		for (j = 0; j < n; j++) {
			for (sum = 0, l = 0; l < k; l++)
				sum += (double)(turned ? t->a[l * m + i]
						       : t->a[i * k + l]) *
				       (double)t->b[l * n + j];
			sum = fabs(sum - (double)t->c[i * n + j]);
			worst = sum <= worst ? worst : sum;
			if (isnan(sum))
				return INFINITY;
		}
	for (i = t->c_n; i < t->c_n + MLP_PRODUCT_MORE; i++)
		if (t->c[i] != BEYOND)
			return INFINITY;
	return worst;
}

/* Whether the last row by itself has the same bits. */
static bool
row_alone(const struct mlp_product_kind *kind, const struct three *t, size_t m,
    size_t n, size_t k)
{
	float *c = xcalloc(n, sizeof *c);
	bool same;

	kind->rows(t->a + (m - 1) * k, k, t->b, k, c, 1, n);
	same = memcmp(c, t->c + (m - 1) * n, n * sizeof *c) == 0;
	free(c);
	return same;
}

static void
test_kind(const struct mlp_product_kind *kind)
{
	double worst = 0, turned = 0;
	struct rng rng;
	struct three t;
	size_t m, n, k;
	bool alone = true;

	rng_init(&rng, 7, 0);
	for (n = 4; n <= 2 * MOST; n += 4) {
		m = 1 + (size_t)(rng_uniform(&rng) * MOST);
		k = 1 + (size_t)(rng_uniform(&rng) * MOST);
		three_make(&t, &rng, m, n, k);
		kind->rows(t.a, k, t.b, k, t.c, m, n);
		worst = fmax(worst, error_of(&t, m, n, k, false));
		alone = alone && row_alone(kind, &t, m, n, k);
		three_free(&t);

		m = (m + 7) / 8 * 8;
		three_make(&t, &rng, m, n, k);
		kind->columns(t.a, m, t.b, k, t.c, m, n);
		turned = fmax(turned, error_of(&t, m, n, k, true));
		three_free(&t);
	}
	ok(worst < 1e-5, "%s: products, off by %.1g", kind->name, worst);
	ok(turned < 1e-5, "%s: of a transpose, off by %.1g", kind->name,
	    turned);
	ok(alone, "%s: a row by itself has the same bits", kind->name);
}

int
main(void)
{
	const struct mlp_product_kind *kind;
	size_t i;

	for (i = 0; (kind = mlp_product_kind(i)) != NULL; i++)
		test_kind(kind);
	ok(i > 0, "there is a kind for this processor");
	return done_testing();
}
