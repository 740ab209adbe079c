/*
 * trial.command, trial.env and trial.workdir: checks the names in braces and
 * fills them for a trial.  No shell is involved.
 */

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/model/space.h"
#include "src/model/study/study-internal.h"

/* Names in braces that are no parameters. */
static const char *const words[] = { "trial", "attempt", "checkpoint_dir",
	"output_dir", "model_dir", "study_dir", "batch", NULL };

enum piece_kind {
	PIECE_END,
	PIECE_TEXT, /* literal text; a doubled brace is one brace */
	PIECE_NAME, /* a name in braces */
	PIECE_OPEN, /* { without } */
	PIECE_CLOSE /* } without { */
};

struct piece {
	enum piece_kind kind;
	const char *at;
	size_t n;
};

/* Parse the next piece of an argument and advance p. */
static struct piece
piece_next(const char **p)
{
	struct piece piece = { .kind = PIECE_TEXT, .at = *p, .n = 1 };
	const char *end;

	if (**p == '\0') {
		piece.kind = PIECE_END;
		piece.n = 0;
	} else if (**p != '{' && **p != '}') {
		piece.n = strcspn(*p, "{}");
		*p += piece.n;
	} else if ((*p)[1] == (*p)[0]) {
		*p += 2;
	} else if (**p == '}') {
		piece.kind = PIECE_CLOSE;
	} else {
		end = *p + 1 + strcspn(*p + 1, "{}");
		piece.kind = *end == '}' ? PIECE_NAME : PIECE_OPEN;
		piece.at = *p + 1;
		piece.n = (size_t)(end - *p) - 1;
		*p = end + 1;
	}
	return piece;
}

static int
study_command_unknown_err(const struct study *s, const struct json *j,
    const char *name, struct err *e)
{
	const struct space *space = s->space;
	const char **names = xcalloc(
	    space->n + sizeof words / sizeof words[0] + 1, sizeof *names);
	struct buf hint = { 0 };
	size_t i, n = 0;

	/* What is no name is JSON, or a template of another program. */
	for (i = 0; name[i] != '\0'; i++)
		if (!isalnum((unsigned char)name[i]) &&
		    strchr("_.-", name[i]) == NULL)
			break;
	if (name[i] != '\0') {
		free(names);
		return json_err(j, e,
		    "{%s} is not a parameter; a literal { is written {{", name);
	}
	for (i = 0; i < space->n; i++)
		names[n++] = space->params[i].name;
	for (i = 0; words[i] != NULL; i++)
		names[n++] = words[i];
	names[n] = "params";
	json_put_hint(&hint, name, names);
	json_err(j, e, "{%s} is not a parameter%s", name, buf_str(&hint));
	buf_free(&hint);
	free(names);
	return -1;
}

/* {params:FORM} inside an argument, or with an unknown form. */
static int
form_err(const struct json *j, const char *text, struct err *e)
{
	char *form = xstrndup(text, strcspn(text, ":"));
	struct buf hint = { 0 };
	size_t i;

	for (i = 0; study_params_forms[i] != NULL; i++)
		if (strcmp(form, study_params_forms[i]) == 0)
			break;
	if (study_params_forms[i] != NULL)
		json_err(
		    j, e, "{params:%s} must be an argument of its own", text);
	else {
		json_put_hint(&hint, form, study_params_forms);
		json_err(j, e, "{params:%s} is no form of arguments%s", form,
		    buf_str(&hint));
	}
	buf_free(&hint);
	free(form);
	return -1;
}

static int
check_name(const struct study *s, const struct json *j, const char *name,
    bool may_vanish, struct err *e)
{
	size_t i;
	int k;

	if (strcmp(name, "params") == 0)
		return json_err(
		    j, e, "{params} must be an argument of its own");
	if (strncmp(name, "params:", strlen("params:")) == 0)
		return form_err(j, name + strlen("params:"), e);
	k = space_find(s->space, name);
	if (k < 0 && strncmp(name, "params_file", strlen("params_file")) == 0)
		return study_params_file_check(s, j, name, e);
	if (k < 0 && study_template_is_name(name))
		return study_template_check(s, j, name, e);
	if (k >= 0 && s->space->params[k].when != NULL && !may_vanish)
		return json_err(j, e,
		    "{%s} has no value when %s is inactive; {params} leaves "
		    "it out then",
		    name, name);
	if (k < 0 && strcmp(name, "batch") == 0 && s->trial.batch_global == 0 &&
	    s->trial.batch_param == NULL)
		return json_err(j, e,
		    "{batch} is the share of trial.batch, which is not given");
	for (i = 0; words[i] != NULL && k < 0; i++)
		if (strcmp(name, words[i]) == 0)
			return 0;
	return k < 0 ? study_command_unknown_err(s, j, name, e) : 0;
}

