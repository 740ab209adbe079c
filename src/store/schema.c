/*
 * Creates and migrates tables, state transitions and views, from the files of
 * schema/ in their order; the views whose columns depend on the study, results
 * and front, are generated.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/store/store-internal.h"

/*
 * Applied in order; never edit one that was released.  Its index is its
 * version.
 */
static const char *const migrations[] = {
#include "schema/001-start.inc"
	,
#include "schema/002-cost.inc"
	,
#include "schema/003-search.inc"
	,
#include "schema/004-gpu.inc"
	,
#include "schema/005-stops.inc"
	,
#include "schema/006-pace.inc"
	,
#include "schema/007-run.inc"
	,
#include "schema/008-bill.inc"
	,
#include "schema/009-left.inc"
	,
#include "schema/010-notices.inc"
	,
#include "schema/011-hindsight.inc"
	,
#include "schema/012-reason.inc"
	,
#include "schema/013-second-look.inc"
	,
#include "schema/014-annotate.inc"
	,
#include "schema/015-series.inc"
	,
#include "schema/016-cpus.inc"
	,
#include "schema/017-replicates.inc"
	,
#include "schema/018-provenance.inc"
	,
#include "schema/019-settings.inc"
	,
#include "schema/020-curves.inc"
};

static const char views[] =
#include "schema/views.inc"
    ;

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
	     "CREATE TEMP VIEW t_outcome AS SELECT NULL AS trial, "
	     "NULL AS position, NULL AS value, NULL AS violation WHERE 0;"
	     "CREATE TEMP VIEW outcomes AS SELECT NULL AS trial, "
	     "NULL AS metric, NULL AS goal, NULL AS min, NULL AS max, "
	     "NULL AS value, NULL AS violation WHERE 0;"
	     "CREATE TEMP VIEW front AS SELECT trial, objective FROM main.best;"
	     "CREATE TEMP VIEW t_suggestion AS SELECT NULL AS trial, "
	     "NULL AS strategy, NULL AS made_by, NULL AS seconds, "
	     "NULL AS redraws, NULL AS same_as, NULL AS from_trial WHERE 0;" },
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
	      "t.source, NULL AS reason FROM main.t_trial AS t "
	      "LEFT JOIN t_suggestion AS s ON s.trial = t.trial;" },
	{ 14, "CREATE TEMP VIEW t_retry AS SELECT NULL AS trial, "
	      "NULL AS end_seq, NULL AS seq, NULL AS state, "
	      "NULL AS objective WHERE 0;"
	      "CREATE TEMP VIEW changes AS SELECT NULL AS time, NULL AS key, "
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
	{ 15, "CREATE TEMP VIEW t_spent AS SELECT NULL AS seq, "
	      "NULL AS seconds, NULL AS dollars WHERE 0;" },
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
	      "NULL AS violation WHERE 0;"
	      "CREATE TEMP VIEW t_setting_outcome AS SELECT NULL AS setting, "
	      "NULL AS position, NULL AS value WHERE 0;" },
	{ 20, "CREATE TEMP VIEW t_curve AS SELECT NULL AS trial, "
	      "NULL AS end_seq, NULL AS reports WHERE 0;" },
};

