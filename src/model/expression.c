/*
 * Reads expressions: words, then a descent over the grammar.  Each operation is
 * tried on all values at once, so that one that goes with none is an error.
 */

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/base/text.h"
#include "src/base/words.h"
#include "src/model/expression-internal.h"
#include "src/model/space.h"

enum { SHOWN = 60, /* bytes of a word in an error */ NONE_YET = -1 };

struct reader {
	struct expression *out;
	const struct space *space;
	const struct span *all;
	struct span *known; /* per node: what it may be */
	size_t known_cap;
	struct words words;
	int depth;
	struct err *e;
};

static int read_or(struct reader *);

static const char *
kind_text(unsigned kinds)
{
	if ((kinds & SPAN_TEXT) != 0)
		return "a text";
	if ((kinds & (SPAN_TRUE | SPAN_FALSE)) != 0)
		return "true or false";
	return (kinds & (SPAN_NUMBER | SPAN_NAN)) != 0 ? "a number" : "null";
}

static int
node_add(struct reader *r, const struct expression_node *node,
    const struct span *known)
{
	struct expression *x = r->out;

	if (x->n >= EXPRESSION_NODES)
		return err_set(r->e, ERR_USAGE,
		    "more than %d values and operators", EXPRESSION_NODES);
	XGROW(r->known, x->n, r->known_cap);
	r->known[x->n] = *known;
	XGROW(x->nodes, x->n, x->cap);
	x->nodes[x->n] = *node;
	return (int)x->n++;
}

static int
constant_add(struct reader *r, const struct span *value)
{
	struct expression_node node = { .op = EXPRESSION_CONSTANT,
		.constant = *value };

	return node_add(r, &node, value);
}

static int
param_add(struct reader *r, size_t param)
{
	struct expression_node node = { .op = EXPRESSION_PARAM,
		.param = param };

	r->out->names[param] = true;
	return node_add(r, &node, &r->all[param]);
}

static int
operation_add(struct reader *r, enum expression_op op, int left, int right)
{
	struct expression_node node = {
		.op = op, .left = (size_t)left, .right = (size_t)right
	};
	struct span known =
	    expression_apply(op, &r->known[left], &r->known[right]);

	return node_add(r, &node, &known);
}

/* Whether an operand is of these kinds and of no others; sign: for the error. */
static int
expression_operand_check(
    struct reader *r, const char *sign, int node, unsigned wanted)
{
	unsigned kinds = r->known[node].kinds;
	unsigned others = kinds & ~(wanted | SPAN_NONE | SPAN_NULL);

	if (others == 0 && (kinds & (wanted | SPAN_NONE)) != 0)
		return 0;
	return err_set(r->e, ERR_USAGE, "%s goes with %s, not with %s", sign,
	    (wanted & SPAN_NUMBER) != 0 ? "numbers" : "conditions",
	    kind_text(others != 0 ? others : kinds));
}

static int
numbers_add(struct reader *r, const char *sign, enum expression_op op, int left,
    int right)
{
	unsigned wanted = SPAN_NUMBER | SPAN_NAN;

	if (left < 0 || right < 0 ||
	    expression_operand_check(r, sign, left, wanted) != 0 ||
	    expression_operand_check(r, sign, right, wanted) != 0)
		return -1;
	return operation_add(r, op, left, right);
}

static int
truths_add(struct reader *r, const char *sign, enum expression_op op, int left,
    int right)
{
	unsigned wanted = SPAN_TRUE | SPAN_FALSE;

	if (left < 0 || right < 0 ||
	    expression_operand_check(r, sign, left, wanted) != 0 ||
	    expression_operand_check(r, sign, right, wanted) != 0)
		return -1;
	return operation_add(r, op, left, right);
}

/* Kinds that can be equal, each as one bit. */
static unsigned
comparable(unsigned kinds)
{
	unsigned out = kinds & (SPAN_NULL | SPAN_TEXT);

	if ((kinds & (SPAN_NUMBER | SPAN_NAN)) != 0)
		out |= SPAN_NUMBER;
	return (kinds & (SPAN_TRUE | SPAN_FALSE)) != 0 ? out | SPAN_TRUE : out;
}

