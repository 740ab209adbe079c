/*
 * Reads the tables of a project of Trackio: trackio/sqlite_storage.py.  SQLite
 * writes the JSON.
 */

#include <sqlite3.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/store/store-internal.h"
#include "src/store/trackio-read.h"

/*
 * ?1 is the metric, or NULL.  Trackio writes JSON as blobs.  %s is run_id, or of
 * earlier versions run_name.
 */
static const char runs_sql[] =
    "SELECT json_object('metrics', (SELECT json_group_array(key) FROM "
    "  (SELECT DISTINCT e.key FROM metrics AS m, "
    "    json_each(CAST(m.metrics AS TEXT)) AS e ORDER BY 1)), "
    "'runs', (SELECT json_group_array(json_object('name', c.run_name, "
    "  'config', json(CAST(c.config AS TEXT)), "
    "  'step', (SELECT m.step FROM metrics AS m, "
    "    json_each(CAST(m.metrics AS TEXT)) AS e WHERE m.%s = c.%s "
    "    AND e.key = ?1 ORDER BY m.step DESC, m.id DESC LIMIT 1), "
    "  'value', (SELECT json(iif(typeof(e.value) = 'real', "
    "    printf('%%!.17g', e.value), json_quote(e.value))) FROM metrics AS m, "
    "    json_each(CAST(m.metrics AS TEXT)) AS e WHERE m.%s = c.%s "
    "    AND e.key = ?1 ORDER BY m.step DESC, m.id DESC LIMIT 1))) "
    "  FROM (SELECT * FROM configs ORDER BY id) AS c))";

static const char what[] = "project of Trackio";

static int
trackio_prepare(sqlite3_stmt **st, sqlite3 *db, const char *column)
{
	struct buf sql = { 0 };
	int rc;

	buf_printf(&sql, runs_sql, column, column, column, column);
	rc = sqlite3_prepare_v2(db, buf_str(&sql), -1, st, NULL);
	buf_free(&sql);
	return rc;
}

static int
trackio_runs(struct buf *out, sqlite3 *db, const char *path, const char *metric,
    struct err *e)
{
	const char *text = NULL;
	sqlite3_stmt *st;
	int rc = 0;

	if (trackio_prepare(&st, db, "run_id") != SQLITE_OK &&
	    trackio_prepare(&st, db, "run_name") != SQLITE_OK)
		return query_foreign_err(db, path, what, e);
	(void)sqlite3_bind_text(st, 1, metric, -1, SQLITE_STATIC);
	if (sqlite3_step(st) == SQLITE_ROW)
		text = (const char *)sqlite3_column_text(st, 0);
	if (text != NULL)
		buf_puts(out, text);
	else
		rc = query_foreign_err(db, path, what, e);
	sqlite3_finalize(st);
	return rc;
}

int
trackio_read(
    struct buf *out, const char *path, const char *metric, struct err *e)
{
	struct store *s;
	int rc;

	if (access(path, R_OK) != 0)
		return err_set(e, ERR_FILE, "%s: it cannot be read", path);
	/* With the limits of a study's: the file is somebody's. */
	s = store_new(path, STORE_READ);
	rc = store_connect(s, path, SQLITE_OPEN_READONLY, e);
	if (rc == 0) {
		query_limit_begin(s);
		rc = trackio_runs(out, s->db, path, metric, e);
	}
	store_close(s);
	return rc;
}
