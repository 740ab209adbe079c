/*
 * The search along PATH.  Never a shell: a file the kernel cannot execute is
 * an error.
 */

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trials/exec-path.h"

int
exec_path(char **argv)
{
	const char *dirs = getenv("PATH"), *end;
	char path[PATH_MAX];
	int error = ENOENT;

	if (strchr(argv[0], '/') != NULL) {
		(void)execve(argv[0], argv, environ);
		return errno;
	}
	if (dirs == NULL)
		dirs = "/usr/local/bin:/usr/bin:/bin";
	for (;; dirs = end + 1) {
		end = strchrnul(dirs, ':');
		if (snprintf(path, sizeof path, "%.*s%s%s", (int)(end - dirs),
			dirs, end > dirs ? "/" : "./", argv[0]) < PATH_MAX) {
			(void)execve(path, argv, environ);
			if (errno == EACCES)
				error = EACCES;
			else if (errno != ENOENT && errno != ENOTDIR)
				return errno;
		}
		if (*end == '\0')
			return error;
	}
}
