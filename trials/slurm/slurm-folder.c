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

static int
root_make(struct slurm *s, const struct launch_env *env, struct err *e)
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

static int
programs_copy(struct slurm *s, struct err *e)
{
	int rc = program_copy(s, &s->shim, "HPOTUNE_SHIM", "hpotune-shim", e);

	if (rc == 0 && s->trial->launcher != STUDY_LAUNCHER_NONE)
		rc = program_copy(
		    s, &s->ranks, "HPOTUNE_RANKS", "hpotune-ranks", e);
	if (rc == 0 && s->set.per_job > 1)
		rc = program_copy(
		    s, &s->node, "HPOTUNE_NODE", "hpotune-node", e);
	if (rc == 0 && s->set.pack > 0)
		rc = program_copy(
		    s, &s->pack, "HPOTUNE_PACK", "hpotune-pack", e);
	return rc;
}

int
slurm_folder_open(struct slurm *s, const struct launch_env *env, struct err *e)
{
	return root_make(s, env, e) == 0 ? programs_copy(s, e) : -1;
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
	char *dir = launcher_spec_attempt_dir(spec);
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
		rc = slurm_script_write(s, spec, dir, e);
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
slurm_folder_made(const char *dir, const char *uuid, bool *guest)
{
	char text[128], theirs[64], word[4];

	*guest = false;
	if (!slurm_folder_read(dir, CREATE_FILE, text, sizeof text))
		return false;
	slurm_folder_word(text, "guest", word, sizeof word);
	*guest = *word != '\0';
	slurm_folder_word(text, "uuid", theirs, sizeof theirs);
	return strcmp(theirs, uuid) == 0;
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
