/*
 * A small language of conditions on parameters:
 *	layers * width <= 4096 and (optimizer != "sgd" or momentum < 0.9)
 *
 * Numbers, texts in quotes, true, false, null and names of parameters; + - * /
 * % ** and functions; = != < <= > >= and in, chained as in a < b < c; not, and,
 * or.  It is evaluated over sets of values, so that one answer holds for a
 * whole part of the space; a setting is a set of one.
 *
 * A comparison with a parameter that is inactive, and an order or a sum with
 * null, is left out: it makes neither "and" false nor "or" true.  A number that
 * does not exist (1 / 0, sqrt(-1)) is equal to none, and no comparison but !=
 * holds for it.
 */

#ifndef HPOTUNE_EXPRESSION_H
#define HPOTUNE_EXPRESSION_H

#include <stdbool.h>
#include <stddef.h>

struct err;
struct expression;
struct space;
struct value;

enum {
	EXPRESSION_LENGTH = 4096, /* bytes of one */
	EXPRESSION_NODES = 500, /* values and operators */
	EXPRESSION_DEPTH = 40 /* of parentheses */
};

/* What a value may be. */
enum {
	SPAN_NONE = 1, /* inactive, or the result of a comparison left out */
	SPAN_NULL = 2,
	SPAN_FALSE = 4,
	SPAN_TRUE = 8,
	SPAN_NUMBER = 16, /* from low to high */
	SPAN_NAN = 32, /* a number that does not exist */
	SPAN_TEXT = 64
};

/* A set of values; start with { 0 }, the empty one. */
struct span {
	unsigned kinds;
	double low, high;
	const char *text; /* the only text; NULL = several */
};

/* Add a value of a parameter; its text is borrowed. */
void span_add(struct span *, const struct value *);
/* Add the numbers from low to high. */
void span_add_numbers(struct span *, double low, double high);
/* Sets of truths and SPAN_NONE as expression_test_strict joins them. */
unsigned span_and(unsigned, unsigned);
unsigned span_or(unsigned, unsigned);

/*
 * Read an expression that is a condition.  all: the set of values of each
 * parameter of the space, to find operations that no value fits.  ERR_USAGE:
 * what is wrong, as "no such parameter 'widht': did you mean width?".
 */
int expression_parse(struct expression **, const char *text,
    const struct space *, const struct span *all, struct err *);
/* The same of one that is a number. */
int expression_parse_number(struct expression **, const char *text,
    const struct space *, const struct span *all, struct err *);
void expression_free(struct expression *);
/* Whether an expression names parameter i. */
bool expression_names(const struct expression *, size_t i);
/*
 * SPAN_TRUE, SPAN_FALSE, SPAN_NONE or several of them, for the values of the
 * parameters of which each is in its set.
 */
unsigned expression_test(const struct expression *, const struct span *params);
/*
 * The same where a comparison that is left out does not hold, and its negation
 * neither: "and" and "or" of SPAN_NONE are those of Kleene's logic with an
 * unknown truth (Introduction to Metamathematics, 1952, section 64).
 */
unsigned
expression_test_strict(const struct expression *, const struct span *params);
/*
 * The values of a number: SPAN_NUMBER from low to high, and SPAN_NONE, SPAN_NULL
 * or SPAN_NAN where it may be none.
 */
struct span
expression_number(const struct expression *, const struct span *params);
/*
 * How far one setting is from satisfying it, in units of the sides of its
 * comparisons; 0 unless expression_test says SPAN_FALSE.  params: a set of one
 * value for each parameter.
 */
double
expression_distance(const struct expression *, const struct span *params);

#endif /* HPOTUNE_EXPRESSION_H */
