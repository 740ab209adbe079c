/*
 * The rule for proposals: what it says of given losses, and by simulation that a
 * night of 100 proposals keeps a false one as seldom as promised, also where
 * proposals follow one another on a baseline that was kept.
 */

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "src/base/rng.h"
#include "src/model/evidence/paired-evidence.h"
#include "src/model/evidence/proposal-rule.h"
#include "tests/support/proposal-night.h"
#include "tests/support/tap.h"

enum { NIGHTS = 500, PAIRS = PROPOSAL_NIGHT_PAIRS };
#define ALPHA PROPOSAL_NIGHT_ALPHA

/* 500 nights at 5 %: three standard errors above. */
#define FALSE_MOST (ALPHA + 3 * 0.0098)

enum noise { NORMAL, CAUCHY, BAD_NODE, TIES, DRIFTS, FAILS, NOISES };
static const char *const noise_names[] = { "normal", "Cauchy",
	"one bad node in ten", "whole numbers", "drift",
	"one run in 20 fails" };

static double
noise_draw(struct rng *r, enum noise noise, size_t i)
{
	double z = rng_normal(r), u = rng_uniform(r);

	switch (noise) {
	case NORMAL:
	case NOISES:
		return z;
	case CAUCHY:
		return tan(3.141592653589793 * (u * 0.999998 + 1e-6 - 0.5));
	case BAD_NODE:
		return z + (u < 0.1 ? 20 : 0);
	case TIES:
		return floor(3 * u);
	case DRIFTS:
		return z + (double)i;
	case FAILS:
		return u < 0.05 ? INFINITY : z;
	}
	return z;
}

/*
 * The effect of a proposal, in deviations of a run: of good ones, of which there
 * is this share, 0.5, 1 or 2; bad: of the others between -1 and -3, else none.
 */
static double
effect_draw(struct rng *r, double good, bool bad)
{
	static const double effects[] = { 0.5, 1, 2 };
	double u = rng_uniform(r), v = rng_uniform(r);

	if (u < good)
		return effects[(size_t)(v * 3) % 3];
	return bad ? -1 - 2 * v : 0;
}

/* What nights are made of. */
struct world {
	struct rng r;
	enum noise noise;
	double good;
	bool bad;
};

static void
world_noise(void *arg, double *to)
{
	struct world *w = arg;
	size_t i;

	for (i = 0; i < PAIRS; i++)
		to[i] = noise_draw(&w->r, w->noise, i);
}

static double
world_effect(void *arg)
{
	struct world *w = arg;

	return effect_draw(&w->r, w->good, w->bad);
}

struct nights {
	double wrong; /* share of nights with a false keep */
	double kept_false, kept_true, runs; /* of a night */
};

static struct nights
nights_run(proposal_night_judge *f, enum noise noise, double good, bool bad)
{
	struct world w = { .noise = noise, .good = good, .bad = bad };
	const struct proposal_night_world world = {
		.arg = &w, .noise = world_noise, .effect = world_effect
	};
	struct nights all = { 0 };
	struct proposal_night one;
	size_t i;

	rng_init(&w.r, 41, (uint64_t)noise);
	for (i = 0; i < NIGHTS; i++) {
		one = proposal_night_run(f, &world);
		all.wrong += one.kept_false > 0;
		all.kept_false += one.kept_false;
		all.kept_true += one.kept_true;
		all.runs += one.runs;
	}
	all.wrong /= NIGHTS;
	all.kept_false /= NIGHTS;
	all.kept_true /= NIGHTS;
	all.runs /= NIGHTS;
	return all;
}

static void
test_nothing(void)
{
	struct nights n;
	int i;

	for (i = 0; i < NOISES; i++) {
		n = nights_run(proposal_night_rule, (enum noise)i, 0, false);
		ok(n.wrong <= FALSE_MOST,
		    "%s: %.4f of nights without an effect keep something, "
		    "with %.0f runs",
		    noise_names[i], n.wrong, n.runs);
	}
	n = nights_run(proposal_night_once, NORMAL, 0, false);
	ok(n.wrong > 0.9, "keep if better once: %.4f, %.1f keeps a night",
	    n.wrong, n.kept_false);
}

/* True keeps for 100 runs. */
static double
nights_rate(const struct nights *n)
{
	return 100 * n->kept_true / n->runs;
}

static void
test_something(void)
{
	static const char *const names[] = { "none", "harm" };
	struct nights rule, once, three, ten;
	int bad;

	for (bad = 0; bad < 2; bad++) {
		rule = nights_run(proposal_night_rule, NORMAL, 0.2, bad == 1);
		once = nights_run(proposal_night_once, NORMAL, 0.2, bad == 1);
		three = nights_run(
		    proposal_night_mean_of_three, NORMAL, 0.2, bad == 1);
		ten = nights_run(proposal_night_t_test, NORMAL, 0.2, bad == 1);
		ok(rule.wrong <= FALSE_MOST && once.wrong > 0.5,
		    "of five one helps, four have %s: %.4f of nights keep a "
		    "false one; once better: %.3f, of three: %.3f, t of ten: "
		    "%.3f",
		    names[bad], rule.wrong, once.wrong, three.wrong, ten.wrong);
		ok(nights_rate(&rule) > 1.3 * nights_rate(&ten),
		    "true keeps for 100 runs: %.2f; once %.2f, of three %.2f, "
		    "t of ten %.2f",
		    nights_rate(&rule), nights_rate(&once), nights_rate(&three),
		    nights_rate(&ten));
		printf("# of a night: %.2f true keeps, %.3f false, %.0f runs; "
		       "once %.2f, %.2f, %.0f; of three %.2f, %.2f, %.0f; t of "
		       "ten %.2f, %.2f, %.0f\n",
		    rule.kept_true, rule.kept_false, rule.runs, once.kept_true,
		    once.kept_false, once.runs, three.kept_true,
		    three.kept_false, three.runs, ten.kept_true, ten.kept_false,
		    ten.runs);
	}
}

