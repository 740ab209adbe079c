/*
 * Search along PATH.  Without a shell as fallback: a file that the kernel
 * cannot execute is an error.
 */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trials/process/exec-path.h"

static const char default_path[] = "/usr/local/bin:/usr/bin:/bin";

/* The file of a name in the first of some folders; "" when it is too long.
 * Returns the folders after it, NULL after the last. */
static const char *
path_next(char file[PATH_MAX], const char *dirs, const char *name)
{
	const char *end = strchrnul(dirs, ':');

	if (snprintf(file, PATH_MAX, "%.*s%s%s", (int)(end - dirs), dirs,
		end > dirs ? "/" : "./", name) >= PATH_MAX)
		*file = '\0';
	return *end == ':' ? end + 1 : NULL;
}

int
exec_path(char **argv)
{
	const char *dirs = getenv("PATH");
	char path[PATH_MAX];
	int error = ENOENT;

	if (strchr(argv[0], '/') != NULL) {
		(void)execve(argv[0], argv, environ);
		return errno;
	}
	if (dirs == NULL)
		dirs = default_path;
	while (dirs != NULL) {
		dirs = path_next(path, dirs, argv[0]);
		if (*path == '\0')
			continue;
		(void)execve(path, argv, environ);
		if (errno == EACCES)
			error = EACCES;
		else if (errno != ENOENT && errno != ENOTDIR)
			return errno;
	}
	return error;
}

/* 0: a regular file that may be executed; else an errno. */
static int
file_may(int dir_fd, const char *file)
{
	struct stat st;

	if (fstatat(dir_fd, file, &st, 0) == -1 ||
	    faccessat(dir_fd, file, X_OK, AT_EACCESS) == -1)
		return errno;
	return S_ISREG(st.st_mode) ? 0 : EACCES;
}

int
exec_path_find(
    int dir_fd, const char *name, const char *path, char file[PATH_MAX])
{
	const char *dirs = path != NULL ? path : default_path;
	char one[PATH_MAX];
	int error;

	*file = '\0';
	if (strchr(name, '/') != NULL) {
		error = file_may(dir_fd, name);
		if (error == 0 || error == EACCES)
			(void)snprintf(file, PATH_MAX, "%s", name);
		return error;
	}
	while (dirs != NULL) {
		dirs = path_next(one, dirs, name);
		error = *one != '\0' ? file_may(dir_fd, one) : ENOENT;
		if (error == 0 || (error == EACCES && *file == '\0'))
			(void)snprintf(file, PATH_MAX, "%s", one);
		if (error == 0)
			return 0;
	}
	return *file != '\0' ? EACCES : ENOENT;
}
