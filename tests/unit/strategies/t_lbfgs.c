/*
 * Minimisation in a box: minima inside and on bounds, many starts in lock-step,
 * points without a value.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "strategies/gp/lbfgs.h"
#include "tests/support/tap.h"

enum { STARTS = 6, DIMS = 20 };

/* What was asked of the function under test. */
struct asked {
	size_t d, batches, points, outside;
	const double *low, *high;
};

static void
note(struct asked *a, const double *x, size_t k)
{
	size_t i;

	a->batches++;
	a->points += k;
	for (i = 0; i < k * a->d; i++)
		if (x[i] < a->low[i % a->d] || x[i] > a->high[i % a->d])
			a->outside++;
}

static void
rosenbrock(void *arg, const size_t *which, const double *x, size_t k, double *f,
    double *g)
{
	struct asked *a = arg;
	double s, t;
	size_t i, j;

	(void)which;
	note(a, x, k);
	memset(g, 0, k * a->d * sizeof *g);
	for (i = 0; i < k; i++, x += a->d, g += a->d)
		for (f[i] = 0, j = 0; j + 1 < a->d; j++) {
			s = x[j + 1] - x[j] * x[j];
			t = 1 - x[j];
			f[i] += 100 * s * s + t * t;
			g[j] += -400 * x[j] * s - 2 * t;
			g[j + 1] += 200 * s;
		}
}

/* sum of (j + 1) (x_j - 2)^2; no value above 5. */
static void
bowl(void *arg, const size_t *which, const double *x, size_t k, double *f,
    double *g)
{
	struct asked *a = arg;
	size_t i, j;

	(void)which;
	note(a, x, k);
	for (i = 0; i < k; i++, x += a->d, g += a->d)
		for (f[i] = 0, j = 0; j < a->d; j++) {
			f[i] += (double)(j + 1) * (x[j] - 2) * (x[j] - 2);
			if (x[j] > 5)
				f[i] = NAN;
			g[j] = 2 * (double)(j + 1) * (x[j] - 2);
		}
}

static struct lbfgs
box(struct asked *a, double low, double high)
{
	static double lows[DIMS], highs[DIMS];
	size_t j;

	for (j = 0; j < DIMS; j++) {
		lows[j] = low;
		highs[j] = high;
	}
	a->low = lows;
	a->high = highs;
	return (struct lbfgs){ .d = a->d,
		.low = lows,
		.high = highs,
		.arg = a,
		.max_evals = 2000,
		.gradient_tol = 1e-8,
		.value_tol = 0 };
}

static double
worst(const double *x, size_t n, double want)
{
	double far = 0;
	size_t i;

	for (i = 0; i < n; i++)
		far = fmax(far, fabs(x[i] - want));
	return far;
}

static void
check_valley(size_t d)
{
	struct asked a = { .d = d };
	struct lbfgs l = box(&a, -3, 3);
	double x[STARTS * DIMS], f[STARTS], start;
	size_t i, least = 0;

	l.eval = rosenbrock;
	for (i = 0; i < STARTS * d; i++)
		x[i] = fmod((double)(i + 1) * 0.618, 1) * 2;
	lbfgs_run(&l, x, STARTS, f);
	for (i = 0; i < STARTS; i++)
		if (worst(x + i * d, d, 1) < 1e-5)
			least++;
	is_int((long long)least, STARTS, "every start finds the end of it");
	is_int((long long)a.outside, 0, "nothing outside the box is asked");
	ok(a.points > a.batches, "in lock-step: %zu points in %zu batches",
	    a.points, a.batches);
	start = worst(f, STARTS, 0);
	ok(start < 1e-9, "the values are those of the points: %g", start);
	ok(a.points < STARTS * 30 * d, "%zu points are enough", a.points);
}

static void
check_bounds(void)
{
	struct asked a = { .d = 4 };
	struct lbfgs l = box(&a, -1, 1);
	double x[] = { -1, 1, 0.5, -0.5, 7, 7, -7, -7 }, f[2];

	l.eval = bowl;
	lbfgs_run(&l, x, 2, f);
	is_near(worst(x, 8, 1), 0, 0, "a minimum outside is met at the bound");
	is_near(f[0], 10, 1e-12, "with its value");
	is_int((long long)a.outside, 0, "also from a start outside");
	l = box(&a, 1, 1);
	l.eval = bowl;
	lbfgs_run(&l, x, 1, f);
	is_near(f[0], 10, 1e-12, "a box of one point");
}

static void
check_nothing(void)
{
	struct asked a = { .d = 3 };
	struct lbfgs l = box(&a, -100, 100);
	double x[] = { -90, 4.9, 3, 60, 60, 60 }, f[2];

	l.eval = bowl;
	lbfgs_run(&l, x, 2, f);
	ok(worst(x, 3, 2) < 1e-6, "it turns back where there is no value");
	ok(!isfinite(f[1]), "a start without a value stays where it is");
	l.max_evals = 3;
	a.points = 0;
	x[0] = -90;
	lbfgs_run(&l, x, 1, f);
	is_int((long long)a.points, 3, "no more is asked than is allowed");
}

int
main(void)
{
	check_valley(2);
	check_valley(DIMS);
	check_bounds();
	check_nothing();
	return done_testing();
}
