/*
 * What a file of an older version lacks: a reader lays it over the file as
 * temporary views, and leaves the file as it is.
 */

#include <stdio.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/store/store-internal.h"

enum {
	WITH_LAST = 25, /* the version in which results has metrics, */
	WITH_RESULTS = 9 /* and from which a reader adds them */
};

/* Views that files before schema version since lack, as empty ones. */
static const struct {
	int64_t since;
	const char *sql;
} missing_views[] = {
	{ 2, "CREATE TEMP VIEW costs AS SELECT NULL AS cost, "
	     "NULL AS committed, 0.0 AS seconds, 0.0 AS billable_seconds, "
	     "NULL AS spot_saved, NULL AS spot_share;" },
	{ 3, "CREATE TEMP VIEW warm AS SELECT NULL AS source, NULL AS trial, "
	     "NULL AS state, NULL AS objective, NULL AS step, NULL AS params "
	     "WHERE 0;"
	     "CREATE TEMP VIEW population AS SELECT NULL AS member, trial, "
	     "NULL AS from_trial, NULL AS until_step, state, objective, "
	     "NULL AS step, params FROM main.t_trial WHERE 0;"
	     "CREATE TEMP VIEW t_aim AS SELECT 1 AS position, metric, goal, "
	     "NULL AS least, NULL AS most FROM main.t_study;"
	     "CREATE TEMP VIEW outcomes AS SELECT NULL AS trial, "
	     "NULL AS metric, NULL AS goal, NULL AS min, NULL AS max, "
	     "NULL AS value, NULL AS violation WHERE 0;"
	     "CREATE TEMP VIEW front AS SELECT trial, objective FROM "
	     "main.best;" },
	{ 4, "CREATE TEMP VIEW gpus AS SELECT NULL AS gpu, NULL AS uuid, "
	     "NULL AS name, NULL AS memory, NULL AS used, NULL AS temperature, "
	     "NULL AS utilization, NULL AS power, NULL AS state, NULL AS why, "
	     "NULL AS owner, NULL AS trials, NULL AS time WHERE 0;" },
	{ 10,
	    "CREATE TEMP VIEW notices AS SELECT NULL AS time, NULL AS moment, "
	    "NULL AS channel, NULL AS id, NULL AS sent, NULL AS why, "
	    "NULL AS text WHERE 0;" },
	{ 11, "CREATE TEMP VIEW hindsight AS SELECT NULL AS trial, "
	      "NULL AS objective, NULL AS judged, NULL AS step, NULL AS value, "
	      "NULL AS median WHERE 0;" },
	{ 12, "CREATE TEMP VIEW suggestions AS SELECT t.trial, s.strategy, "
	      "s.made_by, s.seconds, s.redraws, s.same_as, s.from_trial, "
	      "t.source, NULL AS reason, NULL AS memory, NULL AS fits "
	      "FROM main.t_trial AS t "
	      "LEFT JOIN t_suggestion AS s ON s.trial = t.trial;" },
	{ 14, "CREATE TEMP VIEW changes AS SELECT NULL AS time, NULL AS key, "
	      "NULL AS old, NULL AS new, NULL AS trials, NULL AS outside "
	      "WHERE 0;"
	      "CREATE TEMP VIEW notes AS SELECT NULL AS trial, NULL AS text, "
	      "NULL AS time WHERE 0;"
	      "CREATE TEMP VIEW tags AS SELECT NULL AS trial, NULL AS tag "
	      "WHERE 0;"
	      "CREATE TEMP VIEW retries AS SELECT NULL AS trial, "
	      "NULL AS attempt, NULL AS state, NULL AS objective, "
	      "NULL AS why, NULL AS time WHERE 0;"
	      "CREATE TEMP VIEW queue AS SELECT id, params, source, "
	      "nullif(trial, 0) AS trial, CASE WHEN trial IS NULL THEN "
	      "'waiting' WHEN trial = 0 THEN 'dropped' ELSE 'tried' END "
	      "AS state FROM main.t_queue;" },
	{ 17, "CREATE TEMP VIEW settings AS SELECT NULL AS setting, "
	      "NULL AS state, NULL AS value, NULL AS replicates, "
	      "NULL AS begun, NULL AS mean, NULL AS standard_error, "
	      "NULL AS trial, NULL AS trials, NULL AS params, "
	      "NULL AS rank, NULL AS violation, NULL AS front WHERE 0;" },
	{ 18, "CREATE TEMP VIEW provenance AS SELECT NULL AS provenance, "
	      "NULL AS since, NULL AS host, NULL AS user, NULL AS system, "
	      "NULL AS version, NULL AS command, NULL AS folder, "
	      "NULL AS workdir, NULL AS git_commit, NULL AS git_branch, "
	      "NULL AS git_dirty, NULL AS git_why, NULL AS packages, "
	      "NULL AS packages_why WHERE 0;" },
	{ 19, "CREATE TEMP VIEW setting_outcomes AS SELECT NULL AS setting, "
	      "NULL AS metric, NULL AS goal, NULL AS min, NULL AS max, "
	      "NULL AS value, NULL AS mean, NULL AS standard_error, "
	      "NULL AS violation WHERE 0;" },
	{ 26, "CREATE TEMP VIEW contests AS SELECT NULL AS contest, "
	      "NULL AS kind, NULL AS verdict, NULL AS trial, NULL AS baseline, "
	      "NULL AS metric, NULL AS goal, NULL AS alpha, "
	      "NULL AS replicates, NULL AS looks, NULL AS better, "
	      "NULL AS worse, NULL AS difference, NULL AS least, "
	      "NULL AS trials, NULL AS seconds, NULL AS opened, NULL AS ended, "
	      "NULL AS caller, NULL AS why WHERE 0;"
	      "CREATE TEMP VIEW proposals AS SELECT NULL AS proposal, "
	      "NULL AS verdict, NULL AS trial, NULL AS baseline, "
	      "NULL AS params, NULL AS level, NULL AS e_value, "
	      "NULL AS seeds, NULL AS difference, NULL AS least, "
	      "NULL AS trials, NULL AS seconds, NULL AS cost, "
	      "NULL AS opened, NULL AS ended, NULL AS caller, "
	      "NULL AS why, NULL AS git_commit, NULL AS git_base, "
	      "NULL AS diff WHERE 0;" },
	/* A block for each report. */
	{ SCHEMA_WITH_BLOCKS,
	    "CREATE TEMP VIEW t_block AS SELECT name_id, trial, seq, attempt, "
	    "1 AS reports, step, step AS last_step, EXISTS (SELECT 1 FROM "
	    "main.t_metric AS l WHERE l.name_id = m.name_id AND l.trial = "
	    "m.trial AND l.step = m.step AND l.seq > m.seq) AS old, time_us, "
	    "time_us AS last_us, 0 AS steps, 0 AS seqs, 0 AS times, "
	    "value AS v0, NULL AS v1, NULL AS v2, NULL AS v3, NULL AS v4, "
	    "NULL AS v5, NULL AS v6, NULL AS v7, NULL AS v8, NULL AS v9, "
	    "NULL AS v10, NULL AS v11, NULL AS v12, NULL AS v13, "
	    "NULL AS v14, NULL AS v15, NULL AS v16, NULL AS v17, "
	    "NULL AS v18, NULL AS v19, NULL AS v20, NULL AS v21, "
	    "NULL AS v22, NULL AS v23, NULL AS v24, NULL AS v25, "
	    "NULL AS v26, NULL AS v27, NULL AS v28, NULL AS v29, "
	    "NULL AS v30, NULL AS v31 FROM main.t_metric AS m;" },
	{ WITH_LAST,
	    "CREATE TEMP VIEW t_last AS SELECT name_id, trial, step AS "
	    "first_step, last_step AS step, CASE reports"
	    " WHEN 1 THEN v0 WHEN 2 THEN v1 WHEN 3 THEN v2"
	    " WHEN 4 THEN v3 WHEN 5 THEN v4 WHEN 6 THEN v5"
	    " WHEN 7 THEN v6 WHEN 8 THEN v7 WHEN 9 THEN v8"
	    " WHEN 10 THEN v9 WHEN 11 THEN v10 WHEN 12 THEN v11"
	    " WHEN 13 THEN v12 WHEN 14 THEN v13 WHEN 15 THEN v14"
	    " WHEN 16 THEN v15 WHEN 17 THEN v16 WHEN 18 THEN v17"
	    " WHEN 19 THEN v18 WHEN 20 THEN v19 WHEN 21 THEN v20"
	    " WHEN 22 THEN v21 WHEN 23 THEN v22 WHEN 24 THEN v23"
	    " WHEN 25 THEN v24 WHEN 26 THEN v25 WHEN 27 THEN v26"
	    " WHEN 28 THEN v27 WHEN 29 THEN v28 WHEN 30 THEN v29"
	    " WHEN 31 THEN v30 WHEN 32 THEN v31"
	    " END AS value FROM t_block WHERE old = 0;"
	    "CREATE TEMP VIEW last_reports AS SELECT l.trial, n.name, l.step, "
	    "l.value FROM main.t_name AS n CROSS JOIN t_last AS l ON "
	    "l.name_id = n.id WHERE NOT EXISTS (SELECT 1 FROM t_block AS b "
	    "WHERE b.name_id = l.name_id AND b.trial = l.trial AND b.old = 0 "
	    "AND b.step > l.first_step);" },
	{ 27, "CREATE TEMP VIEW requests AS SELECT NULL AS time, "
	      "NULL AS caller, NULL AS request, NULL AS trial, "
	      "NULL AS asked, NULL AS good, NULL AS answer WHERE 0;" },
};

