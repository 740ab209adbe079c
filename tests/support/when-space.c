/* Random conditions as text and as a tree of the same meaning. */

#include "tests/support/when-space.h"

#include <string.h>

#include "src/model/space.h"

enum { DEPTH = 3 };

static const char letters[] = "abc";

static bool
is_letter(int param)
{
	return param == 0 || param == 4;
}

static bool
is_number(int param)
{
	return !is_letter(param) && param != 1;
}

static int
node_add(struct when_space *s, int op, int left, int right, double number)
{
	s->nodes[s->n_nodes].op = op;
	s->nodes[s->n_nodes].left = left;
	s->nodes[s->n_nodes].right = right;
	s->nodes[s->n_nodes].number = number;
	return s->n_nodes++;
}

/* Value number k of a parameter as JSON; text: in single quotes. */
static void
value_put(struct buf *b, int param, int k, bool text)
{
	if (is_letter(param))
		buf_printf(b, text ? "'%c'" : "\"%c\"", letters[k]);
	else if (param == 1)
		buf_puts(b, k > 0 ? "true" : "false");
	else if (param == 3)
		buf_printf(b, "%g", k * 0.5);
	else
		buf_printf(b, "%d", k);
}

/* One of the parameters before i that a test of this kind may name. */
static int
parent(struct rng *r, int i, bool numbers, bool listed)
{
	int p, tries;

	for (tries = 0; tries < 20; tries++) {
		p = (int)rng_below(r, (uint64_t)i);
		if ((!numbers || is_number(p)) && (!listed || p < 5))
			return p;
	}
	return numbers ? -1 : 0;
}

/* "pN": [values], of a parameter that is not in used. */
static int
test_make(struct when_space *s, struct rng *r, int i, bool *used)
{
	int p = parent(r, i, false, true), node = -1, k, n = 0;
	int values = p == 1 ? 2 : 3;

	if (used[p])
		return -1;
	used[p] = true;
	buf_printf(&s->text, "\"p%d\":[", p);
	for (k = 0; k < values; k++) {
		if (rng_below(r, 2) == 0 && !(k == values - 1 && n == 0))
			continue;
		buf_puts(&s->text, n++ > 0 ? "," : "");
		value_put(&s->text, p, k, false);
		node = node < 0 ? node_add(s, WHEN_IS, p, 0, k)
				: node_add(s, WHEN_OR, node,
				      node_add(s, WHEN_IS, p, 0, k), 0);
	}
	buf_putc(&s->text, ']');
	return node;
}

static int
all_make(struct when_space *s, struct rng *r, int i)
{
	bool used[WHEN_PARAMS] = { false };
	int node, next, k, n = 1 + (int)rng_below(r, 3);

	buf_putc(&s->text, '{');
	node = test_make(s, r, i, used);
	for (k = 1; k < n; k++) {
		int p = parent(r, i, false, true);

		if (used[p] || i < 2)
			continue;
		buf_putc(&s->text, ',');
		do
			next = test_make(s, r, i, used);
		while (next < 0);
		node = node_add(s, WHEN_AND, node, next, 0);
		break;
	}
	buf_putc(&s->text, '}');
	return node;
}

static int
any_make(struct when_space *s, struct rng *r, int i)
{
	int node = -1, k, n = 1 + (int)rng_below(r, 3), one;

	buf_putc(&s->text, '[');
	for (k = 0; k < n; k++) {
		buf_puts(&s->text, k > 0 ? "," : "");
		one = all_make(s, r, i);
		node = node < 0 ? one : node_add(s, WHEN_OR, node, one, 0);
	}
	buf_putc(&s->text, ']');
	return node;
}

static int
comparison_make(struct when_space *s, struct rng *r, int i)
{
	int p = parent(r, i, false, false), q = parent(r, i, true, false);
	double number = (double)rng_below(r, 5) / 2;
	int k = (int)rng_below(r, 3), node;

	if (q >= 0 && rng_below(r, 4) == 0) {
		p = parent(r, i, true, false);
		buf_printf(&s->text, "p%d + p%d < %g", p, q, number);
		return node_add(s, WHEN_SUM, p, q, number);
	}
	if (is_number(p)) {
		buf_printf(&s->text, "p%d < %g", p, number);
		return node_add(s, WHEN_BELOW, p, 0, number);
	}
	if (p == 1 && k > 0) {
		buf_puts(&s->text, "p1");
		return node_add(s, WHEN_IS, 1, 0, 1);
	}
	if (rng_below(r, 2) == 0) {
		buf_printf(&s->text, "p%d = ", p);
		value_put(&s->text, p, k, true);
		return node_add(s, WHEN_IS, p, 0, k);
	}
	buf_printf(&s->text, "p%d != ", p);
	value_put(&s->text, p, k, true);
	node = node_add(s, WHEN_IS, p, 0, k);
	return node_add(s, WHEN_NOT, node, 0, 0);
}