static int
equal_add(struct reader *r, const char *sign, enum expression_op op, int left,
    int right)
{
	unsigned a, b;

	if (left < 0 || right < 0)
		return -1;
	a = r->known[left].kinds;
	b = r->known[right].kinds;
	if ((comparable(a) & comparable(b)) == 0)
		return err_set(r->e, ERR_USAGE,
		    "%s compares %s with %s, which are never equal", sign,
		    kind_text(a), kind_text(b));
	return operation_add(r, op, left, right);
}

/* What is written here for a sign of other languages, or NULL. */
static const char *
sign_here(const char *word)
{
	static const struct {
		char sign;
		const char *here;
	} signs[] = { { '&', "the word and" }, { '|', "the word or" },
		{ '!', "the word not" }, { '^', "** for a power" } };
	size_t i;

	for (i = 0; i < sizeof signs / sizeof *signs; i++)
		if (*word == signs[i].sign)
			return signs[i].here;
	return NULL;
}

static int
expression_expected(struct reader *r, const char *what)
{
	const char *here;

	if (r->words.kind == WORD_END)
		return err_set(
		    r->e, ERR_USAGE, "it ends where %s is expected", what);
	if (r->words.kind == WORD_OPEN)
		return err_set(
		    r->e, ERR_USAGE, "a text without its second quote");
	here = sign_here(r->words.word);
	return err_set(r->e, ERR_USAGE, "'%.*s': expected %s",
	    (int)(r->words.len > SHOWN ? SHOWN : r->words.len), r->words.word,
	    here != NULL ? here : what);
}

static bool
expression_word_take(struct reader *r, const char *word)
{
	return words_take(&r->words, word);
}

/*
 * The parameter that the word begins with, of several the longest: names may
 * contain '-'.  Continue after it.
 */
static int
param_take(struct reader *r)
{
	size_t i, n, best = 0;
	const char *name;
	int found = NONE_YET;

	for (i = 0; i < r->space->n; i++) {
		name = r->space->params[i].name;
		n = strlen(name);
		if (n < r->words.len || n <= best ||
		    strncmp(r->words.word, name, n) != 0 ||
		    isalnum((unsigned char)r->words.word[n]) ||
		    (r->words.word[n] != '\0' &&
			strchr("_.", r->words.word[n]) != NULL))
			continue;
		best = n;
		found = (int)i;
	}
	if (found < 0)
		return NONE_YET;
	r->words.at = r->words.word + best;
	words_next(&r->words);
	return found;
}

/* Whether a choice has this text: its quotes are missing. */
static bool
is_choice(const struct space *space, const char *text)
{
	const struct param *p;
	size_t i, k;

	for (i = 0; i < space->n; i++) {
		p = &space->params[i];
		for (k = 0; k < p->n_values; k++)
			if (p->values[k].kind == VALUE_TEXT &&
			    strcmp(p->values[k].text, text) == 0)
				return true;
	}
	return false;
}

static const struct function {
	const char *name;
	enum expression_op op;
} functions[] = { { "min", EXPRESSION_MIN }, { "max", EXPRESSION_MAX },
	{ "abs", EXPRESSION_ABS }, { "floor", EXPRESSION_FLOOR },
	{ "ceil", EXPRESSION_CEIL }, { "round", EXPRESSION_ROUND },
	{ "sqrt", EXPRESSION_SQRT }, { "exp", EXPRESSION_EXP },
	{ "log", EXPRESSION_LOG }, { "log2", EXPRESSION_LOG2 },
	{ "log10", EXPRESSION_LOG10 } };
enum { FUNCTIONS = sizeof functions / sizeof *functions };

/* Whether ( follows the word. */
static bool
is_called(const struct reader *r)
{
	return r->words.at[strspn(r->words.at, " \t\r\n")] == '(';
}

static int
function_unknown(struct reader *r)
{
	struct buf known = { 0 };
	size_t i;

	for (i = 0; i < FUNCTIONS; i++)
		buf_printf(
		    &known, "%s %s", i > 0 ? "," : "", functions[i].name);
	(void)err_set(r->e, ERR_USAGE, "no function '%.*s'; known:%s",
	    (int)(r->words.len > SHOWN ? SHOWN : r->words.len), r->words.word,
	    buf_str(&known));
	buf_free(&known);
	return -1;
}