static void
test_given(void)
{
	double a[PAIRS] = { 0 }, b[PAIRS] = { 0 };
	size_t i, looks, later;

	for (i = 0; i < PAIRS; i++)
		b[i] = 1 + (double)(i % 3) / 100;
	ok(proposal_rule_judge(a, b, 0, PAIRS, 0, 5e-4, &looks) ==
		    PROPOSAL_OPEN &&
		looks == 0,
	    "no pairs, no verdict");
	ok(proposal_rule_judge(a, b, 5, PAIRS, 0, 5e-4, &looks) ==
		    PROPOSAL_OPEN &&
		looks == 5,
	    "five pairs leave it open");
	ok(proposal_rule_judge(a, b, PAIRS, PAIRS, 0, 5e-4, &looks) ==
		    PROPOSAL_KEPT &&
		proposal_rule_judge(a, b, looks, PAIRS, 0, 5e-4, &later) ==
		    PROPOSAL_KEPT &&
		later == looks && looks > 10,
	    "%zu keep it, however many have ended", looks);
	ok(proposal_rule_judge(b, a, PAIRS, PAIRS, 0, 5e-4, &looks) ==
		    PROPOSAL_DISCARDED &&
		looks == 1,
	    "what is much worse is discarded after one");
	ok(proposal_rule_judge(b, b, PAIRS, PAIRS, 0, 5e-4, &looks) ==
		    PROPOSAL_DISCARDED &&
		looks <= 3,
	    "and what is equal after %zu", looks);
	ok(proposal_rule_judge(a, b, 10, 10, 0, 5e-4, &looks) ==
		PROPOSAL_UNDECIDED,
	    "without enough pairs it is undecided");
	a[1] = INFINITY;
	ok(proposal_rule_judge(a, b, PAIRS, PAIRS, 0, 5e-4, &looks) ==
		    PROPOSAL_DISCARDED &&
		looks == 2,
	    "a run that fails where the baseline's does not: discarded");
	b[2] = 1.02;
	ok(!proposal_rule_behind(1.03, 1, b) &&
		proposal_rule_behind(1.2, 1, b) &&
		!proposal_rule_behind(1.2, NAN, b) &&
		!proposal_rule_behind(1.2, 1.19, b) &&
		!proposal_rule_behind(NAN, 1, b),
	    "far behind the baseline is more than its noise");
	b[1] = NAN;
	ok(!proposal_rule_behind(1.2, 1, b), "which must be known");
	ok(proposal_rule_horizon(0, 100) == 30 &&
		proposal_rule_horizon(5, 100) == 50 &&
		proposal_rule_horizon(16, 100) == 94 &&
		proposal_rule_horizon(17, 100) == 100 &&
		proposal_rule_horizon(1000000, 100) == 100 &&
		proposal_rule_horizon(3, 31) == 31 &&
		proposal_rule_horizon(0, 20) == 20,
	    "the horizon grows, up to all pairs");
	for (i = 0; i < PAIRS; i++)
		a[i] = 0, b[i] = i % 2 == 0 ? 1.5 : -0.5;
	ok(proposal_rule_judge(a, b, PAIRS, PAIRS, 0, 5e-4, &looks) ==
		    PROPOSAL_DISCARDED &&
		proposal_rule_judge(a, b, PAIRS, PAIRS, 20, 5e-4, &later) !=
		    PROPOSAL_DISCARDED,
	    "with a farther horizon a smaller effect stays: %zu, %zu", looks,
	    later);
}

/*
 * The levels of n proposals that are not kept, one in keeps being kept first; spent:
 * by before others; least: of those that were not kept.
 */
static double
levels_spend(size_t n, size_t keeps, double spent, size_t before, double *least)
{
	double level;
	size_t k;

	*least = 1;
	for (k = before + 1; k <= before + n; k++) {
		level = proposal_rule_level(ALPHA, k, spent);
		if (keeps > 0 && k % keeps == 0)
			continue;
		spent += level;
		*least = fmin(*least, level);
	}
	return spent;
}

static void
test_levels(void)
{
	double least, old = ALPHA * 40 / 140, level;
	size_t keeps;

	ok(fabs(levels_spend(100, 0, 0, 0, &least) - 0.9 * ALPHA) < 1e-15 &&
		fabs(least - 0.009 * ALPHA) < 1e-15,
	    "a night of 100 has nine tenths of the error, in even shares");
	ok(levels_spend(100000, 0, 0, 0, &least) < ALPHA && least > 0,
	    "and all nights no more than it");
	for (keeps = 2; keeps < 60; keeps += 7)
		ok(levels_spend(3000, keeps, 0, 0, &least) < ALPHA && least > 0,
		    "nor where one in %zu is kept", keeps);
	ok(levels_spend(3000, 0, old, 40, &least) < ALPHA && least > 0 &&
		proposal_rule_level(ALPHA, 41, old) > ALPHA / 140,
	    "a study of an earlier version goes on with what is left");
	level = proposal_rule_level(ALPHA, 100, 0);
	ok(fabs(level - 0.02 * ALPHA) < 1e-15,
	    "the last one of a night does not get all that others left");
	ok(proposal_rule_level(ALPHA, 50, ALPHA) < 0,
	    "nothing is left of an alpha that was made smaller");
}

int
main(void)
{
	test_given();
	test_levels();
	test_nothing();
	test_something();
	return done_testing();
}
