/*
 * What ended trials came to beside their objective: values of all aims, the
 * front, and whose fault it was.
 */

#include <math.h>

#include "src/base/err.h"
#include "src/store/stmt.h"

int
store_metric_last(struct store *s, int64_t trial, const char *name,
    int64_t *step, double *value, struct err *e)
{
	sqlite3_stmt *st = stmt_get(s, STMT_METRIC_LAST, e);
	int rc;

	if (st == NULL)
		return -1;
	stmt_int(st, 1, trial);
	stmt_text(st, 2, name);
	if ((rc = stmt_step(s, st, e)) <= 0)
		return rc;
	*step = stmt_col_int(st, 0, 0);
	*value = stmt_col_real(st, 1);
	stmt_done(st);
	return 1;
}

int
store_outcome_put(struct store *s, int64_t trial, size_t n,
    const double *values, const double *violations, struct err *e)
{
	sqlite3_stmt *st;
	size_t i;

	for (i = 0; i < n; i++) {
		if ((st = stmt_get(s, STMT_OUTCOME_PUT, e)) == NULL)
			return -1;
		stmt_int(st, 1, trial);
		stmt_int(st, 2, (int64_t)i + 1);
		stmt_real(st, 3, values[i]);
		stmt_real(st, 4, violations[i]);
		if (stmt_write(s, st, e) < 0)
			return -1;
	}
	return 0;
}

static int
each_outcome(struct store *s, sqlite3_stmt *st,
    int (*f)(void *, int64_t trial, size_t i, double value), void *arg,
    struct err *e)
{
	int rc, end = 0;

	while (end == 0 && (rc = stmt_step(s, st, e)) != 0) {
		if (rc < 0)
			return -1;
		end = f(arg, stmt_col_int(st, 0, 0),
		    (size_t)stmt_col_int(st, 1, 1) - 1, stmt_col_real(st, 2));
	}
	stmt_done(st);
	return end;
}

int
store_each_outcome(struct store *s,
    int (*f)(void *, int64_t trial, size_t i, double value), void *arg,
    struct err *e)
{
	sqlite3_stmt *st = stmt_get(s, STMT_OUTCOME_EACH, e);

	return st != NULL ? each_outcome(s, st, f, arg, e) : -1;
}

/* The array that one trial's values go to. */
struct row {
	double *values;
	size_t n;
};

static int
on_value(void *arg, int64_t trial, size_t i, double value)
{
	struct row *row = arg;

	(void)trial;
	if (i < row->n)
		row->values[i] = value;
	return 0;
}

int
store_outcome_get(
    struct store *s, int64_t trial, size_t n, double *values, struct err *e)
{
	sqlite3_stmt *st = stmt_get(s, STMT_OUTCOME_GET, e);
	struct row row = { values, n };
	size_t i;

	if (st == NULL)
		return -1;
	for (i = 0; i < n; i++)
		values[i] = NAN;
	stmt_int(st, 1, trial);
	return each_outcome(s, st, on_value, &row, e);
}

int
store_front_add(struct store *s, int64_t trial, bool better, struct err *e)
{
	sqlite3_stmt *st = stmt_get(s, STMT_FRONT_ADD, e);

	if (st == NULL)
		return -1;
	stmt_int(st, 1, trial);
	stmt_int(st, 2, better);
	return stmt_write(s, st, e);
}

int
store_front_drop(struct store *s, int64_t trial, struct err *e)
{
	sqlite3_stmt *st = stmt_get(s, STMT_FRONT_DROP, e);

	if (st == NULL)
		return -1;
	stmt_int(st, 1, trial);
	return stmt_write(s, st, e);
}

int
store_each_front(struct store *s,
    int (*f)(void *, int64_t trial, bool inside, bool better), void *arg,
    struct err *e)
{
	sqlite3_stmt *st = stmt_get(s, STMT_FRONT_EACH, e);
	int rc, end = 0;

	if (st == NULL)
		return -1;
	while (end == 0 && (rc = stmt_step(s, st, e)) != 0) {
		if (rc < 0)
			return -1;
		end = f(arg, stmt_col_int(st, 0, 0), stmt_col_int(st, 1, 0),
		    stmt_col_int(st, 2, 0));
	}
	stmt_done(st);
	return end;
}

int
store_each_failed(struct store *s,
    int (*f)(void *, int64_t trial, enum end_class), void *arg, struct err *e)
{
	sqlite3_stmt *st = stmt_get(s, STMT_TRIAL_FAILED, e);
	enum end_class last;
	int rc, end = 0;

	if (st == NULL)
		return -1;
	while (end == 0 && (rc = stmt_step(s, st, e)) != 0) {
		if (rc < 0)
			return -1;
		last = END_NONE;
		if (stmt_col_text(st, 1) != NULL)
			(void)end_class_parse(stmt_col_text(st, 1), &last);
		end = f(arg, stmt_col_int(st, 0, 0), last);
	}
	stmt_done(st);
	return end;
}
