/* The parameters of a sweep: its distributions as ranges and choices. */

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/import/import-range.h"
#include "src/import/import-study.h"
#include "src/import/import-wandb-command.h"
#include "src/import/import-wandb-params.h"
#include "src/model/space.h"

enum { DEPTH_MOST = 8 };

static const char *const param_keys[] = { "value", "values", "min", "max",
	"distribution", "mu", "sigma", "q", "a", "b", "probabilities",
	"parameters", "desc", "description", NULL };

/* How a distribution becomes a range. */
enum form {
	FORM_CONSTANT,
	FORM_CHOICE,
	FORM_FLAT, /* uniform: an int if both bounds are */
	FORM_INT,
	FORM_LOG, /* bounds are exponents of e */
	FORM_LOG_VALUES,
	FORM_NORMAL, /* mu and sigma */
	FORM_LOG_NORMAL,
	FORM_BETA
};

static const char *const distributions[] = { "constant", "categorical",
	"categorical_w_probabilities", "int_uniform", "uniform", "q_uniform",
	"log_uniform", "q_log_uniform", "inv_log_uniform", "log_uniform_values",
	"q_log_uniform_values", "inv_log_uniform_values", "normal", "q_normal",
	"log_normal", "q_log_normal", "beta", "q_beta", NULL };
static const enum form forms[] = { FORM_CONSTANT, FORM_CHOICE, FORM_CHOICE,
	FORM_INT, FORM_FLAT, FORM_FLAT, FORM_LOG, FORM_LOG, FORM_LOG,
	FORM_LOG_VALUES, FORM_LOG_VALUES, FORM_LOG_VALUES, FORM_NORMAL,
	FORM_NORMAL, FORM_LOG_NORMAL, FORM_LOG_NORMAL, FORM_BETA, FORM_BETA };

/* A value; words: the agent's argument is not that of {params}. */
static void
wandb_params_value_put(struct import *im, struct json_writer *w,
    const char *key, const struct json *j)
{
	enum json_type type = json_type(j);
	int64_t whole;

	im->words = im->words || type == JSON_BOOL || type == JSON_NULL ||
		    import_is_nested(j) ||
		    (json_is_decimal(j) && json_integer(j, &whole));
	json_writer_raw(w, key, json_spaced(j));
}

/* Weights of choices, if all of them are above 0. */
static int
weights_put(struct import *im, struct json_writer *w, const char *name,
    const struct json *list, const struct json *values, struct err *e)
{
	size_t n = json_count(values);
	const struct json *j, *value;
	bool none = false;
	double weight;

	if (list == NULL)
		return 0;
	if (json_want(list, JSON_ARRAY, e) != 0)
		return -1;
	if (json_count(list) != n)
		return json_err(
		    list, e, "expected %zu numbers, one for each value", n);
	for (j = json_first(list); j != NULL; j = json_next(j)) {
		if (json_read_number(j, 0, 1e300, &weight, e) != 0)
			return -1;
		none |= weight == 0;
	}
	if (none) {
		buf_printf(im->to.notes,
		    "%s: weights are above 0: without the probabilities each "
		    "of its choices is as likely\n",
		    name);
		return 0;
	}
	json_writer_array(w, "weights");
	for (j = json_first(list), value = json_first(values); j != NULL;
	     j = json_next(j), value = json_next(value))
		if (!import_is_earlier(values, value))
			json_write(json_writer_value(w, NULL), j);
	json_writer_end(w);
	return 0;
}

static int
wandb_params_choice_put(struct import *im, const char *name,
    const struct json *values, const struct json *weights, struct err *e)
{
	struct json_writer w = converted_object(&im->to, 2, name);
	const struct json *j;
	bool twice = false;
	size_t n = 0;

	if (json_want(values, JSON_ARRAY, e) != 0)
		return -1;
	if (json_count(values) == 0)
		return json_err(values, e, "it is empty");
	json_writer_text(&w, "type", "choice");
	json_writer_array(&w, "values");
	for (j = json_first(values); j != NULL; j = json_next(j))
		if (import_is_earlier(values, j))
			twice = true;
		else {
			wandb_params_value_put(im, &w, NULL, j);
			n++;
		}
	json_writer_end(&w);
	im->settings *= (double)n;
	if (twice)
		import_twice_note(im, name);
	if (weights_put(im, &w, name, weights, values, e) != 0)
		return -1;
	json_writer_end(&w);
	return 0;
}

static void
wandb_params_fixed_put(
    struct import *im, const char *name, const struct json *value)
{
	struct json_writer w = converted_object(&im->to, 2, name);

