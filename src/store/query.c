/*
 * Rows for commands and reports: a SELECT, column by column; and a limit of the
 * cost of each query.  The views of a file may have been replaced by ones that
 * never end; a legitimate query costs a few steps per byte of the file.
 */

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/store/row-block.h"

struct store_rows {
	struct store *store;
	sqlite3_stmt *st;
	bool ours; /* not of the user */
};

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
	if (s->steps_fixed)
		return 1;
	bytes = file_bytes(s, "") + file_bytes(s, "-wal");
	s->steps_most = GUARD_STEPS + bytes * GUARD_STEPS_PER_BYTE;
	return s->steps >= s->steps_most;
}

void
query_limit_open(struct store *s)
{
	s->steps = 0;
	s->steps_most = GUARD_STEPS;
	s->steps_fixed = false;
	sqlite3_progress_handler(s->db, GUARD_STRIDE, on_progress, s);
}

void
store_limit_steps(struct store *s, int64_t steps)
{
	s->steps_fixed = true;
	s->steps_most = steps;
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

struct store_rows *
store_rows_of(struct store *s, sqlite3_stmt *st)
{
	struct store_rows *r = xmalloc(sizeof *r);

	*r = (struct store_rows){ .store = s, .st = st };
	return r;
}

int
store_rows_open(struct store_rows **out, struct store *s, const char *sql,
    const char *const *params, struct err *e)
{
	sqlite3_stmt *st;
	int i;

	if (s->n_dirty > 0 && row_blocks_write(s, e) != 0)
		return -1;
	query_limit_begin(s);
	st = statements_take(s, sql);
	if (st == NULL &&
	    sqlite3_prepare_v2(s->db, sql, -1, &st, NULL) != SQLITE_OK)
		return store_fail(s, "query", e);
	if (st == NULL || !sqlite3_stmt_readonly(st)) {
		(void)sqlite3_finalize(st);
		return err_set(
		    e, ERR_STORE, "%s: a query may only read", s->path);
	}
	for (i = 0; params != NULL && params[i] != NULL; i++)
		(void)sqlite3_bind_text(
		    st, i + 1, params[i], -1, SQLITE_TRANSIENT);
	*out = store_rows_of(s, st);
	(*out)->ours = true;
	return 0;
}

int
store_rows_next(struct store_rows *r, struct err *e)
{
	switch (sqlite3_step(r->st)) {
	case SQLITE_ROW:
		return 1;
	case SQLITE_DONE:
		return 0;
	default:
		return store_fail(r->store, "query", e);
	}
}

int
store_rows_columns(const struct store_rows *r)
{
	return sqlite3_column_count(r->st);
}

const char *
store_rows_name(const struct store_rows *r, int col)
{
	return sqlite3_column_name(r->st, col);
}

bool
store_rows_null(const struct store_rows *r, int col)
{
	return sqlite3_column_type(r->st, col) == SQLITE_NULL;
}

bool
store_rows_is_number(const struct store_rows *r, int col)
{
	int type = sqlite3_column_type(r->st, col);

	return type == SQLITE_INTEGER || type == SQLITE_FLOAT;
}

const char *
store_rows_text(const struct store_rows *r, int col)
{
	const char *s = stmt_col_text(r->st, col);

	return s != NULL ? s : "";
}

double
store_rows_real(const struct store_rows *r, int col)
{
	return stmt_col_real(r->st, col);
}

int64_t
store_rows_int(const struct store_rows *r, int col)
{
	return sqlite3_column_int64(r->st, col);
}

void
store_rows_close(struct store_rows *r)
{
	if (r == NULL)
		return;
	if (!r->ours || !statements_put(r->store, r->st))
		(void)sqlite3_finalize(r->st);
	if (!r->ours)
		query_views_limits_lift(r->store);
	free(r);
}

int
query_numbers(
    double *out, size_t n, struct store *s, const char *sql, struct err *e)
{
	struct store_rows *rows;
	size_t i;
	int rc;

	for (i = 0; i < n; i++)
		out[i] = NAN;
	if (store_rows_open(&rows, s, sql, NULL, e) != 0)
		return -1;
	if ((rc = store_rows_next(rows, e)) == 1)
		for (i = 0; i < n; i++)
			out[i] = stmt_col_real(rows->st, (int)i);
	store_rows_close(rows);
	return rc;
}

int
query_openf(struct store_rows **rows, struct store *s, struct err *e,
    const char *fmt, ...)
{
	struct buf sql = { 0 };
	va_list ap;
	int rc;

	va_start(ap, fmt);
	buf_vprintf(&sql, fmt, ap);
	va_end(ap);
	rc = store_rows_open(rows, s, buf_str(&sql), NULL, e);
	buf_free(&sql);
	return rc;
}

int
query_foreign_err(
    sqlite3 *db, const char *path, const char *what, struct err *e)
{
	int code = sqlite3_errcode(db);

	if (code == SQLITE_INTERRUPT)
		return err_set(e, ERR_USAGE,
		    "%s: it is no %s: a query of it does not end", path, what);
	/* A table or column is missing, or it is no database. */
	if (code == SQLITE_ERROR || code == SQLITE_NOTADB)
		return err_set(e, ERR_USAGE, "%s: it is no %s: %s", path, what,
		    sqlite3_errmsg(db));
	return err_set(e, ERR_STORE, "%s: %s", path, sqlite3_errmsg(db));
}
