/*
 * A sweep of Weights & Biases as a study.  Keys and distributions: "Sweep
 * configuration options" of its documentation, and wandb/sweeps.
 */

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/import/import-results.h"
#include "src/import/import-study.h"
#include "src/import/import-wandb.h"
#include "src/model/space.h"

enum { TRIALS = 100, DEPTH_MOST = 8 };

static const char *const sweep_keys[] = { "program", "method", "metric",
	"parameters", "early_terminate", "command", "run_cap", "name",
	"description", "project", "entity", "controller", "program_type",
	"imageuri", "job", "scheduler", NULL };

/* ---- parameters ---------------------------------------------------------- */

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

static bool
is_whole(double x)
{
	return x == floor(x) && fabs(x) < 9e15;
}

/* Whether a value is one of a choice: no list and no object. */
static int
value_check(const struct json *j, struct err *e)
{
	enum json_type type = json_type(j);

	if (type != JSON_ARRAY && type != JSON_OBJECT)
		return 0;
	return json_err(j, e,
	    "a value that is %s has no equivalent: give its parts names of "
	    "their own under \"parameters\"",
	    json_type_name(type));
}

/* Weights of choices, if all of them are above 0. */
static int
weights_put(struct import *im, struct json_writer *w, const char *name,
    const struct json *list, size_t n, struct err *e)
{
	const struct json *j;
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
		buf_printf(im->notes,
		    "%s: weights are above 0: without the probabilities each "
		    "of its choices is as likely\n",
		    name);
		return 0;
	}
	json_writer_array(w, "weights");
	for (j = json_first(list); j != NULL; j = json_next(j))
		json_write(json_writer_value(w, NULL), j);
	json_writer_end(w);
	return 0;
}

static int
choice_put(struct import *im, const char *name, const struct json *values,
    const struct json *weights, struct err *e)
{
	struct json_writer w = import_object(im, 2, name);
	const struct json *j;

	if (json_want(values, JSON_ARRAY, e) != 0)
		return -1;
	if (json_count(values) == 0)
		return json_err(values, e, "it is empty");
	json_writer_text(&w, "type", "choice");
	json_writer_array(&w, "values");
	for (j = json_first(values); j != NULL; j = json_next(j)) {
		if (value_check(j, e) != 0)
			return -1;
		json_write(json_writer_value(&w, NULL), j);
	}
	json_writer_end(&w);
	if (weights_put(im, &w, name, weights, json_count(values), e) != 0)
		return -1;
	json_writer_end(&w);
	return 0;
}

static int
fixed_put(struct import *im, const char *name, const struct json *value,
    struct err *e)
{
	struct json_writer w;

	if (value_check(value, e) != 0)
		return -1;
	w = import_object(im, 2, name);
	json_writer_text(&w, "type", "fixed");
	json_write(json_writer_value(&w, "value"), value);
	json_writer_end(&w);
	return 0;
}

static int
number_of(const struct json *p, const char *key, double other, double *x,
    struct err *e)
{
	const struct json *j = json_get(p, key);

	*x = other;
	if (j == NULL && isfinite(other))
		return 0;
	if (j == NULL)
		return json_err(p, e, "%s is missing", key);
	return json_read_number(j, -1e300, 1e300, x, e);
}

/* A distribution as a range. */
struct range {
	double min, max; /* in values of the parameter; NAN = of the prior */
	double mean, sd; /* of the prior, on the scale; sd 0 = none */
	double q; /* 0 = none */
	bool log;
};

/* The multiples of q within the bounds, which a prior has at 4 sd. */
static void
range_round(struct range *r)
{
	double low = r->min, high = r->max;

	if (r->sd > 0) {
		low = r->mean - 4 * r->sd;
		high = r->mean + 4 * r->sd;
		low = r->log ? exp(low) : low;
		high = r->log ? exp(high) : high;
	}
	r->min = ceil(low / r->q) * r->q;
	r->max = floor(high / r->q) * r->q;
	if (r->log && r->min <= 0)
		r->min = r->q;
}

static int
range_read(struct import *im, const char *name, const struct json *p,
    enum form form, struct range *r, struct err *e)
{
	bool beta = form == FORM_BETA;

