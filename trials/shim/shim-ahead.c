/*
 * Makes the folders of trials before they are needed: what a first attempt
 * finds is made and synced while other trials run, so that a start renames one
 * folder and syncs one name.  Nothing here belongs to a trial yet.
 */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/fail.h"
#include "trials/process/attempt-record.h"
#include "trials/shim/shim.h"

static int
file_make(int dir_fd, const char *name, size_t size)
{
	static const unsigned char zeros[RECORD_FILE];
	int fd, r = 0;

	fd = openat(dir_fd, name,
	    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd == -1)
		return -1;
	if (size > 0 &&
	    (write(fd, zeros, size) != (ssize_t)size || fdatasync(fd) == -1))
		r = -1;
	(void)close(fd);
	return r;
}

static int
folder_open(int dir_fd, const char *name)
{
	return openat(
	    dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static int
attempt_make(int fd, bool gpus)
{
	if (file_make(fd, "state", RECORD_FILE) == -1 ||
	    file_make(fd, "trial.lock", 0) == -1 ||
	    file_make(fd, "log", 0) == -1 ||
	    file_make(fd, "metrics.jsonl", 0) == -1 ||
	    file_make(fd, "params.json", 0) == -1 ||
	    (gpus && file_make(fd, "gpus", 0) == -1))
		return -1;
	return fsync(fd);
}

static int
trial_make(int fd, bool gpus)
{
	int attempt, r;

	if (mkdirat(fd, "attempt-1", 0700) == -1 ||
	    mkdirat(fd, "checkpoint", 0700) == -1 ||
	    mkdirat(fd, "output", 0700) == -1 ||
	    mkdirat(fd, "output/model", 0700) == -1)
		return -1;
	attempt = folder_open(fd, "attempt-1");
	if (attempt == -1)
		return -1;
	r = attempt_make(attempt, gpus);
	(void)close(attempt);
	return r == 0 ? fsync(fd) : -1;
}

int
shim_ahead(const char *dir, char *const *names)
{
	int dir_fd = folder_open(AT_FDCWD, dir), fd, r = 0;
	bool gpus = *names != NULL && strcmp(*names, "gpus") == 0;

	if (dir_fd == -1)
		return errno;
	for (names += gpus; r == 0 && *names != NULL; names++) {
		fail_point("shim.ahead");
		if (mkdirat(dir_fd, *names, 0700) == -1)
			return errno;
		fd = folder_open(dir_fd, *names);
		if (fd == -1 || trial_make(fd, gpus) == -1)
			r = errno;
		if (fd != -1)
			(void)close(fd);
	}
	/* Their names, and that of the folder they are in. */
	if (r == 0 && fsync(dir_fd) == -1)
		r = errno;
	fd = r == 0 ? folder_open(dir_fd, "..") : -1;
	if (r == 0 && (fd == -1 || fsync(fd) == -1))
		r = errno;
	if (fd != -1)
		(void)close(fd);
	return r;
}
