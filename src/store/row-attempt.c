/* Rows of t_attempt, in and out. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/store/stmt.h"

void
store_attempt_fini(struct store_attempt *a)
{
	free(a->uuid);
	free(a->backend);
	free(a->place);
	free(a->log);
	free(a->why);
	*a = (struct store_attempt){ 0 };
}

void
store_attempt_row(sqlite3_stmt *st, struct store_attempt *a)
{
	const char *end;

	*a = (struct store_attempt){
		.trial = stmt_col_int(st, 0, 0),
		.attempt = (int)stmt_col_int(st, 1, 0),
		.uuid = stmt_col_text(st, 2),
		.backend = stmt_col_text(st, 3),
		.place = stmt_col_text(st, 4),
		.slot = (int)stmt_col_int(st, 5, 0),
		.state = TRIAL_COMPLETED,
		.started_us = stmt_col_int(st, 7, 0),
		.ended_us = stmt_col_int(st, 8, 0),
		.exit_code = (int)stmt_col_int(st, 9, -1),
		.signal = (int)stmt_col_int(st, 10, 0),
		.resumed_step = stmt_col_int(st, 12, -1),
		.log_offset = stmt_col_int(st, 13, 0),
		.metrics_offset = stmt_col_int(st, 14, 0),
		.log_skip = stmt_col_int(st, 15, 0) != 0,
		.metrics_skip = stmt_col_int(st, 16, 0) != 0,
		.max_rss = stmt_col_int(st, 17, 0),
		.cpu_us = stmt_col_int(st, 18, 0),
		.log = stmt_col_text(st, 19),
		.why = stmt_col_text(st, 20),
		.billable_s = stmt_col_real(st, 21),
		.cost = stmt_col_real(st, 22),
		.worst_cost = stmt_col_real(st, 23),
		.trained_s = stmt_col_real(st, 24),
		.usage = {
			.gpus = (int)stmt_col_int(st, 25, 0),
			.energy = stmt_col_real(st, 26),
			.memory = stmt_col_real(st, 27),
			.busy = stmt_col_real(st, 28),
			.seen = stmt_col_real(st, 29),
		},
	};
	a->billed = !isnan(a->billable_s);
	a->priced = !isnan(a->cost);
	(void)trial_state_parse(stmt_col_text(st, 6), &a->state);
	if ((end = stmt_col_text(st, 11)) != NULL)
		(void)end_class_parse(end, &a->end_class);
}

int
store_attempt_get(struct store *s, int64_t trial, int attempt,
    struct store_attempt *a, struct err *e)
{
	sqlite3_stmt *st = stmt_get(s, STMT_ATTEMPT_GET, e);
	int rc;

	if (st == NULL)
		return -1;
	stmt_int(st, 1, trial);
	stmt_int(st, 2, attempt);
	if ((rc = stmt_step(s, st, e)) < 0)
		return -1;
	if (rc == 0)
		return err_set(e, ERR_STORE,
		    "%s: there is no attempt %d of trial %lld", s->path,
		    attempt, (long long)trial);
	store_attempt_row(st, a);
	a->uuid = stmt_dup(a->uuid);
	a->backend = stmt_dup(a->backend);
	a->place = stmt_dup(a->place);
	a->log = stmt_dup(a->log);
	a->why = stmt_dup(a->why);
	stmt_done(st);
	return 0;
}

static void
bind_usage(sqlite3_stmt *st, const struct store_usage *u)
{
	bool any = u->gpus > 0;

	stmt_int_or(st, 26, any ? u->gpus : 0, 0);
	stmt_real(st, 27, any ? u->energy : NAN);
	stmt_int_or(
	    st, 28, any && u->memory >= 0 ? llround(u->memory) : -1, -1);
	stmt_real(st, 29, any ? u->busy : NAN);
	stmt_real(st, 30, any ? u->seen : NAN);
}

/* The same places in all three statements. */
static void
bind_attempt(sqlite3_stmt *st, const struct store_attempt *a)
{
	stmt_int(st, 1, a->trial);
	stmt_int(st, 2, a->attempt);
	stmt_text(st, 3, a->uuid);
	stmt_text(st, 4, a->backend);
	stmt_text(st, 5, a->place);
	stmt_int(st, 6, a->slot);
	stmt_text(st, 7,
	    trial_state_placed(a->state) ? trial_state_name(a->state)
					 : "ended");
	stmt_int_or(st, 8, a->started_us, 0);
	stmt_int_or(st, 9, a->ended_us, 0);
	stmt_int_or(st, 10, a->exit_code, -1);
	stmt_int_or(st, 11, a->signal, 0);
	stmt_text(st, 12,
	    a->end_class != END_NONE ? end_class_name(a->end_class) : NULL);
	stmt_int_or(st, 13, a->resumed_step, -1);
	stmt_int(st, 14, a->log_offset);
	stmt_int(st, 15, a->metrics_offset);
	stmt_int(st, 16, a->log_skip);
	stmt_int(st, 17, a->metrics_skip);
	stmt_int(st, 18, a->max_rss);
	stmt_int(st, 19, a->cpu_us);
	stmt_text(st, 20, a->log);
	stmt_text(st, 21, a->why);
	stmt_real(st, 22, a->billed ? a->billable_s : NAN);
	stmt_real(st, 23, a->priced ? a->cost : NAN);
	stmt_real(st, 24, a->worst_cost > 0 ? a->worst_cost : NAN);
	stmt_real(st, 25, a->trained_s > 0 ? a->trained_s : NAN);
	bind_usage(st, &a->usage);
}

int
store_attempt_add(struct store *s, const struct store_attempt *a, struct err *e)
{
	sqlite3_stmt *st = stmt_get(s, STMT_ATTEMPT_ADD, e);

	if (st == NULL)
		return -1;
	bind_attempt(st, a);
	return stmt_write(s, st, e);
}

/* The number of rows, or -1. */
static int
put_row(struct store *s, enum stmt_id id, const struct store_attempt *a,
    struct err *e)
{
	sqlite3_stmt *st = stmt_get(s, id, e);

	if (st == NULL)
		return -1;
	bind_attempt(st, a);
	return stmt_write(s, st, e) < 0 ? -1 : sqlite3_changes(s->db);
}

int
store_attempt_put(struct store *s, const struct store_attempt *a, struct err *e)
{
	int n = 0;

	if (a->end_class == END_NONE)
		n = put_row(s, STMT_ATTEMPT_OFFSETS, a, e);
	if (n == 0)
		n = put_row(s, STMT_ATTEMPT_PUT, a, e);
	if (n == 0)
		return err_set(e, ERR_STORE,
		    "%s: there is no attempt %d of trial %lld", s->path,
		    a->attempt, (long long)a->trial);
	return n < 0 ? -1 : 0;
}

int
store_attempt_past(
    struct store *s, int64_t trial, struct store_past *past, struct err *e)
{
	sqlite3_stmt *st = stmt_get(s, STMT_ATTEMPT_PAST, e);

	if (st == NULL)
		return -1;
	stmt_int(st, 1, trial);
	if (stmt_step(s, st, e) < 0)
		return -1;
	past->capacity = (int)stmt_col_int(st, 0, 0);
	past->waits = (int)stmt_col_int(st, 1, 0);
	stmt_done(st);
	return 0;
}

int
store_committed(struct store *s, double *dollars, struct err *e)
{
	sqlite3_stmt *st = stmt_get(s, STMT_COST_GET, e);

	if (st == NULL || stmt_step(s, st, e) < 0)
		return -1;
	*dollars = stmt_col_real(st, 0);
	stmt_done(st);
	return 0;
}
