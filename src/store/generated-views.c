/*
 * The views whose columns the study names: results and front.  Knows names of
 * parameters and metrics; refuses to know their values.
 */

#include <stdlib.h>
#include <strings.h>

#include "src/base/mem.h"
#include "src/store/store-internal.h"

/* What goes into the two of them. */
struct made {
	struct buf params; /* one column for each */
	struct buf metrics; /* the same of the objectives */
	struct buf alone; /* … of a single one */
	int room; /* for columns of parameters */
	int objectives;
	bool leaves; /* its trials may leave things behind under URIs */
};

/* Of the newest attempt that has left one. */
#define LEFT_COLUMN(what)                                             \
	",\n    (SELECT l." what " FROM t_left AS l WHERE l.trial = " \
	"t.trial ORDER BY l.attempt DESC LIMIT 1) AS " what "_uri"

/* Columns that results has in any case: a parameter's is called params.NAME. */
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
 * One column: the parameter's value out of the JSON of params.  json_each and
 * not json_extract: it takes any name, and SQLite before 3.41 holds the other
 * for unsafe in a view.
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

	sql = sqlite3_mprintf(",\n    (SELECT value FROM t_outcome AS o WHERE "
			      "o.trial = t.trial AND position = %d) AS \"%w\"",
	    ++m->objectives, name);
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

/* Hand each row's text to put. */
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
	    "FROM t_trial AS t;\n",
	    buf_str(&m->params),
	    m->leaves ? LEFT_COLUMN("model") LEFT_COLUMN("output") : "");
}

/* With one objective, all that are as good as the best. */
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
		    "objective =\n    (SELECT objective FROM t_trial "
		    "WHERE trial = (SELECT trial FROM t_best));\n",
		    buf_str(&m->alone), buf_str(&m->params));
}

/* What does not fit into SQLite's columns is left out. */
int
schema_generated_views(struct store *s, struct err *e)
{
	struct made m = {
		.room = sqlite3_limit(s->db, SQLITE_LIMIT_COLUMN, -1) - 5
	};
	struct buf sql = { 0 };
	int rc;

	rc = each_name(s, STMT_AIM_EACH, &m, put_metric, e);
	if (rc == 0)
		rc = each_name(s, STMT_STUDY_LEAVES, &m, put_leaves, e);
	if (rc == 0)
		rc = each_name(s, STMT_PARAM_EACH, &m, put_param, e);
	if (rc == 0) {
		put_results(&sql, &m);
		put_front(&sql, &m);
		rc = store_exec(s, buf_str(&sql), e);
	}
	buf_free(&sql);
	buf_free(&m.params);
	buf_free(&m.metrics);
	buf_free(&m.alone);
	return rc;
}