	*r = (struct range){ .min = NAN, .max = NAN };
	r->log = form == FORM_LOG || form == FORM_LOG_VALUES ||
		 form == FORM_LOG_NORMAL;
	if (json_get(p, "q") != NULL &&
	    json_read_number(json_get(p, "q"), 1e-300, 1e300, &r->q, e) != 0)
		return -1;
	if (form == FORM_NORMAL || form == FORM_LOG_NORMAL) {
		if (number_of(p, "mu", 0, &r->mean, e) != 0 ||
		    number_of(p, "sigma", 1, &r->sd, e) != 0)
			return -1;
		if (!(r->sd > 0))
			return json_err(p, e, "sigma must be above 0");
	} else if (number_of(p, "min", beta ? 0 : NAN, &r->min, e) != 0 ||
		   number_of(p, "max", beta ? 1 : NAN, &r->max, e) != 0)
		return -1;
	if (beta)
		buf_printf(im->notes,
		    "%s: its distribution becomes a uniform one over its "
		    "bounds\n",
		    name);
	if (form == FORM_LOG) {
		r->min = exp(r->min);
		r->max = exp(r->max);
	}
	if (r->q > 0)
		range_round(r);
	if (r->min >= r->max)
		return json_err(
		    p, e, "min must be less than max: %g, %g", r->min, r->max);
	return r->log && r->min <= 0
		   ? json_err(p, e, "scale log needs min above 0")
		   : 0;
}

static int
range_put(struct import *im, const char *name, const struct json *p,
    enum form form, struct err *e)
{
	struct json_writer w;
	struct range r;
	bool whole;

	if (range_read(im, name, p, form, &r, e) != 0)
		return -1;
	whole = is_whole(r.min) && is_whole(r.max) &&
		(form == FORM_INT || (r.q > 0 && is_whole(r.q)));
	if (form == FORM_INT && !whole)
		return json_err(p, e, "its bounds must be whole numbers");
	w = import_object(im, 2, name);
	json_writer_text(&w, "type", whole ? "int" : "float");
	if (!isnan(r.min)) {
		json_writer_number(&w, "min", r.min);
		json_writer_number(&w, "max", r.max);
	}
	if (r.log)
		json_writer_text(&w, "scale", "log");
	if (r.q > 0 && !(whole && r.log && r.q == 1))
		json_writer_number(&w, "step", r.q);
	if (r.sd > 0) {
		json_writer_number(&w, "mean", r.mean);
		json_writer_number(&w, "sd", r.sd);
	}
	json_writer_end(&w);
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

static int params_put(
    struct import *, const char *above, const struct json *, int, struct err *);

static int
param_put(struct import *im, const char *name, const struct json *p, int depth,
    struct err *e)
{
	const struct json *j = json_get(p, "parameters");
	const char *word;
	enum form form;

	if (json_want(p, JSON_OBJECT, e) != 0 ||
	    json_only(p, param_keys, e) != 0)
		return -1;
	if (j != NULL)
		return params_put(im, name, j, depth + 1, e);
	if (form_read(&form, p, &word, e) != 0)
		return -1;
	if (strncmp(word, "inv_", 4) == 0)
		buf_printf(im->notes,
		    "%s: %s becomes scale log, which prefers small values\n",
		    name, word);
	if (form == FORM_CONSTANT) {
		j = json_need(p, "value", e);
		return j != NULL ? fixed_put(im, name, j, e) : -1;
	}
	if (form == FORM_CHOICE) {
		j = json_need(p, "values", e);
		return j != NULL ? choice_put(im, name, j,
				       json_get(p, "probabilities"), e)
				 : -1;
	}
	return range_put(im, name, p, form, e);
}

/* Nested parameters have names with dots, as W&B's own flattened ones. */
static int
params_put(struct import *im, const char *above, const struct json *list,
    int depth, struct err *e)
{
	struct buf name = { 0 };
	const struct json *p;
	int rc = 0;

	if (json_want(list, JSON_OBJECT, e) != 0)
		return -1;
	if (json_count(list) == 0 || depth == DEPTH_MOST)
		return json_err(list, e,
		    depth == DEPTH_MOST ? "it is nested too deeply"
					: "it is empty");
	for (p = json_first(list); p != NULL && rc == 0; p = json_next(p)) {
		buf_clear(&name);
		if (above != NULL)
			buf_printf(&name, "%s.", above);
		import_put_name(&name, json_key(p));
		if (strstr(buf_str(&name), json_key(p)) == NULL ||
		    space_name_taken(json_key(p)))
			buf_printf(im->notes,
			    "parameters.%s: its name is %s here, also in what "
			    "the program gets\n",
			    json_key(p), buf_str(&name));
		rc = param_put(im, buf_str(&name), p, depth, e);
	}
	buf_free(&name);
	return rc;
}

/* ---- the command --------------------------------------------------------- */

static const struct {
	const char *macro, *ours;
} macros[] = {
	{ "${interpreter}", "python3" },
	{ "${args}", "{params}" },
	{ "${args_no_hyphens}", "{params:hydra}" },
	{ "${args_no_boolean_flags}", "{params:flags}" },
	{ "${args_json_file}", "{params_file}" },
};

static int
word_put(struct import *im, const struct json *j, const struct json *program,
    struct err *e)
{
	struct buf text = { 0 };
	const char *word;
	size_t i;

