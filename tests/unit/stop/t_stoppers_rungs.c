/*
 * asha and hyperband: which trials pass which rung.  Brackets are Optuna's own
 * numbers; the rest is derived by hand.  T = stop, . = keep.
 */

#include "src/base/rng.h"
#include "strategies/stop/halving/halving-engine.h"
#include "tests/support/rule-bench.h"

#define N(a) ((int)(sizeof(a) / sizeof((a)[0])))

/* Trials first, first + 1, … that report one value each at step. */
static void
at_rung(struct bench *b, int64_t first, int64_t step, const double *v, int n,
    const char *want, const char *what)
{
	char got[32] = "";
	int i;

	for (i = 0; i < n; i++)
		got[i] = bench_report(b, first + i, step, v[i]);
	is_str(got, want, what);
}

#define AT_RUNG(b, first, step, want, what, ...)                          \
	do {                                                              \
		double values_[] = { __VA_ARGS__ };                       \
		at_rung(b, first, step, values_, N(values_), want, what); \
	} while (0)

/* Whether the best share of a random set is that of the sorted set. */
static void
test_cut(void)
{
	double all[400], worst;
	int i, k, n = 0, bad = 0, best;
	struct top_quantile c;
	struct rng r;

	rng_init(&r, 3, 1);
	top_quantile_init(&c, 3);
	for (i = 0; i < 2000; i++) {
		if (n > 0 && (n == N(all) || rng_below(&r, 3) == 0)) {
			k = (int)rng_below(&r, (uint64_t)n);
			top_quantile_remove(&c, all[k]);
			all[k] = all[--n];
		} else
			top_quantile_add(
			    &c, all[n++] = (double)rng_below(&r, 50));
		worst = top_quantile_worst(&c);
		best = (int)top_quantile_best(&c);
		bad += (int)top_quantile_count(&c) != n ||
		       best != (n == 0	   ? 0
				   : n < 3 ? 1
					   : n / 3) ||
		       isnan(worst) != (n == 0);
		for (k = 0; k < n; k++)
			best -= all[k] < worst;
		bad += n > 0 && best < 1;
		for (k = 0; k < n; k++)
			best -= all[k] == worst;
		bad += best > 0;
	}
	is_int(bad, 0, "the best share of a set that grows and shrinks");
	top_quantile_free(&c);
}

static void
test_promotion(void)
{
	struct bench b = bench_open("asha", NULL, false, 100);

	AT_RUNG(&b, 1, 1, ".T..T.T.",
	    "of fewer than 4 the best, of 8 the best two; ties go on", 5, 6, 4,
	    4, 4.5, 3, 3.5, 3.5);
	is_near(b.last.threshold, 3.5, 0,
	    "a trial that continues is judged at the last of them");
	is_int(b.last.pool, 7, "and how many others came so far");
	AT_RUNG(&b, 9, 1, "T", "worse than the second", 3.75);
	is_str(b.last.why,
	    "3.75 is above 3.5, the last of the best 2 among it and 8 others "
	    "at rung 1",
	    "it gives the reason");
	is_str(b.last.rule, "asha", "the verdict names the rule");
	ok(!b.last.diverged, "and nothing diverged");
	bench_close(&b);

	b = bench_open("asha", NULL, true, 100);
	AT_RUNG(&b, 1, 1, ".T..T", "maximize", -5, -6, -4, -4, -4.5);
	is_near(b.last.threshold, -4, 0, "threshold in the user's sign");
	is_str(b.last.why,
	    "-4.5 is below -4, the last of the best 1 among it and 4 others "
	    "at rung 1",
	    "and in words");
	bench_close(&b);
}

/* A good trial, then a bad one at steps 0, 1, …: where it is stopped. */
static void
test_rungs(
    const char *options, int64_t max_steps, const char *want, const char *what)
{
	struct bench b = bench_open("asha", options, false, max_steps);
	char got[64] = "";
	int i;

	for (i = 0; want[i] != '\0'; i++)
		bench_feed(&b, 1, i, 1);
	bench_end(&b, 1, TRIAL_FAILED, NAN);
	for (i = 0; want[i] != '\0'; i++)
		got[i] = bench_report(&b, 2, i, 2);
	is_str(got, want, what);
	bench_close(&b);
}

