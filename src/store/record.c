/*
 * Records of a running study: reports, decisions, events, medians, and the
 * queue of settings.  Each record takes the next number of one counter, which
 * gives all records one order.  Without a number: t_gpu (the latest state of
 * each GPU) and t_left (artifacts of attempts).
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/base/search.h"
#include "src/store/row-block.h"

struct store_name {
	char *name;
	int64_t id;
};

void
store_names_clear(struct store *s)
{
	size_t i;

	for (i = 0; i < s->n_names; i++)
		free(s->names[i].name);
	free(s->names);
	s->names = NULL;
	s->n_names = 0;
}

/* Index of the first cached name that is not less than name. */
static size_t
find_name(const struct store *s, const char *name)
{
	size_t at;

	SEARCH_FIRST(at, s->n_names, strcmp(s->names[at].name, name) < 0);
	return at;
}

/* The id of a name in t_name; adds a new one. */
static int
intern(struct store *s, const char *name, int64_t *id, struct err *e)
{
	sqlite3_stmt *st = stmt_get(s, STMT_NAME_GET, e);
	int rc;

	if (st == NULL)
		return -1;
	stmt_text(st, 1, name);
	if ((rc = stmt_step(s, st, e)) < 0)
		return -1;
	*id = sqlite3_column_int64(st, 0);
	stmt_done(st);
	if (rc > 0)
		return 0;
	if ((st = stmt_get(s, STMT_NAME_ADD, e)) == NULL)
		return -1;
	stmt_text(st, 1, name);
	if (stmt_write(s, st, e) != 0)
		return -1;
	*id = sqlite3_last_insert_rowid(s->db);
	s->new_names |= *id > 1; /* the first one is the study's */
	return 0;
}

int
store_name_id(struct store *s, const char *name, int64_t *id, struct err *e)
{
	size_t i = find_name(s, name);

	if (i < s->n_names && strcmp(s->names[i].name, name) == 0) {
		*id = s->names[i].id;
		return 0;
	}
	if (intern(s, name, id, e) != 0)
		return -1;
	s->names = xreallocarray(s->names, s->n_names + 1, sizeof *s->names);
	memmove(s->names + i + 1, s->names + i,
	    (s->n_names - i) * sizeof *s->names);
	s->names[i] = (struct store_name){ xstrdup(name), *id };
	s->n_names++;
	return 0;
}

int
store_metric_add(struct store *s, int64_t trial, int attempt, const char *name,
    int64_t step, double value, int64_t time_us, struct err *e)
{
	struct row_report r = {
		.trial = trial,
		.attempt = attempt,
		.step = step,
		.time_us = time_us,
		.value = value,
	};

	if (store_name_id(s, name, &r.name_id, e) != 0)
		return -1;
	r.seq = ++s->seq;
	return row_block_add(s, &r, e);
}

int
store_metric_exists(struct store *s, int64_t trial, int attempt,
    const char *name, int64_t step, double value, int64_t time_us,
    struct err *e)
{
	sqlite3_stmt *st = stmt_get(s, STMT_METRIC_EXISTS, e);
	int64_t id;
	int rc;

	if (st == NULL || store_name_id(s, name, &id, e) != 0)
		return -1;
	stmt_int(st, 1, id);
	stmt_int(st, 2, trial);
	stmt_int(st, 3, step);
	stmt_int(st, 4, attempt);
	stmt_real(st, 5, value);
	stmt_int(st, 6, time_us);
	if ((rc = stmt_step(s, st, e)) > 0)
		stmt_done(st);
	return rc;
}

int
store_spent_add(struct store *s, double seconds, double dollars, struct err *e)
{
	sqlite3_stmt *st = stmt_get(s, STMT_SPENT_ADD, e);

	if (st == NULL)
		return -1;
	stmt_int(st, 1, s->seq);
	stmt_real(st, 2, seconds);
	stmt_real(st, 3, dollars);
	return stmt_write(s, st, e);
}

int
store_spent_past(struct store *s, int64_t trial, double *seconds,
    double *dollars, struct err *e)
{
	sqlite3_stmt *st = stmt_get(s, STMT_SPENT_PAST, e);

	if (st == NULL)
		return -1;
	stmt_int(st, 1, trial);
	if (stmt_step(s, st, e) < 0)
		return -1;
	*seconds = stmt_col_real(st, 0);
	*dollars = stmt_col_real(st, 1);
	stmt_done(st);
	return 0;
}

