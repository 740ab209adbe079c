/*
 * The "parameters" of study.json -> struct space, with the checks that concern
 * several parameters.
 */

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/model/param.h"

enum {
	PARAMS_MAX = 1000 /* view results has a column for each */
};

/* A letter of a name as in SM_HP_NAME: upper case, - and . become _. */
static int
name_fold(char c)
{
	return c == '-' || c == '.' ? '_' : toupper((unsigned char)c);
}

/* Whether both names have the same SM_HP_NAME or column of view results. */
static bool
names_clash(const char *a, const char *b)
{
	for (; *a != '\0' && *b != '\0'; a++, b++)
		if (name_fold(*a) != name_fold(*b))
			return false;
	return *a == *b;
}

static int
when_parent(
    const struct space *s, struct param *p, const struct json *j, struct err *e)
{
	const char **names = xcalloc(s->n + 1, sizeof *names);
	struct buf hint = { 0 };
	size_t i;

	p->parent = space_find(s, json_key(j));
	if (p->parent < 0) {
		for (i = 0; i < s->n; i++)
			names[i] = s->params[i].name;
		json_put_hint(&hint, json_key(j), names);
		json_err_key(j, e, "no such parameter%s", buf_str(&hint));
		buf_free(&hint);
	}
	free(names);
	if (p->parent < 0)
		return -1;
	if (&s->params[p->parent] == p)
		return json_err_key(j, e, "%s depends on itself", p->name);
	if (param_levels(&s->params[p->parent]) == 0)
		return json_err_key(j, e,
		    "%s is a float without step: nothing can depend on it",
		    json_key(j));
	return 0;
}

static int
read_when(const struct space *s, struct param *p, const struct json *when,
    struct err *e)
{
	const struct json *j, *v;
	const struct param *parent;
	size_t i;

	if (json_want(when, JSON_OBJECT, e) != 0)
		return -1;
	if (json_count(when) != 1)
		return json_err(when, e,
		    "expected one parameter and its values, like "
		    "{\"optimizer\": [\"sgd\"]}");
	j = json_first(when);
	if (when_parent(s, p, j, e) != 0 || json_want(j, JSON_ARRAY, e) != 0)
		return -1;
	if (json_count(j) < 1)
		return json_err(j, e, "expected at least one value");
	parent = &s->params[p->parent];
	p->when = xcalloc(json_count(j), sizeof *p->when);
	for (v = json_first(j); v != NULL; v = json_next(v)) {
		if (param_read_value(&p->when[p->n_when], parent, v, e) != 0)
			return -1;
		for (i = 0; i < p->n_when; i++)
			if (param_value_equal(&p->when[i], &p->when[p->n_when]))
				return json_err(
				    v, e, "this value is given twice");
		p->n_when++;
	}
	return 0;
}

/* Order parents before children; what remains depends on a cycle. */
static int
sort_params(struct space *s, const struct json *params, struct err *e)
{
	bool *placed = xcalloc(s->n, sizeof *placed);
	const struct json *j;
	size_t n = 0, before, i, k;
	int parent;

	s->order = xcalloc(s->n, sizeof *s->order);
	do {
		before = n;
		for (i = 0; i < s->n; i++) {
			parent = s->params[i].parent;
			if (placed[i] || (parent >= 0 && !placed[parent]))
				continue;
			placed[i] = true;
			s->order[n++] = (int)i;
		}
	} while (n > before);
	for (i = 0; i < s->n && placed[i]; i++)
		;
	free(placed);
	if (n == s->n)
		return 0;
	for (k = 0; k < s->n; k++)
		i = (size_t)s->params[i].parent;
	j = json_first(params);
	for (k = 0; k < i; k++)
		j = json_next(j);
	return json_err(json_get(j, "when"), e,
	    "%s depends on itself through %s", s->params[i].name,
	    s->params[s->params[i].parent].name);
}

static int
clash_check(
    const struct space *s, size_t i, const struct json *j, struct err *e)
{
	size_t k;

	for (k = 0; k < i; k++)
		if (names_clash(s->params[k].name, s->params[i].name))
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
		if (when != NULL && read_when(s, &s->params[i], when, e) != 0)
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