static void
test_where(void)
{
	test_rungs(NULL, 100, ".T..T...........T...", "rungs 1, 4, 16");
	test_rungs(NULL, 16, ".T..T...........", "none at the last step");
	test_rungs("{\"reduction_factor\":2}", 30, ".TT.T...T.......T...",
	    "rungs 1, 2, 4, 8, 16");
	test_rungs(
	    "{\"min_resource\":3}", 30, "...T........T.......", "rungs 3, 12");
	test_rungs("{\"min_resource\":3}", 0, "...T........T.......",
	    "the same when nobody knows the steps of a trial");
	test_rungs("{\"min_resource\":\"10%\"}", 39, "...T........T.......",
	    "the same as a share, rounded down");
	test_rungs(NULL, 250, "..T.....T...........", "1 % of 250: rungs 2, 8");
	test_rungs("{\"min_early_stopping_rate\":1}", 100,
	    "....T...........T...", "rate 1: rungs 4, 16");
	test_rungs("{\"min_early_stopping_rate\":80}", 100,
	    "....................", "a rate beyond all steps stops no trial");
	test_rungs(NULL, 0, "....................",
	    "no steps known and nobody completed: nobody is judged");
}

/* The first report at or past a rung counts there. */
static void
test_gaps(void)
{
	struct bench b = bench_open("asha", NULL, false, 100);

	bench_feed(&b, 1, 0, 9);
	bench_feed(&b, 1, 5, 2);
	AT_RUNG(&b, 2, 1, "T", "it stands on rung 1 as well", 3);
	is_near(b.last.threshold, 2, 0, "with its value of step 5");
	bench_feed(&b, 2, 4, 1);
	is_int(bench_report(&b, 3, 7, 1), '.', "equal continues");
	is_int(bench_report(&b, 3, 8, 99), '.', "later reports have no rung");
	is_int(bench_report(&b, 4, 6, 1.5), 'T', "both rungs are judged");
	is_str(b.last.why,
	    "1.5 is above 1, the last of the best 1 among it and 3 others at "
	    "rung 1",
	    "the first one that it fails is named");
	/* A smaller step reported late takes the rung over. */
	bench_feed(&b, 1, 1, 0.5);
	AT_RUNG(&b, 5, 1, "T", "below what stood there before", 0.75);
	is_near(b.last.threshold, 0.5, 0,
	    "the threshold is that of the late report");
	/* One that comes again replaces the first. */
	bench_feed(&b, 1, 1, 4);
	AT_RUNG(&b, 6, 1, "..", "the earlier value is gone", 0.7, 0.7);
	is_near(b.last.threshold, 0.7, 0, "for good");
	bench_close(&b);
}

static void
test_odd_values(void)
{
	struct bench b = bench_open("asha", NULL, false, 100);

	AT_RUNG(&b, 1, 1, "D", "a NaN at a rung stops", NAN);
	is_str(b.last.why, "the value at rung 1 is not a number", "and why");
	is_int(b.last.pool, 0, "of no trial");
	AT_RUNG(&b, 2, 1, "..", "infinities are values; ties go on", INFINITY,
	    INFINITY);
	AT_RUNG(&b, 4, 1, ".T", "and the worst ones", 1e300, INFINITY);
	is_int(b.last.pool, 3, "a NaN stands nowhere");
	bench_report(&b, 4, 2, NAN);
	is_int(bench_report(&b, 4, 3, 1), '.', "NaN between rungs is nothing");
	/* The NaN comes again as a number. */
	bench_feed(&b, 1, 1, 5);
	AT_RUNG(&b, 6, 1, "T", "a NaN that was replaced", 6);
	is_near(b.last.threshold, 5, 0, "stands there after all");
	bench_feed(&b, 1, 1, NAN);
	AT_RUNG(&b, 7, 1, ".", "and leaves again", 6);
	bench_close(&b);

	b = bench_open("asha", NULL, false, 100);
	bench_report(&b, 1, 4, 0);
	bench_report(&b, 1, 5, NAN);
	bench_report(&b, 1, 6, NAN);
	is_int(bench_report(&b, 1, 7, NAN), 'D', "three in a row stop");
	bench_close(&b);
}

static void
test_bootstrap(void)
{
	struct bench b = bench_open(
	    "asha", "{\"bootstrap_count\":3,\"min_resource\":1}", false, 0);

	AT_RUNG(&b, 1, 1, "TTT.T", "the first three at a rung end there", 5, 4,
	    3, 2, 6);
	bench_feed(&b, 4, 4, 1);
	is_int(bench_report(&b, 6, 4, 0.5), 'T', "at each rung");
	is_str(b.last.why,
	    "number 2 of the first 3 at rung 4, which all end there",
	    "and why");
	bench_close(&b);
}

