/* Values of settings, Student's t, and the race. */

#include <math.h>

#include "src/model/replicate-stats.h"
#include "tests/support/tap.h"

static bool
near(double a, double b, double within)
{
	return fabs(a - b) <= within;
}

static void
test_value(void)
{
	const double losses[] = { 4, NAN, 1, 2, 3 };
	const double none[] = { NAN, NAN };
	const double broken[] = { -1, INFINITY, INFINITY };
	double mean, error;

	ok(near(replicate_stats_value(losses, 5, NAN), 2.5, 1e-12),
	    "the mean leaves out what is missing");
	ok(near(replicate_stats_value(losses, 5, 0.5), 2.5, 1e-12),
	    "the median of four values is between the middle ones");
	ok(near(replicate_stats_value(losses, 5, 1), 4, 0), "1 is the worst");
	ok(near(replicate_stats_value(losses, 5, 0), 1, 0), "0 is the best");
	ok(near(replicate_stats_value(losses, 5, 0.9), 3.7, 1e-12),
	    "a quantile is interpolated");
	ok(isnan(replicate_stats_value(none, 2, 0.5)),
	    "no value without a loss");
	ok(replicate_stats_value(broken, 3, 0.75) == INFINITY &&
		replicate_stats_value(broken, 3, 0) < 0 &&
		replicate_stats_value(broken, 3, NAN) == INFINITY,
	    "what violates without bound is infinite");
	ok(replicate_stats_mean(losses, 5, &mean, &error) == 4 &&
		near(error, sqrt(5.0 / 3 / 4), 1e-12),
	    "the standard error is that of four");
	ok(replicate_stats_mean(losses + 4, 1, &mean, &error) == 1 &&
		isnan(error),
	    "one value has no standard error");
}

/* Upper 5 % points of tables. */
static void
test_student(void)
{
	static const struct {
		size_t df;
		double t, tail;
	} table[] = { { 1, 6.313752, 0.05 }, { 2, 2.919986, 0.05 },
		{ 3, 2.353363, 0.05 }, { 4, 2.131847, 0.05 },
		{ 5, 2.015048, 0.05 }, { 10, 1.812461, 0.05 },
		{ 29, 1.699127, 0.05 }, { 1000, 1.646379, 0.05 },
		{ 4, 4.604095, 0.005 }, { 7, 0, 0.5 }, { 3, -2.353363, 0.95 } };
	size_t i;
	bool good = true;

	for (i = 0; i < sizeof table / sizeof table[0]; i++)
		good &=
		    near(replicate_stats_student_tail(table[i].t, table[i].df),
			table[i].tail, 2e-7);
	ok(good, "Student's tail is that of tables");
}

static void
test_better(void)
{
	/* Seeds differ much, settings little: only pairs show it. */
	const double a[] = { 1, 11, 21, NAN, 41 };
	const double b[] = { 2.1, 11.9, 22, 32, NAN };
	size_t pairs;
	double p = replicate_stats_better(a, b, 5, &pairs);

	ok(pairs == 3, "three replicates are in both");
	ok(near(p, 0.0016528925619835211 * 1.0, 1e-3) && p < 0.05,
	    "better by pairs, although the seeds differ more");
	ok(replicate_stats_better(b, a, 5, &pairs) > 0.95, "not the other way");
	ok(isnan(replicate_stats_better(a, b, 1, &pairs)) && pairs == 1,
	    "no test of one pair");
	ok(replicate_stats_better(a, a, 3, &pairs) >= 0.05,
	    "not better than itself");
}

static void
test_race(void)
{
	/* Five settings of three replicates; the fourth and fifth have one. */
	const double losses[] = { 1.0, 2.0, 3.0, /* the best */
		1.3, 2.1, 3.5, /* may be */
		1.5, 1.9, 3.6, /* may be */
		9.0, NAN, NAN, /* not */
		1.2, NAN, NAN /* may be */ };
	struct replicate_race race = replicate_stats_race(losses, 5, 3, 0);
	const double few[] = { 1, 2, 90, NAN };
	const double same[] = { 1, 2, 3, 1, 2, 3, 1.1, NAN, NAN };

	ok(race.df == 4, "differences of two settings count");
	ok(replicate_stats_may_win(&race, 0) &&
		replicate_stats_may_win(&race, 1) &&
		replicate_stats_may_win(&race, 2) &&
		replicate_stats_may_win(&race, 4),
	    "a setting near the best may still win");
	ok(!replicate_stats_may_win(&race, 3),
	    "a setting far from the best after one replicate may not");
	race = replicate_stats_race(few, 2, 2, 0);
	ok(replicate_stats_may_win(&race, 1),
	    "nothing is behind without a variance");
	race = replicate_stats_race(same, 3, 3, 0);
	ok(replicate_stats_may_win(&race, 1) &&
		!replicate_stats_may_win(&race, 2),
	    "without noise any difference decides");
}

/* Violations: those of a setting against nothing but 0. */
static void
test_positive(void)
{
	const double violations[] = { -2, -1, -3, /* */
		0.5, -0.5, 0.1, /* by chance */
		9, NAN, NAN, /* for certain */
		0.2, NAN, NAN, /* by chance */
		INFINITY, 1, NAN };
	const double same[] = { 1, 2, 3, 1, 2, NAN, 1, 2, 4, NAN, NAN, 9 };
	struct replicate_race race = replicate_stats_race(violations, 5, 3, 0);

	ok(race.df_within == 4, "infinite ones have no variance");
	ok(!replicate_stats_positive(&race, 0) &&
		!replicate_stats_positive(&race, 1) &&
		replicate_stats_positive(&race, 2) &&
		!replicate_stats_positive(&race, 3),
	    "only what is far above 0 is so beyond chance");
	race = replicate_stats_race(same, 4, 3, 0);
	ok(replicate_stats_same(&race, 0) && replicate_stats_same(&race, 1) &&
		!replicate_stats_same(&race, 2) &&
		!replicate_stats_same(&race, 3),
	    "the same where both have a replicate");
}

/* Three folds that differ by 10 each, and results that differ by 1. */
static void
test_noise(void)
{
	const double folds[] = { 9, 21, 30, 10, 20, 31, 11, NAN, NAN };
	const double single[] = { 1, NAN, 2, NAN };
	struct replicate_race race = replicate_stats_race(folds, 3, 3, 0);
	/* Differences -1, 1, -1 and none; two settings within themselves. */
	double own = (2 + 2.0 / 3) / 2 / 2, within = (222 + 662.0 / 3) / 4;

	ok(near(replicate_stats_noise(&race, 3), sqrt(own / 3), 1e-9),
	    "with all replicates the folds make no difference: %g",
	    replicate_stats_noise(&race, 3));
	ok(near(replicate_stats_noise(&race, 1),
	       sqrt(own + (within - own) * 2 / 3), 1e-9),
	    "with one they do: %g", replicate_stats_noise(&race, 1));
	race = replicate_stats_race(single, 2, 2, 0);
	ok(replicate_stats_noise(&race, 1) == 0,
	    "nothing is known without a setting with two");
}

int
main(void)
{
	test_value();
	test_student();
	test_better();
	test_race();
	test_positive();
	test_noise();
	return done_testing();
}
