/*
 * The "parameters" of study.json -> struct space, with the checks that concern
 * several parameters.
 */

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/model/foreign-words.h"
#include "src/model/param.h"
#include "src/model/when.h"

enum { VALUES_MAX = 1000, NAME_MAX_LEN = 64 };

#define INT_MAX_ABS 9007199254740992 /* 2^53 */
#define LEVELS_MAX 1125899906842624.0 /* 2^50: levels distinct in u */
#define LOG_INT_MAX 1099511627776.0 /* 2^40 */
#define FLOAT_MAX_ABS 1e300
#define BOUND_SDS 4 /* of a normal distribution without min or max */
#define FLOAT_MIN_LOG 1e-300
#define NARROWEST \
	1e-9 /* the least max - min, as a share of the larger of both */
#define STEP_MIN_SHARE 1e-12 /* of the largest bound */

static const char *const types[] = { [PARAM_FLOAT] = "float",
	[PARAM_INT] = "int",
	[PARAM_CHOICE] = "choice",
	[PARAM_FIXED] = "fixed",
	NULL };
static const char *const scales[] = { [SCALE_LINEAR] = "linear",
	[SCALE_LOG] = "log",
	[SCALE_REVERSE_LOG] = "reverse-log",
	NULL };
static const char *const number_keys[] = { "type", "min", "max", "step",
	"scale", "mean", "sd", "default", "when", NULL };
static const char *const choice_keys[] = { "type", "values", "weights",
	"ordered", "default", "when", NULL };
static const char *const fixed_keys[] = { "type", "value", "when", NULL };
static const char *const all_keys[] = { "type", "min", "max", "step", "scale",
	"mean", "sd", "values", "weights", "ordered", "value", "default",
	"when", NULL };
/* Names that {…} in a command already uses. */
static const char *const reserved[] = { "trial", "attempt", "params",
	"checkpoint_dir", "output_dir", NULL };

bool
space_name_taken(const char *name)
{
	size_t i;

	for (i = 0; reserved[i] != NULL; i++)
		if (strcasecmp(name, reserved[i]) == 0)
			return true;
	return false;
}

static bool
in_list(const char *word, const char *const *words)
{
	for (; *words != NULL; words++)
		if (strcmp(word, *words) == 0)
			return true;
	return false;
}

static bool
space_read_name_good(const char *name)
{
	size_t n = strlen(name), i;

	for (i = 0; i < n; i++)
		if (!isalnum((unsigned char)name[i]) &&
		    strchr(i > 0 ? "_.-" : "_", name[i]) == NULL)
			break;
	return i == n && n > 0 && n <= NAME_MAX_LEN &&
	       !isdigit((unsigned char)*name);
}

/* j has the name as its key or as its value; report tells which. */
static int
space_read_name_check(const struct json *j, const char *name,
    int (*report)(const struct json *, struct err *, const char *, ...),
    struct err *e)
{
	if (!space_read_name_good(name))
		return report(j, e,
		    "the name of a parameter is a letter or _ and up to 63 "
		    "letters, digits, _ . or -");
	if (space_name_taken(name))
		return report(j, e,
		    "a parameter may not be named %s: {%s} in a command means "
		    "something else",
		    name, name);
	return 0;
}

static int
space_read_keys_check(
    const struct json *block, enum param_type type, struct err *e)
{
	static const char *const *const keys[] = {
		[PARAM_FLOAT] = number_keys,
		[PARAM_INT] = number_keys,
		[PARAM_CHOICE] = choice_keys,
		[PARAM_FIXED] = fixed_keys,
	};
	const struct json *j;

	for (j = json_first(block); j != NULL; j = json_next(j))
		if (in_list(json_key(j), all_keys) &&
		    !in_list(json_key(j), keys[type]))
			return json_err_key(j, e,
			    "this key does not go with type %s", types[type]);
	return foreign_words_only(block, FOREIGN_PARAMETER, keys[type], e);
}

