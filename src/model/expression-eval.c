/*
 * Evaluates expressions over sets: numbers as intervals (Moore, Kearfott and
 * Cloud, "Introduction to interval analysis", 2009, chapters 2 and 5), truth as
 * the set of possible answers.  A rounded sum, product or quotient is monotone
 * in its operands, so the bounds need no directed rounding.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/model/expression-internal.h"
#include "src/model/space.h"

enum { TRUTHS = SPAN_TRUE | SPAN_FALSE, FIGURES = SPAN_NUMBER | SPAN_NAN };

void
span_add_numbers(struct span *s, double low, double high)
{
	bool first = (s->kinds & SPAN_NUMBER) == 0;

	s->kinds |= SPAN_NUMBER;
	s->low = first ? low : fmin(s->low, low);
	s->high = first ? high : fmax(s->high, high);
}

static void
expression_eval_add_text(struct span *s, const char *text)
{
	bool first = (s->kinds & SPAN_TEXT) == 0;

	if (first)
		s->text = text;
	else if (s->text == NULL || text == NULL || strcmp(s->text, text) != 0)
		s->text = NULL;
	s->kinds |= SPAN_TEXT;
}

void
span_add(struct span *s, const struct value *v)
{
	switch (v->kind) {
	case VALUE_NONE:
		s->kinds |= SPAN_NONE;
		break;
	case VALUE_NULL:
		s->kinds |= SPAN_NULL;
		break;
	case VALUE_BOOL:
		s->kinds |= v->integer != 0 ? SPAN_TRUE : SPAN_FALSE;
		break;
	case VALUE_INT:
	case VALUE_REAL:
		span_add_numbers(s, v->real, v->real);
		break;
	case VALUE_TEXT:
	case VALUE_TREE:
		expression_eval_add_text(s, v->text);
		break;
	}
}

/* Null is no truth either: left out. */
static unsigned
truth_of(const struct span *s)
{
	unsigned kinds = s->kinds & (TRUTHS | SPAN_NONE);

	return (s->kinds & SPAN_NULL) != 0 ? kinds | SPAN_NONE : kinds;
}

/*
 * Of two sets of answers: strong decides (false of "and", true of "or"), the
 * other two only when neither is strong.
 */
static unsigned
combine(unsigned a, unsigned b, unsigned strong)
{
	unsigned weak = TRUTHS & ~strong, out = (a | b) & strong;

	if ((a & weak) != 0 && (b & (weak | SPAN_NONE)) != 0)
		out |= weak;
	if ((b & weak) != 0 && (a & (weak | SPAN_NONE)) != 0)
		out |= weak;
	return (a & b & SPAN_NONE) != 0 ? out | SPAN_NONE : out;
}

/* The same when what is neither spoils the result unless one is strong. */
static unsigned
combine_strict(unsigned a, unsigned b, unsigned strong)
{
	unsigned weak = TRUTHS & ~strong, out = (a | b) & strong;
	unsigned other = weak | SPAN_NONE;

	if ((a & b & weak) != 0)
		out |= weak;
	if (((a & SPAN_NONE) != 0 && (b & other) != 0) ||
	    ((b & SPAN_NONE) != 0 && (a & other) != 0))
		out |= SPAN_NONE;
	return out;
}

unsigned
span_and(unsigned a, unsigned b)
{
	return combine_strict(a, b, SPAN_FALSE);
}

unsigned
span_or(unsigned a, unsigned b)
{
	return combine_strict(a, b, SPAN_TRUE);
}

static unsigned
negate(unsigned a)
{
	return (a & SPAN_NONE) | ((a & SPAN_TRUE) != 0 ? SPAN_FALSE : 0) |
	       ((a & SPAN_FALSE) != 0 ? SPAN_TRUE : 0);
}

