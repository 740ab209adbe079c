/*
 * trial.command, trial.env and trial.workdir: checks the names in braces and
 * fills them for a trial.  No shell is involved.  {params_file}: the active
 * parameters as a file that a program reads, nested at the dots of their names.
 */

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

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

/* ---- {params_file} ------------------------------------------------------ */

static const char word[] = "params_file";
static const char *const forms[] = {
	[STUDY_PARAMS_FILE_JSON] = "json",
	[STUDY_PARAMS_FILE_YAML] = "yaml",
	[STUDY_PARAMS_FILE_TOML] = "toml",
	NULL,
};

/* Whether a name in braces is params_file, or params_file:FORM. */
static bool
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

/* The same, with an error for a wrong form, or names that cannot be nested. */
static int
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

static void
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

static void
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

/* ---- names in braces ---------------------------------------------------- */

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