static int
tree_make(struct when_space *s, struct rng *r, int i, int depth)
{
	int kind = depth > 0 ? (int)rng_below(r, 4) : 0, left, right;

	if (kind == 0)
		return comparison_make(s, r, i);
	if (kind == 1) {
		buf_puts(&s->text, "not (");
		left = tree_make(s, r, i, depth - 1);
		buf_putc(&s->text, ')');
		return node_add(s, WHEN_NOT, left, 0, 0);
	}
	buf_putc(&s->text, '(');
	left = tree_make(s, r, i, depth - 1);
	buf_puts(&s->text, kind == 2 ? ") and (" : ") or (");
	right = tree_make(s, r, i, depth - 1);
	buf_putc(&s->text, ')');
	return node_add(s, kind == 2 ? WHEN_AND : WHEN_OR, left, right, 0);
}

static void
condition_make(struct when_space *s, struct rng *r, int i)
{
	buf_puts(&s->text, ",\"when\":");
	switch (rng_below(r, 3)) {
	case 0:
		s->root[i] = all_make(s, r, i);
		break;
	case 1:
		s->root[i] = any_make(s, r, i);
		break;
	default:
		buf_putc(&s->text, '"');
		s->root[i] = tree_make(s, r, i, DEPTH - 1);
		buf_putc(&s->text, '"');
		break;
	}
}

void
when_space_make(struct when_space *s, struct rng *r, bool continuous)
{
	static const char *const types[WHEN_PARAMS] = {
		"\"choice\",\"values\":[\"a\",\"b\",\"c\"]",
		"\"choice\",\"values\":[false,true]",
		"\"int\",\"min\":0,\"max\":2",
		"\"float\",\"min\":0,\"max\":1,\"step\":0.5",
		"\"choice\",\"values\":[\"a\",\"b\",\"c\"]",
		"\"int\",\"min\":0,\"max\":2"
	};
	bool backwards = rng_below(r, 2) != 0;
	size_t i;
	int p;

	*s = (struct when_space){ .n = 2 + rng_below(r, WHEN_PARAMS - 1) };
	buf_putc(&s->text, '{');
	for (i = 0; i < s->n; i++) {
		p = (int)(backwards ? s->n - 1 - i : i);
		s->order[i] = p;
		buf_printf(&s->text, "%s\"p%d\":{\"type\":%s", i > 0 ? "," : "",
		    p,
		    continuous && p == 5 ? "\"float\",\"min\":0,\"max\":2"
					 : types[p]);
		s->root[p] = -1;
		if (p > 0 && rng_below(r, 4) > 0)
			condition_make(s, r, p);
		buf_putc(&s->text, '}');
	}
	buf_putc(&s->text, '}');
}

/* The number of a value; of an inactive parameter -1. */
static double
number_of(int param, const struct space *space, const struct value *values)
{
	char name[] = { 'p', (char)('0' + param), '\0' };
	const struct value *v = &values[space_find(space, name)];

	if (v->kind == VALUE_NONE)
		return -1;
	if (is_letter(param))
		return (double)(v->text[0] - 'a');
	return param == 1 ? (double)v->integer : v->real;
}

/* Whether the node, or its negation, holds. */
static bool
holds(const struct when_space *s, int at, bool as, const struct space *space,
    const struct value *values)
{
	const struct when_node *node = &s->nodes[at];
	double x, y;

	if (node->op == WHEN_NOT)
		return holds(s, node->left, !as, space, values);
	if (node->op == WHEN_AND || node->op == WHEN_OR)
		return (node->op == WHEN_AND) == as
			   ? holds(s, node->left, as, space, values) &&
				 holds(s, node->right, as, space, values)
			   : holds(s, node->left, as, space, values) ||
				 holds(s, node->right, as, space, values);
	x = number_of(node->left, space, values);
	y = node->op == WHEN_SUM ? number_of(node->right, space, values) : 0;
	if (x < 0 || y < 0)
		return false;
	if (node->op == WHEN_IS)
		return (x == (node->left == 3 ? 0.5 * node->number
					      : node->number)) == as;
	return (x + y < node->number) == as;
}

bool
when_space_active(const struct when_space *s, int i, const struct space *space,
    const struct value *values)
{
	return s->root[i] < 0 || holds(s, s->root[i], true, space, values);
}
