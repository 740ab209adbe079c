/*
 * Which lines and files of a trial its metrics are read from: trial.metrics,
 * trial.reads and trial.step_regex.
 */

#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/model/study/study-internal.h"

/*
 * What trial.reads may name: libraries, and formats of lines, which are those of the
 * library of their name.
 */
static const struct preset {
	const char *name;
	unsigned lines;
} presets[] = {
	{ "lightning", 0 },
	{ "lightgbm", STUDY_LINES_XGBOOST },
	{ "tensorboard", 0 },
	{ "ultralytics", 0 },
	{ "skorch", STUDY_LINES_TABLE },
	{ "spacy", STUDY_LINES_TABLE },
	{ "fastai", STUDY_LINES_TABLE },
#define STUDY_LINES(name, NAME) { #name, STUDY_LINES_##NAME },
#include "src/model/study/study-lines.inc"
#undef STUDY_LINES
};
enum { PRESETS = sizeof presets / sizeof presets[0] };

/*
 * And the files, anywhere below the trial's folder.  Lightning writes metrics.csv
 * only where it writes no event files, unless both were asked for.
 */
static const struct preset_file {
	const char *preset, *format;
	const char *only; /* files of this name, or NULL */
	const char *prefix; /* before the names in them, or NULL */
	bool unless_events;
} preset_files[] = {
	{ "lightning", "tensorboard", NULL, NULL, false },
	{ "lightning", "csv", "metrics.csv", NULL, true },
	{ "tensorboard", "tensorboard", NULL, NULL, false },
	{ "mmengine", "json", "scalars.json", NULL, false },
	{ "sb3", "csv", "progress.csv", NULL, false },
	{ "ultralytics", "csv", "results.csv", NULL, false },
	{ "catboost", "csv", "learn_error.tsv", "learn", false },
	{ "catboost", "csv", "test_error.tsv", "test", false },
};
enum { PRESET_FILES = sizeof preset_files / sizeof preset_files[0] };

static int
read_regex(char **out, const struct json *j, struct err *e)
{
	const char *text;

	if (json_read_string(j, &text, e) != 0)
		return -1;
	if (*text == '\0')
		return json_err(j, e, "expected a regular expression");
	*out = xstrdup(text);
	return 0;
}

static struct study_file *
file_add(struct study_trial *t, const char *format, const char *path)
{
	struct study_file *f;

	t->files = xreallocarray(t->files, t->n_files + 1, sizeof *t->files);
	f = &t->files[t->n_files++];
	*f = (struct study_file){ .format = xstrdup(format),
		.path_text = xstrdup(path) };
	return f;
}

/* scikit-learn's gradient boosting prints a table. */
static unsigned
preset_lines(const struct preset *p)
{
	return p->lines == STUDY_LINES_SKLEARN ? p->lines | STUDY_LINES_TABLE
					       : p->lines;
}

static void
preset_add(struct study_trial *t, const struct preset *p)
{
	const struct preset_file *pf;
	struct study_file *f;

	t->lines |= preset_lines(p);
	for (pf = preset_files; pf < preset_files + PRESET_FILES; pf++) {
		if (strcmp(pf->preset, p->name) != 0)
			continue;
		f = file_add(t, pf->format, ".");
		f->only = pf->only != NULL ? xstrdup(pf->only) : NULL;
		f->prefix = pf->prefix != NULL ? xstrdup(pf->prefix) : NULL;
		f->unless_events = pf->unless_events;
	}
}

const char *
study_read_metrics_preset(size_t i, bool lines)
{
	size_t at;

	for (at = 0; at < PRESETS; at++)
		if ((!lines || presets[at].lines != 0) && i-- == 0)
			return presets[at].name;
	return NULL;
}

static int
preset_find(const struct preset **out, const struct json *j, struct err *e)
{
	const char *names[PRESETS + 1] = { NULL };
	size_t i;

	for (i = 0; i < PRESETS; i++)
		names[i] = presets[i].name;
	if (json_read_word(j, names, &i, e) != 0)
		return -1;
	*out = &presets[i];
	return 0;
}

static int
read_preset(struct study_trial *t, const struct json *j, struct err *e)
{
	const struct preset *p;

	if (preset_find(&p, j, e) != 0)
		return -1;
	preset_add(t, p);
	return 0;
}

static int
read_presets(struct study_trial *t, const struct json *j, struct err *e)
{
	if (json_type(j) != JSON_ARRAY)
		return read_preset(t, j, e);
	for (j = json_first(j); j != NULL; j = json_next(j))
		if (read_preset(t, j, e) != 0)
			return -1;
	return 0;
}

