/*
 * The "trial" block of study.json: program, environment and resources, and which
 * lines and files of a trial its metrics are read from.
 */

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/model/plugin-options.h"
#include "src/model/space.h"
#include "src/model/study/study-internal.h"

enum {
	GRACE_MS = 120000,
	RETRIES = 2,
	RETRIES_MAX = 1000,
	SLOT_PARTS_MAX = 100000, /* GPUs, cores or processes of one trial */
	PACK_MIN = 2,
	PACK_MAX = 4096,
	SERVERS_MAX = 500
};

static const char *const known[] = { "command", "arguments", "workdir", "env",
	"clean_env", "pass_env", "metrics", "reads", "step_regex", "max_steps",
	"max_run", "on_max_run", "grace", "retries", "gpus", "gpu_memory",
	"cpus", "memory", "launcher", "processes", "parameter_servers", "batch",
	"pack", "files", NULL };
static const char *const max_run_ends[] = {
	[STUDY_ON_MAX_RUN_STOPPED] = "stopped",
	[STUDY_ON_MAX_RUN_COMPLETED] = "completed",
	[STUDY_ON_MAX_RUN_FAILED] = "failed",
	NULL,
};
static const char *const launchers[] = {
	[STUDY_LAUNCHER_NONE] = "none",
	[STUDY_LAUNCHER_RANKS] = "ranks",
	[STUDY_LAUNCHER_TORCHRUN] = "torchrun",
	[STUDY_LAUNCHER_MPIRUN] = "mpirun",
	[STUDY_LAUNCHER_SRUN] = "srun",
	NULL,
};

/* ---- metrics, reads, step_regex ----------------------------------------- */

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

/* trial.metrics, trial.reads and trial.step_regex; after workdir was read. */
static int
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

static void
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

/* ---- the block ---------------------------------------------------------- */

/* One argument; part: the list inside the list that it is in, or 0. */
static int
read_argument(struct study *s, const struct json *j, size_t *n, size_t part,
    struct err *e)
{
	const char *text;

	if (json_read_string(j, &text, e) != 0)
		return -1;
	if (*n == 0 && *text == '\0')
		return json_err(j, e, "expected a program");
	if (study_command_check_arg(s, j, part > 0, e) != 0)
		return -1;
	s->trial.command[*n] = xstrdup(text);
	s->trial.command_parts[(*n)++] = part;
	return 0;
}

/* Arguments in a list of their own, which may be left out. */
static int
read_part(struct study *s, const struct json *list, size_t *n, size_t part,
    struct err *e)
{
	const struct json *j;

	if (*n == 0)
		return json_err(list, e, "expected a program, not a list");
	if (s->trial.pack > 0)
		return json_err(list, e,
		    "cannot be combined with trial.pack, whose program "
		    "reads its trials from standard input");
	for (j = json_first(list); j != NULL; j = json_next(j))
		if (read_argument(s, j, n, part, e) != 0)
			return -1;
	return 0;
}

static int
read_command(struct study *s, const struct json *list, struct err *e)
{
	const struct json *j;
	size_t n = 0, all = 0, parts = 0;
	int rc = 0;

	if (json_want(list, JSON_ARRAY, e) != 0)
		return -1;
	if (json_count(list) == 0)
		return json_err(
		    list, e, "expected a program and its arguments");
	for (j = json_first(list); j != NULL; j = json_next(j))
		all += json_type(j) == JSON_ARRAY ? json_count(j) : 1;
	s->trial.command = xcalloc(all + 1, sizeof *s->trial.command);
	s->trial.command_parts =
	    xcalloc(all + 1, sizeof *s->trial.command_parts);
	for (j = json_first(list); j != NULL && rc == 0; j = json_next(j))
		rc = json_type(j) == JSON_ARRAY
			 ? read_part(s, j, &n, ++parts, e)
			 : read_argument(s, j, &n, 0, e);
	return rc;
}

static int
read_workdir(struct study *s, const struct json *j, struct err *e)
{
	const char *text = ".";

	if (j != NULL && json_read_string(j, &text, e) != 0)
		return -1;
	if (*text == '\0')
		return json_err(j, e, "expected a folder");
	if (j != NULL && study_command_check_text(s, j, e) != 0)
		return -1;
	s->trial.workdir_text = xstrdup(text);
	s->trial.workdir = study_command_plain_dir(s, text);
	return 0;
}

static bool
env_name_good(const char *name)
{
	size_t i;

	if (isdigit((unsigned char)*name) || *name == '\0')
		return false;
	for (i = 0; name[i] != '\0'; i++)
		if (!isalnum((unsigned char)name[i]) && name[i] != '_')
			return false;
	return true;
}

