/* Conditions of parameters: whether they hold, and in words. */

#include <stdlib.h>

#include "src/base/mem.h"
#include "src/model/param.h"
#include "src/model/when-internal.h"
#include "src/model/where-internal.h"

enum { SPANS_FEW = 32 /* on the stack */ };

void
when_free(struct when *w)
{
	size_t i, k;

	if (w == NULL)
		return;
	for (i = 0; i < w->n; i++) {
		for (k = 0; k < w->any[i].n; k++)
			free(w->any[i].tests[k].values);
		free(w->any[i].tests);
	}
	free(w->any);
	expression_free(w->expression);
	free(w->text);
	free(w->parents);
	free(w);
}

const struct when_test *
when_only_test(const struct when *w)
{
	return w->n == 1 && w->any[0].n == 1 ? &w->any[0].tests[0] : NULL;
}

static bool
test_holds(const struct when_test *t, const struct value *values)
{
	size_t k;

	for (k = 0; k < t->n; k++)
		if (param_value_equal(&t->values[k], &values[t->param]))
			return true;
	return false;
}

static bool
any_holds(const struct when *w, const struct value *values)
{
	size_t i, k;

	for (i = 0; i < w->n; i++) {
		for (k = 0; k < w->any[i].n; k++)
			if (!test_holds(&w->any[i].tests[k], values))
				break;
		if (k == w->any[i].n)
			return true;
	}
	return false;
}

/* One span for each parameter up to the last parent; few, or allocated. */
static struct span *
when_spans_new(const struct when *w, struct span *few)
{
	size_t n = w->n_parents > 0 ? w->parents[w->n_parents - 1] + 1 : 0;

	return n <= SPANS_FEW ? few : xcalloc(n, sizeof *few);
}

static bool
expression_holds(const struct when *w, const struct value *values)
{
	struct span few[SPANS_FEW] = { { 0 } }, *spans = when_spans_new(w, few);
	unsigned truth;
	size_t i, at;

	for (i = 0; i < w->n_parents; i++) {
		at = w->parents[i];
		span_add(&spans[at], &values[at]);
	}
	truth = expression_test_strict(w->expression, spans);
	if (spans != few)
		free(spans);
	return truth == SPAN_TRUE;
}

bool
when_holds(const struct when *w, const struct value *values)
{
	return w->expression != NULL ? expression_holds(w, values)
				     : any_holds(w, values);
}

static unsigned
all_truth(const struct when_all *all, when_test_fn *test, const void *arg)
{
	unsigned truth = SPAN_TRUE;
	size_t k;

	for (k = 0; k < all->n; k++)
		truth = span_and(truth, test(&all->tests[k], arg));
	return truth;
}

unsigned
when_truth(const struct when *w, when_test_fn *test, const void *arg,
    const struct span *spans)
{
	unsigned truth = SPAN_FALSE;
	size_t i;

	if (w->expression != NULL)
		return expression_test_strict(w->expression, spans);
	for (i = 0; i < w->n; i++)
		truth = span_or(truth, all_truth(&w->any[i], test, arg));
	return truth;
}

/*
 * A parent without a value is open; that it may be inactive makes nothing true
 * that no value of it does.
 */
static unsigned
test_open(const struct when_test *t, const void *arg)
{
	const struct value *values = arg;

	if (values[t->param].kind == VALUE_NONE)
		return SPAN_TRUE | SPAN_FALSE;
	return test_holds(t, values) ? SPAN_TRUE : SPAN_FALSE;
}

bool
when_may_hold(
    const struct when *w, const struct space *space, const struct value *values)
{
	struct span few[SPANS_FEW] = { { 0 } }, *spans = when_spans_new(w, few);
	struct where_range range;
	unsigned truth;
	size_t i, at;

	for (i = 0; i < w->n_parents; i++) {
		at = w->parents[i];
		where_range_of(&range, &space->params[at], &values[at]);
		where_range_span(&spans[at], &space->params[at], &range);
	}
	truth = when_truth(w, test_open, values, spans);
	if (spans != few)
		free(spans);
	return (truth & SPAN_TRUE) != 0;
}

static void
all_put(struct buf *out, const struct when_all *all, const struct space *space)
{
	const struct when_test *t;
	size_t k, i;

	for (k = 0; k < all->n; k++) {
		t = &all->tests[k];
		buf_printf(out, "%s%s is ", k > 0 ? ", and " : "",
		    space->params[t->param].name);
		for (i = 0; i < t->n; i++) {
			buf_puts(out, i > 0 ? " or " : "");
			param_value_put(out, &t->values[i]);
		}
	}
}

void
when_put(struct buf *out, const struct when *w, const struct space *space)
{
	size_t i;

	if (w->expression != NULL)
		buf_puts(out, w->text);
	for (i = 0; i < w->n; i++) {
		buf_puts(out, i > 0 ? "; or " : "");
		all_put(out, &w->any[i], space);
	}
}
