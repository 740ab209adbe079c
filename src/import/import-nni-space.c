/*
 * A search space of NNI as parameters: nni/common/hpo_utils/validation.py and
 * formatting.py say what each type means.
 */

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/import/import-nni-space.h"
#include "src/import/import-range.h"
#include "src/import/import-study.h"

enum { DEPTH_MOST = 8 };

static const char *const types[] = { "choice", "randint", "uniform", "quniform",
	"loguniform", "qloguniform", "normal", "qnormal", "lognormal",
	"qlognormal", NULL };
static const char *const keys[] = { "_type", "_value", NULL };

/* Where the parameters stand that are written. */
struct nni_branch {
	const char *above; /* their names begin so, or NULL */
	const char
	    *when; /* members of their condition: "kind": ["mlp"], or "" */
	/* The nested choice that they stand in, above, and the one of its values
	 * that is this branch; NULL at the top. */
	const struct json *values, *own;
	int depth;
};

static int nni_list_put(struct import *, const struct nni_branch *,
    const struct json *, struct err *);

bool
import_nni_space_is(const struct json *j)
{
	return json_type(j) == JSON_OBJECT && json_count(j) > 0 &&
	       json_get(json_first(j), "_type") != NULL;
}

/* A choice among searches of their own: each value has its _name. */
static bool
nni_is_nested(const struct json *values)
{
	const struct json *j;

	for (j = json_first(values); j != NULL; j = json_next(j))
		if (json_string(json_get(j, "_name")) == NULL)
			return false;
	return json_count(values) > 0;
}

/* The condition as JSON, or NULL; to be kept until it is written. */
static const char *
nni_when(struct buf *text, const struct nni_branch *at)
{
	if (*at->when == '\0')
		return NULL;
	buf_printf(text, "{ %s }", at->when);
	return buf_str(text);
}

static void
nni_choice_put(struct import *im, const char *name, const struct json *values,
    const char *when)
{
	struct json_writer w = converted_object(&im->to, 2, name);
	const struct json *j, *nested = NULL;
	bool twice = false, words = false;

	json_writer_text(&w, "type", "choice");
	json_writer_array(&w, "values");
	for (j = json_first(values); j != NULL; j = json_next(j)) {
		if (import_is_earlier(values, j)) {
			twice = true;
			continue;
		}
		words = words || json_type(j) == JSON_BOOL ||
			json_type(j) == JSON_NULL;
		nested = import_is_nested(j) ? j : nested;
		json_writer_raw(&w, NULL, json_spaced(j));
	}
	json_writer_end(&w);
	if (when != NULL)
		json_writer_raw(&w, "when", when);
	json_writer_end(&w);
	if (twice)
		import_twice_note(im, name);
	if (nested != NULL)
		import_nested_note(im, name, nested);
	im->words = im->words || words;
}

/* A nested choice: its value is the _name, and each branch has its own. */
static int
nni_nested_put(struct import *im, const char *name, const struct json *values,
    const struct nni_branch *at, const char *when, struct err *e)
{
	struct json_writer w = converted_object(&im->to, 2, name);
	struct nni_branch below = { .above = name, .depth = at->depth + 1 };
	const struct json *j;
	int rc = 0;

	json_writer_text(&w, "type", "choice");
	json_writer_array(&w, "values");
	for (j = json_first(values); j != NULL; j = json_next(j))
		json_writer_raw(&w, NULL, json_spaced(json_get(j, "_name")));
	json_writer_end(&w);
	if (when != NULL)
		json_writer_raw(&w, "when", when);
	json_writer_end(&w);
	buf_printf(im->to.notes,
	    "%s: the program gets the name of the branch as %s and its "
	    "parameters as %s.NAME; NNI gives it one dictionary with _name\n",
	    name, name, name);
	below.when = at->when;
	below.values = values;
	for (j = json_first(values); j != NULL && rc == 0; j = json_next(j)) {
		below.own = j;
		rc = nni_list_put(im, &below, j, e);
	}
	return rc;
}

static int
nni_numbers_read(double *x, size_t n, const struct json *values, struct err *e)
{
	const struct json *j = json_first(values);
	size_t i;

	if (json_count(values) != n)
		return json_err(values, e, "expected %zu numbers", n);
	for (i = 0; i < n; i++, j = json_next(j))
		if (json_read_number(j, -1e300, 1e300, &x[i], e) != 0)
			return -1;
	return 0;
}

