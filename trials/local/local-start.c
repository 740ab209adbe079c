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
#include "src/base/loop.h"
#include "src/base/spawn.h"
#include "src/model/study/study.h"
#include "trials/local/local-gpu.h"
#include "trials/local/local-internal.h"
#include "trials/process/exec-path.h"
#include "trials/process/transient-error.h"
#include "trials/ranks/ranks.h"

/* ---- the environment ---------------------------------------------------- */

/*
 * Values are passed to the trial only; they are not logged, stored or put into
 * errors.
 */

/*
 * Takes ownership of a word NAME=VALUE; a later word of the same name replaces
 * it.
 */
static void
env_put(struct strv *env, char *word)
{
	size_t i, len = strcspn(word, "=");

	if (word[len] != '=') {
		free(word);
		return;
	}
	for (i = 0; i < env->n; i++)
		if (strncmp(env->v[i], word, len + 1) == 0) {
			free(env->v[i]);
			env->v[i] = word;
			return;
		}
	strv_add(env, word);
}

static void
env_put_all(struct strv *env, char *const *words)
{
	if (words != NULL)
		while (*words != NULL)
			env_put(env, xstrdup(*words++));
}

static void
env_pass(struct strv *env, const char *name)
{
	const char *value = getenv(name);

	if (value != NULL)
		env_put(env, xasprintf("%s=%s", name, value));
}

/*
 * What is inherited before anything is added.  Python would keep its output
 * until it ends, because the log is a file: reports would come too late.
 */
static void
env_begin(struct strv *env, const struct study_trial *t)
{
	static const char *const always[] = { "PATH", "HOME", "LANG",
		"TMPDIR" };
	size_t i;

	env_put(env, xstrdup("PYTHONUNBUFFERED=1"));
	if (!t->clean_env) {
		env_put_all(env, environ);
		return;
	}
	for (i = 0; i < sizeof always / sizeof always[0]; i++)
		env_pass(env, always[i]);
	for (i = 0; t->pass_env != NULL && t->pass_env[i] != NULL; i++)
		env_pass(env, t->pass_env[i]);
}

/* Empty for a trial without GPUs: if unset, CUDA would use the first GPU. */
static void
env_put_gpus(struct strv *env, const struct local *l,
    const struct launch_spec *spec, const char *variable,
    enum local_gpu_name name)
{
	struct local_gpu_key key;
	struct buf b = { 0 };

	buf_printf(&b, "%s=", variable);
	local_gpu_names_put(
	    l, local_gpu_key(&key, l, spec->slot, spec->uuid), name, ",", &b);
	env_put(env, buf_take(&b));
}

/* The environment of one attempt; free with strv_free. */
static char **
env_make(const struct local *l, const struct launch_spec *spec, const char *dir)
{
	struct local_gpu_key key;
	struct strv env = { 0 };
	char **mps;

	(void)local_gpu_key(&key, l, spec->slot, spec->uuid);
	mps = local_gpu_names_mps(l, key.text, spec->settings);
	env_begin(&env, spec->settings);
	env_put_all(&env, mps);
	strv_free(mps);
	env_put_all(&env, launcher_spec_env(spec));
	env_put_all(&env, spec->env);
	env_put(&env, xasprintf("HPOTUNE_PARAMS=%s/params.json", dir));
	env_put(&env, xasprintf("HPOTUNE_METRICS=%s/metrics.jsonl", dir));
	env_put(&env,
	    xasprintf("HPOTUNE_CHECKPOINT_DIR=%s/checkpoint", spec->trial_dir));
	env_put(
	    &env, xasprintf("HPOTUNE_OUTPUT_DIR=%s/output", spec->trial_dir));
	/* Identifies the processes of this attempt. */
	env_put(&env, xasprintf("HPOTUNE_ATTEMPT_UUID=%s", spec->uuid));
	env_put(&env, xstrdup("CUDA_DEVICE_ORDER=PCI_BUS_ID"));
	env_put_gpus(&env, l, spec, "CUDA_VISIBLE_DEVICES", LOCAL_GPU_VISIBLE);
	env_put_gpus(&env, l, spec, "HPOTUNE_GPU_UUIDS", LOCAL_GPU_UUID);
	env_put_gpus(&env, l, spec, "HPOTUNE_GPU_INDICES", LOCAL_GPU_INDEX);
	env_put(&env,
	    xasprintf("SM_NUM_GPUS=%zu", local_gpu_names_count(l, key.text)));
	return env.v;
}

