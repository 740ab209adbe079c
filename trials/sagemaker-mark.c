/*
 * The folder of an attempt, and in it the note "create": a Create has been, or
 * is just being, handed to AWS.  Where it is missing nothing was ever sent;
 * its time tells how long a request may still act.
 */

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
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
mark_write(int dir, const char *text)
{
	size_t len = strlen(text);
	int rc = -1;
	int fd = openat(dir, MARK,
	    O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd == -1)
		return -1;
	errno = ENOSPC; /* for half a write */
	if (write(fd, text, len) == (ssize_t)len && fsync(fd) == 0 &&
	    fsync(dir) == 0)
		rc = 0;
	(void)close(fd);
	return rc;
}

int
sm_mark_set(const struct sm_attempt *a, int64_t wall_s, struct err *e)
{
	char *text = xasprintf("%" PRId64 " %s\n", wall_s, a->job);
	int dir = open(a->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc = dir != -1 ? mark_write(dir, text) : -1;

	if (rc == -1)
		(void)dir_err(e, a->dir);
	if (dir != -1)
		(void)close(dir);
	free(text);
	return rc;
}

int64_t
sm_mark_time(const struct sm_attempt *a)
{
	char *path = xasprintf("%s/" MARK, a->dir), text[128] = "", *end;
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	ssize_t n;
	int64_t at;

	free(path);
	if (fd == -1)
		return errno == ENOENT ? 0 : INT64_MAX;
	n = read(fd, text, sizeof text - 1);
	(void)close(fd);
	if (n <= 0 || text[n - 1] != '\n')
		return INT64_MAX;
	text[n - 1] = '\0';
	at = strtoll(text, &end, 10);
	if (at <= 0 || *end != ' ')
		return INT64_MAX;
	/* Of a folder that another attempt had before a backup came back. */
	return strcmp(end + 1, a->job) == 0 ? at : 0;
}
