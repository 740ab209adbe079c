/* Rows for commands and reports: a SELECT, column by column. */

#include <stdlib.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/store/store-internal.h"

struct store_rows {
	struct store *store;
	sqlite3_stmt *st;
};

int
store_rows_open(struct store_rows **out, struct store *s, const char *sql,
    const char *const *params, struct err *e)
{
	struct store_rows *r;
	sqlite3_stmt *st;
	int i;

	query_limit_begin(s);
	if (sqlite3_prepare_v2(s->db, sql, -1, &st, NULL) != SQLITE_OK)
		return store_fail(s, "query", e);
	if (st == NULL || !sqlite3_stmt_readonly(st)) {
		(void)sqlite3_finalize(st);
		return err_set(
		    e, ERR_STORE, "%s: a query may only read", s->path);
	}
	for (i = 0; params != NULL && params[i] != NULL; i++)
		(void)sqlite3_bind_text(
		    st, i + 1, params[i], -1, SQLITE_TRANSIENT);
	r = xmalloc(sizeof *r);
	*r = (struct store_rows){ s, st };
	*out = r;
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
	(void)sqlite3_finalize(r->st);
	free(r);
}
