/*
 * Foreign SQL that reads the views alone.
 *
 * SQLite asks about each column that a query reads, and names the table or view
 * of it, also where a view reads a table.  Whom the query itself has named is in
 * its text: no name can be written in another way than letter by letter.  The
 * name of the view that SQLite gives with a column is no proof, since a query can
 * give it to a part of its own (WITH trials AS …).
 */

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/store/queries.h"
#include "src/store/store-internal.h"

enum {
	VIEWS_SQL_MAX = 20000, /* bytes of a query */
	VIEWS_VALUE_MAX = 1 << 20, /* bytes of a value, and of a row */
	VIEWS_DEPTH_MAX = 100, /* of an expression */
	VIEWS_SELECTS_MAX = 50, /* of one compound */
	VIEWS_PATTERN_MAX = 100 /* bytes of a pattern of LIKE */
};

struct views_only {
	const char *sql;
	struct strv views; /* that may be named */
	char denied[100]; /* a table that was named; "" = none */
};

/* A character of a name, as SQLite's tokenizer has it. */
static bool
views_is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' ||
	       (unsigned char)c >= 0x80;
}

/* Whether the text has the name as a whole word, in any case. */
static bool
views_named(const char *sql, const char *name)
{
	size_t n = strlen(name);
	const char *at;

	for (at = sql; (at = strcasestr(at, name)) != NULL; at++)
		if ((at == sql || !views_is_name(at[-1])) &&
		    !views_is_name(at[n]))
			return true;
	return false;
}

/* Whether a query may name it: a public view, or a function that makes rows. */
static bool
views_public(const struct views_only *v, const char *name)
{
	size_t i;

	if (strcasecmp(name, "json_each") == 0 ||
	    strcasecmp(name, "json_tree") == 0)
		return true;
	for (i = 0; i < v->views.n; i++)
		if (strcasecmp(v->views.v[i], name) == 0)
			return true;
	return false;
}

static int
views_on_access(void *arg, int action, const char *a, const char *b,
    const char *schema, const char *view)
{
	struct views_only *v = ((struct store *)arg)->views;

	if (v == NULL)
		return SQLITE_OK;
	(void)schema;
	(void)view;
	switch (action) {
	case SQLITE_SELECT:
	case SQLITE_RECURSIVE:
		return SQLITE_OK;
	case SQLITE_FUNCTION:
		return b != NULL && strcasecmp(b, "load_extension") == 0
			   ? SQLITE_DENY
			   : SQLITE_OK;
	case SQLITE_READ:
		if (a == NULL || *a == '\0' || views_public(v, a))
			return SQLITE_OK;
		if (strncasecmp(a, "sqlite_", 7) != 0 &&
		    !views_named(v->sql, a))
			return SQLITE_OK; /* by a view */
		(void)snprintf(v->denied, sizeof v->denied, "%s", a);
		return SQLITE_DENY;
	default:
		return SQLITE_DENY;
	}
}

static const struct {
	int id, most;
} views_limits[] = {
	{ SQLITE_LIMIT_LENGTH, VIEWS_VALUE_MAX },
	{ SQLITE_LIMIT_EXPR_DEPTH, VIEWS_DEPTH_MAX },
	{ SQLITE_LIMIT_COMPOUND_SELECT, VIEWS_SELECTS_MAX },
	{ SQLITE_LIMIT_LIKE_PATTERN_LENGTH, VIEWS_PATTERN_MAX },
};

void
query_views_limits(struct store *s)
{
	int i;

	for (i = 0; i < 4; i++)
		s->views_limits[i] = sqlite3_limit(
		    s->db, views_limits[i].id, views_limits[i].most);
}

void
query_views_limits_lift(struct store *s)
{
	int i;

	for (i = 0; i < 4; i++)
		(void)sqlite3_limit(
		    s->db, views_limits[i].id, s->views_limits[i]);
}