static int
read_int_bound(double *out, const struct json *j, struct err *e)
{
	int64_t n;

	(void)json_number(j, out);
	if (*out != floor(*out))
		return json_err(j, e, "expected a whole number");
	if (!json_integer(j, &n) || n > INT_MAX_ABS || n < -INT_MAX_ABS)
		return json_err(
		    j, e, "expected a whole number from -2^53 to 2^53");
	return 0;
}

static int
read_bound(double *out, const struct param *p, const struct json *block,
    const char *key, struct err *e)
{
	const struct json *j = json_get(block, key);

	/* A parameter with mean and sd needs no bound. */
	if (j == NULL && p->sd > 0)
		return 0;
	j = json_need(block, key, e);
	if (j == NULL || json_want(j, JSON_NUMBER, e) != 0)
		return -1;
	if (p->type == PARAM_INT)
		return read_int_bound(out, j, e);
	(void)json_number(j, out);
	if (fabs(*out) > FLOAT_MAX_ABS)
		return json_err(j, e, "expected a number from -1e300 to 1e300");
	return 0;
}

/* Where an error about a key is, which may be left out. */
static const struct json *
space_read_place_of(const struct json *block, const char *key)
{
	const struct json *j = json_get(block, key);

	return j != NULL ? j : block;
}

static int
log_check(const struct param *p, const struct json *block, struct err *e)
{
	const struct json *min = space_read_place_of(block, "min");
	const struct json *max = space_read_place_of(block, "max");

	if (p->min <= 0)
		return json_err(min, e, "a log scale needs min above 0");
	if (p->min < FLOAT_MIN_LOG)
		return json_err(
		    min, e, "a log scale needs min of at least 1e-300");
	if (p->type == PARAM_INT && p->max > LOG_INT_MAX)
		return json_err(
		    max, e, "an int on a log scale must not exceed 2^40");
	return 0;
}

static int
reverse_log_check(
    const struct param *p, const struct json *block, struct err *e)
{
	if (p->type == PARAM_INT)
		return json_err(json_get(block, "scale"), e,
		    "reverse-log goes with type float only");
	if (p->min < 0)
		return json_err(json_get(block, "min"), e,
		    "a reverse-log scale needs min of at least 0");
	if (p->max >= 1)
		return json_err(json_get(block, "max"), e,
		    "a reverse-log scale needs max below 1");
	return 0;
}

static int
read_scale(struct param *p, const struct json *block, struct err *e)
{
	const struct json *j = json_get(block, "scale");
	size_t i;

	if (j == NULL)
		return 0;
	if (foreign_words_read(j, FOREIGN_SCALE, scales, &i, e) != 0)
		return -1;
	p->scale = (enum param_scale)i;
	return 0;
}

static int
scale_check(const struct param *p, const struct json *block, struct err *e)
{
	switch (p->scale) {
	case SCALE_LINEAR:
		break;
	case SCALE_LOG:
		return log_check(p, block, e);
	case SCALE_REVERSE_LOG:
		return reverse_log_check(p, block, e);
	}
	return 0;
}

static int
read_step(struct param *p, const struct json *block, struct err *e)
{
	const struct json *j = json_get(block, "step");
	double least = fmax(fabs(p->min), fabs(p->max)) * STEP_MIN_SHARE;

	p->step = p->type == PARAM_INT ? 1 : 0;
	if (j == NULL)
		return 0;
	if (json_want(j, JSON_NUMBER, e) != 0)
		return -1;
	(void)json_number(j, &p->step);
	if (p->step <= 0)
		return json_err(j, e, "expected a number above 0");
	if (p->type == PARAM_INT && p->step != floor(p->step))
		return json_err(j, e, "expected a whole number");
	if (p->scale == SCALE_REVERSE_LOG)
		return json_err(
		    j, e, "step goes with a linear or log scale only");
	if (p->step > p->max - p->min)
		return json_err(j, e, "step is larger than max - min");
	if (p->type == PARAM_FLOAT && p->step < least)
		return json_err(j, e, "step is too small beside min and max");
	return 0;
}

