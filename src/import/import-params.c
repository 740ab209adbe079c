/*
 * Guesses a search space from trials: whole numbers, numbers, choices; wide
 * positive ranges are logarithmic, as a SageMaker import decides it.
 */

#include <math.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/import/import-params.h"
#include "src/import/import-results.h"
#include "src/import/import-study.h"

enum { CHOICES_MOST = 1000, WIDE = 1000 };

static struct import_seen *
seen_of(struct import_guess *g, const char *name)
{
	size_t i;

	for (i = 0; i < g->n; i++)
		if (strcmp(g->params[i].name, name) == 0)
			return &g->params[i];
	XGROW(g->params, g->n, g->cap);
	g->params[g->n] = (struct import_seen){
		.name = name, .whole = true, .min = INFINITY, .max = -INFINITY
	};
	return &g->params[g->n++];
}

static void
value_see(struct import_seen *s, const struct json *j)
{
	int64_t whole;
	size_t i;
	double x;

	s->n++;
	s->words =
	    s->words || json_type(j) == JSON_BOOL || json_type(j) == JSON_NULL;
	if (import_is_nested(j))
		s->nested = j;
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

void
import_params_see(struct import_guess *g)
{
	const struct json *trial, *j;

	for (trial = json_first(g->from->trials); trial != NULL;
	     trial = json_next(trial), g->trials++)
		for (j = json_first(json_get(trial, "params")); j != NULL;
		     j = json_next(j))
			value_see(seen_of(g, json_key(j)), j);
}

/*
 * The number of trials in which a parameter has this value, and another
 * parameter (NULL: any) has one.
 */
static size_t
trials_with(const struct import_guess *g, const char *name,
    const struct json *value, const char *other)
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
depends(const struct import_guess *g, const struct import_seen *s,
    const struct import_seen *on)
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
import_params_when_put(struct import_guess *g, struct json_writer *w,
    const struct import_seen *s, const char *name)
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
			import_put_value(w, NULL, g->params[i].values[k]);
	json_writer_end(w);
	json_writer_end(w);
	buf_printf(g->im.notes,
	    "%s: \"when\": it was there for these values "
	    "of %s, and only then\n",
	    name, buf_str(&text));
	buf_free(&text);
}

static const struct json *
domain_of(const struct import_guess *g, const char *name)
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
range_of(
    const struct import_guess *g, const char *name, double *min, double *max)
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
domain_put(
    struct import_guess *g, const struct import_seen *s, const char *name)
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
		json_writer_array(&w, "values");
		for (j = json_first(j); j != NULL; j = json_next(j))
			import_put_value(&w, NULL, j);
		json_writer_end(&w);
		import_params_when_put(g, &w, s, name);
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
	import_params_when_put(g, &w, s, name);
	json_writer_end(&w);
	return true;
}

static int
import_params_param_put(
    struct import_guess *g, const struct import_seen *s, struct err *e)
{
	struct buf name = { 0 };
	struct json_writer w;
	size_t i;

	import_put_name(&name, s->name);
	if (strcmp(s->name, buf_str(&name)) != 0)
		buf_printf(g->im.notes, "%s: its name is %s here\n", s->name,
		    buf_str(&name));
	if (s->nested != NULL)
		import_nested_note(&g->im, buf_str(&name), s->nested);
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
		import_put_value(&w, "value", s->values[0]);
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
			import_put_value(&w, NULL, s->values[i]);
		json_writer_end(&w);
	}
	import_params_when_put(g, &w, s, buf_str(&name));
	json_writer_end(&w);
	buf_free(&name);
	return 0;
}

/* Two names may become the same one. */
static int
import_params_names_check(const struct import_guess *g, struct err *e)
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

int
import_params_put(struct import_guess *g, struct err *e)
{
	size_t i;

	if (g->n == 0)
		return err_set(e, ERR_USAGE,
		    "%s: its trials have no parameters", g->from->study);
	if (import_params_names_check(g, e) != 0)
		return -1;
	import_open(&g->im, 1, "parameters", '{');
	for (i = 0; i < g->n; i++)
		if (import_params_param_put(g, &g->params[i], e) != 0)
			return -1;
	import_close(&g->im, 1, '}');
	return 0;
}
