/* Rules on other metrics, by seconds and by cost. */

#include <math.h>

#include "tests/support/rule-bench.h"

struct stage {
	struct history *h;
	struct stop_rule_set *set;
	struct judgement last;
};

static const struct stopper_env env = {
	.max_steps = 20, .maximize = true, .study = "demo", .metric = "acc"
};

static int
stage_add(struct stage *s, const char *rule, const char *options, bool veto,
    struct err *e)
{
	struct bench b = { .set = s->set };

	return bench_rule(&b, rule, options, &env, veto, e);
}

static struct stage
stage_open(const char *rule, const char *options)
{
	struct stage s = { .h = history_new(0, true, HISTORY_CURVES),
		.set = stop_rule_set_new() };
	struct err e = ERR_INIT;

	if (stage_add(&s, rule, options, false, &e) != 0) {
		printf("# %s %s: %s\n", rule, options, e.text);
		exit(1);
	}
	return s;
}

static void
stage_close(struct stage *s)
{
	stop_rule_set_free(s->set);
	history_free(s->h);
}

/* A report as the server gives it; '.', 'T', 'D', 's', or '-': not judged. */
static char
stage_report(struct stage *s, int64_t trial, const char *metric, int64_t step,
    double value, double seconds, double dollars)
{
	struct stop_report r = { trial, metric, step, value,
		{ seconds, dollars } };

	if (trial > history_count(s->h))
		history_add(s->h, trial, NULL);
	if (strcmp(metric, "acc") == 0) {
		history_report(s->h, trial, step, value);
		stop_rule_set_observe(s->set, s->h, trial, step);
	}
	if (!stop_rule_set_report(s->set, &r))
		return '-';
	stop_rule_set_judge_metric(s->set, s->h, trial, metric, &s->last);
	switch (s->last.verdict) {
	case VERDICT_KEEP:
		return '.';
	case VERDICT_STOP:
		return s->last.diverged ? 'D' : 'T';
	case VERDICT_PAUSE:
		return 'P';
	case VERDICT_SUSPENDED:
		return 's';
	}
	return '?';
}

static void
stage_end(
    struct stage *s, int64_t trial, enum trial_state state, double objective)
{
	history_end(s->h, trial, state, objective);
	stop_rule_set_ended(s->set, s->h, trial);
}

static void
test_patience_metric(void)
{
	struct stage s = stage_open("patience",
	    "{\"metric\":\"val_loss\",\"goal\":\"minimize\",\"steps\":2}");
	const char *const *names = stop_rule_set_metrics(s.set);
	const double v[] = { 3, 2, 2.5, 2.25, 1 };
	char got[8] = "";
	int i;

	is_str(names[0], "val_loss", "the rule reads the metric");
	ok(names[1] == NULL && !stop_rule_set_reads_spent(s.set),
	    "and nothing else");
	is_int(stage_report(&s, 1, "acc", 1, 0.5, 1, 0), '-',
	    "the objective is not judged");
	for (i = 0; i < 5; i++)
		got[i] = stage_report(&s, 1, "val_loss", i + 1, v[i], 1, 0);
	is_str(got, "...T.", "two reports without a smaller val_loss stop it");
	is_int(stage_report(&s, 1, "val_loss", 3, 9, 1, 0), '-',
	    "a step that is reported again is not judged again");
	stage_report(&s, 2, "val_loss", 1, 1, 0, 0);
	stage_report(&s, 2, "val_loss", 2, 2, 0, 0);
	stage_report(&s, 2, "val_loss", 3, 3, 0, 0);
	is_str(s.last.why,
	    "val_loss: the best of the last 2 reports, 2, is not better than 1 "
	    "before them at step 3",
	    "the reason names the metric");
	is_str(s.last.metric, "val_loss", "and so does the judgement");
	is_near(s.last.value, 2, 0, "the value has the sign of the metric");
	stage_close(&s);
}