/* A path that is the same for all trials mixes their metrics. */
static int
read_path(const struct study *s, const struct json *j, const char **out,
    struct err *e)
{
	if (json_read_string(j, out, e) != 0 ||
	    study_command_check_text(s, j, e) != 0)
		return -1;
	if (**out == '\0')
		return json_err(j, e, "expected a file or a folder");
	if (**out == '/' && !study_command_is_own(*out))
		return json_err(j, e,
		    "every trial would read this path: name {trial} or "
		    "{output_dir} in it");
	return 0;
}

/* "tag" and "name": a metric that has another name in the file. */
static int
read_tag(struct study_trial *t, const struct json *block, struct err *e)
{
	const struct json *tag = json_get(block, "tag");
	const struct json *name = json_get(block, "name");
	struct study_tag *to;
	const char *text;

	if (tag == NULL && name == NULL)
		return 0;
	if (tag == NULL)
		return json_err(
		    name, e, "expected \"tag\", too: its name in the file");
	if (name == NULL)
		return json_err(
		    tag, e, "expected \"name\", too: the name of the metric");
	if (json_read_string(tag, &text, e) != 0)
		return -1;
	if (*text == '\0')
		return json_err(tag, e, "expected the name in the file");
	t->tags = xreallocarray(t->tags, t->n_tags + 1, sizeof *t->tags);
	to = &t->tags[t->n_tags++];
	*to = (struct study_tag){ .tag = xstrdup(text) };
	return study_read_metric_name(&to->name, name, e);
}

/*
 * The entries that name one file in the same format are one source: several give
 * tags or patterns of it.
 */
static struct study_file *
file_of(struct study_trial *t, const char *format, const char *path,
    const char *step)
{
	struct study_file *f;
	size_t i;

	for (i = 0; i < t->n_files; i++) {
		f = &t->files[i];
		if (f->where != NULL && strcmp(f->format, format) == 0 &&
		    strcmp(f->path_text, path) == 0 &&
		    (f->step == NULL || step == NULL ||
			strcmp(f->step, step) == 0))
			return f;
	}
	return file_add(t, format, path);
}

static int
read_pattern(struct study_metric **list, size_t *n, const struct json *block,
    struct err *e)
{
	struct study_metric *m;
	const struct json *j;

	*list = xreallocarray(*list, *n + 1, sizeof **list);
	m = &(*list)[(*n)++];
	*m = (struct study_metric){ 0 };
	j = json_need(block, "name", e);
	if (j == NULL || study_read_metric_name(&m->name, j, e) != 0)
		return -1;
	m->where = json_need(block, "regex", e);
	if (m->where == NULL)
		return -1;
	return read_regex(&m->regex, m->where, e);
}

/* "reads" of a file: only what reads lines. */
static int
read_file_lines(struct study_file *f, const struct json *j, struct err *e)
{
	const struct preset *p;

	if (json_type(j) == JSON_ARRAY) {
		for (j = json_first(j); j != NULL; j = json_next(j))
			if (read_file_lines(f, j, e) != 0)
				return -1;
		return 0;
	}
	if (preset_find(&p, j, e) != 0)
		return -1;
	if (p->lines == 0)
		return json_err(j, e,
		    "%s reads files of its own, not the lines of another one",
		    p->name);
	f->lines |= preset_lines(p);
	return 0;
}

/* regex with its name, step_regex and reads: the lines of a text. */
static int
read_file_text(struct study_file *f, const struct json *block, struct err *e)
{
	const struct json *j;

	if ((j = json_get(block, "reads")) != NULL &&
	    read_file_lines(f, j, e) != 0)
		return -1;
	if ((j = json_get(block, "step_regex")) != NULL) {
		free(f->step_regex);
		if (read_regex(&f->step_regex, j, e) != 0)
			return -1;
	}
	if (json_get(block, "regex") == NULL && json_get(block, "name") == NULL)
		return 0;
	return read_pattern(&f->metrics, &f->n_metrics, block, e);
}

static int
read_format(const struct json *block, const char **format, struct err *e)
{
	const struct json *from = json_get(block, "from");

	*format = "text";
	return from != NULL ? json_read_string(from, format, e) : 0;
}

/* Set the key of the step of JSON lines on standard output. */
static void
lines_step_set(struct study_trial *t, const char *step)
{
	t->lines |= STUDY_LINES_JSON;
	if (step == NULL)
		return;
	free(t->lines_step);
	t->lines_step = xstrdup(step);
}

/*
 * {"from": FORMAT, "path": ..., "step": ..., "tag": ..., "name": ...}, or a
 * pattern with a path.  Whether the format exists and has these keys, the server
 * checks (metric_files_check).
 */
