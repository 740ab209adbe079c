/*
 * {params}: the active parameters as arguments, in the form that a program
 * reads.
 */

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/model/space.h"
#include "src/model/study/study-internal.h"

const char *const study_params_forms[] = {
	[STUDY_PARAMS_JOINED] = "joined",
	[STUDY_PARAMS_TOOLKIT] = "toolkit",
	[STUDY_PARAMS_WORDS] = "words",
	[STUDY_PARAMS_HYDRA] = "hydra",
	[STUDY_PARAMS_SHORT] = "short",
	[STUDY_PARAMS_FLAGS] = "flags",
	[STUDY_PARAMS_NO_FLAGS] = "no-flags",
	[STUDY_PARAMS_PYTHON] = "python",
	NULL,
};

/* A value as AWS's toolkit writes it: null is an empty word. */
static void
put_toolkit(struct buf *b, const struct value *v)
{
	if (v->kind == VALUE_BOOL)
		buf_puts(b, v->integer != 0 ? "True" : "False");
	else if (v->kind != VALUE_NULL)
		param_value_put(b, v);
}

/* A value as str() of Python writes it: a float has a point or an exponent. */
static void
study_params_put_python(struct buf *b, const struct value *v)
{
	size_t start = b->len;

	if (v->kind == VALUE_NULL)
		buf_puts(b, "None");
	else
		put_toolkit(b, v);
	if (v->kind == VALUE_REAL && strpbrk(buf_str(b) + start, ".eE") == NULL)
		buf_puts(b, ".0");
}

/* Whether Hydra would read the text as another type, or as syntax. */
static bool
needs_quotes(const char *text)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "_./@%-";
	static const char *const words[] = { "true", "false", "null", "on",
		"off", "yes", "no", "inf", "nan", NULL };
	char *end;
	size_t i;

	if (*text == '\0' || text[strspn(text, plain)] != '\0')
		return true;
	for (i = 0; words[i] != NULL; i++)
		if (strcasecmp(text, words[i]) == 0)
			return true;
	(void)strtod(text, &end);
	return *end == '\0';
}

/*
 * In single quotes a quote is preceded by a backslash, and the backslashes in
 * front of a quote, the last one included, are doubled.
 */
static void
put_quoted(struct buf *b, const char *s)
{
	size_t n;

	buf_putc(b, '\'');
	for (;;) {
		n = strspn(s, "\\");
		buf_add(b, s, n);
		if (s[n] == '\'' || s[n] == '\0')
			buf_add(b, s, n);
		s += n;
		if (*s == '\0')
			break;
		if (*s == '\'')
			buf_putc(b, '\\');
		buf_putc(b, *s++);
	}
	buf_putc(b, '\'');
}

/*
 * A value of Hydra's override grammar (hydra.cc/docs/advanced/override_grammar):
 * a text is quoted where it would be read as something else.
 */
static void
put_hydra(struct buf *b, const struct value *v)
{
	if (v->kind == VALUE_NULL)
		buf_puts(b, "null");
	else if (v->kind == VALUE_TEXT && needs_quotes(v->text))
		put_quoted(b, v->text);
	else
		param_value_put(b, v);
}

/* Whether the argument has the parameter: all of them, or those it names. */
static bool
study_params_is_named(const struct study_params *of, const char *name)
{
	const char *p = of->names, *end = p + of->names_len;
	size_t n;

	while (p < end) {
		n = strcspn(p, ",}");
		if (n == strlen(name) && memcmp(p, name, n) == 0)
			return true;
		p += n + 1;
	}
	return of->names == NULL;
}

/* The active parameter whose name follows alphabetically; -1 = none. */
static int
param_after(const struct study_params *of, const struct space *space,
    const struct value *values, int after)
{
	const char *name, *last = NULL, *best = NULL;
	int found = -1;
	size_t k;

	if (after >= 0)
		last = space->params[after].name;
	for (k = 0; k < space->n; k++) {
		name = space->params[k].name;
		if (values[k].kind == VALUE_NONE ||
		    !study_params_is_named(of, name) ||
		    (last != NULL && strcmp(name, last) <= 0) ||
		    (best != NULL && strcmp(name, best) >= 0))
			continue;
		best = name;
		found = (int)k;
	}
	return found;
}