static void
test_overfit(void)
{
	struct stage s = stage_open("overfit",
	    "{\"metric\":\"val_loss\",\"goal\":\"minimize\","
	    "\"against\":\"train_loss\",\"steps\":3}");
	const double val[] = { 3, 2, 1, 1.25, 1.5, 1.75 };
	const double train[] = { 3, 2, 1.5, 1, 0.5, 0.25 };
	char got[8] = "", both[8] = "", noise[8] = "";
	int i;

	for (i = 0; i < 6; i++) {
		stage_report(&s, 1, "train_loss", i + 1, train[i], 0, 0);
		got[i] = stage_report(&s, 1, "val_loss", i + 1, val[i], 0, 0);
		/* Both rise: a bad setting, but not overfitting. */
		stage_report(&s, 2, "train_loss", i + 1, val[i], 0, 0);
		both[i] = stage_report(&s, 2, "val_loss", i + 1, val[i], 0, 0);
		/* The validation loss falls as well. */
		stage_report(&s, 3, "train_loss", i + 1, train[i], 0, 0);
		noise[i] =
		    stage_report(&s, 3, "val_loss", i + 1, train[i], 0, 0);
		if (i == 5)
			break;
	}
	is_str(got, ".....T", "val_loss rises while train_loss falls");
	is_str(both, "......", "both rise: it continues");
	is_str(noise, "......", "both fall: it continues");
	stage_report(&s, 1, "train_loss", 7, 0.125, 0, 0);
	is_int(stage_report(&s, 1, "val_loss", 7, 2, 0, 0), 'T', "it goes on");
	is_str(s.last.why,
	    "val_loss: 2 after 1 at best, worse over 3 reports in which "
	    "train_loss goes from 0.5 to 0.125 at step 7",
	    "the reason has both metrics");
	is_int(stage_report(&s, 1, "val_loss", 8, 0.5, 0, 0), '.',
	    "a better value than any before continues");
	stage_close(&s);
}

static void
test_seconds(void)
{
	struct stage s = stage_open("median",
	    "{\"by\":\"seconds\",\"warmup_steps\":30,\"min_trials\":3,"
	    "\"guard\":false}");
	bool stopped = false;
	int t, i;

	/* Three trials with 10 s an epoch, one with 40 s, one with 1 s. */
	for (t = 1; t <= 3; t++)
		for (i = 1; i <= 8; i++)
			stage_report(&s, t, "acc", i, 0.1 * i, 10.0 * i, 0);
	is_int(stage_report(&s, 4, "acc", 1, 0.2, 40.5, 0), 'T',
	    "a slow trial is behind after 40 s, at its first epoch");
	is_str(s.last.why,
	    "acc: 0.2 is below the median 0.4 of 3 trials at "
	    "second 40",
	    "the reason says the second");
	is_str(s.last.unit, "second", "the unit");
	is_int(s.last.at, 40, "and where");
	for (i = 1; i <= 29; i++)
		stopped |= stage_report(&s, 5, "acc", i, 0.01 * i, i, 0) != '.';
	ok(!stopped, "no trial is judged before the warm-up of 30 s");
	is_int(stage_report(&s, 5, "acc", 30, 0.1 * 3, 30.2, 0), '.',
	    "equal to the median continues");
	is_int(stage_report(&s, 5, "acc", 31, 0.3, 30.9, 0), '-',
	    "the same second is judged once");
	is_int(stage_report(&s, 5, "acc", 32, 0.3, NAN, 0), '-',
	    "a report whose time is unknown is not judged");
	ok(stop_rule_set_reads_spent(s.set), "seconds are needed");
	stage_close(&s);
}

static void
test_cost_and_patience(void)
{
	struct stage s = stage_open("percentile",
	    "{\"by\":\"cost\",\"percentile\":50,\"warmup_steps\":0,"
	    "\"min_trials\":2,\"guard\":false}");
	struct stage p =
	    stage_open("patience", "{\"by\":\"seconds\",\"steps\":60}");

	stage_report(&s, 1, "acc", 1, 0.5, 10, 1);
	stage_report(&s, 2, "acc", 1, 0.7, 10, 1);
	is_int(stage_report(&s, 3, "acc", 9, 0.4, 900, 0.5), '.',
	    "no other trial has a value at 50 cents");
	is_int(stage_report(&s, 3, "acc", 10, 0.5, 1000, 1), 'T',
	    "after a dollar it is behind");
	is_str(s.last.unit, "cent", "by cents");
	is_int(stage_report(&p, 1, "acc", 1, 0.5, 10, 0), '.', "the first");
	is_int(stage_report(&p, 1, "acc", 2, 0.4, 69, 0), '.',
	    "patience: nothing for 59 seconds");
	is_int(stage_report(&p, 1, "acc", 3, 0.4, 70, 0), 'T',
	    "patience: nothing for 60 seconds");
	is_str(p.last.why,
	    "acc: the best of the last 60 seconds, 0.4, is not better than 0.5 "
	    "before them at second 70",
	    "patience: the reason counts seconds");
	stage_close(&s);
	stage_close(&p);
}