static int
pack_err(const struct json *j, const char *name, struct err *e)
{
	return json_err(j, e,
	    "{%s} has no value here: with trial.pack the program reads "
	    "its trials on its standard input",
	    name);
}

int
study_command_check_arg(
    const struct study *s, const struct json *j, bool may_vanish, struct err *e)
{
	const char *p = json_string(j);
	struct study_params params;
	struct piece piece;
	char *name;
	int rc = 0;

	if (study_params_parse(p, s->trial.arguments, &params))
		return s->trial.pack > 0
			   ? pack_err(j, "params", e)
			   : study_params_check(&params, s->space, j, e);
	do {
		piece = piece_next(&p);
		switch (piece.kind) {
		case PIECE_END:
		case PIECE_TEXT:
			break;
		case PIECE_NAME:
			name = xstrndup(piece.at, piece.n);
			rc = s->trial.pack > 0
				 ? pack_err(j, name, e)
				 : check_name(s, j, name, may_vanish, e);
			free(name);
			break;
		case PIECE_OPEN:
			return json_err(j, e,
			    "\"{\" without \"}\"; a literal one is written "
			    "{{");
		case PIECE_CLOSE:
			return json_err(j, e,
			    "\"}\" without \"{\"; a literal one is written "
			    "}}");
		}
	} while (rc == 0 && piece.kind != PIECE_END);
	return rc;
}

int
study_command_check_text(
    const struct study *s, const struct json *j, struct err *e)
{
	struct study_params params;

	if (study_params_parse(json_string(j), s->trial.arguments, &params))
		return json_err(j, e,
		    "{params} stands for arguments of trial.command; the file "
		    "that HPOTUNE_PARAMS names has all parameters");
	return study_command_check_arg(s, j, false, e);
}

bool
study_command_has_names(const char *text)
{
	struct piece piece;

	do
		piece = piece_next(&text);
	while (piece.kind == PIECE_TEXT);
	return piece.kind == PIECE_NAME;
}

bool
study_command_is_own(const char *text)
{
	static const char *const own[] = { "trial", "checkpoint_dir",
		"output_dir", "model_dir" };
	struct piece piece;
	size_t i;

	while ((piece = piece_next(&text)).kind != PIECE_END)
		for (i = 0; i < sizeof own / sizeof own[0]; i++)
			if (piece.kind == PIECE_NAME &&
			    piece.n == strlen(own[i]) &&
			    memcmp(piece.at, own[i], piece.n) == 0)
				return true;
	return false;
}

/* A folder that is not given leaves its name in braces. */
static void
put_dir(struct buf *b, const char *dir, const char *name)
{
	if (dir != NULL)
		buf_puts(b, dir);
	else
		buf_printf(b, "{%s}", name);
}

static void
put_params_file(struct buf *b, const struct study_command_vars *vars,
    const char *name, enum study_params_file form)
{
	put_dir(b, vars->params_dir, name);
	if (vars->params_dir == NULL)
		return;
	buf_putc(b, '/');
	study_params_file_put_name(b, form);
}

static void
put_template(struct buf *b, const struct study_command_vars *vars,
    const char *name, const struct study_template *t)
{
	put_dir(b, vars->params_dir, name);
	if (vars->params_dir == NULL)
		return;
	buf_putc(b, '/');
	study_template_put_name(b, t);
}