/* Columns that tables or views of files before schema version since lack. */
static const struct {
	int64_t since;
	const char *of, *columns;
} missing_columns[] = {
	{ 2, "t_attempt", "NULL AS worst_cost, NULL AS trained_seconds" },
	{ 4, "t_attempt",
	    "NULL AS gpus, NULL AS energy_joules, NULL AS gpu_memory, "
	    "NULL AS gpu_busy, NULL AS gpu_seen" },
	{ 8, "t_attempt", "NULL AS download_seconds, NULL AS upload_seconds" },
	{ 16, "t_attempt", "NULL AS cpus" },
	{ 3, "t_trial",
	    "NULL AS paused_step, 0.0 AS violation, NULL AS from_trial, "
	    "NULL AS member, NULL AS until_step" },
	{ 14, "t_trial", "0 AS forgotten, NULL AS outside" },
	{ 17, "t_trial", "NULL AS setting, NULL AS replicate" },
	{ 4, "t_total",
	    "NULL AS gpu_seconds, NULL AS energy, NULL AS energy_saved" },
	{ 4, "trials",
	    "NULL AS energy_joules, NULL AS gpu_memory, "
	    "NULL AS gpu_utilization" },
	{ 9, "trials", "NULL AS model_uri, NULL AS output_uri" },
	{ 14, "trials",
	    "NULL AS note, NULL AS tags, 0 AS forgotten, NULL AS outside" },
	{ 17, "trials", "NULL AS setting, NULL AS replicate" },
	{ 4, "best",
	    "NULL AS energy_joules, NULL AS gpu_memory, "
	    "NULL AS gpu_utilization" },
	{ 9, "best", "NULL AS model_uri, NULL AS output_uri" },
	{ 14, "best",
	    "NULL AS note, NULL AS tags, 0 AS forgotten, NULL AS outside" },
	{ 17, "best", "NULL AS setting, NULL AS replicate" },
	{ 4, "attempts",
	    "NULL AS gpus, NULL AS gpu_seconds, NULL AS energy_joules, "
	    "NULL AS gpu_memory, NULL AS gpu_utilization" },
	{ 8, "attempts", "NULL AS download_seconds, NULL AS upload_seconds" },
	{ 16, "attempts", "NULL AS cpus, NULL AS cpu_seconds" },
	{ 18, "attempts", "NULL AS provenance" },
	{ 9, "attempts", "NULL AS model_uri, NULL AS output_uri" },
	{ 7, "t_study", "NULL AS run_trials, NULL AS run_parallel" },
	{ 7, "study",
	    "(SELECT elapsed_ms / 1000.0 FROM main.t_study) AS elapsed" },
	{ 14, "study", "0 AS forgotten, NULL AS description" },
	{ 13, "stops",
	    "NULL AS rank, NULL AS hindsight, NULL AS budget, NULL AS price, "
	    "NULL AS spent" },
	{ 15, "stops",
	    "(SELECT metric FROM main.t_study) AS metric, 'step' AS unit, "
	    "step AS at" },
	{ 13, "t_stop",
	    "NULL AS rank, NULL AS hindsight, NULL AS budget, NULL AS price, "
	    "NULL AS spent, NULL AS end_seq" },
	{ 15, "t_stop", "NULL AS metric, NULL AS unit, NULL AS at" },
	{ 2, "savings", "NULL AS spot_saved" },
	{ 4, "savings", "NULL AS energy_saved" },
	{ 19, "settings", "NULL AS violation, NULL AS front" },
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
		if (store_exec(s, migrations[v], e) != 0)
			return -1;
	(void)snprintf(
	    pragma, sizeof pragma, "PRAGMA user_version = %lld", (long long)v);
	return store_exec(s, pragma, e);
}

/* Whether it is one of the views that the file lacks, which have all columns. */
static bool
lacks_view(int64_t version, const char *name)
{
	size_t i, n = sizeof missing_views / sizeof missing_views[0];
	char text[64];

	(void)snprintf(text, sizeof text, "TEMP VIEW %s AS", name);
	for (i = 0; i < n; i++)
		if (version < missing_views[i].since &&
		    strstr(missing_views[i].sql, text) != NULL)
			return true;
	return false;
}

/*
 * Define a temporary view over each table and view that adds the missing
 * columns.
 */
static int
lay_columns(struct store *s, int64_t version, struct err *e)
{
	size_t i, n = sizeof missing_columns / sizeof missing_columns[0];
	struct buf sql = { 0 };
	bool begun = false;
	int rc;

	for (i = 0; i < n; i++) {
		const char *of = missing_columns[i].of;

		if (lacks_view(version, of))
			continue;
		if (version < missing_columns[i].since && !begun)
			buf_printf(&sql, "CREATE TEMP VIEW %s AS SELECT *", of);
		if (version < missing_columns[i].since)
			buf_printf(&sql, ", %s", missing_columns[i].columns);
		begun = begun || version < missing_columns[i].since;
		if (begun && (i + 1 == n ||
				 strcmp(of, missing_columns[i + 1].of) != 0)) {
			buf_printf(&sql, " FROM main.%s;", of);
			begun = false;
		}
	}
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
	return lay_columns(s, version, e);
}

/* ---- the views whose columns depend on the study ------------------------ */

/* Parts of the SQL text of both views. */
struct made {
	struct buf params; /* one column for each */
	struct buf metrics; /* the same for the objectives */
	struct buf alone; /* … for a single one */
	int room; /* columns left for parameters */
	int objectives;
	bool leaves; /* its attempts may have artifact URIs */
};

/* Of the newest attempt that has one. */
#define LEFT_COLUMN(what)                                             \
	",\n    (SELECT l." what " FROM t_left AS l WHERE l.trial = " \
	"t.trial ORDER BY l.attempt DESC LIMIT 1) AS " what "_uri"

/*
 * Fixed columns of results: a parameter of the same name becomes params.NAME.
 */
static bool
is_column(const char *name)
{
	static const char *const columns[] = { "trial", "state", "objective",
		"model_uri", "output_uri", NULL };
	size_t i;

	for (i = 0; columns[i] != NULL; i++)
		if (strcasecmp(name, columns[i]) == 0)
			return true;
	return false;
}