static void
test_guard(void)
{
	struct bench b = bench_open("asha", "{\"guard\":true}", false, 100);

	/* The best in the end, and the worst but one at rung 1. */
	bench_feed(&b, 1, 1, 8);
	bench_feed(&b, 1, 4, 1);
	bench_end(&b, 1, TRIAL_COMPLETED, 1);
	AT_RUNG(&b, 2, 1, ".", "better than the best there", 7);
	is_int(bench_report(&b, 3, 1, 9), 's', "suspended");
	is_str(b.last.why,
	    "9 is above 7, the last of the best 1 among it and 2 others at "
	    "rung 1, but the rule would have stopped trial 1, the best",
	    "and why");
	is_int(bench_report(&b, 4, 1, NAN), 'D',
	    "the guard does not protect a trial with NaN");
	bench_feed(&b, 5, 1, 2);
	bench_feed(&b, 5, 4, 0.5);
	bench_end(&b, 5, TRIAL_COMPLETED, 0.5);
	is_int(bench_report(&b, 6, 1, 9), 'T', "another one is best");
	bench_close(&b);
}

static struct judgement lifted;

/* Who of these goes on first: trials, each paused at step. */
static int64_t
promoted(struct bench *b, int64_t step, const int64_t *trials, size_t n)
{
	struct stopper_paused paused[16];
	size_t i;

	for (i = 0; i < n; i++)
		paused[i] =
		    (struct stopper_paused){ .trial = trials[i], .step = step };
	return stop_rule_set_promote(b->set, b->h, paused, n, &lifted);
}

