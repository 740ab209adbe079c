/*
 * The rules on the learning-curve bank: marks and competitors, then which
 * trials are stopped.
 */

#include "src/base/rng.h"
#include "strategies/stop/extrapolate/peer-curves.h"
#include "strategies/stop/extrapolate/curve-grid.h"
#include "tests/support/rule-bench.h"

static struct curve
curve_of(const int64_t *steps, const double *values, size_t n)
{
	return (struct curve){ .n = n, .steps = steps, .plain = values };
}

static void
test_marks(void)
{
	static const int64_t steps[] = { 0, 1, 3, 4, 5, 9 };
	static const double values[] = { 5, 4, NAN, 3, 1, 0 };
	struct curve c = curve_of(steps, values, 6);
	double got[CURVE_GRID_MAX];
	struct curve_grid m;
	int64_t many[1000];
	double v[1000];
	size_t i;

	curve_grid_init(&m, 10);
	is_int(curve_grid_steps_done(&c, 2), 4,
	    "from step 0, step 3 is the fourth");
	is_int(curve_grid_read(&m, &c, 4, got), 6, "as many marks as steps");
	ok(got[0] == 5 && got[1] == 4 && isnan(got[2]) && got[3] == INFINITY &&
		got[4] == 3 && got[5] == 1,
	    "a value for each report, no number is infinite, gaps are NaN");
	is_int(curve_grid_read(&m, &c, 5, got), 10, "the last mark");
	for (i = 0; i < 1000; i++) {
		many[i] = (int64_t)i + 1;
		v[i] = (double)i;
	}
	c = curve_of(many, v, 1000);
	curve_grid_init(&m, 1000);
	is_int(curve_grid_read(&m, &c, 999, got), 64, "64 marks of 1000 steps");
	is_near(got[0], 7.5, 0, "of long curves means: 16 reports");
	is_near(got[1], 23.5, 0, "then 16 more");
	is_near(got[63], 991.5, 1, "up to the end");
}

/* The field counted by hand. */
static int64_t
ahead_by_hand(const struct history *h, const struct curve_grid *m, size_t mark,
    double value, int64_t *all)
{
	double values[CURVE_GRID_MAX], at;
	int64_t t, ahead = 0;
	struct curve c;
	size_t n, j;

	*all = 0;
	for (t = 1; t <= history_count(h); t++) {
		c = history_curve(h, t);
		n = c.n > 0 ? curve_grid_read(m, &c, c.n - 1, values) : 0;
		if (n <= mark) {
			*all += history_state(h, t) == TRIAL_STOPPED;
			continue;
		}
		for (j = mark; isnan(at = values[j]); j++)
			;
		*all += 1;
		ahead += at < value;
	}
	return ahead;
}

/* Reports in order, late and again, ends and retries. */
static void
any_event(struct history *h, struct peer_curves *f, struct rng *r)
{
	int64_t t = 1 + (int64_t)rng_below(r, 12), step;
	uint64_t what = rng_below(r, 20);

	if (what == 0) {
		history_end(h, t, TRIAL_STOPPED, NAN);
		peer_curves_ended(f, h, t);
	} else if (what == 1) {
		history_retry(h, t);
		peer_curves_ended(f, h, t);
	} else if (what == 2) {
		history_end(h, t, TRIAL_COMPLETED, 1);
		peer_curves_ended(f, h, t);
	} else {
		step = (int64_t)rng_below(r, 100);
		history_report(
		    h, t, step, what == 3 ? NAN : (double)rng_below(r, 30));
		peer_curves_observe(f, h, t, step);
	}
}

static void
test_field(void)
{
	struct history *h;
	struct peer_curves *f;
	struct rng r;
	int64_t all, want, ahead;
	int seed, i, bad = 0;
	double best, v;
	size_t mark, k;
	struct curve c;

	for (seed = 0; seed < 30; seed++) {
		rng_init(&r, 7, (uint64_t)seed);
		h = history_new(0, false, HISTORY_CURVES);
		f = peer_curves_new(seed % 2 ? 80 : 20);
		for (i = 1; i <= 12; i++)
			history_add(h, i, NULL);
		for (i = 0; i < 400; i++)
			any_event(h, f, &r);
		for (mark = 0; mark < peer_curves_grid(f)->n; mark++) {
			v = (double)rng_below(&r, 30);
			ahead = peer_curves_count_ahead(f, mark, v, &all);
			bad += ahead != ahead_by_hand(h, peer_curves_grid(f),
					    mark, v, &want);
			bad += all != want;
		}
		best = INFINITY;
		for (i = 1; i <= 12; i++) {
			c = history_curve(h, i);
			for (k = 0; k < c.n; k++)
				if (curve_value(&c, k) < best)
					best = curve_value(&c, k);
		}
		bad += best != peer_curves_best(f);
		peer_curves_free(f);
		history_free(h);
	}
	is_int(bad, 0, "who is ahead of how many, whatever was reported again");
}

