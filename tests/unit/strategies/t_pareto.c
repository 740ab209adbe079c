/*
 * Fronts, crowding, volumes and choices against what their definitions say,
 * on random rows with ties.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/rng.h"
#include "strategies/evolution/pareto.h"
#include "tests/support/tap.h"

enum { ROWS = 40, LOSSES = 5, ROUNDS = 30 };

/* Numbers of few digits, so that some are equal. */
static void
fill(struct rng *rng, double *x, size_t n, int coarse)
{
	size_t i;

	for (i = 0; i < n; i++)
		x[i] =
		    coarse ? (double)rng_below(rng, 8) / 8 : rng_uniform(rng);
}

/* At least as good in all losses, and better in one; NaN is the worst. */
static bool
dominates(const double *a, const double *b, size_t m)
{
	bool better = false;
	double x, y;
	size_t i;

	for (i = 0; i < m; i++) {
		x = isnan(a[i]) ? INFINITY : a[i];
		y = isnan(b[i]) ? INFINITY : b[i];
		if (x > y)
			return false;
		better = better || x < y;
	}
	return better;
}

/* Take fronts off one after the other. */
static void
ranks_slowly(size_t *rank, const double *x, size_t n, size_t m)
{
	size_t i, k, front, left = n;

	for (i = 0; i < n; i++)
		rank[i] = n;
	for (front = 0; left > 0; front++) {
		size_t found[ROWS], n_found = 0;

		for (i = 0; i < n; i++) {
			if (rank[i] < n)
				continue;
			for (k = 0; k < n; k++)
				if (rank[k] == n &&
				    dominates(x + k * m, x + i * m, m))
					break;
			if (k == n)
				found[n_found++] = i;
		}
		for (i = 0; i < n_found; i++)
			rank[found[i]] = front;
		left -= n_found;
	}
}

static void
check_ranks(void)
{
	size_t rank[ROWS], want[ROWS], m, i;
	double x[ROWS * LOSSES];
	bool good;
	int k;
	struct rng rng;

	for (m = 1; m <= LOSSES; m++) {
		good = true;
		for (k = 0; k < ROUNDS; k++) {
			rng_init(&rng, m, (uint64_t)k);
			fill(&rng, x, ROWS * m, k % 2);
			if (k % 3 == 0)
				x[m] = NAN;
			pareto_ranks(rank, x, ROWS, m);
			ranks_slowly(want, x, ROWS, m);
			for (i = 0; i < ROWS; i++)
				good = good && rank[i] == want[i];
		}
		ok(good, "ranks of %zu losses", m);
	}
	x[0] = x[2] = 1;
	x[1] = x[3] = 2;
	pareto_ranks(rank, x, 2, 2);
	ok(rank[0] == 0 && rank[1] == 0, "nothing dominates its equal");
	pareto_ranks(rank, NULL, 0, 2);
	ok(true, "ranks of nothing");
}

static void
check_bound(void)
{
	static const double x[] = { 5, 5, 1, 1, 2, 2, 0, 9, 1, 3, 0, 0, 3, 1 };
	static const double violation[] = { 0, 2, 0, 0.5, 2, NAN, -1 };
	static const size_t want[] = { 1, 3, 0, 2, 3, 4, 0 };
	size_t rank[7], i;
	bool good = true;

	pareto_ranks_constrained(rank, x, violation, 7, 2);
	for (i = 0; i < 7; i++)
		good = good && rank[i] == want[i];
	ok(good, "ranks where some violate constraints");
	pareto_ranks_constrained(rank, x, NULL, 7, 2);
	is_int((long long)rank[5], 0, "and without");
}

static void
check_crowding(void)
{
	static const double x[] = { 0, 10, 1, 5, 3, 4, 10, 0 };
	static const double flat[] = { 1, 1, 1, 1 };
	double far[4];

	pareto_crowding(far, x, 4, 2);
	ok(isinf(far[0]) && isinf(far[3]), "the ends are alone");
	is_near(far[1], 0.3 + 0.6, 1e-15, "crowding of the second");
	is_near(far[2], 0.9 + 0.5, 1e-15, "crowding of the third");
	pareto_crowding(far, flat, 2, 2);
	is_near(far[0], 0, 0, "equal rows");
	pareto_crowding(far, x, 1, 2);
	is_near(far[0], 0, 0, "one row");
}