static int
read_env(struct study *s, const struct json *block, struct err *e)
{
	struct study_trial *t = &s->trial;
	const struct json *j;
	const char *text, *name;
	size_t n = 0;

	if (json_want(block, JSON_OBJECT, e) != 0)
		return -1;
	t->env = xreallocarray(t->env, json_count(block) + 1, sizeof *t->env);
	t->env_text = xreallocarray(
	    t->env_text, json_count(block) + 1, sizeof *t->env_text);
	for (j = json_first(block); j != NULL; j = json_next(j)) {
		name = json_key(j);
		if (!env_name_good(name))
			return json_err_key(j, e,
			    "the name of a variable has letters, digits and "
			    "_ only");
		if (strncmp(name, "HPOTUNE_", 8) == 0)
			return json_err_key(j, e,
			    "names with HPOTUNE_ are set by hpotune itself");
		if (json_read_string(j, &text, e) != 0 ||
		    study_command_check_text(s, j, e) != 0)
			return -1;
		t->env_text[n] = xasprintf("%s=%s", name, text);
		t->env[n] = study_command_fill(s, t->env_text[n], NULL, NULL);
		t->env_text[++n] = NULL;
		t->env[n] = NULL;
	}
	return 0;
}

static int
read_pass_env(struct study_trial *t, const struct json *list, struct err *e)
{
	const struct json *j;
	const char *text;
	size_t n = 0;

	if (json_want(list, JSON_ARRAY, e) != 0)
		return -1;
	t->pass_env = xreallocarray(
	    t->pass_env, json_count(list) + 1, sizeof *t->pass_env);
	for (j = json_first(list); j != NULL; j = json_next(j)) {
		if (json_read_string(j, &text, e) != 0)
			return -1;
		if (!env_name_good(text))
			return json_err(
			    j, e, "expected the name of a variable");
		t->pass_env[n++] = xstrdup(text);
		t->pass_env[n] = NULL;
	}
	return 0;
}

/* Whole numbers of the block: destination and range of each. */
static int
read_numbers(struct study_trial *t, const struct json *block, struct err *e)
{
	const struct {
		const char *key;
		int64_t *out, min, max;
	} rows[] = {
		{ "max_steps", &t->max_steps, 1, STUDY_COUNT_MAX * 1000 },
		{ "retries", &t->retries, 0, RETRIES_MAX },
		{ "gpus", &t->gpus, 0, SLOT_PARTS_MAX },
		{ "cpus", &t->cpus, 1, SLOT_PARTS_MAX },
		{ "processes", &t->processes, 1, SLOT_PARTS_MAX },
		{ "parameter_servers", &t->servers, 0, SERVERS_MAX },
	};
	const struct json *j;
	size_t i;

	for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		j = json_get(block, rows[i].key);
		if (j != NULL && json_read_integer(j, rows[i].min, rows[i].max,
				     rows[i].out, e) != 0)
			return -1;
	}
	return 0;
}

static int
read_size(int64_t *bytes, const struct json *j, struct err *e)
{
	if (j == NULL)
		return 0;
	if (size_read(bytes, j, e) != 0)
		return -1;
	return *bytes > 0 ? 0 : json_err(j, e, "expected a size above 0");
}

static int
read_quantities(struct study_trial *t, const struct json *block, struct err *e)
{
	size_t i = STUDY_ON_MAX_RUN_STOPPED;
	const struct json *j;

	j = json_get(block, "max_run");
	if (j != NULL && study_read_duration(&t->max_run_ms, j, e) != 0)
		return -1;
	j = json_get(block, "on_max_run");
	if (j != NULL && json_read_word(j, max_run_ends, &i, e) != 0)
		return -1;
	t->on_max_run = (enum study_on_max_run)i;
	j = json_get(block, "grace");
	if (j != NULL && duration_read(&t->grace_ms, j, e) != 0)
		return -1;
	if (read_size(&t->memory, json_get(block, "memory"), e) != 0)
		return -1;
	j = json_get(block, "gpu_memory");
	if (j != NULL && t->gpus == 0)
		return json_err_key(j, e, "a trial has no GPUs: gpus is 0");
	return read_size(&t->gpu_memory, j, e);
}

static int
read_launcher(struct study_trial *t, const struct json *block, struct err *e)
{
	const struct json *j = json_get(block, "launcher");
	size_t i = STUDY_LAUNCHER_NONE;

	if (j != NULL && json_read_word(j, launchers, &i, e) != 0)
		return -1;
	t->launcher = (enum study_launcher)i;
	j = json_get(block, "processes");
	if (t->pack > 0 && t->launcher != STUDY_LAUNCHER_NONE)
		return json_err(json_get(block, "pack"), e,
		    "this key goes with launcher none only");
	if (j != NULL && t->launcher == STUDY_LAUNCHER_NONE)
		return json_err_key(j, e,
		    "this key goes with launcher ranks, torchrun, "
		    "mpirun or srun");
	if (t->servers > 0 && t->launcher != STUDY_LAUNCHER_RANKS)
		return json_err_key(json_get(block, "parameter_servers"), e,
		    "this key goes with launcher ranks");
	return 0;
}

/*
 * Check before the command: with pack the program has no arguments of one
 * trial.
 */
static int
read_pack(struct study_trial *t, const struct json *block, struct err *e)
{
	const struct json *j = json_get(block, "pack");

	if (j == NULL)
		return 0;
	if (json_read_integer(j, PACK_MIN, PACK_MAX, &t->pack, e) != 0)
		return -1;
	j = json_get(block, "memory");
	if (j != NULL)
		return json_err_key(j, e,
		    "this key does not go with pack: the trials of a program "
		    "share its memory");
	return 0;
}

