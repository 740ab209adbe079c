/* The worktrees of a repository that are below a folder. */

#include <string.h>

#include "src/base/err.h"
#include "src/base/git/git.h"
#include "src/base/mem.h"

int
git_worktree_list(
    struct strv *list, const char *dir, const char *below, struct err *e)
{
	static const char *const args[] = { "worktree", "list", "--porcelain",
		NULL };
	static const char head[] = "worktree ";
	struct git_call call = { .dir = dir, .args = args, .most = 64 << 20 };
	struct buf out = { 0 };
	size_t n = strlen(below), len;
	const char *line, *path;
	int rc = git_run(&call, &out, e) == 0 ? 0 : -1;

	for (line = buf_str(&out); rc == 0 && *line != '\0';
	     line += len + (line[len] == '\n')) {
		len = strcspn(line, "\n");
		path = line + strlen(head);
		if (strncmp(line, head, strlen(head)) == 0 &&
		    strncmp(path, below, n) == 0 && path[n] == '/')
			strv_add(
			    list, xstrndup(path, (size_t)(line + len - path)));
	}
	buf_free(&out);
	return rc;
}

int
git_worktree_remove(const char *dir, const char *path, struct err *e)
{
	const char *const args[] = { "worktree", "remove", "--force", "--force",
		path, NULL };

	return git_run(
		   &(struct git_call){ .dir = dir, .args = args }, NULL, e) == 0
		   ? 0
		   : -1;
}
