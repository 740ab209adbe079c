/*
 * Prints the shell line that runs a trial's setting again, outside of its
 * study.
 */

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "src/base/err.h"
#include "src/base/git/git.h"
#include "src/base/json/json-writer.h"
#include "src/base/mem.h"
#include "src/cli/common/cli.h"
#include "src/cli/common/rerun-command.h"
#include "src/engine/attempts/attempt-spec.h"
#include "src/model/study/study.h"
#include "src/store/store.h"
#include "src/study-files/study-files.h"
#include "src/view/shell-word.h"

/* The worktree in it of a trial that is a commit. */
#define RERUN_SOURCE "source"

/* A folder beside the database that does not exist yet: the caller frees it. */
static char *
folder_name(const struct study_files *found, const char *study, int64_t trial)
{
	struct stat st;
	char *path;
	int n;

	for (n = 1;; n++) {
		path = n == 1 ? xasprintf("%s/%s-again-%" PRId64, found->db_dir,
				    study, trial)
			      : xasprintf("%s/%s-again-%" PRId64 "-%d",
				    found->db_dir, study, trial, n);
		if (lstat(path, &st) != 0)
			return path;
		free(path);
	}
}

static void
rerun_command_word_put(struct buf *out, const char *word)
{
	shell_word_put(out, word, SHELL_WORD_SHOWN);
}

/* NAME=VALUE, quoted as an assignment before a command. */
static void
assignment_put(struct buf *out, const char *entry)
{
	buf_putc(out, ' ');
	rerun_command_word_put(out, entry);
}

/* FOLDER/name as one word. */
static void
below_put(struct buf *out, const char *folder, const char *name)
{
	char *path = xasprintf("%s/%s", folder, name);

	rerun_command_word_put(out, path);
	free(path);
}

/*
 * Create the folders, copy the initial checkpoint, and write the file of
 * parameters.
 */
static void
folders_put(struct buf *out, const struct study_files *found,
    const struct study *study, const struct store_trial *row,
    const char *folder)
{
	char *dir, *from;

	buf_puts(out, "mkdir -p ");
	below_put(out, folder, "output/model");
	buf_putc(out, ' ');
	below_put(out, folder, "checkpoint");
	if (study->trial.n_templates > 0) {
		buf_putc(out, ' ');
		below_put(out, folder, STUDY_TEMPLATES_DIR);
	}
	if (row->from > 0) {
		dir = study_files_state_dir(found->db);
		from = xasprintf(
		    "%s/trials/%" PRId64 "/checkpoint/.", dir, row->from);
		buf_puts(out, " && cp -R ");
		rerun_command_word_put(out, from);
		buf_putc(out, ' ');
		below_put(out, folder, "checkpoint");
		free(from);
		free(dir);
	}
	buf_puts(out, " && printf %s ");
	rerun_command_word_put(out, row->params);
	buf_puts(out, " >");
	below_put(out, folder, "params.json");
}

/* env -i with the variables of the trial only. */
static void
clean_put(struct buf *out, const struct study_trial *t)
{
	static const char *const always[] = { "PATH", "HOME", "LANG",
		"TMPDIR" };
	size_t i;

	buf_puts(out, " -i");
	for (i = 0; i < sizeof always / sizeof always[0]; i++)
		buf_printf(
		    out, " ${%s+%s=\"$%s\"}", always[i], always[i], always[i]);
	for (i = 0; t->pass_env != NULL && t->pass_env[i] != NULL; i++)
		buf_printf(out, " ${%s+%s=\"$%s\"}", t->pass_env[i],
		    t->pass_env[i], t->pass_env[i]);
}

/* The folder of the modules of trial.shims, or NULL; the caller frees it. */
static char *
rerun_command_shims(const struct study_files *found, const struct study *study)
{
	char *dir, *shims;

	if (study->trial.shims == NULL)
		return NULL;
	dir = study_files_state_dir(found->db);
	shims = xasprintf("%s/shims", dir);
	free(dir);
	return shims;
}

/* Where the value of NAME=VALUE begins, for PYTHONPATH; NULL: another name. */
static const char *
rerun_command_path(const char *entry)
{
	static const char name[] = "PYTHONPATH=";

	return strncmp(entry, name, strlen(name)) == 0 ? entry + strlen(name)
						       : NULL;
}

