/* The density of mixtures, compared with its definition in long double. */

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "kernels/kernels.h"
#include "src/base/mem.h"
#include "src/base/rng.h"
#include "tests/support/tap.h"

struct made {
	struct mix mix;
	double *base, *more, *x;
	double **mu, **scale;
	size_t m;
};

static void
made_free(struct made *a)
{
	size_t d;

	for (d = 0; d < a->mix.d; d++) {
		free(a->mu[d]);
		free(a->scale[d]);
	}
	free(a->mu);
	free(a->scale);
	free(a->base);
	free(a->more);
	free(a->x);
}

/* n components, some of weight 0, in d coordinates, and m points. */
static void
made_init(struct made *a, struct rng *rng, size_t n, size_t d, size_t m)
{
	size_t i, j, full = (n + MIX_BLOCK - 1) / MIX_BLOCK * MIX_BLOCK;

	a->m = m;
	a->base = xcalloc(full, sizeof *a->base);
	a->more = xcalloc(m * full + 1, sizeof *a->more);
	a->x = xcalloc(m * d + 1, sizeof *a->x);
	a->mu = xcalloc(d + 1, sizeof *a->mu);
	a->scale = xcalloc(d + 1, sizeof *a->scale);
	for (i = 0; i < full; i++)
		a->base[i] = i >= n || rng_below(rng, 9) == 8
				 ? -INFINITY
				 : rng_normal(rng) - 5;
	for (i = 0; i < m * full; i++)
		a->more[i] = -rng_uniform(rng);
	for (i = 0; i < m * d; i++)
		a->x[i] = rng_uniform(rng);
	for (j = 0; j < d; j++) {
		a->mu[j] = xcalloc(full, sizeof **a->mu);
		a->scale[j] = xcalloc(full, sizeof **a->scale);
		for (i = 0; i < full; i++) {
			a->mu[j][i] = rng_uniform(rng);
			a->scale[j][i] = 1 + 50 * rng_uniform(rng);
		}
	}
	a->mix = (struct mix){ d, full, a->base, (const double *const *)a->mu,
		(const double *const *)a->scale };
}

static long double
defined(const struct made *a, const double *more, size_t point)
{
	long double top = -INFINITY, sum = 0, *term, u;
	size_t i, j, n = a->mix.n;

	term = xcalloc(n, sizeof *term);
	for (i = 0; i < n; i++) {
		term[i] = a->base[i];
		term[i] += more != NULL ? more[point * n + i] : 0;
		for (j = 0; j < a->mix.d; j++) {
			u = a->x[point * a->mix.d + j];
			u = (u - a->mu[j][i]) * a->scale[j][i];
			term[i] -= u * u;
		}
		top = fmaxl(top, term[i]);
	}
	for (i = 0; i < n && isfinite(top); i++)
		sum += expl(term[i] - top);
	free(term);
	return isfinite(top) ? top + logl(sum) : top;
}

static void
hold(size_t n, size_t d, size_t m, bool with_more)
{
	const struct kernels *k = kernels_plain();
	double *out, worst = 0, off;
	const double *more;
	struct made a;
	struct rng rng;
	size_t i;

	rng_init(&rng, 5, n + d + m);
	made_init(&a, &rng, n, d, m);
	more = with_more ? a.more : NULL;
	out = xcalloc(m + 1, sizeof *out);
	k->mix_density(k->dev, &a.mix, a.x, more, m, out);
	for (i = 0; i<m; i += m> 100 ? 17 : 1) {
		off = (double)fabsl(out[i] - defined(&a, more, i)) /
		      (1 + fabs(out[i]));
		worst = off <= worst ? worst : off;
	}
	if (!ok(worst < 1e-14, "%zu components, %zu coordinates, %zu points", n,
		d, m))
		printf("# off by %g\n", worst);
	free(out);
	made_free(&a);
}

/* Where nothing is, nothing is found; far away the nearest one counts. */
static void
test_odd(void)
{
	const struct kernels *k = kernels_plain();
	double base[MIX_BLOCK], mu[MIX_BLOCK], scale[MIX_BLOCK], x = 1e8, out;
	const double *const one[] = { mu }, *const other[] = { scale };
	struct mix mix = { 1, MIX_BLOCK, base, one, other };
	size_t i;

	for (i = 0; i < MIX_BLOCK; i++) {
		base[i] = -INFINITY;
		mu[i] = (double)i;
		scale[i] = 1;
	}
	k->mix_density(k->dev, &mix, &x, NULL, 1, &out);
	ok(out == -INFINITY, "nothing has no density");
	base[7] = base[9] = 0;
	k->mix_density(k->dev, &mix, &x, NULL, 1, &out);
	ok(out == -(1e8 - 9) * (1e8 - 9), "far away the nearest one counts");
}

int
main(void)
{
	hold(1, 1, 1, false);
	hold(64, 3, 2, true);
	hold(65, 0, 3, true);
	hold(200, 7, 255, false);
	hold(130, 4, 257, true);
	hold(1000, 20, 700, true);
	hold(20000, 3, 9, true);
	test_odd();
	return done_testing();
}