static int
expression_name_unknown(struct reader *r)
{
	const char **names = xcalloc(r->space->n + 1, sizeof *names), *near;
	char *word = xstrndup(r->words.word, r->words.len);
	size_t i;

	for (i = 0; i < r->space->n; i++)
		names[i] = r->space->params[i].name;
	near = text_nearest(word, names);
	if (is_choice(r->space, word))
		(void)err_set(r->e, ERR_USAGE,
		    "no such parameter '%.60s': a text is written as '%.60s' "
		    "in quotes",
		    word, word);
	else
		(void)err_set(r->e, ERR_USAGE,
		    near != NULL ? "no such parameter '%.60s': did you mean "
				   "%s?"
				 : "no such parameter '%.60s'%s",
		    word, near != NULL ? near : "");
	free(names);
	free(word);
	return -1;
}

static int
expression_number_read(struct reader *r)
{
	struct span value = { 0 };
	char *end;
	double x = strtod(r->words.word, &end);

	if (!isfinite(x) || isalnum((unsigned char)*end) || *end == '_' ||
	    *end == '.')
		return expression_expected(r, "a number");
	span_add_numbers(&value, x, x);
	r->words.at = end;
	words_next(&r->words);
	return constant_add(r, &value);
}

static int
expression_text_read(struct reader *r)
{
	struct expression *x = r->out;
	struct span value = { .kinds = SPAN_TEXT };

	XGROW(x->texts, x->n_texts, x->texts_cap);
	value.text = x->texts[x->n_texts++] =
	    xstrndup(r->words.word, r->words.len);
	words_next(&r->words);
	return constant_add(r, &value);
}

/* The function that the word names when ( follows it, or NULL. */
static const struct function *
function_take(struct reader *r)
{
	size_t i;

	for (i = 0; is_called(r) && i < FUNCTIONS; i++)
		if (expression_word_take(r, functions[i].name)) {
			words_next(&r->words);
			return &functions[i];
		}
	return NULL;
}

static int
function_read(struct reader *r, const struct function *f)
{
	bool many = f->op == EXPRESSION_MIN || f->op == EXPRESSION_MAX;
	int node = read_or(r), other;

	if (node < 0)
		return -1;
	if (!many)
		node = numbers_add(r, f->name, f->op, node, node);
	while (node >= 0 && many && expression_word_take(r, ",")) {
		other = read_or(r);
		node = numbers_add(r, f->name, f->op, node, other);
	}
	if (node >= 0 && !expression_word_take(r, ")"))
		return expression_expected(r, many ? ", or )" : ")");
	return node;
}

static const char value_text[] = "a number, a text or a parameter";

static int
word_constant(struct reader *r)
{
	static const struct {
		const char *word;
		unsigned kind;
	} words[] = { { "true", SPAN_TRUE }, { "false", SPAN_FALSE },
		{ "null", SPAN_NULL } };
	struct span value = { 0 };
	size_t i;

	for (i = 0; i < sizeof words / sizeof *words; i++)
		if (expression_word_take(r, words[i].word)) {
			value.kinds = words[i].kind;
			return constant_add(r, &value);
		}
	if (words_is(&r->words, "and") || words_is(&r->words, "or") ||
	    words_is(&r->words, "in"))
		return expression_expected(r, value_text);
	return is_called(r) ? function_unknown(r) : expression_name_unknown(r);
}

static int
read_value(struct reader *r)
{
	const struct function *f;
	int param, node;

	if (expression_word_take(r, "(")) {
		node = read_or(r);
		if (node >= 0 && !expression_word_take(r, ")"))
			return expression_expected(r, "an operator or )");
		return node;
	}
	if (r->words.kind == WORD_TEXT)
		return expression_text_read(r);
	if (r->words.kind != WORD_NAME)
		return expression_expected(r, value_text);
	if (isdigit((unsigned char)*r->words.word) || *r->words.word == '.')
		return expression_number_read(r);
	f = function_take(r);
	if (f != NULL)
		return function_read(r, f);
	param = param_take(r);
	return param >= 0 ? param_add(r, (size_t)param) : word_constant(r);
}

