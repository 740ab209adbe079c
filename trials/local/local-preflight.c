/*
 * Checks before the start that an attempt would find its working folder, its
 * launcher and its program, with the same search in the trial's PATH that the
 * supervisor does.
 */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/model/study/study.h"
#include "trials/process/exec-path.h"
#include "trials/local/local-internal.h"

const char *
local_preflight_env(const struct study_trial *t, const char *name)
{
	size_t i, n = strlen(name);

	for (i = 0; t->env != NULL && t->env[i] != NULL; i++)
		if (strncmp(t->env[i], name, n) == 0 && t->env[i][n] == '=')
			return t->env[i] + n + 1;
	return getenv(name);
}

bool
local_preflight_program(const struct study_trial *t, const char *program)
{
	char interpreter[PATH_MAX];

	return exec_path_check(AT_FDCWD, program,
		   local_preflight_env(t, "PATH"), interpreter) == 0;
}

/* key: of study.json, for the error. */
static int
program_check(const struct study_trial *t, int dir_fd, const char *key,
    const char *program, struct err *e)
{
	char interpreter[PATH_MAX];
	int error = exec_path_check(
	    dir_fd, program, local_preflight_env(t, "PATH"), interpreter);

	if (error == 0)
		return 0;
	if (*interpreter != '\0')
		return err_set(e, ERR_FILE, "%s: %s: its interpreter %s: %s",
		    key, program, interpreter, strerror(error));
	if (error == ENOENT && strchr(program, '/') == NULL)
		return err_set(
		    e, ERR_FILE, "%s: %s: not found in PATH", key, program);
	return err_set(
	    e, ERR_FILE, "%s: %s: %s", key, program, strerror(error));
}

/*
 * Whether the program, or the PATH it is searched in, differs between trials
 * because it contains names in braces.
 */
static bool
differs(const struct study_trial *t)
{
	const char *path = local_preflight_env(t, "PATH");

	return strpbrk(t->command[0], "{}") != NULL ||
	       (path != NULL && strpbrk(path, "{}") != NULL);
}

int
local_preflight(const struct study_trial *t, struct err *e)
{
	char *launcher;
	int dir_fd, rc = 0;

	/*
	 * The folder differs between trials: paths below it cannot be checked.
	 */
	if (t->command[0] == NULL || study_command_has_names(t->workdir_text))
		return 0;
	dir_fd = open(t->workdir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir_fd == -1 || faccessat(dir_fd, ".", X_OK, AT_EACCESS) == -1) {
		rc = err_set(e, ERR_FILE, "trial.workdir: %s: %s", t->workdir,
		    strerror(errno));
		if (dir_fd != -1)
			(void)close(dir_fd);
		return rc;
	}
	launcher = local_ranks_launcher(t);
	if (launcher != NULL)
		rc = program_check(t, dir_fd, "trial.launcher", launcher, e);
	if (rc == 0 && !differs(t))
		rc =
		    program_check(t, dir_fd, "trial.command", t->command[0], e);
	free(launcher);
	(void)close(dir_fd);
	return rc;
}