static void
put_name(struct buf *b, const struct study *s, const struct value *values,
    const struct study_command_vars *vars, const char *name)
{
	int k = space_find(s->space, name);
	const struct study_template *t;
	enum study_params_file form;

	if (k >= 0)
		param_value_put(b, &values[k]);
	else if (study_params_file_parse(name, &form))
		put_params_file(b, vars, name, form);
	else if ((t = study_template_find(&s->trial, name)) != NULL)
		put_template(b, vars, name, t);
	else if (strcmp(name, "trial") == 0)
		buf_printf(b, "%" PRId64, vars->trial);
	else if (strcmp(name, "attempt") == 0)
		buf_printf(b, "%d", vars->attempt);
	else if (strcmp(name, "batch") == 0)
		buf_printf(b, "%" PRId64, vars->batch);
	else if (strcmp(name, "study_dir") == 0)
		buf_puts(b, s->dir);
	else if (strcmp(name, "checkpoint_dir") == 0)
		put_dir(b, vars->checkpoint_dir, name);
	else if (strcmp(name, "model_dir") == 0)
		put_dir(b, vars->model_dir, name);
	else
		put_dir(b, vars->output_dir, name);
}

char *
study_command_fill(const struct study *s, const char *p,
    const struct value *values, const struct study_command_vars *vars)
{
	struct buf b = { 0 };
	struct piece piece;
	char *name;

	while ((piece = piece_next(&p)).kind != PIECE_END) {
		if (piece.kind == PIECE_TEXT) {
			buf_add(&b, piece.at, piece.n);
			continue;
		}
		name = xstrndup(piece.at, piece.n);
		if (values == NULL && strcmp(name, "study_dir") == 0)
			buf_puts(&b, s->dir);
		else if (values == NULL)
			buf_printf(&b, "{%s}", name);
		else
			put_name(&b, s, values, vars, name);
		free(name);
	}
	return buf_take(&b);
}

/* Folders of an attempt are absolute paths, also before their values exist. */
static char *
workdir_join(const struct study *s, const char *text)
{
	if (*text == '/' ||
	    strncmp(text, "{output_dir}", strlen("{output_dir}")) == 0 ||
	    strncmp(text, "{checkpoint_dir}", strlen("{checkpoint_dir}")) == 0)
		return xstrdup(text);
	if (strcmp(text, ".") == 0)
		return xstrdup(s->dir);
	return xasprintf("%s/%s", strcmp(s->dir, "/") == 0 ? "" : s->dir, text);
}

char *
study_command_plain_dir(const struct study *s, const char *text)
{
	char *plain = study_command_fill(s, text, NULL, NULL);
	char *path = workdir_join(s, plain);

	free(plain);
	return path;
}

char *
study_workdir(const struct study *s, const struct value *values,
    const struct study_command_vars *vars)
{
	char *text = study_command_fill(s, s->trial.workdir_text, values, vars);
	char *path = workdir_join(s, text);

	free(text);
	return path;
}

char **
study_env(const struct study *s, const struct value *values,
    const struct study_command_vars *vars)
{
	char *const *text = s->trial.env_text;
	size_t i, n = 0;
	char **env;

	while (text[n] != NULL)
		n++;
	env = xcalloc(n + 1, sizeof *env);
	for (i = 0; i < n; i++)
		env[i] = study_command_fill(s, text[i], values, vars);
	return env;
}

/* The forms of {params_file} in a text, as bits. */
static unsigned
files_in(const char *text)
{
	enum study_params_file form;
	struct piece piece;
	unsigned found = 0;
	char *name;

	while ((piece = piece_next(&text)).kind != PIECE_END) {
		if (piece.kind != PIECE_NAME)
			continue;
		name = xstrndup(piece.at, piece.n);
		if (study_params_file_parse(name, &form))
			found |= 1U << form;
		free(name);
	}
	return found;
}

static bool
names_template(const struct study_trial *t, const char *text)
{
	struct piece piece;
	bool found = false;
	char *name;

	while (!found && (piece = piece_next(&text)).kind != PIECE_END) {
		if (piece.kind != PIECE_NAME)
			continue;
		name = xstrndup(piece.at, piece.n);
		found = study_template_find(t, name) != NULL;
		free(name);
	}
	return found;
}

bool
study_command_has_template(const struct study_trial *t)
{
	size_t i;

	for (i = 0; t->command[i] != NULL; i++)
		if (names_template(t, t->command[i]))
			return true;
	for (i = 0; t->env_text[i] != NULL; i++)
		if (names_template(t, t->env_text[i]))
			return true;
	return false;
}

/* Whether a list of names with commas has this one. */
static bool
list_has(const char *names, size_t len, const char *name)
{
	const char *end = names + len, *comma;
	size_t n = strlen(name);

	for (; names < end; names = comma + 1) {
		comma = memchr(names, ',', (size_t)(end - names));
		if (comma == NULL)
			comma = end;
		if ((size_t)(comma - names) == n && memcmp(names, name, n) == 0)
			return true;
	}
	return false;
}