/* A continuous range must be wider than the rounding of its bounds. */
static bool
too_narrow(const struct param *p)
{
	double room = p->max - p->min;
	double size = fmax(fabs(p->min), fabs(p->max));

	if (p->type == PARAM_INT || p->step > 0 || room == 0)
		return false;
	return room < NARROWEST * size;
}

static int
default_bounds(struct param *p, const struct json *sd, struct err *e)
{
	double low = p->mean - BOUND_SDS * p->sd;
	double high = p->mean + BOUND_SDS * p->sd;

	if (p->scale == SCALE_LOG) {
		low = exp(low);
		high = exp(high);
	}
	if (p->type == PARAM_INT) {
		low = fmax(ceil(low), p->scale == SCALE_LOG ? 1 : low);
		high = floor(high);
	}
	if (!(fabs(low) <= FLOAT_MAX_ABS && fabs(high) <= FLOAT_MAX_ABS) ||
	    (p->scale == SCALE_LOG && low < 1 / FLOAT_MAX_ABS) ||
	    (p->type == PARAM_INT &&
		(low < -INT_MAX_ABS || high > INT_MAX_ABS)) ||
	    high < low)
		return json_err(
		    sd, e, "this mean and sd need min and max beside them");
	p->min = low;
	p->max = high;
	return 0;
}

/*
 * mean and sd of a float or int, whose type and scale are read; bounds that are
 * not given are 4 sd away.  No error without both keys.
 */
static int
read_normal(struct param *p, const struct json *block, struct err *e)
{
	const struct json *mean = json_get(block, "mean");
	const struct json *sd = json_get(block, "sd");

	if (mean == NULL && sd == NULL)
		return 0;
	if (mean == NULL || sd == NULL)
		return json_err(mean != NULL ? mean : sd, e,
		    "mean and sd of a normal distribution go together");
	if (p->scale == SCALE_REVERSE_LOG)
		return json_err(
		    mean, e, "mean and sd go with a linear or log scale only");
	if (json_read_number(
		mean, -FLOAT_MAX_ABS, FLOAT_MAX_ABS, &p->mean, e) != 0 ||
	    json_read_number(sd, 0, FLOAT_MAX_ABS, &p->sd, e) != 0)
		return -1;
	if (!(p->sd > 0))
		return json_err(sd, e, "expected a number above 0");
	if (json_get(block, "min") != NULL && json_get(block, "max") != NULL)
		return 0;
	if (json_get(block, "step") != NULL)
		return json_err(json_get(block, "step"), e,
		    "step needs min and max, also beside mean and sd");
	return default_bounds(p, sd, e);
}

static double
on_scale(const struct param *p, double x)
{
	return p->scale == SCALE_LOG ? log(x) : x;
}

/* Check, once the bounds are read, that the mean is between them. */
static int
check_normal(const struct param *p, const struct json *block, struct err *e)
{
	if (p->sd > 0 &&
	    !(p->mean >= on_scale(p, p->min) && p->mean <= on_scale(p, p->max)))
		return json_err(json_get(block, "mean"), e,
		    p->scale == SCALE_LOG
			? "the mean is that of the natural logarithm: it is "
			  "not between those of min and max"
			: "the mean is not between min and max");
	return 0;
}

/* weights of a choice, whose values are read: one for each. */
static int
read_weights(struct param *p, const struct json *block, struct err *e)
{
	const struct json *list = json_get(block, "weights"), *j;
	size_t i = 0;

	if (list == NULL)
		return 0;
	if (json_want(list, JSON_ARRAY, e) != 0)
		return -1;
	if (json_count(list) != p->n_values)
		return json_err(list, e,
		    "expected %zu numbers, one for each of values",
		    p->n_values);
	p->weights = xcalloc(p->n_values, sizeof *p->weights);
	for (j = json_first(list); j != NULL; j = json_next(j), i++) {
		if (json_read_number(j, 0, 1e9, &p->weights[i], e) != 0)
			return -1;
		if (!(p->weights[i] > 1e-9))
			return json_err(j, e, "expected a number above 1e-9");
	}
	return 0;
}