#define PROMOTED(b, step, ...)                              \
	promoted(b, step, (const int64_t[]){ __VA_ARGS__ }, \
	    sizeof((const int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t))

static void
test_promote(void)
{
	struct bench b = bench_open(
	    "asha", "{\"promote\":true,\"reduction_factor\":2}", false, 100);
	struct stopper_paused p[] = { { 4, 1 }, { 7, 2 }, { 2, 2 } };

	AT_RUNG(
	    &b, 1, 1, ".P.P", "who is not good enough is paused", 5, 7, 3, 6);
	is_int(PROMOTED(&b, 1, 2, 4), 0, "the best 2 of 4 continued");
	AT_RUNG(&b, 5, 1, "PP", "worse ones", 8, 9);
	is_int(PROMOTED(&b, 1, 2, 4, 5, 6), 4, "lift those before them");
	is_near(lifted.value, 6, 0, "with its value");
	is_near(lifted.threshold, 6, 0, "the last that continues");
	is_int(lifted.pool, 5, "the others");
	is_str(lifted.why,
	    "6 is among the best 3 of it and 5 others at rung 1 now", "why");
	is_int(PROMOTED(&b, 1, 2, 5, 6), 0, "and none after it");
	AT_RUNG(&b, 7, 1, ".PPP", "more", 1, 9, 10, 11);
	is_int(PROMOTED(&b, 1, 6, 2, 5, 4), 4, "the best one");
	is_int(PROMOTED(&b, 1, 2, 6, 4, 5), 4, "in whatever order");
	/* Rung 2 goes before rung 1. */
	AT_RUNG(&b, 1, 2, ".", "rung 2", 3);
	AT_RUNG(&b, 7, 2, "P", "a worse one there", 4);
	AT_RUNG(&b, 3, 2, "P", "and another", 5);
	AT_RUNG(&b, 2, 2, "P", "who came late", 6);
	is_int(stop_rule_set_promote(b.set, b.h, p, 3, &lifted), 7,
	    "the higher rung first");
	is_int(stop_rule_set_promote(b.set, b.h, p + 2, 1, &lifted), 0,
	    "not good enough on its own rung");
	p[2] = (struct stopper_paused){ 3, 1 };
	is_int(stop_rule_set_promote(b.set, b.h, p + 2, 1, &lifted), 0,
	    "a trial that ran on after its stop is judged at that rung, too");
	bench_report(&b, 20, 1, NAN);
	ok(b.last.verdict == VERDICT_STOP && b.last.diverged,
	    "a NaN is stopped, not paused");
	bench_close(&b);

	b = bench_open("asha", "{\"reduction_factor\":2}", false, 100);
	AT_RUNG(&b, 1, 1, ".T.TTT", "without the option", 5, 7, 3, 6, 8, 9);
	is_int(PROMOTED(&b, 1, 4), 0, "no trial is resumed");
	bench_close(&b);
}

/* A pause beside the verdicts of other rules. */
static void
test_pause_in_list(void)
{
	struct stopper_env env = { .max_steps = 100, .study = "demo" };
	struct bench b = bench_open(
	    "asha", "{\"promote\":true,\"reduction_factor\":2}", false, 100);
	struct err e = ERR_INIT;

	(void)bench_rule(&b, "threshold", "{\"upper\":8}", &env, false, &e);
	AT_RUNG(&b, 1, 1, ".PT", "a stop goes before a pause", 5, 7, 9);
	is_str(b.last.rule, "threshold", "by the rule that stops");
	bench_close(&b);

	b = bench_open(
	    "asha", "{\"promote\":true,\"reduction_factor\":2}", false, 100);
	(void)bench_rule(&b, "threshold", "{\"upper\":8}", &env, true, &e);
	AT_RUNG(&b, 1, 1, ".sP", "a veto holds a pause back, too", 5, 7, 9);
	bench_close(&b);

	b = bench_open("threshold", "{\"upper\":8}", false, 100);
	(void)bench_rule(&b, "asha",
	    "{\"promote\":true,\"reduction_factor\":2}", &env, true, &e);
	AT_RUNG(&b, 1, 1, "..T", "and a rule that would pause lets a stop pass",
	    5, 7, 9);
	is_int(PROMOTED(&b, 1, 2), 0, "but resumes none");
	bench_close(&b);
}

/* The same curves in another order: the same answer. */
static void
test_promote_order(void)
{
	struct stopper_paused p[40];
	int64_t first = -1, got = -1;
	struct bench b;
	int i, k, t, bad = 0;

	for (k = 0; k < 40; k++) {
		b = bench_open("hyperband",
		    "{\"promote\":true,\"reduction_factor\":2}", false, 16);
		for (i = 0; i < 40; i++)
			history_add(b.h, i + 1, NULL);
		for (i = 0; i < 40; i++) {
			t = (i * 7 + k) % 40 + 1;
			bench_feed(&b, t, 1, (t * 13) % 40);
			if (t % 3 == 0)
				bench_feed(&b, t, 4, (t * 11) % 40);
			p[i] = (struct stopper_paused){ t, t % 3 == 0 ? 4 : 1 };
		}
		got = stop_rule_set_promote(b.set, b.h, p, 40, &lifted);
		if (first < 0)
			first = got;
		bad += got != first;
		bench_close(&b);
	}
	ok(first > 0, "some trials continue: %d", (int)first);
	is_int(bad, 0, "the same one, in whatever order all happened");
}

/* What trials reach is learnt from the first one that completes. */
static void
test_learnt(void)
{
	struct bench b = bench_open("asha", NULL, false, 0);

	bench_feed(&b, 1, 2, 5);
	bench_feed(&b, 1, 250, 1);
	AT_RUNG(&b, 2, 2, "..", "nobody completed", 9, 9);
	bench_end(&b, 4, TRIAL_COMPLETED, 0);
	AT_RUNG(&b, 5, 2, ".", "nobody who reported", 9);
	bench_end(&b, 1, TRIAL_COMPLETED, 1);
	AT_RUNG(&b, 6, 2, "T.", "1 % of 250; those before it count", 6, 5);
	is_int(b.last.pool, 5, "all of them");
	bench_feed(&b, 8, 1000, 3);
	bench_end(&b, 8, TRIAL_COMPLETED, 3);
	is_int(bench_report(&b, 9, 2, 99), 'T', "and stays as it is");
	bench_close(&b);
}

static void
brackets(const char *options, const char *study, int64_t max_steps,
    const char *want, const char *what)
{
	const struct stopper *s = stopper_find("hyperband");
	struct stopper_env env = { .max_steps = max_steps, .study = study };
	struct option_value *values = NULL;
	struct json_doc *doc = NULL;
	struct err e = ERR_INIT;
	struct halving_engine *r;
	void *state;
	char got[64] = "";
	int i;

	if (json_parse(&doc, options, strlen(options), NULL, false, &e) == -1 ||
	    plugin_options_read(
		&values, s->options, json_root(doc), NULL, &e) == -1 ||
	    s->open(&state, values, &env, &e) == -1) {
		ok(false, "%s: %s", what, e.text);
		return;
	}
	r = state;
	for (i = 0; i < 40; i++)
		got[i] = (char)('0' + r->rule.rungs_of_trial(r, i + 1));
	is_str(got, want, what);
	s->close(state);
	plugin_options_free(values);
	json_free(doc);
}

static void
test_brackets(void)
{
	brackets("{}", "demo", 81, "0321000200410030041232000210201114001200",
	    "Optuna's brackets: 81 steps");
	brackets("{\"max_resource\":243}", "demo", 0,
	    "0321000200410030041232000210201114001200",
	    "243 steps: five brackets, as there");
	brackets("{}", "lr-sweep", 243,
	    "2100002012010140000124200100000010001003", "another study");
	brackets(
	    "{\"min_resource\":2,\"max_resource\":100,\"reduction_factor\":4}",
	    "demo", 0, "0021100201002020212010000010010020001121",
	    "2 to 100 by 4");
	brackets(
	    "{\"min_resource\":5,\"max_resource\":50,\"reduction_factor\":2}",
	    "demo", 7, "1202013031301022010013200011201113011001",
	    "5 to 50 by 2; the option goes before the study's max_steps");
	brackets("{\"min_resource\":\"10%\",\"reduction_factor\":2}", "demo",
	    50, "1202013031301022010013200011201113011001",
	    "the same as a share");
	brackets("{}", "demo", 1, "0000000000000000000000000000000000000000",
	    "one step, one bracket");
	brackets("{\"reduction_factor\":5}", "demo", 125,
	    "0100100000100000010010130030000100001000", "1 to 125 by 5");
}

static void
test_hyperband(void)
{
	struct bench b = bench_open("hyperband", NULL, false, 81);
	struct stopper_env env = { .max_steps = 5, .study = "demo" };
	struct err e = ERR_INIT;

	/* Trials 1, 5, 6, 7 are of bracket 0; 3 and 8 of bracket 2. */
	is_int(bench_report(&b, 1, 1, 5), '.', "alone in its bracket");
	is_int(bench_report(&b, 3, 1, 9), '.', "no rung 1 in bracket 2");
	is_int(bench_report(&b, 3, 9, 9), '.', "alone at rung 9 there");
	is_int(bench_report(&b, 5, 1, 6), 'T', "bracket 0 has two");
	is_str(b.last.why,
	    "6 is above 5, the last of the best 1 among it and 1 other at rung "
	    "1 of bracket 0",
	    "and why");
	bench_report(&b, 8, 1, 1);
	is_int(bench_report(&b, 8, 10, 9.5), 'T', "bracket 2 has two");
	is_str(b.last.why,
	    "9.5 is above 9, the last of the best 1 among it and 1 other at "
	    "rung 9 of bracket 2",
	    "at its first rung");
	bench_close(&b);

	b = bench_open("hyperband", NULL, false, 0);
	is_int(bench_report(&b, 1, 1, 5), '.', "no steps known");
	is_int(bench_report(&b, 5, 1, 6), '.',
	    "no trial is judged at an unknown number of steps");
	bench_feed(&b, 2, 80, 1);
	bench_end(&b, 2, TRIAL_COMPLETED, 1);
	is_int(bench_report(&b, 6, 1, 7), 'T', "81 steps, as of the first");
	is_int(b.last.pool, 2, "trials that were at the rung before count");
	is_int(bench_rule(
		   &b, "hyperband", "{\"min_resource\":6}", &env, false, &e),
	    -1, "no steps between min and max");
	is_str(e.text,
	    "hyperband: min_resource 6 is above the 5 steps of a trial",
	    "and reports it");
	bench_close(&b);

	b = bench_open("hyperband", NULL, false, 0);
	bench_feed(&b, 1, INT64_MAX, 1);
	bench_end(&b, 1, TRIAL_COMPLETED, 1);
	bench_report(&b, 2, 0, 3);
	is_int(bench_report(&b, 2, INT64_MAX - 1, 3), 'T',
	    "steps that are clocks");
	bench_close(&b);
}

int
main(void)
{
	test_cut();
	test_promotion();
	test_where();
	test_gaps();
	test_odd_values();
	test_bootstrap();
	test_guard();
	test_promote();
	test_promote_order();
	test_pause_in_list();
	test_learnt();
	test_brackets();
	test_hyperband();
	return done_testing();
}