/* As in the column; is_paused tells a pause and a resume from the others. */
static const char *const verdicts[] = { [STORE_KEEP] = "keep",
	[STORE_STOP] = "stop",
	[STORE_SUSPENDED] = "suspended",
	[STORE_PAUSE] = "stop",
	[STORE_RESUME] = "keep" };

/* The columns from 12 on; without a look they stay NULL. */
static void
put_look(sqlite3_stmt *st, const struct store_look *look)
{
	if (look == NULL)
		return;
	stmt_int(st, 12, look->rank);
	stmt_real(st, 13, look->hindsight);
	stmt_int(st, 14, look->budget);
	stmt_int(st, 15, look->price);
	stmt_int(st, 16, look->spent);
}

int
store_stop_add(struct store *s, const struct store_stop *stop, struct err *e)
{
	sqlite3_stmt *st = stmt_get(s, STMT_STOP_ADD, e);
	bool pause = stop->verdict == STORE_PAUSE;
	bool resume = stop->verdict == STORE_RESUME;

	if (st == NULL)
		return -1;
	stmt_int(st, 1, ++s->seq);
	stmt_int(st, 2, stop->trial);
	stmt_int(st, 3, stop->step);
	stmt_text(st, 4, stop->rule);
	stmt_real(st, 5, stop->value);
	stmt_real(st, 6, stop->threshold);
	stmt_int(st, 7, stop->pool);
	stmt_text(st, 8, verdicts[stop->verdict]);
	stmt_line(st, 9, stop->why);
	stmt_int(st, 10, stop->time_us);
	stmt_int(st, 11, pause || resume);
	put_look(st, stop->look);
	if (stop->metric != NULL)
		stmt_text(st, 17, stop->metric);
	if (stop->unit != NULL)
		stmt_text(st, 18, stop->unit);
	if (stop->metric != NULL || stop->unit != NULL)
		stmt_int(st, 19, stop->at);
	return stmt_write(s, st, e);
}

int
store_stop_late(struct store *s, int64_t trial, struct err *e)
{
	sqlite3_stmt *st = stmt_get(s, STMT_STOP_LATE, e);

	if (st == NULL)
		return -1;
	stmt_int(st, 1, trial);
	return stmt_write(s, st, e);
}

int
store_event_add(struct store *s, int64_t time_us, enum log_level level,
    const char *area, int64_t trial, int attempt, const char *text,
    struct err *e)
{
	sqlite3_stmt *st = stmt_get(s, STMT_EVENT_ADD, e);

	if (st == NULL)
		return -1;
	stmt_int(st, 1, ++s->seq);
	stmt_int(st, 2, time_us);
	stmt_text(st, 3, log_level_name(level));
	stmt_text(st, 4, area);
	stmt_int_or(st, 5, trial, 0);
	stmt_int_or(st, 6, attempt, 0);
	stmt_line(st, 7, text);
	return stmt_write(s, st, e);
}

int
store_suggestion_add(
    struct store *s, const struct store_suggestion *sugg, struct err *e)
{
	sqlite3_stmt *st = stmt_get(s, STMT_SUGGESTION_ADD, e);

	if (st == NULL)
		return -1;
	stmt_int(st, 1, sugg->trial);
	stmt_text(st, 2, sugg->strategy);
	stmt_text(st, 3, sugg->made_by);
	stmt_real(st, 4, sugg->seconds);
	stmt_int(st, 5, sugg->redraws);
	stmt_int_or(st, 6, sugg->same_as, 0);
	stmt_int_or(st, 7, sugg->from_trial, 0);
	stmt_text(st, 8, sugg->why);
	stmt_real(st, 9, sugg->memory > 0 ? sugg->memory : NAN);
	stmt_real(st, 10, sugg->fits > 0 ? sugg->fits : NAN);
	return stmt_write(s, st, e);
}

int
store_median_put(
    struct store *s, int64_t step, int64_t trials, double median, struct err *e)
{
	sqlite3_stmt *st = stmt_get(s, STMT_MEDIAN_PUT, e);

	if (st == NULL)
		return -1;
	stmt_int(st, 1, step);
	stmt_int(st, 2, trials);
	stmt_real(st, 3, median);
	return stmt_write(s, st, e);
}

