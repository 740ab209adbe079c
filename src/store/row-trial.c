/*
 * Rows of t_trial, in and out.  Which moves of the state are right is the
 * schema's business; sums over attempts are made by its triggers.
 */

#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/store/stmt.h"

static const char *const sources[] = { "strategy", "enqueue", "default" };

const char *
store_source(const char *name)
{
	size_t i;

	for (i = 1; name != NULL && i < sizeof sources / sizeof *sources; i++)
		if (strcmp(name, sources[i]) == 0)
			return sources[i];
	return sources[0];
}

void
store_trial_fini(struct store_trial *t)
{
	free(t->params);
	free(t->backend);
	free(t->why);
	*t = (struct store_trial){ 0 };
}

void
store_trial_row(sqlite3_stmt *st, struct store_trial *t)
{
	*t = (struct store_trial){
		.number = stmt_col_int(st, 0, 0),
		.objective = stmt_col_real(st, 3),
		.last_step = stmt_col_int(st, 4, -1),
		.reports = stmt_col_int(st, 5, 0),
		.attempts = (int)stmt_col_int(st, 6, 0),
		.failures = (int)stmt_col_int(st, 7, 0),
		.free_retries = (int)stmt_col_int(st, 8, 0),
		.alone = stmt_col_int(st, 9, 0) != 0,
		.not_before_us = stmt_col_int(st, 10, 0),
		.started_us = stmt_col_int(st, 11, 0),
		.ended_us = stmt_col_int(st, 12, 0),
		.source = store_source(stmt_col_text(st, 13)),
		.backend = stmt_col_text(st, 14),
		.why = stmt_col_text(st, 15),
		.params = stmt_col_text(st, 16),
		.is_paused = stmt_col_int(st, 17, -1) >= 0,
		.paused_step = stmt_col_int(st, 17, 0),
		.violation = stmt_col_real(st, 18),
		.from = stmt_col_int(st, 19, 0),
		.member = stmt_col_int(st, 20, 0),
		.until = stmt_col_int(st, 21, 0),
	};
	/* The schema's CHECKs leave no other names. */
	(void)trial_state_parse(stmt_col_text(st, 1), &t->state);
	(void)stop_cause_parse(stmt_col_text(st, 2), &t->cause);
}

int
store_trial_get(
    struct store *s, int64_t number, struct store_trial *t, struct err *e)
{
	sqlite3_stmt *st = stmt_get(s, STMT_TRIAL_GET, e);
	int rc;

	if (st == NULL)
		return -1;
	stmt_int(st, 1, number);
	if ((rc = stmt_step(s, st, e)) < 0)
		return -1;
	if (rc == 0)
		return err_set(e, ERR_STORE, "%s: there is no trial %lld",
		    s->path, (long long)number);
	store_trial_row(st, t);
	t->backend = stmt_dup(t->backend);
	t->why = stmt_dup(t->why);
	t->params = stmt_dup(t->params);
	stmt_done(st);
	return 0;
}

int
store_trial_add(struct store *s, const struct store_trial *t, struct err *e)
{
	sqlite3_stmt *st = stmt_get(s, STMT_TRIAL_ADD, e);

	if (st == NULL)
		return -1;
	stmt_int(st, 1, t->number);
	stmt_text(st, 2, trial_state_name(t->state));
	stmt_text(st, 3, stop_cause_name(t->cause));
	stmt_real(st, 4, t->objective);
	stmt_int(st, 5, t->last_step);
	stmt_int(st, 6, t->reports);
	stmt_int(st, 7, t->attempts);
	stmt_int(st, 8, t->failures);
	stmt_int(st, 9, t->free_retries);
	stmt_int(st, 10, t->alone);
	stmt_int(st, 11, t->not_before_us);
	stmt_text(st, 12, store_source(t->source));
	stmt_text(st, 13, t->backend);
	stmt_text(st, 14, t->why);
	stmt_text(st, 15, t->params);
	stmt_int(st, 16, ++s->seq);
	stmt_int_or(st, 17, t->from, 0);
	stmt_int_or(st, 18, t->member, 0);
	stmt_int_or(st, 19, t->until, 0);
	if (stmt_write(s, st, e) < 0)
		return -1;
	if (sqlite3_changes(s->db) != 1)
		return err_set(e, ERR_STORE, "%s: trial %lld is not the next",
		    s->path, (long long)t->number);
	return 0;
}

/* The same places in the statements that put; the number of rows, or -1. */
static int
put_row(struct store *s, enum stmt_id id, const struct store_trial *t,
    struct err *e)
{
	sqlite3_stmt *st = stmt_get(s, id, e);

	if (st == NULL)
		return -1;
	stmt_int(st, 1, t->number);
	stmt_text(st, 2, trial_state_name(t->state));
	stmt_text(st, 3, stop_cause_name(t->cause));
	stmt_real(st, 4, t->objective);
	stmt_int(st, 5, t->last_step);
	stmt_int(st, 6, t->reports);
	stmt_int(st, 7, t->attempts);
	stmt_int(st, 8, t->failures);
	stmt_int(st, 9, t->free_retries);
	stmt_int(st, 10, t->alone);
	stmt_int(st, 11, t->not_before_us);
	stmt_text(st, 12, store_source(t->source));
	stmt_text(st, 13, t->backend);
	stmt_text(st, 14, t->why);
	stmt_int_or(st, 15, t->is_paused ? t->paused_step : -1, -1);
	return stmt_write(s, st, e) < 0 ? -1 : sqlite3_changes(s->db);
}

/* What is settled once the trial is over. */
static int
put_end(struct store *s, const struct store_trial *t, struct err *e)
{
	sqlite3_stmt *st = stmt_get(s, STMT_TRIAL_END, e);

	if (st == NULL)
		return -1;
	stmt_int(st, 1, t->number);
	stmt_int(st, 2, ++s->seq);
	stmt_int_or(st, 3, t->ended_us, 0);
	stmt_real(st, 4, t->violation);
	return stmt_write(s, st, e);
}

int
store_trial_put(struct store *s, const struct store_trial *t, struct err *e)
{
	bool final = trial_state_final(t->state);
	int n = 0;

	if (!final)
		n = put_row(s, STMT_TRIAL_REPORT, t, e);
	if (n == 0)
		n = put_row(s, STMT_TRIAL_PUT, t, e);
	if (n == 0)
		return err_set(e, ERR_STORE, "%s: there is no trial %lld",
		    s->path, (long long)t->number);
	if (n < 0 || (final && put_end(s, t, e) < 0))
		return err_add(e, "trial %lld", (long long)t->number);
	return 0;
}
