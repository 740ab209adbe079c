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
#include "tests/support/tap.h"

enum { NIGHTS = 500, NIGHT = 100, PAIRS = 30 };
#define ALPHA 0.05

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

/* What a rule makes of one night. */
struct night {
	int kept_false, kept_true;
	double runs;
};

/* A way to judge a on b: whether it is kept; runs: of a. */
typedef bool
judge(const double *a, const double *b, double level, size_t *runs);

static bool
judge_rule(const double *a, const double *b, double level, size_t *runs)
{
	return proposal_rule_judge(a, b, PAIRS, PAIRS, level, runs) ==
	       PROPOSAL_KEPT;
}

/* What an agent does: keep it if it is better once. */
static bool
judge_once(const double *a, const double *b, double level, size_t *runs)
{
	(void)level;
	*runs = 1;
	return a[0] < b[0];
}

static bool
judge_mean_of_three(
    const double *a, const double *b, double level, size_t *runs)
{
	(void)level;
	*runs = 3;
	return a[0] + a[1] + a[2] < b[0] + b[1] + b[2];
}

/* A paired t test of ten at 5 %. */
static bool
judge_t_test(const double *a, const double *b, double level, size_t *runs)
{
	double mean = 0, squares = 0;
	size_t i;

	(void)level;
	*runs = 10;
	for (i = 0; i < 10; i++)
		mean += (b[i] - a[i]) / 10;
	for (i = 0; i < 10; i++)
		squares += (b[i] - a[i] - mean) * (b[i] - a[i] - mean);
	return mean / sqrt(squares / 90) > 1.833;
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

static struct night
night_run(struct rng *r, judge *f, enum noise noise, double good, bool bad)
{
	double a[PAIRS], b[PAIRS], level, spent = 0, best = 0, effect;
	struct night night = { .runs = PROPOSAL_RULE_BAND };
	size_t i, k, runs, had = PROPOSAL_RULE_BAND;

	for (i = 0; i < PAIRS; i++)
		b[i] = noise_draw(r, noise, i);
	for (k = 1; k <= NIGHT; k++) {
		effect = effect_draw(r, good, bad);
		for (i = 0; i < PAIRS; i++)
			a[i] = noise_draw(r, noise, i) + best - effect;
		level = proposal_rule_levels(ALPHA, k) - spent;
		if (!f(a, b, level, &runs)) {
			spent += level;
			night.runs += (double)runs;
			/* The baseline runs once for all. */
			night.runs += runs > had ? (double)(runs - had) : 0;
			had = runs > had ? runs : had;
			continue;
		}
		night.runs += (double)runs;
		night.kept_false += effect <= 0;
		night.kept_true += effect > 0;
		best -= effect;
		memcpy(b, a, sizeof b);
		had = runs;
	}
	return night;
}

struct nights {
	double wrong; /* share of nights with a false keep */
	double kept_false, kept_true, runs; /* of a night */
};

static struct nights
nights_run(judge *f, enum noise noise, double good, bool bad)
{
	struct nights all = { 0 };
	struct night one;
	struct rng r;
	size_t i;

	rng_init(&r, 41, (uint64_t)noise);
	for (i = 0; i < NIGHTS; i++) {
		one = night_run(&r, f, noise, good, bad);
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
		n = nights_run(judge_rule, (enum noise)i, 0, false);
		ok(n.wrong <= FALSE_MOST,
		    "%s: %.4f of nights without an effect keep something, "
		    "with %.0f runs",
		    noise_names[i], n.wrong, n.runs);
	}
	n = nights_run(judge_once, NORMAL, 0, false);
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
		rule = nights_run(judge_rule, NORMAL, 0.2, bad == 1);
		once = nights_run(judge_once, NORMAL, 0.2, bad == 1);
		three = nights_run(judge_mean_of_three, NORMAL, 0.2, bad == 1);
		ten = nights_run(judge_t_test, NORMAL, 0.2, bad == 1);
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
	ok(proposal_rule_judge(a, b, 0, PAIRS, 5e-4, &looks) == PROPOSAL_OPEN &&
		looks == 0,
	    "no pairs, no verdict");
	ok(proposal_rule_judge(a, b, 5, PAIRS, 5e-4, &looks) == PROPOSAL_OPEN &&
		looks == 5,
	    "five pairs leave it open");
	ok(proposal_rule_judge(a, b, PAIRS, PAIRS, 5e-4, &looks) ==
		    PROPOSAL_KEPT &&
		proposal_rule_judge(a, b, looks, PAIRS, 5e-4, &later) ==
		    PROPOSAL_KEPT &&
		later == looks && looks > 10,
	    "%zu keep it, however many have ended", looks);
	ok(proposal_rule_judge(b, a, PAIRS, PAIRS, 5e-4, &looks) ==
		    PROPOSAL_DISCARDED &&
		looks == 1,
	    "what is much worse is discarded after one");
	ok(proposal_rule_judge(b, b, PAIRS, PAIRS, 5e-4, &looks) ==
		    PROPOSAL_DISCARDED &&
		looks <= 3,
	    "and what is equal after %zu", looks);
	ok(proposal_rule_judge(a, b, 10, 10, 5e-4, &looks) ==
		PROPOSAL_UNDECIDED,
	    "without enough pairs it is undecided");
	a[1] = INFINITY;
	ok(proposal_rule_judge(a, b, PAIRS, PAIRS, 5e-4, &looks) ==
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
	ok(fabs(proposal_rule_levels(ALPHA, 100) - ALPHA / 2) < 1e-15 &&
		proposal_rule_levels(ALPHA, 1000000) < ALPHA,
	    "a night of 100 has half of the error, and all nights no more "
	    "than it");
}

int
main(void)
{
	test_given();
	test_nothing();
	test_something();
	return done_testing();
}
