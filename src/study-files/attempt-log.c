/* Paths of logs, of old studies, too. */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/mem.h"
#include "src/study-files/attempt-log.h"
#include "src/study-files/study-files.h"
#include "trials/backend.h"

/*
 * Older programs recorded an absolute path: the study may have been moved or
 * copied since, with all of its folders.
 */
static char *
old_path(const char *db, int64_t trial, int attempt, const char *log)
{
	char *dir = study_files_state_dir(db);
	char *path = xasprintf(
	    "%s/trials/%" PRId64 "/attempt-%d/log", dir, trial, attempt);

	free(dir);
	if (access(path, F_OK) == 0)
		return path;
	free(path);
	return xstrdup(log);
}

char *
attempt_log_path(const char *db, const char *db_dir, int64_t trial, int attempt,
    const char *log, int64_t rank)
{
	char *path = log[0] == '/' ? old_path(db, trial, attempt, log)
				   : xasprintf("%s/%s", db_dir, log);
	char *end = strrchr(path, '/'), *of_rank;

	if (rank == 0 || end == NULL)
		return path;
	of_rank = xasprintf(
	    "%.*s/rank-%" PRId64 ".log", (int)(end - path), path, rank);
	free(path);
	return of_rank;
}

char *
attempt_log_before(const char *backend, const char *log_path)
{
	const struct backend_type *type = backend_type_find(backend);
	const char *end = strrchr(log_path, '/');

	if (type == NULL || type->before == NULL || end == NULL)
		return NULL;
	return xasprintf(
	    "%.*s/%s", (int)(end - log_path), log_path, type->before);
}
