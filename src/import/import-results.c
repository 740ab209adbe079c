/*
 * Guesses a search space from trials: whole numbers, numbers, choices; wide
 * positive ranges are logarithmic, as a SageMaker import decides it.
 */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/import/import-results.h"
#include "src/import/import-study.h"
#include "src/model/goal.h"

enum { CHOICES_MOST = 1000, TRIALS = 100, WIDE = 1000 };

/* One parameter, as the trials have it. */
struct seen {
	const char *name;
	const struct json *first; /* a value */
	size_t n, numbers; /* trials with it, and with a number */
	bool whole; /* each number is */
	double min, max;
	const struct json **values; /* different ones */
	size_t n_values, cap_values;
};

struct guess {
	struct import im;
	const struct import_results *from;
	struct seen *params;
	size_t n, cap, trials;
};

static struct seen *
seen_of(struct guess *g, const char *name)
{
	size_t i;

	for (i = 0; i < g->n; i++)
		if (strcmp(g->params[i].name, name) == 0)
			return &g->params[i];
	XGROW(g->params, g->n, g->cap);
	g->params[g->n] = (struct seen){
		.name = name, .whole = true, .min = INFINITY, .max = -INFINITY
	};
	return &g->params[g->n++];
}

static void
value_see(struct seen *s, const struct json *j)
{
	int64_t whole;
	size_t i;
	double x;

	s->n++;
	if (json_number(j, &x)) {
		s->numbers++;
		s->whole =
		    s->whole && json_integer(j, &whole) && !json_is_decimal(j);
		s->min = fmin(s->min, x);
		s->max = fmax(s->max, x);
	}
	for (i = 0; i < s->n_values; i++)
		if (json_same(s->values[i], j))
			return;
	if (s->n_values > CHOICES_MOST)
		return;
	XGROW(s->values, s->n_values, s->cap_values);
	s->values[s->n_values++] = j;
}

static void
trials_see(struct guess *g)
{
	const struct json *trial, *j;

	for (trial = json_first(g->from->trials); trial != NULL;
	     trial = json_next(trial), g->trials++)
		for (j = json_first(json_get(trial, "params")); j != NULL;
		     j = json_next(j))
			value_see(seen_of(g, json_key(j)), j);
}

/* ---- conditions ------------------------------------------------------------ */

/* Of the trials in which a parameter has a value: those with another one. */
static size_t
trials_with(const struct guess *g, const char *name, const struct json *value,
    const char *other)
{
	const struct json *trial, *params;
	size_t n = 0;

	for (trial = json_first(g->from->trials); trial != NULL;
	     trial = json_next(trial)) {
		params = json_get(trial, "params");
		if (json_get(params, name) != NULL &&
		    json_same(json_get(params, name), value) &&
		    (other == NULL || json_get(params, other) != NULL))
			n++;
	}
	return n;
}

/* Whether a parameter is there for some values of another one, and only then. */
static bool
depends(const struct guess *g, const struct seen *s, const struct seen *on)
{
	size_t i, n, some = 0;

	if (on->n < g->trials || on->n_values < 2 ||
	    on->n_values > CHOICES_MOST || on->numbers == on->n)
		return false;
	for (i = 0; i < on->n_values; i++) {
		n = trials_with(g, on->name, on->values[i], s->name);
		if (n > 0 && n < trials_with(g, on->name, on->values[i], NULL))
			return false;
		some += n > 0;
	}
	return some > 0;
}

/* Write the condition of a parameter that some trials are without. */
static void
when_put(struct guess *g, struct json_writer *w, const struct seen *s,
    const char *name)
{
	struct buf text = { 0 };
	size_t i, k;

	for (i = 0; i < g->n && s->n < g->trials; i++)
		if (&g->params[i] != s && depends(g, s, &g->params[i]))
			break;
	if (s->n == g->trials || i == g->n) {
		if (s->n < g->trials)
			buf_printf(g->im.notes,
			    "%s: %zu of %zu trials are without it: give it a "
			    "default, or \"when\" if it is conditional\n",
			    name, g->trials - s->n, g->trials);
		return;
	}
	import_put_name(&text, g->params[i].name);
	json_writer_object(w, "when");
	json_writer_array(w, buf_str(&text));
	for (k = 0; k < g->params[i].n_values; k++)
		if (trials_with(g, g->params[i].name, g->params[i].values[k],
			s->name) > 0)
			json_write(
			    json_writer_value(w, NULL), g->params[i].values[k]);
	json_writer_end(w);
	json_writer_end(w);
	buf_printf(g->im.notes,
	    "%s: \"when\": it was there for these values "
	    "of %s, and only then\n",
	    name, buf_str(&text));
	buf_free(&text);
}

/* ---- Optuna's distributions ---------------------------------------------- */

static const struct json *
domain_of(const struct guess *g, const char *name)
{
	const struct json *j;
	const char *text;

	for (j = json_first(g->from->domains); j != NULL; j = json_next(j)) {
		text = json_string(json_get(j, "name"));
		if (text != NULL && strcmp(text, name) == 0)
			return json_get(j, "distribution");
	}
	return NULL;
}