/* The value of a variable of the trial, or NULL.  Borrowed. */
static const char *
env_get(const struct study_trial *t, const char *name)
{
	size_t i, n = strlen(name);

	for (i = 0; t->env != NULL && t->env[i] != NULL; i++)
		if (strncmp(t->env[i], name, n) == 0 && t->env[i][n] == '=')
			return t->env[i] + n + 1;
	return getenv(name);
}

/* Whether a program is found in the PATH of the trial. */
static bool
env_finds(const struct study_trial *t, const char *program)
{
	char interpreter[PATH_MAX];

	return exec_path_check(
		   AT_FDCWD, program, env_get(t, "PATH"), interpreter) == 0;
}

/* ---- trials of several processes ---------------------------------------- */

/*
 * Before the command stand the words of hpotune-ranks, which runs it once per
 * rank, or of an external launcher (torchrun, mpirun) that does.
 */
static const char ranks_program[] = "hpotune-ranks";

int
local_start_find_ranks(
    struct local *l, const struct study_trial *t, struct err *e)
{
	if (t->launcher == STUDY_LAUNCHER_NONE)
		return 0;
	return spawn_find(&l->ranks, "HPOTUNE_RANKS", ranks_program, e);
}

/* Add the words of the external launcher, if there is one. */
static void
launcher_words(struct strv *w, const struct study_trial *t, const char *command)
{
	switch (t->launcher) {
	case STUDY_LAUNCHER_NONE:
	case STUDY_LAUNCHER_RANKS:
	case STUDY_LAUNCHER_SRUN: /* an error of check */
		break;
	case STUDY_LAUNCHER_TORCHRUN:
		ranks_words_torchrun(w, command, env_finds(t, "torchrun"), 1,
		    study_processes(t));
		break;
	case STUDY_LAUNCHER_MPIRUN:
		strv_add(w, xstrdup("mpirun"));
		strv_add(w, xstrdup("-np"));
		strv_add(w, xasprintf("%lld", (long long)study_processes(t)));
		break;
	}
}

static int64_t
ports(const struct study_trial *t)
{
	return t->servers == 0 ? 1 : 1 + study_processes(t) + t->servers;
}

static void
number_word(struct strv *w, const char *name, int64_t number)
{
	strv_add(w, xasprintf("%s=%lld", name, (long long)number));
}

/* Add the words before the command. */
static void
ranks_command(struct strv *w, const struct local *l,
    const struct launch_spec *spec, const char *dir)
{
	const struct study_trial *t = spec->settings;
	bool own = t->launcher == STUDY_LAUNCHER_RANKS;

	strv_add(w, xstrdup(l->ranks));
	strv_add(w, xstrdup(own ? "start" : "launcher"));
	strv_add(w, xasprintf("dir=%s", dir));
	number_word(w, "processes", study_processes(t));
	number_word(w, "servers", t->servers);
	number_word(w, "grace-ms", t->grace_ms);
	number_word(w, "ports", ports(t));
	number_word(w, "place", spec->slot);
	number_word(w, "slots", l->slots);
	number_word(w, "cpus", t->cpus);
	number_word(w, "log-cap", l->log_cap);
	strv_add(w, xstrdup("--"));
	if (own)
		return;
	launcher_words(w, t, spec->argv[0]);
	strv_add(w, xstrdup(l->ranks));
	strv_add(w, xstrdup("each"));
	strv_add(w, xasprintf("dir=%s", dir));
	strv_add(w, xstrdup("--"));
}

