/*
 * Maps one parameter to the interval [0, 1] and back. decode and encode are
 * inverse on each value of the parameter: continuous values are rounded to
 * decimals that survive both conversions, levels are encoded at the middle of
 * their share of the interval.
 */

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/model/param.h"

/*
 * Decimal digits kept, counted from the largest number of the range (or from
 * the number itself on a log scale).  A double has 15; log, division,
 * multiplication and exp cost up to three of them.
 */
enum {
	DIGITS_LINEAR = 13,
	DIGITS_STEP = 14,
	DIGITS_LOG = 12,
	DIGITS_REVERSE = 13 /* after the decimal point */
};

/* The exponent of the leading digit: 0 for 1 to 9.99, -1 for 0.1. */
static int
exponent10(double x)
{
	return x == 0 ? 0 : (int)floor(log10(fabs(x)));
}

/*
 * The same as round_at where doubles suffice: a whole number of at most 15
 * digits and a power of ten up to 22 are exact, so their quotient or product is
 * what strtod gives.  The first operation may err by half a unit in the last
 * place; false: so close to a tie that this decides.
 */
static bool
round_exact(double *out, double x, int place)
{
	static const double powers[] = { 1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7,
		1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
		1e19, 1e20, 1e21, 1e22 };
	double units, whole;

	if (place < -22 || place > 22)
		return false;
	units = place < 0 ? x * powers[-place] : x / powers[place];
	if (!(fabs(units) < 1e15))
		return false;
	whole = rint(units);
	if (fabs(fabs(units - whole) - 0.5) <= fabs(units) * DBL_EPSILON)
		return false;
	*out = place < 0 ? whole / powers[-place] : whole * powers[place];
	return true;
}

/* Round to a multiple of 10^place, in decimal. */
static double
round_at(double x, int place)
{
	char text[48];
	double rounded;
	int digits;

	if (x == 0)
		return 0;
	digits = exponent10(x) - place + 1;
	if (digits < 1)
		return 0;
	if (digits > 17)
		return x;
	if (round_exact(&rounded, x, place))
		return rounded;
	(void)snprintf(text, sizeof text, "%.*e", digits - 1, x);
	return strtod(text, NULL);
}

static double
clamp(double x, double min, double max)
{
	return x < min ? min : x > max ? max : x;
}

/* The exponent of the last digit kept of numbers between min and max. */
static int
last_place(const struct param *p, int digits)
{
	return exponent10(fmax(fabs(p->min), fabs(p->max))) - digits + 1;
}

/*
 * The number of levels of a step; allows for rounding: 1 - 0.9 is slightly less
 * than 0.1.
 */
static uint64_t
param_step_levels(const struct param *p)
{
	double n = (p->max - p->min) / p->step;

	if (p->type == PARAM_INT)
		return (uint64_t)(((int64_t)p->max - (int64_t)p->min) /
				  (int64_t)p->step) +
		       1;
	return (uint64_t)floor(n + n * 1e-15 + 1e-9) + 1;
}

/*
 * Steps on a log scale: the search sees a continuous number, whose value is then
 * rounded, since the shares of the steps differ by orders of magnitude.
 */
static bool
is_log_step(const struct param *p)
{
	return p->scale == SCALE_LOG &&
	       p->step > (p->type == PARAM_INT ? 1 : 0);
}

uint64_t
param_levels(const struct param *p)
{
	switch (p->type) {
	case PARAM_FIXED:
		return 1;
	case PARAM_CHOICE:
		return p->n_values;
	case PARAM_INT:
	case PARAM_FLOAT:
		break;
	}
	if (p->min == p->max)
		return 1;
	if (is_log_step(p))
		return 0;
	return p->step > 0 ? param_step_levels(p) : 0;
}

static bool
param_is_log_int(const struct param *p)
{
	return p->type == PARAM_INT && p->scale == SCALE_LOG && p->step == 1;
}

/* The number at level i of an int or a float with step, and back. */
static double
level_number(const struct param *p, double i)
{
	if (p->type == PARAM_INT)
		return (
		    double)((int64_t)p->min + (int64_t)i * (int64_t)p->step);
	if (i == 0)
		return p->min;
	return clamp(round_at(p->min + i * p->step, last_place(p, DIGITS_STEP)),
	    p->min, p->max);
}

static double
number_level(const struct param *p, double x)
{
	if (p->type == PARAM_INT) {
		int64_t n = ((int64_t)x - (int64_t)p->min) / (int64_t)p->step;

		return (double)n;
	}
	return round((x - p->min) / p->step);
}

