/*
 * How even the points of sobol are, against random ones: at any number of
 * points, in each dimension, and with more parameters than the table has.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/model/plugin-options.h"
#include "src/model/space.h"
#include "strategies/sobol.h"
#include "strategies/strategy.h"
#include "tests/support/tap.h"

enum { SEEDS = 5 };

/* The first n points in d dimensions; the caller frees them. */
static double *
points(const char *strategy, size_t n, size_t d, uint64_t seed)
{
	const struct strategy *s = strategy_find(strategy);
	double *x = xcalloc(n * d, sizeof *x);
	struct space space = { .n = d };
	struct option_value *values;
	struct err e = ERR_INIT;
	size_t i;

	space.params = xcalloc(d, sizeof *space.params);
	(void)plugin_options_read(&values, s->options, NULL, NULL, &e);
	for (i = 0; i < n; i++) {
		struct suggestion out = { .x = x + i * d };
		struct strategy_ask ask = {
			.space = &space, .seed = seed, .trial = (int64_t)i + 1
		};

		if (s->suggest(&out, &ask, values, &e) != 0)
			printf("# %s: %s\n", strategy, e.text);
	}
	plugin_options_free(values);
	free(space.params);
	return x;
}

/*
 * Centered L2 discrepancy of n points (n x stride) in the d dimensions from
 * the first one: Hickernell, "A generalized discrepancy and quadrature error
 * bound", Mathematics of Computation 67 (1998), formula 5.1c.
 */
static double
discrepancy(const double *x, size_t n, size_t stride, size_t d)
{
	double once = 0, pairs = 0, a, b, p;
	size_t i, j, k;

	for (i = 0; i < n; i++) {
		for (p = 1, k = 0; k < d; k++) {
			a = fabs(x[i * stride + k] - 0.5);
			p *= 1 + a / 2 - a * a / 2;
		}
		once += p;
		for (j = 0; j < n; j++) {
			for (p = 1, k = 0; k < d; k++) {
				a = x[i * stride + k];
				b = x[j * stride + k];
				p *= 1 + (fabs(a - 0.5) + fabs(b - 0.5) -
					     fabs(a - b)) /
					     2;
			}
			pairs += p;
		}
	}
	return sqrt(pow(13 / 12.0, (double)d) - 2 * once / (double)n +
		    pairs / (double)(n * n));
}

/* The mean of some seeds. */
static double
mean_discrepancy(const char *strategy, size_t n, size_t d)
{
	double sum = 0, *x;
	uint64_t seed;

	for (seed = 1; seed <= SEEDS; seed++) {
		x = points(strategy, n, d, seed);
		sum += discrepancy(x, n, d, d) / SEEDS;
		free(x);
	}
	return sum;
}

/*
 * What was measured (10 seeds; scipy.stats.qmc.Sobol has the same to 0.04),
 * and 15 % more.  100 and 1000 are no powers of 2: most sets with a restart or
 * a gap behind a block fail there.
 */
static void
check_even(void)
{
	static const struct {
		size_t d, n;
		double share; /* of the discrepancy of random points */
	} most[] = { { 2, 16, 0.37 }, { 2, 64, 0.20 }, { 2, 100, 0.21 },
		{ 2, 256, 0.10 }, { 2, 1000, 0.085 }, { 5, 16, 0.62 },
		{ 5, 64, 0.40 }, { 5, 100, 0.37 }, { 5, 256, 0.24 },
		{ 5, 1000, 0.18 }, { 10, 16, 0.90 }, { 10, 64, 0.69 },
		{ 10, 100, 0.65 }, { 10, 256, 0.56 }, { 10, 1000, 0.41 } };
	double sobol, even;
	size_t i;

	for (i = 0; i < sizeof most / sizeof most[0]; i++) {
		sobol = mean_discrepancy("sobol", most[i].n, most[i].d);
		even = mean_discrepancy("random", most[i].n, most[i].d);
		ok(sobol < most[i].share * even,
		    "%zu points in %zu dimensions: %.2f of random's, at most "
		    "%.2f",
		    most[i].n, most[i].d, sobol / even, most[i].share);
	}
}

/* The points of a second hundred alone, as even as the first. */
static void
check_later(void)
{
	double first = 0, later = 0, *x;
	uint64_t seed;

	for (seed = 1; seed <= SEEDS; seed++) {
		x = points("sobol", 256, 3, seed);
		first += discrepancy(x, 128, 3, 3);
		later += discrepancy(x + 128 * 3, 128, 3, 3);
		free(x);
	}
	ok(later < 1.5 * first,
	    "points 129 to 256 are as even as 1 to 128: "
	    "%.4f, %.4f",
	    later / SEEDS, first / SEEDS);
}

/*
 * Beyond the table: each dimension has one of 64 points in each 64th part, the
 * dimensions of the second group are even together, and the half of a point in
 * dimension i does not determine its half in dimension i + 128.
 */
static void
check_beyond(void)
{
	enum { N = 64, DIMS = 300 };
	double *x = points("sobol", N, DIMS, 5), *even, group;
	double random = 0;
	size_t i, k, seen;
	bool good = true;

	for (k = 0; k < DIMS; k++) {
		uint64_t parts = 0;

		for (i = 0; i < N; i++)
			parts |= UINT64_C(1) << (int)(x[i * DIMS + k] * N);
		good = good && parts == UINT64_MAX;
	}
	ok(good, "%d dimensions: each is a net", DIMS);
	for (good = true, k = 0; k < SOBOL_DIMS; k++) {
		for (seen = 0, i = 0; i < N; i++)
			seen += (x[i * DIMS + k] < 0.5) ==
				(x[i * DIMS + SOBOL_DIMS + k] < 0.5);
		good = good && seen > N / 8 && seen < N - N / 8;
	}
	ok(good, "dimensions 128 apart do not follow each other");
	for (seen = 0; seen < SEEDS; seen++) {
		even = points("random", N, 4, seen);
		random += discrepancy(even, N, 4, 4) / SEEDS;
		free(even);
	}
	for (k = SOBOL_DIMS; k + 4 < DIMS; k += SOBOL_DIMS) {
		group = discrepancy(x + k, N, DIMS, 4);
		ok(group < 0.5 * random,
		    "dimensions %zu to %zu are even: "
		    "%.3f, random %.3f",
		    k + 1, k + 4, group, random);
	}
	free(x);
}

static void
check_limit(void)
{
	const struct strategy *s = strategy_find("sobol");
	size_t scramble = 0;
	struct space space = { .n = SOBOL_DIMS + 1 };
	struct option_value *values;
	struct err e = ERR_INIT;

	(void)plugin_options_read(&values, s->options, NULL, NULL, &e);
	is_int(s->check(values, &space, &e), 0, "129 parameters, scrambled");
	is_int(s->check(NULL, &space, &e), 0, "as first points");
	while (strcmp(s->options[scramble].name, "scramble") != 0)
		scramble++;
	values[scramble].number = 0;
	is_int(s->check(values, &space, &e), -1,
	    "unscrambled points are refused for so many parameters");
	ok(e.kind == ERR_USAGE && strstr(e.text, "129") != NULL, "%s", e.text);
	plugin_options_free(values);
}

int
main(void)
{
	check_even();
	check_later();
	check_beyond();
	check_limit();
	return done_testing();
}
