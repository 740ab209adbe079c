/* The front as maintained during a study, against a comparison of all pairs. */

#include <stdlib.h>

#include "src/base/mem.h"
#include "src/base/rng.h"
#include "src/model/pareto-front.h"
#include "tests/support/tap.h"

enum { TRIALS = 300, LOSSES_MAX = 5 };

static bool
dominates(const double *a, const double *b, size_t n)
{
	bool better = false;
	size_t i;

	for (i = 0; i < n; i++) {
		if (a[i] > b[i])
			return false;
		better = better || a[i] < b[i];
	}
	return better;
}

/* What pareto_front_add should say of trial k among those before it. */
static enum pareto_front_place
place_of(double (*losses)[LOSSES_MAX], size_t k, size_t n)
{
	enum pareto_front_place place = PARETO_FRONT_BETTER;
	size_t i, j;

	for (i = 0; i < k; i++) {
		if (dominates(losses[i], losses[k], n))
			return PARETO_FRONT_DOMINATED;
		for (j = 0; j < n && losses[i][j] == losses[k][j]; j++)
			;
		if (j == n)
			place = PARETO_FRONT_EQUAL;
	}
	return place;
}

/* Whether exactly those are inside that none of the first k + 1 dominates. */
static bool
inside_right(
    const bool *inside, double (*losses)[LOSSES_MAX], size_t k, size_t n)
{
	size_t i, j;

	for (i = 0; i <= k; i++) {
		for (j = 0; j <= k && !dominates(losses[j], losses[i], n); j++)
			;
		if (inside[i] != (j > k))
			return false;
	}
	return true;
}

/* levels: how many values a loss can have; few make equals. */
static void
test_random(size_t n, uint64_t levels)
{
	double losses[TRIALS][LOSSES_MAX];
	bool inside[TRIALS] = { false }, places = true, right = true;
	struct pareto_front *f = pareto_front_new(n);
	enum pareto_front_place place;
	const int64_t *out;
	size_t i, j, n_out, count = 0;
	struct rng g;

	rng_init(&g, 11, n * 1000 + levels);
	for (i = 0; i < TRIALS; i++) {
		for (j = 0; j < n; j++)
			losses[i][j] = (double)rng_below(&g, levels);
		place = pareto_front_add(
		    f, (int64_t)i + 1, losses[i], &out, &n_out);
		places = places && place == place_of(losses, i, n);
		inside[i] = place != PARETO_FRONT_DOMINATED;
		for (j = 0; j < n_out; j++)
			inside[out[j] - 1] = false;
		right = right && inside_right(inside, losses, i, n);
	}
	for (i = 0; i < TRIALS; i++)
		count += inside[i];
	ok(places, "%zu losses of %d levels: each place", n, (int)levels);
	ok(right, "and the members after each");
	is_int(pareto_front_count(f), count, "and their number");
	pareto_front_free(f);
}

/* Members read back make the same front as members that came one by one. */
static void
test_loaded(void)
{
	static const double rows[][2] = { { 1, 4 }, { 2, 3 }, { 4, 1 } };
	struct pareto_front *f = pareto_front_new(2);
	const int64_t *out;
	size_t i, n_out;

	for (i = 0; i < 3; i++)
		pareto_front_load(f, (int64_t)i + 1, rows[i]);
	is_int(pareto_front_add(f, 4, (double[]){ 3, 3 }, &out, &n_out),
	    PARETO_FRONT_DOMINATED, "worse than a member");
	is_int(pareto_front_add(f, 5, (double[]){ 2, 3 }, &out, &n_out),
	    PARETO_FRONT_EQUAL, "as good as one");
	is_int(n_out, 0, "which stays");
	is_int(pareto_front_add(f, 6, (double[]){ 2, 1 }, &out, &n_out),
	    PARETO_FRONT_BETTER, "better than three");
	is_int(n_out, 3, "which leave");
	is_int(pareto_front_count(f), 2, "two are left");
	pareto_front_free(f);
}

int
main(void)
{
	test_random(2, 1000000);
	test_random(2, 8);
	test_random(3, 5);
	test_random(5, 1000000);
	test_random(1, 50);
	test_loaded();
	return done_testing();
}
