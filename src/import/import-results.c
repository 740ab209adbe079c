/* The results of another tool as a study with their trials. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/import/import-params.h"
#include "src/import/import-results.h"
#include "src/import/import-study.h"
#include "src/model/goal.h"

enum { TRIALS = 100 };

/* The name and the goal of objective i from 0; the name is to be freed. */
static char *
objective_of(const struct import_results *from, int i, bool *maximize)
{
	const struct json *goal = json_first(from->goals);
	const struct json *name = json_first(from->metrics);
	struct buf b = { 0 };
	const char *text;
	int k;

	if (from->metric != NULL) {
		*maximize = from->maximize;
		import_put_metric(&b, from->metric);
		return buf_take(&b);
	}
	for (k = 0; k < i; k++) {
		goal = json_next(goal);
		name = name != NULL ? json_next(name) : NULL;
	}
	text = json_string(goal);
	*maximize = text != NULL && strcmp(text, "MAXIMIZE") == 0;
	if (name != NULL && json_string(name) != NULL)
		import_put_metric(&b, json_string(name));
	else
		buf_printf(&b, "objective_%d", i);
	return buf_take(&b);
}

static void
import_results_objectives_put(
    struct import *im, const struct import_results *from)
{
	int i, n = (int)json_count(from->goals);
	struct json_writer w;
	bool maximize;
	char *name;

	converted_open(&im->to, 1, "objectives", '[');
	for (i = 0; i < n; i++) {
		name = objective_of(from, i, &maximize);
		w = converted_object(&im->to, 2, NULL);
		json_writer_text(&w, "metric", name);
		json_writer_text(&w, "goal", goal_name(maximize));
		json_writer_end(&w);
		free(name);
	}
	converted_close(&im->to, 1, ']');
}

static void
import_results_objective_put(
    struct import *im, const struct import_results *from)
{
	struct json_writer w = converted_object(&im->to, 1, "objective");
	bool maximize;
	char *name = objective_of(from, 0, &maximize);

	json_writer_text(&w, "metric", name);
	json_writer_text(&w, "goal", goal_name(maximize));
	json_writer_text(&w, "value", "last");
	json_writer_end(&w);
	if (strcmp(name, from->metric) != 0)
		buf_printf(im->to.notes, "objective.metric: %s is %s here\n",
		    from->metric, name);
	free(name);
}

/* Optuna has their values, without names: the distance beyond a bound. */
static void
constraints_put(struct import *im, size_t n)
{
	struct json_writer w;
	char name[32];
	size_t i;

	if (n == 0)
		return;
	converted_open(&im->to, 1, "constraints", '[');
	for (i = 0; i < n; i++) {
		(void)snprintf(name, sizeof name, "constraint_%zu", i);
		w = converted_object(&im->to, 2, NULL);
		json_writer_text(&w, "metric", name);
		json_writer_integer(&w, "max", 0);
		json_writer_end(&w);
	}
	converted_close(&im->to, 1, ']');
	converted_note(&im->to,
	    "constraints: the program reports constraint_0 and so on as it did "
	    "to Optuna: 0 or less satisfies it");
}

/* Programs of Python often compare arguments with 'True'. */
static void
words_note(struct import_guess *g)
{
	size_t i;

	for (i = 0; i < g->n && !g->params[i].words; i++)
		;
	if (i < g->n)
		buf_printf(g->im.to.notes,
		    "%s: {params} writes true, false and null; a program that "
		    "expects True, False and None is given {params:python}\n",
		    g->params[i].name);
}

static void
diverged_note(const struct import_guess *g)
{
	size_t n = g->from->diverged;

	if (n > 0)
		buf_printf(g->im.to.notes,
		    "%zu of %zu trials ended with NaN or infinity as the "
		    "objective: they have failed here\n",
		    n, g->trials);
}

static int
import_results_study_put(
    struct import_guess *g, const char *warm, struct err *e)
{
	const struct import_results *from = g->from;

	buf_putc(&g->im.to.out, '{');
	import_name(&g->im, from->study, strlen(from->study), "imported");
	if (from->metric != NULL)
		import_results_objective_put(&g->im, from);
	else
		import_results_objectives_put(&g->im, from);
	constraints_put(&g->im, from->constraints);
	if (import_params_put(g, e) != 0)
		return -1;
	if (!from->stops || from->metric == NULL)
		converted_text(&g->im.to, 1, "stopping", "none");
	converted_open(&g->im.to, 1, "trial", '{');
	converted_key(&g->im.to, 2, "command");
	buf_puts(&g->im.to.out, "[\"./train\", \"{params}\"]");
	converted_close(&g->im.to, 1, '}');
	converted_open(&g->im.to, 1, "limits", '{');
	converted_key(&g->im.to, 2, "trials");
	buf_printf(&g->im.to.out, "%d", TRIALS);
	converted_close(&g->im.to, 1, '}');
	converted_note(
	    &g->im.to, "trial.command: ./train {params}: name your program");
	words_note(g);
	diverged_note(g);
	if (warm != NULL) {
		converted_open(&g->im.to, 1, "warm_start", '[');
		converted_text(&g->im.to, 2, NULL, warm);
		converted_close(&g->im.to, 1, ']');
	}
	buf_puts(&g->im.to.out, "\n}\n");
	return 0;
}