static int
read_number(struct param *p, const struct json *block, struct err *e)
{
	if (read_scale(p, block, e) != 0 || read_normal(p, block, e) != 0 ||
	    read_bound(&p->min, p, block, "min", e) != 0 ||
	    read_bound(&p->max, p, block, "max", e) != 0)
		return -1;
	if (p->max < p->min)
		return json_err(space_read_place_of(block, "max"), e,
		    "max is less than min");
	if (scale_check(p, block, e) != 0 || read_step(p, block, e) != 0 ||
	    check_normal(p, block, e) != 0)
		return -1;
	if (too_narrow(p))
		return json_err(space_read_place_of(block, "max"), e,
		    "max is too close to min");
	if (p->step > 0 && (p->max - p->min) / p->step >= LEVELS_MAX)
		return json_err(block, e,
		    "more than 2^50 values; a larger step makes fewer");
	return 0;
}

/* A value of this parameter: its text is copied. */
static int
read_own_value(struct param *p, const struct json *j, struct err *e)
{
	struct value v;
	size_t i;

	param_value_read(&v, j);
	if (v.text != NULL && strlen(v.text) > PARAM_TEXT_MAX)
		return json_err(
		    j, e, "a text of more than %d bytes", PARAM_TEXT_MAX);
	for (i = 0; i < p->n_values; i++)
		if (param_value_equal(&p->values[i], &v))
			return json_err(j, e, "this value is given twice");
	if (v.text != NULL)
		v.text = xstrdup(v.text);
	p->values[p->n_values++] = v;
	return 0;
}

static int
read_choice(struct param *p, const struct json *block, struct err *e)
{
	const struct json *values = json_need(block, "values", e), *j;

	if (values == NULL || json_want(values, JSON_ARRAY, e) != 0)
		return -1;
	if (json_count(values) < 1 || json_count(values) > VALUES_MAX)
		return json_err(
		    values, e, "expected 1 to %d values", VALUES_MAX);
	p->values = xcalloc(json_count(values), sizeof *p->values);
	for (j = json_first(values); j != NULL; j = json_next(j))
		if (read_own_value(p, j, e) != 0)
			return -1;
	if (read_weights(p, block, e) != 0)
		return -1;
	j = json_get(block, "ordered");
	return j != NULL ? json_read_bool(j, &p->ordered, e) : 0;
}

static int
read_fixed(struct param *p, const struct json *block, struct err *e)
{
	const struct json *j = json_need(block, "value", e);

	if (j == NULL)
		return -1;
	p->values = xcalloc(1, sizeof *p->values);
	return read_own_value(p, j, e);
}

/* A list or a value alone: the error has the object that it should be. */
static int
form_check(const struct json *j, struct err *e)
{
	struct buf value = { 0 };
	bool list = json_type(j) == JSON_ARRAY;

	if (json_type(j) == JSON_OBJECT)
		return 0;
	json_write(&value, j);
	json_err(j, e,
	    "expected an object, not %s: { \"type\": \"%s\", \"%s\": %.100s }",
	    json_type_name(json_type(j)), list ? "choice" : "fixed",
	    list ? "values" : "value", buf_str(&value));
	buf_free(&value);
	return -1;
}

static bool
space_read_is_whole(const struct json *block, const char *key)
{
	int64_t n;

	return json_integer(json_get(block, key), &n) &&
	       !json_is_decimal(json_get(block, key));
}

/*
 * The type by the other keys.  Whole bounds are those of an int; of 0 and 1 nobody
 * can tell: most mean a float between them.
 */
