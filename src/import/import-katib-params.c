/*
 * The parameters of an Experiment of Katib: ParameterSpec and FeasibleSpace of
 * v1beta1, whose numbers are texts.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/import/import-katib-params.h"
#include "src/import/import-range.h"
#include "src/import/import-study.h"

enum { SIGMAS = 6 }; /* of Katib's normal distribution within its bounds */

static const char *const keys[] = { "name", "parameterType", "feasibleSpace",
	NULL };
static const char *const space_keys[] = { "min", "max", "step", "list",
	"distribution", NULL };
static const char *const types[] = { "double", "int", "discrete", "categorical",
	NULL };

/* A number, also one that is written as a text; other where there is none. */
static int
katib_number(const struct json *space, const char *key, double other, double *x,
    struct err *e)
{
	const struct json *j = json_get(space, key);
	const char *text = json_string(j);
	char *end;

	*x = other;
	if (j == NULL && isnan(other))
		return json_err(space, e, "%s is missing", key);
	if (j == NULL || (text != NULL && *text == '\0'))
		return 0;
	if (text == NULL)
		return json_read_number(j, -1e300, 1e300, x, e);
	*x = strtod(text, &end);
	if (end == text || *end != '\0' || !isfinite(*x))
		return json_err(j, e, "%s is no number", text);
	return 0;
}

static int
katib_distribution_read(
    struct import_range *r, const struct json *space, struct err *e)
{
	static const char *const names[] = { "uniform", "logUniform", "normal",
		"logNormal", NULL };
	const struct json *j = json_get(space, "distribution");
	double low, high;
	size_t i = 0;

	if (j != NULL && json_read_word(j, names, &i, e) != 0)
		return -1;
	r->log = i == 1 || i == 3;
	if (r->log && r->min <= 0)
		return json_err(space, e, "scale log needs min above 0");
	if (i < 2)
		return 0;
	low = r->log ? log(r->min) : r->min;
	high = r->log ? log(r->max) : r->max;
	r->mean = (low + high) / 2;
	r->sd = (high - low) / SIGMAS;
	return 0;
}

static int
katib_range_put(struct import *im, const char *name, const struct json *space,
    bool whole, struct err *e)
{
	struct import_range r = { .whole = whole };
	struct json_writer w;

	if (katib_number(space, "min", NAN, &r.min, e) != 0 ||
	    katib_number(space, "max", NAN, &r.max, e) != 0 ||
	    katib_number(space, "step", 0, &r.step, e) != 0)
		return -1;
	if (whole &&
	    (!import_range_is_whole(r.min) || !import_range_is_whole(r.max) ||
		!import_range_is_whole(r.step)))
		return json_err(space, e, "its bounds must be whole numbers");
	if (r.min > r.max || r.step < 0)
		return json_err(space, e, "min must be less than max: %g, %g",
		    r.min, r.max);
	/* A step beyond the range leaves its first value. */
	if (r.step > r.max - r.min)
		r.max = r.min;
	if (r.min < r.max) {
		if (katib_distribution_read(&r, space, e) != 0)
			return -1;
		import_range_put(im, name, &r, NULL);
		return 0;
	}
	w = converted_object(&im->to, 2, name);
	json_writer_text(&w, "type", "fixed");
	json_writer_number(&w, "value", r.min);
	json_writer_end(&w);
	return 0;
}

/*
 * A value of a list, whose text the program gets: a number where hpotune writes
 * it in the same way.
 */
static void
katib_value_put(struct json_writer *w, const char *text, bool number)
{
	struct buf same = { 0 };
	char *end;
	double x;

	x = strtod(text, &end);
	if (number && end != text && *end == '\0' && isfinite(x))
		json_put_number(&same, x);
	if (strcmp(buf_str(&same), text) == 0)
		json_writer_raw(w, NULL, text);
	else
		json_writer_text(w, NULL, text);
	buf_free(&same);
}

static int
katib_list_put(struct import *im, const char *name, const struct json *space,
    bool number, struct err *e)
{
	const struct json *list = json_need(space, "list", e), *j;
	struct json_writer w;
	bool twice = false;

	if (list == NULL || json_want(list, JSON_ARRAY, e) != 0)
		return -1;
	if (json_count(list) == 0)
		return json_err(list, e, "it is empty");
	w = converted_object(&im->to, 2, name);
	json_writer_text(&w, "type", "choice");
	json_writer_array(&w, "values");
	for (j = json_first(list); j != NULL; j = json_next(j))
		if (import_is_earlier(list, j))
			twice = true;
		else if (json_string(j) != NULL)
			katib_value_put(&w, json_string(j), number);
		else
			json_writer_raw(&w, NULL, json_spaced(j));
	json_writer_end(&w);
	if (twice)
		import_twice_note(im, name);
	json_writer_end(&w);
	return 0;
}

static int
katib_param_put(struct import *im, const struct json *p, struct err *e)
{
	const struct json *type, *space, *name;
	struct buf here = { 0 };
	const char *text;
	size_t i;
	int rc;

	if (json_want(p, JSON_OBJECT, e) != 0 || json_only(p, keys, e) != 0 ||
	    (name = json_need(p, "name", e)) == NULL ||
	    json_read_string(name, &text, e) != 0 ||
	    (type = json_need(p, "parameterType", e)) == NULL ||
	    json_read_word(type, types, &i, e) != 0 ||
	    (space = json_need(p, "feasibleSpace", e)) == NULL ||
	    json_want(space, JSON_OBJECT, e) != 0 ||
	    json_only(space, space_keys, e) != 0)
		return -1;
	import_put_name(&here, text);
	import_take_name(&here, &im->names);
	if (strcmp(buf_str(&here), text) != 0)
		buf_printf(im->to.notes, "%s: its name is %s here\n", text,
		    buf_str(&here));
	if (i < 2)
		rc = katib_range_put(im, buf_str(&here), space, i == 1, e);
	else
		rc = katib_list_put(im, buf_str(&here), space, i == 2, e);
	buf_free(&here);
	return rc;
}

int
import_katib_params_put(
    struct import *im, const struct json *list, struct err *e)
{
	const struct json *p;

	if (json_want(list, JSON_ARRAY, e) != 0)
		return -1;
	if (json_count(list) == 0)
		return json_err(list, e, "it is empty");
	for (p = json_first(list); p != NULL; p = json_next(p))
		if (katib_param_put(im, p, e) != 0)
			return -1;
	return 0;
}
