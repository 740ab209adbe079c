/*
 * Starts an attempt: environment, words of the command, directories,
 * parameters, supervisor.  Does not wait for the disk; the supervisor syncs
 * what must be durable.
 */

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/fail.h"
#include "src/base/file.h"
#include "src/base/spawn.h"
#include "src/model/study/study.h"
#include "trials/local/local-gpu.h"
#include "trials/local/local-internal.h"
#include "trials/process/exec-why.h"
#include "trials/process/transient-error.h"

static char **local_command(
    const struct local *, const struct launch_spec *, const char *dir);

/* Temporary errors become ERR_BUSY, which is retried. */
static int
local_start_err(struct err *e, int error, const char *what)
{
	return err_set(e,
	    transient_error_resource(error) ? ERR_BUSY : ERR_LAUNCH, "%s: %s",
	    what, strerror(error));
}

static int
local_start_dir_make(const char *path, bool *fresh, struct err *e)
{
	struct stat st;

	*fresh = mkdir(path, 0700) == 0;
	if (*fresh)
		return 0;
	if (errno != EEXIST)
		return local_start_err(e, errno, path);
	if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode))
		return 0;
	return local_start_err(e, ENOTDIR, path);
}

/* The directory of an attempt that is about to start. */
enum folder {
	FOLDER_OLD, /* it existed before */
	FOLDER_FRESH, /* it is empty */
	FOLDER_AHEAD /* it was made by local-ahead */
};

static int
local_start_dirs_make(const struct launch_spec *spec, const char *dir,
    enum folder *folder, struct err *e)
{
	char path[PATH_MAX];
	bool made, fresh;

	if (snprintf(path, sizeof path, "%s", spec->trial_dir) >= PATH_MAX)
		return local_start_err(e, ENAMETOOLONG, spec->trial_dir);
	if (local_start_dir_make(dirname(path), &made, e) == -1 ||
	    local_start_dir_make(spec->trial_dir, &made, e) == -1)
		return -1;
	if (local_start_dir_make(dir, &fresh, e) == -1)
		return -1;
	*folder = fresh ? FOLDER_FRESH : FOLDER_OLD;
	return 0;
}

/* The directories that the attempts of a trial share. */
static int
shared_make(const struct launch_spec *spec, struct err *e)
{
	static const char *const names[] = { "checkpoint", "output",
		"output/model" };
	char path[PATH_MAX];
	bool made;
	size_t i;

	for (i = 0; i < sizeof names / sizeof names[0]; i++) {
		if (snprintf(path, sizeof path, "%s/%s", spec->trial_dir,
			names[i]) >= PATH_MAX)
			return local_start_err(
			    e, ENAMETOOLONG, spec->trial_dir);
		if (local_start_dir_make(path, &made, e) == -1)
			return -1;
	}
	return 0;
}

/* With a rename: a trial reads the old or the new file, never a part. */
static int
local_start_file_write(
    const char *dir, const char *name, const char *text, struct err *e)
{
	int dir_fd, fd = -1, error = 0;
	size_t len = strlen(text);
	char *part;
	ssize_t n = -1;

	dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir_fd == -1)
		return local_start_err(e, errno, dir);
	part = xasprintf("%s.new", name);
	/* Replace, never open, what an earlier attempt may have put here. */
	(void)unlinkat(dir_fd, part, 0);
	fd =
	    openat(dir_fd, part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd == -1 || (n = write(fd, text, len)) != (ssize_t)len ||
	    renameat(dir_fd, part, dir_fd, name) == -1)
		/* Half a write is the last room on the disk. */
		error = n >= 0 && n < (ssize_t)len ? ENOSPC : errno;
	if (fd != -1)
		(void)close(fd);
	(void)close(dir_fd);
	free(part);
	return error == 0 ? 0 : local_start_err(e, error, dir);
}

