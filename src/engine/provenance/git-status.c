/* Reads what git says of a folder: commit, branch, changed files. */

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "src/base/mem.h"
#include "src/engine/provenance/git-status.h"

enum { NOT_FOUND = 127, WHY_MOST = 200 };

static const char commit_head[] = "# branch.oid ";
static const char branch_head[] = "# branch.head ";

void
git_status_command(const char *argv[GIT_STATUS_ARGS], const char *dir)
{
	const char *const words[GIT_STATUS_ARGS] = { "env", "-u", "GIT_DIR",
		"-u", "GIT_WORK_TREE", "-u", "GIT_INDEX_FILE", "-u",
		"GIT_COMMON_DIR", "-u", "GIT_OBJECT_DIRECTORY", "-u",
		"GIT_CONFIG_PARAMETERS", "git", "--no-optional-locks", "-C",
		dir, "-c", "core.fsmonitor=false", "status", "--porcelain=v2",
		"--branch", "--untracked-files=no", NULL };

	memcpy(argv, words, sizeof words);
}

/* A copy of the rest of the line, if it begins with head; replaces *value. */
static bool
git_status_line_take(
    char **value, const char *line, size_t len, const char *head)
{
	size_t n = strlen(head);

	if (len <= n || strncmp(line, head, n) != 0)
		return false;
	free(*value);
	*value = xstrndup(line + n, len - n);
	return true;
}

/* A changed, a renamed or an unmerged file. */
static bool
is_change(const char *line, size_t len)
{
	return len > 1 && line[1] == ' ' && strchr("12u", line[0]) != NULL;
}

/* Git names in brackets what is none: "(initial)", "(detached)". */
static void
bracket_drop(char **value)
{
	if (*value == NULL || **value != '(')
		return;
	free(*value);
	*value = NULL;
}

/* The first line that says something, without "fatal: " before it. */
static char *
reason_of(const char *out, size_t len)
{
	static const char fatal[] = "fatal: ";
	const char *from = out, *end = out + len;
	size_t n;

	while (from < end && (*from == '\n' || *from == ' '))
		from++;
	if ((size_t)(end - from) >= strlen(fatal) &&
	    strncmp(from, fatal, strlen(fatal)) == 0)
		from += strlen(fatal);
	for (n = 0; from + n < end && from[n] != '\n' && n < WHY_MOST; n++)
		continue;
	return n > 0 ? xstrndup(from, n) : NULL;
}

void
git_status_read(struct git_status *g, const char *out, size_t len, int status,
    const char *cut)
{
	const char *line, *end;
	bool changed = false;
	size_t at, n;

	*g = (struct git_status){ .dirty = -1 };
	for (at = 0; at < len; at += n + 1) {
		line = out + at;
		end = memchr(line, '\n', len - at);
		n = end != NULL ? (size_t)(end - line) : len - at;
		if (!git_status_line_take(&g->commit, line, n, commit_head) &&
		    !git_status_line_take(&g->branch, line, n, branch_head))
			changed = changed || is_change(line, n);
	}
	if (status == 0 || changed)
		g->dirty = changed;
	if (*cut != '\0')
		g->why = xstrdup(cut);
	else if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_FOUND)
		g->why = xstrdup("git is not installed");
	else if (status != 0)
		g->why = reason_of(out, len);
	else if (g->commit != NULL && *g->commit == '(')
		g->why = xstrdup("there is no commit yet");
	if (status != 0 && g->why == NULL)
		g->why = xstrdup("git has failed and does not say why");
	bracket_drop(&g->commit);
	bracket_drop(&g->branch);
}

void
git_status_free(struct git_status *g)
{
	free(g->commit);
	free(g->branch);
	free(g->why);
	*g = (struct git_status){ .dirty = -1 };
}
