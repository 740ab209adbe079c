/*
 * Paired evidence: what it is of given differences, and by simulation that it
 * says better, at any of its looks, as seldom as it promises where nothing is,
 * and often where something is.
 */

#include <math.h>
#include <stdlib.h>

#include "src/base/rng.h"
#include "src/model/evidence/paired-evidence.h"
#include "src/model/replicate-stats.h"
#include "tests/support/tap.h"

enum { RUNS = 4000, LOOKS = 30 };

/* 4000 runs at 5 %: three standard errors above. */
#define FALSE_MOST (0.05 + 3 * 0.0035)

static double
uniform(struct rng *r)
{
	return rng_uniform(r) * 0.999998 + 1e-6;
}

/* Distributions of a run's loss, of both settings. */
enum noise { NORMAL, CAUCHY, SKEWED, BAD_NODE, FAILS, TIES, DRIFTS, NOISES };
static const char *const noise_names[] = { "normal", "Cauchy", "exponential",
	"one bad node in ten", "one run in five fails", "whole numbers",
	"both drift" };

static double
draw(struct rng *r, enum noise noise, size_t i)
{
	double z = rng_normal(r);

	switch (noise) {
	case NORMAL:
	case NOISES:
		return z;
	case CAUCHY:
		return tan(3.141592653589793 * (uniform(r) - 0.5));
	case SKEWED:
		return -log(uniform(r));
	case BAD_NODE:
		return z + (uniform(r) < 0.1 ? 20 : 0);
	case FAILS:
		return uniform(r) < 0.2 ? INFINITY : z;
	case TIES:
		return floor(3 * uniform(r));
	case DRIFTS:
		return z + (double)i;
	}
	return z;
}

struct counts {
	double better, worse, beyond, looks;
};

/* Settings whose losses differ by effect, in so many runs of a contest. */
static struct counts
simulate(enum noise noise, double effect, size_t looks)
{
	struct counts c = { 0 };
	double a[LOOKS], b[LOOKS], seed;
	struct paired_evidence e;
	size_t i, k, n;
	struct rng r;

	rng_init(&r, 41, (uint64_t)noise);
	for (k = 0; k < RUNS; k++) {
		for (i = 0; i < looks; i++) {
			/* What the seed does to both. */
			seed = 5 * uniform(&r);
			a[i] = seed + draw(&r, noise, i) - effect;
			b[i] = seed + draw(&r, noise, i);
		}
		n = paired_evidence_decided(a, b, looks, 0.05);
		c.beyond += paired_evidence_least(a, b, looks, 0.05) > effect;
		c.looks += (double)(n > 0 ? n : looks);
		e = paired_evidence_of(a, b, n, 0);
		c.better += n > 0 && e.better > e.worse;
		c.worse += n > 0 && e.worse > e.better;
	}
	c.better /= RUNS;
	c.worse /= RUNS;
	c.beyond /= RUNS;
	c.looks /= RUNS;
	return c;
}

static void
test_nothing(void)
{
	struct counts c;
	int i;

	for (i = 0; i < NOISES; i++) {
		c = simulate((enum noise)i, 0, LOOKS);
		ok(c.better <= FALSE_MOST && c.worse <= FALSE_MOST,
		    "%s: of equal settings %.4f are better and %.4f worse at "
		    "any of %d looks",
		    noise_names[i], c.better, c.worse, LOOKS);
	}
}

static void
test_something(void)
{
	/* In standard deviations of a difference: 0.5, 1 and 2. */
	static const double effects[] = { 0.7071, 1.4142, 2.8284 };
	static const double power[] = { 0.15, 0.5, 0.95 };
	struct counts c;
	size_t i;

	for (i = 0; i < 3; i++) {
		c = simulate(NORMAL, effects[i], 10);
		ok(c.better >= power[i] && c.worse < 0.01,
		    "an effect of %g deviations is shown in %.3f of 10 pairs, "
		    "after %.1f of them",
		    effects[i] / 1.4142, c.better, c.looks);
		ok(c.beyond <= FALSE_MOST,
		    "in %.4f the least difference is more than it", c.beyond);
	}
	c = simulate(CAUCHY, 3, LOOKS);
	ok(c.beyond <= FALSE_MOST && c.better > 0.3,
	    "with heavy tails: %.3f shown, in %.4f beyond", c.better, c.beyond);
}

