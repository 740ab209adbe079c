/*
 * trial.metrics, trial.reads and trial.step_regex: which lines and files of a
 * trial its metrics are read from.
 */

#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/model/study/study-internal.h"

/* What trial.reads may name: lines, and files below the trial's folder. */
static const struct preset {
	const char *name;
	unsigned lines;
	bool tensorboard;
	const char *csv; /* files of this name, or NULL */
} presets[] = {
	{ .name = "lightning", .tensorboard = true, .csv = "metrics.csv" },
	{ .name = "hf", .lines = STUDY_LINES_HF },
	{ .name = "keras", .lines = STUDY_LINES_KERAS },
	{ .name = "xgboost", .lines = STUDY_LINES_BOOSTING },
	{ .name = "lightgbm", .lines = STUDY_LINES_BOOSTING },
	{ .name = "fasttext", .lines = STUDY_LINES_FASTTEXT },
	{ .name = "tensorboard", .tensorboard = true },
	{ .name = "json", .lines = STUDY_LINES_JSON },
};
enum { PRESETS = sizeof presets / sizeof presets[0] };

/* Values of "from". */
static const char *const formats[] = {
	[STUDY_FILE_TENSORBOARD] = "tensorboard",
	[STUDY_FILE_CSV] = "csv",
	[STUDY_FILE_JSON] = "json",
	[STUDY_FILE_TRAINER_STATE] = "trainer_state",
	NULL,
};

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
file_add(struct study_trial *t, enum study_file_format format, const char *path)
{
	struct study_file *f;

	t->files = xreallocarray(t->files, t->n_files + 1, sizeof *t->files);
	f = &t->files[t->n_files++];
	*f =
	    (struct study_file){ .format = format, .path_text = xstrdup(path) };
	return f;
}

/* Every file below the folder of the trial, named by a preset. */
static void
preset_add(struct study_trial *t, const struct preset *p)
{
	t->lines |= p->lines;
	if (p->tensorboard)
		(void)file_add(t, STUDY_FILE_TENSORBOARD, ".");
	if (p->csv != NULL)
		file_add(t, STUDY_FILE_CSV, ".")->only = xstrdup(p->csv);
}

static int
read_preset(struct study_trial *t, const struct json *j, struct err *e)
{
	const char *names[PRESETS + 1] = { NULL };
	size_t i;

	for (i = 0; i < PRESETS; i++)
		names[i] = presets[i].name;
	if (json_read_word(j, names, &i, e) != 0)
		return -1;
	preset_add(t, &presets[i]);
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

static bool
has_file(const struct study_trial *t, enum study_file_format format,
    const char *path)
{
	size_t i;

	for (i = 0; i < t->n_files; i++)
		if (t->files[i].format == format && t->files[i].only == NULL &&
		    strcmp(t->files[i].path_text, path) == 0)
			return true;
	return false;
}

/* {"from": FORMAT, "path": …, "step": …, "tag": …, "name": …} */
static int
read_file(struct study *s, const struct json *block, struct err *e)
{
	static const char *const keys[] = { "from", "path", "step", "tag",
		"name", NULL };
	struct study_trial *t = &s->trial;
	const struct json *path = json_get(block, "path");
	const struct json *step = json_get(block, "step");
	const char *path_text = ".", *step_text = NULL;
	size_t format;

	if (json_only(block, keys, e) != 0 ||
	    json_read_word(json_get(block, "from"), formats, &format, e) != 0)
		return -1;
	if (path != NULL && read_path(s, path, &path_text, e) != 0)
		return -1;
	if (path == NULL && format == STUDY_FILE_CSV)
		return json_err(block, e,
		    "path is missing: the file, or a folder with CSV files");
	if (step != NULL && format != STUDY_FILE_CSV &&
	    format != STUDY_FILE_JSON)
		return json_err_key(
		    step, e, "this key goes with \"from\": csv or json");
	if (step != NULL && json_read_string(step, &step_text, e) != 0)
		return -1;
	if (read_tag(t, block, e) != 0)
		return -1;
	if (format == STUDY_FILE_JSON && path == NULL) {
		t->lines |= STUDY_LINES_JSON;
		if (step_text != NULL) {
			free(t->lines_step);
			t->lines_step = xstrdup(step_text);
		}
		return 0;
	}
	/* Several entries give tags of one file. */
	if (step_text == NULL &&
	    has_file(t, (enum study_file_format)format, path_text))
		return 0;
	file_add(t, (enum study_file_format)format, path_text)->step =
	    step_text != NULL ? xstrdup(step_text) : NULL;
	return 0;
}

static int
read_pattern(struct study_trial *t, const struct json *block, struct err *e)
{
	static const char *const keys[] = { "name", "regex", "from", NULL };
	struct study_metric *m = &t->metrics[t->n_metrics++];
	const struct json *j;

	if (json_only(block, keys, e) != 0)
		return -1;
	j = json_need(block, "name", e);
	if (j == NULL || study_read_metric_name(&m->name, j, e) != 0)
		return -1;
	m->where = json_need(block, "regex", e);
	if (m->where == NULL)
		return -1;
	return read_regex(&m->regex, m->where, e);
}

static int
read_list(struct study *s, const struct json *list, struct err *e)
{
	struct study_trial *t = &s->trial;
	const struct json *j;
	int rc;

	if (json_want(list, JSON_ARRAY, e) != 0)
		return -1;
	t->metrics = xcalloc(json_count(list) + 1, sizeof *t->metrics);
	for (j = json_first(list); j != NULL; j = json_next(j)) {
		rc = json_get(j, "from") != NULL ? read_file(s, j, e)
						 : read_pattern(t, j, e);
		if (rc != 0)
			return -1;
	}
	return 0;
}

int
study_read_metrics(struct study *s, const struct json *block, struct err *e)
{
	const struct json *j;

	if ((j = json_get(block, "reads")) != NULL &&
	    read_presets(&s->trial, j, e) != 0)
		return -1;
	if ((j = json_get(block, "metrics")) != NULL && read_list(s, j, e) != 0)
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

void
study_metrics_clear(struct study_trial *t)
{
	size_t i;

	for (i = 0; i < t->n_metrics; i++) {
		free(t->metrics[i].name);
		free(t->metrics[i].regex);
	}
	for (i = 0; i < t->n_files; i++) {
		free(t->files[i].path_text);
		free(t->files[i].only);
		free(t->files[i].step);
	}
	for (i = 0; i < t->n_tags; i++) {
		free(t->tags[i].tag);
		free(t->tags[i].name);
	}
	free(t->metrics);
	free(t->files);
	free(t->tags);
	free(t->lines_step);
	free(t->step_regex);
}
