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

static const char params_word[] = "{params}";
/* Names in braces that are no parameters. */
static const char *const words[] = { "trial", "attempt", "checkpoint_dir",
	"output_dir", "model_dir", "batch", NULL };

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
unknown_err(const struct study *s, const struct json *j, const char *name,
    struct err *e)
{
	const struct space *space = s->space;
	const char **names = xcalloc(
	    space->n + sizeof words / sizeof words[0] + 1, sizeof *names);
	struct buf hint = { 0 };
	size_t i, n = 0;

	/* Not a name: JSON, or a template of another program. */
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

static int
check_name(const struct study *s, const struct json *j, const char *name,
    struct err *e)
{
	size_t i;
	int k;

	if (strcmp(name, "params") == 0)
		return json_err(
		    j, e, "{params} must be an argument of its own");
	k = space_find(s->space, name);
	if (k >= 0 && s->space->params[k].parent >= 0)
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
	return k < 0 ? unknown_err(s, j, name, e) : 0;
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
    const struct study *s, const struct json *j, struct err *e)
{
	const char *p = json_string(j);
	struct piece piece;
	char *name;
	int rc = 0;

	if (strcmp(p, params_word) == 0)
		return s->trial.pack > 0 ? pack_err(j, "params", e) : 0;
	do {
		piece = piece_next(&p);
		switch (piece.kind) {
		case PIECE_END:
		case PIECE_TEXT:
			break;
		case PIECE_NAME:
			name = xstrndup(piece.at, piece.n);
			rc = s->trial.pack > 0 ? pack_err(j, name, e)
					       : check_name(s, j, name, e);
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
	if (strcmp(json_string(j), params_word) == 0)
		return json_err(j, e,
		    "{params} stands for arguments of trial.command; the file "
		    "that HPOTUNE_PARAMS names has all parameters");
	return study_command_check_arg(s, j, e);
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
put_name(struct buf *b, const struct study *s, const struct value *values,
    const struct study_command_vars *vars, const char *name)
{
	int k = space_find(s->space, name);

	if (k >= 0)
		param_value_put(b, &values[k]);
	else if (strcmp(name, "trial") == 0)
		buf_printf(b, "%" PRId64, vars->trial);
	else if (strcmp(name, "attempt") == 0)
		buf_printf(b, "%d", vars->attempt);
	else if (strcmp(name, "batch") == 0)
		buf_printf(b, "%" PRId64, vars->batch);
	else if (strcmp(name, "checkpoint_dir") == 0)
		put_dir(b, vars->checkpoint_dir, name);
	else if (strcmp(name, "model_dir") == 0)
		put_dir(b, vars->model_dir, name);
	else
		put_dir(b, vars->output_dir, name);
}

/* values NULL: without a trial the names stay as written. */
static char *
argument_fill(const struct study *s, const char *p, const struct value *values,
    const struct study_command_vars *vars)
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
		if (values == NULL)
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
study_command_plain(const struct study *s, const char *text)
{
	return argument_fill(s, text, NULL, NULL);
}

char *
study_command_plain_dir(const struct study *s, const char *text)
{
	char *plain = study_command_plain(s, text);
	char *path = workdir_join(s, plain);

	free(plain);
	return path;
}

char *
study_workdir(const struct study *s, const struct value *values,
    const struct study_command_vars *vars)
{
	char *text = argument_fill(s, s->trial.workdir_text, values, vars);
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
		env[i] = argument_fill(s, text[i], values, vars);
	return env;
}

int64_t
study_batch(const struct study *s, const struct value *values)
{
	if (s->trial.batch_param == NULL)
		return s->trial.batch_global;
	return values[space_find(s->space, s->trial.batch_param)].integer;
}

/* A value in Python's syntax. */
static void
put_python(struct buf *b, const struct value *v)
{
	if (v->kind == VALUE_BOOL)
		buf_puts(b, v->integer != 0 ? "True" : "False");
	else if (v->kind != VALUE_NULL)
		param_value_put(b, v);
}

/* The active parameter whose name follows alphabetically; -1 = none. */
static int
param_after(const struct space *space, const struct value *values, int after)
{
	const char *name, *last = NULL, *best = NULL;
	int found = -1;
	size_t k;

	if (after >= 0)
		last = space->params[after].name;
	for (k = 0; k < space->n; k++) {
		name = space->params[k].name;
		if (values[k].kind == VALUE_NONE ||
		    (last != NULL && strcmp(name, last) <= 0) ||
		    (best != NULL && strcmp(name, best) >= 0))
			continue;
		best = name;
		found = (int)k;
	}
	return found;
}

/* --NAME VALUE, or -N VALUE, sorted by name; returns how many words. */
static size_t
params_put_toolkit(
    char **argv, const struct space *space, const struct value *values)
{
	struct buf b = { 0 };
	const char *name;
	size_t n = 0;
	int k = -1;

	while ((k = param_after(space, values, k)) >= 0) {
		name = space->params[k].name;
		argv[n++] =
		    xasprintf("%s%s", name[1] == '\0' ? "-" : "--", name);
		put_python(&b, &values[k]);
		argv[n++] = buf_take(&b);
	}
	return n;
}

/* --NAME=VALUE, in the order of the file. */
static size_t
params_put(char **argv, const struct space *space, const struct value *values)
{
	struct buf b = { 0 };
	size_t k, n = 0;

	for (k = 0; k < space->n; k++) {
		if (values[k].kind == VALUE_NONE)
			continue;
		buf_printf(&b, "--%s=", space->params[k].name);
		param_value_put(&b, &values[k]);
		argv[n++] = buf_take(&b);
	}
	return n;
}

char **
study_command(const struct study *s, const struct value *values,
    const struct study_command_vars *vars)
{
	const struct space *space = s->space;
	char *const *command = s->trial.command;
	char **argv;
	size_t i, n = 0, lists = 0;

	for (i = 0; command[i] != NULL; i++)
		lists += strcmp(command[i], params_word) == 0;
	argv = xcalloc(i + 2 * lists * space->n + 1, sizeof *argv);
	for (i = 0; command[i] != NULL; i++) {
		if (strcmp(command[i], params_word) != 0)
			argv[n++] = argument_fill(s, command[i], values, vars);
		else if (s->trial.toolkit_arguments)
			n += params_put_toolkit(argv + n, space, values);
		else
			n += params_put(argv + n, space, values);
	}
	return argv;
}
