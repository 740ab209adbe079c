/*
 * Copies the checkpoint of another trial into the folder of this one before its
 * program starts.  The copy gets its final name when it is complete and synced;
 * a partial copy of a killed supervisor is deleted and made again.
 */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/clock.h"
#include "src/base/fail.h"
#include "src/base/file.h"
#include "trials/shim/shim.h"

#define SEED_DIR "checkpoint"
#define SEED_NEW "checkpoint.new"

enum {
	SEED_DEPTH = 64, /* folders in folders */
	SEED_PIECE = 64 << 20 /* bytes between two checks for a stop */
};

/* What has been copied, and where it failed. */
struct seed {
	size_t files;
	int error; /* errno; 0 = interrupted, or nothing to copy */
	char name[64];
};

/* Whether a stop signal is pending.  Signals are blocked here. */
static bool
stop_is_pending(void)
{
	sigset_t waiting;

	return sigpending(&waiting) == 0 &&
	       (sigismember(&waiting, SIGTERM) == 1 ||
		   sigismember(&waiting, SIGUSR1) == 1);
}

/* Only the first failure is reported. */
static int
seed_fail(struct seed *seed, const char *name)
{
	if (*seed->name == '\0') {
		(void)snprintf(seed->name, sizeof seed->name, "%s", name);
		seed->error = errno;
	}
	return -1;
}

static bool
is_dots(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

static DIR *
dir_at(int at, const char *name)
{
	int fd =
	    openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *d;

	if (fd == -1)
		return NULL;
	d = fdopendir(fd);
	if (d == NULL)
		(void)close(fd);
	return d;
}

static int
tree_remove(int at, const char *name, int depth)
{
	struct dirent *entry;
	DIR *d;

	if (unlinkat(at, name, 0) == 0 || errno == ENOENT)
		return 0;
	if (depth == SEED_DEPTH || (d = dir_at(at, name)) == NULL)
		return -1;
	while ((entry = readdir(d)) != NULL)
		if (!is_dots(entry->d_name))
			(void)tree_remove(dirfd(d), entry->d_name, depth + 1);
	(void)closedir(d);
	return unlinkat(at, name, AT_REMOVEDIR);
}

static int
checkpoint_copy_bytes_copy(int in, int out)
{
	static char piece[1 << 16];
	ssize_t n, k, at;

	while ((n = read(in, piece, sizeof piece)) > 0)
		for (at = 0; at < n; at += k) {
			k = write(out, piece + at, (size_t)(n - at));
			if (k == -1)
				return -1;
			if (stop_is_pending()) {
				errno = 0;
				return -1;
			}
		}
	return n == 0 ? 0 : -1;
}

/* The blocks shared where the file system can, else copied by the kernel. */
static int
checkpoint_copy_file_fill(int in, int out)
{
	ssize_t n = 0;
	bool any = false;

	if (ioctl(out, FICLONE, in) == 0)
		return 0;
	do {
		any = any || n > 0;
		if (stop_is_pending()) {
			errno = 0;
			return -1;
		}
		n = copy_file_range(in, NULL, out, NULL, SEED_PIECE, 0);
	} while (n > 0);
	/* Some file systems reject copy_file_range, others return 0. */
	if (n == -1 && any)
		return -1;
	return any ? 0 : checkpoint_copy_bytes_copy(in, out);
}

/* Keeps the times: programs resume from the newest checkpoint. */
static int
file_copy(int from, int to, const char *name, const struct stat *st)
{
	const struct timespec times[] = { st->st_atim, st->st_mtim };
	int in, out, rc = -1, error;

	in = file_open(from, name);
	if (in == -1)
		return -1;
	out = openat(to, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (out != -1 && checkpoint_copy_file_fill(in, out) == 0 &&
	    fchmod(out, st->st_mode & 0777) == 0 && futimens(out, times) == 0 &&
	    fsync(out) == 0)
		rc = 0;
	error = errno;
	(void)close(in);
	if (out != -1)
		(void)close(out);
	errno = error;
	return rc;
}

static int
link_copy(int from, int to, const char *name)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(from, name, target, sizeof target - 1);

	if (n == -1)
		return -1;
	target[n] = '\0';
	return symlinkat(target, to, name);
}

static int
tree_copy(struct seed *, int from, int to, const char *name, int depth);

static int
entry_copy(struct seed *seed, int from, int to, const char *name, int depth)
{
	struct stat st;

	if (fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW) == -1)
		return seed_fail(seed, name);
	if (S_ISDIR(st.st_mode)) {
		if (mkdirat(to, name, 0700) == -1)
			return seed_fail(seed, name);
		return tree_copy(seed, from, to, name, depth + 1);
	}
	/* Pipes and sockets are no state. */
	if (S_ISREG(st.st_mode))
		seed->files++;
	if ((S_ISREG(st.st_mode) && file_copy(from, to, name, &st) == -1) ||
	    (S_ISLNK(st.st_mode) && link_copy(from, to, name) == -1))
		return seed_fail(seed, name);
	return 0;
}

