/*
 * The sweep over candidates equals the result without pruning; and
 * eigenvectors.
 */

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "kernels/formulas.h"
#include "kernels/kernels.h"
#include "src/base/mem.h"
#include "src/base/rng.h"
#include "tests/support/gp-reference.h"
#include "tests/support/tap.h"

static const struct kernels *cpu;

struct plain {
	double score;
	size_t index;
};

static int
plain_compare(const void *a, const void *b)
{
	const struct plain *x = a, *y = b;

	return x->score > y->score ? -1 : x->score < y->score;
}

/* Every candidate's score, best first. */
static struct plain *
unpruned(const struct gp *gp, const double *x, size_t m, double best)
{
	struct plain *all = xcalloc(m + 1, sizeof *all);
	double *mean = xcalloc(m + 1, sizeof *mean);
	double *variance = xcalloc(m + 1, sizeof *variance);
	size_t i;

	cpu->gp_predict(cpu->dev, gp, x, m, mean, variance);
	for (i = 0; i < m; i++)
		all[i] =
		    (struct plain){ log_improvement(mean[i], variance[i], best),
			    i };
	free(mean);
	free(variance);
	return all;
}

/* The same scores in the same order, each that of its candidate. */
static bool
same_top(const struct plain *all, size_t m, const size_t *index,
    const double *score, size_t k)
{
	struct plain *sorted = xcalloc(m + 1, sizeof *sorted);
	bool same = true;
	double tolerance;
	size_t i;

	memcpy(sorted, all, m * sizeof *sorted);
	qsort(sorted, m, sizeof *sorted, plain_compare);
	for (i = 0; i < k && i < m; i++) {
		tolerance = 2e-6 * (1 + fabs(sorted[i].score));
		same = same && index[i] < m &&
		       fabs(score[i] - sorted[i].score) <= tolerance &&
		       fabs(score[i] - all[index[i]].score) <= tolerance;
	}
	free(sorted);
	return same;
}

/* As many different candidates as there should be. */
static bool
all_different(const size_t *index, size_t k)
{
	size_t i, j;

	for (i = 0; i < k; i++)
		for (j = 0; j < i; j++)
			if (index[i] == index[j])
				return false;
	return true;
}

static double
least(const double *y, size_t n)
{
	double low = INFINITY;
	size_t i;

	for (i = 0; i < n; i++)
		low = fmin(low, y[i]);
	return low;
}

/* Returns the share of the work. */
static double
hold_top(const struct gp_reference *p, struct rng *rng, size_t m, size_t k,
    size_t pending, double below)
{
	size_t d = p->data.d, i, got, *index = xcalloc(k + 1, sizeof *index);
	double *x = xcalloc(m * d + 1, sizeof *x);
	double *score = xcalloc(k + 1, sizeof *score);
	double best = least(p->y, p->data.n) - below;
	struct gp *gp = cpu->gp_fit(cpu->dev, &p->data, p->theta);
	struct gp_sweep said = { -1 };
	struct plain *all;

	for (i = 0; i < m; i++)
		gp_reference_point(p, rng, x + i * d);
	cpu->gp_pend(cpu->dev, gp, x, pending);
	all = unpruned(gp, x, m, best);
	got = cpu->gp_top(cpu->dev, gp, x, m, best, k, index, score, &said);
	if (!ok(got == (k < m ? k : m) && all_different(index, got) &&
		    same_top(all, m, index, score, got),
		"n=%zu d=%zu: best %zu of %zu, %zu pending, improvement by %g",
		p->data.n, d, k, m, pending, below))
		printf("# first %zu %g\n", index[0], score[0]);
	cpu->gp_free(cpu->dev, gp);
	free(index);
	free(score);
	free(all);
	free(x);
	return said.share;
}

