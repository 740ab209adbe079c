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
#include "src/model/param-tree.h"
#include "src/model/space.h"
#include "src/model/study/study-internal.h"

static const char file_word[] = "params_file";
static const char *const file_forms[] = {
	[STUDY_PARAMS_FILE_JSON] = "json",
	[STUDY_PARAMS_FILE_YAML] = "yaml",
	[STUDY_PARAMS_FILE_TOML] = "toml",
	NULL,
};

/* Whether a name in braces is params_file, or params_file:FORM. */
bool
study_params_file_parse(const char *name, enum study_params_file *form)
{
	size_t i, n = strlen(file_word);

	*form = STUDY_PARAMS_FILE_JSON;
	if (strncmp(name, file_word, n) != 0)
		return false;
	if (name[n] == '\0')
		return true;
	for (i = 0; name[n] == ':' && file_forms[i] != NULL; i++)
		if (strcmp(name + n + 1, file_forms[i]) == 0) {
			*form = (enum study_params_file)i;
			return true;
		}
	return false;
}

/* Whether name lies below head: "a.b" below "a". */
static bool
file_is_below(const char *name, const char *head)
{
	size_t n = strlen(head);

	return strncmp(name, head, n) == 0 && name[n] == '.';
}

/* The same, with an error for a wrong form, or names that cannot be nested. */
int
study_params_file_check(const struct study *s, const struct json *j,
    const char *name, struct err *e)
{
	const struct param *p = s->space->params;
	enum study_params_file form;
	struct buf hint = { 0 };
	size_t i, k;

	if (!study_params_file_parse(name, &form)) {
		json_put_hint(&hint, name + sizeof file_word, file_forms);
		json_err(
		    j, e, "{%s} is no form of a file%s", name, buf_str(&hint));
		buf_free(&hint);
		return -1;
	}
	for (i = 0; i < s->space->n && form == STUDY_PARAMS_FILE_TOML; i++)
		for (k = 0; k < p[i].n_values; k++)
			if (param_tree_has_null(&p[i].values[k]))
				return json_err(j, e,
				    "{%s}: a list of TOML has no null: %s is "
				    "%.100s",
				    name, p[i].name, p[i].values[k].text);
	for (i = 0; i < s->space->n; i++)
		for (k = 0; k < s->space->n; k++)
			if (file_is_below(p[k].name, p[i].name))
				return json_err(j, e,
				    "{%s} is nested at dots: %s cannot be a "
				    "value and have %s below it",
				    name, p[i].name, p[k].name);
	return 0;
}

void
study_params_file_put_name(struct buf *b, enum study_params_file form)
{
	buf_printf(b, "params-file.%s", file_forms[form]);
}

/*
 * A string of JSON is one of YAML and of TOML, too.  JSON is read by readers of
 * YAML as well.  In TOML and YAML 3 is another type than 3.0.
 */
static void
file_put_value(
    struct buf *b, enum study_params_file form, const struct value *v)
{
	/* An inline table of TOML, where null has no form. */
	static const struct param_tree toml = { NULL, "true", "false", ", ",
		" = ", json_put_string, json_put_string,
		param_tree_put_pointed };
	size_t at = b->len;

	if (v->kind == VALUE_TREE && form == STUDY_PARAMS_FILE_TOML) {
		param_tree_put(b, v, &toml);
		return;
	}
	if (v->kind == VALUE_TREE) {
		param_value_put_pointed(b, v);
		return;
	}
	if (v->kind != VALUE_REAL) {
		param_value_put_json(b, v);
		return;
	}
	param_value_put_pointed(b, v);
	if (form != STUDY_PARAMS_FILE_JSON &&
	    strpbrk(b->data + at, ".e") == NULL)
		buf_puts(b, ".0");
}

/* One part of a name, in quotes where a reader could take it for a value. */
static void
file_put_key(
    struct buf *b, enum study_params_file form, const char *key, size_t n)
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
file_is_here(const struct writer *w, size_t k, const char *prefix, size_t n)
{
	return w->values[k].kind != VALUE_NONE &&
	       strncmp(w->space->params[k].name, prefix, n) == 0;
}

/* Whether an earlier parameter has opened the same group. */
static bool
file_is_open(const struct writer *w, size_t k, size_t n)
{
	const char *name = w->space->params[k].name;
	size_t i;

	for (i = 0; i < k; i++)
		if (file_is_here(w, i, name, n))
			return true;
	return false;
}

/* The members whose names begin with the n bytes of the prefix. */
static void
file_put_members(
    const struct writer *w, const char *prefix, size_t n, int depth)
{
	bool json = w->form == STUDY_PARAMS_FILE_JSON, first = true;
	const char *key, *dot;
	size_t k, len;

	for (k = 0; k < w->space->n; k++) {
		if (!file_is_here(w, k, prefix, n))
			continue;
		key = w->space->params[k].name + n;
		dot = strchr(key, '.');
		len = dot != NULL ? (size_t)(dot - key) : strlen(key);
		if (dot != NULL && file_is_open(w, k, n + len + 1))
			continue;
		if (json && !first)
			buf_putc(w->out, ',');
		first = false;
		if (json)
			buf_putc(w->out, '\n');
		buf_printf(w->out, "%*s", 2 * (depth + json), "");
		file_put_key(w->out, w->form, key, len);
		buf_puts(w->out, dot == NULL ? ": " : json ? ": {" : ":\n");
		if (dot == NULL)
			file_put_value(w->out, w->form, &w->values[k]);
		else
			file_put_members(w, w->space->params[k].name,
			    n + len + 1, depth + 1);
		if (dot != NULL && json)
			buf_printf(w->out, "\n%*s}", 2 * (depth + 1), "");
		if (dot == NULL && !json)
			buf_putc(w->out, '\n');
	}
}

/* Dots in a key of TOML nest; null has no form there and is left out. */
static void
file_put_toml(const struct writer *w)
{
	const char *key, *dot;
	size_t k;

	for (k = 0; k < w->space->n; k++) {
		if (w->values[k].kind == VALUE_NONE ||
		    w->values[k].kind == VALUE_NULL)
			continue;
		key = w->space->params[k].name;
		while ((dot = strchr(key, '.')) != NULL) {
			file_put_key(w->out, w->form, key, (size_t)(dot - key));
			buf_putc(w->out, '.');
			key = dot + 1;
		}
		file_put_key(w->out, w->form, key, strlen(key));
		buf_puts(w->out, " = ");
		file_put_value(w->out, w->form, &w->values[k]);
		buf_putc(w->out, '\n');
	}
}

void
study_params_file_put(struct buf *b, enum study_params_file form,
    const struct space *space, const struct value *values)
{
	const struct writer w = { b, form, space, values };

	if (form == STUDY_PARAMS_FILE_TOML) {
		file_put_toml(&w);
		return;
	}
	if (form == STUDY_PARAMS_FILE_JSON)
		buf_putc(b, '{');
	file_put_members(&w, "", 0, 0);
	if (form == STUDY_PARAMS_FILE_JSON)
		buf_puts(b, "\n}\n");
}