static int
read_unary(struct reader *r)
{
	int node, power;

	if (++r->depth > EXPRESSION_DEPTH)
		return err_set(
		    r->e, ERR_USAGE, "more than %d levels", EXPRESSION_DEPTH);
	if (expression_word_take(r, "-")) {
		node = read_unary(r);
		node = numbers_add(r, "-", EXPRESSION_NEGATE, node, node);
	} else {
		node = read_value(r);
		if (node >= 0 && expression_word_take(r, "**")) {
			power = read_unary(r);
			node =
			    numbers_add(r, "**", EXPRESSION_POWER, node, power);
		}
	}
	r->depth--;
	return node;
}

struct infix {
	const char *sign;
	enum expression_op op;
};

/* Operators of one rank, from left to right; list ends with sign NULL. */
static int
read_infix(
    struct reader *r, const struct infix *list, int (*operand)(struct reader *))
{
	int node = operand(r);
	size_t i = 0;

	while (node >= 0 && list[i].sign != NULL)
		if (expression_word_take(r, list[i].sign)) {
			node = numbers_add(
			    r, list[i].sign, list[i].op, node, operand(r));
			i = 0;
		} else
			i++;
	return node;
}

static int
read_product(struct reader *r)
{
	static const struct infix list[] = { { "*", EXPRESSION_MULTIPLY },
		{ "/", EXPRESSION_DIVIDE }, { "%", EXPRESSION_MODULO },
		{ NULL, EXPRESSION_ADD } };

	return read_infix(r, list, read_unary);
}

static int
read_sum(struct reader *r)
{
	static const struct infix list[] = { { "+", EXPRESSION_ADD },
		{ "-", EXPRESSION_SUBTRACT }, { NULL, EXPRESSION_ADD } };

	return read_infix(r, list, read_product);
}

/* in (A, B): equal to one of them. */
static int
expression_read_list(struct reader *r, int node)
{
	int all = NONE_YET, one;

	if (!expression_word_take(r, "("))
		return expression_expected(r, "( after in");
	do {
		one = equal_add(r, "in", EXPRESSION_EQUAL, node, read_sum(r));
		if (one < 0)
			return -1;
		all = all == NONE_YET
			  ? one
			  : operation_add(r, EXPRESSION_OR, all, one);
	} while (all >= 0 && expression_word_take(r, ","));
	if (all >= 0 && !expression_word_take(r, ")"))
		return expression_expected(r, ", or )");
	return all;
}

/*
 * One comparison after its left side; *right is its right side.  -1: an error,
 * or with *right NONE_YET no comparison follows.
 */
static int
read_comparison(struct reader *r, int left, int *right)
{
	static const struct {
		const char *sign;
		enum expression_op op;
		bool swap;
	} signs[] = { { "=", EXPRESSION_EQUAL, false },
		{ "==", EXPRESSION_EQUAL, false },
		{ "!=", EXPRESSION_UNEQUAL, false },
		{ "<>", EXPRESSION_UNEQUAL, false },
		{ "<", EXPRESSION_LESS, false },
		{ "<=", EXPRESSION_LESS_EQUAL, false },
		{ ">", EXPRESSION_LESS, true },
		{ ">=", EXPRESSION_LESS_EQUAL, true } };
	size_t i = 0, n = sizeof signs / sizeof *signs;

	*right = NONE_YET;
	while (i < n && !expression_word_take(r, signs[i].sign))
		i++;
	if (i == n)
		return -1;
	*right = read_sum(r);
	if (*right < 0) {
		*right = 0;
		return -1;
	}
	if (signs[i].op == EXPRESSION_EQUAL ||
	    signs[i].op == EXPRESSION_UNEQUAL)
		return equal_add(r, signs[i].sign, signs[i].op, left, *right);
	return signs[i].swap
		   ? numbers_add(r, signs[i].sign, signs[i].op, *right, left)
		   : numbers_add(r, signs[i].sign, signs[i].op, left, *right);
}

/* A value, or a chain of comparisons. */
static int
read_test(struct reader *r)
{
	int left = read_sum(r), all = NONE_YET, one, right;
	bool not_in;

	if (left < 0)
		return -1;
	not_in = words_is(&r->words, "not");
	if (expression_word_take(r, "not") && !words_is(&r->words, "in"))
		return expression_expected(r, "in after not");
	if (expression_word_take(r, "in")) {
		one = expression_read_list(r, left);
		return one < 0 || !not_in
			   ? one
			   : truths_add(r, "not", EXPRESSION_NOT, one, one);
	}
	for (;;) {
		one = read_comparison(r, left, &right);
		if (one < 0)
			return right == NONE_YET && all != NONE_YET ? all
			       : right == NONE_YET		    ? left
								    : -1;
		all = all == NONE_YET
			  ? one
			  : operation_add(r, EXPRESSION_AND, all, one);
		if (all < 0)
			return -1;
		left = right;
	}
}