static void
test_asha_seconds(void)
{
	struct stage s =
	    stage_open("asha", "{\"by\":\"seconds\",\"min_resource\":10,"
			       "\"reduction_factor\":2}");
	int t;

	for (t = 1; t <= 3; t++)
		stage_report(&s, t, "acc", 1, 0.1 * t, 10, 0);
	is_int(stage_report(&s, 4, "acc", 1, 0.1, 9.5, 0), '.',
	    "asha: no trial is compared before the rung of 10 s");
	is_int(stage_report(&s, 4, "acc", 2, 0.1, 12, 0), 'T',
	    "asha: at 12 s it is behind those that reached 10 s");
	is_str(s.last.unit, "second", "asha: by seconds");
	is_int(stage_report(&s, 5, "acc", 7, 0.9, 10, 0), '.',
	    "asha: the best one continues");
	stage_close(&s);
}

static void
test_guard_and_veto(void)
{
	struct stage s = stage_open("median",
	    "{\"metric\":\"val_loss\",\"goal\":\"minimize\","
	    "\"warmup_steps\":0,\"min_trials\":2,\"value\":\"last\"}");
	struct err e = ERR_INIT;
	int t;

	/* The best by accuracy has the greatest val_loss at step 1. */
	for (t = 1; t <= 3; t++)
		stage_report(&s, t, "val_loss", 1, t, 0, 0);
	stage_report(&s, 3, "val_loss", 2, 0.5, 0, 0);
	stage_end(&s, 3, TRIAL_COMPLETED, 0.99);
	stage_end(&s, 1, TRIAL_COMPLETED, 0.5);
	is_int(stage_report(&s, 4, "val_loss", 1, 9, 0, 0), 's',
	    "the guard tests the best trial by the objective");
	stage_close(&s);

	s = stage_open("threshold", "{\"metric\":\"val_loss\",\"upper\":2}");
	is_int(stage_add(&s, "patience", "{\"steps\":2}", true, &e), 0,
	    "a veto by the objective");
	stage_report(&s, 1, "acc", 1, 0.5, 0, 0);
	is_int(stage_report(&s, 1, "val_loss", 1, 3, 0, 0), 's',
	    "a veto rule on the objective prevents the stop");
	stage_report(&s, 1, "acc", 2, 0.5, 0, 0);
	stage_report(&s, 1, "acc", 3, 0.5, 0, 0);
	is_int(stage_report(&s, 1, "val_loss", 2, 3, 0, 0), 'T',
	    "until it would stop the trial, too");
	stage_close(&s);
}

static void
refused(const char *rule, const char *options, const char *want)
{
	struct stage s = { .set = stop_rule_set_new() };
	struct err e = ERR_INIT;

	is_int(stage_add(&s, rule, options, false, &e), -1, "it is refused");
	is_str(e.text, want, "with one clause");
	stop_rule_set_free(s.set);
}

static void
test_errors(void)
{
	refused("patience", "{\"metric\":\"val_loss\"}",
	    "rule \"patience\": whether val_loss is minimized or maximized is "
	    "missing: expected \"goal\"");
	refused("median", "{\"goal\":\"minimize\"}",
	    "rule \"median\": study.json says that the objective acc is "
	    "maximized");
	refused("median", "{\"by\":\"seconds\",\"warmup_steps\":\"30%\"}",
	    "warmup_steps: a share of trial.max_steps is a number of steps, "
	    "and this rule counts seconds: expected a number of them");
	refused("overfit", "{\"steps\":3}",
	    "rule \"overfit\" compares two metrics: expected \"against\", for "
	    "example train_loss");
	refused("overfit", "{\"against\":\"acc\"}",
	    "rule \"overfit\" compares two metrics: against is acc, too");
}

int
main(void)
{
	test_patience_metric();
	test_overfit();
	test_seconds();
	test_cost_and_patience();
	test_asha_seconds();
	test_guard_and_veto();
	test_errors();
	return done_testing();
}
