/* The "trial" block of study.json: program, environment and resources. */

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/model/expression.h"
#include "src/model/foreign-words.h"
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
	"pack", "files", "warm", "shims", "source", NULL };
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

/* A command in one text, as for a shell: say how its words are written. */
static int
read_command_text(const struct json *text, struct err *e)
{
	const char *p = json_string(text);
	struct buf words = { 0 };
	size_t n;
	int rc;

	/* Quotes and the like need a shell, or a person. */
	if (p[strcspn(p, "\"'\\$|&;<>`\n\t")] != '\0')
		return json_want(text, JSON_ARRAY, e);
	while (*(p += strspn(p, " ")) != '\0') {
		n = strcspn(p, " ");
		buf_printf(
		    &words, "%s\"%.*s\"", words.len > 0 ? ", " : "", (int)n, p);
		p += n;
	}
	rc = json_err(text, e, "expected an array, not a string: [%.200s]",
	    buf_str(&words));
	buf_free(&words);
	return rc;
}

static int
read_command(struct study *s, const struct json *list, struct err *e)
{
	const struct json *j;
	size_t n = 0, all = 0, parts = 0;
	int rc = 0;

	if (json_type(list) == JSON_STRING)
		return read_command_text(list, e);
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

enum { MEMORY_LEAST = 1 << 20 };

/* An amount of memory. */
static int
read_size(int64_t *bytes, const struct json *j, struct err *e)
{
	if (j == NULL)
		return 0;
	if (size_read(bytes, j, e) != 0)
		return -1;
	if (*bytes == 0)
		return json_err(j, e, "expected a size above 0");
	/* 16 is meant as GiB, or as the MB of Slurm. */
	if (*bytes < MEMORY_LEAST)
		return json_err(j, e,
		    "%lld bytes are too few: give the unit, as \"16GiB\"",
		    (long long)*bytes);
	return 0;
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
	if (block != NULL &&
	    foreign_words_only(block, FOREIGN_TRIAL, known, e) != 0)
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
	if ((j = json_get(block, "max_steps")) != NULL &&
	    study_read_max_steps(s, j, e) != 0)
		return -1;
	if (read_numbers(t, block, e) != 0 || read_quantities(t, block, e) != 0)
		return -1;
	if (read_launcher(t, block, e) != 0)
		return -1;
	if (study_read_shims(t, json_get(block, "shims"), e) != 0)
		return -1;
	if (study_read_warm(t, json_get(block, "warm"), e) != 0)
		return -1;
	return study_read_source(t, json_get(block, "source"), e);
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
	strv_free(t->shims);
	study_source_clear(&t->source);
	strv_free(t->pass_env);
	study_metrics_clear(t);
	study_templates_clear(t);
	strv_free(t->warm_modules);
	free(t->batch_param);
	free(t->own_metric);
	expression_free(t->own_steps);
	free(t->workdir);
	free(t->workdir_text);
	*t = (struct study_trial){ 0 };
}
