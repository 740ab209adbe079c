/*
 * Reads and writes rows of t_trial.  The schema checks state transitions; its
 * triggers maintain sums over attempts.
 */

#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/store/row-columns.h"
#include "src/store/row-block.h"

/* The numbers of parameters are those of store_trial_add and row_trial_put_row. */
#define TRIAL_COLUMNS                                                      \
	"trial, state, cause, objective, last_step, reports, attempts, "   \
	"failures, free_retries, alone, not_before_us, started_us, "       \
	"ended_us, source, backend, why, params, paused_step, violation, " \
	"from_trial, member, until_step, forgotten, outside, setting, "    \
	"replicate, own_steps, git_commit"

const char row_trial_add[] =
    "INSERT OR FAIL INTO t_trial (trial, state, cause, objective, "
    "last_step, "
    "reports, attempts, failures, free_retries, alone, "
    "not_before_us, source, backend, why, params, begin_seq, "
    "steps_run, steps_skipped, seconds, from_trial, member, "
    "until_step, setting, replicate, own_steps, git_commit) "
    "SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, "
    "?14, ?15, ?16, 0, 0, 0, ?17, ?18, ?19, ?20, ?21, "
    "?22, ?23 "
    "WHERE ?1 = (SELECT coalesce(max(trial), 0) + 1 FROM t_trial)";
const char row_trial_get[] =
    "SELECT " TRIAL_COLUMNS " FROM t_trial WHERE trial = ?1";
/* Only the columns that reports change: fires no trigger, touches few indexes. */
const char row_trial_report[] =
    "UPDATE OR FAIL t_trial SET objective = ?4, last_step = ?5, "
    "reports = ?6 WHERE trial = ?1 AND state = ?2 AND cause = ?3 AND "
    "attempts = ?7 AND failures = ?8 AND free_retries = ?9 AND "
    "alone = ?10 AND not_before_us = ?11 AND source = ?12 AND "
    "backend IS ?13 AND why IS ?14 AND paused_step IS ?15";
const char row_trial_put[] =
    "UPDATE OR FAIL t_trial SET state = ?2, cause = ?3, "
    "objective = ?4, last_step = ?5, reports = ?6, attempts = ?7, "
    "failures = ?8, free_retries = ?9, alone = ?10, "
    "not_before_us = ?11, source = ?12, backend = ?13, why = ?14, "
    "paused_step = ?15 WHERE trial = ?1";

enum trial_source
row_source(struct row *r, int i)
{
	enum trial_source source = SOURCE_STRATEGY;

	if (!trial_source_parse(row_text(r, i), &source))
		(void)row_damaged(r, i, "not a source of a setting");
	return source;
}

void
store_trial_fini(struct store_trial *t)
{
	free(t->params);
	free(t->backend);
	free(t->why);
	free(t->outside);
	free(t->commit);
	*t = (struct store_trial){ 0 };
}

static enum stop_cause
row_cause(struct row *r, int i)
{
	enum stop_cause cause = STOP_NONE;

	if (!stop_cause_parse(row_text(r, i), &cause))
		(void)row_damaged(r, i, "not a cause of a stop");
	return cause;
}