/* How often a paired t test at 5 % says better, looked at from the second pair. */
static double
simulate_t_test(double effect, size_t first, size_t looks)
{
	double a[LOOKS], b[LOOKS], better = 0;
	size_t i, k, n, pairs;
	struct rng r;

	rng_init(&r, 41, NOISES);
	for (k = 0; k < RUNS; k++) {
		for (i = 0; i < looks; i++) {
			a[i] = draw(&r, NORMAL, i) - effect;
			b[i] = draw(&r, NORMAL, i);
		}
		for (n = first; n <= looks; n++)
			if (replicate_stats_better(a, b, n, &pairs) < 0.05)
				break;
		better += n <= looks;
	}
	return better / RUNS;
}

/* What it is for: a test for one look, looked at more often. */
static void
test_peeking(void)
{
	double once = simulate_t_test(0, 10, 10);
	double often = simulate_t_test(0, 2, LOOKS);

	ok(once <= FALSE_MOST && often > 0.15,
	    "a t test of equal settings says better in %.4f after 10 pairs, "
	    "and in %.4f after any of %d",
	    once, often, LOOKS);
	once = simulate_t_test(1.4142, 10, 10);
	ok(once > 0.8,
	    "after 10 pairs it shows 1 deviation in %.3f, and 0.5 in %.3f",
	    once, simulate_t_test(0.7071, 10, 10));
}

static void
test_given(void)
{
	const double ones[] = { 1, 1, 1, 1, 1, 1 };
	const double zeros[] = { 0, 0, 0, 0, 0, 0 };
	const double gaps[] = { 0, NAN, INFINITY, INFINITY, 0, 0 };
	struct paired_evidence e = paired_evidence_of(zeros, ones, 0, 0);

	ok(e.pairs == 0 && e.better == 1 && e.worse == 1 && isnan(e.difference),
	    "no pairs, no evidence");
	e = paired_evidence_of(zeros, ones, 5, 0);
	ok(e.better > 20 && e.better <= 32 && e.worse < 1 && e.difference == 1,
	    "five pairs of one sign: %g", e.better);
	ok(paired_evidence_decided(zeros, ones, 6, 0.05) == 5 &&
		paired_evidence_decided(ones, zeros, 6, 0.05) == 5 &&
		paired_evidence_pairs_least(0.05) == 5,
	    "which decide at 5 %%");
	ok(paired_evidence_decided(zeros, ones, 4, 0.05) == 0,
	    "and four do not");
	e = paired_evidence_of(zeros, zeros, 6, 0);
	ok(e.better == 1 && e.worse == 1 && e.pairs == 6,
	    "equal losses say nothing");
	e = paired_evidence_of(gaps, ones, 3, 0);
	ok(e.pairs == 2 && e.better == e.worse && e.difference == 1,
	    "a failure is a pair that is lost, and NaN is no pair: %g, %g",
	    e.better, e.worse);
	e = paired_evidence_of(gaps + 2, ones, 2, 0);
	ok(e.better < 1 && e.worse > 2 && isnan(e.difference),
	    "two failures of one: %g", e.worse);
	e = paired_evidence_of(gaps + 2, gaps + 2, 2, 0);
	ok(e.better == 1 && e.worse == 1, "two failures say nothing");
	ok(paired_evidence_least(zeros, ones, 6, 0.05) > 0.9 &&
		isnan(paired_evidence_least(ones, zeros, 6, 0.05)),
	    "the least difference: %g",
	    paired_evidence_least(zeros, ones, 6, 0.05));
}

int
main(void)
{
	test_given();
	test_nothing();
	test_something();
	test_peeking();
	return done_testing();
}