/* The values of objectives and constraints, as export --format json has them. */
static void
outcomes_put(struct json_writer *w, const struct import_results *from,
    const struct json *trial)
{
	const struct json *j = json_first(json_get(trial, "values"));
	char text[32], *name;
	bool maximize;
	int i;

	json_writer_array(w, "outcomes");
	for (i = 0; j != NULL; j = json_next(j), i++) {
		name = objective_of(from, i, &maximize);
		json_writer_object(w, NULL);
		json_writer_text(w, "metric", name);
		json_writer_text(w, "goal", goal_name(maximize));
		json_write(json_writer_value(w, "value"), j);
		json_writer_end(w);
		free(name);
	}
	j = json_first(json_get(trial, "constraints"));
	for (i = 0; j != NULL; j = json_next(j), i++) {
		(void)snprintf(text, sizeof text, "constraint_%d", i);
		json_writer_object(w, NULL);
		json_writer_text(w, "metric", text);
		json_write(json_writer_value(w, "value"), j);
		json_writer_end(w);
	}
	json_writer_end(w);
}

static void
import_results_member_put(struct json_writer *w, const struct import_guess *g,
    const struct json *trial, const struct json *j)
{
	const struct import_results *from = g->from;
	const struct json *p;

	if (strcmp(json_key(j), "params") == 0) {
		json_writer_object(w, "params");
		for (p = json_first(j); p != NULL; p = json_next(p))
			json_write(json_writer_value(
				       w, import_params_name(g, json_key(p))),
			    p);
		json_writer_end(w);
	} else if (strcmp(json_key(j), "values") == 0) {
		if (from->metric == NULL || from->constraints > 0)
			outcomes_put(w, from, trial);
	} else if (strcmp(json_key(j), "constraints") != 0)
		json_write(json_writer_value(w, json_key(j)), j);
}

/* The trials, with valid names of parameters. */
static void
import_results_trials_put(struct buf *out, const struct import_guess *g)
{
	const struct import_results *from = g->from;
	struct json_writer w = { .out = out, .spacing = JSON_SPACED };
	const struct json *trial, *j;
	bool maximize;
	char *metric;
	int64_t n = 0;

	json_writer_object(&w, NULL);
	if (from->metric != NULL) {
		metric = objective_of(from, 0, &maximize);
		json_writer_object(&w, "study");
		json_writer_text(&w, "metric", metric);
		json_writer_text(&w, "goal", goal_name(maximize));
		json_writer_end(&w);
		free(metric);
	}
	json_writer_array(&w, "trials");
	for (trial = json_first(from->trials); trial != NULL;
	     trial = json_next(trial)) {
		json_writer_line(&w);
		json_writer_object(&w, NULL);
		json_writer_integer(&w, "trial", ++n);
		for (j = json_first(trial); j != NULL; j = json_next(j))
			import_results_member_put(&w, g, trial, j);
		json_writer_end(&w);
	}
	json_writer_end(&w);
	json_writer_end(&w);
	buf_putc(out, '\n');
}

/* Whether a trial has failed or has a value: warm_start refuses others alone. */
static bool
any_result(const struct import_results *from)
{
	const struct json *trial, *j;
	const char *state;
	bool whole;
	double x;

	for (trial = json_first(from->trials); trial != NULL;
	     trial = json_next(trial)) {
		state = json_string(json_get(trial, "state"));
		j = json_first(json_get(trial, "values"));
		for (whole = j != NULL; j != NULL; j = json_next(j))
			whole = whole && json_number(j, &x);
		if ((state != NULL && strcmp(state, "failed") == 0) || whole ||
		    json_get(trial, "objective") != NULL)
			return true;
	}
	return false;
}

int
import_results(struct buf *study, struct buf *trials, struct buf *notes,
    const struct import_results *from, const char *warm, struct err *e)
{
	struct import_guess g = {
		.im = { .to = { .notes = notes, .fresh = true } }, .from = from
	};
	size_t i;
	int rc;

	import_params_see(&g);
	if (!any_result(from)) {
		converted_note(&g.im.to, "warm_start: no trial has a value");
		warm = NULL;
	}
	rc = import_results_study_put(&g, warm, e);
	if (rc == 0) {
		buf_add(study, g.im.to.out.data, g.im.to.out.len);
		if (warm != NULL)
			import_results_trials_put(trials, &g);
		else if (any_result(from))
			converted_note(&g.im.to,
			    "warm_start: with --output FILE the trials are "
			    "written, too");
	}
	for (i = 0; i < g.n; i++)
		free(g.params[i].values);
	free(g.params);
	strv_free(g.im.names.v);
	buf_free(&g.im.to.out);
	return rc;
}