/* A number of samples that is the same for all trials. */
static bool
param_counts(const struct param *p)
{
	size_t i;

	if (p->type == PARAM_INT)
		return p->min >= 1;
	for (i = 0; i < p->n_values; i++)
		if (p->values[i].kind != VALUE_INT || p->values[i].integer < 1)
			return false;
	return p->n_values > 0;
}

/* batch.global names a parameter that is active in each trial. */
static int
read_batch_param(struct study *s, const struct json *j, struct err *e)
{
	const struct space *space = s->space;
	const char *name = json_string(j);
	int k = space_find(space, name);

	if (k < 0)
		return study_params_err(space, j, name, e);
	if (space->params[k].when != NULL)
		return json_err(
		    j, e, "%s has no value when it is inactive", name);
	if (!param_counts(&space->params[k]))
		return json_err(j, e,
		    "not every value of %s is a whole number above 0", name);
	s->trial.batch_param = xstrdup(name);
	return 0;
}

static int
read_batch(struct study *s, const struct json *block, struct err *e)
{
	static const char *const keys[] = { "global", NULL };
	const struct json *j;

	if (json_want(block, JSON_OBJECT, e) != 0 ||
	    json_only(block, keys, e) != 0)
		return -1;
	if ((j = json_need(block, "global", e)) == NULL)
		return -1;
	if (json_type(j) == JSON_STRING)
		return read_batch_param(s, j, e);
	if (json_type(j) != JSON_NUMBER)
		return json_err(j, e,
		    "expected a whole number or the name of a parameter, not "
		    "%s",
		    json_type_name(json_type(j)));
	return json_read_integer(
	    j, 1, STUDY_COUNT_MAX, &s->trial.batch_global, e);
}

static int
read_arguments(struct study_trial *t, const struct json *j, struct err *e)
{
	size_t i = 0;

	if (j != NULL && json_read_word(j, study_params_forms, &i, e) != 0)
		return -1;
	t->arguments = (enum study_params_form)i;
	return 0;
}

int
study_read_trial(struct study *s, const struct json *block, struct err *e)
{
	struct study_trial *t = &s->trial;
	const struct json *j;

	t->grace_ms = GRACE_MS;
	t->retries = RETRIES;
	t->gpus = -1;
	t->dir = s->dir;
	t->env = xcalloc(1, sizeof *t->env);
	t->env_text = xcalloc(1, sizeof *t->env_text);
	t->pass_env = xcalloc(1, sizeof *t->pass_env);
	if (block != NULL && json_only(block, known, e) != 0)
		return -1;
	if (read_arguments(t, json_get(block, "arguments"), e) != 0)
		return -1;
	if ((j = json_get(block, "batch")) != NULL && read_batch(s, j, e) != 0)
		return -1;
	if (read_pack(t, block, e) != 0)
		return -1;
	if ((j = json_get(block, "files")) != NULL &&
	    study_read_templates(s, j, e) != 0)
		return -1;
	j = json_get(block, "command");
	if (j == NULL)
		t->command = xcalloc(1, sizeof *t->command);
	else if (read_command(s, j, e) != 0)
		return -1;
	if (read_workdir(s, json_get(block, "workdir"), e) != 0)
		return -1;
	if ((j = json_get(block, "env")) != NULL && read_env(s, j, e) != 0)
		return -1;
	if (t->n_templates > 0 && !study_command_has_template(t))
		return json_err_key(json_get(block, "files"), e,
		    "the program is given no file: expected {file:%s} in "
		    "trial.command or trial.env",
		    t->templates[0].name);
	if ((j = json_get(block, "clean_env")) != NULL &&
	    json_read_bool(j, &t->clean_env, e) != 0)
		return -1;
	if ((j = json_get(block, "pass_env")) != NULL &&
	    read_pass_env(t, j, e) != 0)
		return -1;
	if (study_read_metrics(s, block, e) != 0)
		return -1;
	if (read_numbers(t, block, e) != 0 || read_quantities(t, block, e) != 0)
		return -1;
	return read_launcher(t, block, e);
}

int64_t
study_processes(const struct study_trial *t)
{
	if (t->launcher == STUDY_LAUNCHER_NONE)
		return 1;
	if (t->processes > 0)
		return t->processes;
	return t->gpus > 1 ? t->gpus : 0;
}

int64_t
study_cores(const struct study_trial *t)
{
	int64_t n = study_processes(t) + t->servers;

	if (t->cpus > 0)
		return t->cpus;
	return n > 0 ? n : 1;
}

void
study_trial_clear(struct study_trial *t)
{
	strv_free(t->command);
	free(t->command_parts);
	strv_free(t->env);
	strv_free(t->env_text);
	strv_free(t->pass_env);
	study_metrics_clear(t);
	study_templates_clear(t);
	free(t->batch_param);
	free(t->workdir);
	free(t->workdir_text);
}