static int
type_guess(struct param *p, const struct json *block, struct err *e)
{
	int64_t min = 0, max = 0;
	const struct json *step = json_get(block, "step");

	p->type = json_get(block, "values") != NULL  ? PARAM_CHOICE
		  : json_get(block, "value") != NULL ? PARAM_FIXED
						     : PARAM_FLOAT;
	p->guessed = p->type == PARAM_FLOAT;
	if (!p->guessed)
		return 0;
	if (json_get(block, "min") == NULL && json_get(block, "max") == NULL &&
	    json_get(block, "mean") == NULL)
		return json_err(block, e,
		    "the key \"type\" is missing, and neither values, value, "
		    "min "
		    "and max nor mean and sd tell it");
	if (space_read_is_whole(block, "min") &&
	    space_read_is_whole(block, "max") &&
	    (step == NULL || space_read_is_whole(block, "step")) &&
	    json_get(block, "mean") == NULL)
		p->type = PARAM_INT;
	if (p->type != PARAM_INT)
		return 0;
	(void)json_integer(json_get(block, "min"), &min);
	(void)json_integer(json_get(block, "max"), &max);
	if (max - min > 1 || step != NULL)
		return 0;
	return json_err(block, e,
	    "the key \"type\" is missing: float has all values from %lld to "
	    "%lld, int these two",
	    (long long)min, (long long)max);
}

static int
type_read(struct param *p, const struct json *block, struct err *e)
{
	const struct json *j = json_get(block, "type");
	size_t i;

	if (j == NULL) {
		if (foreign_words_only(block, FOREIGN_PARAMETER, all_keys, e) !=
		    0)
			return -1;
		return type_guess(p, block, e);
	}
	if (foreign_words_read(j, FOREIGN_TYPE, types, &i, e) != 0)
		return -1;
	p->type = (enum param_type)i;
	return 0;
}

/* Read the member NAME: {type, …} of "parameters", without its "when". */
static int
param_read(struct param *p, const struct json *block, struct err *e)
{
	const struct json *j;
	int rc = 0;

	p->name = xstrdup(json_key(block));
	if (space_read_name_check(block, json_key(block), json_err_key, e) !=
		0 ||
	    form_check(block, e) != 0)
		return -1;
	if (type_read(p, block, e) != 0)
		return -1;
	if (space_read_keys_check(block, p->type, e) != 0)
		return -1;
	switch (p->type) {
	case PARAM_FLOAT:
	case PARAM_INT:
		rc = read_number(p, block, e);
		break;
	case PARAM_CHOICE:
		rc = read_choice(p, block, e);
		break;
	case PARAM_FIXED:
		rc = read_fixed(p, block, e);
		break;
	}
	j = json_get(block, "default");
	if (rc != 0 || j == NULL)
		return rc;
	p->has_default = true;
	return param_read_value(&p->def, p, j, e);
}

enum {
	PARAMS_MAX = 1000 /* view results has a column for each */
};

/* A letter of a name as in SM_HP_NAME: upper case, - and . become _. */
static int
name_fold(char c)
{
	return c == '-' || c == '.' ? '_' : toupper((unsigned char)c);
}

bool
space_names_clash(const char *a, const char *b)
{
	for (; *a != '\0' && *b != '\0'; a++, b++)
		if (name_fold(*a) != name_fold(*b))
			return false;
	return *a == *b;
}

/* The first of its parents that is not placed, or -1. */
static int
parent_missing(const struct param *p, const bool *placed)
{
	size_t k;

	for (k = 0; p->when != NULL && k < p->when->n_parents; k++)
		if (!placed[p->when->parents[k]])
			return (int)p->when->parents[k];
	return -1;
}

/* Parameters that are not placed depend on a cycle: name two of it. */
static int
cycle_err(const struct space *s, const struct json *params, const bool *placed,
    struct err *e)
{
	const struct json *j = json_first(params);
	size_t k, i = 0;

	while (placed[i])
		i++;
	for (k = 0; k < s->n; k++)
		i = (size_t)parent_missing(&s->params[i], placed);
	for (k = 0; k < i; k++)
		j = json_next(j);
	k = (size_t)parent_missing(&s->params[i], placed);
	return json_err(json_get(j, "when"), e,
	    "%s depends on itself through %s", s->params[i].name,
	    s->params[k].name);
}

/* Order parents before children. */
static int
sort_params(struct space *s, const struct json *params, struct err *e)
{
	bool *placed = xcalloc(s->n, sizeof *placed);
	size_t n = 0, before, i;
	int rc = 0;

	s->order = xcalloc(s->n, sizeof *s->order);
	do {
		before = n;
		for (i = 0; i < s->n; i++) {
			if (placed[i] ||
			    parent_missing(&s->params[i], placed) >= 0)
				continue;
			placed[i] = true;
			s->order[n++] = (int)i;
		}
	} while (n > before);
	if (n < s->n)
		rc = cycle_err(s, params, placed, e);
	free(placed);
	return rc;
}

