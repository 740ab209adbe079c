/* Reads the options of a plug-in by its table: types, ranges and defaults. */

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/model/foreign-words.h"
#include "src/model/plugin-options.h"
#include "src/model/units.h"

/* A value as written, as a number or as text, before it is checked. */
struct written {
	const char *text; /* or NULL: number or list */
	double number;
	const struct json *list; /* or NULL */
};

size_t
plugin_options_count(const struct option *table)
{
	size_t n = 0;

	while (table != NULL && table[n].type != OPTION_END)
		n++;
	return n;
}

static bool
has_range(const struct option *o)
{
	return o->min != 0 || o->max != 0;
}

static bool
in_range(const struct option *o, double x)
{
	return !has_range(o) || (x >= o->min && x <= o->max);
}

static void
plugin_options_bound_put(struct buf *b, double x)
{
	buf_printf(b, x == floor(x) && fabs(x) < 1e16 ? "%.0f" : "%.15g", x);
}

/* " from 1 to 5", " of at least 1" or nothing. */
static void
plugin_options_range_put(struct buf *b, const struct option *o)
{
	if (!has_range(o))
		return;
	if (o->max < DBL_MAX) {
		buf_puts(b, " from ");
		plugin_options_bound_put(b, o->min);
		buf_puts(b, " to ");
		plugin_options_bound_put(b, o->max);
	} else if (o->min > -DBL_MAX) {
		buf_puts(b, " of at least ");
		plugin_options_bound_put(b, o->min);
	}
}

/* What was expected, for errors. */
static void
expected_put(struct buf *b, const struct option *o)
{
	const char *const *c;

	switch (o->type) {
	case OPTION_END:
		break;
	case OPTION_BOOL:
		buf_puts(b, has_range(o) ? "true, false or a whole number"
					 : "true or false");
		plugin_options_range_put(b, o);
		break;
	case OPTION_INT:
		buf_puts(b, "a whole number");
		plugin_options_range_put(b, o);
		break;
	case OPTION_REAL:
		buf_puts(b, "a number");
		plugin_options_range_put(b, o);
		break;
	case OPTION_TEXT:
		if (o->choices == NULL)
			buf_puts(b, "a text");
		for (c = o->choices; c != NULL && *c != NULL; c++)
			buf_printf(b, "%s\"%s%s\"",
			    c == o->choices ? ""
			    : c[1] == NULL  ? " or "
					    : ", ",
			    *c, (*c)[strlen(*c) - 1] == ':' ? "20%" : "");
		break;
	case OPTION_STEPS:
		buf_puts(b, "a number of steps");
		plugin_options_range_put(b, o);
		buf_puts(b, " or a share from \"0%\" to \"100%\"");
		break;
	case OPTION_SHARE:
		buf_puts(b, "a share from \"0%\" to \"100%\"");
		break;
	case OPTION_DURATION:
		buf_puts(b, DURATION_FORM);
		plugin_options_range_put(b, o);
		break;
	case OPTION_SIZE:
		buf_puts(b, SIZE_FORM);
		plugin_options_range_put(b, o);
		break;
	case OPTION_WORDS:
		buf_puts(b, "a text, a whole number");
		plugin_options_range_put(b, o);
		buf_puts(b, " or a list of texts without commas");
		break;
	case OPTION_ANY:
		buf_puts(b, "a text, a whole number");
		plugin_options_range_put(b, o);
		buf_puts(b, ", a list of texts without commas or an object");
		break;
	case OPTION_JSON:
		buf_puts(b, "an object or a list");
		break;
	}
}

/* A choice, or one ending in ':' with a percentage after it. */
static bool
choice_fits(const char *choice, const char *text)
{
	size_t n = strlen(choice);
	double p;

	if (n == 0 || choice[n - 1] != ':')
		return strcmp(choice, text) == 0;
	return strncmp(choice, text, n) == 0 && percent_parse(text + n, &p) &&
	       p > 0 && p <= 100;
}

static bool
set_text(struct option_value *v, const struct option *o, const char *text)
{
	const char *const *c;

	if (text == NULL)
		return false;
	for (c = o->choices; c != NULL && *c != NULL; c++)
		if (choice_fits(*c, text))
			break;
	if (c != NULL && *c == NULL)
		return false;
	v->text = xstrdup(text);
	return true;
}

