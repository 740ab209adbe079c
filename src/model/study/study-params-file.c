/*
 * {params_file}: the active parameters as a file that a program reads, nested at
 * the dots of their names.
 */

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/model/space.h"
#include "src/model/study/study-internal.h"

static const char word[] = "params_file";
static const char *const forms[] = {
	[STUDY_PARAMS_FILE_JSON] = "json",
	[STUDY_PARAMS_FILE_YAML] = "yaml",
	[STUDY_PARAMS_FILE_TOML] = "toml",
	NULL,
};

bool
study_params_file_parse(const char *name, enum study_params_file *form)
{
	size_t i, n = strlen(word);

	*form = STUDY_PARAMS_FILE_JSON;
	if (strncmp(name, word, n) != 0)
		return false;
	if (name[n] == '\0')
		return true;
	for (i = 0; name[n] == ':' && forms[i] != NULL; i++)
		if (strcmp(name + n + 1, forms[i]) == 0) {
			*form = (enum study_params_file)i;
			return true;
		}
	return false;
}

/* Whether name lies below head: "a.b" below "a". */
static bool
is_below(const char *name, const char *head)
{
	size_t n = strlen(head);

	return strncmp(name, head, n) == 0 && name[n] == '.';
}

int
study_params_file_check(const struct study *s, const struct json *j,
    const char *name, struct err *e)
{
	const struct param *p = s->space->params;
	enum study_params_file form;
	struct buf hint = { 0 };
	size_t i, k;

	if (!study_params_file_parse(name, &form)) {
		json_put_hint(&hint, name + sizeof word, forms);
		json_err(
		    j, e, "{%s} is no form of a file%s", name, buf_str(&hint));
		buf_free(&hint);
		return -1;
	}
	for (i = 0; i < s->space->n; i++)
		for (k = 0; k < s->space->n; k++)
			if (is_below(p[k].name, p[i].name))
				return json_err(j, e,
				    "{%s} is nested at dots: %s cannot be a "
				    "value and have %s below it",
				    name, p[i].name, p[k].name);
	return 0;
}

void
study_params_file_put_name(struct buf *b, enum study_params_file form)
{
	buf_printf(b, "params-file.%s", forms[form]);
}

/*
 * A number that stays one: YAML 1.1 reads 1e-05 as text, it needs a point and a
 * sign of the exponent; in TOML and YAML 3 is another type than 3.0.
 */
static void
put_real(struct buf *b, double v)
{
	struct buf text = { 0 };
	const char *s, *e;

	json_put_number(&text, v);
	s = buf_str(&text);
	e = strpbrk(s, "eE");
	buf_add(b, s, e != NULL ? (size_t)(e - s) : text.len);
	if (strchr(s, '.') == NULL)
		buf_puts(b, ".0");
	if (e != NULL) {
		buf_puts(b, "e");
		if (e[1] != '-' && e[1] != '+')
			buf_putc(b, '+');
		buf_puts(b, e + 1);
	}
	buf_free(&text);
}

/* A string of JSON is one of YAML and of TOML, too. */
static void
put_value(struct buf *b, enum study_params_file form, const struct value *v)
{
	if (v->kind == VALUE_REAL && form != STUDY_PARAMS_FILE_JSON)
		put_real(b, v->real);
	else
		param_value_put_json(b, v);
}

/* One part of a name, in quotes where a reader could take it for a value. */
static void
put_key(struct buf *b, enum study_params_file form, const char *key, size_t n)
{
	static const char *const values[] = { "y", "n", "yes", "no", "on",
		"off", "true", "false", "null", NULL };
	char *text = xstrndup(key, n);
	bool plain = form != STUDY_PARAMS_FILE_JSON && n > 0 &&
		     strspn(text, "0123456789+-") == 0;
	size_t i;

	for (i = 0; values[i] != NULL; i++)
		plain &= strcasecmp(text, values[i]) != 0;
	if (plain)
		buf_puts(b, text);
	else
		json_put_string(b, text);
	free(text);
}

struct writer {
	struct buf *out;
	enum study_params_file form;
	const struct space *space;
	const struct value *values;
};

/* Whether parameter k has a value and a name that begins with the n bytes. */
static bool
is_here(const struct writer *w, size_t k, const char *prefix, size_t n)
{
	return w->values[k].kind != VALUE_NONE &&
	       strncmp(w->space->params[k].name, prefix, n) == 0;
}

/* Whether an earlier parameter has opened the same group. */
static bool
is_open(const struct writer *w, size_t k, size_t n)
{
	const char *name = w->space->params[k].name;
	size_t i;

	for (i = 0; i < k; i++)
		if (is_here(w, i, name, n))
			return true;
	return false;
}

/* The members whose names begin with the n bytes of the prefix. */
static void
put_members(const struct writer *w, const char *prefix, size_t n, int depth)
{
	bool json = w->form == STUDY_PARAMS_FILE_JSON, first = true;
	const char *key, *dot;
	size_t k, len;

	for (k = 0; k < w->space->n; k++) {
		if (!is_here(w, k, prefix, n))
			continue;
		key = w->space->params[k].name + n;
		dot = strchr(key, '.');
		len = dot != NULL ? (size_t)(dot - key) : strlen(key);
		if (dot != NULL && is_open(w, k, n + len + 1))
			continue;
		if (json && !first)
			buf_putc(w->out, ',');
		first = false;
		if (json)
			buf_putc(w->out, '\n');
		buf_printf(w->out, "%*s", 2 * (depth + json), "");
		put_key(w->out, w->form, key, len);
		buf_puts(w->out, dot == NULL ? ": " : json ? ": {" : ":\n");
		if (dot == NULL)
			put_value(w->out, w->form, &w->values[k]);
		else
			put_members(w, w->space->params[k].name, n + len + 1,
			    depth + 1);
		if (dot != NULL && json)
			buf_printf(w->out, "\n%*s}", 2 * (depth + 1), "");
		if (dot == NULL && !json)
			buf_putc(w->out, '\n');
	}
}

/* Dots in a key of TOML nest; null has no form there and is left out. */
static void
put_toml(const struct writer *w)
{
	const char *key, *dot;
	size_t k;

	for (k = 0; k < w->space->n; k++) {
		if (w->values[k].kind == VALUE_NONE ||
		    w->values[k].kind == VALUE_NULL)
			continue;
		key = w->space->params[k].name;
		while ((dot = strchr(key, '.')) != NULL) {
			put_key(w->out, w->form, key, (size_t)(dot - key));
			buf_putc(w->out, '.');
			key = dot + 1;
		}
		put_key(w->out, w->form, key, strlen(key));
		buf_puts(w->out, " = ");
		put_value(w->out, w->form, &w->values[k]);
		buf_putc(w->out, '\n');
	}
}

void
study_params_file_put(struct buf *b, enum study_params_file form,
    const struct space *space, const struct value *values)
{
	const struct writer w = { b, form, space, values };

	if (form == STUDY_PARAMS_FILE_TOML) {
		put_toml(&w);
		return;
	}
	if (form == STUDY_PARAMS_FILE_JSON)
		buf_putc(b, '{');
	put_members(&w, "", 0, 0);
	if (form == STUDY_PARAMS_FILE_JSON)
		buf_puts(b, "\n}\n");
}