/*
 * Columns that tables or views of an older file lack, and that are not the default
 * of a new study there, which is NULL where it has none.  Which ones a file lacks is
 * seen by the columns of a new study.
 */
static const struct {
	const char *of, *column, *sql;
} older_values[] = {
	{ "t_trial", "violation", "0.0" },
	{ "trials", "forgotten", "0" },
	{ "study", "elapsed",
	    "(SELECT elapsed_ms / 1000.0 FROM main.t_study)" },
	{ "study", "forgotten", "0" },
	{ "stops", "metric", "(SELECT metric FROM main.t_study)" },
	{ "stops", "unit", "'step'" },
	{ "stops", "at", "step" },
	{ "t_metric", "old",
	    "EXISTS (SELECT 1 FROM main.t_metric AS l WHERE l.name_id = "
	    "t_metric.name_id AND l.trial = t_metric.trial AND l.step = "
	    "t_metric.step AND l.seq > t_metric.seq)" },
	{ "t_metric", "first_step", "step" },
	{ "t_metric", "last_step", "step" },
	{ "t_metric", "first_us", "time_us" },
	{ "t_metric", "last_us", "time_us" },
};

static const char *
older_value(const char *of, const char *column, const char *by_default)
{
	size_t i, n = sizeof older_values / sizeof older_values[0];

	for (i = 0; i < n; i++)
		if (strcmp(older_values[i].of, of) == 0 &&
		    strcmp(older_values[i].column, column) == 0)
			return older_values[i].sql;
	return by_default;
}

