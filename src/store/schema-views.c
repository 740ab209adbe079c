/*
 * The views whose columns depend on the study: results and front have a column
 * for each of its parameters and metrics.
 */

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/store/store-internal.h"

/* Parts of the SQL text of these views. */
struct made {
	struct buf params; /* one column for each */
	struct buf best; /* the same beside the columns of trials */
	struct buf taken; /* names of parameters, each behind a newline */
	struct buf metrics; /* the same for the objectives */
	struct buf alone; /* … for a single one */
	struct buf named; /* the objective again, or empty */
	struct buf reported; /* a column for each other metric */
	int n_reported;
	int room; /* columns left for parameters */
	int objectives;
	char *metric; /* the last of them */
	bool leaves; /* its attempts may have artifact URIs */
};

/* The column of the newest attempt that has a value. */
#define LEFT_COLUMN(what)                                             \
	",\n    (SELECT l." what " FROM t_left AS l WHERE l.trial = " \
	"t.trial ORDER BY l.attempt DESC LIMIT 1) AS " what "_uri"

/*
 * Fixed columns of results, and after them those that best has, too: a parameter
 * of the same name becomes params.NAME.
 */
enum { RESULT_COLUMNS = 5, REPORTED = 100 /* metrics with a column */ };
static const char *const fixed_columns[] = { "trial", "state", "objective",
	"model_uri", "output_uri", "step", "reports", "params", "backend",
	"attempts", "started", "ended", "seconds", "gpu_seconds", "cost", "why",
	"energy_joules", "gpu_memory", "gpu_utilization", "note", "tags",
	"forgotten", "outside", "setting", "replicate", NULL };

static bool
is_column(const char *name, size_t n)
{
	size_t i;

	for (i = 0; i < n && fixed_columns[i] != NULL; i++)
		if (strcasecmp(name, fixed_columns[i]) == 0)
			return true;
	return false;
}

/*
 * One column: the parameter's value from the JSON of params. json_each instead
 * of json_extract: it accepts any name, and SQLite before 3.41 rejects
 * json_extract in a view as unsafe.
 */
static void
put_column(struct buf *b, const char *name, bool prefixed)
{
	char *sql =
	    sqlite3_mprintf(",\n    (SELECT value FROM "
			    "json_each(params) WHERE key = '%q') AS \"%s%w\"",
		name, prefixed ? "params." : "", name);

	if (sql == NULL)
		mem_fail();
	buf_puts(b, sql);
	sqlite3_free(sql);
}

static void
schema_views_put_param(struct made *m, const char *name)
{
	buf_printf(&m->taken, "\n%s\n", name);
	if (m->room-- <= 0)
		return;
	put_column(&m->params, name, is_column(name, RESULT_COLUMNS));
	put_column(&m->best, name, is_column(name, SIZE_MAX));
}

/*
 * The objective under its own name, behind the columns that there always were;
 * not where something else has the name.
 */
static void
put_named(struct buf *sql, const struct made *m, size_t columns)
{
	char *at;

	if (m->objectives != 1 || m->metric == NULL ||
	    is_column(m->metric, columns))
		return;
	at = xasprintf("\n%s\n", m->metric);
	if (strcasestr(buf_str(&m->taken), at) == NULL)
		buf_puts(sql, buf_str(&m->alone));
	free(at);
}