static int
read_file(struct study *s, const struct json *block, struct err *e)
{
	static const char *const keys[] = { "from", "path", "step", "tag",
		"name", "regex", "step_regex", "reads", NULL };
	struct study_trial *t = &s->trial;
	const struct json *path = json_get(block, "path");
	const struct json *step = json_get(block, "step");
	const char *path_text = ".", *step_text = NULL, *format;
	struct study_file *f;

	if (json_only(block, keys, e) != 0 ||
	    read_format(block, &format, e) != 0)
		return -1;
	if (path != NULL && read_path(s, path, &path_text, e) != 0)
		return -1;
	if (step != NULL && json_read_string(step, &step_text, e) != 0)
		return -1;
	if (strcmp(format, "text") != 0 && read_tag(t, block, e) != 0)
		return -1;
	if (strcmp(format, "json") == 0 && path == NULL) {
		lines_step_set(t, step_text);
		return 0;
	}
	f = file_of(t, format, path_text, step_text);
	if (f->step == NULL && step_text != NULL)
		f->step = xstrdup(step_text);
	f->where = block;
	return strcmp(format, "text") == 0 ? read_file_text(f, block, e) : 0;
}

static int
read_entry(struct study *s, const struct json *block, struct err *e)
{
	static const char *const keys[] = { "name", "regex", "from", "path",
		NULL };
	struct study_trial *t = &s->trial;

	if (json_want(block, JSON_OBJECT, e) != 0)
		return -1;
	if (json_get(block, "from") != NULL || json_get(block, "path") != NULL)
		return read_file(s, block, e);
	if (json_only(block, keys, e) != 0)
		return -1;
	return read_pattern(&t->metrics, &t->n_metrics, block, e);
}

static int
read_metrics_list(struct study *s, const struct json *list, struct err *e)
{
	const struct json *j;

	if (json_want(list, JSON_ARRAY, e) != 0)
		return -1;
	for (j = json_first(list); j != NULL; j = json_next(j))
		if (read_entry(s, j, e) != 0)
			return -1;
	return 0;
}

int
study_read_metrics(struct study *s, const struct json *block, struct err *e)
{
	const struct json *j;

	if ((j = json_get(block, "reads")) != NULL &&
	    read_presets(&s->trial, j, e) != 0)
		return -1;
	s->trial.metrics_where = json_get(block, "metrics");
	if ((j = s->trial.metrics_where) != NULL &&
	    read_metrics_list(s, j, e) != 0)
		return -1;
	j = json_get(block, "step_regex");
	return j != NULL ? read_regex(&s->trial.step_regex, j, e) : 0;
}

/* The folder of a trial, and where its relative paths begin. */
static char *
trial_folder(const struct study *s, const struct value *values,
    const struct study_command_vars *vars)
{
	if (study_command_is_own(s->trial.workdir_text))
		return study_workdir(s, values, vars);
	return xstrdup(vars->output_dir);
}

char **
study_file_paths(const struct study *s, const struct value *values,
    const struct study_command_vars *vars)
{
	const struct study_trial *t = &s->trial;
	char *folder = trial_folder(s, values, vars), *path;
	struct strv list = { 0 };
	size_t i;

	for (i = 0; i < t->n_files; i++) {
		path =
		    study_command_fill(s, t->files[i].path_text, values, vars);
		if (strcmp(path, ".") == 0)
			strv_add(&list, xstrdup(folder));
		else if (*path == '/')
			strv_add(&list, xstrdup(path));
		else
			strv_add(&list, xasprintf("%s/%s", folder, path));
		free(path);
	}
	free(folder);
	return list.v;
}

bool
study_files_elsewhere(const struct study_trial *t)
{
	size_t i;

	for (i = 0; i < t->n_files; i++)
		if (*t->files[i].path_text != '/' &&
		    strncmp(t->files[i].path_text, "{output_dir}",
			strlen("{output_dir}")) != 0)
			return !study_command_is_own(t->workdir_text);
	return false;
}

static void
patterns_clear(struct study_metric *list, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		free(list[i].name);
		free(list[i].regex);
	}
	free(list);
}

static void
file_clear(struct study_file *f)
{
	free(f->format);
	free(f->path_text);
	free(f->only);
	free(f->step);
	free(f->prefix);
	free(f->step_regex);
	patterns_clear(f->metrics, f->n_metrics);
}

void
study_metrics_clear(struct study_trial *t)
{
	size_t i;

	patterns_clear(t->metrics, t->n_metrics);
	for (i = 0; i < t->n_files; i++)
		file_clear(&t->files[i]);
	for (i = 0; i < t->n_tags; i++) {
		free(t->tags[i].tag);
		free(t->tags[i].name);
	}
	free(t->files);
	free(t->tags);
	free(t->lines_step);
	free(t->step_regex);
}