/* Tables and views of a new study, and the columns of one. */
static const char newest_tables[] =
    "SELECT name, CASE type WHEN 'view' THEN sql END FROM sqlite_schema "
    "WHERE type IN ('table', 'view')";
static const char newest_columns[] =
    "SELECT name, coalesce(dflt_value, 'NULL') FROM pragma_table_info(?1)";

/* Whether a table or view that is not laid over the file yet lacks a column. */
static const char lacks_column[] =
    "SELECT NOT EXISTS (SELECT 1 FROM sqlite_temp_schema WHERE name = ?1) "
    "AND NOT EXISTS (SELECT 1 FROM pragma_table_info(?1, 'main') "
    "WHERE name = ?2)";
static const char has_table[] = "SELECT EXISTS (SELECT 1 FROM "
				"main.sqlite_schema WHERE name = ?1)";

struct older { /* statements; of the file: lacks, has */
	sqlite3_stmt *tables, *columns, *lacks, *has;
};

static int
older_open(struct older *o, sqlite3 *newest, sqlite3 *file)
{
	int rc =
	    sqlite3_prepare_v2(newest, newest_tables, -1, &o->tables, NULL);

	if (rc == SQLITE_OK)
		rc = sqlite3_prepare_v2(
		    newest, newest_columns, -1, &o->columns, NULL);
	if (rc == SQLITE_OK)
		rc =
		    sqlite3_prepare_v2(file, lacks_column, -1, &o->lacks, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_prepare_v2(file, has_table, -1, &o->has, NULL);
	return rc == SQLITE_OK ? 0 : -1;
}

static void
older_close(struct older *o)
{
	(void)sqlite3_finalize(o->tables);
	(void)sqlite3_finalize(o->columns);
	(void)sqlite3_finalize(o->lacks);
	(void)sqlite3_finalize(o->has);
}

/* What a statement says; a table that cannot be read lacks nothing. */
static bool
older_is(sqlite3_stmt *st, const char *of, const char *column)
{
	bool yes;

	stmt_text(st, 1, of);
	if (column != NULL)
		stmt_text(st, 2, column);
	yes = sqlite3_step(st) == SQLITE_ROW && sqlite3_column_int(st, 0) != 0;
	(void)sqlite3_reset(st);
	return yes;
}

/* Append the columns that the file's table or view lacks. */
static void
older_columns_put(const struct older *o, const char *of, struct buf *sql)
{
	const char *name;

	stmt_text(o->columns, 1, of);
	while (sqlite3_step(o->columns) == SQLITE_ROW) {
		name = stmt_col_text(o->columns, 0);
		if (older_is(o->lacks, of, name))
			buf_printf(sql, "%s%s AS %s",
			    *buf_str(sql) != '\0' ? ", " : "",
			    older_value(of, name, stmt_col_text(o->columns, 1)),
			    name);
	}
	(void)sqlite3_reset(o->columns);
}

/*
 * A temporary view for each table and view that lacks a column.  A table that is
 * not there is empty; a view that is not there is as in a new study.
 */
static void
older_view_put(const struct older *o, const char *of, const char *text,
    const char *columns, struct buf *sql)
{
	if (older_is(o->has, of, NULL))
		buf_printf(sql,
		    "CREATE TEMP VIEW %s AS SELECT *, %s FROM main.%s;", of,
		    columns, of);
	else if (text != NULL)
		buf_printf(sql, "CREATE TEMP %s;", text + strlen("CREATE "));
	else
		buf_printf(sql, "CREATE TEMP VIEW %s AS SELECT %s WHERE 0;", of,
		    columns);
	/* Made for the study, with all columns of trials. */
	if (strcmp(of, "trials") == 0)
		buf_printf(sql,
		    "CREATE TEMP VIEW best AS SELECT *, %s FROM main.best;",
		    columns);
}

static void
older_views_put(const struct older *o, struct buf *sql)
{
	struct buf columns = { 0 };
	const char *of;

	while (sqlite3_step(o->tables) == SQLITE_ROW) {
		of = stmt_col_text(o->tables, 0);
		buf_clear(&columns);
		older_columns_put(o, of, &columns);
		if (*buf_str(&columns) != '\0')
			older_view_put(o, of, stmt_col_text(o->tables, 1),
			    buf_str(&columns), sql);
	}
	buf_free(&columns);
}

static int
older_lay(struct store *s, struct err *e)
{
	struct store *newest = store_new(":memory:", STORE_WRITE);
	struct older o = { 0 };
	struct buf sql = { 0 };
	int rc = store_open_newest(newest, e);

	if (rc == 0 && older_open(&o, newest->db, s->db) != 0)
		rc = store_fail(s, "cannot be read", e);
	if (rc == 0)
		older_views_put(&o, &sql);
	older_close(&o);
	store_free(newest);
	if (rc == 0)
		rc = store_exec(s, buf_str(&sql), e);
	buf_free(&sql);
	return rc;
}

int
schema_read_old(struct store *s, int64_t version, struct err *e)
{
	size_t i, n = sizeof missing_views / sizeof missing_views[0];

	for (i = 0; i < n; i++)
		if (version < missing_views[i].since &&
		    store_exec(s, missing_views[i].sql, e) != 0)
			return -1;
	if (version < schema_version() && older_lay(s, e) != 0)
		return -1;
	return version < WITH_RESULTS || version >= WITH_LAST
		   ? 0
		   : schema_views_results(s, true, e);
}