/*
 * Copy the contents of folder name into the existing folder of the same name.
 */
static int
tree_copy(struct seed *seed, int from, int to, const char *name, int depth)
{
	DIR *in, *out = NULL;
	struct dirent *entry;
	int rc = -1;

	in = depth < SEED_DEPTH ? dir_at(from, name) : NULL;
	if (in != NULL)
		out = dir_at(to, depth == 0 ? SEED_NEW : name);
	if (out == NULL)
		(void)seed_fail(seed, name);
	else {
		rc = 0;
		while (rc == 0 && (entry = readdir(in)) != NULL)
			if (!is_dots(entry->d_name))
				rc = entry_copy(seed, dirfd(in), dirfd(out),
				    entry->d_name, depth);
		if (rc == 0 && fsync(dirfd(out)) == -1)
			rc = seed_fail(seed, name);
	}
	if (in != NULL)
		(void)closedir(in);
	if (out != NULL)
		(void)closedir(out);
	return rc;
}

/* Whether an earlier attempt left files here. */
static bool
is_filled(int at)
{
	struct dirent *entry;
	DIR *d = dir_at(at, SEED_DIR);
	bool any = false;

	while (d != NULL && !any && (entry = readdir(d)) != NULL)
		any = !is_dots(entry->d_name);
	if (d != NULL)
		(void)closedir(d);
	return any;
}

static int
seed_copy(const struct shim *s, struct seed *seed, int at)
{
	int from, rc;

	if (tree_remove(at, SEED_NEW, 0) == -1 ||
	    mkdirat(at, SEED_NEW, 0700) == -1)
		return seed_fail(seed, SEED_NEW);
	from = open(s->from, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (from == -1)
		return seed_fail(seed, SEED_DIR);
	rc = tree_copy(seed, from, at, SEED_DIR, 0);
	(void)close(from);
	if (rc == -1 || seed->files == 0)
		return -1;
	fail_point("shim.before_seed");
	if (renameat(at, SEED_NEW, at, SEED_DIR) == -1 || fsync(at) == -1)
		return seed_fail(seed, SEED_DIR);
	fail_point("shim.after_seed");
	return 0;
}

static void
seed_failed(struct shim *s, const struct seed *seed)
{
	s->exit.ran = false;
	s->exit.exit_code = -1;
	s->exit.stopped = stop_is_pending();
	s->exit.ended_us = clock_wall_us();
	if (s->exit.stopped)
		(void)snprintf(s->exit.why, sizeof s->exit.why,
		    "it was stopped while the checkpoint of trial %lld was "
		    "copied",
		    (long long)s->from_trial);
	else if (seed->files == 0 &&
		 (seed->error == 0 || seed->error == ENOENT))
		(void)snprintf(s->exit.why, sizeof s->exit.why,
		    "trial %lld, which it continues, has left no checkpoint",
		    (long long)s->from_trial);
	else
		(void)snprintf(s->exit.why, sizeof s->exit.why,
		    "cannot copy the checkpoint of trial %lld: %s: %s",
		    (long long)s->from_trial, seed->name,
		    strerror(seed->error));
}

int
shim_checkpoint_copy(struct shim *s)
{
	struct seed seed = { 0 };
	int at, rc = 0;

	if (s->from == NULL)
		return 0;
	s->exit.started_us = clock_wall_us();
	at = openat(s->dir_fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (at == -1)
		rc = seed_fail(&seed, "..");
	else if (!is_filled(at))
		rc = seed_copy(s, &seed, at);
	if (at != -1)
		(void)close(at);
	if (rc == -1)
		seed_failed(s, &seed);
	return rc;
}