static void
test_top(void)
{
	static const struct {
		size_t n, d, categories, m, k, pending;
		double below;
	} cases[] = {
		{ 1, 1, 0, 10, 1, 0, 0 },
		{ 3, 2, 0, 5, 9, 1, 0 },
		{ 30, 3, 1, 300, 0, 0, 0 },
		{ 100, 3, 0, 4000, 1, 0, 0 },
		{ 100, 3, 2, 4000, 64, 5, 0 },
		{ 200, 6, 0, 5000, 64, 0, 0.1 },
		{ 200, 6, 2, 3000, 1500, 70, 0 },
		{ 190, 2, 0, 3000, 10, 3, 1000 },
		{ 190, 10, 0, 3000, 10, 3, 5 },
	};
	struct gp_reference p;
	struct rng rng;
	double share = 0, sum = 0;
	size_t i;

	rng_init(&rng, 2, 1);
	for (i = 0; i < sizeof cases / sizeof *cases; i++) {
		gp_reference_make(&p, &rng, cases[i].n, cases[i].d,
		    cases[i].categories, 1e-6);
		share = hold_top(&p, &rng, cases[i].m, cases[i].k,
		    cases[i].pending, cases[i].below);
		printf("# share of the work %g\n", share);
		sum += i == 3 || i == 4 || i == 5 ? share : 0;
		gp_reference_free(&p);
	}
	ok(sum > 0 && sum < 1, "ordinary sweeps are pruned");
}

/* Of candidates that differ from one in two coordinates. */
static void
hold_near(const struct gp_reference *p, struct rng *rng, size_t m, size_t k,
    size_t pending)
{
	size_t d = p->data.d, i, got, *index = xcalloc(k + 1, sizeof *index);
	double *x = xcalloc((m + 1) * d, sizeof *x), *base = x + m * d;
	double *score = xcalloc(k + 1, sizeof *score);
	double best = least(p->y, p->data.n);
	struct gp *gp = cpu->gp_fit(cpu->dev, &p->data, p->theta);
	struct gp_sweep said = { -1 };
	struct plain *all;

	gp_reference_point(p, rng, base);
	for (i = 0; i < m; i++) {
		gp_reference_point(p, rng, x + i * d);
		x[i * d + i % d] = base[i % d];
	}
	cpu->gp_pend(cpu->dev, gp, x, pending);
	for (i = 0; i < m * d; i++)
		if (i % d != i / d % d && i % d != i / d / d % d)
			x[i] = base[i % d];
	all = unpruned(gp, x, m, best);
	got = cpu->gp_near_top(
	    cpu->dev, gp, base, x, m, best, k, index, score, &said);
	ok(got == (k < m ? k : m) && all_different(index, got) &&
		same_top(all, m, index, score, got) && said.share <= 1,
	    "n=%zu d=%zu: best %zu of %zu near one, share of the work %g",
	    p->data.n, d, k, m, said.share);
	cpu->gp_free(cpu->dev, gp);
	free(index);
	free(score);
	free(all);
	free(x);
}

static void
test_near(void)
{
	static const struct {
		size_t n, d, categories, m, k, pending;
	} cases[] = {
		{ 3, 2, 0, 1, 9, 1 },
		{ 64, 5, 2, 400, 32, 0 },
		{ 190, 7, 3, 700, 32, 3 },
		{ 130, 20, 0, 500, 1, 70 },
	};
	struct gp_reference p;
	struct rng rng;
	size_t i;

	rng_init(&rng, 2, 5);
	for (i = 0; i < sizeof cases / sizeof *cases; i++) {
		gp_reference_make(&p, &rng, cases[i].n, cases[i].d,
		    cases[i].categories, 1e-6);
		hold_near(&p, &rng, cases[i].m, cases[i].k, cases[i].pending);
		gp_reference_free(&p);
	}
}

