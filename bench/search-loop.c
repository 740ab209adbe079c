/*
 * Strategies, rules and known functions for bench/search.py, without a server:
 * one JSON object a line in, one line out.
 *	{"open": {parameters}, "strategy": {…}, "rules": [{…}, …],
 *	    "seed": 1, "maximize": false, "steps": 0,
 *	    "objectives": 1, "constraints": 0}	-> ok
 *	{"ask": true}			-> {"trial": 1, "params": {…}}
 *	{"add": {params}, "value": 0.5}	-> ok, a completed trial; or, with its
 *	    number as "trial", the rest as of "end"
 *	{"trial": 1, "step": 3, "value": 0.5}	-> keep or stop
 *	{"trial": 1, "end": 0.5, "stopped": false}	-> ok; null: NaN, or
 *	    the trial failed with "failed": true
 *	    "seconds": 20 of the trial, "time_used": 0.3 of the study's
 *	    with several objectives "end": [0.5, 0.2], and with constraints
 *	    "violations": [-0.1], at most 0 where it is satisfied
 *	{"best": true}	-> {"looks": 3, "held": 7}: the completed trial with the best
 *	    result, and the one that a model holds best where noise is large, else 0
 *	{"space": "branin"}		-> its parameters
 *	{"function": "branin", "params": {…}}	-> its value
 */

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/kernels.h"
#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/model/history/history.h"
#include "src/model/plugin-options.h"
#include "src/model/space.h"
#include "strategies/incumbent/incumbent.h"
#include "strategies/stopper.h"
#include "strategies/strategy.h"
#include "tests/support/test-functions.h"

enum { OBJECTIVES_MAX = 8 };

struct study {
	struct json_doc *doc;
	struct space *space;
	const struct strategy *strategy;
	struct option_value *options;
	struct stop_rule_set *rules;
	struct history *history;
	uint64_t seed;
	double time_used;
};

static void
die(const struct err *e)
{
	fprintf(stderr, "search: %s\n", e->text);
	exit(1);
}

static double
number(const struct json *j, const char *key)
{
	double x = 0;

	if (json_get(j, key) != NULL)
		(void)json_number(json_get(j, key), &x);
	return x;
}

static bool
is_true(const struct json *j, const char *key)
{
	bool b = false;

	return json_get(j, key) != NULL && json_bool(json_get(j, key), &b) && b;
}

static void
study_close(struct study *s)
{
	if (s->doc == NULL)
		return;
	stop_rule_set_free(s->rules);
	plugin_options_free(s->options);
	history_free(s->history);
	space_free(s->space);
	json_free(s->doc);
	*s = (struct study){ 0 };
}

static void
rules_open(struct study *s, const struct json *j)
{
	static const char *const except[] = { "rule", "veto", NULL };
	struct stopper_env env = { .study = "bench" };
	const struct json *rules = json_get(j, "rules"), *rule;
	const struct stopper *stopper;
	struct option_value *options;
	struct err e = ERR_INIT;

	env.max_steps = (int64_t)number(j, "steps");
	env.maximize = is_true(j, "maximize");
	s->rules = stop_rule_set_new();
	for (rule = json_first(rules); rule != NULL; rule = json_next(rule)) {
		stopper = stopper_find(json_string(json_get(rule, "rule")));
		if (stopper == NULL) {
			fprintf(stderr, "search: no such rule\n");
			exit(1);
		}
		if (plugin_options_read(
			&options, stopper->options, rule, except, &e) != 0 ||
		    stop_rule_set_add(s->rules, stopper, options, &env,
			is_true(rule, "veto"), &e) != 0)
			die(&e);
		plugin_options_free(options);
	}
}

/* All objectives have the direction of "maximize". */
static void
objectives_open(struct study *s, const struct json *j)
{
	bool goals[OBJECTIVES_MAX];
	size_t n = (size_t)number(j, "objectives"), i;
	size_t constraints = (size_t)number(j, "constraints");

	if (n < 2)
		return;
	if (n > OBJECTIVES_MAX || constraints > OBJECTIVES_MAX) {
		fprintf(stderr, "search: too many objectives\n");
		exit(1);
	}
	for (i = 0; i < n; i++)
		goals[i] = is_true(j, "maximize");
	history_set_objectives(s->history, n, goals, constraints);
}