/*
 * One column: the parameter's value from the JSON of params. json_each instead
 * of json_extract: it accepts any name, and SQLite before 3.41 rejects
 * json_extract in a view as unsafe.
 */
static void
put_param(struct made *m, const char *name)
{
	char *sql =
	    sqlite3_mprintf(",\n    (SELECT value FROM "
			    "json_each(params) WHERE key = '%q') AS \"%s%w\"",
		name, is_column(name) ? "params." : "", name);

	if (sql == NULL)
		abort();
	if (m->room-- > 0)
		buf_puts(&m->params, sql);
	sqlite3_free(sql);
}

static void
put_metric(struct made *m, const char *name)
{
	char *sql, *alone;

	m->objectives++;
	sql = sqlite3_mprintf(
	    ",\n    coalesce((SELECT value FROM t_setting_outcome AS s WHERE "
	    "s.setting = t.setting AND position = %d),\n    (SELECT value FROM "
	    "t_outcome AS o WHERE o.trial = t.trial AND position = %d)) "
	    "AS \"%w\"",
	    m->objectives, m->objectives, name);
	alone = sqlite3_mprintf(", objective AS \"%w\"", name);
	if (sql == NULL || alone == NULL)
		abort();
	buf_puts(&m->metrics, sql);
	buf_puts(&m->alone, alone);
	sqlite3_free(sql);
	sqlite3_free(alone);
	m->room--;
}

static void
put_leaves(struct made *m, const char *one)
{
	(void)one;
	m->leaves = true;
}

/* Call put with each row's text. */
static int
each_name(struct store *s, enum stmt_id id, struct made *m,
    void (*put)(struct made *, const char *), struct err *e)
{
	sqlite3_stmt *st = stmt_get(s, id, e);
	int rc;

	if (st == NULL)
		return -1;
	while ((rc = stmt_step(s, st, e)) > 0)
		put(m, stmt_col_text(st, 0));
	return rc;
}

static void
put_results(struct buf *sql, struct made *m)
{
	buf_printf(sql,
	    "DROP VIEW IF EXISTS results;\n"
	    "CREATE VIEW results AS\nSELECT trial, state, objective%s%s\n"
	    "FROM t_trial AS t WHERE forgotten = 0;\n",
	    buf_str(&m->params),
	    m->leaves ? LEFT_COLUMN("model") LEFT_COLUMN("output") : "");
}

/* With one objective: all trials that equal the best. */
static void
put_front(struct buf *sql, struct made *m)
{
	buf_puts(sql, "DROP VIEW IF EXISTS front;\n"
		      "CREATE VIEW front AS\nSELECT trial");
	if (m->objectives > 1)
		buf_printf(sql,
		    "%s%s\nFROM t_trial AS t WHERE trial IN\n"
		    "    (SELECT trial FROM t_front WHERE inside = 1);\n",
		    buf_str(&m->metrics), buf_str(&m->params));
	else
		buf_printf(sql,
		    "%s%s\nFROM t_trial\n"
		    "WHERE state = 'completed' AND violation = 0 AND "
		    "forgotten = 0 AND objective =\n    (SELECT objective FROM "
		    "t_trial "
		    "WHERE trial = (SELECT trial FROM t_best));\n",
		    buf_str(&m->alone), buf_str(&m->params));
}

/* Columns beyond SQLite's limit are omitted. */
static int
schema_generated_views(struct store *s, struct buf *sql, struct err *e)
{
	struct made m = {
		.room = sqlite3_limit(s->db, SQLITE_LIMIT_COLUMN, -1) - 5
	};
	int rc;

	rc = each_name(s, STMT_AIM_EACH, &m, put_metric, e);
	if (rc == 0)
		rc = each_name(s, STMT_STUDY_LEAVES, &m, put_leaves, e);
	if (rc == 0)
		rc = each_name(s, STMT_PARAM_EACH, &m, put_param, e);
	if (rc == 0) {
		put_results(sql, &m);
		put_front(sql, &m);
	}
	buf_free(&m.params);
	buf_free(&m.metrics);
	buf_free(&m.alone);
	return rc;
}

/* ---- writing ------------------------------------------------------------ */

/* Fill t_move with the transitions of src/model/trial.c. */
static int
put_moves(struct store *s, struct err *e)
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
	rc = schema_generated_views(s, &sql, e);
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
	if (put_moves(s, e) != 0 || put_views(s, e) != 0)
		return -1;
	return put_versions(s, e);
}

int
schema_first(struct store *s, struct err *e)
{
	struct buf sql = { 0 };
	int rc = put_versions(s, e);

	if (rc == 0)
		rc = schema_generated_views(s, &sql, e);
	if (rc == 0)
		rc = store_exec(s, buf_str(&sql), e);
	buf_free(&sql);
	return rc;
}
