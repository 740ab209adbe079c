/* Walks over recorded rows, for a start and for replay. */

#include <string.h>

#include "src/base/err.h"
#include "src/store/row-block.h"

int
store_walk_curves(struct store *s,
    int (*f)(void *, int64_t trial, int64_t step, double value), void *arg,
    struct err *e)
{
	struct row r = row_begin(s, STMT_CURVE_EACH, "t_block", 1, e);
	struct row_block b;
	int64_t trial;
	int end = 0, i;

	while (row_walk(&r, &end)) {
		trial = row_int(&r, 0, 1, ROW_INT_MAX);
		row_block_read(&r, 1, &b);
		end = row_end(&r);
		for (i = 0; end == 0 && i < b.n; i++)
			end = f(arg, trial, b.steps[i], b.values[i]);
	}
	return end;
}

int
store_walk_last_steps(struct store *s, int64_t trial, int attempt,
    int (*f)(void *, const char *name, int64_t step, int64_t reports),
    void *arg, struct err *e)
{
	struct row r = row_begin(s, STMT_LAST_STEP, "t_metric", 1, e);
	int64_t step, reports;
	const char *name;
	int end = 0;

	if (r.st == NULL)
		return -1;
	stmt_int(r.st, 1, trial);
	stmt_int(r.st, 2, attempt);
	while (row_walk(&r, &end)) {
		name = row_text(&r, 0);
		step = row_int(&r, 1, 0, TRIAL_STEP_MAX);
		reports = row_int(&r, 2, 0, ROW_INT_MAX);
		end = r.bad ? -1 : f(arg, name, step, reports);
	}
	return end;
}

int
store_walk_medians(struct store *s,
    int (*f)(void *, int64_t step, int64_t trials), void *arg, struct err *e)
{
	struct row r = row_begin(s, STMT_MEDIAN_EACH, "t_median", 1, e);
	int64_t step, trials;
	int end = 0;

	while (row_walk(&r, &end)) {
		step = row_int(&r, 0, INT64_MIN, INT64_MAX);
		trials = row_int(&r, 1, INT64_MIN, INT64_MAX);
		end = r.bad ? -1 : f(arg, step, trials);
	}
	return end;
}

int
store_walk_reports(struct store *s, int64_t trial, int attempt,
    const char *name, int (*f)(void *, int64_t time_us, double value),
    void *arg, struct err *e)
{
	struct row r = row_begin(s, STMT_METRIC_EACH, "t_metric", 1, e);
	int64_t time_us;
	double value;
	int64_t id;
	int end = 0;

	if (r.st == NULL || store_name_id(s, name, &id, e) != 0)
		return -1;
	stmt_int(r.st, 1, id);
	stmt_int(r.st, 2, trial);
	stmt_int(r.st, 3, attempt);
	while (row_walk(&r, &end)) {
		time_us = row_int(&r, 0, 0, ROW_INT_MAX);
		value = row_real(&r, 1);
		end = r.bad ? -1 : f(arg, time_us, value);
	}
	return end;
}

int
store_walk_series(struct store *s, int64_t trial, const char *name,
    int (*f)(void *, const struct store_report *), void *arg, struct err *e)
{
	struct row r = row_begin(s, STMT_METRIC_SERIES, "t_metric", 1, e);
	struct store_report one;
	int end = 0;

	if (r.st == NULL)
		return -1;
	stmt_int(r.st, 1, trial);
	stmt_text(r.st, 2, name);
	while (row_walk(&r, &end)) {
		one.seq = row_int(&r, 0, 0, ROW_INT_MAX);
		one.attempt = row_int(&r, 1, 0, ROW_INT_MAX);
		one.step = row_int(&r, 2, 0, TRIAL_STEP_MAX);
		one.value = row_real(&r, 3);
		end = r.bad ? -1 : f(arg, &one);
	}
	return end;
}

int
store_walk_looks(struct store *s,
    int (*f)(void *, const struct store_stopped *), void *arg, struct err *e)
{
	struct row r = row_begin(s, STMT_LOOK_EACH, "t_stop", 1, e);
	struct store_stopped one;
	int end = 0;

	while (row_walk(&r, &end)) {
		one = (struct store_stopped){
			.trial = row_int(&r, 0, 1, ROW_INT_MAX),
			.step = row_int(&r, 1, -1, TRIAL_STEP_MAX),
			.looked = row_bool(&r, 2),
			.price = row_int(&r, 3, 0, TRIAL_STEP_MAX),
			.backend = row_text_or(&r, 4),
		};
		end = r.bad ? -1 : f(arg, &one);
	}
	return end;
}

int
store_walk_stopped(struct store *s,
    int (*f)(void *, int64_t trial, int64_t step, bool late), void *arg,
    struct err *e)
{
	struct row r = row_begin(s, STMT_RECORD_STOP, "stops", 1, e);
	int64_t trial, step;
	int end = 0;
	bool late;

	while (row_walk(&r, &end)) {
		trial = row_int(&r, 0, 1, row_int(&r, 2, 0, ROW_INT_MAX));
		step = row_int(&r, 1, 0, TRIAL_STEP_MAX);
		late = row_bool(&r, 3);
		end = r.bad ? -1 : f(arg, trial, step, late);
	}
	return end;
}
