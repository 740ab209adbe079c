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
#include "src/base/file.h"
#include "src/base/folder.h"
#include "src/base/spawn.h"
#include "src/model/study/study.h"
#include "trials/process/transient-error.h"
#include "trials/shim/shim.h"
#include "trials/slurm/slurm-internal.h"

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

/*
 * A folder that is below one with all trials, or all jobs, which only this user
 * can write: whoever can rename the folders above may have put another one there.
 * -1: ERR_FILE, or ERR_BUSY, and errno.
 */
static int
slurm_folder_enter(const char *dir, struct err *e)
{
	static const char *const all[] = { "/trials/", "/" SLURM_JOBS_DIR "/" };
	const char *at, *below = NULL;
	char *top;
	size_t i;
	int top_fd, fd, error;

	for (i = 0; i < sizeof all / sizeof all[0]; i++)
		for (at = dir; (at = strstr(at, all[i])) != NULL; at++)
			if (below == NULL || at + strlen(all[i]) > below)
				below = at + strlen(all[i]);
	top = below != NULL ? xstrndup(dir, (size_t)(below - dir - 1))
			    : xstrdup(dir);
	top_fd = fd = folder_open(AT_FDCWD, top, 022, e);
	error = errno;
	if (top_fd != -1 && below != NULL) {
		fd = openat(top_fd, below,
		    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		error = errno;
		(void)close(top_fd);
	}
	if (fd == -1 && error != EPERM)
		(void)file_err(e, error, dir);
	free(top);
	errno = error;
	return fd;
}

int
slurm_folder_open_file(const char *dir, const char *name)
{
	struct err e = ERR_INIT;
	int dir_fd = slurm_folder_enter(dir, &e);
	int fd = dir_fd != -1 ? file_open(dir_fd, name) : -1, error = errno;

	if (dir_fd != -1)
		(void)close(dir_fd);
	errno = error;
	return fd;
}

/* Write into a new file and give it its name: 0 or an errno. */
static int
file_replace(int dir_fd, const char *name, const char *text)
{
	char *part = xasprintf(".%s.new", name);
	size_t len = strlen(text);
	int error = 0, fd;

	(void)unlinkat(dir_fd, part, 0);
	fd = openat(dir_fd, part,
	    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	errno = fd == -1 ? errno : ENOSPC;
	if (fd == -1 || write(fd, text, len) != (ssize_t)len ||
	    fsync(fd) == -1 || renameat(dir_fd, part, dir_fd, name) == -1)
		error = errno;
	if (fd != -1)
		(void)close(fd);
	free(part);
	return error;
}

/* The error of a file in this folder: 0 or -1. */
static int
below_err(struct err *e, int error, const char *dir, const char *name)
{
	char *path;
	int rc;

	if (error == 0)
		return 0;
	path = xasprintf("%s/%s", dir, name);
	rc = file_err(e, error, path);
	free(path);
	return rc;
}

int
slurm_folder_write(
    const char *dir, const char *name, const char *text, struct err *e)
{
	int dir_fd = slurm_folder_enter(dir, e), error;

	if (dir_fd == -1)
		return -1;
	error = file_replace(dir_fd, name, text);
	(void)close(dir_fd);
	return below_err(e, error, dir, name);
}

bool
slurm_folder_read(const char *dir, const char *name, char *text, size_t n)
{
	int fd = slurm_folder_open_file(dir, name);
	ssize_t got = fd == -1 ? -1 : read(fd, text, n - 1);

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

/*
 * Make a folder, unless it is there: 0 or an errno.  A new one has no rights for
 * others, whatever its parent hands down; but its group stays.
 */
static int
slurm_folder_dir_make(int dir_fd, const char *path)
{
	struct stat st;

	if (mkdirat(dir_fd, path, 0700) == -1)
		return errno == EEXIST ? 0 : errno;
	if (fstatat(dir_fd, path, &st, AT_SYMLINK_NOFOLLOW) == -1 ||
	    ((st.st_mode & 077) != 0 &&
		fchmodat(dir_fd, path, st.st_mode & 07700, 0) == -1))
		return errno;
	return 0;
}

int
slurm_folder_mkdir(const char *path, struct err *e)
{
	int error = slurm_folder_dir_make(AT_FDCWD, path);

	return error == 0 ? 0 : file_err(e, error, path);
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

/*
 * The folder of the study, by its path: it is ours, and nobody else can enter it.
 * A group's default rights on new folders are taken from the one that is made.
 */
static int
slurm_folder_root_make(
    struct slurm *s, const struct launch_env *env, struct err *e)
{
	int fd;

	if (s->set.dir == NULL) {
		s->root = xstrdup(s->state_dir);
		return 0;
	}
	s->root = xasprintf("%s/%s-%s", s->set.dir, env->study,
	    env->study_id != NULL ? env->study_id : "");
	if (slurm_folder_mkdir(s->set.dir, e) != 0 ||
	    slurm_folder_mkdir(s->root, e) != 0)
		return -1;
	fd = folder_open(AT_FDCWD, s->root, 077, e);
	if (fd == -1)
		return err_add(e, "backend.dir");
	(void)close(fd);
	return trials_link(s, e);
}

bool
slurm_folder_is_ours(const struct slurm *s, struct err *e)
{
	int fd = folder_open(AT_FDCWD, s->root, 077, e);

	if (fd != -1)
		(void)close(fd);
	/* One that is away for a moment is no other one. */
	return fd != -1 || errno != EPERM;
}

/* Of a file in the folder: true and its digest, if it can be executed. */
static bool
program_digest(char hex[DIGEST_HEX], int dir_fd, const char *name)
{
	int fd = file_open(dir_fd, name);
	struct stat st;
	bool good = fd != -1 && fstat(fd, &st) == 0 &&
		    (st.st_mode & 0777) == 0700 && st.st_nlink == 1 &&
		    sha256_fd(hex, fd) == 0;

	if (fd != -1)
		(void)close(fd);
	return good;
}

/* Copy all bytes: 0 or an errno. */
static int
slurm_folder_bytes_copy(int from, int to)
{
	char piece[65536];
	ssize_t n;

	while ((n = read(from, piece, sizeof piece)) > 0) {
		errno = ENOSPC;
		if (write(to, piece, (size_t)n) != n)
			return errno;
	}
	return n == -1 || fsync(to) == -1 ? errno : 0;
}

static int
program_write(int dir_fd, const char *name, const char *from)
{
	char *part = xasprintf(".%s.%ld", name, (long)getpid());
	int in = file_open_user(from), out = -1, error;

	(void)unlinkat(dir_fd, part, 0);
	if (in != -1)
		out = openat(dir_fd, part,
		    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0700);
	error = out == -1 ? errno : slurm_folder_bytes_copy(in, out);
	if (error == 0 && fchmod(out, 0700) == -1)
		error = errno;
	if (in != -1)
		(void)close(in);
	if (out != -1)
		(void)close(out);
	if (error == 0 && renameat(dir_fd, part, dir_fd, name) == -1)
		error = errno;
	if (error != 0)
		(void)unlinkat(dir_fd, part, 0);
	free(part);
	return error;
}

/*
 * Named by its digest: the one that a running job executes stays.  One that is
 * there counts only with that digest; jobs compare it once more.
 */
static int
program_copy(struct slurm *s, int dir_fd, struct slurm_copy *copy,
    const char *variable, const char *program, struct err *e)
{
	char *from = NULL, *name, hex[DIGEST_HEX], there[DIGEST_HEX] = "";
	int rc, error = 0;

	if (spawn_find(&from, variable, program, e) != 0)
		return -1;
	if (sha256_file(hex, from, e) != 0) {
		free(from);
		return -1;
	}
	name = xasprintf("%s-%.12s", program, hex);
	if (program_digest(there, dir_fd, name) && strcmp(there, hex) != 0)
		buf_printf(&s->notes,
		    "%s/" SLURM_BIN_DIR "/%s is not what its name says: it is "
		    "replaced\n",
		    s->root, name);
	if (strcmp(there, hex) != 0)
		error = program_write(dir_fd, name, from);
	rc = error == 0 ? 0
			: err_set(e, ERR_FILE,
			      "%s cannot be copied to %s/" SLURM_BIN_DIR ": %s",
			      from, s->root, strerror(error));
	copy->path = xasprintf("%s/" SLURM_BIN_DIR "/%s", s->root, name);
	copy->sum = xasprintf("%s  " SLURM_BIN_DIR "/%s", hex, name);
	buf_printf(&s->sums, "%s\n", copy->sum);
	free(name);
	free(from);
	return rc;
}

void
slurm_folder_copy_free(struct slurm_copy *c)
{
	free(c->path);
	free(c->sum);
}

static int
programs_copy(struct slurm *s, struct err *e)
{
	char *dir = xasprintf("%s/" SLURM_BIN_DIR, s->root);
	int fd, rc = slurm_folder_mkdir(dir, e);

	fd = rc == 0 ? folder_open(AT_FDCWD, dir, 022, e) : -1;
	free(dir);
	if (fd == -1)
		return -1;
	rc = program_copy(s, fd, &s->shim, "HPOTUNE_SHIM", "hpotune-shim", e);
	if (rc == 0 && s->trial->launcher != STUDY_LAUNCHER_NONE)
		rc = program_copy(
		    s, fd, &s->ranks, "HPOTUNE_RANKS", "hpotune-ranks", e);
	if (rc == 0 && s->set.per_job > 1)
		rc = program_copy(
		    s, fd, &s->node, "HPOTUNE_NODE", "hpotune-node", e);
	if (rc == 0 && s->set.pack > 0)
		rc = program_copy(
		    s, fd, &s->pack, "HPOTUNE_PACK", "hpotune-pack", e);
	(void)close(fd);
	return rc;
}

int
slurm_folder_open(struct slurm *s, const struct launch_env *env, struct err *e)
{
	return slurm_folder_root_make(s, env, e) == 0 ? programs_copy(s, e)
						      : -1;
}

static int
slurm_folder_dirs_make(
    const struct launch_spec *spec, const char *dir, struct err *e)
{
	const char *number = strrchr(spec->trial_dir, '/') + 1;
	const char *attempt = strrchr(dir, '/');
	const char *const ends[] = { "", "/checkpoint", "/output",
		"/output/model", attempt };
	char *trials =
	    xstrndup(spec->trial_dir, (size_t)(number - spec->trial_dir - 1));
	int rc = slurm_folder_mkdir(trials, e), fd = -1;
	char *path;
	size_t i;

	if (rc == 0)
		fd = folder_open(AT_FDCWD, trials, 022, e);
	rc = fd != -1 ? 0 : -1;
	for (i = 0; rc == 0 && i < sizeof ends / sizeof ends[0]; i++) {
		path = xasprintf("%s%s", number, ends[i]);
		rc =
		    below_err(e, slurm_folder_dir_make(fd, path), trials, path);
		free(path);
	}
	if (fd != -1)
		(void)close(fd);
	free(trials);
	return rc;
}

/* Open a file there for writing, in place, or make it. */
static int
file_write_open(int dir_fd, const char *name)
{
	return file_open_for(dir_fd, name, O_WRONLY | O_CREAT, 0600);
}

int
slurm_folder_reserve(const char *dir, const char *name, struct err *e)
{
	int dir_fd = slurm_folder_enter(dir, e), fd, error;

	if (dir_fd == -1)
		return -1;
	fd = file_write_open(dir_fd, name);
	error = fd == -1 ? errno : 0;
	if (fd != -1)
		(void)close(fd);
	(void)close(dir_fd);
	return below_err(e, error, dir, name);
}

int
slurm_folder_overwrite(
    const char *dir, const char *name, const char *text, struct err *e)
{
	int dir_fd = slurm_folder_enter(dir, e), fd;
	ssize_t n = (ssize_t)strlen(text);
	int error = 0;

	if (dir_fd == -1)
		return -1;
	fd = file_write_open(dir_fd, name);
	errno = fd == -1 ? errno : ENOSPC;
	if (fd == -1 || pwrite(fd, text, (size_t)n, 0) != n || fsync(fd) == -1)
		error = errno;
	if (fd != -1)
		(void)close(fd);
	(void)close(dir_fd);
	return below_err(e, error, dir, name);
}

int
slurm_folder_wish(const char *dir, const char *text, struct err *e)
{
	return slurm_folder_overwrite(dir, SHIM_STOP_FILE, text, e);
}

int
slurm_folder_sync(const char *dir, struct err *e)
{
	int fd = slurm_folder_enter(dir, e);
	int rc;

	if (fd == -1)
		return -1;
	rc = fsync(fd) == -1 ? file_err(e, errno, dir) : 0;
	(void)close(fd);
	return rc;
}

/* One of params_files; a name may have a folder. */
static int
slurm_folder_params_file_write(
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
	char *dir = backend_spec_attempt_dir(spec);
	char *text = xasprintf(
	    "uuid=%s%s\n", spec->uuid, s->set.per_job > 1 ? " guest=1" : "");
	int rc = slurm_folder_dirs_make(spec, dir, e);
	size_t i;

	if (rc == 0)
		rc = slurm_folder_write(
		    dir, "params.json", spec->params_json, e);
	for (i = 0; rc == 0 && spec->params_files != NULL &&
		    spec->params_files[i] != NULL;
	     i += 2)
		rc = slurm_folder_params_file_write(
		    dir, spec->params_files[i], spec->params_files[i + 1], e);
	if (rc == 0)
		rc = slurm_script_write(s, spec, dir, e);
	if (rc == 0)
		rc = slurm_folder_reserve(dir, "state", e);
	if (rc == 0)
		rc = slurm_folder_reserve(dir, SHIM_STOP_FILE, e);
	if (rc == 0)
		rc = slurm_folder_reserve(dir, SHIM_BEAT_FILE, e);
	if (rc == 0)
		rc = slurm_folder_reserve(dir, SLURM_BEGUN_FILE, e);
	fail_point("slurm.before_create");
	/* From here on a job may exist. */
	if (rc == 0)
		rc = slurm_folder_write(dir, SLURM_CREATE_FILE, text, e);
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
	if (!slurm_folder_read(dir, SLURM_CREATE_FILE, text, sizeof text))
		return false;
	slurm_folder_word(text, "guest", word, sizeof word);
	*guest = *word != '\0';
	slurm_folder_word(text, "uuid", theirs, sizeof theirs);
	return strcmp(theirs, uuid) == 0;
}

/* Link our claim, made there before: 0; 1: another one has it; -1 with errno. */
static int
claim_link(int dir_fd, const char *part, const char *uuid)
{
	char there[256], mark[8], whose[64];

	if (linkat(dir_fd, part, dir_fd, SHIM_CLAIM_FILE, 0) == 0)
		return 0;
	if (errno != EEXIST ||
	    file_read(dir_fd, SHIM_CLAIM_FILE, there, sizeof there) == -1)
		return -1;
	slurm_folder_word(there, "abandoned", mark, sizeof mark);
	slurm_folder_word(there, "uuid", whose, sizeof whose);
	/* The claim of another run prevents ours, too. */
	return *mark != '\0' || strcmp(whose, uuid) != 0 ? 0 : 1;
}

int
slurm_folder_abandon(const char *dir, const char *uuid, struct err *e)
{
	char *part, *text;
	int dir_fd = slurm_folder_enter(dir, e), rc, error;

	/* A supervisor without its folder starts nothing. */
	if (dir_fd == -1)
		return errno == ENOENT ? 0 : -1;
	part = xasprintf("abandon.%ld", (long)getpid());
	text = xasprintf("uuid=%s abandoned=1\n", uuid);
	error = file_replace(dir_fd, part, text);
	rc = error == 0 ? claim_link(dir_fd, part, uuid) : 0;
	if (rc == -1)
		error = errno;
	(void)unlinkat(dir_fd, part, 0);
	(void)close(dir_fd);
	free(text);
	free(part);
	return error == 0 ? rc : below_err(e, error, dir, SHIM_CLAIM_FILE);
}

/* Read the nodes that are excluded for this trial alone. */
static void
excluded_read(const struct slurm_attempt *a, char *text, size_t n)
{
	*text = '\0';
	if (a->slurm->set.exclude &&
	    slurm_folder_read(a->trial_dir, SLURM_EXCLUDE_FILE, text, n))
		text[strcspn(text, "\n")] = '\0';
}

void
slurm_folder_excluded(const struct slurm_attempt *a, char *text, size_t n)
{
	excluded_read(a, text, n);
	slurm_nodes_put(a->slurm, text, n);
}

void
slurm_folder_exclude(struct slurm_attempt *a, const char *node)
{
	struct err e = ERR_INIT;
	char old[1024], text[1024];

	if (!a->slurm->set.exclude || *node == '\0' ||
	    strpbrk(node, "[, ") != NULL)
		return;
	excluded_read(a, old, sizeof old);
	if (snprintf(text, sizeof text, "%s%s%s\n", old,
		*old != '\0' ? "," : "", node) >= (int)sizeof text ||
	    slurm_folder_write(a->trial_dir, SLURM_EXCLUDE_FILE, text, &e) ==
		-1)
		return;
}