/* The union of the ranges that a parameter had; false when it has none. */
static bool
range_of(const struct guess *g, const char *name, double *min, double *max)
{
	const struct json *j, *a;
	const char *text;
	double x;

	*min = INFINITY;
	*max = -INFINITY;
	for (j = json_first(g->from->domains); j != NULL; j = json_next(j)) {
		text = json_string(json_get(j, "name"));
		if (text == NULL || strcmp(text, name) != 0)
			continue;
		a = json_get(json_get(j, "distribution"), "attributes");
		if (json_number(json_get(a, "low"), &x))
			*min = fmin(*min, x);
		if (json_number(json_get(a, "high"), &x))
			*max = fmax(*max, x);
	}
	return *min < *max;
}

/* True when it was written. */
static bool
domain_put(struct guess *g, const struct seen *s, const char *name)
{
	const struct json *d = domain_of(g, s->name), *a, *j;
	const char *kind = json_string(json_get(d, "name"));
	struct json_writer w;
	double min, max, step = 0;
	bool log = false, whole;

	a = json_get(d, "attributes");
	j = json_get(a, "choices");
	if (kind == NULL || (j != NULL && json_count(j) < 2))
		return false;
	if (j != NULL) {
		w = import_object(&g->im, 2, name);
		json_writer_text(&w, "type", "choice");
		json_write(json_writer_value(&w, "values"), j);
		when_put(g, &w, s, name);
		json_writer_end(&w);
		return true;
	}
	if (!range_of(g, s->name, &min, &max))
		return false;
	whole = strncmp(kind, "Int", 3) == 0;
	(void)json_bool(json_get(a, "log"), &log);
	log = (log || strstr(kind, "Log") != NULL) && min > 0;
	if (!json_number(json_get(a, "step"), &step))
		(void)json_number(json_get(a, "q"), &step);
	w = import_object(&g->im, 2, name);
	json_writer_text(&w, "type", whole ? "int" : "float");
	json_writer_number(&w, "min", min);
	json_writer_number(&w, "max", max);
	if (log)
		json_writer_text(&w, "scale", "log");
	else if (step > 0 && !(whole && step == 1))
		json_writer_number(&w, "step", step);
	when_put(g, &w, s, name);
	json_writer_end(&w);
	return true;
}

/* ---- parameters by their values ------------------------------------------ */

static int
param_put(struct guess *g, const struct seen *s, struct err *e)
{
	struct buf name = { 0 };
	struct json_writer w;
	size_t i;

	import_put_name(&name, s->name);
	if (strcmp(s->name, buf_str(&name)) != 0)
		buf_printf(g->im.notes, "%s: its name is %s here\n", s->name,
		    buf_str(&name));
	if (domain_put(g, s, buf_str(&name))) {
		buf_free(&name);
		return 0;
	}
	if (s->numbers < s->n && s->n_values > CHOICES_MOST) {
		err_set(e, ERR_USAGE,
		    "%s: more than %d different texts: leave "
		    "it out with --params",
		    buf_str(&name), CHOICES_MOST);
		buf_free(&name);
		return -1;
	}
	w = import_object(&g->im, 2, buf_str(&name));
	if (s->n_values == 1) {
		json_writer_text(&w, "type", "fixed");
		json_write(json_writer_value(&w, "value"), s->values[0]);
	} else if (s->numbers == s->n) {
		json_writer_text(&w, "type", s->whole ? "int" : "float");
		json_writer_number(&w, "min", s->min);
		json_writer_number(&w, "max", s->max);
		if (s->min > 0 && s->max / s->min >= WIDE)
			json_writer_text(&w, "scale", "log");
		buf_printf(g->im.notes,
		    "%s: its range is that of the trials: %g to %g\n",
		    buf_str(&name), s->min, s->max);
	} else {
		json_writer_text(&w, "type", "choice");
		json_writer_array(&w, "values");
		for (i = 0; i < s->n_values; i++)
			json_write(json_writer_value(&w, NULL), s->values[i]);
		json_writer_end(&w);
	}
	when_put(g, &w, s, buf_str(&name));
	json_writer_end(&w);
	buf_free(&name);
	return 0;
}

/* Two names may become the same one. */
static int
names_check(const struct guess *g, struct err *e)
{
	struct buf one = { 0 }, other = { 0 };
	size_t i, k;
	int rc = 0;

	for (i = 0; i < g->n && rc == 0; i++)
		for (k = 0; k < i && rc == 0; k++) {
			buf_clear(&one);
			buf_clear(&other);
			import_put_name(&one, g->params[k].name);
			import_put_name(&other, g->params[i].name);
			if (strcmp(buf_str(&one), buf_str(&other)) == 0)
				rc = err_set(e, ERR_USAGE,
				    "%s: its parameters %s and %s would both "
				    "be named %s",
				    g->from->study, g->params[k].name,
				    g->params[i].name, buf_str(&one));
		}
	buf_free(&one);
	buf_free(&other);
	return rc;
}