/* Whether the program gets PYTHONPATH from who runs the line. */
static bool
rerun_command_path_passes(const struct study_trial *t)
{
	size_t i;

	for (i = 0; t->pass_env != NULL && t->pass_env[i] != NULL; i++)
		if (strcmp(t->pass_env[i], "PYTHONPATH") == 0)
			return true;
	return !t->clean_env;
}

/* shims: a folder that is first in PYTHONPATH, or NULL. */
static void
rerun_command_env_put(struct buf *out, const struct study_trial *t,
    const struct attempt_rerun *again, const char *shims)
{
	const char *path = NULL;
	size_t i;

	buf_puts(out, " && env");
	if (t->clean_env)
		clean_put(out, t);
	for (i = 0; again->own_env[i] != NULL; i++) {
		if (rerun_command_path(again->own_env[i]) != NULL)
			path = rerun_command_path(again->own_env[i]);
		assignment_put(out, again->own_env[i]);
	}
	for (i = 0; again->env[i] != NULL; i++)
		assignment_put(out, again->env[i]);
	if (shims == NULL)
		return;
	buf_puts(out, " PYTHONPATH=");
	rerun_command_word_put(out, shims);
	if (path != NULL && *path != '\0') {
		buf_putc(out, ':');
		rerun_command_word_put(out, path);
	} else if (path == NULL && rerun_command_path_passes(t))
		buf_puts(out, "\"${PYTHONPATH:+:$PYTHONPATH}\"");
}

/* The launcher's command line; it chooses ports and ranks itself. */
static void
rerun_command_launcher_put(struct buf *out, const struct study_trial *t)
{
	switch (t->launcher) {
	case STUDY_LAUNCHER_NONE:
	case STUDY_LAUNCHER_RANKS:
		break;
	case STUDY_LAUNCHER_TORCHRUN:
		buf_printf(out,
		    " torchrun --standalone --nproc_per_node=%" PRId64
		    " --no_python",
		    study_processes(t));
		break;
	case STUDY_LAUNCHER_MPIRUN:
		buf_printf(out, " mpirun -np %" PRId64, study_processes(t));
		break;
	case STUDY_LAUNCHER_SRUN:
		buf_printf(out, " srun --ntasks=%" PRId64, study_processes(t));
		break;
	}
}

/* A worktree of the commit in its folder: what is checked out is not touched. */
static void
rerun_command_worktree_put(struct buf *out, const struct study *study,
    const struct store_trial *row, const char *folder)
{
	buf_puts(out, " && git -C ");
	rerun_command_word_put(out, study->trial.source.git);
	buf_puts(out, " -c core.hooksPath=/dev/null worktree add --detach ");
	below_put(out, folder, RERUN_SOURCE);
	buf_putc(out, ' ');
	rerun_command_word_put(out, row->commit);
}

/* Let it run in such a worktree. */
static int
rerun_command_workdir_move(struct attempt_rerun *again,
    const struct study *study, const char *folder, struct err *e)
{
	char below[PATH_MAX];

	if (study->trial.source.git == NULL)
		return err_set(e, ERR_BUSY,
		    "it is of a commit, and the study has no trial.source");
	if (git_folder_below(below, again->workdir, study->trial.source.git,
		study->dir) != 1)
		return err_set(e, ERR_BUSY,
		    "trial.workdir is not in the repository: %s",
		    again->workdir);
	free(again->workdir);
	again->workdir = xasprintf("%s/" RERUN_SOURCE "%s", folder, below);
	return 0;
}

static void
rerun_command_line_put(struct buf *out, const struct study_files *found,
    const struct study *study, const struct store_trial *row,
    const struct attempt_rerun *again, const char *folder)
{
	char *shims = rerun_command_shims(found, study);
	size_t i;

	if (study->trial.launcher == STUDY_LAUNCHER_RANKS)
		buf_printf(out, "one of %" PRId64 " processes ",
		    study_processes(&study->trial));
	buf_puts(out, "again: ");
	folders_put(out, found, study, row, folder);
	for (i = 0;
	     again->params_files != NULL && again->params_files[i] != NULL;
	     i += 2) {
		buf_puts(out, " && printf %s ");
		rerun_command_word_put(out, again->params_files[i + 1]);
		buf_puts(out, " >");
		below_put(out, folder, again->params_files[i]);
	}
	if (row->commit != NULL)
		rerun_command_worktree_put(out, study, row, folder);
	buf_puts(out, " && cd ");
	rerun_command_word_put(out, again->workdir);
	rerun_command_env_put(out, &study->trial, again, shims);
	free(shims);
	rerun_command_launcher_put(out, &study->trial);
	buf_putc(out, ' ');
	cli_put_argv(out, again->argv);
}