	if (json_read_string(j, &word, e) != 0)
		return -1;
	if (strcmp(word, "${env}") == 0) /* /usr/bin/env: no shell is used */
		return 0;
	for (i = 0; i < sizeof macros / sizeof *macros; i++)
		if (strcmp(word, macros[i].macro) == 0) {
			import_text(im, 3, NULL, macros[i].ours);
			return 0;
		}
	if (strcmp(word, "${program}") == 0) {
		if (program == NULL)
			return json_err(j, e, "the sweep has no program");
		if (json_read_string(program, &word, e) != 0)
			return -1;
	} else if (strstr(word, "${") != NULL)
		return json_err(j, e,
		    "%s has no equivalent: write the command with placeholders "
		    "of hpotune, as man hpotune-study describes them",
		    word);
	import_escape_braces(&text, word);
	import_text(im, 3, NULL, buf_str(&text));
	buf_free(&text);
	return 0;
}

static int
trial_put(struct import *im, struct err *e)
{
	const struct json *program = json_get(im->root, "program");
	const struct json *j = json_get(im->root, "command");
	struct buf text = { 0 };
	const char *name;
	size_t n;
	int rc = 0;

	import_open(im, 1, "trial", '{');
	import_open(im, 2, "command", '[');
	if (j != NULL) {
		rc = json_want(j, JSON_ARRAY, e);
		j = rc == 0 ? json_first(j) : NULL;
		for (; j != NULL && rc == 0; j = json_next(j))
			rc = word_put(im, j, program, e);
	} else if (program == NULL) {
		import_text(im, 3, NULL, "./train");
		import_text(im, 3, NULL, "{params}");
		import_note(im, "trial.command: the sweep has no program: "
				"./train");
	} else if ((rc = json_read_string(program, &name, e)) == 0) {
		n = strlen(name);
		if (n > 3 && strcmp(name + n - 3, ".py") == 0)
			import_text(im, 3, NULL, "python3");
		import_escape_braces(&text, name);
		import_text(im, 3, NULL, buf_str(&text));
		import_text(im, 3, NULL, "{params}");
		buf_free(&text);
	}
	import_close(im, 2, ']');
	import_close(im, 1, '}');
	import_note(im,
	    "metrics: what the program gives to wandb.log is not read: print "
	    "it (hpotune: step=1 loss=0.5), use hpotune.report, or let "
	    "trial.reads read what its library writes");
	return rc;
}

/* ---- the rest ------------------------------------------------------------ */

/* The name, or that of the program without its folder and ending. */
static void
name_put(struct import *im)
{
	const char *name = json_string(json_get(im->root, "name"));

	if (name == NULL)
		name = json_string(json_get(im->root, "program"));
	if (name != NULL && strrchr(name, '/') != NULL)
		name = strrchr(name, '/') + 1;
	if (name == NULL)
		name = "";
	import_name(im, name, strcspn(name, "."), "sweep");
	name = json_string(json_get(im->root, "description"));
	import_text(im, 1, "description", name);
}

static int
objective_put(struct import *im, struct err *e)
{
	static const char *const goals[] = { "minimize", "maximize", NULL };
	static const char *const keys[] = { "name", "goal", "target", "impute",
		"impute_while_running", NULL };
	const struct json *j = json_get(im->root, "metric"), *name;
	struct buf metric = { 0 };
	struct json_writer w;
	const char *text = "loss";
	size_t i = 0;

	if (j == NULL) {
		import_note(im, "objective: the sweep has no metric: loss, "
				"minimized");
	} else {
		if (json_want(j, JSON_OBJECT, e) != 0 ||
		    json_only(j, keys, e) != 0)
			return -1;
		name = json_need(j, "name", e);
		if (name == NULL || json_read_string(name, &text, e) != 0)
			return -1;
		name = json_get(j, "goal");
		if (name != NULL && json_read_word(name, goals, &i, e) != 0)
			return -1;
	}
	w = import_object(im, 1, "objective");
	import_put_metric(&metric, text);
	if (strcmp(buf_str(&metric), text) != 0)
		buf_printf(im->notes, "objective.metric: %s is %s here\n", text,
		    buf_str(&metric));
	json_writer_text(&w, "metric", buf_str(&metric));
	buf_free(&metric);
	json_writer_text(&w, "goal", goals[i]);
	/* The summary of a run has the last value of a metric. */
	json_writer_text(&w, "value", "last");
	if (json_get(j, "target") != NULL)
		json_write(
		    json_writer_value(&w, "target"), json_get(j, "target"));
	json_writer_end(&w);
	return 0;
}

static int
strategy_put(struct import *im, struct err *e)
{
	static const char *const methods[] = { "grid", "random", "bayes",
		"custom", NULL };
	const struct json *j = json_need(im->root, "method", e);
	size_t i;

	if (j == NULL || json_read_word(j, methods, &i, e) != 0)
		return -1;
	if (i < 2)
		import_text(im, 1, "strategy", methods[i]);
	if (i == 3)
		import_note(im, "method: custom is left out: auto");
	return 0;
}

static int
stopping_put(struct import *im, struct err *e)
{
	static const char *const keys[] = { "type", "min_iter", "max_iter", "s",
		"eta", "strict", NULL };
	static const char *const types[] = { "hyperband", NULL };
	const struct json *j = json_get(im->root, "early_terminate");
	const struct json *from;
	struct json_writer w;
	double max, s, eta = 3, first = 1;
	size_t i;

	if (j == NULL || json_type(j) == JSON_NULL) {
		import_text(im, 1, "stopping", "none");
		return 0;
	}
	if (json_want(j, JSON_OBJECT, e) != 0 || json_only(j, keys, e) != 0 ||
	    (from = json_need(j, "type", e)) == NULL ||
	    json_read_word(from, types, &i, e) != 0)
		return -1;
	from = json_get(j, "eta");
	if (from != NULL && json_read_number(from, 1, 1e9, &eta, e) != 0)
		return -1;
	if (json_get(j, "min_iter") != NULL) {
		if (json_read_number(
			json_get(j, "min_iter"), 1, 1e15, &first, e) != 0)
			return -1;
	} else if (number_of(j, "max_iter", NAN, &max, e) != 0 ||
		   number_of(j, "s", NAN, &s, e) != 0)
		return -1;
	else /* the last bracket of those that max_iter gives */
		first = fmax(1, floor(max / pow(eta, s)));
	w = import_object(im, 1, "stopping");
	json_writer_text(&w, "rule", "asha");
	json_writer_number(&w, "min_resource", first);
	json_writer_number(&w, "reduction_factor", fmax(2, floor(eta)));
	json_writer_end(&w);
	import_note(im, "early_terminate: brackets become those of asha: at "
			"min_iter, min_iter * eta, … the best share goes on");
	return 0;
}

static int
limits_put(struct import *im, struct err *e)
{
	const struct json *j = json_get(im->root, "run_cap");
	int64_t n = TRIALS;

	if (j != NULL && json_read_integer(j, 1, 1000000000, &n, e) != 0)
		return -1;
	if (j == NULL)
		import_note(im, "limits.trials: the sweep has no run_cap: 100");
	import_open(im, 1, "limits", '{');
	import_key(im, 2, "trials");
	buf_printf(&im->out, "%lld", (long long)n);
	import_close(im, 1, '}');
	return 0;
}

static int
study_put(struct import *im, struct err *e)
{
	const struct json *params = json_need(im->root, "parameters", e);

	if (params == NULL)
		return -1;
	buf_putc(&im->out, '{');
	name_put(im);
	if (objective_put(im, e) != 0)
		return -1;
	import_open(im, 1, "parameters", '{');
	if (params_put(im, NULL, params, 0, e) != 0)
		return -1;
	import_close(im, 1, '}');
	if (strategy_put(im, e) != 0 || stopping_put(im, e) != 0 ||
	    trial_put(im, e) != 0 || limits_put(im, e) != 0)
		return -1;
	buf_puts(&im->out, "\n}\n");
	return 0;
}

int
import_wandb(
    struct buf *out, struct buf *notes, const struct json *root, struct err *e)
{
	struct import im = { .notes = notes, .root = root, .fresh = true };
	int rc = -1;

	if (json_want(root, JSON_OBJECT, e) == 0 &&
	    json_only(root, sweep_keys, e) == 0)
		rc = study_put(&im, e);
	if (rc == 0)
		buf_add(out, im.out.data, im.out.len);
	buf_free(&im.out);
	return rc;
}
