/*
 * Creates and migrates tables, state transitions and views, from the files of
 * schema/ in their order; the views whose columns depend on the study, results,
 * best and front, are generated.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/store/row-block.h"

/*
 * Applied in order; never edit one that was released.  Its index is its
 * version.
 */
static const char *const migrations[] = {
#include "schema/migrations.inc"
};

static const char views[] =
#include "schema/views.inc"
    ;

int64_t
schema_version(void)
{
	return (int64_t)(sizeof migrations / sizeof migrations[0]);
}

int
schema_migrate(struct store *s, int64_t from, struct err *e)
{
	char pragma[64];
	int64_t v;

	for (v = from; v < schema_version(); v++)
		if (store_exec(s, migrations[v], e) != 0 ||
		    (v + 1 == SCHEMA_WITH_BLOCKS && row_blocks_fill(s, e) != 0))
			return -1;
	(void)snprintf(
	    pragma, sizeof pragma, "PRAGMA user_version = %lld", (long long)v);
	return store_exec(s, pragma, e);
}

/* Fill t_move with the transitions of src/model/trial.c. */
static int
schema_put_moves(struct store *s, struct err *e)
{
	enum trial_state from, to;
	enum trial_event ev;
	sqlite3_stmt *st;

	if (store_exec(s, "DELETE FROM t_move", e) != 0)
		return -1;
	for (from = 0; from < TRIAL_STATES; from++)
		for (ev = 0; ev < TRIAL_EVENTS; ev++) {
			if (!trial_move(from, ev, &to))
				continue;
			if ((st = stmt_get(s, STMT_MOVE_ADD, e)) == NULL)
				return -1;
			stmt_text(st, 1, trial_state_name(from));
			stmt_text(st, 2, trial_state_name(to));
			if (stmt_write(s, st, e) != 0)
				return -1;
		}
	return 0;
}

/* How many views sql creates. */
static int64_t
count_views(const char *sql)
{
	int64_t n = 0;

	for (; (sql = strstr(sql, "CREATE VIEW ")) != NULL; sql++)
		n++;
	return n;
}

/*
 * Whether the file has all views of sql, with the same text.  SQLite keeps the
 * text of a view as it was, without the semicolon.
 */
static int
has_views(struct store *s, const char *sql, bool *has, struct err *e)
{
	struct store_rows *rows = NULL;
	int64_t same = 0;
	int rc;

	if (store_rows_open(&rows, s,
		"SELECT sql FROM sqlite_schema WHERE type = 'view'", NULL,
		e) != 0)
		return -1;
	while ((rc = store_rows_next(rows, e)) == 1) {
		const char *text = store_rows_text(rows, 0);
		const char *at = text != NULL ? strstr(sql, text) : NULL;

		same += at != NULL && at[strlen(text)] == ';';
	}
	store_rows_close(rows);
	*has = same == count_views(sql);
	return rc;
}

/*
 * Create the views again where one differs: each change makes all connections
 * parse the whole schema again.
 */
static int
put_views(struct store *s, struct err *e)
{
	struct buf sql = { 0 };
	bool has = false;
	int rc;

	buf_puts(&sql, views);
	rc = schema_views_generated(s, &sql, e);
	if (rc == 0)
		rc = has_views(s, buf_str(&sql), &has, e);
	if (rc == 0 && !has)
		rc = store_exec(s, buf_str(&sql), e);
	buf_free(&sql);
	return rc;
}

static int
put_versions(struct store *s, struct err *e)
{
	char *sql;
	int rc;

	sql = xasprintf("UPDATE t_study SET schema_version = %lld, "
			"program_version = '%s'",
	    (long long)schema_version(), PACKAGE_VERSION);
	rc = store_exec(s, sql, e);
	free(sql);
	return rc;
}

int
schema_refresh(struct store *s, struct err *e)
{
	if (schema_put_moves(s, e) != 0 || put_views(s, e) != 0)
		return -1;
	return put_versions(s, e);
}

int
schema_first(struct store *s, struct err *e)
{
	struct buf sql = { 0 };
	int rc = put_versions(s, e);

	if (rc == 0)
		rc = schema_views_generated(s, &sql, e);
	if (rc == 0)
		rc = store_exec(s, buf_str(&sql), e);
	buf_free(&sql);
	return rc;
}