/* --NAME VALUE, or -N VALUE, sorted by name. */
static void
toolkit_add(struct strv *argv, const struct study_params *of,
    const struct space *space, const struct value *values)
{
	struct buf b = { 0 };
	const char *name;
	int k = -1;

	while ((k = param_after(of, space, values, k)) >= 0) {
		name = space->params[k].name;
		strv_add(argv,
		    xasprintf("%s%s", name[1] == '\0' ? "-" : "--", name));
		put_toolkit(&b, &values[k]);
		strv_add(argv, buf_take(&b));
	}
}

static void
one_add(struct strv *argv, enum study_params_form form, const char *name,
    const struct value *v)
{
	struct buf b = { 0 };

	switch (form) {
	case STUDY_PARAMS_WORDS:
	case STUDY_PARAMS_SHORT:
		strv_add(
		    argv, xasprintf("%s%s",
			      form == STUDY_PARAMS_SHORT ? "-" : "--", name));
		param_value_put(&b, v);
		break;
	case STUDY_PARAMS_HYDRA:
		buf_printf(&b, "%s=", name);
		put_hydra(&b, v);
		break;
	case STUDY_PARAMS_PYTHON:
		buf_printf(&b, "--%s=", name);
		study_params_put_python(&b, v);
		break;
	case STUDY_PARAMS_FLAGS:
	case STUDY_PARAMS_NO_FLAGS:
		if (v->kind == VALUE_BOOL) {
			if (v->integer != 0)
				strv_add(argv, xasprintf("--%s", name));
			else if (form == STUDY_PARAMS_NO_FLAGS)
				strv_add(argv, xasprintf("--no-%s", name));
			return;
		}
		/* FALLTHROUGH */
	case STUDY_PARAMS_JOINED:
	case STUDY_PARAMS_TOOLKIT:
		buf_printf(&b, "--%s=", name);
		param_value_put(&b, v);
		break;
	}
	strv_add(argv, buf_take(&b));
}

void
study_params_add(struct strv *argv, const struct study_params *of,
    const struct space *space, const struct value *values)
{
	const char *name;
	size_t k;

	if (of->form == STUDY_PARAMS_TOOLKIT) {
		toolkit_add(argv, of, space, values);
		return;
	}
	for (k = 0; k < space->n; k++) {
		name = space->params[k].name;
		if (values[k].kind != VALUE_NONE &&
		    study_params_is_named(of, name))
			one_add(argv, of->form, name, &values[k]);
	}
}

bool
study_params_parse(
    const char *argument, enum study_params_form usual, struct study_params *of)
{
	static const char start[] = "{params";
	const char *p, *end = argument + strcspn(argument, "}");
	size_t i, n;

	*of = (struct study_params){ .form = usual };
	if (strncmp(argument, start, strlen(start)) != 0 || *end != '}' ||
	    end[1] != '\0')
		return false;
	p = argument + strlen(start);
	if (*p != ':')
		return p == end;
	n = strcspn(++p, ":}");
	for (i = 0; study_params_forms[i] != NULL; i++)
		if (strlen(study_params_forms[i]) == n &&
		    memcmp(p, study_params_forms[i], n) == 0)
			break;
	if (study_params_forms[i] == NULL)
		return false;
	of->form = (enum study_params_form)i;
	if (p[n] == ':') {
		of->names = p + n + 1;
		of->names_len = (size_t)(end - of->names);
	}
	return true;
}

int
study_params_err(const struct space *space, const struct json *j,
    const char *name, struct err *e)
{
	const char **names = xcalloc(space->n + 1, sizeof *names);
	struct buf hint = { 0 };
	size_t i;

	for (i = 0; i < space->n; i++)
		names[i] = space->params[i].name;
	json_put_hint(&hint, name, names);
	json_err(j, e, "%s is not a parameter%s", name, buf_str(&hint));
	buf_free(&hint);
	free(names);
	return -1;
}

int
study_params_check(const struct study_params *of, const struct space *space,
    const struct json *j, struct err *e)
{
	const char *p = of->names, *end = p + of->names_len;
	char *name;
	size_t n;
	int rc = 0;

	for (; of->names != NULL && rc == 0 && p <= end; p += n + 1) {
		n = strcspn(p, ",}");
		name = xstrndup(p, n);
		if (n == 0)
			rc = json_err(j, e,
			    "expected names of parameters with a comma between "
			    "them, like {params:words:lr,width}");
		else if (space_find(space, name) < 0)
			rc = study_params_err(space, j, name, e);
		free(name);
	}
	return rc;
}
