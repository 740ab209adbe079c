/* Writes a file under a temporary name, syncs it, and renames it. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/atomic-file.h"
#include "src/base/err.h"
#include "src/base/file.h"
#include "src/base/mem.h"

enum { TRIES = 100 };

static int
fail(const char *path, struct err *e)
{
	return err_set(e, errno == ENOSPC ? ERR_FULL : ERR_FILE, "%s: %s", path,
	    strerror(errno));
}

static int
place_check(const char *path, bool replace, struct err *e)
{
	struct stat st;

	if (lstat(path, &st) == -1)
		return errno == ENOENT ? 0 : fail(path, e);
	if (!replace) {
		errno = EEXIST;
		return fail(path, e);
	}
	if (!S_ISREG(st.st_mode))
		return err_set(e, ERR_FILE,
		    "%s: not a regular file: it is not replaced", path);
	return 0;
}

int
atomic_file_open(
    struct atomic_file *f, const char *path, bool replace, struct err *e)
{
	int i;

	*f = (struct atomic_file){ .replace = replace, .fd = -1 };
	if (place_check(path, replace, e) != 0)
		return -1;
	for (i = 0; i < TRIES && f->fd == -1; i++) {
		free(f->temporary);
		f->temporary =
		    xasprintf("%s.%ld-%d.part", path, (long)getpid(), i);
		f->fd = open(f->temporary,
		    O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (f->fd == -1 && errno != EEXIST)
			break;
	}
	if (f->fd == -1) {
		free(f->temporary);
		f->temporary = NULL;
		return fail(path, e);
	}
	f->path = xstrdup(path);
	return 0;
}

void
atomic_file_release(struct atomic_file *f)
{
	if (f->fd != -1)
		(void)close(f->fd);
	f->fd = -1;
}

/* Sync a file that was written by name. */
static int
sync_whole(struct atomic_file *f, struct err *e)
{
	int fd = f->fd, rc;

	if (fd == -1)
		fd = file_open(AT_FDCWD, f->temporary);
	if (fd == -1)
		return fail(f->path, e);
	rc = fsync(fd) == -1 ? fail(f->path, e) : 0;
	if (close(fd) == -1 && rc == 0)
		rc = fail(f->path, e);
	f->fd = -1;
	return rc;
}

/*
 * Use link(2), so that a file created meanwhile is kept; some file systems lack
 * it.
 */
static int
name_give(const struct atomic_file *f)
{
	if (!f->replace) {
		if (link(f->temporary, f->path) == 0)
			return 0;
		if (errno == EEXIST)
			return -1;
	}
	return rename(f->temporary, f->path);
}

int
atomic_file_finish(struct atomic_file *f, struct err *e)
{
	int rc;

	rc = sync_whole(f, e);
	if (rc == 0 && name_give(f) == -1)
		rc = fail(f->path, e);
	atomic_file_drop(f);
	return rc;
}

void
atomic_file_drop(struct atomic_file *f)
{
	if (f->temporary == NULL)
		return;
	atomic_file_release(f);
	/* After a rename the temporary file no longer exists. */
	(void)unlink(f->temporary);
	free(f->temporary);
	free(f->path);
	*f = (struct atomic_file){ .fd = -1 };
}

int
atomic_file_put(struct atomic_file *f, const struct buf *text, struct err *e)
{
	size_t done = 0;
	ssize_t n;

	while (done < text->len) {
		n = write(f->fd, text->data + done, text->len - done);
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1)
			return fail(f->path, e);
		done += (size_t)n;
	}
	return 0;
}

int
atomic_file_write(
    const char *path, bool replace, const struct buf *text, struct err *e)
{
	struct atomic_file file;

	if (atomic_file_open(&file, path, replace, e) != 0)
		return -1;
	if (atomic_file_put(&file, text, e) != 0) {
		atomic_file_drop(&file);
		return -1;
	}
	return atomic_file_finish(&file, e);
}