/* Outside of containers, mpirun as root needs both variables. */
static bool
root_allowed(const struct study_trial *t)
{
	static const char *const names[] = { "OMPI_ALLOW_RUN_AS_ROOT",
		"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM" };
	const char *value;
	size_t i;

	for (i = 0; i < sizeof names / sizeof names[0]; i++) {
		value = env_get(t, names[i]);
		if (value == NULL || strcmp(value, "1") != 0)
			return false;
	}
	return true;
}

static void
about(const struct study_trial *t, const struct strv *w, struct buf *text)
{
	size_t i;

	if (w->n == 0) {
		buf_printf(text, "ranks: %lld process%s",
		    (long long)study_processes(t),
		    study_processes(t) == 1 ? "" : "es");
		if (t->servers > 0)
			buf_printf(text, ", %lld parameter server%s",
			    (long long)t->servers, t->servers > 1 ? "s" : "");
		return;
	}
	for (i = 0; i < w->n; i++)
		buf_printf(text, "%s%s", i > 0 ? " " : "", w->v[i]);
	if (t->launcher == STUDY_LAUNCHER_MPIRUN && ranks_env_is_root() &&
	    !root_allowed(t))
		buf_puts(text, " (as root, Open MPI needs "
			       "OMPI_ALLOW_RUN_AS_ROOT, see hpotune-trial(7))");
}

/*
 * Path of the external launcher of the ranks; NULL = hpotune-ranks.  Free it.
 */
static char *
ranks_launcher(const struct study_trial *t)
{
	struct strv w = { 0 };
	char *first;

	launcher_words(&w, t, t->command[0]);
	first = w.n > 0 ? xstrdup(w.v[0]) : NULL;
	strv_free(w.v);
	return first;
}

void
local_start_describe(const struct study_trial *t, struct buf *text)
{
	struct strv w = { 0 };

	if (t->launcher == STUDY_LAUNCHER_NONE)
		return;
	launcher_words(&w, t, t->command[0]);
	about(t, &w, text);
	strv_free(w.v);
}

/* ---- the start ---------------------------------------------------------- */

static char **local_command(
    const struct local *, const struct launch_spec *, const char *dir);

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

/* The directory of an attempt that is about to start. */
enum folder {
	FOLDER_OLD, /* it existed before */
	FOLDER_FRESH, /* it is empty */
	FOLDER_AHEAD /* it was made by local-ahead */
};

static int
dirs_make(const struct launch_spec *spec, const char *dir, enum folder *folder,
    struct err *e)
{
	char path[PATH_MAX];
	bool made, fresh;

	if (snprintf(path, sizeof path, "%s", spec->trial_dir) >= PATH_MAX)
		return start_err(e, ENAMETOOLONG, spec->trial_dir);
	if (dir_make(dirname(path), &made, e) == -1 ||
	    dir_make(spec->trial_dir, &made, e) == -1)
		return -1;
	if (dir_make(dir, &fresh, e) == -1)
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
	char *part;
	ssize_t n = -1;

	dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir_fd == -1)
		return start_err(e, errno, dir);
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
	return error == 0 ? 0 : start_err(e, error, dir);
}

/* The same, in place, for an empty file of a folder that was made ahead. */
static int
file_fill(const char *dir, const char *name, const char *text, struct err *e)
{
	char path[PATH_MAX];
	size_t len = strlen(text);
	ssize_t n;
	int fd;

	if (snprintf(path, sizeof path, "%s/%s", dir, name) >= PATH_MAX)
		return start_err(e, ENAMETOOLONG, dir);
	fd = open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd == -1)
		return start_err(e, errno, path);
	n = write(fd, text, len);
	if (n >= 0 && n < (ssize_t)len)
		errno = ENOSPC;
	if (n != (ssize_t)len)
		(void)start_err(e, errno, path);
	(void)close(fd);
	return n == (ssize_t)len ? 0 : -1;
}

