/* Whether a repository may have changed, by the times of its files. */

#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "src/base/file.h"
#include "src/base/mem.h"
#include "src/engine/provenance/git-stamp.h"

/* The text of .git where that is a file, as in a worktree: "gitdir: PATH". */
static char *
gitdir_read(const char *dir, const char *path)
{
	static const char head[] = "gitdir: ";
	char text[PATH_MAX + sizeof head];
	const char *to = text + strlen(head);

	if (file_read(AT_FDCWD, path, text, sizeof text) <= 0 ||
	    strncmp(text, head, strlen(head)) != 0)
		return NULL;
	text[strcspn(text, "\n")] = '\0';
	return *to == '/' ? xstrdup(to) : xasprintf("%s/%s", dir, to);
}

char *
git_stamp_find(const char *dir)
{
	char *at = xstrdup(dir), *path, *slash;
	char *found = NULL;
	struct stat st;

	for (;;) {
		path = xasprintf("%s/.git", at);
		if (stat(path, &st) == 0) {
			found = S_ISDIR(st.st_mode) ? xstrdup(path)
						    : gitdir_read(at, path);
			free(path);
			break;
		}
		free(path);
		if ((slash = strrchr(at, '/')) == NULL)
			break;
		*slash = '\0';
	}
	free(at);
	return found;
}

void
git_stamp_take(struct git_stamp *stamp, const char *git_dir)
{
	static const char *const names[] = { "HEAD", "index", "logs/HEAD" };
	int64_t *w = stamp->words;
	struct stat st;
	char *path;
	size_t i;

	for (i = 0; i < sizeof names / sizeof *names; i++, w += 4) {
		path = xasprintf("%s/%s", git_dir, names[i]);
		if (stat(path, &st) != 0)
			st = (struct stat){ 0 };
		w[0] = (int64_t)st.st_ino;
		w[1] = (int64_t)st.st_size;
		w[2] = (int64_t)st.st_mtim.tv_sec;
		w[3] = (int64_t)st.st_mtim.tv_nsec;
		free(path);
	}
}