static void
nni_fixed_put(struct import *im, const char *name, double x, const char *when)
{
	struct json_writer w = converted_object(&im->to, 2, name);

	json_writer_text(&w, "type", "fixed");
	json_writer_number(&w, "value", x);
	if (when != NULL)
		json_writer_raw(&w, "when", when);
	json_writer_end(&w);
}

/* The upper bound of randint is none of its values. */
static int
nni_randint_put(struct import *im, const char *name, const struct json *values,
    const char *when, struct err *e)
{
	struct import_range r = { .whole = true };
	double x[2];

	if (nni_numbers_read(x, 2, values, e) != 0)
		return -1;
	r.min = ceil(x[0]);
	r.max = ceil(x[1]) - 1;
	if (r.min > r.max)
		return json_err(
		    values, e, "randint has no value: %g, %g", x[0], x[1]);
	if (r.min == r.max)
		nni_fixed_put(im, name, r.min, when);
	else
		import_range_put(im, name, &r, when);
	return 0;
}

/*
 * The logarithm has no 0, to which NNI rounds small values; and no prior is given
 * whose mean is not within the bounds that are left.
 */
static void
nni_prior_check(struct import *im, const char *name, struct import_range *r)
{
	if (!r->log || !(r->sd > 0))
		return;
	buf_printf(im->to.notes,
	    "%s: its values begin with %g; NNI rounds small ones to 0\n", name,
	    r->min);
	if (r->mean > log(r->min) && r->mean < log(r->max))
		return;
	r->sd = 0;
	buf_printf(im->to.notes,
	    "%s: its distribution becomes a uniform one on the scale log\n",
	    name);
}

/* The bounds of quniform are values, too, where they are no multiples. */
static void
nni_steps_note(struct import *im, const char *name,
    const struct import_range *r, const double *x)
{
	if (!(r->sd > 0) && (fabs(r->min - x[0]) > r->step * 1e-9 ||
				fabs(r->max - x[1]) > r->step * 1e-9))
		buf_printf(im->to.notes,
		    "%s: its values are the multiples of %g, %g to %g; NNI "
		    "has the bounds %g and %g among them\n",
		    name, r->step, r->min, r->max, x[0], x[1]);
	if (r->whole)
		buf_printf(im->to.notes,
		    "%s: an int, which the program gets as 32, not as 32.0\n",
		    name);
}

/*
 * Of a step that has no multiple within the bounds NNI draws the bounds: the one
 * that the nearest multiple is beyond, or both.
 */
static void
nni_bounds_put(
    struct import *im, const char *name, const double *x, const char *when)
{
	bool low = nearbyint(x[0] / x[2]) * x[2] < x[0];
	bool high = nearbyint(x[1] / x[2]) * x[2] > x[1];
	struct json_writer w;

	buf_printf(im->to.notes,
	    "%s: no multiple of its step %g is within its bounds, which are "
	    "what NNI draws\n",
	    name, x[2]);
	if (!low || !high) {
		nni_fixed_put(im, name, low ? x[0] : x[1], when);
		return;
	}
	w = converted_object(&im->to, 2, name);
	json_writer_text(&w, "type", "choice");
	json_writer_array(&w, "values");
	json_writer_number(&w, NULL, x[0]);
	json_writer_number(&w, NULL, x[1]);
	json_writer_end(&w);
	if (when != NULL)
		json_writer_raw(&w, "when", when);
	json_writer_end(&w);
}

static int
nni_range_put(struct import *im, const char *name, const char *type,
    const struct json *values, const char *when, struct err *e)
{
	struct import_range r = { .min = NAN, .max = NAN };
	bool normal = strstr(type, "normal") != NULL;
	double x[3] = { 0 };

	if (nni_numbers_read(x, *type == 'q' ? 3 : 2, values, e) != 0)
		return -1;
	r.log = strstr(type, "log") != NULL;
	r.step = *type == 'q' ? x[2] : 0;
	if (*type == 'q' && !(r.step > 0))
		return json_err(values, e, "its step must be above 0");
	if (normal) {
		r.mean = x[0];
		r.sd = x[1];
		if (!(r.sd > 0))
			return json_err(values, e, "sigma must be above 0");
	} else {
		r.min = x[0];
		r.max = x[1];
		if (r.min >= r.max)
			return json_err(values, e,
			    "min must be less than max: %g, %g", r.min, r.max);
		if (r.log && r.min <= 0)
			return json_err(
			    values, e, "scale log needs min above 0");
	}
	if (r.step > 0) {
		import_range_round(&r);
		r.whole = import_range_is_whole(r.step) &&
			  import_range_is_whole(r.min) &&
			  import_range_is_whole(r.max);
		if (!(r.min > r.max))
			nni_steps_note(im, name, &r, x);
		if (r.min < r.max || normal)
			nni_prior_check(im, name, &r);
		if (r.min == r.max) {
			nni_fixed_put(im, name, r.min, when);
			return 0;
		}
		if (r.min > r.max) {
			nni_bounds_put(im, name, x, when);
			return 0;
		}
		if (r.whole && r.log)
			r.step = r.step == 1 ? 0 : r.step;
	}
	import_range_put(im, name, &r, when);
	return 0;
}