/* The views of the file, and those that stand for ones that an old file lacks. */
static int
views_list(struct strv *views, struct store *s, struct err *e)
{
	static const char sql[] =
	    "SELECT name FROM (SELECT type, name FROM sqlite_schema UNION "
	    "SELECT type, name FROM sqlite_temp_schema) WHERE type = 'view' "
	    "AND name NOT LIKE 't\\_%' ESCAPE '\\' ORDER BY name";
	struct store_rows *rows;
	int rc;

	if (store_rows_open(&rows, s, sql, NULL, e) != 0)
		return -1;
	while ((rc = store_rows_next(rows, e)) == 1)
		strv_add(views, xstrdup(store_rows_text(rows, 0)));
	store_rows_close(rows);
	return rc;
}

/* One statement, without anything behind it but space and comments. */
static int
views_single(struct store *s, const char *rest, struct err *e)
{
	sqlite3_stmt *st = NULL;
	bool more;

	more = sqlite3_prepare_v2(s->db, rest, -1, &st, NULL) != SQLITE_OK ||
	       st != NULL;
	(void)sqlite3_finalize(st);
	return more ? err_set(e, ERR_USAGE, "one query at a time") : 0;
}

/*
 * Once for a connection, because to set an authorizer has all statements compiled
 * anew.  SQLite 3.40 asks whether a function that makes rows may be made,
 * at its first use, as for a table that is written: the permitted ones are made
 * before.
 */
static int
views_watch(struct store *s, struct err *e)
{
	if (s->views_watched)
		return 0;
	if (store_exec(
		s, "SELECT 1 FROM json_each('[]'), json_tree('[]')", e) != 0)
		return -1;
	sqlite3_set_authorizer(s->db, views_on_access, s);
	s->views_watched = true;
	return 0;
}

static int
views_prepare(
    sqlite3_stmt **st, struct store *s, struct views_only *v, struct err *e)
{
	const char *rest = "";
	int rc;

	if (views_watch(s, e) != 0)
		return -1;
	s->views = v;
	rc = sqlite3_prepare_v2(s->db, v->sql, -1, st, &rest);
	if (rc == SQLITE_AUTH && *v->denied != '\0')
		rc = err_set(e, ERR_USAGE,
		    "%s: only the views can be read: man hpotune-db lists them",
		    v->denied);
	else if (rc == SQLITE_AUTH)
		rc = err_set(e, ERR_USAGE,
		    "a query may only read: SELECT … FROM a view of man "
		    "hpotune-db");
	else if (rc != SQLITE_OK)
		rc = err_set(e, ERR_USAGE, "%s", sqlite3_errmsg(s->db));
	else if (*st != NULL && sqlite3_stmt_readonly(*st) == 0)
		rc = err_set(e, ERR_USAGE, "a query may only read");
	else if (*st == NULL)
		rc = err_set(e, ERR_USAGE, "the query is empty");
	else
		rc = views_single(s, rest, e);
	s->views = NULL;
	return rc;
}

int
store_rows_open_views(
    struct store_rows **out, struct store *s, const char *sql, struct err *e)
{
	struct views_only v = { .sql = sql };
	sqlite3_stmt *st = NULL;
	int rc;

	if (strlen(sql) > VIEWS_SQL_MAX)
		return err_set(e, ERR_USAGE,
		    "the query is longer than %d bytes", VIEWS_SQL_MAX);
	rc = views_list(&v.views, s, e);
	query_limit_begin(s);
	query_views_limits(s);
	if (rc == 0)
		rc = views_prepare(&st, s, &v, e);
	strv_free(v.views.v);
	if (rc != 0) {
		(void)sqlite3_finalize(st);
		query_views_limits_lift(s);
		return -1;
	}
	*out = store_rows_of(s, st);
	return 0;
}

const char *
store_view_source(struct store *s, const char *view)
{
	double there = 0;

	/* A file that an older program wrote may not have it. */
	if (strcmp(view, "results") != 0 ||
	    query_numbers(&there, 1, s,
		"SELECT count(*) FROM sqlite_schema WHERE name = 't_results'",
		NULL) != 1)
		return view;
	return there > 0 ? "t_results" : view;
}
