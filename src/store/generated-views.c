/* Generates the views whose columns depend on the study: results and front. */

#include <stdlib.h>
#include <strings.h>

#include "src/base/mem.h"
#include "src/store/store-internal.h"

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
int
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
