/*
 * An end to every query.  The views of a file may have been replaced by ones
 * that never end; a honest query costs less than some steps for each byte.
 */

#include <stdlib.h>
#include <sys/stat.h>

#include "src/base/mem.h"
#include "src/store/store-internal.h"

/* Steps of SQLite's machine between two looks. */
#define GUARD_STRIDE 100000
/* What a query may cost: seconds of a core, and so many steps for each byte. */
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

/* The limit is looked up when it seems to be reached: files grow. */
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
