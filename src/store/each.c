/* Walks over what is recorded, for a start and for replay. */

#include <string.h>

#include "src/base/err.h"
#include "src/store/stmt.h"

int
store_each_trial(struct store *s, int (*f)(void *, const struct store_trial *),
    void *arg, struct err *e)
{
	sqlite3_stmt *st = stmt_get(s, STMT_TRIAL_EACH, e);
	struct store_trial t;
	int rc, end = 0;

	if (st == NULL)
		return -1;
	while (end == 0 && (rc = stmt_step(s, st, e)) != 0) {
		if (rc < 0)
			return -1;
		store_trial_row(st, &t);
		end = f(arg, &t);
	}
	stmt_done(st);
	return end;
}

int
store_each_open_attempt(struct store *s,
    int (*f)(void *, const struct store_attempt *), void *arg, struct err *e)
{
	sqlite3_stmt *st = stmt_get(s, STMT_ATTEMPT_OPEN, e);
	struct store_attempt a;
	int rc, end = 0;

	if (st == NULL)
		return -1;
	while (end == 0 && (rc = stmt_step(s, st, e)) != 0) {
		if (rc < 0)
			return -1;
		store_attempt_row(st, &a);
		end = f(arg, &a);
	}
	stmt_done(st);
	return end;
}

int
store_each_curve_row(struct store *s,
    int (*f)(void *, int64_t trial, int64_t step, double value), void *arg,
    struct err *e)
{
	sqlite3_stmt *st = stmt_get(s, STMT_CURVE_EACH, e);
	int64_t trial = 0, step = 0, next_trial, next_step;
	double value = 0;
	int rc, end = 0;

	if (st == NULL)
		return -1;
	/* The last row of each (trial, step) is its newest. */
	while (end == 0 && (rc = stmt_step(s, st, e)) != 0) {
		if (rc < 0)
			return -1;
		next_trial = sqlite3_column_int64(st, 0);
		next_step = sqlite3_column_int64(st, 1);
		if (trial != 0 && (next_trial != trial || next_step != step))
			end = f(arg, trial, step, value);
		trial = next_trial;
		step = next_step;
		value = stmt_col_real(st, 2);
	}
	if (end == 0 && trial != 0)
		end = f(arg, trial, step, value);
	stmt_done(st);
	return end;
}

int
store_each_last_step(struct store *s, int64_t trial, int attempt,
    int (*f)(void *, const char *name, int64_t step, int64_t reports),
    void *arg, struct err *e)
{
	sqlite3_stmt *st = stmt_get(s, STMT_LAST_STEP, e);
	int rc, end = 0;

	if (st == NULL)
		return -1;
	stmt_int(st, 1, trial);
	stmt_int(st, 2, attempt);
	while (end == 0 && (rc = stmt_step(s, st, e)) != 0) {
		if (rc < 0)
			return -1;
		end = f(arg, stmt_col_text(st, 0), stmt_col_int(st, 1, 0),
		    stmt_col_int(st, 2, 0));
	}
	stmt_done(st);
	return end;
}

int
store_each_report(struct store *s, int64_t trial, int attempt, const char *name,
    int (*f)(void *, int64_t time_us, double value), void *arg, struct err *e)
{
	sqlite3_stmt *st = stmt_get(s, STMT_METRIC_EACH, e);
	int64_t id;
	int rc, end = 0;

	if (st == NULL || store_name_id(s, name, &id, e) < 0)
		return -1;
	stmt_int(st, 1, id);
	stmt_int(st, 2, trial);
	stmt_int(st, 3, attempt);
	while (end == 0 && (rc = stmt_step(s, st, e)) != 0) {
		if (rc < 0)
			return -1;
		end = f(arg, stmt_col_int(st, 0, 0), stmt_col_real(st, 1));
	}
	stmt_done(st);
	return end;
}
