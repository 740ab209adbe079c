/*
 * The command of a study and the launcher of its block as hyperparameters of
 * the SDK: the inverse of import-sagemaker-script.c.  Values are JSON, as
 * there.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/export/export-sagemaker.h"
#include "src/import/import-study.h"
#include "src/model/study/study.h"

/* python3 PROGRAM {params} is the toolkit's form of sagemaker_program. */
static const char *
program_of(const struct study_trial *trial)
{
	char **argv = trial->command;

	if (argv != NULL && argv[0] != NULL && argv[1] != NULL &&
	    argv[2] != NULL && argv[3] == NULL &&
	    strcmp(argv[0], "python3") == 0 && strcmp(argv[2], "{params}") == 0)
		return argv[1];
	return NULL;
}

/* A path without "." and "..", computed from its text; the caller frees it. */
static char *
path_plain(const char *dir, const char *path)
{
	char *whole =
	    *path == '/' ? xstrdup(path) : xasprintf("%s/%s", dir, path);
	struct buf b = { 0 };
	char *word, *rest = NULL, *plain;

	for (word = strtok_r(whole, "/", &rest); word != NULL;
	     word = strtok_r(NULL, "/", &rest)) {
		if (strcmp(word, ".") == 0)
			continue;
		if (strcmp(word, "..") != 0) {
			buf_putc(&b, '/');
			buf_puts(&b, word);
			continue;
		}
		while (b.len > 0 && b.data[b.len - 1] != '/')
			b.len--;
		b.len -= b.len > 0;
	}
	plain = xasprintf("%.*s", (int)b.len, b.len > 0 ? b.data : "");
	buf_free(&b);
	free(whole);
	return plain;
}

/*
 * The program's path relative to the code folder, the toolkit's working folder.
 */
static char *
program_below_code(
    const struct study *study, const char *program, const struct json *backend)
{
	const char *code = json_string(json_get(backend, "code"));
	char *folder, *path, *below = NULL;
	size_t n;

	while (strncmp(program, "./", 2) == 0)
		program += 2;
	if (code == NULL)
		return xstrdup(program);
	folder = path_plain(study->dir, code);
	path = path_plain(study->trial.workdir, program);
	n = strlen(folder);
	if (strncmp(path, folder, n) == 0 && path[n] == '/')
		below = xstrdup(path + n + 1);
	free(folder);
	free(path);
	return below != NULL ? below : xstrdup(program);
}

static void
export_script_put_text(struct converted *to, const char *key, const char *text)
{
	struct buf json = { 0 };

	json_put_string(&json, text);
	converted_text(to, 3, key, buf_str(&json));
	buf_free(&json);
}

static void
export_script_put_json(
    struct converted *to, const char *key, const struct json *j)
{
	struct buf json = { 0 };

	json_write(&json, j);
	converted_text(to, 3, key, buf_str(&json));
	buf_free(&json);
}

/* hpotune's own launchers by their names in the toolkit. */
static const char *
launcher_word(
    struct converted *to, const struct study *study, const struct json *dist)
{
	const char *word = json_string(import_at(dist, "launcher", NULL));
	const char *said = "backend.distribution";

	if (dist == NULL && study->trial.launcher != STUDY_LAUNCHER_NONE) {
		word = study->trial.launcher == STUDY_LAUNCHER_MPIRUN
			   ? "mpirun"
			   : "torchrun";
		said = "trial.launcher";
	}
	if (word == NULL ||
	    (strcmp(word, "torchrun") != 0 && strcmp(word, "mpirun") != 0))
		return word;
	buf_printf(to->notes,
	    "%s: %s is hpotune's own: the toolkit's %s is put in\n", said, word,
	    *word == 't' ? "torch-distributed" : "mpi");
	return *word == 't' ? "torch-distributed" : "mpi";
}

static void
count_put(struct converted *to, const struct study *study,
    const struct import_launcher *l, const struct json *dist)
{
	const struct json *j = import_at(dist, "processes_per_host", NULL);
	int64_t n = dist == NULL ? study->trial.processes : 0;
	char text[24];

	(void)json_integer(j, &n);
	if (n <= 0)
		return;
	if (l->count == NULL) {
		converted_note(to, "processes_per_host: left out: the toolkit "
				   "counts GPUs with this launcher");
		return;
	}
	(void)snprintf(text, sizeof text, "%lld", (long long)n);
	converted_text(to, 3, l->count, text);
}

/* The type of the group that trains, otherwise the first one. */
static const char *
export_script_type_of(const struct json *backend, const char *group)
{
	const struct json *j = json_get(backend, "instance_type"), *k;
	const char *name;

	if (json_string(j) != NULL)
		return json_string(j);
	if (j != NULL)
		return json_string(json_first(j));
	j = json_get(backend, "groups");
	for (k = json_first(j); k != NULL; k = json_next(k)) {
		name = json_string(json_get(k, "name"));
		if (group == NULL || (name != NULL && strcmp(name, group) == 0))
			return json_string(json_get(k, "instance_type"));
	}
	return NULL;
}

static void
export_script_launcher_put(struct converted *to, const struct study *study,
    const struct json *backend, const struct import_launcher *l)
{
	const struct json *dist = json_get(backend, "distribution");
	const char *options =
	    json_string(import_at(dist, "custom_mpi_options", NULL));
	const char *group = json_string(import_at(dist, "group", NULL));
	const struct json *parameters = import_at(dist, "parameters", NULL);
	char *list;

	converted_text(to, 3, l->flag, "true");
	if (l->and != NULL)
		converted_text(to, 3, l->and, "true");
	if (l->version > 0)
		converted_text(to, 3, IMPORT_HP_DDP, "false");
	if (l->version > 0 && parameters != NULL)
		export_script_put_json(to, IMPORT_HP_MODEL, parameters);
	else if (l->version > 0)
		converted_text(to, 3, IMPORT_HP_MODEL, "{}");
	count_put(to, study, l, dist);
	if (l->options != NULL)
		export_script_put_text(
		    to, l->options, options != NULL ? options : "");
	if (l->typed && export_script_type_of(backend, group) != NULL)
		export_script_put_text(to, "sagemaker_instance_type",
		    export_script_type_of(backend, group));
	if (group == NULL)
		return;
	list = xasprintf("[\"%s\"]", group);
	converted_text(to, 3, IMPORT_HP_GROUPS, list);
	free(list);
}

void
export_sagemaker_put_script(
    struct converted *to, const struct study *study, const struct json *backend)
{
	const struct json *dist = json_get(backend, "distribution");
	const char *program = program_of(&study->trial);
	const struct import_launcher *l;
	int64_t version = 2;
	bool torch = false;
	const char *word;
	char *below;

	if (program == NULL) {
		converted_note(to,
		    "trial.command: a tuning job starts what the "
		    "image starts by itself");
	} else {
		below = program_below_code(study, program, backend);
		export_script_put_text(to, "sagemaker_program", below);
		free(below);
		converted_note(to,
		    "trial.command: exported as sagemaker_program; set "
		    "sagemaker_submit_directory to the code in S3");
	}
	if ((word = launcher_word(to, study, dist)) == NULL ||
	    strcmp(word, "none") == 0 || strcmp(word, "toolkit") == 0)
		return;
	(void)json_integer(import_at(dist, "version", NULL), &version);
	(void)json_bool(import_at(dist, "torch_distributed", NULL), &torch);
	l = import_script_launcher(word, (int)version, torch);
	if (l != NULL)
		export_script_launcher_put(to, study, backend, l);
}
