/*
 * All parameters together: which are active, conversion between points and
 * values, partial settings.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/model/param.h"
#include "src/model/when.h"
#include "src/model/where.h"

static void
param_clear(struct param *p)
{
	size_t i;

	for (i = 0; i < p->n_values; i++)
		free((char *)p->values[i].text);
	free(p->values);
	free(p->weights);
	when_free(p->when);
	free(p->name);
}

void
space_free(struct space *s)
{
	size_t i;

	if (s == NULL)
		return;
	for (i = 0; i < s->n; i++)
		param_clear(&s->params[i]);
	where_free(s->where);
	free(s->params);
	free(s->order);
	free(s);
}

int
space_find(const struct space *s, const char *name)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		if (strcmp(s->params[i].name, name) == 0)
			return (int)i;
	return -1;
}

bool
space_active(const struct space *s, size_t i, const struct value *values)
{
	const struct when *w = s->params[i].when;

	return w == NULL || when_holds(w, values);
}

bool
space_is_full(const struct space *space, const struct value *values)
{
	size_t i;

	for (i = 0; i < space->n; i++)
		if (values[i].kind == VALUE_NONE &&
		    space_active(space, i, values))
			return false;
	return true;
}

void
space_decode(const struct space *s, const double *u, struct value *values)
{
	size_t k, i;

	for (k = 0; k < s->n; k++) {
		i = (size_t)s->order[k];
		if (space_active(s, i, values))
			param_decode(&s->params[i], u[i], &values[i]);
		else
			values[i] = (struct value){ .kind = VALUE_NONE };
	}
}

void
space_encode(const struct space *s, const struct value *values, double *u)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		u[i] = values[i].kind == VALUE_NONE
			   ? NAN
			   : param_encode(&s->params[i], &values[i]);
}

void
space_snap(const struct space *s, double *u)
{
	struct value few[32], *values = few;

	if (s->n > sizeof few / sizeof few[0])
		values = xcalloc(s->n, sizeof *values);
	space_decode(s, u, values);
	space_encode(s, values, u);
	if (values != few)
		free(values);
}

void
space_put_json(struct buf *b, const struct space *s, const struct value *values)
{
	size_t i;
	bool first = true;

	buf_putc(b, '{');
	for (i = 0; i < s->n; i++) {
		if (values[i].kind == VALUE_NONE)
			continue;
		if (!first)
			buf_putc(b, ',');
		first = false;
		json_put_string(b, s->params[i].name);
		buf_putc(b, ':');
		param_value_put_json(b, &values[i]);
	}
	buf_putc(b, '}');
}

/* Report an unknown parameter; suggest the nearest. */
static int
space_unknown_err(const struct space *s, const struct json *j, struct err *e)
{
	const char **names = xcalloc(s->n + 1, sizeof *names);
	struct buf hint = { 0 };
	size_t i;

	for (i = 0; i < s->n; i++)
		names[i] = s->params[i].name;
	json_put_hint(&hint, json_key(j), names);
	json_err_key(j, e, "no such parameter%s", buf_str(&hint));
	buf_free(&hint);
	free(names);
	return -1;
}

static int
domain_err(const struct param *p, const struct json *j, struct err *e)
{
	struct buf domain = { 0 };

	param_put_domain(&domain, p);
	json_err(j, e, "expected %s", buf_str(&domain));
	buf_free(&domain);
	return -1;
}

/* "a is 1 and b is "x"" of the parents that have values. */
static void
parents_put(struct buf *b, const struct space *s, const struct when *w,
    const struct value *values)
{
	size_t i, at, n = 0;

	for (i = 0; i < w->n_parents; i++) {
		at = w->parents[i];
		if (values[at].kind == VALUE_NONE)
			continue;
		buf_printf(
		    b, "%s%s is ", n++ > 0 ? " and " : "", s->params[at].name);
		param_value_put_json(b, &values[at]);
	}
}

/* Report a value of a parameter that the others make inactive. */
static int
inactive_err(const struct space *s, const struct json *setting,
    const struct value *values, struct err *e)
{
	struct buf is = { 0 }, words = { 0 };
	const struct json *j;
	const struct param *p;

	for (j = json_first(setting); j != NULL; j = json_next(j)) {
		p = &s->params[space_find(s, json_key(j))];
		if (p->when == NULL || when_may_hold(p->when, s, values))
			continue;
		parents_put(&is, s, p->when, values);
		if (when_only_test(p->when) == NULL)
			when_put(&words, p->when, s);
		json_err_key(j, e, "%s has no value when %s%s%.200s", p->name,
		    buf_str(&is), words.len > 0 ? ": its condition is " : "",
		    buf_str(&words));
		buf_free(&is);
		buf_free(&words);
		return -1;
	}
	return 0;
}

int
space_read_values(const struct space *s, const struct json *setting,
    struct value *out, struct err *e)
{
	const struct json *j;
	size_t i;
	int k;

	if (json_want(setting, JSON_OBJECT, e) != 0)
		return -1;
	for (i = 0; i < s->n; i++)
		out[i] = (struct value){ .kind = VALUE_NONE };
	for (j = json_first(setting); j != NULL; j = json_next(j)) {
		k = space_find(s, json_key(j));
		if (k < 0)
			return space_unknown_err(s, j, e);
		param_value_read(&out[k], j);
		if (!param_fit(&s->params[k], &out[k]))
			return domain_err(&s->params[k], j, e);
	}
	return inactive_err(s, setting, out, e);
}

int
space_parse_values(
    const struct space *s, const char *json, struct value *out, struct err *e)
{
	struct json_doc *doc = NULL;
	int rc;

	if (json_parse(&doc, json, strlen(json), NULL, false, e) != 0)
		return -1;
	rc = space_read_values(s, json_root(doc), out, e);
	json_free(doc);
	return rc;
}
