/*
 * Tables, moves and views as the newest program wants them.  Knows the files
 * of schema/ in their order; refuses to know rows.
 */

#include <stdio.h>
#include <stdlib.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/store/stmt.h"

/* Applied in order; a released one is never edited.  Its place is its number. */
static const char *const migrations[] = {
#include "schema/001-start.inc"
	,
#include "schema/002-cost.inc"
};

static const char views[] =
#include "schema/views.inc"
    ;

/*
 * What a reader lays over a file that only the next start may change: for each
 * step from an older schema, the columns it lacks, as nothing.
 */
static const char *const missing[] = {
	/* 1 */
	"CREATE TEMP VIEW t_attempt AS SELECT *, NULL AS worst_cost, "
	"NULL AS trained_seconds FROM main.t_attempt;"
	"CREATE TEMP VIEW savings AS SELECT *, NULL AS spot_saved "
	"FROM main.savings;"
	"CREATE TEMP VIEW costs AS SELECT NULL AS cost, NULL AS committed, "
	"0.0 AS seconds, 0.0 AS billable_seconds, NULL AS spot_saved, "
	"NULL AS spot_share;",
};

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
		if (store_exec(s, migrations[v], e) < 0)
			return -1;
	(void)snprintf(
	    pragma, sizeof pragma, "PRAGMA user_version = %lld", (long long)v);
	return store_exec(s, pragma, e);
}

int
schema_read_old(struct store *s, int64_t version, struct err *e)
{
	int64_t v;

	for (v = version; v < schema_version(); v++)
		if (store_exec(s, missing[v - 1], e) < 0)
			return -1;
	return 0;
}

/* t_move = the moves of src/model/trial.c. */
static int
put_moves(struct store *s, struct err *e)
{
	enum trial_state from, to;
	enum trial_event ev;
	sqlite3_stmt *st;

	if (store_exec(s, "DELETE FROM t_move", e) < 0)
		return -1;
	for (from = 0; from < TRIAL_STATES; from++)
		for (ev = 0; ev < TRIAL_EVENTS; ev++) {
			if (!trial_move(from, ev, &to))
				continue;
			if ((st = stmt_get(s, STMT_MOVE_ADD, e)) == NULL)
				return -1;
			stmt_text(st, 1, trial_state_name(from));
			stmt_text(st, 2, trial_state_name(to));
			if (stmt_write(s, st, e) < 0)
				return -1;
		}
	return 0;
}

/*
 * One column: the parameter's value out of the JSON of params.  json_each and
 * not json_extract: it takes any name, and SQLite before 3.41 holds the other
 * for unsafe in a view.
 */
static void
put_result_column(struct buf *b, const char *name)
{
	char *sql =
	    sqlite3_mprintf(",\n    (SELECT value FROM "
			    "json_each(params) WHERE key = '%q') AS \"%w\"",
		name, name);

	if (sql == NULL)
		abort();
	buf_puts(b, sql);
	sqlite3_free(sql);
}

/* The view results.  What does not fit into SQLite's columns is left out. */
static int
put_results(struct store *s, struct err *e)
{
	int room = sqlite3_limit(s->db, SQLITE_LIMIT_COLUMN, -1) - 3, rc;
	struct buf b = { 0 };
	sqlite3_stmt *st;

	if ((st = stmt_get(s, STMT_PARAM_EACH, e)) == NULL)
		return -1;
	buf_puts(&b, "DROP VIEW IF EXISTS results;\n"
		     "CREATE VIEW results AS\nSELECT trial, state, objective");
	while ((rc = stmt_step(s, st, e)) > 0)
		if (room-- > 0)
			put_result_column(&b, stmt_col_text(st, 0));
	buf_puts(&b, "\nFROM t_trial;\n");
	if (rc == 0)
		rc = store_exec(s, buf_str(&b), e);
	buf_free(&b);
	return rc;
}

int
schema_refresh(struct store *s, struct err *e)
{
	char *sql;
	int rc;

	if (put_moves(s, e) < 0 || store_exec(s, views, e) < 0 ||
	    put_results(s, e) < 0)
		return -1;
	sql = xasprintf("UPDATE t_study SET schema_version = %lld, "
			"program_version = '%s'",
	    (long long)schema_version(), PACKAGE_VERSION);
	rc = store_exec(s, sql, e);
	free(sql);
	return rc;
}