/* Whether the values of one kind may be equal, may differ. */
static unsigned
equal_same(const struct span *a, const struct span *b, unsigned kind)
{
	if (kind == SPAN_NUMBER)
		return (a->low <= b->high && b->low <= a->high ? SPAN_TRUE
							       : 0) |
		       (a->low == a->high && b->low == b->high &&
				   a->low == b->low
			       ? 0
			       : SPAN_FALSE);
	if (kind == SPAN_NAN)
		return SPAN_FALSE;
	if (kind == SPAN_TEXT) {
		if (a->text == NULL || b->text == NULL)
			return TRUTHS;
		return strcmp(a->text, b->text) == 0 ? SPAN_TRUE : SPAN_FALSE;
	}
	return SPAN_TRUE;
}

static unsigned
equal(const struct span *a, const struct span *b)
{
	unsigned out = (a->kinds | b->kinds) & SPAN_NONE, x, y;

	for (x = SPAN_NULL; x <= SPAN_TEXT; x *= 2)
		for (y = SPAN_NULL; y <= SPAN_TEXT; y *= 2)
			if ((a->kinds & x) != 0 && (b->kinds & y) != 0)
				out |=
				    x == y ? equal_same(a, b, x) : SPAN_FALSE;
	return out;
}

/* Whether one may be no number where the other is not left out, either. */
static bool
any_nan(const struct span *a, const struct span *b)
{
	return ((a->kinds & SPAN_NAN) != 0 && (b->kinds & FIGURES) != 0) ||
	       ((b->kinds & SPAN_NAN) != 0 && (a->kinds & FIGURES) != 0);
}

static unsigned
less(const struct span *a, const struct span *b, bool or_equal)
{
	unsigned both = a->kinds | b->kinds, out = 0;

	if ((both & (SPAN_NONE | SPAN_NULL)) != 0)
		out |= SPAN_NONE;
	if (any_nan(a, b))
		out |= SPAN_FALSE;
	if ((a->kinds & b->kinds & SPAN_NUMBER) == 0)
		return out;
	if (or_equal ? a->low <= b->high : a->low < b->high)
		out |= SPAN_TRUE;
	if (or_equal ? a->high > b->low : a->high >= b->low)
		out |= SPAN_FALSE;
	return out;
}

static bool
is_one(const struct span *s)
{
	return s->low == s->high;
}

/* One number, or none. */
static void
add_exact(struct span *out, double x)
{
	if (isnan(x))
		out->kinds |= SPAN_NAN;
	else
		span_add_numbers(out, x, x);
}

/* The result for one number on each side: all n are the same. */
static void
add_one(struct span *out, const double *x, size_t n)
{
	(void)n;
	add_exact(out, x[0]);
}

/* The interval of some results; one that does not exist makes it unlimited. */
static void
hull(struct span *out, const double *x, size_t n)
{
	double low = x[0], high = x[0];
	size_t i;

	for (i = 0; i < n; i++) {
		if (isnan(x[i])) {
			out->kinds |= SPAN_NAN;
			low = -INFINITY;
			high = INFINITY;
			break;
		}
		low = fmin(low, x[i]);
		high = fmax(high, x[i]);
	}
	span_add_numbers(out, low, high);
}

