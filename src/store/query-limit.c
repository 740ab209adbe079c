/*
 * Limits the cost of each query.  The views of a file may have been replaced by
 * ones that never end; a legitimate query costs a few steps per byte of the
 * file.
 */

#include <stdlib.h>
#include <sys/stat.h>

#include "src/base/mem.h"
#include "src/store/store-internal.h"

/* Steps of SQLite's virtual machine between two checks. */
#define GUARD_STRIDE 100000
/* The limit: some seconds of CPU time, and so many steps per byte. */
#define GUARD_STEPS INT64_C(20000000)
#define GUARD_STEPS_PER_BYTE 1000

static int64_t
file_bytes(const struct store *s, const char *suffix)
{
	char *name = xasprintf("%s%s", s->path, suffix);
	struct stat st;
	int64_t n = stat(name, &st) == 0 ? st.st_size : 0;

	free(name);
	return n;
}

/* Compute the limit again when it is reached: files grow. */
static int
on_progress(void *arg)
{
	struct store *s = arg;
	int64_t bytes;

	s->steps += GUARD_STRIDE;
	if (s->steps < s->steps_most)
		return 0;
	bytes = file_bytes(s, "") + file_bytes(s, "-wal");
	s->steps_most = GUARD_STEPS + bytes * GUARD_STEPS_PER_BYTE;
	return s->steps >= s->steps_most;
}

void
query_limit_open(struct store *s)
{
	s->steps_most = GUARD_STEPS;
	sqlite3_progress_handler(s->db, GUARD_STRIDE, on_progress, s);
}

void
query_limit_lift(struct store *s)
{
	sqlite3_progress_handler(s->db, 0, NULL, NULL);
}

void
query_limit_begin(struct store *s)
{
	sqlite3_stmt *st = NULL;

	if (s->steps == 0)
		return;
	while ((st = sqlite3_next_stmt(s->db, st)) != NULL)
		if (sqlite3_stmt_busy(st))
			return;
	s->steps = 0;
}
