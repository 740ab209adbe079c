/*
 * Starts an attempt: directories, parameters, supervisor.  Does not wait for
 * the disk; the supervisor syncs what must be durable.
 */

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/fail.h"
#include "src/base/loop.h"
#include "src/base/spawn.h"
#include "src/model/study/study.h"
#include "trials/local/local-gpu.h"
#include "trials/local/local-internal.h"
#include "trials/process/transient-error.h"

static char **local_command(
    const struct local *, const struct launch_spec *, const char *dir);

char *
local_start_dir(const struct launch_spec *spec)
{
	return xasprintf("%s/attempt-%d", spec->trial_dir, spec->attempt);
}

int
local_start_find_shim(struct local *l, struct err *e)
{
	return spawn_find(&l->shim, "HPOTUNE_SHIM", "hpotune-shim", e);
}

/* Temporary errors become ERR_BUSY, which is retried. */
static int
start_err(struct err *e, int error, const char *what)
{
	return err_set(e,
	    transient_error_resource(error) ? ERR_BUSY : ERR_LAUNCH, "%s: %s",
	    what, strerror(error));
}

static int
dir_make(const char *path, bool *fresh, struct err *e)
{
	struct stat st;

	*fresh = mkdir(path, 0700) == 0;
	if (*fresh)
		return 0;
	if (errno != EEXIST)
		return start_err(e, errno, path);
	if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode))
		return 0;
	return start_err(e, ENOTDIR, path);
}

/* *fresh: the attempt's directory did not exist before. */
static int
dirs_make(
    const struct launch_spec *spec, const char *dir, bool *fresh, struct err *e)
{
	char path[PATH_MAX];
	bool made;

	if (snprintf(path, sizeof path, "%s", spec->trial_dir) >= PATH_MAX)
		return start_err(e, ENAMETOOLONG, spec->trial_dir);
	if (dir_make(dirname(path), &made, e) == -1 ||
	    dir_make(spec->trial_dir, &made, e) == -1)
		return -1;
	return dir_make(dir, fresh, e);
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
			return start_err(e, ENAMETOOLONG, spec->trial_dir);
		if (dir_make(path, &made, e) == -1)
			return -1;
	}
	return 0;
}

/* With a rename: a trial reads the old or the new file, never a part. */
static int
file_write(const char *dir, const char *name, const char *text, struct err *e)
{
	int dir_fd, fd = -1, error = 0;
	size_t len = strlen(text);
	char part[64];
	ssize_t n = -1;

	(void)snprintf(part, sizeof part, "%s.new", name);

	dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir_fd == -1)
		return start_err(e, errno, dir);
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
	return error == 0 ? 0 : start_err(e, error, dir);
}

/* Persist the GPU assignment for the next server. */
static int
gpus_write(const struct local *l, const struct launch_spec *spec,
    const char *dir, struct err *e)
{
	struct local_gpu_key key;
	struct buf b = { 0 };
	int r = 0;

	local_gpu_names_put(l, local_gpu_key(&key, l, spec->slot, spec->uuid),
	    LOCAL_GPU_UUID, "\n", &b);
	if (b.len > 0) {
		buf_putc(&b, '\n');
		r = file_write(dir, "gpus", buf_str(&b), e);
	}
	buf_free(&b);
	return r;
}

static char **
shim_argv(const struct local *l, const struct launch_spec *spec,
    const char *dir, const char *key, size_t locks)
{
	const struct study_trial *t = spec->settings;
	char **command = local_command(l, spec, dir);
	struct strv w = { 0 };

	strv_add(&w, xstrdup("hpotune-shim"));
	strv_add(&w, xasprintf("dir=%s", dir));
	strv_add(&w, xasprintf("uuid=%s", spec->uuid));
	strv_add(&w, xasprintf("workdir=%s", launcher_spec_workdir(spec)));
	strv_add(&w, xasprintf("grace-ms=%lld", (long long)t->grace_ms));
	strv_add(&w, xasprintf("max-run-ms=%lld", (long long)t->max_run_ms));
	strv_add(&w, xasprintf("memory=%lld", (long long)t->memory));
	strv_add(&w, xasprintf("log-cap=%lld", (long long)l->log_cap));
	strv_add(&w, xasprintf("hold-fds=%zu", locks));
	strv_add(&w, xasprintf("cpus=%s", local_gpu_names_cpus(l, key)));
	if (l->cgroup[0] != '\0')
		strv_add(&w,
		    xasprintf("cgroup=%s/hpotune-%s", l->cgroup, spec->uuid));
	if (spec->from_dir != NULL) {
		strv_add(&w, xasprintf("from=%s", spec->from_dir));
		strv_add(
		    &w, xasprintf("from-trial=%lld", (long long)spec->from));
	}
	strv_add(&w, xstrdup("--"));
	strv_add_all(&w, command);
	strv_free(command);
	return w.v;
}