/* Cells between all coordinates, each inside or not. */
static double
volume_slowly(const double *x, size_t n, size_t m, const double *ref)
{
	size_t at[LOSSES] = { 0 }, d, i;
	double cell, low, high, sum = 0;
	bool covered;

	for (;;) {
		cell = 1;
		for (d = 0; d < m; d++) {
			low = at[d] < n ? x[at[d] * m + d] : ref[d];
			high = ref[d];
			for (i = 0; i < n; i++)
				if (x[i * m + d] > low)
					high = fmin(high, x[i * m + d]);
			for (i = 0; i < at[d]; i++)
				if (x[i * m + d] == low)
					high = low;
			cell *= low < ref[d] ? high - low : 0;
		}
		covered = false;
		for (i = 0; i < n && !covered && cell > 0; i++) {
			for (d = 0; d < m; d++)
				if (at[d] == n ||
				    x[i * m + d] > x[at[d] * m + d])
					break;
			covered = d == m;
		}
		sum += covered ? cell : 0;
		for (d = 0; d < m && ++at[d] == n; d++)
			at[d] = 0;
		if (d == m)
			return sum;
	}
}

static void
check_volume(void)
{
	double x[ROWS * LOSSES], worst, all, others;
	static const double ref[] = { 0.9, 1, 1.1, 0.8, 1 };
	static const size_t rows[] = { 0, 30, 20, 14, 11, 7 };
	size_t m, n;
	struct rng rng;
	int k;

	for (m = 1; m <= LOSSES; m++) {
		worst = 0;
		n = rows[m];
		for (k = 0; k < ROUNDS; k++) {
			rng_init(&rng, 10 + m, (uint64_t)k);
			fill(&rng, x, n * m, k % 2);
			all = hypervolume_of(x, n, m, ref);
			worst = fmax(
			    worst, fabs(all - volume_slowly(x, n, m, ref)));
			others = hypervolume_of(x + m, n - 1, m, ref);
			worst = fmax(worst,
			    fabs(all - others -
				 hypervolume_gain(x, x + m, n - 1, m, ref)));
		}
		is_near(worst, 0, 1e-13, "volume and gain");
	}
	is_near(hypervolume_of(NULL, 0, 3, ref), 0, 0, "of nothing");
	x[0] = x[1] = NAN;
	is_near(hypervolume_of(x, 1, 2, ref), 0, 0, "of NaN");
}

static void
choose_slowly(size_t *chosen, size_t k, const double *x, size_t n, size_t m,
    const double *ref)
{
	double taken[ROWS * LOSSES], with, most;
	bool used[ROWS] = { false };
	size_t i, step, best = 0;

	for (step = 0; step < k; step++) {
		most = -1;
		for (i = 0; i < n; i++) {
			if (used[i])
				continue;
			memcpy(taken + step * m, x + i * m, m * sizeof *x);
			with = hypervolume_of(taken, step + 1, m, ref);
			if (with > most + 1e-12) {
				most = with;
				best = i;
			}
		}
		memcpy(taken + step * m, x + best * m, m * sizeof *x);
		used[best] = true;
		chosen[step] = best;
	}
}

/* Rows of length 1: none dominates another. */
static void
fill_front(struct rng *rng, double *x, size_t n, size_t m)
{
	double squares;
	size_t i, d;

	fill(rng, x, n * m, 0);
	for (i = 0; i < n; i++) {
		for (squares = 0, d = 0; d < m; d++)
			squares += x[i * m + d] * x[i * m + d];
		for (d = 0; d < m; d++)
			x[i * m + d] /= sqrt(squares);
	}
}

static void
check_choose(void)
{
	static const double two[] = { 1, 2, 2, 1, 1, 2, 1, 2 };
	static const double odd[] = { INFINITY, 1, 1, 2, 0, 3 };
	size_t m, i, got[ROWS], want[ROWS];
	double x[ROWS * LOSSES], ref[LOSSES];
	struct rng rng;
	bool good;
	int k;

	for (m = 2; m <= 4; m++) {
		good = true;
		for (k = 0; k < ROUNDS; k++) {
			rng_init(&rng, 20 + m, (uint64_t)k);
			fill_front(&rng, x, ROWS, m);
			hypervolume_reference(ref, x, ROWS, m);
			hypervolume_subset(got, 9, x, ROWS, m, ref);
			choose_slowly(want, 9, x, ROWS, m, ref);
			for (i = 0; i < 9; i++)
				good = good && got[i] == want[i];
		}
		ok(good, "9 of 40 with %zu losses", m);
	}
	hypervolume_reference(ref, two, 4, 2);
	is_near(ref[0], 2.2, 1e-15, "a tenth beyond the worst");
	hypervolume_subset(got, 3, two, 4, 2, ref);
	ok(got[0] + got[1] == 1 && got[2] == 2,
	    "duplicate rows are selected last");
	ref[0] = ref[1] = -2;
	hypervolume_reference(ref, odd, 3, 2);
	hypervolume_subset(got, 2, odd, 3, 2, ref);
	ok(got[0] == 2 && got[1] == 1, "no volume: the first in order");
	x[0] = -1;
	hypervolume_reference(ref, x, 1, 1);
	is_near(ref[0], -0.9, 1e-15, "beyond a negative worst");
}

int
main(void)
{
	check_ranks();
	check_bound();
	check_crowding();
	check_volume();
	check_choose();
	return done_testing();
}