static void
test_refused(const char *rule)
{
	struct stopper_env env = { .max_steps = 0, .study = "demo" };
	struct bench b = { .h = history_new(0, false, HISTORY_CURVES),
		.set = stop_rule_set_new() };
	struct err e = ERR_INIT;

	is_int(bench_rule(&b, rule, NULL, &env, false, &e), -1,
	    "unknown length of trials");
	ok(strstr(e.text, "needs trial.max_steps") != NULL, "%s", e.text);
	bench_close(&b);
}

/* Falls from 1 to end within 50 steps, at this pace. */
static double
falling(double end, double pace, int64_t step)
{
	return end + (1 - end) * exp(-pace * (double)(step - 1));
}

/* n trials that end at 0.2, 0.21, …; all their reports, first to last. */
static void
some_done(struct bench *b, int n)
{
	int64_t t, s;

	for (t = 1; t <= n; t++) {
		for (s = 1; s <= 50; s++)
			bench_feed(
			    b, t, s, falling(0.19 + 0.01 * (double)t, 0.3, s));
		bench_end(b, t, TRIAL_COMPLETED, 0.19 + 0.01 * (double)t);
	}
}

/* The step at which a trial is stopped, 0: never; what[0] is the verdict. */
static int64_t
runs(struct bench *b, int64_t trial, double end, double pace, char *what)
{
	int64_t s;

	for (s = 1; s <= 50; s++) {
		*what = bench_report(b, trial, s, falling(end, pace, s));
		if (*what == 'T' || *what == 's')
			return s;
	}
	return 0;
}

static void
test_narrow(void)
{
	struct bench b = bench_open("narrow", NULL, false, 50);
	char what;
	int64_t s;

	some_done(&b, 9);
	s = runs(&b, 10, 0.9, 0.3, &what);
	is_int(s, 10, "flat and last of ten: stopped after the warm-up");
	is_int(b.last.pool, 9, "compared with nine");
	ok(strstr(b.last.why, "is behind 9 of 9 others at step 10") != NULL &&
		strstr(b.last.why, "chance to beat the best is") != NULL,
	    "%s", b.last.why);
	bench_end(&b, 10, TRIAL_STOPPED, 0.9);
	is_int(runs(&b, 11, 0.1, 0.3, &what), 0, "the best continues");
	bench_end(&b, 11, TRIAL_COMPLETED, 0.1);
	s = runs(&b, 12, 0.195, 0.3, &what);
	ok(s > 4 && what == 'T', "the second is stopped late (%lld)",
	    (long long)s);
	bench_close(&b);

	b = bench_open("narrow", "{\"chance\":1,\"min_trials\":11}", false, 50);
	some_done(&b, 10);
	is_int(runs(&b, 11, 0.9, 0.3, &what), 0, "ten are too few for eleven");
	bench_close(&b);
}

/* A slow one that is behind all others and falls all the way. */
static void
test_chance(void)
{
	static const char early[] = "{\"warmup_steps\":\"8%\"}";
	struct bench b = bench_open("narrow", early, false, 50);
	int64_t s, kept;
	char v = '.';

	some_done(&b, 9);
	for (kept = 1; kept <= 50 && v == '.'; kept++)
		v = bench_report(&b, 10, kept, 1.6 - 0.2 * (double)kept);
	is_int(kept, 51, "behind, with a chance: continues");
	bench_close(&b);

	b = bench_open("narrow",
	    "{\"chance\":1,\"guard\":false,\"warmup_steps\":\"8%\"}", false,
	    50);
	some_done(&b, 9);
	v = '.';
	for (s = 1; s <= 50 && v == '.'; s++)
		v = bench_report(&b, 10, s, 1.6 - 0.2 * (double)s);
	is_int(s, 5, "without the bank it is stopped");
	bench_close(&b);
}