/* As in Python: the sign of the divisor. */
static double
modulo(double a, double b)
{
	double rest = fmod(a, b);

	return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

static void
add_modulo(struct span *out, const struct span *a, const struct span *b)
{
	double reach = fmax(fabs(b->low), fabs(b->high));

	if (is_one(a) && is_one(b)) {
		add_exact(out, modulo(a->low, b->low));
		return;
	}
	if (b->low <= 0 && b->high >= 0)
		out->kinds |= SPAN_NAN;
	if (is_one(b) && a->high - a->low < b->low &&
	    modulo(a->low, b->low) <= modulo(a->high, b->low))
		span_add_numbers(
		    out, modulo(a->low, b->low), modulo(a->high, b->low));
	else
		span_add_numbers(
		    out, b->low > 0 ? 0 : -reach, b->high < 0 ? 0 : reach);
}

static void
add_power(struct span *out, const struct span *a, const struct span *b)
{
	double x[4] = { pow(a->low, b->low), pow(a->low, b->high),
		pow(a->high, b->low), pow(a->high, b->high) };

	if (is_one(a) && is_one(b)) {
		add_exact(out, x[0]);
		return;
	}
	/* Monotone in both where the base is above 0. */
	if (a->low > 0) {
		hull(out, x, 4);
		return;
	}
	if (is_one(b) && b->low >= 0 && b->low == floor(b->low)) {
		hull(out, x, 4);
		if (a->high >= 0)
			span_add_numbers(out, pow(0, b->low), pow(0, b->low));
		return;
	}
	out->kinds |= SPAN_NAN;
	span_add_numbers(out, -INFINITY, INFINITY);
}

static void
add_quotient(struct span *out, const struct span *a, const struct span *b)
{
	double x[4] = { a->low / b->low, a->low / b->high, a->high / b->low,
		a->high / b->high };

	if (is_one(a) && is_one(b) && b->low != 0) {
		add_exact(out, x[0]);
		return;
	}
	if (b->low > 0 || b->high < 0) {
		hull(out, x, 4);
		return;
	}
	out->kinds |= SPAN_NAN;
	if (!is_one(b))
		span_add_numbers(out, -INFINITY, INFINITY);
}

static void
add_arithmetic(struct span *out, enum expression_op op, const struct span *a,
    const struct span *b)
{
	double x[4] = { a->low * b->low, a->low * b->high, a->high * b->low,
		a->high * b->high };
	double sum[2] = { a->low + b->low, a->high + b->high };
	double rest[2] = { a->low - b->high, a->high - b->low };
	/* Infinite numbers have sums and products that do not exist. */
	void (*add)(struct span *, const double *, size_t) =
	    is_one(a) && is_one(b) ? add_one : hull;

	if (op == EXPRESSION_ADD)
		add(out, sum, 2);
	else if (op == EXPRESSION_SUBTRACT)
		add(out, rest, 2);
	else if (op == EXPRESSION_MULTIPLY)
		add(out, x, 4);
	else if (op == EXPRESSION_DIVIDE)
		add_quotient(out, a, b);
	else if (op == EXPRESSION_MODULO)
		add_modulo(out, a, b);
	else if (op == EXPRESSION_POWER)
		add_power(out, a, b);
	else if (op == EXPRESSION_MIN)
		span_add_numbers(
		    out, fmin(a->low, b->low), fmin(a->high, b->high));
	else
		span_add_numbers(
		    out, fmax(a->low, b->low), fmax(a->high, b->high));
}

/* A function that rises, of the numbers from least on; none below. */
static void
add_rising(
    struct span *out, const struct span *a, double (*f)(double), double least)
{
	if (a->low < least)
		out->kinds |= SPAN_NAN;
	if (a->high >= least)
		span_add_numbers(out, f(fmax(a->low, least)), f(a->high));
}

static void
add_function(struct span *out, enum expression_op op, const struct span *a)
{
	double low = fabs(a->low), high = fabs(a->high);

	if (op == EXPRESSION_NEGATE)
		span_add_numbers(out, -a->high, -a->low);
	else if (op == EXPRESSION_ABS)
		span_add_numbers(out,
		    a->low <= 0 && a->high >= 0 ? 0 : fmin(low, high),
		    fmax(low, high));
	else if (op == EXPRESSION_FLOOR)
		add_rising(out, a, floor, -INFINITY);
	else if (op == EXPRESSION_CEIL)
		add_rising(out, a, ceil, -INFINITY);
	else if (op == EXPRESSION_ROUND)
		add_rising(out, a, round, -INFINITY);
	else if (op == EXPRESSION_EXP)
		add_rising(out, a, exp, -INFINITY);
	else if (op == EXPRESSION_SQRT)
		add_rising(out, a, sqrt, 0);
	else if (op == EXPRESSION_LOG2)
		add_rising(out, a, log2, 0);
	else if (op == EXPRESSION_LOG10)
		add_rising(out, a, log10, 0);
	else
		add_rising(out, a, log, 0);
}

static struct span
number_apply(enum expression_op op, const struct span *a, const struct span *b)
{
	bool two = op < EXPRESSION_NEGATE || op == EXPRESSION_MIN ||
		   op == EXPRESSION_MAX;
	unsigned both = two ? a->kinds | b->kinds : a->kinds;
	struct span out = { 0 };

	if ((both & (SPAN_NONE | SPAN_NULL)) != 0)
		out.kinds |= SPAN_NONE;
	if (two ? any_nan(a, b) : (both & SPAN_NAN) != 0)
		out.kinds |= SPAN_NAN;
	if ((a->kinds & SPAN_NUMBER) == 0 ||
	    (two && (b->kinds & SPAN_NUMBER) == 0))
		return out;
	if (two)
		add_arithmetic(&out, op, a, b);
	else
		add_function(&out, op, a);
	return out;
}

struct span
expression_apply(
    enum expression_op op, const struct span *left, const struct span *right)
{
	struct span out = { 0 };

	if (op == EXPRESSION_OR)
		out.kinds = combine(truth_of(left), truth_of(right), SPAN_TRUE);
	else if (op == EXPRESSION_AND)
		out.kinds =
		    combine(truth_of(left), truth_of(right), SPAN_FALSE);
	else if (op == EXPRESSION_NOT)
		out.kinds = negate(truth_of(left));
	else if (op == EXPRESSION_EQUAL)
		out.kinds = equal(left, right);
	else if (op == EXPRESSION_UNEQUAL)
		out.kinds = negate(equal(left, right));
	else if (op == EXPRESSION_LESS || op == EXPRESSION_LESS_EQUAL)
		out.kinds = less(left, right, op == EXPRESSION_LESS_EQUAL);
	else
		out = number_apply(op, left, right);
	return out;
}

/* "and" and "or" of expression_test_strict, the others as always. */
static struct span
apply_strict(
    enum expression_op op, const struct span *left, const struct span *right)
{
	struct span out = { 0 };

	if (op == EXPRESSION_OR)
		out.kinds = span_or(truth_of(left), truth_of(right));
	else if (op == EXPRESSION_AND)
		out.kinds = span_and(truth_of(left), truth_of(right));
	else
		out = expression_apply(op, left, right);
	return out;
}

/* The last node's set of values. */
static struct span
value_of(const struct expression *x, const struct span *params,
    struct span (*apply)(
	enum expression_op, const struct span *, const struct span *))
{
	struct span few[64], *of = few, out;
	const struct expression_node *node;
	size_t i;

	if (x->n > sizeof few / sizeof few[0])
		of = xcalloc(x->n, sizeof *of);
	for (i = 0; i < x->n; i++) {
		node = &x->nodes[i];
		if (node->op == EXPRESSION_CONSTANT)
			of[i] = node->constant;
		else if (node->op == EXPRESSION_PARAM)
			of[i] = params[node->param];
		else
			of[i] =
			    apply(node->op, &of[node->left], &of[node->right]);
	}
	out = of[x->n - 1];
	if (of != few)
		free(of);
	return out;
}

unsigned
expression_test(const struct expression *x, const struct span *params)
{
	struct span out = value_of(x, params, expression_apply);

	return truth_of(&out);
}

struct span
expression_number(const struct expression *x, const struct span *params)
{
	return value_of(x, params, expression_apply);
}

unsigned
expression_test_strict(const struct expression *x, const struct span *params)
{
	struct span out = value_of(x, params, apply_strict);

	return truth_of(&out);
}
