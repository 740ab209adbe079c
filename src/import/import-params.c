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

/*
 * Whether a parameter is there for some values of another one, and only then.
 * Of a whole number these are all from one value on, or up to it.
 */
struct depends {
	const struct import_seen *on;
	bool number; /* on is a whole number: from min to max */
	bool below; /* max counts, otherwise min */
	double min, max; /* of the values for which it is there */
};

static bool
depends_read(struct depends *d, const struct import_guess *g,
    const struct import_seen *s, const struct import_seen *on)
{
	double x, low = -INFINITY,
		  high = INFINITY; /* nearest ones without it */
	size_t i, n, all = 0;

	*d = (struct depends){ .on = on, .min = INFINITY, .max = -INFINITY };
	d->number = on->numbers == on->n;
	if (on->n_values < 2 || on->n_values > CHOICES_MOST || s->n >= on->n ||
	    (d->number && (!on->whole || on->n_values == on->n)))
		return false;
	for (i = 0; i < on->n_values; i++) {
		n = trials_with(g, on->name, on->values[i], s->name);
		if (n > 0 && n < trials_with(g, on->name, on->values[i], NULL))
			return false;
		all += n;
		if (n > 0 && json_number(on->values[i], &x)) {
			d->min = fmin(d->min, x);
			d->max = fmax(d->max, x);
		}
	}
	for (i = 0; d->number && i < on->n_values; i++) {
		n = trials_with(g, on->name, on->values[i], s->name);
		if (n > 0 || !json_number(on->values[i], &x))
			continue;
		if (x < d->min)
			low = fmax(low, x);
		else if (x > d->max)
			high = fmin(high, x);
		else
			return false;
	}
	d->below = isfinite(high);
	return all == s->n && !(isfinite(low) && isfinite(high));
}

/* The parent of a parameter that some trials are without; on is NULL: none. */
static struct depends
depends_find(const struct import_guess *g, const struct import_seen *s)
{
	struct depends best = { .on = NULL }, d;
	size_t i;

	for (i = 0; i < g->n; i++)
		if (&g->params[i] != s &&
		    depends_read(&d, g, s, &g->params[i]) &&
		    (best.on == NULL || (best.number && !d.number) ||
			(best.number == d.number &&
			    d.on->n_values < best.on->n_values)))
			best = d;
	return best;
}

/* Write the condition of a parameter that some trials are without. */
static void
import_params_when_put(struct import_guess *g, struct json_writer *w,
    const struct import_seen *s, const char *name)
{
	struct buf text = { 0 };
	struct depends d;
	size_t k;

	if (s->n == g->trials)
		return;
	d = depends_find(g, s);
	if (d.on == NULL) {
		buf_printf(g->im.to.notes,
		    "%s: %zu of %zu trials are without it: give it a "
		    "default, or \"when\" if it is conditional\n",
		    name, g->trials - s->n, g->trials);
		return;
	}
	if (d.number) {
		buf_printf(&text, "%s %s %.0f", d.on->here,
		    d.below ? "<=" : ">=", d.below ? d.max : d.min);
		json_writer_text(w, "when", buf_str(&text));
		buf_printf(g->im.to.notes,
		    "%s: \"when\": it was there where %s, and only then\n",
		    name, buf_str(&text));
		buf_free(&text);
		return;
	}
	json_writer_object(w, "when");
	json_writer_array(w, d.on->here);
	for (k = 0; k < d.on->n_values; k++)
		if (trials_with(g, d.on->name, d.on->values[k], s->name) > 0)
			json_writer_raw(w, NULL, json_spaced(d.on->values[k]));
	json_writer_end(w);
	json_writer_end(w);
	buf_printf(g->im.to.notes,
	    "%s: \"when\": it was there for these values "
	    "of %s, and only then\n",
	    name, d.on->here);
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
		w = converted_object(&g->im.to, 2, name);
		json_writer_text(&w, "type", "choice");
		json_writer_array(&w, "values");
		for (j = json_first(j); j != NULL; j = json_next(j))
			json_writer_raw(&w, NULL, json_spaced(j));
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
	w = converted_object(&g->im.to, 2, name);
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

	buf_puts(&name, s->here);
	if (strcmp(s->name, buf_str(&name)) != 0)
		buf_printf(g->im.to.notes, "%s: its name is %s here\n", s->name,
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
	w = converted_object(&g->im.to, 2, buf_str(&name));
	if (s->n_values == 1) {
		json_writer_text(&w, "type", "fixed");
		json_writer_raw(&w, "value", json_spaced(s->values[0]));
	} else if (s->numbers == s->n) {
		json_writer_text(&w, "type", s->whole ? "int" : "float");
		json_writer_number(&w, "min", s->min);
		json_writer_number(&w, "max", s->max);
		if (s->min > 0 && s->max / s->min >= WIDE)
			json_writer_text(&w, "scale", "log");
		buf_printf(g->im.to.notes,
		    "%s: its range is that of the trials: %g to %g\n",
		    buf_str(&name), s->min, s->max);
	} else {
		json_writer_text(&w, "type", "choice");
		json_writer_array(&w, "values");
		for (i = 0; i < s->n_values; i++)
			json_writer_raw(&w, NULL, json_spaced(s->values[i]));
		json_writer_end(&w);
	}
	import_params_when_put(g, &w, s, buf_str(&name));
	json_writer_end(&w);
	buf_free(&name);
	return 0;
}

/* Names that are valid here, each another one. */
static void
params_name(struct import_guess *g)
{
	struct buf name = { 0 };
	size_t i;

	for (i = 0; i < g->n; i++) {
		buf_clear(&name);
		import_put_name(&name, g->params[i].name);
		import_take_name(&name, &g->im.names);
		g->params[i].here = g->im.names.v[i];
	}
	buf_free(&name);
}

const char *
import_params_name(const struct import_guess *g, const char *theirs)
{
	size_t i;

	for (i = 0; strcmp(g->params[i].name, theirs) != 0; i++)
		;
	return g->params[i].here;
}

int
import_params_put(struct import_guess *g, struct err *e)
{
	size_t i;

	if (g->n == 0)
		return err_set(e, ERR_USAGE,
		    "%s: its trials have no parameters", g->from->study);
	params_name(g);
	converted_open(&g->im.to, 1, "parameters", '{');
	for (i = 0; i < g->n; i++)
		if (import_params_param_put(g, &g->params[i], e) != 0)
			return -1;
	converted_close(&g->im.to, 1, '}');
	return 0;
}