/* careful is narrow with other defaults. */
static void
test_careful(void)
{
	static const char *const rules[2][2] = { { "careful", NULL },
		{ "narrow", "{\"warmup_steps\":\"15%\","
			    "\"chance\":0.15,\"guard\":3,"
			    "\"min_completed\":1}" } };
	int64_t first[2][30], s, t;
	struct bench b;
	int i, some = 0, bad = 0;
	char what;

	for (i = 0; i < 2; i++) {
		b = bench_open(rules[i][0], rules[i][1], false, 50);
		for (t = 1; t <= 30; t++) {
			what = '.';
			for (s = 1; s <= 50 && what == '.'; s++)
				what = bench_report(&b, t, s,
				    falling(0.1 + 0.013 * (double)(t * 7 % 30),
					0.1 + 0.01 * (double)(t * 11 % 30), s));
			bench_end(&b, t,
			    what == 'T' ? TRIAL_STOPPED : TRIAL_COMPLETED, 0);
			first[i][t - 1] = s;
			some += s < 50;
		}
		bench_close(&b);
	}
	for (i = 0; i < 30; i++)
		bad += first[0][i] != first[1][i];
	ok(some > 10 && bad == 0,
	    "careful decides like narrow with its numbers");
}

/* The best completed trial was the last one half of the way. */
static void
test_guard(void)
{
	static const char *const options[] = { NULL, "{\"guard\":false}" };
	struct bench b;
	int64_t t, s;
	char got[3] = "";
	int i;

	for (i = 0; i < 2; i++) {
		b = bench_open("narrow", options[i], false, 50);
		some_done(&b, 8);
		for (s = 1; s <= 50; s++)
			bench_feed(&b, 9, s, s < 40 ? 0.99 : 0.1);
		bench_end(&b, 9, TRIAL_COMPLETED, 0.1);
		for (s = 1; s <= 10 && got[i] != 'T' && got[i] != 's'; s++)
			got[i] = bench_report(&b, 10, s, 0.98);
		bench_close(&b);
	}
	is_str(got, "sT", "who was last half of the way and won is a warning");
	b = bench_open("curve", "{\"p\":0.01,\"warmup_steps\":5}", false, 50);
	some_done(&b, 8);
	for (s = 1; s <= 20 && b.last.verdict == VERDICT_KEEP; s++)
		bench_report(&b, 9, s, 0.95 + 0.001 * (double)(s % 2));
	is_int(b.last.verdict, VERDICT_STOP, "no chance: stopped");
	for (t = 10, s = 1; s <= 50; s++)
		bench_feed(&b, t, s, s < 40 ? 0.99 : 0.1);
	bench_end(&b, 10, TRIAL_COMPLETED, 0.1);
	b.last.verdict = VERDICT_KEEP;
	for (s = 1; s <= 20 && b.last.verdict == VERDICT_KEEP; s++)
		bench_report(&b, 11, s, 0.95 + 0.001 * (double)(s % 2));
	is_int(b.last.verdict, VERDICT_SUSPENDED,
	    "unless the best one had none either");
	ok(strstr(b.last.why, "would have stopped trial 10") != NULL, "%s",
	    b.last.why);
	bench_close(&b);
}

/* Of two good trials the second was the last one half of the way. */
static void
test_guard_second(void)
{
	static const char *const rules[][2] = { { "narrow", "" },
		{ "careful", "" }, { "median", "" },
		{ "asha", "\"min_resource\":8," },
		{ "hyperband", "\"min_resource\":8,\"max_resource\":9," },
		{ "ray", "\"grace_period\":8," },
		{ "nni", "\"start_step\":8," },
		{ "syne-tune", "\"grace_time\":8," } };
	char options[80], got[3];
	struct bench b;
	size_t i;
	int64_t s;
	int g;

	for (i = 0; i < sizeof rules / sizeof *rules; i++) {
		for (g = 1; g <= 2; g++) {
			snprintf(options, sizeof options, "{%s\"guard\":%d}",
			    rules[i][1], g);
			b = bench_open(rules[i][0], options, false, 50);
			some_done(&b, 8);
			for (s = 1; s <= 50; s++)
				bench_feed(&b, 9, s, s < 40 ? 0.99 : 0.1);
			bench_end(&b, 9, TRIAL_COMPLETED, 0.1);
			for (s = 1; s <= 50; s++)
				bench_feed(&b, 10, s, 0.05);
			bench_end(&b, 10, TRIAL_COMPLETED, 0.05);
			got[g - 1] = '.';
			for (s = 1; s <= 20 && got[g - 1] == '.'; s++)
				got[g - 1] = bench_report(&b, 11, s, 0.98);
			bench_close(&b);
		}
		got[2] = '\0';
		ok(strcmp(got, "Ts") == 0,
		    "%s: a guard of 2 tests two trials (%s)", rules[i][0], got);
	}
}