/* Whether a template gives the parameter to the program. */
static bool
text_gives(const struct study *s, const char *text, const char *param)
{
	struct study_params params;
	struct piece piece;

	if (study_params_parse(text, s->trial.arguments, &params))
		return params.names == NULL ||
		       list_has(params.names, params.names_len, param);
	if (files_in(text) != 0)
		return true;
	while ((piece = piece_next(&text)).kind != PIECE_END)
		if (piece.kind == PIECE_NAME && piece.n == strlen(param) &&
		    memcmp(piece.at, param, piece.n) == 0)
			return true;
	return false;
}

bool
study_command_gives(const struct study *s, const char *param)
{
	const struct study_trial *t = &s->trial;
	size_t i;

	if (t->n_templates > 0 ||
	    (t->batch_param != NULL && strcmp(t->batch_param, param) == 0) ||
	    text_gives(s, t->workdir_text, param))
		return true;
	for (i = 0; t->command[i] != NULL; i++)
		if (text_gives(s, t->command[i], param))
			return true;
	for (i = 0; t->env_text[i] != NULL; i++)
		if (text_gives(s, t->env_text[i], param))
			return true;
	return false;
}

bool
study_command_has_params_file(const struct study_trial *t)
{
	size_t i;

	for (i = 0; t->command[i] != NULL; i++)
		if (files_in(t->command[i]) != 0)
			return true;
	return false;
}

char **
study_params_files(const struct study *s, const struct value *values)
{
	const struct study_trial *t = &s->trial;
	unsigned found = files_in(t->workdir_text);
	struct strv list = { 0 };
	struct buf b = { 0 };
	int form;
	size_t i;

	for (i = 0; t->command[i] != NULL; i++)
		found |= files_in(t->command[i]);
	for (i = 0; t->env_text[i] != NULL; i++)
		found |= files_in(t->env_text[i]);
	for (form = 0; form < STUDY_PARAMS_FILES; form++) {
		if ((found & 1U << form) == 0)
			continue;
		study_params_file_put_name(&b, (enum study_params_file)form);
		strv_add(&list, buf_take(&b));
		study_params_file_put(
		    &b, (enum study_params_file)form, s->space, values);
		strv_add(&list, buf_take(&b));
	}
	return list.v;
}

int64_t
study_batch(const struct study *s, const struct value *values)
{
	if (s->trial.batch_param == NULL)
		return s->trial.batch_global;
	return values[space_find(s->space, s->trial.batch_param)].integer;
}

/* Whether an argument names a parameter that is inactive. */
static bool
is_inactive(
    const struct study *s, const char *argument, const struct value *values)
{
	struct piece piece;
	bool found = false;
	char *name;
	int k;

	while ((piece = piece_next(&argument)).kind != PIECE_END) {
		if (piece.kind != PIECE_NAME)
			continue;
		name = xstrndup(piece.at, piece.n);
		k = space_find(s->space, name);
		found |= k >= 0 && values[k].kind == VALUE_NONE;
		free(name);
	}
	return found;
}

/* Whether a part, which begins at argument i, is left out. */
static bool
part_vanishes(const struct study *s, size_t i, const struct value *values)
{
	const struct study_trial *t = &s->trial;
	size_t part = t->command_parts[i];

	for (;
	     part != 0 && t->command[i] != NULL && t->command_parts[i] == part;
	     i++)
		if (is_inactive(s, t->command[i], values))
			return true;
	return false;
}

char **
study_command(const struct study *s, const struct value *values,
    const struct study_command_vars *vars)
{
	const struct study_trial *t = &s->trial;
	struct study_params params;
	struct strv argv = { 0 };
	size_t i, part = 0;
	bool vanishes = false;

	for (i = 0; t->command[i] != NULL; i++) {
		if (t->command_parts[i] != part || part == 0)
			vanishes = part_vanishes(s, i, values);
		part = t->command_parts[i];
		if (vanishes)
			continue;
		if (study_params_parse(t->command[i], t->arguments, &params))
			study_params_add(&argv, &params, s->space, values);
		else
			strv_add(&argv,
			    study_command_fill(s, t->command[i], values, vars));
	}
	if (argv.v == NULL)
		argv.v = xcalloc(1, sizeof *argv.v);
	return argv.v;
}