/* Takes over the document. */
static void
study_open(struct study *s, struct json_doc *doc)
{
	static const char *const except[] = { "name", NULL };
	const struct json *j = json_root(doc), *strategy;
	struct err e = ERR_INIT;

	study_close(s);
	s->doc = doc;
	strategy = json_get(j, "strategy");
	if (space_read(&s->space, json_get(j, "open"), &e) != 0)
		die(&e);
	s->strategy = strategy_find(json_string(json_get(strategy, "name")));
	if (s->strategy == NULL) {
		fprintf(stderr, "search: no such strategy\n");
		exit(1);
	}
	if (plugin_options_read(
		&s->options, s->strategy->options, strategy, except, &e) != 0)
		die(&e);
	s->seed = (uint64_t)number(j, "seed");
	s->history = history_new(s->space->n, is_true(j, "maximize"),
	    HISTORY_POINTS | HISTORY_CURVES);
	objectives_open(s, j);
	rules_open(s, j);
	puts("ok");
}

static void
study_ask(struct study *s)
{
	struct value *values = xcalloc(s->space->n + 1, sizeof *values);
	double *x = xcalloc(s->space->n + 1, sizeof *x);
	struct suggestion out = { .x = x, .made_by = "cpu" };
	struct strategy_ask ask = { .space = s->space,
		.history = s->history,
		.seed = s->seed,
		.trial = history_count(s->history) + 1,
		.time_used = s->time_used,
		.kernels = kernels_cpu() };
	struct buf b = { 0 };
	struct err e = ERR_INIT;

	if (strategy_suggest(s->strategy, &out, &ask, s->options, &e) != 0)
		die(&e);
	space_snap(s->space, x);
	space_decode(s->space, x, values);
	space_encode(s->space, values, x);
	history_add(s->history, ask.trial, x);
	space_put_json(&b, s->space, values);
	printf("{\"trial\": %" PRId64 ", \"params\": %s, \"fits\": %g, "
	       "\"memory\": %g}\n",
	    ask.trial, buf_str(&b), out.fits, out.memory);
	buf_free(&b);
	free(values);
	free(x);
}

static void
study_report(struct study *s, const struct json *j)
{
	struct judgement judged = { .verdict = VERDICT_KEEP };
	int64_t trial = (int64_t)number(j, "trial");
	int64_t step = (int64_t)number(j, "step");

	history_report(s->history, trial, step, number(j, "value"));
	stop_rule_set_observe(s->rules, s->history, trial, step);
	stop_rule_set_judge(s->rules, s->history, trial, step, &judged);
	puts(judged.verdict == VERDICT_STOP ? "stop" : "keep");
}

/* The numbers of an array; returns how many. */
static size_t
numbers(double *to, const struct json *array)
{
	const struct json *value = json_first(array);
	size_t n = 0;

	for (; value != NULL && n < OBJECTIVES_MAX; value = json_next(value))
		(void)json_number(value, &to[n++]);
	return n;
}

static void
study_end(struct study *s, const struct json *j)
{
	int64_t trial = (int64_t)number(j, "trial");
	double results[OBJECTIVES_MAX], violations[OBJECTIVES_MAX];
	size_t n = numbers(results, json_get(j, "end"));
	enum trial_state state = TRIAL_COMPLETED;
	double end = NAN;

	if (n > 0) {
		end = results[0];
		history_results(s->history, trial, results,
		    numbers(violations, json_get(j, "violations")) > 0
			? violations
			: NULL);
	} else
		(void)json_number(json_get(j, "end"), &end);
	if (json_get(j, "seconds") != NULL)
		history_set_seconds(s->history, trial, number(j, "seconds"));
	if (json_get(j, "memory") != NULL)
		history_set_memory(
		    s->history, trial, number(j, "memory"), is_true(j, "over"));
	s->time_used = number(j, "time_used");
	if (is_true(j, "failed"))
		state = TRIAL_FAILED;
	else if (is_true(j, "stopped"))
		state = TRIAL_STOPPED;
	history_end(s->history, trial, state, end);
	stop_rule_set_ended(s->rules, s->history, trial);
	puts("ok");
}