/* A row of all columns; its texts are borrowed. */
static int
trial_row(struct row *r, struct store_trial *t)
{
	int64_t number = row_int(r, 0, 1, ROW_INT_MAX);

	*t = (struct store_trial){
		.number = number,
		.state = row_state(r, 1),
		.cause = row_cause(r, 2),
		.objective = row_real(r, 3),
		.last_step = row_int(r, 4, -1, TRIAL_STEP_MAX),
		.reports = row_int(r, 5, 0, ROW_INT_MAX),
		.attempts = row_count(r, 6),
		.failures = row_count(r, 7),
		.free_retries = row_count(r, 8),
		.alone = row_bool(r, 9),
		.not_before_us = row_int(r, 10, 0, ROW_INT_MAX),
		.started_us = row_int_or(r, 11, 0, 0, ROW_INT_MAX),
		.ended_us = row_int_or(r, 12, 0, 0, ROW_INT_MAX),
		.source = row_source(r, 13),
		.backend = row_text_or(r, 14),
		.why = row_text_or(r, 15),
		.params = row_text(r, 16),
		.paused_step = row_int_or(r, 17, -1, -1, TRIAL_STEP_MAX),
		.violation = row_real(r, 18),
		.from = row_int_or(r, 19, 0, 1, number - 1),
		.member = row_int_or(r, 20, 0, 1, INT32_MAX),
		.until = row_int_or(r, 21, 0, 1, TRIAL_STEP_MAX),
		.forgotten = row_bool(r, 22),
		.outside = row_text_or(r, 23),
		.setting = row_int_or(r, 24, 0, 1, number),
		.replicate = (int)row_int_or(r, 25, 0, 1, INT32_MAX),
		.own_steps = row_int_or(r, 26, 0, 1, TRIAL_STEP_MAX),
		.commit = row_text_or(r, 27),
	};
	t->is_paused = t->paused_step >= 0;
	if (!t->is_paused)
		t->paused_step = 0;
	return row_end(r);
}

/* The columns of STMT_TRIAL_EACH; the other members are 0. */
static int
store_trial_row_ended(struct row *r, struct store_trial *t)
{
	int64_t number = row_int(r, 0, 1, ROW_INT_MAX);

	*t = (struct store_trial){
		.number = number,
		.state = row_state(r, 1),
		.source = row_source(r, 2),
		.params = row_text(r, 3),
		.from = row_int_or(r, 4, 0, 1, number - 1),
		.member = row_int_or(r, 5, 0, 1, INT32_MAX),
		.forgotten = row_bool(r, 6),
		.outside = row_text_or(r, 7),
		.setting = row_int_or(r, 8, 0, 1, number),
		.replicate = (int)row_int_or(r, 9, 0, 1, INT32_MAX),
		.own_steps = row_int_or(r, 10, 0, 1, TRIAL_STEP_MAX),
		.commit = row_text_or(r, 11),
	};
	return row_end(r);
}

int
store_trial_get(
    struct store *s, int64_t number, struct store_trial *t, struct err *e)
{
	struct row r = row_begin(s, STMT_TRIAL_GET, "t_trial", 1, e);
	int rc;

	if (r.st == NULL)
		return -1;
	stmt_int(r.st, 1, number);
	if ((rc = row_next(&r)) < 0)
		return -1;
	if (rc == 0)
		return err_set(e, ERR_STORE, "%s: there is no trial %lld",
		    s->path, (long long)number);
	if (trial_row(&r, t) != 0) {
		*t = (struct store_trial){ 0 };
		stmt_done(r.st);
		return -1;
	}
	t->backend = stmt_dup(t->backend);
	t->why = stmt_dup(t->why);
	t->outside = stmt_dup(t->outside);
	t->params = stmt_dup(t->params);
	t->commit = stmt_dup(t->commit);
	stmt_done(r.st);
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
	stmt_text(st, 12, trial_source_name(t->source));
	stmt_text(st, 13, t->backend);
	stmt_line(st, 14, t->why);
	stmt_text(st, 15, t->params);
	stmt_int(st, 16, ++s->seq);
	stmt_int_or(st, 17, t->from, 0);
	stmt_int_or(st, 18, t->member, 0);
	stmt_int_or(st, 19, t->until, 0);
	stmt_int_or(st, 20, t->setting, 0);
	stmt_int_or(st, 21, t->replicate, 0);
	stmt_int_or(st, 22, t->own_steps, 0);
	stmt_text(st, 23, t->commit);
	if (stmt_write(s, st, e) != 0)
		return -1;
	if (sqlite3_changes(s->db) != 1)
		return store_refuse(
		    s, e, "trial %lld is not the next", (long long)t->number);
	return 0;
}

int
store_own_steps_put(
    struct store *s, int64_t trial, int64_t steps, struct err *e)
{
	sqlite3_stmt *st = stmt_get(s, STMT_OWN_STEPS_PUT, e);

	if (st == NULL)
		return -1;
	stmt_int(st, 1, trial);
	stmt_int(st, 2, steps);
	return stmt_write(s, st, e);
}

