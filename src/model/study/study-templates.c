/*
 * trial.files: text files of the user in which {NAME} becomes the value of a
 * parameter, for programs that read a configuration file of their own format.
 * Other braces stay, so JSON, YAML and C-like texts need no quoting.
 */

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/model/space.h"
#include "src/model/study/study-internal.h"

enum { NAME_MAX_LEN = 64 };

static const char word[] = "file:";

static bool
templates_name_good(const char *name)
{
	size_t i;

	if (*name == '\0' || *name == '.' || strlen(name) > NAME_MAX_LEN)
		return false;
	for (i = 0; name[i] != '\0'; i++)
		if (!isalnum((unsigned char)name[i]) &&
		    strchr("_.-", name[i]) == NULL)
			return false;
	return true;
}

static int
read_one(struct study *s, const struct json *j, struct err *e)
{
	const char *name = json_key(j), *from;
	struct study_template *t = &s->trial.templates[s->trial.n_templates];

	if (!templates_name_good(name))
		return json_err_key(j, e,
		    "the name of a file has 1 to %d letters, digits, _ - or . "
		    "and begins with no .",
		    NAME_MAX_LEN);
	if (json_read_string(j, &from, e) != 0)
		return -1;
	if (*from == '\0')
		return json_err(j, e, "expected the path of a template");
	t->name = xstrdup(name);
	t->path = *from == '/'
		      ? xstrdup(from)
		      : xasprintf("%s/%s",
			    strcmp(s->dir, "/") == 0 ? "" : s->dir, from);
	t->where = j;
	s->trial.n_templates++;
	return 0;
}

int
study_read_templates(struct study *s, const struct json *block, struct err *e)
{
	const struct json *j;

	if (json_want(block, JSON_OBJECT, e) != 0)
		return -1;
	if (s->trial.pack > 0)
		return json_err_key(block, e,
		    "cannot be combined with trial.pack, whose program "
		    "reads its trials from standard input");
	s->trial.templates =
	    xcalloc(json_count(block) + 1, sizeof *s->trial.templates);
	for (j = json_first(block); j != NULL; j = json_next(j))
		if (read_one(s, j, e) != 0)
			return -1;
	return 0;
}

void
study_templates_clear(struct study_trial *t)
{
	size_t i;

	for (i = 0; i < t->n_templates; i++) {
		free(t->templates[i].name);
		free(t->templates[i].path);
	}
	free(t->templates);
	t->templates = NULL;
	t->n_templates = 0;
}

const struct study_template *
study_template_find(const struct study_trial *t, const char *name)
{
	size_t i, n = strlen(word);

	if (strncmp(name, word, n) != 0)
		return NULL;
	for (i = 0; i < t->n_templates; i++)
		if (strcmp(t->templates[i].name, name + n) == 0)
			return &t->templates[i];
	return NULL;
}

bool
study_template_is_name(const char *name)
{
	return strncmp(name, word, strlen(word)) == 0;
}

int
study_template_check(const struct study *s, const struct json *j,
    const char *name, struct err *e)
{
	const struct study_trial *t = &s->trial;
	const char **names;
	struct buf hint = { 0 };
	size_t i;

	if (study_template_find(t, name) != NULL)
		return 0;
	if (t->n_templates == 0)
		return json_err(
		    j, e, "{%s} needs trial.files, which is not given", name);
	names = xcalloc(t->n_templates + 1, sizeof *names);
	for (i = 0; i < t->n_templates; i++)
		names[i] = t->templates[i].name;
	json_put_hint(&hint, name + strlen(word), names);
	json_err(
	    j, e, "{%s} is no file of trial.files%s", name, buf_str(&hint));
	buf_free(&hint);
	free(names);
	return -1;
}

void
study_template_put_name(struct buf *b, const struct study_template *t)
{
	buf_printf(b, "%s/%s", STUDY_TEMPLATES_DIR, t->name);
}

/* The parameter that text, which begins with a brace, names: -1 is none. */
static int
name_at(const struct space *space, const char *text, size_t *len)
{
	size_t n = strcspn(text + 1, "{}\n");
	char *name;
	int k;

	if (text[1 + n] != '}')
		return -1;
	name = xstrndup(text + 1, n);
	k = space_find(space, name);
	free(name);
	*len = n + 2;
	return k;
}

/* Whether a line names a parameter that is inactive. */
static bool
line_vanishes(const char *line, size_t n, const struct space *space,
    const struct value *values)
{
	size_t i, len;
	int k;

	for (i = 0; i < n; i++) {
		k = line[i] == '{' ? name_at(space, line + i, &len) : -1;
		if (k >= 0 && values[k].kind == VALUE_NONE)
			return true;
	}
	return false;
}

static void
templates_line_put(struct buf *b, const char *line, size_t n,
    const struct space *space, const struct value *values)
{
	size_t i, len = 0;
	int k;

	for (i = 0; i < n; i += k >= 0 ? len : 1) {
		k = line[i] == '{' ? name_at(space, line + i, &len) : -1;
		if (k >= 0)
			param_value_put_pointed(b, &values[k]);
		else
			buf_putc(b, line[i]);
	}
}

void
study_template_fill(struct buf *b, const char *text, const struct space *space,
    const struct value *values)
{
	size_t n;

	for (; *text != '\0'; text += n) {
		n = strcspn(text, "\n");
		n += text[n] == '\n';
		if (!line_vanishes(text, n, space, values))
			templates_line_put(b, text, n, space, values);
	}
}

bool
study_template_names_any(const char *text, const struct space *space)
{
	size_t len;

	for (; (text = strchr(text, '{')) != NULL; text++)
		if (name_at(space, text, &len) >= 0)
			return true;
	return false;
}