/* Apply the scale to a continuous number, and its inverse. */
static double
scale_number(const struct param *p, double x)
{
	switch (p->scale) {
	case SCALE_LINEAR:
		break;
	case SCALE_LOG:
		return log(x);
	case SCALE_REVERSE_LOG:
		return -log1p(-x);
	}
	return x;
}

static double
unscale_number(const struct param *p, double y)
{
	switch (p->scale) {
	case SCALE_LINEAR:
		break;
	case SCALE_LOG:
		return exp(y);
	case SCALE_REVERSE_LOG:
		return -expm1(-y);
	}
	return y;
}

static double
round_number(const struct param *p, double x)
{
	switch (p->scale) {
	case SCALE_LINEAR:
		break;
	case SCALE_LOG:
		return round_at(x, exponent10(x) - DIGITS_LOG + 1);
	case SCALE_REVERSE_LOG:
		return round_at(x, -DIGITS_REVERSE);
	}
	return round_at(x, last_place(p, DIGITS_LINEAR));
}

static double
decode_continuous(const struct param *p, double u)
{
	double low = scale_number(p, p->min), high = scale_number(p, p->max);

	if (u <= 0)
		return p->min;
	if (u >= 1)
		return p->max;
	return clamp(round_number(p, unscale_number(p, low + u * (high - low))),
	    p->min, p->max);
}

static double
encode_continuous(const struct param *p, double x)
{
	double low = scale_number(p, p->min), high = scale_number(p, p->max);

	return clamp((scale_number(p, x) - low) / (high - low), 0, 1);
}

/* Whole numbers on a log scale: v covers log(v - 1/2) to log(v + 1/2). */
static double
decode_log_int(const struct param *p, double u)
{
	double low = log(p->min - 0.5), high = log(p->max + 0.5);

	return clamp(floor(exp(low + u * (high - low)) + 0.5), p->min, p->max);
}

static double
encode_log_int(const struct param *p, double x)
{
	double low = log(p->min - 0.5), high = log(p->max + 0.5);
	double middle = (log(x - 0.5) + log(x + 0.5)) / 2;

	return (middle - low) / (high - low);
}

static double
param_level_of_point(double u, double levels)
{
	return fmin(floor(u * levels), levels - 1);
}

static double
nearest_step(const struct param *p, double x)
{
	double i = round((x - p->min) / p->step);

	return level_number(p, fmin(i, (double)param_step_levels(p) - 1));
}

static double
decode_number(const struct param *p, double u)
{
	uint64_t levels = param_levels(p);

	if (levels == 1)
		return p->min;
	if (param_is_log_int(p))
		return decode_log_int(p, u);
	if (levels == 0 && p->step > 0)
		return nearest_step(p, decode_continuous(p, u));
	if (levels == 0)
		return decode_continuous(p, u);
	return level_number(p, param_level_of_point(u, (double)levels));
}

void
param_decode(const struct param *p, double u, struct value *v)
{
	double x;

	u = isnan(u) ? 0.5 : clamp(u, 0, 1);
	if (p->type == PARAM_FIXED) {
		*v = p->values[0];
		return;
	}
	if (p->type == PARAM_CHOICE) {
		*v = p->values[(size_t)param_level_of_point(
		    u, (double)p->n_values)];
		return;
	}
	x = decode_number(p, u);
	*v = (struct value){ .kind = VALUE_REAL, .real = x };
	if (p->type == PARAM_INT) {
		v->kind = VALUE_INT;
		v->integer = (int64_t)x;
	}
}

static size_t
value_index(const struct param *p, const struct value *v)
{
	size_t i;

	for (i = 0; i < p->n_values; i++)
		if (param_value_equal(&p->values[i], v))
			break;
	return i;
}

double
param_encode(const struct param *p, const struct value *v)
{
	uint64_t levels = param_levels(p);
	double i;

	if (levels == 1)
		return 0.5;
	if (p->type == PARAM_CHOICE)
		i = (double)value_index(p, v);
	else if (param_is_log_int(p))
		return encode_log_int(p, v->real);
	else if (levels == 0)
		return encode_continuous(p, v->real);
	else
		i = number_level(p, v->real);
	return clamp((i + 0.5) / (double)levels, 0, 1);
}

