/*
 * The ranges of a tuning job as "parameters".  Shapes: API reference,
 * ParameterRanges.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json.h"
#include "src/base/mem.h"
#include "src/cli/import-parts.h"

/* Bounds whose ratio is at least this are searched by logarithm ("Auto"). */
#define AUTO_LOG_RATIO 1000.0

/* SageMaker writes bounds as texts; some tools write them as numbers. */
static int
bound_read(double *x, const struct json *range, const char *key, struct err *e)
{
	const struct json *j = json_need(range, key, e);
	const char *text;
	char *end;

	if (j == NULL)
		return -1;
	if (json_number(j, x))
		return 0;
	text = json_string(j);
	if (text != NULL) {
		*x = strtod(text, &end);
		if (end != text && *end == '\0' && isfinite(*x))
			return 0;
	}
	return json_err(j, e, "expected a number, or a text that is one");
}

static int
scale_put(struct import *im, const struct json *range, double min, double max,
    struct err *e)
{
	static const char *const words[] = { "Auto", "Linear", "Logarithmic",
		"ReverseLogarithmic", NULL };
	static const char *const scales[] = { NULL, NULL, "log",
		"reverse-log" };
	const struct json *j = json_get(range, "ScalingType");
	size_t i = 0;

	if (j != NULL && json_read_word(j, words, &i, e) != 0)
		return -1;
	if (i == 0 && min > 0 && max / min >= AUTO_LOG_RATIO)
		i = 2;
	if (scales[i] != NULL)
		buf_printf(&im->out, ", \"scale\": \"%s\"", scales[i]);
	return 0;
}

static int
range_put(struct import *im, const struct json *range, const char *type,
    struct err *e)
{
	const struct json *name = json_need(range, "Name", e);
	const char *text;
	double min, max;

	if (name == NULL || json_read_string(name, &text, e) != 0 ||
	    bound_read(&min, range, "MinValue", e) != 0 ||
	    bound_read(&max, range, "MaxValue", e) != 0)
		return -1;
	import_key(im, 2, text);
	buf_printf(&im->out, "{ \"type\": \"%s\", \"min\": ", type);
	json_put_number(&im->out, min);
	buf_puts(&im->out, ", \"max\": ");
	json_put_number(&im->out, max);
	if (scale_put(im, range, min, max, e) != 0)
		return -1;
	buf_puts(&im->out, " }");
	return 0;
}

/*
 * The SDK writes values of a framework's job as JSON ("\"adam\"", "0.1"),
 * other tools as they are: what reads as a scalar of JSON is one.
 */
static void
value_put(struct import *im, const char *text)
{
	struct json_doc *doc = NULL;
	struct err e = ERR_INIT;
	enum json_type type = JSON_NULL;

	if (json_parse(&doc, text, strlen(text), NULL, false, &e) == 0)
		type = json_type(json_root(doc));
	if (type == JSON_STRING || type == JSON_NUMBER || type == JSON_BOOL)
		json_write(&im->out, json_root(doc));
	else
		json_put_string(&im->out, text);
	json_free(doc);
}

static int
choice_put(struct import *im, const struct json *range, struct err *e)
{
	const struct json *name = json_need(range, "Name", e);
	const struct json *values = json_need(range, "Values", e), *j;
	const char *text;
	bool first = true;

	if (name == NULL || values == NULL ||
	    json_read_string(name, &text, e) != 0 ||
	    json_want(values, JSON_ARRAY, e) != 0)
		return -1;
	import_key(im, 2, text);
	buf_puts(&im->out, json_count(values) > 1
			       ? "{ \"type\": \"choice\", \"values\": ["
			       : "{ \"type\": \"fixed\", \"value\": ");
	for (j = json_first(values); j != NULL; j = json_next(j)) {
		if (json_read_string(j, &text, e) != 0)
			return -1;
		if (!first)
			buf_puts(&im->out, ", ");
		first = false;
		value_put(im, text);
	}
	buf_puts(&im->out, json_count(values) > 1 ? "] }" : " }");
	return 0;
}

/* Ranges that SageMaker would choose itself stay at their hint. */
static int
auto_put(struct import *im, const struct json *range, struct err *e)
{
	const struct json *name = json_need(range, "Name", e);
	const struct json *hint = json_need(range, "ValueHint", e);
	const char *text, *value;
	char *note;

	if (name == NULL || hint == NULL ||
	    json_read_string(name, &text, e) != 0 ||
	    json_read_string(hint, &value, e) != 0)
		return -1;
	/* Those of the toolkit are not the program's: import-script.c. */
	if (import_is_toolkits(im, text))
		return 0;
	import_key(im, 2, text);
	buf_puts(&im->out, "{ \"type\": \"fixed\", \"value\": ");
	value_put(im, value);
	buf_puts(&im->out, " }");
	note =
	    xasprintf("%s: an AutoParameter has no bounds here: fixed at its "
		      "hint; give it min and max to search it",
		text);
	import_note(im, note);
	free(note);
	return 0;
}

static int
statics_put(struct import *im, struct err *e)
{
	const struct json *j =
	    import_at(im->def, "StaticHyperParameters", NULL);
	const char *text;

	for (j = j != NULL ? json_first(j) : NULL; j != NULL;
	     j = json_next(j)) {
		if (json_read_string(j, &text, e) != 0)
			return -1;
		if (import_is_toolkits(im, json_key(j)))
			continue;
		import_key(im, 2, json_key(j));
		buf_puts(&im->out, "{ \"type\": \"fixed\", \"value\": ");
		value_put(im, text);
		buf_puts(&im->out, " }");
	}
	return 0;
}

static int
ranges_put(struct import *im, const struct json *ranges, const char *key,
    int (*put)(struct import *, const struct json *, struct err *),
    struct err *e)
{
	const struct json *j = import_at(ranges, key, NULL);

	for (j = j != NULL ? json_first(j) : NULL; j != NULL; j = json_next(j))
		if (put(im, j, e) != 0)
			return -1;
	return 0;
}

static int
float_put(struct import *im, const struct json *j, struct err *e)
{
	return range_put(im, j, "float", e);
}

static int
int_put(struct import *im, const struct json *j, struct err *e)
{
	return range_put(im, j, "int", e);
}

const struct json *
import_ranges(const struct import *im)
{
	const struct json *ranges =
	    import_at(im->def, "HyperParameterRanges", NULL);

	return ranges != NULL ? ranges
			      : import_at(im->config, "ParameterRanges", NULL);
}

int
import_space_put(struct import *im, struct err *e)
{
	const struct json *ranges = import_ranges(im);

	import_open(im, 1, "parameters", '{');
	if (ranges_put(im, ranges, "ContinuousParameterRanges", float_put, e) !=
		0 ||
	    ranges_put(im, ranges, "IntegerParameterRanges", int_put, e) != 0 ||
	    ranges_put(
		im, ranges, "CategoricalParameterRanges", choice_put, e) != 0 ||
	    ranges_put(im, ranges, "AutoParameters", auto_put, e) != 0 ||
	    statics_put(im, e) != 0)
		return -1;
	import_close(im, 1, '}');
	return 0;
}