/* The same, in place, for an empty file of a folder that was made ahead. */
static int
local_start_file_fill(
    const char *dir, const char *name, const char *text, struct err *e)
{
	char path[PATH_MAX];
	size_t len = strlen(text);
	ssize_t n;
	int fd;

	if (snprintf(path, sizeof path, "%s/%s", dir, name) >= PATH_MAX)
		return local_start_err(e, ENAMETOOLONG, dir);
	fd = file_open_for(AT_FDCWD, path, O_WRONLY, 0);
	if (fd == -1)
		return local_start_err(e, errno, path);
	n = write(fd, text, len);
	if (n >= 0 && n < (ssize_t)len)
		errno = ENOSPC;
	if (n != (ssize_t)len)
		(void)local_start_err(e, errno, path);
	(void)close(fd);
	return n == (ssize_t)len ? 0 : -1;
}

/* One of params_files; a name may have a folder. */
static int
local_start_params_file_write(
    const char *dir, const char *name, const char *text, struct err *e)
{
	const char *slash = strchr(name, '/');
	char *below;
	int r = 0;

	if (slash == NULL)
		return local_start_file_write(dir, name, text, e);
	below = xasprintf("%s/%.*s", dir, (int)(slash - name), name);
	if (mkdir(below, 0700) == -1 && errno != EEXIST)
		r = local_start_err(e, errno, below);
	if (r == 0)
		r = local_start_file_write(below, slash + 1, text, e);
	free(below);
	return r;
}

/* Persist the GPU assignment for the next server. */
static int
gpus_write(const struct local *l, const struct launch_spec *spec,
    const char *dir, enum folder folder, struct err *e)
{
	struct local_gpu_key key;
	struct buf b = { 0 };
	int r = 0;

	local_gpu_names_put(l, local_gpu_key(&key, l, spec->slot, spec->uuid),
	    LOCAL_GPU_UUID, "\n", &b);
	if (b.len > 0) {
		buf_putc(&b, '\n');
		r = folder == FOLDER_AHEAD
			? local_start_file_fill(dir, "gpus", buf_str(&b), e)
			: local_start_file_write(dir, "gpus", buf_str(&b), e);
	}
	buf_free(&b);
	return r;
}

/* The commit of which the supervisor makes a worktree. */
static void
local_start_source_put(struct strv *w, const struct launch_spec *spec)
{
	const struct study_source *source = &spec->settings->source;

	strv_add(w, xasprintf("source=%s", source->git));
	strv_add(w, xasprintf("commit=%s", spec->commit));
	if (spec->refs != NULL)
		strv_add(w, xasprintf("source-refs=%s", spec->refs));
	strv_add(w, xasprintf("source-base=%s", spec->settings->dir));
	strv_add(w, xasprintf("source-drop=%d", source->drop));
}

static char **
shim_argv(const struct local *l, const struct launch_spec *spec,
    const char *dir, enum folder folder, const char *key, size_t locks)
{
	const struct study_trial *t = spec->settings;
	char **command = local_command(l, spec, dir);
	struct strv w = { 0 };

	strv_add(&w, xstrdup("hpotune-shim"));
	strv_add(&w, xasprintf("dir=%s", dir));
	strv_add(&w, xasprintf("uuid=%s", spec->uuid));
	strv_add(&w, xasprintf("workdir=%s", backend_spec_workdir(spec)));
	strv_add(&w, xasprintf("grace-ms=%lld", (long long)t->grace_ms));
	strv_add(&w, xasprintf("max-run-ms=%lld", (long long)t->max_run_ms));
	strv_add(&w, xasprintf("memory=%lld", (long long)t->memory));
	strv_add(&w, xasprintf("log-cap=%lld", (long long)l->log_cap));
	strv_add(&w, xasprintf("hold-fds=%zu", locks));
	strv_add(&w, xasprintf("cpus=%s", local_gpu_names_cpus(l, key)));
	if (l->warm.skip > 0)
		strv_add(&w, xasprintf("warm-skip=%zu", l->warm.skip));
	if (folder == FOLDER_AHEAD)
		strv_add(&w, xasprintf("made=%lld", (long long)spec->trial));
	if (l->cgroup[0] != '\0')
		strv_add(&w,
		    xasprintf("cgroup=%s/hpotune-%s", l->cgroup, spec->uuid));
	if (spec->from_dir != NULL) {
		strv_add(&w, xasprintf("from=%s", spec->from_dir));
		strv_add(
		    &w, xasprintf("from-trial=%lld", (long long)spec->from));
	}
	if (spec->commit != NULL)
		local_start_source_put(&w, spec);
	strv_add(&w, xstrdup("--"));
	strv_add_all(&w, command);
	strv_free(command);
	return w.v;
}

