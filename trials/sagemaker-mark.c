/*
 * The folder of an attempt, and in it the note "create": a Create has been, or
 * is just being, handed to AWS.  Where it is missing nothing was ever sent;
 * its time tells how long a request may still act.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/err.h"
#include "trials/sagemaker-parts.h"

#define MARK "create"

static int
dir_err(struct err *e, const char *path)
{
	int error = errno;
	bool passes = error == ENOSPC || error == EDQUOT || error == EMFILE ||
		      error == ENFILE || error == EAGAIN || error == ENOMEM;

	return err_set(
	    e, passes ? ERR_BUSY : ERR_LAUNCH, "%s: %s", path, strerror(error));
}

/* Make the folder at path and, at most two of them, those above it. */
static int
dir_make(const char *path, int above, struct err *e)
{
	const char *end = strrchr(path, '/');
	char *parent;
	int rc = 0;

	if (mkdir(path, 0700) == 0 || errno == EEXIST)
		return 0;
	if (errno != ENOENT || above == 0 || end == NULL || end == path)
		return dir_err(e, path);
	parent = xstrndup(path, (size_t)(end - path));
	rc = dir_make(parent, above - 1, e);
	free(parent);
	if (rc == 0 && mkdir(path, 0700) == -1 && errno != EEXIST)
		rc = dir_err(e, path);
	return rc;
}

int
sm_dir_make(const struct sm_attempt *a, struct err *e)
{
	return dir_make(a->dir, 2, e);
}

static int
mark_write(int dir, const char *job)
{
	size_t len = strlen(job);
	int rc = -1;
	int fd = openat(dir, MARK,
	    O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd == -1)
		return -1;
	if (write(fd, job, len) == (ssize_t)len && write(fd, "\n", 1) == 1 &&
	    fsync(fd) == 0 && fsync(dir) == 0)
		rc = 0;
	else if (errno == 0)
		errno = ENOSPC; /* half a write */
	(void)close(fd);
	return rc;
}

int
sm_mark_set(const struct sm_attempt *a, struct err *e)
{
	int rc = -1;
	int dir = open(a->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	errno = 0;
	if (dir != -1)
		rc = mark_write(dir, a->job);
	if (rc == -1)
		(void)dir_err(e, a->dir);
	if (dir != -1)
		(void)close(dir);
	return rc;
}

int64_t
sm_mark_time(const struct sm_attempt *a)
{
	char *path = xasprintf("%s/" MARK, a->dir);
	struct stat st;
	int64_t at = 0;

	if (lstat(path, &st) == 0)
		at = (int64_t)st.st_mtim.tv_sec;
	free(path);
	return at;
}
