/*
 * Results of ended trials besides their objective: values of all aims, the
 * front, and the failure class.
 */

#include <math.h>

#include "src/base/err.h"
#include "src/store/row-columns.h"

int
store_metric_last(struct store *s, int64_t trial, const char *name,
    int64_t *step, double *value, struct err *e)
{
	struct row r = row_begin(s, STMT_METRIC_LAST, "t_metric", 1, e);
	int rc;

	if (r.st == NULL)
		return -1;
	stmt_int(r.st, 1, trial);
	stmt_text(r.st, 2, name);
	if ((rc = row_next(&r)) <= 0)
		return rc;
	*step = row_int(&r, 0, 0, TRIAL_STEP_MAX);
	*value = row_real(&r, 1);
	stmt_done(r.st);
	return row_end(&r) != 0 ? -1 : 1;
}

int
store_speed(struct store *s, int64_t trial, double *value, struct err *e)
{
	sqlite3_stmt *st = stmt_get(s, STMT_SPEED, e);
	int rc;

	if (st == NULL)
		return -1;
	stmt_int(st, 1, trial);
	if ((rc = stmt_step(s, st, e)) <= 0)
		return rc;
	*value = sqlite3_column_double(st, 0);
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
		if (stmt_write(s, st, e) != 0)
			return -1;
	}
	return 0;
}

static int
each_outcome(struct row *r,
    int (*f)(void *, int64_t trial, size_t i, double value), void *arg)
{
	int64_t trial, position;
	double value;
	int end = 0;

	while (row_walk(r, &end)) {
		trial = row_int(r, 0, 1, ROW_INT_MAX);
		position = row_int(r, 1, 1, INT32_MAX);
		value = row_real(r, 2);
		end = r->bad ? -1 : f(arg, trial, (size_t)position - 1, value);
	}
	return end;
}

int
store_walk_outcomes(struct store *s,
    int (*f)(void *, int64_t trial, size_t i, double value), void *arg,
    struct err *e)
{
	struct row r = row_begin(s, STMT_OUTCOME_EACH, "t_outcome", 2, e);

	return each_outcome(&r, f, arg);
}

/* Where the values of a trial are written. */
struct target {
	double *values;
	size_t n;
};

static int
row_outcome_on_value(void *arg, int64_t trial, size_t i, double value)
{
	struct target *to = arg;

	(void)trial;
	if (i < to->n)
		to->values[i] = value;
	return 0;
}

int
store_outcome_get(
    struct store *s, int64_t trial, size_t n, double *values, struct err *e)
{
	struct row r = row_begin(s, STMT_OUTCOME_GET, "t_outcome", 2, e);
	struct target to = { values, n };
	size_t i;

	if (r.st == NULL)
		return -1;
	for (i = 0; i < n; i++)
		values[i] = NAN;
	stmt_int(r.st, 1, trial);
	return each_outcome(&r, row_outcome_on_value, &to);
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
store_front_clear(struct store *s, struct err *e)
{
	sqlite3_stmt *st = stmt_get(s, STMT_FRONT_CLEAR, e);

	return st == NULL ? -1 : stmt_write(s, st, e);
}

int
store_walk_front(struct store *s,
    int (*f)(void *, int64_t trial, bool inside, bool better), void *arg,
    struct err *e)
{
	struct row r = row_begin(s, STMT_FRONT_EACH, "t_front", 1, e);
	bool inside, better;
	int64_t trial;
	int end = 0;

	while (row_walk(&r, &end)) {
		trial = row_int(&r, 0, 1, ROW_INT_MAX);
		inside = row_bool(&r, 1);
		better = row_bool(&r, 2);
		end = r.bad ? -1 : f(arg, trial, inside, better);
	}
	return end;
}

int
store_walk_failed(struct store *s,
    int (*f)(void *, int64_t trial, enum end_class), void *arg, struct err *e)
{
	struct row r = row_begin(s, STMT_TRIAL_FAILED, "t_trial", 1, e);
	enum end_class last;
	int64_t trial;
	int end = 0;

	while (row_walk(&r, &end)) {
		trial = row_int(&r, 0, 1, ROW_INT_MAX);
		last = row_class(&r, 1);
		end = r.bad ? -1 : f(arg, trial, last);
	}
	return end;
}
