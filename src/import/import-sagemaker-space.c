/*
 * The ranges of a tuning job as "parameters".  Shapes: API reference,
 * ParameterRanges.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/import/import-study.h"

/*
 * Ranges of scale "Auto" whose bounds have at least this ratio become
 * logarithmic.
 */
#define AUTO_LOG_RATIO 1000.0

/* SageMaker writes bounds as strings; some tools write them as numbers. */
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
import_space_scale_put(struct json_writer *w, const struct json *range,
    double min, double max, struct err *e)
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
		json_writer_text(w, "scale", scales[i]);
	return 0;
}

static struct json_writer
param_open(struct import *im, const char *name, const char *type)
{
	char *own = import_param_name(im, name);
	struct json_writer w = converted_object(&im->to, 2, own);

	json_writer_text(&w, "type", type);
	if (im->n_defs == 0 && strcmp(own, name) != 0)
		buf_printf(im->to.notes,
		    "parameters.%s: %s means something else in a command, so "
		    "the program is given --%s\n",
		    own, name, own);
	free(own);
	return w;
}

/* With its condition. */
static void
param_close(struct import *im, struct json_writer *w)
{
	char *value;

	if (im->n_defs > 1) {
		value = import_value_of(im->def);
		json_writer_object(w, "when");
		json_writer_array(w, IMPORT_CHOICE);
		json_writer_text(w, NULL, value);
		json_writer_end(w);
		json_writer_end(w);
		free(value);
	}
	json_writer_end(w);
}

static int
import_space_range_put(struct import *im, const struct json *range,
    const char *type, struct err *e)
{
	const struct json *name = json_need(range, "Name", e);
	struct json_writer w;
	const char *text;
	double min, max;

	if (name == NULL || json_read_string(name, &text, e) != 0 ||
	    bound_read(&min, range, "MinValue", e) != 0 ||
	    bound_read(&max, range, "MaxValue", e) != 0)
		return -1;
	w = param_open(im, text, type);
	json_writer_number(&w, "min", min);
	json_writer_number(&w, "max", max);
	if (import_space_scale_put(&w, range, min, max, e) != 0)
		return -1;
	param_close(im, &w);
	return 0;
}

static void
import_space_fixed_put(struct import *im, const char *name, const char *text)
{
	struct json_writer w = param_open(im, name, "fixed");

	(void)json_writer_value(&w, "value");
	import_value_put(im, name, text);
	param_close(im, &w);
}

/* The parameter that chooses among definitions. */
static void
choosing_put(struct import *im)
{
	struct json_writer w = converted_object(&im->to, 2, IMPORT_CHOICE);
	bool several = im->n_defs > 1;
	char *value;
	size_t i;

	json_writer_text(&w, "type", several ? "choice" : "fixed");
	if (several)
		json_writer_array(&w, "values");
	for (i = 0; i < im->n_defs; i++) {
		value = import_value_of(im->defs[i]);
		json_writer_text(&w, several ? NULL : "value", value);
		free(value);
	}
	if (several)
		json_writer_end(&w);
	json_writer_end(&w);
}

static int
import_space_choice_put(
    struct import *im, const struct json *range, struct err *e)
{
	const struct json *name = json_need(range, "Name", e);
	const struct json *values = json_need(range, "Values", e), *j;
	struct json_writer w;
	const char *text, *given;
	bool several;

	if (name == NULL || values == NULL ||
	    json_read_string(name, &text, e) != 0 ||
	    json_want(values, JSON_ARRAY, e) != 0)
		return -1;
	several = json_count(values) > 1;
	w = param_open(im, text, several ? "choice" : "fixed");
	if (several)
		json_writer_array(&w, "values");
	for (j = json_first(values); j != NULL; j = json_next(j)) {
		if (json_read_string(j, &given, e) != 0)
			return -1;
		(void)json_writer_value(&w, several ? NULL : "value");
		import_value_put(im, text, given);
	}
	if (several)
		json_writer_end(&w);
	param_close(im, &w);
	return 0;
}

/*
 * Ranges that SageMaker would choose itself (AutoParameters) become their hint.
 */
static int
auto_put(struct import *im, const struct json *range, struct err *e)
{
	const struct json *name = json_need(range, "Name", e);
	const struct json *hint = json_need(range, "ValueHint", e);
	const char *text, *value;

	if (name == NULL || hint == NULL ||
	    json_read_string(name, &text, e) != 0 ||
	    json_read_string(hint, &value, e) != 0)
		return -1;
	/*
	 * Hyperparameters of the toolkit are read by import-sagemaker-script.c.
	 */
	if (import_script_is_toolkit(im, text))
		return 0;
	import_space_fixed_put(im, text, value);
	import_auto_note(im, text);
	return 0;
}

static int
import_space_statics_put(struct import *im, struct err *e)
{
	const struct json *j =
	    import_at(im->def, "StaticHyperParameters", NULL);
	const char *text;

	for (j = json_first(j); j != NULL; j = json_next(j)) {
		if (json_read_string(j, &text, e) != 0)
			return -1;
		if (import_script_is_toolkit(im, json_key(j)))
			continue;
		import_space_fixed_put(im, json_key(j), text);
	}
	return 0;
}

static int
import_space_ranges_put(struct import *im, const struct json *ranges,
    const char *key,
    int (*put)(struct import *, const struct json *, struct err *),
    struct err *e)
{
	const struct json *j = import_at(ranges, key, NULL);

	for (j = json_first(j); j != NULL; j = json_next(j))
		if (put(im, j, e) != 0)
			return -1;
	return 0;
}

static int
float_put(struct import *im, const struct json *j, struct err *e)
{
	return import_space_range_put(im, j, "float", e);
}

static int
int_put(struct import *im, const struct json *j, struct err *e)
{
	return import_space_range_put(im, j, "int", e);
}

/* The searched parameters of im->def. */
static int
searched_put(struct import *im, struct err *e)
{
	const struct json *ranges = import_space_ranges(im);

	if (import_space_ranges_put(
		im, ranges, "ContinuousParameterRanges", float_put, e) != 0 ||
	    import_space_ranges_put(
		im, ranges, "IntegerParameterRanges", int_put, e) != 0 ||
	    import_space_ranges_put(im, ranges, "CategoricalParameterRanges",
		import_space_choice_put, e) != 0)
		return -1;
	return 0;
}

int
import_space_put(struct import *im, struct err *e)
{
	size_t i;
	int rc = 0;

	converted_open(&im->to, 1, "parameters", '{');
	if (im->n_defs > 0)
		choosing_put(im);
	for (i = 0; i < im->n_defs && rc == 0; i++) {
		im->def = im->defs[i];
		rc = searched_put(im, e);
	}
	if (im->n_defs > 0)
		im->def = im->defs[0];
	else if (searched_put(im, e) != 0 ||
		 import_space_ranges_put(im, import_space_ranges(im),
		     "AutoParameters", auto_put, e) != 0 ||
		 import_space_statics_put(im, e) != 0)
		rc = -1;
	if (rc == 0)
		converted_close(&im->to, 1, '}');
	return rc;
}
