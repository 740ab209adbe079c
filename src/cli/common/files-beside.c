/* Files that bear the name of a study, beside its database and study.json. */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/clock.h"
#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/cli/common/files-beside.h"
#include "src/store/store.h"

#define SNAPSHOT "snapshot.db"

typedef int file_fn(int dir_fd, const char *from, const char *to);

/* The part of a file's name after "WAS."; NULL: another file. */
static const char *
file_end(const char *file, const char *was)
{
	size_t n = strlen(was);

	return strncmp(file, was, n) == 0 && file[n] == '.' ? file + n + 1
							    : NULL;
}

/* The copy of the database, whole or in part. */
static bool
end_is_copy(const char *end)
{
	return strncmp(end, SNAPSHOT, strlen(SNAPSHOT)) == 0;
}

/* What keeps its contents: a lease, and what was saved of a database. */
static bool
end_is_kept(const char *end)
{
	static const char *const begins[] = { "lease", "rescue-",
		"db-wal.damaged" };
	size_t i;

	for (i = 0; i < sizeof begins / sizeof begins[0]; i++)
		if (strncmp(end, begins[i], strlen(begins[i])) == 0)
			return true;
	return false;
}

/* Call for each such file: 0, or -1 with errno and its name in failed. */
static int
files_each(DIR *d, const char *was, const char *now, file_fn *fn, char **failed)
{
	struct dirent *entry;
	const char *end;
	char *to;
	int rc = 0, error;

	while (rc == 0 && (entry = readdir(d)) != NULL) {
		end = file_end(entry->d_name, was);
		if (end == NULL || (!end_is_copy(end) && !end_is_kept(end)))
			continue;
		to = xasprintf("%s.%s", now, end);
		rc = fn(dirfd(d), entry->d_name, to);
		error = errno;
		if (rc != 0)
			*failed = to;
		else
			free(to);
		errno = error;
	}
	return rc;
}

static int
folder_each(const char *dir, const char *was, const char *now, file_fn *fn,
    struct err *e)
{
	DIR *d = opendir(dir);
	char *failed = NULL;
	int rc = d != NULL ? files_each(d, was, now, fn, &failed) : -1;

	/* Some file systems have no sync of folders. */
	if (rc == 0 && fsync(dirfd(d)) == -1 && errno != EINVAL)
		rc = -1;
	if (rc == -1)
		(void)err_set(e, errno == EEXIST ? ERR_USAGE : ERR_FILE,
		    "%s%s%s: %s", dir, failed != NULL ? "/" : "",
		    failed != NULL ? failed : "",
		    errno == EEXIST ? "exists already" : strerror(errno));
	free(failed);
	if (d != NULL)
		(void)closedir(d);
	return rc;
}

static int
file_check(int dir_fd, const char *from, const char *to)
{
	(void)from;
	if (faccessat(dir_fd, to, F_OK, AT_SYMLINK_NOFOLLOW) == -1)
		return 0;
	errno = EEXIST;
	return -1;
}

/* A copy is there as well after a command that was interrupted. */
static int
file_check_again(int dir_fd, const char *from, const char *to)
{
	return end_is_copy(strchr(to, '.') + 1) ? 0
						: file_check(dir_fd, from, to);
}

int
files_beside_check(const char *dir, const char *was, const char *now,
    bool again, struct err *e)
{
	return folder_each(
	    dir, was, now, again ? file_check_again : file_check, e);
}

static int
copy_write(struct store *s, const char *path, struct err *e)
{
	struct store_snapshot *copy;
	char host[128] = "?";
	int rc = store_snapshot_begin(&copy, s, path, e);

	if (rc != 0)
		return -1;
	(void)gethostname(host, sizeof host - 1);
	rc = store_snapshot_step(copy, -1, clock_wall_us(), host, e);
	store_snapshot_free(copy);
	return rc != 1 ? rc
		       : err_set(e, ERR_BUSY,
			     "%s: another program uses the database: run the "
			     "same command again",
			     path);
}

int
files_beside_copy(const char *dir, const char *was, const char *now,
    struct store *s, struct err *e)
{
	char *from = xasprintf("%s/%s." SNAPSHOT, dir, was);
	char *to = xasprintf("%s/%s." SNAPSHOT, dir, now);
	int rc = access(from, F_OK) == 0 ? copy_write(s, to, e) : 0;

	free(from);
	free(to);
	return rc;
}

static int
file_rename(int dir_fd, const char *from, const char *to)
{
	return end_is_copy(strchr(to, '.') + 1)
		   ? unlinkat(dir_fd, from, 0)
		   : renameat(dir_fd, from, dir_fd, to);
}

int
files_beside_rename(
    const char *dir, const char *was, const char *now, struct err *e)
{
	return folder_each(dir, was, now, file_rename, e);
}
