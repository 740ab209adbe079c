/*
 * The files of an attempt on the shared file system: what its job needs, and
 * the claim that decides whether it may start.
 */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/digest.h"
#include "src/base/err.h"
#include "src/base/fail.h"
#include "src/base/spawn.h"
#include "src/model/study/study.h"
#include "trials/process/transient-error.h"
#include "trials/shim/shim.h"
#include "trials/slurm/slurm-internal.h"

#define CREATE_FILE "create"

char *
slurm_folder_dir(const struct launch_spec *spec)
{
	return xasprintf("%s/attempt-%d", spec->trial_dir, spec->attempt);
}

/* Temporary errors become ERR_BUSY, which is retried. */
static int
file_err(struct err *e, int error, const char *path)
{
	return err_set(e,
	    transient_error_resource(error) || error == EIO || error == ESTALE
		? ERR_BUSY
		: ERR_LAUNCH,
	    "%s: %s", path, strerror(error));
}

int
slurm_folder_write(
    const char *dir, const char *name, const char *text, struct err *e)
{
	char *part = xasprintf("%s/.%s.new", dir, name);
	char *path = xasprintf("%s/%s", dir, name);
	size_t len = strlen(text);
	int error = 0, fd;

	(void)unlink(part);
	fd = open(
	    part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	errno = fd == -1 ? errno : ENOSPC;
	if (fd == -1 || write(fd, text, len) != (ssize_t)len ||
	    fsync(fd) == -1 || rename(part, path) == -1)
		error = errno;
	if (fd != -1)
		(void)close(fd);
	if (error != 0)
		(void)file_err(e, error, path);
	free(part);
	free(path);
	return error == 0 ? 0 : -1;
}

bool
slurm_folder_read(const char *dir, const char *name, char *text, size_t n)
{
	char *path = xasprintf("%s/%s", dir, name);
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
	ssize_t got = fd == -1 ? -1 : read(fd, text, n - 1);

	free(path);
	if (fd != -1)
		(void)close(fd);
	text[got > 0 ? got : 0] = '\0';
	return got >= 0;
}

void
slurm_folder_word(const char *line, const char *name, char *value, size_t n)
{
	size_t len = strlen(name), end;

	*value = '\0';
	for (; *line != '\0'; line += strspn(line, " \n")) {
		end = strcspn(line, " \n");
		if (strncmp(line, name, len) == 0 && line[len] == '=' &&
		    end - len - 1 < n) {
			memcpy(value, line + len + 1, end - len - 1);
			value[end - len - 1] = '\0';
			return;
		}
		line += end;
	}
}

int
slurm_folder_mkdir(const char *path, struct err *e)
{
	if (mkdir(path, 0700) == 0 || errno == EEXIST)
		return 0;
	return file_err(e, errno, path);
}

/* NAME.d/trials is a link to the trials of the root. */
static int
trials_link(const struct slurm *s, struct err *e)
{
	char *link = xasprintf("%s/trials", s->state_dir);
	char *to = xasprintf("%s/trials", s->root), there[PATH_MAX];
	ssize_t n;
	int rc = slurm_folder_mkdir(to, e);

	if (rc == 0 && symlink(to, link) == -1) {
		n = errno == EEXIST ? readlink(link, there, sizeof there) : -1;
		if (n != (ssize_t)strlen(to) ||
		    strncmp(there, to, (size_t)n) != 0)
			rc = err_set(e, ERR_FILE,
			    "backend.dir: %s is there already and is no link "
			    "to %s: trials stay where they are; move it there, "
			    "or leave backend.dir as it was",
			    link, to);
	}
	free(link);
	free(to);
	return rc;
}

int
slurm_folder_root(struct slurm *s, const struct launch_env *env, struct err *e)
{
	if (s->set.dir == NULL) {
		s->root = xstrdup(s->state_dir);
		return 0;
	}
	s->root = xasprintf("%s/%s-%s", s->set.dir, env->study,
	    env->study_id != NULL ? env->study_id : "");
	return slurm_folder_mkdir(s->set.dir, e) == 0 &&
		       slurm_folder_mkdir(s->root, e) == 0
		   ? trials_link(s, e)
		   : -1;
}

/* Named by its digest: the one that a running job executes stays. */
static int
program_copy(const struct slurm *s, char **to, const char *variable,
    const char *name, struct err *e)
{
	char *from = NULL, *dir, *text, hex[DIGEST_HEX];
	struct buf command = { 0 };
	char *argv[] = { "install", "-m", "700", NULL, NULL, NULL };
	struct stat st;
	int rc;

	if (spawn_find(&from, variable, name, e) != 0)
		return -1;
	rc = sha256_file(hex, from, e);
	dir = xasprintf("%s/bin", s->root);
	if (rc == 0 && mkdir(dir, 0700) == -1 && errno != EEXIST)
		rc = err_set(e, ERR_FILE, "%s: %s", dir, strerror(errno));
	*to = xasprintf("%s/%s-%.12s", dir, name, hex);
	text = xasprintf("%s/.%s.%ld", dir, name, (long)getpid());
	if (rc == 0 && stat(*to, &st) == -1) {
		argv[3] = from;
		argv[4] = text;
		if (slurm_program_call(argv, SLURM_TOOL_MS, &command) != 0 ||
		    rename(text, *to) == -1)
			rc = err_set(e, ERR_FILE,
			    "%s cannot be copied to %s: %.200s", from, dir,
			    command.len > 0 ? buf_str(&command)
					    : strerror(errno));
	}
	buf_free(&command);
	free(text);
	free(dir);
	free(from);
	return rc;
}

int
slurm_folder_programs(struct slurm *s, struct err *e)
{
	int rc = program_copy(s, &s->shim, "HPOTUNE_SHIM", "hpotune-shim", e);

	if (rc == 0 && s->trial->launcher != STUDY_LAUNCHER_NONE)
		rc = program_copy(
		    s, &s->ranks, "HPOTUNE_RANKS", "hpotune-ranks", e);
	if (rc == 0 && s->set.per_job > 1)
		rc = program_copy(
		    s, &s->node, "HPOTUNE_NODE", "hpotune-node", e);
	return rc;
}

static int
dirs_make(const struct launch_spec *spec, const char *dir, struct err *e)
{
	static const char *const names[] = { "checkpoint", "output",
		"output/model" };
	char *trials = xasprintf("%s/..", spec->trial_dir), *path;
	char *cut = xstrdup(spec->trial_dir), *slash = strrchr(cut, '/');
	int rc = 0;
	size_t i;

	free(trials);
	if (slash != NULL && slash != cut) {
		*slash = '\0';
		rc = slurm_folder_mkdir(cut, e);
	}
	free(cut);
	if (rc == 0)
		rc = slurm_folder_mkdir(spec->trial_dir, e);
	for (i = 0; rc == 0 && i < sizeof names / sizeof names[0]; i++) {
		path = xasprintf("%s/%s", spec->trial_dir, names[i]);
		rc = slurm_folder_mkdir(path, e);
		free(path);
	}
	return rc == 0 ? slurm_folder_mkdir(dir, e) : -1;
}

/* 'it'\''s' */
void
slurm_folder_put_quoted(struct buf *b, const char *text)
{
	buf_putc(b, '\'');
	for (; *text != '\0'; text++)
		if (*text == '\'')
			buf_puts(b, "'\\''");
		else
			buf_putc(b, *text);
	buf_putc(b, '\'');
}

/* What belongs to the machine of the server, or is given by Slurm. */
static bool
is_of_machine(const char *word)
{
	static const char *const names[] = { "SLURM_", "SLURMD_", "SBATCH_",
		"CUDA_VISIBLE_DEVICES=", "GPU_DEVICE_ORDINAL=",
		"ROCR_VISIBLE_DEVICES=", "ZE_AFFINITY_MASK=", "HOSTNAME=",
		"TMPDIR=", "PWD=", "HPOTUNE_DEADLINE=", "HPOTUNE_PLACE=",
		"OLDPWD=", "SHLVL=", "_=", "XDG_RUNTIME_DIR=", "SSH_",
		"DISPLAY=", NULL };
	size_t i;

	for (i = 0; names[i] != NULL; i++)
		if (strncmp(word, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

static void
put_variable(struct buf *b, const char *word)
{
	static const char letters[] =
	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
	size_t n = strcspn(word, "=");

	/* A shell can set no other names. */
	if (n == 0 || word[n] != '=' || strspn(word, letters) != n ||
	    (word[0] >= '0' && word[0] <= '9'))
		return;
	buf_printf(b, "export %.*s=", (int)n, word);
	slurm_folder_put_quoted(b, word + n + 1);
	buf_putc(b, '\n');
}

static void
put_variables(struct buf *b, char *const *words, bool but_machine)
{
	for (; words != NULL && *words != NULL; words++)
		if (!but_machine || !is_of_machine(*words))
			put_variable(b, *words);
}

static void
put_passed(struct buf *b, const char *name)
{
	const char *value = getenv(name);
	char *word;

	if (value == NULL)
		return;
	word = xasprintf("%s=%s", name, value);
	put_variable(b, word);
	free(word);
}

/* What is there before trial.env. */
static void
put_inherited(struct buf *b, const struct study_trial *t)
{
	static const char *const always[] = { "PATH", "HOME", "LANG" };
	size_t i;

	if (!t->clean_env) {
		put_variables(b, environ, true);
		return;
	}
	for (i = 0; i < sizeof always / sizeof always[0]; i++)
		put_passed(b, always[i]);
	for (i = 0; t->pass_env != NULL && t->pass_env[i] != NULL; i++)
		put_passed(b, t->pass_env[i]);
}

static void
put_path(struct buf *b, const char *name, const char *dir, const char *file)
{
	char *word = xasprintf("%s=%s/%s", name, dir, file);

	put_variable(b, word);
	free(word);
}

/* In a file of its own: it may have secrets, and Slurm copies the script. */
static int
env_write(const struct launch_spec *spec, const char *dir, struct err *e)
{
	struct buf b = { 0 };
	char *uuid = xasprintf("HPOTUNE_ATTEMPT_UUID=%s", spec->uuid);
	int rc;

	put_inherited(&b, spec->settings);
	put_variables(&b, launcher_spec_env(spec), false);
	put_variables(&b, spec->env, false);
	put_path(&b, "HPOTUNE_PARAMS", dir, "params.json");
	put_path(&b, "HPOTUNE_METRICS", dir, "metrics.jsonl");
	put_path(&b, "HPOTUNE_CHECKPOINT_DIR", spec->trial_dir, "checkpoint");
	put_path(&b, "HPOTUNE_OUTPUT_DIR", spec->trial_dir, "output");
	put_variable(&b, uuid);
	rc = slurm_folder_write(dir, "env.sh", buf_str(&b), e);
	buf_free(&b);
	free(uuid);
	return rc;
}

static void
put_argument(struct buf *b, const char *name, const char *value)
{
	buf_printf(b, " %s=", name);
	slurm_folder_put_quoted(b, value);
}

static void
put_number(struct buf *b, const char *name, int64_t value)
{
	buf_printf(b, " %s=%lld", name, (long long)value);
}

/*
 * HPOTUNE_DEADLINE: when Slurm sends SIGTERM before the limit of the job, if it
 * has one.  Newer versions give the end; without it, it follows from the
 * limit, or is asked for.
 */
void
slurm_folder_put_deadline(struct buf *b, const struct slurm_settings *set)
{
	buf_puts(b, "hpotune_end=${SLURM_JOB_END_TIME:-}\n");
	if (set->time_s > 0)
		buf_printf(b,
		    "[ -n \"$hpotune_end\" ] ||\n"
		    "\thpotune_end=$(($(date +%%s) + %lld))\n",
		    (long long)set->time_s);
	else
		buf_puts(b,
		    "[ -n \"$hpotune_end\" ] ||\n"
		    "\thpotune_end=$(date +%s -d \"$(timeout 20 squeue -h \\\n"
		    "\t    -o %e -j \"$SLURM_JOB_ID\" 2>/dev/null)\" "
		    "2>/dev/null)\n");
	/* A job without a limit has an end that is a year ahead. */
	buf_printf(b,
	    "unset HPOTUNE_DEADLINE\n"
	    "if [ \"${hpotune_end:-0}\" -gt 0 ] &&\n"
	    "    [ \"$hpotune_end\" -lt $(($(date +%%s) + 31000000)) ]; "
	    "then\n"
	    "\tHPOTUNE_DEADLINE=$((hpotune_end - %lld))\n"
	    "\texport HPOTUNE_DEADLINE\nfi\n",
	    (long long)set->signal_s);
}

/*
 * What the processes of several nodes need: the address of the first node, and
 * an environment that srun passes on although that of sbatch was not.
 */
static void
put_steps(struct buf *b, const struct slurm_settings *set)
{
	buf_puts(b, "unset SLURM_EXPORT_ENV\n");
	if (set->nodes > 1)
		buf_puts(b, "MASTER_ADDR=$SLURMD_NODENAME\n"
			    "getent hosts \"$MASTER_ADDR\" >/dev/null ||\n"
			    "\tMASTER_ADDR=$(hostname)\n"
			    "export MASTER_ADDR\n");
}

/* hpotune-ranks and launchers, if any. */
static void
put_ranks(struct buf *b, const struct slurm *s, const struct launch_spec *spec,
    const char *dir)
{
	struct strv w = { 0 };
	size_t i;

	slurm_ranks_command(&w, s, spec, dir);
	for (i = 0; i < w.n; i++) {
		buf_putc(b, ' ');
		/* The one word that the shell replaces. */
		if (strcmp(w.v[i], SLURM_RANKS_CPUS) == 0)
			buf_puts(b, w.v[i]);
		else
			slurm_folder_put_quoted(b, w.v[i]);
	}
	strv_free(w.v);
}

/* The job is the supervisor: the shell becomes it. */
static int
script_write(const struct slurm *s, const struct launch_spec *spec,
    const char *dir, struct err *e)
{
	const struct study_trial *t = spec->settings;
	struct buf b = { 0 };
	size_t i;
	int rc;

	/* A login shell defines what setup may call, such as module. */
	buf_puts(&b, s->set.setup != NULL ? "#!/bin/bash -l\n" : "#!/bin/sh\n");
	buf_printf(&b, "# hpotune: trial %lld, attempt %d\n. ",
	    (long long)spec->trial, spec->attempt);
	slurm_folder_put_quoted(&b, dir);
	buf_puts(&b, "/env.sh || exit\n");
	if (s->set.setup != NULL)
		buf_printf(&b, "%s\n", s->set.setup);
	/* In a job of several trials hpotune-node gives it. */
	if (s->set.per_job == 1)
		slurm_folder_put_deadline(&b, &s->set);
	put_steps(&b, &s->set);
	buf_puts(&b, "SM_NUM_GPUS=${SLURM_GPUS_ON_NODE:-0} "
		     "CUDA_VISIBLE_DEVICES=${CUDA_VISIBLE_DEVICES-}\n"
		     "export SM_NUM_GPUS CUDA_VISIBLE_DEVICES\nexec ");
	slurm_folder_put_quoted(&b, s->shim);
	put_number(&b, "shared", 1);
	put_argument(&b, "dir", dir);
	put_argument(&b, "uuid", spec->uuid);
	put_argument(&b, "workdir", launcher_spec_workdir(spec));
	put_number(&b, "grace-ms", t->grace_ms);
	put_number(&b, "max-run-ms", t->max_run_ms);
	if (spec->from_dir != NULL) {
		put_argument(&b, "from", spec->from_dir);
		put_number(&b, "from-trial", spec->from);
	}
	buf_puts(&b, " --");
	put_ranks(&b, s, spec, dir);
	for (i = 0; spec->argv[i] != NULL; i++) {
		buf_putc(&b, ' ');
		slurm_folder_put_quoted(&b, spec->argv[i]);
	}
	buf_putc(&b, '\n');
	rc = slurm_folder_write(dir, "job.sh", buf_str(&b), e);
	buf_free(&b);
	return rc;
}

int
slurm_folder_reserve(const char *dir, const char *name, struct err *e)
{
	char *path = xasprintf("%s/%s", dir, name);
	int fd = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	int rc = fd == -1 ? file_err(e, errno, path) : 0;

	if (fd != -1)
		(void)close(fd);
	free(path);
	return rc;
}

int
slurm_folder_wish(const char *dir, const char *text, struct err *e)
{
	char *path = xasprintf("%s/" SHIM_STOP_FILE, dir);
	int fd = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	ssize_t n = (ssize_t)strlen(text);
	int error = 0;

	errno = fd == -1 ? errno : ENOSPC;
	if (fd == -1 || pwrite(fd, text, (size_t)n, 0) != n || fsync(fd) == -1)
		error = errno;
	if (fd != -1)
		(void)close(fd);
	if (error != 0)
		(void)file_err(e, error, path);
	free(path);
	return error == 0 ? 0 : -1;
}

int
slurm_folder_sync(const char *dir, struct err *e)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc = fd == -1 || fsync(fd) == -1 ? file_err(e, errno, dir) : 0;

	if (fd != -1)
		(void)close(fd);
	return rc;
}

/* One of params_files; a name may have a folder. */
static int
params_file_write(
    const char *dir, const char *name, const char *text, struct err *e)
{
	const char *slash = strchr(name, '/');
	char *below;
	int rc;

	if (slash == NULL)
		return slurm_folder_write(dir, name, text, e);
	below = xasprintf("%s/%.*s", dir, (int)(slash - name), name);
	rc = slurm_folder_mkdir(below, e);
	if (rc == 0)
		rc = slurm_folder_write(below, slash + 1, text, e);
	free(below);
	return rc;
}

int
slurm_folder_make(
    struct slurm *s, const struct launch_spec *spec, struct err *e)
{
	char *dir = slurm_folder_dir(spec);
	char *text = xasprintf(
	    "uuid=%s%s\n", spec->uuid, s->set.per_job > 1 ? " guest=1" : "");
	int rc = dirs_make(spec, dir, e);
	size_t i;

	if (rc == 0)
		rc = slurm_folder_write(
		    dir, "params.json", spec->params_json, e);
	for (i = 0; rc == 0 && spec->params_files != NULL &&
		    spec->params_files[i] != NULL;
	     i += 2)
		rc = params_file_write(
		    dir, spec->params_files[i], spec->params_files[i + 1], e);
	if (rc == 0)
		rc = env_write(spec, dir, e);
	if (rc == 0)
		rc = script_write(s, spec, dir, e);
	if (rc == 0)
		rc = slurm_folder_reserve(dir, "state", e);
	if (rc == 0)
		rc = slurm_folder_reserve(dir, SHIM_STOP_FILE, e);
	fail_point("slurm.before_create");
	/* From here on a job may exist. */
	if (rc == 0)
		rc = slurm_folder_write(dir, CREATE_FILE, text, e);
	if (rc == 0)
		rc = slurm_folder_sync(dir, e);
	fail_point("slurm.after_create");
	free(text);
	free(dir);
	return rc;
}

bool
slurm_folder_made(const char *dir, const char *uuid)
{
	char text[128], theirs[64];

	if (!slurm_folder_read(dir, CREATE_FILE, text, sizeof text))
		return false;
	slurm_folder_word(text, "uuid", theirs, sizeof theirs);
	return strcmp(theirs, uuid) == 0;
}

bool
slurm_folder_is_guest(const char *dir)
{
	char text[128], guest[4];

	if (!slurm_folder_read(dir, CREATE_FILE, text, sizeof text))
		return false;
	slurm_folder_word(text, "guest", guest, sizeof guest);
	return *guest != '\0';
}

int
slurm_folder_abandon(const char *dir, const char *uuid, struct err *e)
{
	char *part = xasprintf("abandon.%ld", (long)getpid());
	char *from = xasprintf("%s/%s", dir, part);
	char *to = xasprintf("%s/" SHIM_CLAIM_FILE, dir);
	char *text = xasprintf("uuid=%s abandoned=1\n", uuid), there[256];
	char mark[8], whose[64];
	int rc, error;

	rc = slurm_folder_write(dir, part, text, e);
	if (rc == 0) {
		error = link(from, to) == 0 ? 0 : errno;
		if (error == EEXIST && slurm_folder_read(dir, SHIM_CLAIM_FILE,
					   there, sizeof there)) {
			slurm_folder_word(
			    there, "abandoned", mark, sizeof mark);
			slurm_folder_word(there, "uuid", whose, sizeof whose);
			/* The claim of another run prevents ours, too. */
			rc = *mark != '\0' || strcmp(whose, uuid) != 0 ? 0 : 1;
		} else if (error != 0)
			rc = file_err(e, error, to);
	} else if (access(dir, F_OK) == -1 && errno == ENOENT)
		rc = 0; /* a supervisor without its folder starts nothing */
	(void)unlink(from);
	free(text);
	free(to);
	free(from);
	free(part);
	return rc;
}

void
slurm_folder_excluded(const struct slurm_attempt *a, char *text, size_t n)
{
	*text = '\0';
	if (a->slurm->set.exclude &&
	    slurm_folder_read(a->trial_dir, SLURM_EXCLUDE_FILE, text, n))
		text[strcspn(text, "\n")] = '\0';
}

void
slurm_folder_exclude(struct slurm_attempt *a, const char *node)
{
	struct err e = ERR_INIT;
	char old[1024], text[1024];

	if (!a->slurm->set.exclude || *node == '\0' ||
	    strpbrk(node, "[, ") != NULL)
		return;
	slurm_folder_excluded(a, old, sizeof old);
	if (snprintf(text, sizeof text, "%s%s%s\n", old,
		*old != '\0' ? "," : "", node) >= (int)sizeof text ||
	    slurm_folder_write(a->trial_dir, SLURM_EXCLUDE_FILE, text, &e) ==
		-1)
		return;
}

int
slurm_folder_forgive(const struct slurm_attempt *a, struct err *e)
{
	return slurm_folder_write(a->trial_dir, SLURM_EXCLUDE_FILE, "", e);
}