/* Trials that run beside each other are not stopped before the first has ended. */
static void
test_min_completed(void)
{
	static const char *const options[] = { "{\"min_completed\":0}",
		"{\"min_completed\":1}", "{\"min_completed\":2}" };
	struct bench b;
	char got[4] = "";
	int64_t s, t;
	int i;

	for (i = 0; i < 3; i++) {
		b = bench_open("narrow", options[i], false, 50);
		for (t = 1; t <= 9; t++)
			for (s = 1; s <= (t == 1 ? 50 : 30); s++)
				bench_feed(&b, t, s, 0.1 * (double)t);
		for (s = 1; s <= 30; s++) {
			if (bench_report(&b, 10, s, 0.98) == 'T')
				break;
			if (s == 20)
				bench_end(&b, 1, TRIAL_COMPLETED, 0.1);
		}
		got[i] = s < 20 ? 'e' : s <= 30 ? 'l' : 'n';
		bench_close(&b);
	}
	is_str(got, "eln", "min_completed: early, later, never");
}

/* Of three good trials the worst was the last one half of the way. */
static void
test_guard_careful(void)
{
	static const char *const options[] = { "{\"guard\":2}", NULL };
	char got[3] = "";
	struct bench b;
	int64_t s, t;
	int i;

	for (i = 0; i < 2; i++) {
		b = bench_open("careful", options[i], false, 50);
		some_done(&b, 8);
		for (t = 9; t <= 11; t++) {
			for (s = 1; s <= 50; s++)
				bench_feed(&b, t, s,
				    t > 9    ? 0.05
				    : s < 40 ? 0.99
					     : 0.1);
			bench_end(&b, t, TRIAL_COMPLETED, t > 9 ? 0.05 : 0.1);
		}
		got[i] = '.';
		for (s = 1; s <= 20 && got[i] == '.'; s++)
			got[i] = bench_report(&b, 12, s, 0.98);
		bench_close(&b);
	}
	is_str(got, "Ts", "careful tests the best three");
}

static void
test_leader(void)
{
	struct bench b = bench_open("narrow", NULL, false, 50);
	int64_t s;
	int bad = 0;

	some_done(&b, 9);
	for (s = 1; s <= 49; s++)
		bad += bench_report(&b, 10, s, s == 3 ? 0.05 : 0.9) != '.';
	is_int(bad, 0, "who has reported the best of all is never judged");
	bench_report(&b, 11, 1, NAN);
	bench_report(&b, 11, 2, NAN);
	is_int(bench_report(&b, 11, 3, NAN), 'D', "three of no number");
	bench_close(&b);
}

/* The same curves turned, and of another size, are stopped at the same steps. */
static void
test_scales(void)
{
	static const double scales[] = { 1, -1, 1024, -1.0 / 4096 };
	int64_t first[6] = { 0 }, s, t;
	struct bench b;
	int i, bad = 0;
	char what = '.';

	for (i = 0; i < 4; i++) {
		b = bench_open("narrow", NULL, scales[i] < 0, 50);
		for (t = 1; t <= 30; t++) {
			for (s = 1; s <= 50; s++) {
				what = bench_report(&b, t, s,
				    scales[i] *
					(falling(
					     0.1 + 0.013 * (double)(t * 7 % 30),
					     0.1 + 0.01 * (double)(t * 11 % 30),
					     s) -
					    8));
				if (what == 'T')
					break;
			}
			bench_end(&b, t,
			    what == 'T' ? TRIAL_STOPPED : TRIAL_COMPLETED, 0);
			if (t <= 24)
				continue;
			if (i == 0)
				first[t - 25] = s;
			bad += first[t - 25] != s;
		}
		bench_close(&b);
	}
	is_int(bad, 0, "neither sign nor size nor place of values matters");
}

static void
test_veto(void)
{
	struct stopper_env env = { .max_steps = 50, .study = "demo" };
	struct bench b = bench_open("threshold", "{\"upper\":0.7}", false, 50);
	struct err e = ERR_INIT;
	int64_t s;
	char v = '.';

	bench_rule(
	    &b, "curve", "{\"p\":0.2,\"warmup_steps\":4}", &env, true, &e);
	some_done(&b, 9);
	for (s = 1; s < 5; s++)
		bench_report(&b, 10, s, 1.05 - 0.05 * (double)s);
	is_int(bench_report(&b, 10, 5, 0.8), 's', "a veto for one that falls");
	ok(strstr(b.last.why, "but curve keeps it") != NULL, "%s", b.last.why);
	for (s = 1; s <= 20 && v != 'T'; s++)
		v = bench_report(&b, 11, s, 0.95);
	is_int(v, 'T', "none for a flat one");
	bench_close(&b);
}

int
main(void)
{
	test_marks();
	test_field();
	test_refused("narrow");
	test_refused("curve");
	test_narrow();
	test_careful();
	test_chance();
	test_guard();
	test_guard_second();
	test_guard_careful();
	test_min_completed();
	test_leader();
	test_scales();
	test_veto();
	return done_testing();
}