	json_writer_text(&w, "type", "fixed");
	wandb_params_value_put(im, &w, "value", value);
	json_writer_end(&w);
}

int
import_wandb_number(const struct json *p, const char *key, double other,
    double *x, struct err *e)
{
	const struct json *j = json_get(p, key);

	*x = other;
	if (j == NULL && isfinite(other))
		return 0;
	if (j == NULL)
		return json_err(p, e, "%s is missing", key);
	return json_read_number(j, -1e300, 1e300, x, e);
}

static int
wandb_params_range_read(struct import *im, const char *name,
    const struct json *p, enum form form, struct import_range *r, struct err *e)
{
	bool beta = form == FORM_BETA;
	double min, max;

	*r = (struct import_range){ .min = NAN, .max = NAN };
	r->log = form == FORM_LOG || form == FORM_LOG_VALUES ||
		 form == FORM_LOG_NORMAL;
	if (json_get(p, "q") != NULL &&
	    json_read_number(json_get(p, "q"), 1e-300, 1e300, &r->step, e) != 0)
		return -1;
	if (form == FORM_NORMAL || form == FORM_LOG_NORMAL) {
		if (import_wandb_number(p, "mu", 0, &r->mean, e) != 0 ||
		    import_wandb_number(p, "sigma", 1, &r->sd, e) != 0)
			return -1;
		if (!(r->sd > 0))
			return json_err(p, e, "sigma must be above 0");
	} else if (import_wandb_number(p, "min", beta ? 0 : NAN, &r->min, e) !=
		       0 ||
		   import_wandb_number(p, "max", beta ? 1 : NAN, &r->max, e) !=
		       0)
		return -1;
	if (beta)
		buf_printf(im->to.notes,
		    "%s: its distribution becomes a uniform one over its "
		    "bounds\n",
		    name);
	if (form == FORM_LOG) {
		r->min = exp(r->min);
		r->max = exp(r->max);
	}
	min = r->min;
	max = r->max;
	if (r->step > 0)
		import_range_round(r);
	if (r->step > 0 && !(r->sd > 0) &&
	    (fabs(r->min - min) > r->step * 1e-9 ||
		fabs(r->max - max) > r->step * 1e-9))
		buf_printf(im->to.notes,
		    "%s: its values are the multiples of %g within its bounds, "
		    "%g to %g; W&B rounds to the nearest multiple, which can "
		    "be "
		    "beyond them\n",
		    name, r->step, r->min, r->max);
	if (r->min >= r->max)
		return json_err(
		    p, e, "min must be less than max: %g, %g", r->min, r->max);
	return r->log && r->min <= 0
		   ? json_err(p, e, "scale log needs min above 0")
		   : 0;
}

static int
wandb_params_range_put(struct import *im, const char *name,
    const struct json *p, enum form form, struct err *e)
{
	struct import_range r;

	if (wandb_params_range_read(im, name, p, form, &r, e) != 0)
		return -1;
	r.whole =
	    import_range_is_whole(r.min) && import_range_is_whole(r.max) &&
	    (form == FORM_INT || (r.step > 0 && import_range_is_whole(r.step)));
	if (form == FORM_INT && !r.whole)
		return json_err(p, e, "its bounds must be whole numbers");
	im->words = im->words || (r.step > 0 && !r.whole);
	if (r.sd > 0 || r.log || !(r.whole || r.step > 0))
		im->settings = 0;
	else
		im->settings *=
		    floor((r.max - r.min) / (r.step > 0 ? r.step : 1) + 1e-9) +
		    1;
	if (r.whole && r.log && r.step == 1)
		r.step = 0;
	import_range_put(im, name, &r, NULL);
	return 0;
}

/* Without a distribution: constant, choice, whole numbers, or uniform. */
static int
form_read(
    enum form *form, const struct json *p, const char **word, struct err *e)
{
	const struct json *j = json_get(p, "distribution");
	const struct json *min = json_get(p, "min"), *max = json_get(p, "max");
	int64_t n;
	size_t i;

	*word = "";
	if (j != NULL) {
		if (json_read_word(j, distributions, &i, e) != 0)
			return -1;
		*form = forms[i];
		*word = distributions[i];
		return 0;
	}
	*form = FORM_FLAT;
	if (json_get(p, "value") != NULL)
		*form = FORM_CONSTANT;
	else if (json_get(p, "values") != NULL)
		*form = FORM_CHOICE;
	else if (json_get(p, "mu") != NULL)
		*form = FORM_NORMAL;
	else if (json_integer(min, &n) && json_integer(max, &n) &&
		 !json_is_decimal(min) && !json_is_decimal(max))
		*form = FORM_INT;
	return 0;
}