/* shims: a folder that is first in PYTHONPATH, or NULL. */
static void
env_put_json(struct json_writer *w, char *const *env, const char *shims)
{
	const char *path = NULL;
	struct buf whole = { 0 };
	size_t i, n;
	char *name;

	for (i = 0; env != NULL && env[i] != NULL; i++) {
		if (shims != NULL && rerun_command_path(env[i]) != NULL) {
			path = rerun_command_path(env[i]);
			continue;
		}
		n = strcspn(env[i], "=");
		name = xstrndup(env[i], n);
		json_writer_text(
		    w, name, env[i][n] == '=' ? env[i] + n + 1 : "");
		free(name);
	}
	if (shims == NULL)
		return;
	buf_puts(&whole, shims);
	if (path != NULL && *path != '\0')
		buf_printf(&whole, ":%s", path);
	json_writer_text(w, "PYTHONPATH", buf_str(&whole));
	buf_free(&whole);
}

static void
rerun_command_json_put(struct buf *out, const struct study_files *found,
    const struct study *study, const struct store_trial *row,
    const struct attempt_rerun *again, const char *folder)
{
	struct json_writer w = { .out = out, .comma = true };
	char *shims = rerun_command_shims(found, study), *worktree;
	size_t i;

	json_writer_text(&w, "workdir", again->workdir);
	cli_put_argv_json(&w, "command", again->argv);
	json_writer_object(&w, "env");
	env_put_json(&w, again->own_env, shims);
	env_put_json(&w, again->env, NULL);
	json_writer_end(&w);
	free(shims);
	if (again->params_files != NULL) {
		json_writer_object(&w, "files");
		for (i = 0; again->params_files[i] != NULL; i += 2)
			json_writer_text(&w, again->params_files[i],
			    again->params_files[i + 1]);
		json_writer_end(&w);
	}
	json_writer_text(&w, "folder", folder);
	if (row->commit != NULL) {
		json_writer_text(&w, "repository", study->trial.source.git);
		json_writer_text(&w, "commit", row->commit);
		worktree = xasprintf("%s/" RERUN_SOURCE, folder);
		json_writer_text(&w, "worktree", worktree);
		free(worktree);
	}
}

static int
rerun_command_row_put(struct buf *out, const struct study_files *found,
    const struct study *study, const struct store_trial *row, bool json,
    struct err *e)
{
	char *folder = folder_name(found, study->name, row->number);
	struct attempt_rerun again;
	int rc = attempt_spec_rerun(&again, study, row, folder, e);

	if (rc == 0 && row->commit != NULL)
		rc = rerun_command_workdir_move(&again, study, folder, e);
	/* What is shown of the trial does not depend on its templates. */
	if (rc != 0 && e->kind == ERR_BUSY) {
		if (!json)
			buf_printf(out, "again: not possible: %s\n", e->text);
		rc = 0;
	} else if (rc == 0 && json)
		rerun_command_json_put(out, found, study, row, &again, folder);
	else if (rc == 0 && again.argv[0] != NULL && study->trial.pack == 0)
		rerun_command_line_put(out, found, study, row, &again, folder);
	attempt_spec_rerun_free(&again);
	free(folder);
	return rc;
}

int
rerun_command_put(struct buf *out, struct store *store,
    const struct study_files *found, const struct store_study *stored,
    int64_t trial, bool json, struct err *e)
{
	struct store_trial row = { 0 };
	struct study *study;
	int rc = study_parse_recorded(&study, stored->json, stored->dir, e);

	if (rc == -1)
		return -1;
	rc = store_trial_get(store, trial, &row, e);
	/*
	 * The command of a trial outside of the space is that of another
	 * study.json.
	 */
	if (rc >= 0 && row.outside != NULL && !json) {
		buf_puts(out, "outside of the present space: ");
		cli_put_text(out, row.outside);
		buf_putc(out, '\n');
	} else if (rc >= 0 && row.outside == NULL)
		rc = rerun_command_row_put(out, found, study, &row, json, e);
	store_trial_fini(&row);
	study_free(study);
	return rc;
}