/* With a step a number must be a level, apart from its last decimal digits. */
static bool
param_fit_number(const struct param *p, struct value *v)
{
	double x = v->real, i;

	if (v->kind != VALUE_INT && v->kind != VALUE_REAL)
		return false;
	if (!(x >= p->min && x <= p->max))
		return false;
	if (p->type == PARAM_INT && x != floor(x))
		return false;
	if (p->step > 0) {
		i = number_level(p, x);
		if (i >= (double)param_step_levels(p) ||
		    fabs(level_number(p, i) - x) > p->step * 1e-6)
			return false;
	}
	param_decode(p, param_encode(p, v), v);
	return true;
}

bool
param_fit(const struct param *p, struct value *v)
{
	size_t i;

	if (p->type == PARAM_FLOAT || p->type == PARAM_INT)
		return param_fit_number(p, v);
	i = value_index(p, v);
	if (i == p->n_values)
		return false;
	*v = p->values[i];
	return true;
}

void
param_level_value(const struct param *p, uint64_t k, struct value *v)
{
	if (param_is_log_int(p)) {
		*v = (struct value){ .kind = VALUE_INT,
			.integer = (int64_t)p->min + (int64_t)k };
		v->real = (double)v->integer;
		return;
	}
	param_decode(p, ((double)k + 0.5) / (double)param_levels(p), v);
}

uint64_t
param_level_of(const struct param *p, const struct value *v)
{
	if (param_is_log_int(p))
		return (uint64_t)(v->integer - (int64_t)p->min);
	return (uint64_t)param_level_of_point(
	    param_encode(p, v), (double)param_levels(p));
}

void
param_put_domain(struct buf *b, const struct param *p)
{
	size_t i, start = b->len;

	if (p->type == PARAM_CHOICE || p->type == PARAM_FIXED) {
		if (p->n_values > 1)
			buf_puts(b, "one of ");
		for (i = 0; i < p->n_values && b->len - start < 200; i++) {
			buf_puts(b, i > 0 ? ", " : "");
			param_value_put_json(b, &p->values[i]);
		}
		buf_puts(b, i < p->n_values ? ", ..." : "");
		return;
	}
	buf_puts(b,
	    p->type == PARAM_INT ? "a whole number from " : "a number from ");
	json_put_number(b, p->min);
	buf_puts(b, " to ");
	json_put_number(b, p->max);
	if (p->step > 0 && (p->type == PARAM_FLOAT || p->step != 1)) {
		buf_puts(b, " in steps of ");
		json_put_number(b, p->step);
	}
}

int
param_read_value(
    struct value *v, const struct param *p, const struct json *j, struct err *e)
{
	struct buf domain = { 0 };

	param_value_read(v, j);
	if (param_fit(p, v))
		return 0;
	param_put_domain(&domain, p);
	json_err(j, e, "%s can only be %s", p->name, buf_str(&domain));
	buf_free(&domain);
	return -1;
}

/* A JSON number, with an optional plus sign. */
static bool
parse_number(const char *text, struct value *v)
{
	size_t n = strspn(text, "0123456789+-.eE");
	char *end;

	*v = (struct value){ .kind = VALUE_REAL };
	if (n == 0 || text[n] != '\0')
		return false;
	v->real = strtod(text, &end);
	return *end == '\0' && isfinite(v->real);
}

/* A list or an object may be written with other spaces. */
static bool
parse_tree(const struct param *p, const char *text, struct value *out)
{
	struct json_doc *doc;
	bool found;

	if ((*text != '[' && *text != '{') ||
	    json_parse(&doc, text, strlen(text), NULL, false, NULL) != 0)
		return false;
	param_value_read(out, json_root(doc));
	found = param_fit(p, out);
	json_free(doc);
	return found;
}

static bool
parse_choice(const struct param *p, const char *text, struct value *out)
{
	struct buf b = { 0 };
	bool found = false;
	size_t i;

	for (i = 0; i < p->n_values && !found; i++) {
		buf_clear(&b);
		param_value_put(&b, &p->values[i]);
		found = strcmp(buf_str(&b), text) == 0;
	}
	buf_free(&b);
	if (found)
		*out = p->values[i - 1];
	else
		found = parse_tree(p, text, out);
	return found;
}

int
param_parse(
    const struct param *p, const char *text, struct value *out, struct err *e)
{
	struct buf domain = { 0 };
	bool good;

	if (p->type == PARAM_CHOICE || p->type == PARAM_FIXED)
		good = parse_choice(p, text, out);
	else
		good = parse_number(text, out) && param_fit(p, out);
	if (good)
		return 0;
	param_put_domain(&domain, p);
	err_set(e, ERR_USAGE, "%s: expected %s", p->name, buf_str(&domain));
	buf_free(&domain);
	return -1;
}
