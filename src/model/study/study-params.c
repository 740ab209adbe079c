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
#include "src/model/param-tree.h"
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
	[STUDY_PARAMS_PYTHON_WORDS] = "python-words",
	[STUDY_PARAMS_HYDRA_APPEND] = "hydra-append",
	[STUDY_PARAMS_HYDRA_OVERRIDE] = "hydra-override",
	NULL,
};

/* A text as repr() of Python writes it. */
static void
put_python_text(struct buf *b, const char *s)
{
	char quote =
	    strchr(s, '\'') != NULL && strchr(s, '"') == NULL ? '"' : '\'';

	buf_putc(b, quote);
	for (; *s != '\0'; s++)
		if (*s == '\n')
			buf_puts(b, "\\n");
		else if (*s == '\t')
			buf_puts(b, "\\t");
		else if (*s == '\r')
			buf_puts(b, "\\r");
		else if ((unsigned char)*s < ' ' || *s == 0x7f)
			buf_printf(b, "\\x%02x", (unsigned char)*s);
		else {
			if (*s == quote || *s == '\\')
				buf_putc(b, '\\');
			buf_putc(b, *s);
		}
	buf_putc(b, quote);
}

static void
put_number_text(struct buf *b, const char *number)
{
	buf_puts(b, number);
}

/* A value as AWS's toolkit writes it: null is an empty word. */
static void
put_toolkit(struct buf *b, const struct value *v)
{
	static const struct param_tree python = { "None", "True", "False", ", ",
		": ", put_python_text, put_python_text, put_number_text };

	if (v->kind == VALUE_BOOL)
		buf_puts(b, v->integer != 0 ? "True" : "False");
	else if (v->kind == VALUE_TREE)
		param_tree_put(b, v, &python);
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

/*
 * Whether Hydra or the YAML of OmegaConf.from_cli would read the text as another
 * type, or as syntax.
 */
static bool
needs_quotes(const char *text)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "_./@%-";
	static const char *const words[] = { "true", "false", "null", "on",
		"off", "yes", "no", "inf", "nan", ".inf", ".nan", "...", NULL };
	struct buf number = { 0 };
	bool quotes;
	char *end;
	size_t i;

	if (*text == '\0' || strchr("@%-", *text) != NULL ||
	    text[strspn(text, plain)] != '\0')
		return true;
	if (text[0] == '0' && text[1] == 'b')
		return true;
	for (i = 0; words[i] != NULL; i++)
		if (strcasecmp(text, words[i]) == 0)
			return true;
	for (; *text != '\0'; text++) /* 1_000 is a number */
		if (*text != '_')
			buf_putc(&number, *text);
	(void)strtod(buf_str(&number), &end);
	quotes = *end == '\0';
	buf_free(&number);
	return quotes;
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

static void
put_hydra_text(struct buf *b, const char *s)
{
	if (needs_quotes(s))
		put_quoted(b, s);
	else
		buf_puts(b, s);
}

/* A key has no quotes in the grammar, but backslashes before what it reads. */
static void
put_hydra_key(struct buf *b, const char *s)
{
	for (; *s != '\0'; s++) {
		if (strchr("\\()[]{}:=, \t", *s) != NULL)
			buf_putc(b, '\\');
		buf_putc(b, *s);
	}
}

/*
 * A value of Hydra's override grammar (hydra.cc/docs/advanced/override_grammar):
 * a text is quoted where it would be read as something else.  YAML wants the
 * blank behind a colon.
 */
static void
put_hydra(struct buf *b, const struct value *v)
{
	static const struct param_tree hydra = { "null", "true", "false", ",",
		": ", put_hydra_text, put_hydra_key, put_number_text };

	if (v->kind == VALUE_NULL)
		buf_puts(b, "null");
	else if (v->kind == VALUE_TEXT)
		put_hydra_text(b, v->text);
	else if (v->kind == VALUE_TREE)
		param_tree_put(b, v, &hydra);
	else
		param_value_put(b, v);
}

/* Whether the argument has the parameter: all of them, or those it names. */
static bool
study_params_is_named(const struct study_params *of, const char *name)
{
	const char *p = of->names, *end;
	size_t n;

	if (p == NULL)
		return true;
	for (end = p + of->names_len; p < end; p += n + 1) {
		n = strcspn(p, ",}");
		if (n == strlen(name) && memcmp(p, name, n) == 0)
			return true;
	}
	return false;
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
	case STUDY_PARAMS_PYTHON_WORDS:
		strv_add(argv, xasprintf("--%s", name));
		study_params_put_python(&b, v);
		break;
	case STUDY_PARAMS_HYDRA:
	case STUDY_PARAMS_HYDRA_APPEND:
	case STUDY_PARAMS_HYDRA_OVERRIDE:
		buf_printf(&b, "%s%s=",
		    form == STUDY_PARAMS_HYDRA		? ""
		    : form == STUDY_PARAMS_HYDRA_APPEND ? "+"
							: "++",
		    name);
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
	const char *p = of->names, *end;
	char *name;
	size_t n;
	int rc = 0;

	if (p == NULL)
		return 0;
	end = p + of->names_len;
	for (; rc == 0 && p <= end; p += n + 1) {
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
