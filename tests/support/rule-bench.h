/* A minimal study for the tests of rules: report, end, examine. */

#ifndef HPOTUNE_RULE_BENCH_H
#define HPOTUNE_RULE_BENCH_H

#include <stdlib.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/model/history/history.h"
#include "src/model/plugin-options.h"
#include "strategies/stopper.h"
#include "tests/support/tap.h"

struct bench {
	struct history *h;
	struct stop_rule_set *set;
	struct judgement last;
};

/* Add a rule to the bench; options is a JSON object or NULL. */
__attribute__((unused)) static int
bench_rule(struct bench *b, const char *rule, const char *options,
    const struct stopper_env *env, bool veto, struct err *e)
{
	const struct stopper *s = stopper_find(rule);
	struct option_value *values = NULL;
	struct json_doc *doc = NULL;
	int rc = -1;

	if (s == NULL)
		return err_set(e, ERR_USAGE, "no rule %s", rule);
	if (options == NULL)
		options = "{}";
	if (json_parse(&doc, options, strlen(options), NULL, false, e) == 0 &&
	    plugin_options_read(&values, s->options, json_root(doc), NULL, e) ==
		0)
		rc = stop_rule_set_add(b->set, s, values, env, veto, e);
	plugin_options_free(values);
	json_free(doc);
	return rc;
}

__attribute__((unused)) static struct bench
bench_open(
    const char *rule, const char *options, bool maximize, int64_t max_steps)
{
	struct stopper_env env = {
		.max_steps = max_steps, .maximize = maximize, .study = "demo"
	};
	struct bench b = { .h = history_new(0, maximize, HISTORY_CURVES),
		.set = stop_rule_set_new() };
	struct err e = ERR_INIT;

	if (bench_rule(&b, rule, options, &env, false, &e) == -1) {
		printf("# %s %s: %s\n", rule, options, e.text);
		exit(1);
	}
	return b;
}

__attribute__((unused)) static void
bench_close(struct bench *b)
{
	stop_rule_set_free(b->set);
	history_free(b->h);
}

/* One report, judged; '.' keep, 'T' stop, 'P' pause, 's' suspended, 'D' diverged. */
__attribute__((unused)) static char
bench_report(struct bench *b, int64_t trial, int64_t step, double value)
{
	if (trial > history_count(b->h))
		history_add(b->h, trial, NULL);
	history_report(b->h, trial, step, value);
	stop_rule_set_observe(b->set, b->h, trial, step);
	stop_rule_set_judge(b->set, b->h, trial, step, &b->last);
	switch (b->last.verdict) {
	case VERDICT_KEEP:
		return '.';
	case VERDICT_STOP:
		return b->last.diverged ? 'D' : 'T';
	case VERDICT_PAUSE:
		return 'P';
	case VERDICT_SUSPENDED:
		return 's';
	}
	return '?';
}

/* The same without a judgement: an earlier trial. */
__attribute__((unused)) static void
bench_feed(struct bench *b, int64_t trial, int64_t step, double value)
{
	if (trial > history_count(b->h))
		history_add(b->h, trial, NULL);
	history_report(b->h, trial, step, value);
	stop_rule_set_observe(b->set, b->h, trial, step);
}

__attribute__((unused)) static void
bench_end(
    struct bench *b, int64_t trial, enum trial_state state, double objective)
{
	if (trial > history_count(b->h))
		history_add(b->h, trial, NULL);
	history_end(b->h, trial, state, objective);
	stop_rule_set_ended(b->set, b->h, trial);
}

#endif /* HPOTUNE_RULE_BENCH_H */
