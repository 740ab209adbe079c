/*
 * The note "create" in the folder of an attempt: a CreateTrainingJob was, or is
 * about to be, sent.  Without it nothing was ever sent; its time bounds how
 * long a request may still take effect.
 */

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/err.h"
#include "trials/sagemaker/sm-internal.h"

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
sm_create_note_dir(const struct sm_attempt *a, struct err *e)
{
	return dir_make(a->dir, 2, e);
}

static int
create_note_write(int dir, const char *text)
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
sm_create_note_set(const struct sm_attempt *a, int64_t wall_s, struct err *e)
{
	char *text =
	    xasprintf("%" PRId64 " %s %s\n", wall_s, a->job, a->sm->place);
	int dir = open(a->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc = dir != -1 ? create_note_write(dir, text) : -1;

	if (rc == -1)
		(void)dir_err(e, a->dir);
	if (dir != -1)
		(void)close(dir);
	free(text);
	return rc;
}

/* If it cannot be removed, the next server only makes one more query. */
void
sm_create_note_drop(const struct sm_attempt *a)
{
	char *path = xasprintf("%s/" MARK, a->dir);

	(void)unlink(path);
	free(path);
}

/* "SECONDS JOB PLACE\n"; false: it was not written to its end. */
static bool
create_note_parse(
    struct sm_create_note *m, const char *job, char *text, size_t len)
{
	char *at, *place;

	if (len == 0 || text[len - 1] != '\n')
		return false;
	text[len - 1] = '\0';
	m->sent_s = strtoll(text, &at, 10);
	if (m->sent_s <= 0 || *at != ' ' ||
	    (place = strchr(at + 1, ' ')) == NULL)
		return false;
	*place++ = '\0';
	/* Of another attempt that had this folder before a database restore. */
	if (strcmp(at + 1, job) != 0)
		m->sent_s = 0;
	else
		(void)snprintf(m->place, sizeof m->place, "%s", place);
	return true;
}

void
sm_create_note_get(struct sm_create_note *m, const struct sm_attempt *a)
{
	char *path = xasprintf("%s/" MARK, a->dir), text[256];
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	ssize_t n = -1;

	*m = (struct sm_create_note){ .sent_s = INT64_MAX };
	if (fd == -1 && errno == ENOENT)
		m->sent_s = 0;
	free(path);
	if (fd == -1)
		return;
	n = read(fd, text, sizeof text - 1);
	(void)close(fd);
	if (n > 0)
		text[n] = '\0';
	if (n <= 0 || !create_note_parse(m, a->job, text, (size_t)n))
		*m = (struct sm_create_note){ .sent_s = INT64_MAX };
}
