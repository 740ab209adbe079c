/*
 * Reads columns of a row that may be corrupt; the error names table, row and
 * column.
 */

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "src/base/err.h"
#include "src/store/row-columns.h"

struct row
row_begin(struct store *s, enum stmt_id id, const char *table, int keys,
    struct err *e)
{
	return (struct row){ .store = s,
		.st = stmt_get(s, id, e),
		.table = table,
		.keys = keys,
		.err = e };
}

int
row_next(struct row *r)
{
	r->bad = false;
	return stmt_step(r->store, r->st, r->err);
}

bool
row_walk(struct row *r, int *end)
{
	int rc;

	if (r->st == NULL) {
		*end = -1;
		return false;
	}
	if (*end != 0) {
		stmt_done(r->st);
		return false;
	}
	rc = row_next(r);
	if (rc < 0)
		*end = -1;
	return rc > 0;
}

/* ", row 3", or ", row 3/1": from the key columns; "" when there are none. */
static void
put_keys(const struct row *r, char *buf, size_t n)
{
	size_t used = 0;
	int i;

	*buf = '\0';
	if (r->keys > 0)
		used = (size_t)snprintf(buf, n, ", row ");
	for (i = 0; i < r->keys && used < n; i++)
		used += (size_t)snprintf(buf + used, n - used, "%s%lld",
		    i > 0 ? "/" : "",
		    (long long)sqlite3_column_int64(r->st, i));
}

int
row_damaged(struct row *r, int i, const char *why)
{
	char keys[64];

	if (r->bad)
		return -1;
	r->bad = true;
	put_keys(r, keys, sizeof keys);
	return store_refuse(r->store, r->err,
	    "the database is damaged: %s%s, column %s: %s", r->table, keys,
	    sqlite3_column_name(r->st, i), why);
}

int
row_end(const struct row *r)
{
	return r->bad ? -1 : 0;
}

/*
 * Whether a column's value has this type, or NULL where that is allowed.  A
 * value is fetched once for its type and its content: a start reads millions.
 */
static bool
row_is(struct row *r, int i, sqlite3_value *v, int type, bool or_null)
{
	static const char *const names[] = {
		[SQLITE_INTEGER] = "not a whole number",
		[SQLITE_FLOAT] = "not a number",
		[SQLITE_TEXT] = "not a text",
	};
	int is = sqlite3_value_type(v);

	if (is == type)
		return true;
	if (is != SQLITE_NULL)
		(void)row_damaged(r, i, names[type]);
	else if (!or_null)
		(void)row_damaged(r, i, "is NULL");
	return false;
}

static int64_t
row_number(
    struct row *r, int i, int64_t none, int64_t min, int64_t max, bool or_null)
{
	sqlite3_value *value = sqlite3_column_value(r->st, i);
	char why[96];
	int64_t v;

	if (!row_is(r, i, value, SQLITE_INTEGER, or_null))
		return none;
	v = sqlite3_value_int64(value);
	if (v >= min && v <= max)
		return v;
	(void)snprintf(why, sizeof why, "%" PRId64 " cannot be", v);
	(void)row_damaged(r, i, why);
	return min;
}

int64_t
row_int(struct row *r, int i, int64_t min, int64_t max)
{
	return row_number(r, i, min, min, max, false);
}

int64_t
row_int_or(struct row *r, int i, int64_t none, int64_t min, int64_t max)
{
	return row_number(r, i, none, min, max, true);
}

bool
row_bool(struct row *r, int i)
{
	return row_int(r, i, 0, 1) != 0;
}

/* A view may return an integer where a REAL column would not. */
double
row_real(struct row *r, int i)
{
	sqlite3_value *v = sqlite3_column_value(r->st, i);

	return sqlite3_value_type(v) == SQLITE_INTEGER ||
		       row_is(r, i, v, SQLITE_FLOAT, true)
		   ? sqlite3_value_double(v)
		   : NAN;
}

static char *
row_string(struct row *r, int i, bool or_null)
{
	sqlite3_value *v = sqlite3_column_value(r->st, i);
	char *s = row_is(r, i, v, SQLITE_TEXT, or_null)
		      ? (char *)(uintptr_t)sqlite3_value_text(v)
		      : NULL;

	if (s != NULL && strlen(s) == (size_t)sqlite3_value_bytes(v))
		return s;
	if (s != NULL)
		(void)row_damaged(r, i, "it has a byte 0");
	return NULL;
}

char *
row_text(struct row *r, int i)
{
	static char nothing[1];
	char *s = row_string(r, i, false);

	return s != NULL ? s : nothing;
}

char *
row_text_or(struct row *r, int i)
{
	return row_string(r, i, true);
}

enum trial_state
row_state(struct row *r, int i)
{
	enum trial_state state = TRIAL_WAITING;

	if (!trial_state_parse(row_text(r, i), &state))
		(void)row_damaged(r, i, "not a state of a trial");
	return state;
}

enum end_class
row_class(struct row *r, int i)
{
	enum end_class end = END_NONE;
	const char *name = row_text_or(r, i);

	if (name != NULL && (!end_class_parse(name, &end) || end == END_NONE))
		(void)row_damaged(r, i, "not an end class");
	return end;
}

int
row_count(struct row *r, int i)
{
	return (int)row_int(r, i, 0, INT_MAX - 1);
}
