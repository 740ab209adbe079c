/* The rows of t_asker: the processes that ask for trials. */

#include <inttypes.h>
#include <stdio.h>

#include "src/base/err.h"
#include "src/store/store-internal.h"

int
store_asker_put(struct store *s, int64_t trial, int attempt,
    const struct store_asker *asker, struct err *e)
{
	sqlite3_stmt *st = stmt_get(s, STMT_ASKER_PUT, e);

	if (st == NULL)
		return -1;
	stmt_int(st, 1, trial);
	stmt_int(st, 2, attempt);
	stmt_line(st, 3, asker->host);
	stmt_int(st, 4, asker->pid);
	stmt_line(st, 5, asker->mark);
	stmt_int(st, 6, asker->watched);
	return stmt_write(s, st, e);
}

bool
store_asker_watched(struct store *s, const struct store_asker *asker)
{
	static const char sql[] =
	    "SELECT 1 FROM t_asker WHERE watched = 1 AND "
	    "pid = CAST(?1 AS INTEGER) AND mark = ?2 AND host = ?3 LIMIT 1";
	char pid[24];
	const char *params[] = { pid, asker->mark, asker->host, NULL };
	struct store_rows *rows;
	bool there;

	(void)snprintf(pid, sizeof pid, "%" PRId64, asker->pid);
	if (store_rows_open(&rows, s, sql, params, NULL) != 0)
		return false;
	there = store_rows_next(rows, NULL) == 1;
	store_rows_close(rows);
	return there;
}

int
store_walk_askers(struct store *s,
    void (*f)(void *, int64_t trial, const struct store_asker *), void *arg,
    struct err *e)
{
	static const char sql[] =
	    "SELECT trial, host, pid, mark, watched FROM t_asker "
	    "JOIN t_attempt USING (trial, attempt) "
	    "WHERE state IN ('starting', 'running', 'stopping')";
	struct store_rows *rows;
	struct store_asker asker;
	int rc;

	if (store_rows_open(&rows, s, sql, NULL, e) != 0)
		return -1;
	while ((rc = store_rows_next(rows, e)) == 1) {
		asker = (struct store_asker){
			.host = store_rows_text(rows, 1),
			.pid = store_rows_int(rows, 2),
			.mark = store_rows_text(rows, 3),
			.watched = store_rows_int(rows, 4) != 0,
		};
		f(arg, store_rows_int(rows, 0), &asker);
	}
	store_rows_close(rows);
	return rc;
}
