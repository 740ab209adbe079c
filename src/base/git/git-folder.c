/*
 * A folder of a checkout as it is in another worktree.  Without git: hpotune-shim has
 * this, too.
 */

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/git/git.h"

/* The path without links; its last folders need not exist.  0 = it is too long. */
static size_t
git_folder_resolve(char to[PATH_MAX], const char *path)
{
	char head[PATH_MAX];
	size_t n = strlen(path), at = n, len;

	if (n >= sizeof head)
		return 0;
	memcpy(head, path, n + 1);
	while (at > 1 && realpath(head, to) == NULL) {
		while (at > 1 && head[at - 1] == '/')
			at--;
		while (at > 1 && head[at - 1] != '/')
			at--;
		head[at] = '\0';
	}
	if (at <= 1)
		(void)snprintf(to, PATH_MAX, "/");
	len = strlen(to);
	if (at < n) {
		if (len + 1 + n - at >= PATH_MAX)
			return 0;
		len += (size_t)snprintf(to + len, PATH_MAX - len, "%s%s",
		    len > 1 ? "/" : "", path + at);
	}
	return len;
}

/* The rest of a path below a folder; NULL: it is not there. */
static const char *
git_folder_rest(const char *path, const char *folder)
{
	size_t n = strlen(folder);

	if (strncmp(path, folder, n) != 0 || strstr(path, "/../") != NULL)
		return NULL;
	if (n == 1)
		return path;
	return path[n] == '/' || path[n] == '\0' ? path + n : NULL;
}

/* Cut a folder to that of the checkout that it is in; false: it is in none. */
static bool
git_folder_top(char folder[PATH_MAX])
{
	char git[PATH_MAX + 8];
	char *slash;

	for (;;) {
		(void)snprintf(git, sizeof git, "%s/.git", folder);
		if (access(git, F_OK) == 0)
			return true;
		slash = strrchr(folder, '/');
		if (slash == NULL || slash == folder)
			return false;
		*slash = '\0';
	}
}

int
git_folder_below(
    char to[PATH_MAX], const char *folder, const char *dir, const char *base)
{
	char path[PATH_MAX], top[PATH_MAX];
	const char *below = NULL;

	if (git_folder_resolve(path, folder) == 0)
		return -1;
	if (git_folder_resolve(top, dir) != 0 && git_folder_top(top))
		below = git_folder_rest(path, top);
	if (below == NULL && base != NULL && git_folder_resolve(top, base) != 0)
		below = git_folder_rest(path, top);
	if (below == NULL)
		return 0;
	(void)snprintf(to, PATH_MAX, "%s", below);
	return 1;
}