int
store_queue_add(struct store *s, const char *params, enum trial_source source,
    struct err *e)
{
	sqlite3_stmt *st = stmt_get(s, STMT_QUEUE_ADD, e);

	if (st == NULL)
		return -1;
	stmt_text(st, 1, params);
	stmt_text(st, 2, trial_source_name(source));
	return stmt_write(s, st, e);
}

int
store_queue_next(struct store *s, int64_t *id, char **params,
    enum trial_source *source, struct err *e)
{
	struct row r = row_begin(s, STMT_QUEUE_NEXT, "t_queue", 1, e);
	int rc;

	if (r.st == NULL || (rc = row_next(&r)) < 0)
		return -1;
	if (rc == 0)
		return 1;
	*id = row_int(&r, 0, INT64_MIN, INT64_MAX);
	*source = row_source(&r, 2);
	*params = stmt_dup(row_text(&r, 1));
	stmt_done(r.st);
	if (row_end(&r) != 0) {
		free(*params);
		*params = NULL;
	}
	return row_end(&r);
}

int
store_queue_length(struct store *s, int64_t *n, struct err *e)
{
	sqlite3_stmt *st = stmt_get(s, STMT_QUEUE_LENGTH, e);

	if (st == NULL || stmt_step(s, st, e) < 0)
		return -1;
	*n = sqlite3_column_int64(st, 0);
	stmt_done(st);
	return 0;
}

int
store_queue_take(struct store *s, int64_t id, int64_t trial, struct err *e)
{
	sqlite3_stmt *st = stmt_get(s, STMT_QUEUE_TAKE, e);

	if (st == NULL)
		return -1;
	stmt_int(st, 1, id);
	stmt_int(st, 2, trial);
	if (stmt_write(s, st, e) != 0)
		return -1;
	if (sqlite3_changes(s->db) != 1)
		return store_refuse(
		    s, e, "setting %lld of the queue is taken", (long long)id);
	return 0;
}

int
store_queue_drop(struct store *s, int64_t id, int64_t *n, struct err *e)
{
	sqlite3_stmt *st = stmt_get(s, STMT_QUEUE_DROP, e);

	if (st == NULL)
		return -1;
	stmt_int(st, 1, id);
	if (stmt_write(s, st, e) != 0)
		return -1;
	*n = sqlite3_changes(s->db);
	return 0;
}

/* An empty text is NULL. */
static void
bind_text(sqlite3_stmt *st, int i, const char *s)
{
	stmt_line(st, i, s != NULL && *s != '\0' ? s : NULL);
}

int
store_gpu_put(
    struct store *s, const struct gpu_status *g, int64_t time_us, struct err *e)
{
	sqlite3_stmt *st = stmt_get(s, STMT_GPU_PUT, e);

	if (st == NULL)
		return -1;
	stmt_text(st, 1, g->uuid);
	stmt_int_or(st, 2, g->index, -1);
	bind_text(st, 3, g->name);
	stmt_int_or(st, 4, g->memory, -1);
	stmt_int_or(st, 5, g->used, -1);
	stmt_int_or(st, 6, g->temperature, -1);
	stmt_int_or(st, 7, g->utilization, -1);
	stmt_real(st, 8, g->power >= 0 ? g->power : NAN);
	stmt_text(st, 9, g->state);
	bind_text(st, 10, g->why);
	bind_text(st, 11, g->owner);
	stmt_int(st, 12, g->trials > 0 ? g->trials : 0);
	stmt_int(st, 13, time_us);
	return stmt_write(s, st, e);
}

int
store_gpu_clear(struct store *s, struct err *e)
{
	sqlite3_stmt *st = stmt_get(s, STMT_GPU_CLEAR, e);

	return st == NULL ? -1 : stmt_write(s, st, e);
}

int
store_artifacts_put(struct store *s, int64_t trial, int attempt,
    const char *model, const char *output, struct err *e)
{
	sqlite3_stmt *st = stmt_get(s, STMT_ARTIFACTS_PUT, e);

	if (st == NULL)
		return -1;
	stmt_int(st, 1, trial);
	stmt_int(st, 2, attempt);
	bind_text(st, 3, model);
	bind_text(st, 4, output);
	return stmt_write(s, st, e);
}