static int
params_put(struct guess *g, struct err *e)
{
	size_t i;

	if (g->n == 0)
		return err_set(e, ERR_USAGE,
		    "%s: its trials have no parameters", g->from->study);
	if (names_check(g, e) != 0)
		return -1;
	import_open(&g->im, 1, "parameters", '{');
	for (i = 0; i < g->n; i++)
		if (param_put(g, &g->params[i], e) != 0)
			return -1;
	import_close(&g->im, 1, '}');
	return 0;
}

/* ---- the study ------------------------------------------------------------ */

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
objectives_put(struct import *im, const struct import_results *from)
{
	int i, n = (int)json_count(from->goals);
	struct json_writer w;
	bool maximize;
	char *name;

	import_open(im, 1, "objectives", '[');
	for (i = 0; i < n; i++) {
		name = objective_of(from, i, &maximize);
		w = import_object(im, 2, NULL);
		json_writer_text(&w, "metric", name);
		json_writer_text(&w, "goal", goal_name(maximize));
		json_writer_end(&w);
		free(name);
	}
	import_close(im, 1, ']');
}

static void
objective_put(struct import *im, const struct import_results *from)
{
	struct json_writer w = import_object(im, 1, "objective");
	bool maximize;
	char *name = objective_of(from, 0, &maximize);

	json_writer_text(&w, "metric", name);
	json_writer_text(&w, "goal", goal_name(maximize));
	json_writer_text(&w, "value", "last");
	json_writer_end(&w);
	if (strcmp(name, from->metric) != 0)
		buf_printf(im->notes, "objective.metric: %s is %s here\n",
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
	import_open(im, 1, "constraints", '[');
	for (i = 0; i < n; i++) {
		(void)snprintf(name, sizeof name, "constraint_%zu", i);
		w = import_object(im, 2, NULL);
		json_writer_text(&w, "metric", name);
		json_writer_integer(&w, "max", 0);
		json_writer_end(&w);
	}
	import_close(im, 1, ']');
	import_note(im,
	    "constraints: the program reports constraint_0 and so on as it did "
	    "to Optuna: 0 or less satisfies it");
}

static int
study_put(struct guess *g, const char *warm, struct err *e)
{
	const struct import_results *from = g->from;

	buf_putc(&g->im.out, '{');
	import_name(&g->im, from->study, strlen(from->study), "imported");
	if (from->metric != NULL)
		objective_put(&g->im, from);
	else
		objectives_put(&g->im, from);
	constraints_put(&g->im, from->constraints);
	if (params_put(g, e) != 0)
		return -1;
	if (!from->stops || from->metric == NULL)
		import_text(&g->im, 1, "stopping", "none");
	import_open(&g->im, 1, "trial", '{');
	import_key(&g->im, 2, "command");
	buf_puts(&g->im.out, "[\"./train\", \"{params}\"]");
	import_close(&g->im, 1, '}');
	import_open(&g->im, 1, "limits", '{');
	import_key(&g->im, 2, "trials");
	buf_printf(&g->im.out, "%d", TRIALS);
	import_close(&g->im, 1, '}');
	import_note(
	    &g->im, "trial.command: ./train {params}: name your program");
	if (warm != NULL) {
		import_open(&g->im, 1, "warm_start", '[');
		import_text(&g->im, 2, NULL, warm);
		import_close(&g->im, 1, ']');
	}
	buf_puts(&g->im.out, "\n}\n");
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
member_put(struct json_writer *w, const struct import_results *from,
    const struct json *trial, const struct json *j)
{
	if (strcmp(json_key(j), "params") == 0)
		import_put_params(json_writer_value(w, "params"), j);
	else if (strcmp(json_key(j), "values") == 0) {
		if (from->metric == NULL || from->constraints > 0)
			outcomes_put(w, from, trial);
	} else if (strcmp(json_key(j), "constraints") != 0)
		json_write(json_writer_value(w, json_key(j)), j);
}

/* The trials, with valid names of parameters. */
static void
trials_put(struct buf *out, const struct import_results *from)
{
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
			member_put(&w, from, trial, j);
		json_writer_end(&w);
	}
	json_writer_end(&w);
	json_writer_end(&w);
	buf_putc(out, '\n');
}

int
import_results(struct buf *study, struct buf *trials, struct buf *notes,
    const struct import_results *from, const char *warm, struct err *e)
{
	struct guess g = { .im = { .notes = notes, .fresh = true },
		.from = from };
	size_t i;
	int rc;

	trials_see(&g);
	rc = study_put(&g, warm, e);
	if (rc == 0) {
		buf_add(study, g.im.out.data, g.im.out.len);
		if (warm != NULL)
			trials_put(trials, from);
		else
			import_note(&g.im,
			    "warm_start: with --output FILE the trials are "
			    "written, too");
	}
	for (i = 0; i < g.n; i++)
		free(g.params[i].values);
	free(g.params);
	buf_free(&g.im.out);
	return rc;
}