static int
read_not(struct reader *r)
{
	int node;

	if (++r->depth > EXPRESSION_DEPTH)
		return err_set(
		    r->e, ERR_USAGE, "more than %d levels", EXPRESSION_DEPTH);
	if (expression_word_take(r, "not")) {
		node = read_not(r);
		node = truths_add(r, "not", EXPRESSION_NOT, node, node);
	} else
		node = read_test(r);
	r->depth--;
	return node;
}

static int
read_and(struct reader *r)
{
	int node = read_not(r);

	while (node >= 0 && expression_word_take(r, "and"))
		node = truths_add(r, "and", EXPRESSION_AND, node, read_not(r));
	return node;
}

static int
read_or(struct reader *r)
{
	int node = read_and(r);

	while (node >= 0 && expression_word_take(r, "or"))
		node = truths_add(r, "or", EXPRESSION_OR, node, read_and(r));
	return node;
}

/* Whether the whole is what was wanted: a number, or a condition. */
static int
whole_check(struct reader *r, unsigned kinds, bool number)
{
	unsigned numbers = SPAN_NUMBER | SPAN_NAN,
		 truths = SPAN_TRUE | SPAN_FALSE;

	if (number && (kinds & (SPAN_TEXT | truths)) == 0 &&
	    (kinds & numbers) != 0)
		return 0;
	if (!number && (kinds & (SPAN_TEXT | numbers)) == 0 &&
	    (kinds & (truths | SPAN_NONE)) != 0)
		return 0;
	return err_set(r->e, ERR_USAGE, "expected %s, not %s",
	    number ? "a number, like 2 * a" : "a condition, like a <= b",
	    kind_text(kinds));
}

static int
read_whole(struct reader *r, bool number)
{
	enum expression_op same = number ? EXPRESSION_MAX : EXPRESSION_AND;
	int node;

	words_next(&r->words);
	node = read_or(r);
	if (node < 0)
		return -1;
	if (r->words.kind != WORD_END)
		return expression_expected(r, "an operator or the end");
	if (whole_check(r, r->known[node].kinds, number) != 0)
		return -1;
	/* The last node is the whole: a parameter of a chain may be later. */
	return (size_t)node + 1 == r->out->n
		   ? 0
		   : operation_add(r, same, node, node);
}

static int
expression_read(struct expression **out, const char *text,
    const struct space *space, const struct span *all, bool number,
    struct err *e)
{
	struct reader r = { .space = space,
		.all = all,
		.words = { .letters = "_.",
		    .signs = "<>=!+-*/%(),",
		    .at = text },
		.e = e };
	int rc;

	*out = NULL;
	if (strlen(text) > EXPRESSION_LENGTH)
		return err_set(
		    e, ERR_USAGE, "longer than %d bytes", EXPRESSION_LENGTH);
	r.out = xcalloc(1, sizeof *r.out);
	r.out->names = xcalloc(space->n + 1, sizeof *r.out->names);
	rc = read_whole(&r, number);
	free(r.known);
	if (rc < 0) {
		expression_free(r.out);
		return -1;
	}
	*out = r.out;
	return 0;
}

int
expression_parse(struct expression **out, const char *text,
    const struct space *space, const struct span *all, struct err *e)
{
	return expression_read(out, text, space, all, false, e);
}

int
expression_parse_number(struct expression **out, const char *text,
    const struct space *space, const struct span *all, struct err *e)
{
	return expression_read(out, text, space, all, true, e);
}

void
expression_free(struct expression *x)
{
	size_t i;

	if (x == NULL)
		return;
	for (i = 0; i < x->n_texts; i++)
		free(x->texts[i]);
	free(x->texts);
	free(x->nodes);
	free(x->names);
	free(x);
}

bool
expression_names(const struct expression *x, size_t i)
{
	return x->names[i];
}