static void
put_metric(struct made *m, const char *name)
{
	char *sql, *alone;

	m->objectives++;
	free(m->metric);
	m->metric = xstrdup(name);
	sql = sqlite3_mprintf(
	    ",\n    coalesce((SELECT value FROM t_setting_outcome AS s WHERE "
	    "s.setting = t.setting AND position = %d),\n    (SELECT value FROM "
	    "t_outcome AS o WHERE o.trial = t.trial AND position = %d)) "
	    "AS \"%w\"",
	    m->objectives, m->objectives, name);
	alone = sqlite3_mprintf(", objective AS \"%w\"", name);
	if (sql == NULL || alone == NULL)
		mem_fail();
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

/* Call put with each row's text; a file of somebody else may lack one. */
static int
each_name(struct store *s, enum stmt_id id, struct made *m,
    void (*put)(struct made *, const char *), struct err *e)
{
	sqlite3_stmt *st = stmt_get(s, id, e);
	const char *name;
	int rc;

	if (st == NULL)
		return -1;
	while ((rc = stmt_step(s, st, e)) > 0)
		if ((name = stmt_col_text(st, 0)) != NULL)
			put(m, name);
	return rc;
}

/*
 * The last report of a metric.  A name that another column has, in any case, is
 * metrics.NAME.  A single objective, which is the first metric, has its column.
 */
static void
put_reported(struct made *m, const char *name)
{
	bool taken, alone = m->n_reported++ == 0 && m->objectives == 1;
	char *at, *sql;

	if (alone || m->n_reported > REPORTED || m->room <= 0)
		return;
	at = xasprintf("\n%s\n", name);
	taken = is_column(name, RESULT_COLUMNS) ||
		strcasestr(buf_str(&m->taken), at) != NULL ||
		(m->objectives == 1 && strcasecmp(m->metric, name) == 0);
	buf_puts(&m->taken, at);
	free(at);
	sql = sqlite3_mprintf(
	    ",\n    (SELECT value FROM t_last AS l WHERE l.name_id = %d AND\n"
	    "    l.trial = t.trial ORDER BY l.first_step DESC LIMIT 1) "
	    "AS \"%s%w\"",
	    m->n_reported, taken ? "metrics." : "", name);
	if (sql == NULL)
		mem_fail();
	buf_puts(&m->reported, sql);
	sqlite3_free(sql);
	m->room--;
}

/* begin: CREATE VIEW, or for a reader alone CREATE TEMP VIEW. */
static void
put_results(struct buf *sql, struct made *m, const char *begin)
{
	buf_printf(sql,
	    "%s t_results AS\nSELECT trial, state, objective%s%s%s\n"
	    "FROM t_trial AS t WHERE forgotten = 0;\n",
	    begin, buf_str(&m->params),
	    m->leaves ? LEFT_COLUMN("model") LEFT_COLUMN("output") : "",
	    buf_str(&m->reported));
	buf_printf(sql, "%s results AS\nSELECT *%s", begin, buf_str(&m->named));
	buf_puts(sql, " FROM t_results;\n");
}

static void
put_best(struct buf *sql, struct made *m)
{
	buf_puts(sql, "CREATE VIEW best AS\nSELECT t.*");
	put_named(sql, m, SIZE_MAX);
	buf_printf(sql,
	    "%s\nFROM trials AS t WHERE trial = (SELECT trial FROM t_best);\n",
	    buf_str(&m->best));
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

static int
made_read(struct store *s, struct made *m, struct err *e)
{
	int rc;

	*m = (struct made){
		.room = sqlite3_limit(s->db, SQLITE_LIMIT_COLUMN, -1) - 30
	};
	rc = each_name(s, STMT_AIM_EACH, m, put_metric, e);
	if (rc == 0)
		rc = each_name(s, STMT_STUDY_LEAVES, m, put_leaves, e);
	if (rc == 0)
		rc =
		    each_name(s, STMT_PARAM_EACH, m, schema_views_put_param, e);
	if (rc == 0)
		put_named(&m->named, m, RESULT_COLUMNS);
	return rc;
}

static void
made_fini(struct made *m)
{
	buf_free(&m->params);
	buf_free(&m->best);
	buf_free(&m->taken);
	free(m->metric);
	buf_free(&m->metrics);
	buf_free(&m->alone);
	buf_free(&m->named);
	buf_free(&m->reported);
}

static const char drop_results[] = "DROP VIEW IF EXISTS results;\n"
				   "DROP VIEW IF EXISTS t_results;\n";

int
schema_views_generated(struct store *s, struct buf *sql, struct err *e)
{
	struct made m;
	int rc = made_read(s, &m, e);

	if (rc == 0) {
		put_best(sql, &m);
		put_front(sql, &m);
		rc = each_name(s, STMT_NAME_EACH, &m, put_reported, e);
	}
	if (rc == 0) {
		buf_puts(sql, drop_results);
		put_results(sql, &m, "CREATE VIEW");
	}
	made_fini(&m);
	return rc;
}

int
schema_views_results(struct store *s, bool temporary, struct err *e)
{
	struct buf sql = { 0 };
	struct made m;
	int rc = made_read(s, &m, e);

	if (rc == 0)
		rc = each_name(s, STMT_NAME_EACH, &m, put_reported, e);
	if (rc == 0) {
		if (!temporary)
			buf_puts(&sql, drop_results);
		put_results(
		    &sql, &m, temporary ? "CREATE TEMP VIEW" : "CREATE VIEW");
		rc = store_exec(s, buf_str(&sql), e);
	}
	buf_free(&sql);
	made_fini(&m);
	return rc;
}
