/* Paths of logs, of old studies, too. */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/mem.h"
#include "src/cli/common/attempt-log.h"

/*
 * Older programs recorded an absolute path: the study may have been moved or
 * copied since, with all of its folders.
 */
static char *
old_path(const char *db, int64_t trial, int attempt, const char *log)
{
	char *path = xasprintf("%.*s.d/trials/%" PRId64 "/attempt-%d/log",
	    (int)(strlen(db) - strlen(".db")), db, trial, attempt);

	if (access(path, F_OK) == 0)
		return path;
	free(path);
	return xstrdup(log);
}

char *
attempt_log_path(const char *db, const char *state_dir, int64_t trial,
    int attempt, const char *log, int64_t rank)
{
	char *path = log[0] == '/' ? old_path(db, trial, attempt, log)
				   : xasprintf("%s/%s", state_dir, log);
	char *end = strrchr(path, '/'), *of_rank;

	if (rank == 0 || end == NULL)
		return path;
	of_rank = xasprintf(
	    "%.*s/rank-%" PRId64 ".log", (int)(end - path), path, rank);
	free(path);
	return of_rank;
}
