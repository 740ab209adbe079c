/*
 * The tar command that packs the code folder: equal files give equal bytes, and
 * the files that studies write beside the code, which change all the time, are
 * excluded.
 */

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trials/sagemaker/sm-internal.h"

/* The database and the folder of a study: its path in the code, no ".d". */
static void
study_leave_out(struct strv *w, const char *path, size_t n)
{
	static const char *const ends[] = { ".d", ".db", ".db-wal", ".db-shm",
		".db-journal" };
	size_t i;

	for (i = 0; i < sizeof ends / sizeof ends[0]; i++)
		strv_add(
		    w, xasprintf("--exclude=./%.*s%s", (int)n, path, ends[i]));
}

/* How much of "NAME.d" is NAME; 0 when it is something else. */
static size_t
name_len(const char *s)
{
	size_t n = strlen(s);

	return n > 2 && strcmp(s + n - 2, ".d") == 0 ? n - 2 : 0;
}

/* Ours, wherever it is kept below the code. */
static void
own_leave_out(struct strv *w, const char *code, const char *state_dir)
{
	char *path = realpath(state_dir, NULL);
	size_t n = strlen(code);

	if (path != NULL && strncmp(path, code, n) == 0 && path[n] == '/' &&
	    name_len(path) > n)
		study_leave_out(w, path + n + 1, name_len(path) - n - 1);
	free(path);
}

/* Others, which lie side by side with the code. */
static void
others_leave_out(struct strv *w, const char *code)
{
	DIR *dir = opendir(code);
	const struct dirent *d;
	char *database;
	size_t n;

	while (dir != NULL && (d = readdir(dir)) != NULL) {
		if ((n = name_len(d->d_name)) == 0)
			continue;
		database = xasprintf("%s/%.*s.db", code, (int)n, d->d_name);
		if (access(database, F_OK) == 0)
			study_leave_out(w, d->d_name, n);
		free(database);
	}
	if (dir != NULL)
		(void)closedir(dir);
}

char **
sm_code_archive_argv(
    const char *code, const char *state_dir, const char *archive)
{
	static const char *const options[] = { "--format=gnu", "--sort=name",
		"--mtime=@0", "--owner=0", "--group=0", "--numeric-owner",
		"--mode=u+rw,go+rX-w", "--use-compress-program=gzip -n",
		"--force-local", "--exclude-vcs", "--exclude=__pycache__",
		"--anchored", "--no-wildcards" };
	struct strv w = { 0 };
	size_t i;

	strv_add(&w, xstrdup("tar"));
	strv_add(&w, xstrdup("--create"));
	strv_add(&w, xasprintf("--file=%s", archive));
	for (i = 0; i < sizeof options / sizeof options[0]; i++)
		strv_add(&w, xstrdup(options[i]));
	own_leave_out(&w, code, state_dir);
	others_leave_out(&w, code);
	strv_add(&w, xasprintf("--directory=%s", code));
	strv_add(&w, xstrdup("."));
	return w.v;
}