static void
study_add(struct study *s, const struct json *j)
{
	struct value *values = xcalloc(s->space->n + 1, sizeof *values);
	double *x = xcalloc(s->space->n + 1, sizeof *x);
	int64_t trial = history_count(s->history) + 1;
	struct err e = ERR_INIT;

	if (space_read_values(s->space, json_get(j, "add"), values, &e) != 0)
		die(&e);
	space_encode(s->space, values, x);
	history_add(s->history, trial, x);
	if (json_get(j, "end") != NULL)
		study_end(s, j);
	else {
		history_end(
		    s->history, trial, TRIAL_COMPLETED, number(j, "value"));
		puts("ok");
	}
	free(values);
	free(x);
}

static void
study_best(const struct study *s)
{
	const struct history *h = s->history;
	size_t most = (size_t)history_count(h) + 1, n = 0;
	double *points = xcalloc(most * (s->space->n + 1), sizeof *points);
	double *losses = xcalloc(most, sizeof *losses);
	int64_t *trials = xcalloc(most, sizeof *trials), i;
	struct incumbent found;
	bool noisy;

	for (i = 1; i <= history_count(h); i++) {
		if (history_state(h, i) != TRIAL_COMPLETED ||
		    !isfinite(history_loss(h, i)))
			continue;
		memcpy(points + n * s->space->n, history_point(h, i),
		    s->space->n * sizeof *points);
		losses[n] = history_loss(h, i);
		trials[n++] = i;
	}
	noisy = incumbent_find(&found, s->space, n, points, losses);
	printf("{\"looks\": %" PRId64 ", \"held\": %" PRId64 "}\n",
	    history_best(h), noisy ? trials[found.at] : 0);
	free(points);
	free(losses);
	free(trials);
}

static void
function_value(const struct json *j)
{
	const struct function *f =
	    test_function_find(json_string(json_get(j, "function")));
	struct value values[FUNCTION_DIMS];
	double losses[FUNCTION_LOSSES], bounds[FUNCTION_BOUNDS];
	struct space *space = NULL;
	struct json_doc *doc = NULL;
	struct err e = ERR_INIT;

	if (json_parse(&doc, f->space, strlen(f->space), NULL, false, &e) !=
		0 ||
	    space_read(&space, json_root(doc), &e) != 0 ||
	    space_read_values(space, json_get(j, "params"), values, &e) != 0)
		die(&e);
	f->give(values, losses, bounds);
	printf("%.17g\n", losses[0]);
	space_free(space);
	json_free(doc);
}

int
main(void)
{
	struct study s = { 0 };
	struct json_doc *doc;
	const struct json *j;
	struct err e = ERR_INIT;
	char *line = NULL;
	size_t cap = 0;
	ssize_t len;

	/* As hpotune-worker begins. */
	mem_settle_matrices();
	while ((len = getline(&line, &cap, stdin)) > 0) {
		if (json_parse(&doc, line, (size_t)len, NULL, false, &e) != 0)
			die(&e);
		j = json_root(doc);
		if (json_get(j, "open") != NULL) {
			study_open(&s, doc);
			doc = NULL;
		} else if (json_get(j, "ask") != NULL)
			study_ask(&s);
		else if (json_get(j, "add") != NULL)
			study_add(&s, j);
		else if (json_get(j, "step") != NULL)
			study_report(&s, j);
		else if (json_get(j, "end") != NULL)
			study_end(&s, j);
		else if (json_get(j, "best") != NULL)
			study_best(&s);
		else if (json_get(j, "space") != NULL)
			puts(test_function_find(
			    json_string(json_get(j, "space")))
				 ->space);
		else
			function_value(j);
		json_free(doc);
		fflush(stdout);
	}
	study_close(&s);
	free(line);
	return 0;
}
