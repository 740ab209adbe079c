/*
 * How far a setting is from satisfying a condition, for a search that comes
 * closer: the difference of the sides of a comparison that does not hold, the
 * sum of the parts of "and", the smallest part of "or".
 */

#include <math.h>
#include <stdlib.h>

#include "src/base/mem.h"
#include "src/model/expression-internal.h"

/* How far a node is from being true, and from being false. */
struct distance {
	double to_true, to_false;
	bool out; /* left out: it is neither, and breaks nothing */
};

/* Where nothing measures it: a text, or a number that does not exist. */
static const double far_off = 1;

static struct distance
of_kinds(unsigned kinds)
{
	bool out = (kinds & (SPAN_NONE | SPAN_NULL)) != 0;

	return (struct distance){
		.to_true = out || (kinds & SPAN_TRUE) != 0 ? 0 : far_off,
		.to_false = out || (kinds & SPAN_FALSE) != 0 ? 0 : far_off,
		.out = out,
	};
}

static struct distance
negated(struct distance d)
{
	return (struct distance){ d.to_false, d.to_true, d.out };
}

/*
 * The distance of a comparison of two numbers; strict: equal ones are not
 * enough.
 */
static double
distance_gap(double left, double right, bool strict)
{
	double x = left - right;

	return x > 0 || (strict && x == 0) ? fmax(x, 1e-9) : 0;
}

static struct distance
of_numbers(enum expression_op op, double left, double right)
{
	struct distance d = { 0 };

	if (op == EXPRESSION_LESS || op == EXPRESSION_LESS_EQUAL) {
		d.to_true = distance_gap(left, right, op == EXPRESSION_LESS);
		d.to_false =
		    distance_gap(right, left, op == EXPRESSION_LESS_EQUAL);
	} else {
		d.to_true = fabs(left - right);
		d.to_false = left == right ? far_off : 0;
	}
	return op == EXPRESSION_UNEQUAL ? negated(d) : d;
}

static bool
is_comparison(enum expression_op op)
{
	return op == EXPRESSION_EQUAL || op == EXPRESSION_UNEQUAL ||
	       op == EXPRESSION_LESS || op == EXPRESSION_LESS_EQUAL;
}

static struct distance
of_node(const struct expression_node *node, const struct span *values,
    const struct distance *of, unsigned kinds)
{
	const struct span *left = &values[node->left];
	const struct span *right = &values[node->right];
	struct distance a = of[node->left], b = of[node->right];

	if (node->op == EXPRESSION_NOT)
		return negated(a);
	if (node->op == EXPRESSION_AND || node->op == EXPRESSION_OR) {
		if (a.out || b.out)
			return a.out ? b : a;
		if (node->op == EXPRESSION_AND)
			return (struct distance){ a.to_true + b.to_true,
				fmin(a.to_false, b.to_false), false };
		return (struct distance){ fmin(a.to_true, b.to_true),
			a.to_false + b.to_false, false };
	}
	if (is_comparison(node->op) && left->kinds == SPAN_NUMBER &&
	    right->kinds == SPAN_NUMBER)
		return of_numbers(node->op, left->low, right->low);
	return of_kinds(kinds);
}

double
expression_distance(const struct expression *x, const struct span *params)
{
	struct span few[64], *values = few;
	struct distance some[64], *of = some;
	const struct expression_node *node;
	double distance;
	size_t i;

	if (x->n > sizeof few / sizeof *few) {
		values = xcalloc(x->n, sizeof *values);
		of = xcalloc(x->n, sizeof *of);
	}
	for (i = 0; i < x->n; i++) {
		node = &x->nodes[i];
		if (node->op == EXPRESSION_CONSTANT)
			values[i] = node->constant;
		else if (node->op == EXPRESSION_PARAM)
			values[i] = params[node->param];
		else
			values[i] = expression_apply(node->op,
			    &values[node->left], &values[node->right]);
		of[i] = node->op == EXPRESSION_CONSTANT ||
				node->op == EXPRESSION_PARAM
			    ? of_kinds(values[i].kinds)
			    : of_node(node, values, of, values[i].kinds);
	}
	distance = of[x->n - 1].to_true;
	if (values != few) {
		free(values);
		free(of);
	}
	return isfinite(distance) ? distance : 1e300;
}
