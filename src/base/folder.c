/* Opens folders that are this user's alone, and finds those that are not. */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/folder.h"
#include "src/base/mem.h"

/* 0, or EPERM with the error set. */
static int
folder_check(int fd, const char *name, mode_t others, struct err *e)
{
	struct stat st;
	int error;

	if (fstat(fd, &st) == -1) {
		error = errno;
		(void)err_set(e, ERR_FILE, "%s: %s", name, strerror(error));
		return error;
	}
	if (st.st_uid != geteuid())
		(void)err_set(e, ERR_FILE, "%s: belongs to another user", name);
	else if ((st.st_mode & others) != 0)
		(void)err_set(e, ERR_FILE,
		    (others & 055) != 0
			? "%s: is accessible to other users: run chmod 700 on "
			  "it first"
			: "%s: can be written by other users: run chmod go-w "
			  "on it first",
		    name);
	else
		return 0;
	return EPERM;
}

int
folder_open(int dir_fd, const char *name, mode_t others, struct err *e)
{
	int link = (others & 055) != 0 ? O_NOFOLLOW : 0;
	int fd =
	    openat(dir_fd, name, O_RDONLY | O_DIRECTORY | link | O_CLOEXEC);
	int error = errno;

	if (fd == -1)
		(void)err_set(e, ERR_FILE, "%s: %s", name, strerror(error));
	else if ((error = folder_check(fd, name, others, e)) != 0) {
		(void)close(fd);
		fd = -1;
	}
	errno = error;
	return fd;
}

enum { NOBODY = 65534 }; /* in a user namespace: a user outside of it */

/*
 * Who can replace the entries of this folder; NULL: only its owner and root.  A
 * group with the number of its user is that user alone.
 */
static const char *
folder_others(const struct stat *st)
{
	if (st->st_uid != geteuid() && st->st_uid != 0 && st->st_uid != NOBODY)
		return "belongs to another user";
	if ((st->st_mode & S_ISVTX) != 0)
		return NULL;
	if ((st->st_mode & S_IWOTH) != 0)
		return "can be written by all users and has no sticky bit";
	if ((st->st_mode & S_IWGRP) != 0 && st->st_gid != st->st_uid)
		return "can be written by its group and has no sticky bit";
	return NULL;
}

/* The real path of a folder, or of the nearest above it that is there. */
static char *
folder_there(const char *dir)
{
	char *path = xstrdup(dir), *real, *slash;

	while ((real = realpath(path, NULL)) == NULL && errno == ENOENT &&
	       (slash = strrchr(path, '/')) != NULL && slash != path)
		*slash = '\0';
	free(path);
	return real;
}

bool
folder_exposed(const char *dir, struct buf *why)
{
	char *real = folder_there(dir), *end, was;
	const char *who = NULL;
	struct stat st;

	/* "/", then the path up to each next slash, then all of it. */
	for (end = real; end != NULL && who == NULL && *end != '\0';) {
		end = end == real ? real + 1 : strchrnul(end + 1, '/');
		was = *end;
		*end = '\0';
		who = stat(real, &st) == 0 ? folder_others(&st) : NULL;
		if (who != NULL)
			buf_printf(why, "%s %s", real, who);
		*end = was;
	}
	free(real);
	return who != NULL;
}