static int
clash_check(
    const struct space *s, size_t i, const struct json *j, struct err *e)
{
	size_t k;

	for (k = 0; k < i; k++)
		if (space_names_clash(s->params[k].name, s->params[i].name))
			return json_err_key(j, e,
			    "this name differs from \"%s\" only in case or in "
			    "- _ and .",
			    s->params[k].name);
	return 0;
}

static int
read_params(struct space *s, const struct json *params, struct err *e)
{
	const struct json *j, *when;
	size_t i;

	for (j = json_first(params); j != NULL; j = json_next(j)) {
		s->n++;
		if (param_read(&s->params[s->n - 1], j, e) != 0 ||
		    clash_check(s, s->n - 1, j, e) != 0)
			return -1;
	}
	for (j = json_first(params), i = 0; j != NULL; j = json_next(j), i++) {
		when = json_get(j, "when");
		if (when != NULL &&
		    when_read(&s->params[i].when, s, i, when, e) != 0)
			return -1;
	}
	return sort_params(s, params, e);
}

int
space_read(struct space **out, const struct json *params, struct err *e)
{
	struct space *s;
	size_t n;

	*out = NULL;
	if (json_want(params, JSON_OBJECT, e) != 0)
		return -1;
	n = json_count(params);
	if (n < 1 || n > PARAMS_MAX)
		return json_err(
		    params, e, "expected 1 to %d parameters", PARAMS_MAX);
	s = xcalloc(1, sizeof *s);
	s->params = xcalloc(n, sizeof *s->params);
	if (read_params(s, params, e) != 0) {
		space_free(s);
		return -1;
	}
	*out = s;
	return 0;
}

/* Whole numbers from 1. */
static void
put_counted(struct param *p, int64_t count)
{
	int64_t i;

	p->values = xreallocarray(p->values, (size_t)count, sizeof *p->values);
	for (i = (int64_t)p->n_values + 1; i <= count; i++)
		p->values[p->n_values++] = (struct value){
			.kind = VALUE_INT, .integer = i, .real = (double)i
		};
}

int
space_add_replicates(struct space *s, const struct json *name,
    const struct json *values, int64_t count, struct err *e)
{
	const struct json *j;
	struct param *p;
	const char *text;
	size_t i;

	if (json_read_string(name, &text, e) != 0)
		return -1;
	if (space_read_name_check(name, text, json_err, e) != 0)
		return -1;
	for (i = 0; i < s->n; i++)
		if (space_names_clash(s->params[i].name, text))
			return json_err(name, e,
			    "%s is one of parameters: leave it out there, its "
			    "values are those of the replicates",
			    s->params[i].name);
	if (s->n == PARAMS_MAX)
		return json_err(
		    name, e, "there are %d parameters already", PARAMS_MAX);
	s->params = xreallocarray(s->params, s->n + 1, sizeof *s->params);
	s->order = xreallocarray(s->order, s->n + 1, sizeof *s->order);
	s->order[s->n] = (int)s->n;
	p = &s->params[s->n++];
	*p = (struct param){ .type = PARAM_FIXED };
	p->name = xstrdup(text);
	if (values == NULL) {
		put_counted(p, count);
		return 0;
	}
	p->values = xcalloc(json_count(values), sizeof *p->values);
	for (j = json_first(values); j != NULL; j = json_next(j))
		if (read_own_value(p, j, e) != 0)
			return -1;
	return 0;
}

int
space_more_replicates(
    struct space *s, const struct json *where, int64_t more, struct err *e)
{
	struct param *p = &s->params[s->n - 1];

	if (json_get(where, "count") == NULL)
		return json_err_key(where, e,
		    "the key confirm needs values that the search has not "
		    "used: expected count, not values");
	put_counted(p, (int64_t)p->n_values + more);
	return 0;
}