/* A session of its own, and nothing of ours but environment and locks. */
int
local_start_spawn(const char *path, char **argv, char **env,
    const struct local_gpu_lock_fds *locks, pid_t *pid)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t all, none;
	size_t i;
	int r;

	(void)sigfillset(&all);
	(void)sigemptyset(&none);
	(void)posix_spawnattr_init(&attr);
	(void)posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSID |
						  POSIX_SPAWN_SETSIGDEF |
						  POSIX_SPAWN_SETSIGMASK);
	(void)posix_spawnattr_setsigdefault(&attr, &all);
	(void)posix_spawnattr_setsigmask(&attr, &none);
	(void)posix_spawn_file_actions_init(&files);
	(void)posix_spawn_file_actions_addopen(
	    &files, 0, "/dev/null", O_RDWR, 0);
	(void)posix_spawn_file_actions_adddup2(&files, 0, 1);
	(void)posix_spawn_file_actions_adddup2(&files, 0, 2);
	/* None of them is in the way of another: all are higher. */
	for (i = 0; i < locks->n; i++)
		(void)posix_spawn_file_actions_adddup2(
		    &files, locks->fd[i], 3 + (int)i);
	(void)posix_spawn_file_actions_addclosefrom_np(
	    &files, 3 + (int)locks->n);
	r = posix_spawn(pid, path, &files, &attr, argv, env);
	(void)posix_spawn_file_actions_destroy(&files);
	(void)posix_spawnattr_destroy(&attr);
	return r;
}

static int
attempt_spawn(struct local *l, const struct launch_spec *spec, const char *dir,
    bool fresh, struct err *e)
{
	struct local_gpu_key key;
	struct local_gpu_lock_fds locks = local_gpu_names_lock_fds(
	    l, local_gpu_key(&key, l, spec->slot, spec->uuid));
	char **argv = shim_argv(l, spec, dir, key.text, locks.n);
	char **env = local_env(l, spec, dir);
	struct proc_ref supervisor;
	struct local_attempt *a;
	pid_t pid;
	int r;

	fail_point("local.before_spawn");
	r = local_start_spawn(l->shim, argv, env, &locks, &pid);
	free(locks.fd);
	strv_free(argv);
	strv_free(env);
	/* hpotune-shim may be being reinstalled. */
	if (r != 0)
		return err_set(e,
		    transient_error_exec(r) ? ERR_BUSY : ERR_LAUNCH, "%s: %s",
		    l->shim, strerror(r));
	fail_point("local.after_spawn");
	a = local_follow(l, spec);
	a->child = pid;
	a->fresh = fresh;
	proc_open_child(&supervisor, pid);
	local_watch(a, &supervisor);
	return 0;
}

int
local_start(void *ctx, const struct launch_spec *spec, struct err *e)
{
	struct local *l = ctx;
	bool fresh = false, aside;
	char *dir;
	int r;

	if (local_find(l, spec->trial, spec->attempt) != NULL)
		return 0;
	dir = local_start_dir(spec);
	if (strlen(spec->uuid) != RECORD_UUID)
		r = err_set(e, ERR_LAUNCH, "%s: no uuid", dir);
	else if (local_state_dir_moved(l))
		r = local_state_dir_err(l, e);
	else
		r = local_gpu_begin(l, spec, e);
	if (r == 0)
		r = dirs_make(spec, dir, &fresh, e);
	if (r == 0 && !fresh && local_foreign_run(spec, dir, &aside)) {
		local_follow(l, spec)->aside = aside;
		free(dir);
		return 0;
	}
	if (r == 0)
		r = shared_make(spec, e);
	if (r == 0)
		r = file_write(dir, "params.json", spec->params_json, e);
	if (r == 0)
		r = gpus_write(l, spec, dir, e);
	fail_point("local.after_mkdir");
	if (r == 0)
		r = local_pack_serve(l, spec, dir, e);
	if (r == 0)
		r = attempt_spawn(l, spec, dir, fresh, e);
	/* The move may be the cause of the error. */
	if (r == -1 && local_state_dir_moved(l))
		(void)local_state_dir_err(l, e);
	if (r == -1)
		local_gpu_undo(l, spec->slot, spec->uuid);
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