static int
supervisor_start(struct local *l, const struct launch_spec *spec,
    const char *dir, enum folder folder, char **env, const char *key,
    const struct local_gpu_lock_fds *locks, pid_t *pid, int *socket,
    struct err *e)
{
	char **argv = shim_argv(l, spec, dir, folder, key, locks->n);
	int r = 0;

	local_warm_begin(
	    l, backend_spec_workdir(spec), env, local_gpu_names_cpus(l, key));
	fail_point("local.before_spawn");
	*socket = -1;
	if (!local_supervisor_give(l, argv, env, locks, pid, socket))
		r = spawn_session(pid, l->shim, argv, env, locks->fd, locks->n);
	strv_free(argv);
	/* hpotune-shim may be being reinstalled. */
	if (r != 0)
		return err_set(e,
		    transient_error_exec(r) ? ERR_BUSY : ERR_LAUNCH, "%s: %s",
		    l->shim, strerror(r));
	fail_point("local.after_spawn");
	return 0;
}

/* Begin the warm process with what the attempt of this slot will have. */
static void
start_warm_early(struct local *l, int slot, const char *uuid)
{
	const struct study_trial *t = l->warm.settings;
	struct launch_spec spec = { .slot = slot,
		.study = l->study,
		.uuid = uuid,
		.trial_dir = "",
		.env = (char *[]){ NULL },
		.settings = t };
	struct local_gpu_key key;
	char **env = local_env_make(l, &spec, "");

	(void)local_gpu_key(&key, l, slot, uuid);
	local_warm_begin(l, t->workdir, env, local_gpu_names_cpus(l, key.text));
	strv_free(env);
}

bool
local_start_waits(struct local *l, int slot, const char *uuid)
{
	if (l->warm.settings != NULL &&
	    l->warm.process.state == WARM_PROCESS_NONE)
		start_warm_early(l, slot, uuid);
	return local_warm_imports(l);
}

/* Start an attempt's supervisor, and before it the server of its place. */
static int
processes_start(struct local *l, const struct launch_spec *spec,
    const char *dir, enum folder folder, struct err *e)
{
	struct local_gpu_key key;
	struct local_gpu_lock_fds locks = local_gpu_names_lock_fds(
	    l, local_gpu_key(&key, l, spec->slot, spec->uuid));
	char **env = local_env_make(l, spec, dir);
	struct proc_ref supervisor;
	struct local_attempt *a;
	int r = 0, socket;
	pid_t pid;

	local_share_fds(l, spec->uuid, &locks);
	if (l->pack.size > 0)
		r = local_pack_serve(l, spec, env, &locks, e);
	if (r == 0)
		r = supervisor_start(l, spec, dir, folder, env, key.text,
		    &locks, &pid, &socket, e);
	free(locks.fd);
	strv_free(env);
	if (r != 0)
		return -1;
	a = local_attempt_follow(l, spec);
	a->child = pid;
	a->fresh = folder != FOLDER_OLD;
	proc_open_child(&supervisor, pid);
	local_attempt_watch(a, &supervisor);
	if (socket != -1)
		local_attempt_listen(a, socket);
	return 0;
}

/* Take what the attempt was given, or, after a restart, what is free. */
static int
resources_begin(struct local *l, const struct launch_spec *spec, struct err *e)
{
	char why[160] = "running trials use the rest";

	if (local_share_take(l, spec->uuid))
		return local_gpu_begin(l, spec, e);
	(void)local_share_ready(l, why, sizeof why);
	return err_set(e, ERR_BUSY, "%s", why);
}