/* Many small ones, where the winners are not those with the best means. */
static void
test_many(void)
{
	size_t i, j, d, got[4], m = 2500;
	bool same = true;
	struct gp_reference p;
	struct rng rng;
	double *x = xcalloc(m * 5, sizeof *x), score[4], best;
	struct plain *all;
	struct gp *gp;

	rng_init(&rng, 2, 3);
	for (i = 0; i < 60; i++) {
		d = 1 + i % 5;
		gp_reference_make(&p, &rng, 65 + i, d, 0, 1e-6);
		for (j = 0; j < d; j++)
			p.theta[j] += 3;
		p.theta[d + 1] = -8;
		for (j = 0; j < m; j++)
			gp_reference_point(&p, &rng, x + j * d);
		best = least(p.y, p.data.n) - 0.5 * (double)(i % 7);
		gp = cpu->gp_fit(cpu->dev, &p.data, p.theta);
		all = unpruned(gp, x, m, best);
		cpu->gp_top(
		    cpu->dev, gp, x, m, best, 1 + i % 4, got, score, NULL);
		same = same && same_top(all, m, got, score, 1 + i % 4);
		free(all);
		cpu->gp_free(cpu->dev, gp);
		gp_reference_free(&p);
	}
	ok(same, "sixty small sweeps");
	free(x);
}

/* Candidates that are all one: the first of them, in order. */
static void
test_ties(void)
{
	double x[100 * 2], score[3];
	struct gp_reference p;
	struct rng rng;
	struct gp *gp;
	size_t i, index[3];

	rng_init(&rng, 2, 2);
	gp_reference_make(&p, &rng, 20, 2, 0, 1e-6);
	for (i = 0; i < 200; i++)
		x[i] = 0.25;
	gp = cpu->gp_fit(cpu->dev, &p.data, p.theta);
	cpu->gp_top(cpu->dev, gp, x, 100, -1, 3, index, score, NULL);
	ok(index[0] == 0 && index[1] == 1 && index[2] == 2,
	    "of equal candidates the first ones");
	x[0] = NAN;
	cpu->gp_top(cpu->dev, gp, x, 100, -1, 3, index, score, NULL);
	ok(index[0] == 1, "a NaN is no candidate");
	cpu->gp_free(cpu->dev, gp);
	gp_reference_free(&p);
}

static void
hold_eigen(size_t n)
{
	double *a = xcalloc(n * n + 1, sizeof *a), *values, worst = 0, sum;
	double *v = xcalloc(n * n + 1, sizeof *v);
	struct rng rng;
	size_t i, j, q;

	values = xcalloc(n + 1, sizeof *values);
	rng_init(&rng, 3, n);
	for (i = 0; i < n; i++)
		for (j = 0; j <= i; j++)
			a[i * n + j] = a[j * n + i] = rng_normal(&rng);
	memcpy(v, a, n * n * sizeof *v);
	is_int(cpu->sym_eigen(cpu->dev, v, n, values), 0, "eigenvectors");
	for (q = 0; q < n; q++) {
		for (i = 0; i < n; i++) {
			sum = -values[q] * v[q * n + i];
			for (j = 0; j < n; j++)
				sum += a[i * n + j] * v[q * n + j];
			worst = fmax(worst, fabs(sum));
		}
		for (j = 0; j <= q; j++) {
			sum = j == q ? -1 : 0;
			for (i = 0; i < n; i++)
				sum += v[q * n + i] * v[j * n + i];
			worst = fmax(worst, fabs(sum));
		}
		if (q > 0 && values[q] < values[q - 1])
			worst = INFINITY;
	}
	if (!ok(worst <= 1e-12 * (1 + (double)n), "… of %zu x %zu", n, n))
		printf("# off by %g\n", worst);
	free(a);
	free(v);
	free(values);
}

int
main(void)
{
	cpu = kernels_cpu();
	test_top();
	test_near();
	test_many();
	test_ties();
	hold_eigen(0);
	hold_eigen(1);
	hold_eigen(2);
	hold_eigen(120);
	return done_testing();
}