/* A count or a share; 0 is a count of 0 in either form. */
static bool
set_steps(struct option_value *v, const struct option *o, struct written w)
{
	double x = w.number;

	if (w.text != NULL) {
		if (!percent_parse(w.text, &x) || x > 100)
			return false;
		x /= 100;
		v->is_share = x > 0;
	} else if (w.list != NULL) {
		return false;
	} else if (x > 0 && x < 1) {
		v->is_share = true;
	} else if (x < 0 || x != floor(x) || x > 9007199254740992.0) {
		return false;
	}
	v->number = x;
	return v->is_share || in_range(o, x);
}

/* A number below 1, or a percentage; 1 alone could be either. */
static bool
set_share(struct option_value *v, struct written w)
{
	double x = w.number;

	if (w.list != NULL)
		return false;
	if (w.text == NULL) {
		v->number = x;
		return x >= 0 && x < 1;
	}
	if (!percent_parse(w.text, &x) || x < 0 || x > 100)
		return false;
	v->number = x / 100;
	return true;
}

static bool
set_number(struct option_value *v, const struct option *o, struct written w)
{
	if (w.text != NULL || w.list != NULL)
		return false;
	if (o->type != OPTION_REAL && (w.number != floor(w.number) ||
					  fabs(w.number) > 9007199254740992.0))
		return false;
	v->number = w.number;
	return in_range(o, w.number);
}

static bool
set_quantity(struct option_value *v, const struct option *o, struct written w)
{
	double max = SIZE_BYTES_MAX;

	v->number = w.number;
	if (o->type == OPTION_DURATION) {
		max = DURATION_MAX;
		if (w.text != NULL && !duration_parse(w.text, &v->number))
			return false;
	} else if (w.text != NULL && !size_parse(w.text, &v->number)) {
		return false;
	}
	if (w.list != NULL || v->number < 0 || v->number > max)
		return false;
	if (o->type == OPTION_SIZE)
		v->number = round(v->number);
	return in_range(o, v->number);
}

/* The words joined by commas; a number is stored as text and as number. */
static bool
set_words(struct option_value *v, const struct option *o, struct written w)
{
	struct buf b = { 0 };
	const struct json *j;
	const char *word;
	char digits[16];
	double number;

	if (w.text != NULL) {
		v->text = xstrdup(w.text);
		return *w.text != '\0';
	}
	if (w.list == NULL) {
		v->text = xasprintf("%.0f", w.number);
		return w.number >= 0 && set_number(v, o, w);
	}
	for (j = json_first(w.list); j != NULL; j = json_next(j)) {
		word = json_string(j);
		if (word == NULL && o->type == OPTION_ANY &&
		    json_number(j, &number) && number >= 0 && number < 1e6 &&
		    number == floor(number)) {
			(void)snprintf(digits, sizeof digits, "%.0f", number);
			word = digits;
		}
		if (word == NULL || *word == '\0' || strchr(word, ',') != NULL)
			break;
		buf_printf(&b, "%s%s", b.len > 0 ? "," : "", word);
	}
	v->text = buf_take(&b);
	return j == NULL && json_count(w.list) > 0;
}

static bool
set_value(struct option_value *v, const struct option *o, struct written w)
{
	switch (o->type) {
	case OPTION_BOOL: /* has neither number nor text in JSON */
	case OPTION_JSON:
	case OPTION_END:
		break;
	case OPTION_INT:
	case OPTION_REAL:
		return set_number(v, o, w);
	case OPTION_TEXT:
		return set_text(v, o, w.text);
	case OPTION_STEPS:
		return set_steps(v, o, w);
	case OPTION_SHARE:
		return set_share(v, w);
	case OPTION_DURATION:
	case OPTION_SIZE:
		return set_quantity(v, o, w);
	case OPTION_WORDS:
	case OPTION_ANY:
		return set_words(v, o, w);
	}
	return false;
}

/* A default is written as text for every type; parse it as a number first. */
static void
set_default(struct option_value *v, const struct option *o)
{
	struct written w = { .text = o->def };
	char *end;
	bool good;

	if (o->def == NULL)
		return;
	if (o->type != OPTION_TEXT) {
		w.number = strtod(o->def, &end);
		if (*end == '\0' && end != o->def)
			w.text = NULL;
	}
	if (o->type != OPTION_BOOL) {
		good = set_value(v, o, w);
	} else if (w.text == NULL) {
		good = has_range(o) && set_number(v, o, w);
	} else {
		v->number = strcmp(o->def, "true") == 0;
		good = v->number != 0 || strcmp(o->def, "false") == 0;
	}
	assert(good);
	v->is_set = good;
}

