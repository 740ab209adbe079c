/*
 * Makes the folders of trials before they are needed: what a first attempt
 * finds is made and synced while other trials run, so that a start renames one
 * folder and syncs one name.  Nothing here belongs to a trial yet.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/fail.h"
#include "src/base/file.h"
#include "trials/process/attempt-record.h"
#include "trials/shim/shim.h"

static int
shim_ahead_file_make(int dir_fd, const char *name, size_t size)
{
	static const unsigned char zeros[RECORD_FILE];
	ssize_t n = 0;
	int fd;

	fd = openat(dir_fd, name,
	    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd == -1)
		return -1;
	if (size > 0)
		n = write(fd, zeros, size);
	(void)close(fd);
	if (n >= 0 && n < (ssize_t)size)
		errno = ENOSPC;
	return n == (ssize_t)size ? 0 : -1;
}

static int
shim_ahead_folder_open(int dir_fd, const char *name)
{
	return openat(
	    dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static int
attempt_make(int fd, bool gpus)
{
	if (shim_ahead_file_make(fd, "state", RECORD_FILE) == -1 ||
	    shim_ahead_file_make(fd, "trial.lock", 0) == -1 ||
	    shim_ahead_file_make(fd, "log", 0) == -1 ||
	    shim_ahead_file_make(fd, "metrics.jsonl", 0) == -1 ||
	    shim_ahead_file_make(fd, "params.json", 0) == -1 ||
	    (gpus && shim_ahead_file_make(fd, "gpus", 0) == -1))
		return -1;
	return 0;
}

static int
trial_make(int dir_fd, const char *name, bool gpus)
{
	int fd = -1, attempt = -1, r = -1;

	if (mkdirat(dir_fd, name, 0700) == -1 ||
	    (fd = shim_ahead_folder_open(dir_fd, name)) == -1)
		return -1;
	if (mkdirat(fd, "attempt-1", 0700) == 0 &&
	    mkdirat(fd, "checkpoint", 0700) == 0 &&
	    mkdirat(fd, "output", 0700) == 0 &&
	    mkdirat(fd, "output/model", 0700) == 0 &&
	    (attempt = shim_ahead_folder_open(fd, "attempt-1")) != -1)
		r = attempt_make(attempt, gpus);
	if (attempt != -1)
		(void)close(attempt);
	(void)close(fd);
	return r;
}

static int
sync_close(int fd)
{
	int r = fd == -1 ? -1 : fsync(fd);

	if (fd != -1)
		(void)close(fd);
	return r;
}

/* Sync a trial's empty record, and the names of all that its folder has. */
static int
trial_sync(int dir_fd, const char *name)
{
	int fd = shim_ahead_folder_open(dir_fd, name), attempt, r = -1;

	if (fd == -1)
		return -1;
	attempt = shim_ahead_folder_open(fd, "attempt-1");
	if (attempt != -1 &&
	    sync_close(file_open_for(attempt, "state", O_WRONLY, 0)) == 0 &&
	    fsync(attempt) == 0)
		r = fsync(fd);
	if (attempt != -1)
		(void)close(attempt);
	(void)close(fd);
	return r;
}

int
shim_ahead(const char *dir, char *const *names)
{
	int dir_fd = shim_ahead_folder_open(AT_FDCWD, dir), r = 0;
	bool gpus = *names != NULL && strcmp(*names, "gpus") == 0;
	char *const *name;

	if (dir_fd == -1)
		return errno;
	for (name = names + gpus; r == 0 && *name != NULL; name++) {
		fail_point("shim.ahead");
		r = trial_make(dir_fd, *name, gpus);
	}
	/*
	 * When all are made: file systems with a journal then write it once, and
	 * trials that run meanwhile wait for it once.
	 */
	for (name = names + gpus; r == 0 && *name != NULL; name++)
		r = trial_sync(dir_fd, *name);
	/* Sync the names of the folders, and that of the folder they are in. */
	if (r == 0)
		r = fsync(dir_fd);
	if (r == 0)
		r = sync_close(shim_ahead_folder_open(dir_fd, ".."));
	return r == 0 ? 0 : errno;
}