static int
nni_param_put(struct import *im, const char *name, const struct json *p,
    const struct nni_branch *at, struct err *e)
{
	const struct json *values, *j;
	struct buf text = { 0 };
	const char *when;
	size_t type;
	int rc;

	if (json_want(p, JSON_OBJECT, e) != 0 || json_only(p, keys, e) != 0 ||
	    (j = json_need(p, "_type", e)) == NULL ||
	    json_read_word(j, types, &type, e) != 0 ||
	    (values = json_need(p, "_value", e)) == NULL ||
	    json_want(values, JSON_ARRAY, e) != 0)
		return -1;
	if (json_count(values) == 0)
		return json_err(values, e, "it is empty");
	when = nni_when(&text, at);
	if (type == 0 && nni_is_nested(values))
		rc = nni_nested_put(im, name, values, at, when, e);
	else if (type == 0) {
		nni_choice_put(im, name, values, when);
		rc = 0;
	} else if (type == 1)
		rc = nni_randint_put(im, name, values, when, e);
	else
		rc = nni_range_put(im, name, types[type], values, when, e);
	buf_free(&text);
	return rc;
}

/*
 * The condition of a parameter of a branch: the branches that define it in the
 * same way, which the program gets by the same name.  False: an earlier one has
 * written it.
 */
static bool
nni_branches_put(
    struct buf *when, const struct nni_branch *at, const struct json *p)
{
	const struct json *j = json_first(at->values), *same;
	bool first = true;

	if (j == NULL) {
		buf_puts(when, at->when);
		return true;
	}
	buf_printf(when, "%s%s", at->when, *at->when != '\0' ? ", " : "");
	json_put_string(when, at->above);
	buf_puts(when, ": [");
	for (; j != NULL; j = json_next(j)) {
		same = json_get(j, json_key(p));
		if (same == NULL || !json_same(same, p))
			continue;
		if (first && j != at->own)
			return false;
		buf_printf(when, "%s%s", first ? "" : ", ",
		    json_spaced(json_get(j, "_name")));
		first = false;
	}
	buf_putc(when, ']');
	return true;
}

static int
nni_list_put(struct import *im, const struct nni_branch *at,
    const struct json *list, struct err *e)
{
	struct nni_branch here = { .depth = at->depth };
	struct buf name = { 0 }, theirs = { 0 }, when = { 0 };
	const struct json *p;
	int rc = 0;

	if (at->depth == DEPTH_MOST)
		return json_err(list, e, "it is nested too deeply");
	for (p = json_first(list); p != NULL && rc == 0; p = json_next(p)) {
		if (strcmp(json_key(p), "_name") == 0)
			continue;
		buf_clear(&name);
		buf_clear(&theirs);
		buf_clear(&when);
		if (!nni_branches_put(&when, at, p))
			continue;
		here.when = buf_str(&when);
		if (at->above != NULL) {
			buf_printf(&name, "%s.", at->above);
			buf_printf(&theirs, "%s.", at->above);
		}
		import_put_name(&name, json_key(p));
		buf_puts(&theirs, json_key(p));
		import_take_name(&name, &im->names);
		if (strcmp(buf_str(&name), buf_str(&theirs)) != 0)
			buf_printf(im->to.notes,
			    "%s: its name is %s here, also in what the program "
			    "gets\n",
			    buf_str(&theirs), buf_str(&name));
		rc = nni_param_put(im, buf_str(&name), p, &here, e);
	}
	buf_free(&name);
	buf_free(&theirs);
	buf_free(&when);
	return rc;
}

int
import_nni_space_put(struct import *im, const struct json *space, struct err *e)
{
	const struct nni_branch top = { .when = "" };

	if (json_want(space, JSON_OBJECT, e) != 0)
		return -1;
	if (json_count(space) == 0)
		return json_err(space, e, "it is empty");
	return nni_list_put(im, &top, space, e);
}