/* One of params_files; a name may have a folder. */
static int
params_file_write(
    const char *dir, const char *name, const char *text, struct err *e)
{
	const char *slash = strchr(name, '/');
	char *below;
	int r = 0;

	if (slash == NULL)
		return file_write(dir, name, text, e);
	below = xasprintf("%s/%.*s", dir, (int)(slash - name), name);
	if (mkdir(below, 0700) == -1 && errno != EEXIST)
		r = start_err(e, errno, below);
	if (r == 0)
		r = file_write(below, slash + 1, text, e);
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
			? file_fill(dir, "gpus", buf_str(&b), e)
			: file_write(dir, "gpus", buf_str(&b), e);
	}
	buf_free(&b);
	return r;
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
	strv_add(&w, xasprintf("workdir=%s", launcher_spec_workdir(spec)));
	strv_add(&w, xasprintf("grace-ms=%lld", (long long)t->grace_ms));
	strv_add(&w, xasprintf("max-run-ms=%lld", (long long)t->max_run_ms));
	strv_add(&w, xasprintf("memory=%lld", (long long)t->memory));
	strv_add(&w, xasprintf("log-cap=%lld", (long long)l->log_cap));
	strv_add(&w, xasprintf("hold-fds=%zu", locks));
	strv_add(&w, xasprintf("cpus=%s", local_gpu_names_cpus(l, key)));
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

/* Start its supervisor, and before it the server of its place. */
static int
processes_start(struct local *l, const struct launch_spec *spec,
    const char *dir, enum folder folder, struct err *e)
{
	struct local_gpu_key key;
	struct local_gpu_lock_fds locks = local_gpu_names_lock_fds(
	    l, local_gpu_key(&key, l, spec->slot, spec->uuid));
	char **env = env_make(l, spec, dir);
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

/* What it was given, or, after a restart, what is free. */
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
	dir = launcher_spec_attempt_dir(spec);
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
		r = dirs_make(spec, dir, &folder, e);
	if (r == 0 && folder == FOLDER_OLD &&
	    local_reconcile_foreign_run(spec, dir, &aside)) {
		local_attempt_follow(l, spec)->aside = aside;
		free(dir);
		return 0;
	}
	if (r == 0 && folder != FOLDER_AHEAD)
		r = shared_make(spec, e);
	if (r == 0)
		r = folder == FOLDER_AHEAD
			? file_fill(dir, "params.json", spec->params_json, e)
			: file_write(dir, "params.json", spec->params_json, e);
	for (i = 0; r == 0 && spec->params_files != NULL &&
		    spec->params_files[i] != NULL;
	     i += 2)
		r = params_file_write(
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
		ranks_command(&w, l, spec, dir);
	if (l->pack.size > 0) {
		local_pack_command(&w, l, spec, dir);
		return w.v;
	}
	strv_add_all(&w, spec->argv);
	return w.v;
}

/* key: of study.json, for the error. */
static int
program_check(const struct study_trial *t, int dir_fd, const char *key,
    const char *program, struct err *e)
{
	char interpreter[PATH_MAX];
	int error =
	    exec_path_check(dir_fd, program, env_get(t, "PATH"), interpreter);

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
	const char *path = env_get(t, "PATH");

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
	dir_fd = open(t->workdir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir_fd == -1 || faccessat(dir_fd, ".", X_OK, AT_EACCESS) == -1) {
		rc = err_set(e, ERR_FILE, "trial.workdir: %s: %s", t->workdir,
		    strerror(errno));
		if (dir_fd != -1)
			(void)close(dir_fd);
		return rc;
	}
	launcher = ranks_launcher(t);
	if (launcher != NULL)
		rc = program_check(t, dir_fd, "trial.launcher", launcher, e);
	if (rc == 0 && !differs(t))
		rc =
		    program_check(t, dir_fd, "trial.command", t->command[0], e);
	free(launcher);
	(void)close(dir_fd);
	return rc;
}
