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

/* The program that a script names in its first line, when that is absolute;
 * else "". */
static void
script_interpreter(char interpreter[PATH_MAX], int fd)
{
	char line[256];
	ssize_t n = pread(fd, line, sizeof line - 1, 0);
	char *p = line + 2;

	*interpreter = '\0';
	if (n < 2 || strncmp(line, "#!", 2) != 0)
		return;
	line[n] = '\0';
	p += strspn(p, " \t");
	p[strcspn(p, " \t\n")] = '\0';
	if (*p == '/')
		(void)snprintf(interpreter, PATH_MAX, "%s", p);
}

/* Whether the kernel would execute a file, as far as this can be checked. */
static int
file_look(int dir_fd, const char *file, char interpreter[PATH_MAX])
{
	struct stat st;
	int fd, error = 0;

	if (fstatat(dir_fd, file, &st, 0) == -1 ||
	    faccessat(dir_fd, file, X_OK, AT_EACCESS) == -1)
		return errno;
	if (!S_ISREG(st.st_mode))
		return EACCES;
	/* A program need not be readable; a script must be. */
	fd = openat(dir_fd, file, O_RDONLY | O_CLOEXEC);
	if (fd == -1)
		return 0;
	script_interpreter(interpreter, fd);
	(void)close(fd);
	if (*interpreter != '\0' &&
	    faccessat(AT_FDCWD, interpreter, X_OK, AT_EACCESS) == -1)
		error = errno;
	if (error == 0)
		*interpreter = '\0';
	return error;
}

int
exec_path_check(
    int dir_fd, const char *name, const char *path, char interpreter[PATH_MAX])
{
	const char *dirs = path != NULL ? path : default_path;
	char file[PATH_MAX];
	int error = ENOENT, one;

	*interpreter = '\0';
	if (strchr(name, '/') != NULL)
		return file_look(dir_fd, name, interpreter);
	while (dirs != NULL) {
		dirs = path_next(file, dirs, name);
		if (*file == '\0')
			continue;
		one = file_look(dir_fd, file, interpreter);
		if (one == 0 || *interpreter != '\0')
			return one;
		if (one == EACCES)
			error = EACCES;
	}
	return error;
}