int
store_setting_put(
    struct store *s, const struct store_setting *row, struct err *e)
{
	sqlite3_stmt *st = stmt_get(s, STMT_SETTING_PUT, e);

	if (st == NULL)
		return -1;
	stmt_int(st, 1, row->number);
	stmt_text(st, 2, row->state);
	stmt_int(st, 3, row->completed);
	stmt_real(st, 4, row->value);
	stmt_real(st, 5, row->mean);
	stmt_real(st, 6, row->error);
	stmt_int_or(st, 7, row->trial, 0);
	stmt_text(st, 8, row->params);
	stmt_real(st, 9, row->violation);
	return stmt_write(s, st, e);
}

int
store_setting_outcome_put(
    struct store *s, const struct store_setting_outcome *row, struct err *e)
{
	sqlite3_stmt *st = stmt_get(s, STMT_SETTING_OUTCOME_PUT, e);

	if (st == NULL)
		return -1;
	stmt_int(st, 1, row->setting);
	stmt_int(st, 2, row->position);
	stmt_real(st, 3, row->value);
	stmt_real(st, 4, row->mean);
	stmt_real(st, 5, row->error);
	stmt_real(st, 6, row->violation);
	return stmt_write(s, st, e);
}

/*
 * The same parameter numbers in all writing statements; the number of rows, or
 * -1.
 */
static int
row_trial_put_row(struct store *s, enum stmt_id id, const struct store_trial *t,
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
	stmt_text(st, 12, trial_source_name(t->source));
	stmt_text(st, 13, t->backend);
	stmt_line(st, 14, t->why);
	stmt_int_or(st, 15, t->is_paused ? t->paused_step : -1, -1);
	return stmt_write(s, st, e) != 0 ? -1 : sqlite3_changes(s->db);
}

/* Columns that are final once the trial has ended. */
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
store_trial_revive(struct store *s, int64_t trial, struct err *e)
{
	sqlite3_stmt *st = stmt_get(s, STMT_TRIAL_REVIVE, e);

	if (st == NULL)
		return -1;
	stmt_int(st, 1, trial);
	return stmt_write(s, st, e);
}

int
store_trial_put(struct store *s, const struct store_trial *t, struct err *e)
{
	bool final = trial_state_final(t->state), lost = s->lost;
	int n = 0;

	if (!final)
		n = row_trial_put_row(s, STMT_TRIAL_REPORT, t, e);
	if (n == 0)
		n = row_trial_put_row(s, STMT_TRIAL_PUT, t, e);
	if (n == 0)
		return store_refuse(
		    s, e, "there is no trial %lld", (long long)t->number);
	if (n > 0 && (!final || put_end(s, t, e) == 0)) {
		if (final)
			row_blocks_forget(s, t->number);
		return 0;
	}
	if (!lost) {
		(void)err_add(e, "trial %lld", (long long)t->number);
		(void)err_add(&s->lost_err, "trial %lld", (long long)t->number);
	}
	return -1;
}

/* Give a trial that has not ended to the function, with all its columns. */
static int
walk_open_trial(struct store *s, int64_t number,
    int (*f)(void *, const struct store_trial *), void *arg, struct err *e)
{
	struct store_trial t = { 0 };
	int end = store_trial_get(s, number, &t, e);

	if (end == 0)
		end = f(arg, &t);
	store_trial_fini(&t);
	return end;
}

int
store_walk_trials(struct store *s, int (*f)(void *, const struct store_trial *),
    void *arg, struct err *e)
{
	struct row r = row_begin(s, STMT_TRIAL_EACH, "t_trial", 1, e);
	struct store_trial t;
	int64_t last = 0;
	int end = 0;

	while (row_walk(&r, &end)) {
		last = row_int(&r, 0, last + 1, last + 1);
		if (store_trial_row_ended(&r, &t) != 0)
			end = -1;
		else if (trial_state_final(t.state))
			end = f(arg, &t);
		else
			end = walk_open_trial(s, last, f, arg, e);
	}
	return end;
}
