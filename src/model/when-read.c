/* Reads the condition "when" of a parameter. */

#include <stdlib.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/model/param.h"
#include "src/model/when.h"
#include "src/model/where-internal.h"

enum { ALTERNATIVES_MAX = 100 };

/* The parameter that a key names, or -1 with an error. */
static int
parent_read(
    const struct space *s, size_t i, const struct json *j, struct err *e)
{
	const char **names;
	struct buf hint = { 0 };
	int parent = space_find(s, json_key(j));
	size_t k;

	if (parent < 0) {
		names = xcalloc(s->n + 1, sizeof *names);
		for (k = 0; k < s->n; k++)
			names[k] = s->params[k].name;
		json_put_hint(&hint, json_key(j), names);
		json_err_key(j, e, "no such parameter%s", buf_str(&hint));
		buf_free(&hint);
		free(names);
		return -1;
	}
	if ((size_t)parent == i)
		return json_err_key(
		    j, e, "%s depends on itself", s->params[i].name);
	if (param_levels(&s->params[parent]) == 0)
		return json_err_key(j, e,
		    "%s %s: only an expression can compare it, like "
		    "\"%s < 0.5\"",
		    json_key(j),
		    s->params[parent].step > 0 ? "has a step on a log scale"
					       : "is a float without step",
		    json_key(j));
	return parent;
}

static int
test_read(struct when_test *t, const struct space *s, size_t i,
    const struct json *j, struct err *e)
{
	const struct json *v;
	const struct param *p;
	int parent = parent_read(s, i, j, e);
	size_t k;

	if (parent < 0 || json_want(j, JSON_ARRAY, e) != 0)
		return -1;
	if (json_count(j) < 1)
		return json_err(j, e, "expected at least one value");
	t->param = (size_t)parent;
	p = &s->params[parent];
	t->values = xcalloc(json_count(j), sizeof *t->values);
	for (v = json_first(j); v != NULL; v = json_next(v)) {
		if (param_read_value(&t->values[t->n], p, v, e) != 0)
			return -1;
		for (k = 0; k < t->n; k++)
			if (param_value_equal(&t->values[k], &t->values[t->n]))
				return json_err(
				    v, e, "this value is given twice");
		t->n++;
	}
	return 0;
}

/* {parameter: [value, …], …}: all of them. */
static int
all_read(struct when *w, const struct space *s, size_t i,
    const struct json *block, struct err *e)
{
	struct when_all *all = &w->any[w->n++];
	const struct json *j;

	if (json_want(block, JSON_OBJECT, e) != 0)
		return -1;
	if (json_count(block) == 0)
		return json_err(block, e,
		    "expected a parameter and its values, like "
		    "{\"optimizer\": [\"sgd\"]}");
	all->tests = xcalloc(json_count(block), sizeof *all->tests);
	for (j = json_first(block); j != NULL; j = json_next(j))
		if (test_read(&all->tests[all->n++], s, i, j, e) != 0)
			return -1;
	return 0;
}

/* [{…}, …]: one of them. */
static int
any_read(struct when *w, const struct space *s, size_t i,
    const struct json *list, struct err *e)
{
	const struct json *j;

	if (json_count(list) < 1 || json_count(list) > ALTERNATIVES_MAX)
		return json_err(list, e,
		    "expected 1 to %d objects, of which one holds",
		    ALTERNATIVES_MAX);
	w->any = xcalloc(json_count(list), sizeof *w->any);
	for (j = json_first(list); j != NULL; j = json_next(j))
		if (all_read(w, s, i, j, e) != 0)
			return -1;
	return 0;
}

/* The values of each parameter while it is active. */
static struct span *
when_read_spans_new(const struct space *s)
{
	struct span *all = xcalloc(s->n, sizeof *all);
	struct where_range range;
	size_t i;

	for (i = 0; i < s->n; i++) {
		where_range_of(&range, &s->params[i], NULL);
		where_range_span(&all[i], &s->params[i], &range);
	}
	return all;
}

static int
when_read_text_read(struct when *w, const struct space *s, size_t i,
    const struct json *j, struct err *e)
{
	struct span *all = when_read_spans_new(s);
	struct err why = ERR_INIT;
	unsigned truth = 0;
	size_t k;
	int rc;

	w->text = xstrdup(json_string(j));
	rc = expression_parse(&w->expression, w->text, s, all, &why);
	if (rc == 0)
		truth = expression_test_strict(w->expression, all);
	free(all);
	if (rc != 0)
		return json_err(j, e, "%s", why.text);
	if (expression_names(w->expression, i))
		return json_err(
		    j, e, "%s depends on itself", s->params[i].name);
	for (k = 0; k < s->n && !expression_names(w->expression, k); k++)
		;
	if (k == s->n)
		return json_err(j, e, "it names no parameter");
	if ((truth & SPAN_TRUE) == 0)
		return json_err(j, e, "this holds for no values");
	return 0;
}

static bool
when_read_is_named(const struct when *w, size_t param)
{
	size_t i, k;

	if (w->expression != NULL)
		return expression_names(w->expression, param);
	for (i = 0; i < w->n; i++)
		for (k = 0; k < w->any[i].n; k++)
			if (w->any[i].tests[k].param == param)
				return true;
	return false;
}

static void
parents_find(struct when *w, const struct space *s)
{
	size_t i;

	w->parents = xcalloc(s->n, sizeof *w->parents);
	for (i = 0; i < s->n; i++)
		if (when_read_is_named(w, i))
			w->parents[w->n_parents++] = i;
}

int
when_read(struct when **out, const struct space *s, size_t i,
    const struct json *j, struct err *e)
{
	struct when *w = xcalloc(1, sizeof *w);
	int rc;

	if (json_type(j) == JSON_STRING)
		rc = when_read_text_read(w, s, i, j, e);
	else if (json_type(j) == JSON_ARRAY)
		rc = any_read(w, s, i, j, e);
	else if (json_type(j) != JSON_OBJECT)
		rc = json_err(j, e,
		    "expected an object, a list of objects or an expression");
	else {
		w->any = xcalloc(1, sizeof *w->any);
		rc = all_read(w, s, i, j, e);
	}
	if (rc != 0) {
		when_free(w);
		return -1;
	}
	parents_find(w, s);
	*out = w;
	return 0;
}
