/*
 * The state of a rule is a cache: the same records give the same judgements,
 * whether they came one by one, were read back after a restart, or were read
 * trial by trial as the server does; also where trials have different lengths.
 */

#include "src/base/rng.h"
#include "src/model/study/study.h"
#include "tests/support/rule-bench.h"

/* Judgements are compared: they are the same with sanitizers. */
#ifdef __SANITIZE_ADDRESS__
enum { SEEDS = 6, SEEDS_LONG = 15 };
#else
enum { SEEDS = 15, SEEDS_LONG = 60 };
#endif
enum { EVENTS = 600, TRIALS = 40 };

/* One record; step < 0 is the trial's end. */
struct event {
	int64_t trial, step;
	double value;
	enum trial_state state;
};

static const char *const rules[][2] = {
	{ "median", "{}" },
	{ "median", "{\"warmup_steps\":0,\"min_trials\":2}" },
	{ "median", "{\"warmup_steps\":1,\"value\":\"best\","
		    "\"reference\":\"window:40%\",\"interval_steps\":2}" },
	{ "median", "{\"pool\":\"begun\",\"value\":\"recent\","
		    "\"reference\":\"recent\",\"warmup_steps\":2,"
		    "\"narrow\":10,\"narrow_steps\":30,\"guard\":5}" },
	{ "begun", "{\"narrow_steps\":20}" },
	{ "median", "{\"pool\":\"begun\",\"value\":\"best\","
		    "\"warmup_steps\":0,\"guard\":2,\"min_trials\":2}" },
	{ "percentile", "{\"pool\":\"begun\",\"aggregate\":\"rank\","
			"\"warmup_steps\":0,\"guard\":false}" },
	{ "percentile", "{\"warmup_steps\":0,\"aggregate\":\"rank\"}" },
	{ "vizier", "{\"warmup_steps\":2,\"guard\":true}" },
	{ "sagemaker", "{}" },
	{ "optuna", "{}" },
	{ "ray", "{\"grace_period\":2,\"guard\":true}" },
	{ "nni", "{}" },
	{ "syne-tune", "{\"diverged_after\":2}" },
	{ "katib", "{\"start_step\":2}" },
	{ "patience", "{\"steps\":3}" },
	{ "asha", "{\"reduction_factor\":2}" },
	{ "asha", "{\"min_resource\":2,\"guard\":true}" },
	{ "asha", "{\"min_resource\":1,\"promote\":true}" },
	{ "hyperband", "{\"max_resource\":20,\"reduction_factor\":2,"
		       "\"guard\":true}" },
	{ "hyperband", "{\"reduction_factor\":2}" },
	{ "narrow", "{\"min_trials\":2}" },
	{ "narrow", "{\"keep\":20,\"chance\":1,\"warmup_steps\":1,"
		    "\"hopeless\":0.2,\"hopeless_steps\":\"10%\"}" },
	{ "careful", "{\"min_trials\":2}" },
	{ "curve", "{\"p\":0.3,\"warmup_steps\":2}" },
	{ "curve", "{\"p\":0.3,\"against\":\"completed\"}" },
};

enum { RULES = sizeof(rules) / sizeof(rules[0]) };

/* The steps of a study: rules on the learning-curve bank must know them. */
static int64_t
rule_steps(int rule)
{
	return strcmp(rules[rule][0], "narrow") == 0 ||
		       strcmp(rules[rule][0], "careful") == 0 ||
		       strcmp(rules[rule][0], "curve") == 0
		   ? 100
		   : 0;
}

/* One trial's next report: mostly further on, now and then again. */
static void
any_report(struct rng *r, struct event *e, int64_t *last, bool grid)
{
	int64_t stride = grid ? 1 : 1 + (int64_t)rng_below(r, 9);

	e->step = *last + stride;
	if (*last > 0 && rng_below(r, 12) == 0)
		e->step = (int64_t)rng_below(r, (uint64_t)*last);
	if (e->step > *last)
		*last = e->step;
	e->value =
	    rng_below(r, 20) == 0 ? NAN : rng_normal(r) + (double)e->trial / 9;
	e->state = TRIAL_RUNNING;
}

/* The steps of trials of three lengths are those of the longest. */
static void
events_stretch(struct event *events)
{
	int i;

	for (i = 0; i < EVENTS; i++)
		events[i].step = study_axis_step(
		    100, 20 + 40 * (events[i].trial % 3), events[i].step);
}

static void
make_stream(struct event *events, struct rng *r)
{
	int64_t last[TRIALS + 1], count = 0, running[4] = { 0 };
	bool grid = rng_below(r, 2);
	int i, k;

	for (i = 0; i < EVENTS; i++) {
		k = (int)rng_below(r, 4);
		if (running[k] == 0) {
			running[k] = ++count <= TRIALS ? count : 0;
			if (running[k] == 0)
				running[k] = count = TRIALS;
			last[running[k]] = -1;
		}
		events[i] = (struct event){ .trial = running[k] };
		if (last[running[k]] >= 0 && rng_below(r, 10) == 0 &&
		    count < TRIALS) {
			events[i].step = -1;
			events[i].value = rng_normal(r);
			events[i].state =
			    rng_below(r, 3) ? TRIAL_COMPLETED : TRIAL_STOPPED;
			running[k] = 0;
		} else
			any_report(r, &events[i], &last[running[k]], grid);
	}
}