/*
 * Whether {NAME} in an argument is what {params:FORM} writes of each value: a
 * number, or a text; hydra: one that Hydra reads as it is.
 */
static bool
wandb_params_are_plain(const struct json *p, bool hydra)
{
	static const char safe[] = "abcdefghijklmnopqrstuvwxyz"
				   "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-";
	const struct json *value = json_get(p, "value");
	const struct json *j = json_first(json_get(p, "values"));
	const char *text;

	for (j = value != NULL ? value : j; j != NULL;
	     j = value != NULL ? NULL : json_next(j)) {
		text = json_string(j);
		if (text != NULL && hydra &&
		    (*text == '\0' || text[strspn(text, safe)] != '\0'))
			return false;
		if (text == NULL && json_type(j) != JSON_NUMBER)
			return false;
	}
	return true;
}

/* The name of a parameter of the sweep here, where it is another one. */
static void
wandb_params_name_note(struct import *im, const struct json *p,
    const char *name, const char *theirs, bool words)
{
	bool hydra, args = import_wandb_command_has_args(im->root, &hydra);
	bool leaf = json_get(p, "parameters") == NULL;
	bool other = strcmp(name, theirs) != 0;
	bool own =
	    leaf && other && args && !words && wandb_params_are_plain(p, hydra);

	if (leaf)
		strv_add(&im->theirs, xstrdup(own ? theirs : ""));
	if (own)
		buf_printf(im->to.notes,
		    "parameters.%s: its name is %s here; the program gets it "
		    "as %s\n",
		    json_key(p), name, theirs);
	else if (other)
		buf_printf(im->to.notes,
		    "parameters.%s: its name is %s here, also in what the "
		    "program gets\n",
		    json_key(p), name);
}

static int
wandb_params_param_put(struct import *im, const char *name,
    const struct json *p, int depth, struct err *e)
{
	const struct json *j = json_get(p, "parameters");
	const char *word;
	enum form form;

	if (json_want(p, JSON_OBJECT, e) != 0)
		return -1;
	import_unknown_note(im, name, p, param_keys);
	if (j != NULL)
		return import_wandb_params_put(im, name, j, depth + 1, e);
	if (form_read(&form, p, &word, e) != 0)
		return -1;
	if (strncmp(word, "inv_", 4) == 0)
		buf_printf(im->to.notes,
		    "%s: %s becomes scale log, which prefers small values\n",
		    name, word);
	if (form == FORM_CONSTANT) {
		j = json_need(p, "value", e);
		if (j == NULL)
			return -1;
		wandb_params_fixed_put(im, name, j);
		return 0;
	}
	if (form == FORM_CHOICE) {
		j = json_need(p, "values", e);
		return j != NULL ? wandb_params_choice_put(im, name, j,
				       json_get(p, "probabilities"), e)
				 : -1;
	}
	return wandb_params_range_put(im, name, p, form, e);
}

int
import_wandb_params_put(struct import *im, const char *above,
    const struct json *list, int depth, struct err *e)
{
	struct buf name = { 0 }, theirs = { 0 };
	const struct json *p;
	bool words;
	int rc = 0;

	if (json_want(list, JSON_OBJECT, e) != 0)
		return -1;
	if (json_count(list) == 0 || depth == DEPTH_MOST)
		return json_err(list, e,
		    depth == DEPTH_MOST ? "it is nested too deeply"
					: "it is empty");
	for (p = json_first(list); p != NULL && rc == 0; p = json_next(p)) {
		buf_clear(&name);
		buf_clear(&theirs);
		if (above != NULL) {
			buf_printf(&name, "%s.", above);
			buf_printf(&theirs, "%s.", above);
		}
		import_put_name(&name, json_key(p));
		buf_puts(&theirs, json_key(p));
		if (json_get(p, "parameters") == NULL)
			import_take_name(&name, &im->names);
		if (json_get(p, "parameters") != NULL && depth == 0)
			buf_printf(im->to.notes,
			    "parameters.%s: {params} writes an argument for "
			    "each parameter below it, --%s.NAME=VALUE; the "
			    "agent writes one with a dictionary of Python\n",
			    json_key(p), buf_str(&name));
		words = im->words;
		im->words = false;
		if (json_get(p, "parameters") != NULL)
			wandb_params_name_note(
			    im, p, buf_str(&name), buf_str(&theirs), false);
		rc = wandb_params_param_put(im, buf_str(&name), p, depth, e);
		if (json_get(p, "parameters") == NULL)
			wandb_params_name_note(
			    im, p, buf_str(&name), buf_str(&theirs), im->words);
		im->words = im->words || words;
	}
	buf_free(&name);
	buf_free(&theirs);
	return rc;
}