static int
option_read(struct option_value *v, const struct option *o,
    const struct json *j, struct err *e)
{
	struct written w = { .text = json_string(j) };
	struct buf want = { 0 };
	bool yes, good;

	v->json = j;
	if (json_type(j) == JSON_ARRAY)
		w.list = j;
	if (o->type == OPTION_JSON) {
		good = w.list != NULL || json_type(j) == JSON_OBJECT;
	} else if (o->type == OPTION_BOOL) {
		good = json_bool(j, &yes);
		v->number = good && yes;
		if (!good && has_range(o))
			good = json_number(j, &w.number) && set_number(v, o, w);
	} else if (o->type == OPTION_ANY && json_type(j) == JSON_OBJECT) {
		good = true;
	} else {
		good = (w.text != NULL || w.list != NULL ||
			   json_number(j, &w.number)) &&
		       set_value(v, o, w);
	}
	if (good) {
		v->given = v->is_set = true;
		return 0;
	}
	expected_put(&want, o);
	json_err(j, e, "expected %s", buf_str(&want));
	buf_free(&want);
	return -1;
}

static bool
plugin_options_is_listed(const char *const *words, const char *word)
{
	for (; words != NULL && *words != NULL; words++)
		if (strcmp(*words, word) == 0)
			return true;
	return false;
}

/*
 * Each key must be in the table or in except, of which a rule and a strategy have
 * each its own.
 */
static int
plugin_options_keys_check(const struct option *table, const struct json *block,
    const char *const *except, struct err *e)
{
	size_t n = plugin_options_count(table), m = 0, i;
	const char **known;
	int rc;

	while (except != NULL && except[m] != NULL)
		m++;
	known = xcalloc(n + m + 1, sizeof *known);
	for (i = 0; i < n; i++)
		known[i] = table[i].name;
	for (i = 0; i < m; i++)
		known[n + i] = except[i];
	rc = foreign_words_only(block,
	    plugin_options_is_listed(except, "rule")   ? FOREIGN_STOPPING
	    : plugin_options_is_listed(except, "seed") ? FOREIGN_STRATEGY
						       : FOREIGN_BACKEND,
	    known, e);
	free(known);
	return rc;
}

int
plugin_options_read(struct option_value **out, const struct option *table,
    const struct json *block, const char *const *except, struct err *e)
{
	size_t n = plugin_options_count(table), i;
	struct option_value *values;
	const struct json *j;

	*out = NULL;
	if (block != NULL &&
	    plugin_options_keys_check(table, block, except, e) != 0)
		return -1;
	values = xcalloc(n + 1, sizeof *values);
	for (i = 0; i < n; i++) {
		values[i].name = table[i].name;
		j = json_get(block, table[i].name);
		if (j == NULL)
			set_default(&values[i], &table[i]);
		else if (option_read(&values[i], &table[i], j, e) != 0) {
			plugin_options_free(values);
			return -1;
		}
	}
	*out = values;
	return 0;
}

void
plugin_options_free(struct option_value *values)
{
	struct option_value *v;

	for (v = values; v != NULL && v->name != NULL; v++)
		free(v->text);
	free(values);
}

const struct option_value *
plugin_option_get(const struct option_value *values, const char *name)
{
	for (; values->name != NULL; values++)
		if (strcmp(values->name, name) == 0)
			return values;
	assert(0 && "an option that the table does not have");
	return NULL;
}

double
plugin_option_number(const struct option_value *values, const char *name)
{
	return plugin_option_get(values, name)->number;
}

const char *
plugin_option_text(const struct option_value *values, const char *name)
{
	return plugin_option_get(values, name)->text;
}

bool
plugin_option_is(const struct option_value *values, const char *name)
{
	return plugin_option_number(values, name) != 0;
}

int64_t
plugin_option_count(const struct option_value *values, const char *name)
{
	double x = plugin_option_number(values, name);

	return x < 9e18 ? (int64_t)x : INT64_MAX;
}

bool
plugin_option_says(
    const struct option_value *values, const char *name, const char *text)
{
	return strcmp(plugin_option_text(values, name), text) == 0;
}

int64_t
plugin_option_steps(
    const struct option_value *v, int64_t max_steps, int64_t fallback)
{
	if (!v->is_set)
		return fallback;
	if (!v->is_share)
		return (int64_t)v->number;
	if (max_steps <= 0)
		return fallback;
	return (int64_t)ceil(v->number * (double)max_steps - 1e-9);
}