int
local_start(void *ctx, const struct launch_spec *spec, struct err *e)
{
	struct local *l = ctx;
	enum folder folder = FOLDER_OLD;
	bool aside;
	size_t i;
	char *dir;
	int r;

	if (local_attempt_find(l, spec->trial, spec->attempt) != NULL)
		return 0;
	dir = backend_spec_attempt_dir(spec);
	if (strlen(spec->uuid) != RECORD_UUID)
		r = err_set(e, ERR_LAUNCH, "%s: no uuid", dir);
	else if (local_state_dir_moved(l))
		r = local_state_dir_err(l, e);
	else
		r = resources_begin(l, spec, e);
	if (r == 0 && spec->attempt == 1 &&
	    local_ahead_take(l, spec->trial_dir))
		folder = FOLDER_AHEAD;
	else if (r == 0)
		r = local_start_dirs_make(spec, dir, &folder, e);
	if (r == 0 && folder == FOLDER_OLD &&
	    local_foreign_run(spec, dir, &aside)) {
		local_attempt_follow(l, spec)->aside = aside;
		free(dir);
		return 0;
	}
	if (r == 0 && folder != FOLDER_AHEAD)
		r = shared_make(spec, e);
	if (r == 0)
		r = folder == FOLDER_AHEAD
			? local_start_file_fill(
			      dir, "params.json", spec->params_json, e)
			: local_start_file_write(
			      dir, "params.json", spec->params_json, e);
	for (i = 0; r == 0 && spec->params_files != NULL &&
		    spec->params_files[i] != NULL;
	     i += 2)
		r = local_start_params_file_write(
		    dir, spec->params_files[i], spec->params_files[i + 1], e);
	if (r == 0)
		r = gpus_write(l, spec, dir, folder, e);
	fail_point("local.after_mkdir");
	if (r == 0)
		r = processes_start(l, spec, dir, folder, e);
	if (r == 0) {
		local_ahead_wait(l);
		local_supervisor_wait(l);
	}
	/* The move may be the cause of the error. */
	if (r == -1 && local_state_dir_moved(l))
		(void)local_state_dir_err(l, e);
	if (r == -1)
		local_gpu_undo(l, spec->slot, spec->uuid);
	local_share_drop(l, spec->uuid);
	free(dir);
	return r;
}

/*
 * Builds the argument list of an attempt: the command of the study inside the
 * wrappers of its launcher.
 */

static char **
local_command(
    const struct local *l, const struct launch_spec *spec, const char *dir)
{
	struct strv w = { 0 };

	if (spec->settings->launcher != STUDY_LAUNCHER_NONE)
		local_ranks_command(&w, l, spec, dir);
	if (l->pack.size > 0) {
		local_pack_command(&w, l, spec, dir);
		return w.v;
	}
	strv_add_all(&w, spec->argv);
	return w.v;
}

/* key: of study.json, for the error. */
static int
program_check(const struct study_trial *t, const char *key, const char *program,
    struct err *e)
{
	char note[EXEC_WHY_NOTE];
	int error = exec_why_look(
	    t->workdir, program, local_env_get(t, "PATH"), note, sizeof note);

	if (error == 0)
		return 0;
	return err_set(e, ERR_FILE, "%s: %s: %s", key, program,
	    *note != '\0' ? note : strerror(error));
}

/*
 * Whether the program, or the PATH it is searched in, differs between trials
 * because it contains names in braces.
 */
static bool
differs(const struct study_trial *t)
{
	const char *path = local_env_get(t, "PATH");

	return strpbrk(t->command[0], "{}") != NULL ||
	       (path != NULL && strpbrk(path, "{}") != NULL);
}

/*
 * Checks before the start that an attempt would find its working folder, its
 * launcher and its program, with the same search in the trial's PATH that the
 * supervisor does.
 */
int
local_start_preflight(const struct study_trial *t, struct err *e)
{
	char *launcher;
	int dir_fd, rc = 0;

	/*
	 * The folder differs between trials: paths below it cannot be checked.
	 */
	if (t->command[0] == NULL || study_command_has_names(t->workdir_text))
		return 0;
	/* Both are those of a commit. */
	if (t->source.git != NULL)
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
		rc = program_check(t, "trial.launcher", launcher, e);
	if (rc == 0 && !differs(t))
		rc = program_check(t, "trial.command", t->command[0], e);
	free(launcher);
	(void)close(dir_fd);
	return rc;
}