static void
take(struct bench *b, const struct event *e, struct judgement *j)
{
	*j = (struct judgement){ .verdict = VERDICT_KEEP };
	if (e->step < 0)
		bench_end(b, e->trial, e->state, e->value);
	else {
		bench_report(b, e->trial, e->step, e->value);
		*j = b->last;
	}
}

static bool
same(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

static bool
same_judgement(const struct judgement *a, const struct judgement *b)
{
	return a->verdict == b->verdict && a->diverged == b->diverged &&
	       same(a->value, b->value) && same(a->threshold, b->threshold) &&
	       a->pool == b->pool && strcmp(a->why, b->why) == 0;
}

/* The first n records in their order. */
static struct bench
read_back(int rule, const struct event *events, int n)
{
	struct bench b =
	    bench_open(rules[rule][0], rules[rule][1], false, rule_steps(rule));
	int i;

	for (i = 0; i < n; i++) {
		if (events[i].step < 0)
			bench_end(&b, events[i].trial, events[i].state,
			    events[i].value);
		else
			bench_feed(&b, events[i].trial, events[i].step,
			    events[i].value);
	}
	return b;
}

/* The same by trial: all curves as they ended up, then all ends. */
static struct bench
read_curves(int rule, const struct event *events, int n)
{
	struct bench b =
	    bench_open(rules[rule][0], rules[rule][1], false, rule_steps(rule));
	struct bench all = bench_open("none", NULL, false, 0);
	struct curve c;
	int64_t t;
	size_t k;
	int i;

	for (i = 0; i < n; i++)
		if (events[i].step >= 0)
			bench_feed(&all, events[i].trial, events[i].step,
			    events[i].value);
	for (t = 1; t <= history_count(all.h); t++)
		history_add(b.h, t, NULL);
	for (t = 1; t <= history_count(all.h); t++) {
		c = history_curve(all.h, t);
		for (k = 0; k < c.n; k++)
			bench_feed(
			    &b, t, curve_step(&c, k), curve_value(&c, k));
	}
	for (i = 0; i < n; i++)
		if (events[i].step < 0)
			bench_end(&b, events[i].trial, events[i].state,
			    events[i].value);
	bench_close(&all);
	return b;
}

/* What the rule says when the records come one by one. */
static void
judge_all(int rule, const struct event *events, struct judgement *out)
{
	struct bench b =
	    bench_open(rules[rule][0], rules[rule][1], false, rule_steps(rule));
	int i;

	for (i = 0; i < EVENTS; i++)
		take(&b, &events[i], &out[i]);
	bench_close(&b);
}

/* In how many records from at on one that has read those before differs. */
static int
differences(int rule, const struct event *events, int at, bool by_trial,
    const struct judgement *want)
{
	struct bench b = by_trial ? read_curves(rule, events, at)
				  : read_back(rule, events, at);
	struct judgement j;
	int i, bad = 0;

	for (i = at; i < EVENTS; i++) {
		take(&b, &events[i], &j);
		bad += !same_judgement(&want[i], &j);
	}
	bench_close(&b);
	return bad;
}

/* Katib freezes thresholds; rungs wait for a first completed trial. */
static bool
rule_learns(const char *rule, const char *options)
{
	return strcmp(rule, "katib") == 0 ||
	       (strcmp(rule, "asha") == 0 &&
		   strstr(options, "min_resource") == NULL) ||
	       (strcmp(rule, "hyperband") == 0 &&
		   strstr(options, "max_resource") == NULL);
}

int
main(void)
{
	static struct judgement want[EVENTS];
	struct event events[EVENTS];
	struct rng r;
	int rule, seed, at, ordered, loaded, seeds = often(SEEDS, SEEDS_LONG);

	for (rule = 0; rule < RULES; rule++) {
		ordered = loaded = 0;
		for (seed = 0; seed < seeds; seed++) {
			rng_init(&r, (uint64_t)seed, (uint64_t)rule);
			make_stream(events, &r);
			if (seed % 2 == 1)
				events_stretch(events);
			at = (int)rng_below(&r, EVENTS);
			judge_all(rule, events, want);
			ordered += differences(rule, events, 0, false, want);
			ordered += differences(rule, events, at, false, want);
			loaded += differences(rule, events, at, true, want);
		}
		is_int(ordered, 0, rules[rule][0]);
		/* Others learn something once, in the order of the records. */
		if (rule_learns(rules[rule][0], rules[rule][1]))
			continue;
		ok(loaded == 0, "%s %s, read trial by trial", rules[rule][0],
		    rules[rule][1]);
	}
	return done_testing();
}
