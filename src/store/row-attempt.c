/* Reads and writes rows of t_attempt. */

#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/store/row-columns.h"
#include "src/store/store-internal.h"

/* The numbers of parameters are those of bind_attempt. */
#define ATTEMPT_COLUMNS                                                       \
	"trial, attempt, uuid, backend, place, slot, state, started_us, "     \
	"ended_us, exit_code, signal, end_class, resumed_step, log_offset, "  \
	"metrics_offset, log_skip, metrics_skip, max_rss, cpu_us, log, why, " \
	"billable_seconds, cost, worst_cost, trained_seconds, gpus, "         \
	"energy_joules, gpu_memory, gpu_busy, gpu_seen, download_seconds, "   \
	"upload_seconds, cpus"

const char row_attempt_add[] =
    "INSERT OR FAIL INTO t_attempt (" ATTEMPT_COLUMNS ") VALUES (?1, ?2, ?3, "
    "?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, "
    "?18, ?19, ?20, ?21, ?22, ?23, ?24, "
    "?25, ?26, ?27, ?28, ?29, ?30, ?31, ?32, ?33)";
const char row_attempt_get[] = "SELECT " ATTEMPT_COLUMNS " FROM t_attempt "
			       "WHERE trial = ?1 AND attempt = ?2";
/* Only the columns that reading the log changes. */
const char row_attempt_offsets[] =
    "UPDATE OR FAIL t_attempt SET log_offset = ?14, "
    "metrics_offset = ?15, log_skip = ?16, metrics_skip = ?17, "
    "max_rss = ?18, cpu_us = ?19, gpus = ?26, energy_joules = ?27, "
    "gpu_memory = ?28, gpu_busy = ?29, gpu_seen = ?30 WHERE trial = ?1 "
    "AND attempt = ?2 "
    "AND uuid = ?3 AND backend = ?4 AND place IS ?5 AND slot = ?6 AND "
    "state = ?7 AND started_us IS ?8 AND ended_us IS ?9 AND "
    "exit_code IS ?10 AND signal IS ?11 AND end_class IS ?12 AND "
    "resumed_step IS ?13 AND log IS ?20 AND why IS ?21 AND "
    "billable_seconds IS ?22 AND cost IS ?23 AND worst_cost IS ?24 AND "
    "trained_seconds IS ?25 AND download_seconds IS ?31 AND "
    "upload_seconds IS ?32 AND cpus IS ?33";
const char row_attempt_put[] =
    "UPDATE OR FAIL t_attempt SET uuid = ?3, backend = ?4, place = ?5, "
    "slot = ?6, state = ?7, started_us = ?8, ended_us = ?9, "
    "exit_code = ?10, signal = ?11, end_class = ?12, "
    "resumed_step = ?13, log_offset = ?14, metrics_offset = ?15, "
    "log_skip = ?16, metrics_skip = ?17, max_rss = ?18, "
    "cpu_us = ?19, log = ?20, why = ?21, billable_seconds = ?22, "
    "cost = ?23, worst_cost = ?24, trained_seconds = ?25, "
    "gpus = ?26, gpu_seconds = (?9 - ?8) / 1e6 * ?26, "
    "energy_joules = ?27, gpu_memory = ?28, gpu_busy = ?29, "
    "gpu_seen = ?30, download_seconds = ?31, upload_seconds = ?32, "
    "cpus = ?33 "
    "WHERE trial = ?1 AND attempt = ?2";
const char row_attempt_open[] =
    "SELECT " ATTEMPT_COLUMNS " FROM t_attempt "
    "WHERE state <> 'ended' ORDER BY trial, attempt";

/* More than any number of parallel trials. */
#define SLOT_MAX 1000000

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

static enum trial_state
row_attempt_state(struct row *r, int i)
{
	enum trial_state state = TRIAL_COMPLETED;
	const char *name = row_text(r, i);

	if (strcmp(name, "ended") == 0)
		return TRIAL_COMPLETED;
	if (!trial_state_parse(name, &state) || !trial_state_placed(state))
		(void)row_damaged(r, i, "not a state of an attempt");
	return state;
}

/* All columns of an attempt; texts are borrowed. */
static int
store_attempt_row(struct row *r, struct store_attempt *a)
{
	*a = (struct store_attempt){
		.trial = row_int(r, 0, 1, ROW_INT_MAX),
		.attempt = row_count(r, 1),
		.uuid = row_text(r, 2),
		.backend = row_text(r, 3),
		.place = row_text_or(r, 4),
		.slot = (int)row_int(r, 5, 0, SLOT_MAX),
		.state = row_attempt_state(r, 6),
		.started_us = row_int_or(r, 7, 0, 0, ROW_INT_MAX),
		.ended_us = row_int_or(r, 8, 0, 0, ROW_INT_MAX),
		.exit_code = (int)row_int_or(r, 9, -1, INT_MIN, INT_MAX),
		.signal = (int)row_int_or(r, 10, 0, 0, INT_MAX),
		.end_class = row_class(r, 11),
		.resumed_step = row_int_or(r, 12, -1, 0, TRIAL_STEP_MAX),
		.log_offset = row_int(r, 13, 0, ROW_INT_MAX),
		.metrics_offset = row_int(r, 14, 0, ROW_INT_MAX),
		.log_skip = row_bool(r, 15),
		.metrics_skip = row_bool(r, 16),
		.max_rss = row_int(r, 17, 0, ROW_INT_MAX),
		.cpu_us = row_int(r, 18, 0, ROW_INT_MAX),
		.log = row_text_or(r, 19),
		.why = row_text_or(r, 20),
		.billable_s = row_real(r, 21),
		.cost = row_real(r, 22),
		.worst_cost = row_real(r, 23),
		.trained_s = row_real(r, 24),
		.usage = {
			.gpus = (int)row_int_or(r, 25, 0, 0, INT_MAX),
			.energy = row_real(r, 26),
			.memory = row_real(r, 27),
			.busy = row_real(r, 28),
			.seen = row_real(r, 29),
		},
		.before_s = row_real(r, 30),
		.after_s = row_real(r, 31),
		.cpus = (int)row_int_or(r, 32, 0, 0, INT_MAX),
	};
	a->billed = !isnan(a->billable_s);
	a->priced = !isnan(a->cost);
	return row_end(r);
}

int
store_attempt_get(struct store *s, int64_t trial, int attempt,
    struct store_attempt *a, struct err *e)
{
	struct row r = row_begin(s, STMT_ATTEMPT_GET, "t_attempt", 2, e);
	int rc;

	if (r.st == NULL)
		return -1;
	stmt_int(r.st, 1, trial);
	stmt_int(r.st, 2, attempt);
	if ((rc = row_next(&r)) < 0)
		return -1;
	if (rc == 0)
		return err_set(e, ERR_STORE,
		    "%s: there is no attempt %d of trial %lld", s->path,
		    attempt, (long long)trial);
	if (store_attempt_row(&r, a) != 0) {
		*a = (struct store_attempt){ 0 };
		stmt_done(r.st);
		return -1;
	}
	a->uuid = stmt_dup(a->uuid);
	a->backend = stmt_dup(a->backend);
	a->place = stmt_dup(a->place);
	a->log = stmt_dup(a->log);
	a->why = stmt_dup(a->why);
	stmt_done(r.st);
	return 0;
}

static void
bind_usage(sqlite3_stmt *st, const struct gpu_usage *u)
{
	bool any = u->gpus > 0;

	stmt_int_or(st, 26, any ? u->gpus : 0, 0);
	stmt_real(st, 27, any ? u->energy : NAN);
	stmt_int_or(
	    st, 28, any && u->memory >= 0 ? llround(u->memory) : -1, -1);
	stmt_real(st, 29, any ? u->busy : NAN);
	stmt_real(st, 30, any ? u->seen : NAN);
}

/* The same parameter numbers in all three statements. */
static void
bind_attempt(sqlite3_stmt *st, const struct store_attempt *a)
{
	stmt_int(st, 1, a->trial);
	stmt_int(st, 2, a->attempt);
	stmt_text(st, 3, a->uuid);
	stmt_text(st, 4, a->backend);
	stmt_line(st, 5, a->place);
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
	stmt_line(st, 21, a->why);
	stmt_real(st, 22, a->billed ? a->billable_s : NAN);
	stmt_real(st, 23, a->priced ? a->cost : NAN);
	stmt_real(st, 24, a->worst_cost > 0 ? a->worst_cost : NAN);
	stmt_real(st, 25, a->trained_s > 0 ? a->trained_s : NAN);
	bind_usage(st, &a->usage);
	stmt_real(st, 31, a->before_s > 0 ? a->before_s : NAN);
	stmt_real(st, 32, a->after_s > 0 ? a->after_s : NAN);
	stmt_int_or(st, 33, a->cpus, 0);
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
row_attempt_put_row(struct store *s, enum stmt_id id,
    const struct store_attempt *a, struct err *e)
{
	sqlite3_stmt *st = stmt_get(s, id, e);

	if (st == NULL)
		return -1;
	bind_attempt(st, a);
	return stmt_write(s, st, e) != 0 ? -1 : sqlite3_changes(s->db);
}

int
store_attempt_put(struct store *s, const struct store_attempt *a, struct err *e)
{
	int n = 0;

	if (a->end_class == END_NONE)
		n = row_attempt_put_row(s, STMT_ATTEMPT_OFFSETS, a, e);
	if (n == 0)
		n = row_attempt_put_row(s, STMT_ATTEMPT_PUT, a, e);
	if (n == 0)
		return store_refuse(s, e,
		    "there is no attempt %d of trial %lld", a->attempt,
		    (long long)a->trial);
	return n < 0 ? -1 : 0;
}

static int
drop_step(
    struct store *s, enum stmt_id id, int64_t trial, int attempt, struct err *e)
{
	sqlite3_stmt *st = stmt_get(s, id, e);

	if (st == NULL)
		return -1;
	stmt_int(st, 1, trial);
	stmt_int(st, 2, attempt);
	return stmt_write(s, st, e);
}

int
store_attempt_drop(struct store *s, int64_t trial, int attempt, struct err *e)
{
	(void)drop_step(s, STMT_ATTEMPT_UNDO, trial, attempt, NULL);
	return drop_step(s, STMT_ATTEMPT_DROP, trial, attempt, e);
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
	past->capacity = (int)stmt_col_int(st, 0, 0); /* counts of rows */
	past->waits = (int)stmt_col_int(st, 1, 0);
	stmt_done(st);
	return 0;
}

int
store_attempt_looks(
    struct store *s, int64_t trial, int64_t *looks, struct err *e)
{
	sqlite3_stmt *st = stmt_get(s, STMT_ATTEMPT_LOOKS, e);

	if (st == NULL)
		return -1;
	stmt_int(st, 1, trial);
	if (stmt_step(s, st, e) < 0)
		return -1;
	*looks = stmt_col_int(st, 0, 0);
	stmt_done(st);
	return 0;
}

int
store_cost_committed(struct store *s, double *dollars, struct err *e)
{
	sqlite3_stmt *st = stmt_get(s, STMT_COST_GET, e);

	if (st == NULL || stmt_step(s, st, e) < 0)
		return -1;
	*dollars = stmt_col_real(st, 0);
	stmt_done(st);
	return 0;
}

int
store_gpu_seconds(struct store *s, double *seconds, struct err *e)
{
	sqlite3_stmt *st = stmt_get(s, STMT_GPU_SECONDS_GET, e);

	if (st == NULL || stmt_step(s, st, e) < 0)
		return -1;
	*seconds = fmax(stmt_col_real(st, 0), 0);
	stmt_done(st);
	return 0;
}

int
store_attempt_times(struct store *s, const char *backend, double *before_s,
    double *after_s, struct err *e)
{
	sqlite3_stmt *st = stmt_get(s, STMT_ATTEMPT_TIMES, e);

	if (st == NULL)
		return -1;
	stmt_text(st, 1, backend);
	if (stmt_step(s, st, e) < 0)
		return -1;
	*before_s = fmax(stmt_col_real(st, 0), 0);
	*after_s = fmax(stmt_col_real(st, 1), 0);
	stmt_done(st);
	return 0;
}

int
store_attempt_cost(
    struct store *s, int64_t trial, int attempt, double dollars, struct err *e)
{
	sqlite3_stmt *st = stmt_get(s, STMT_ATTEMPT_COST, e);

	if (st == NULL)
		return -1;
	stmt_int(st, 1, trial);
	stmt_int(st, 2, attempt);
	stmt_real(st, 3, dollars);
	return stmt_write(s, st, e);
}

int
store_walk_open_attempts(struct store *s,
    int (*f)(void *, const struct store_attempt *), void *arg, struct err *e)
{
	struct row r = row_begin(s, STMT_ATTEMPT_OPEN, "t_attempt", 2, e);
	struct store_attempt a;
	int end = 0;

	while (row_walk(&r, &end))
		end = store_attempt_row(&r, &a) != 0 ? -1 : f(arg, &a);
	return end;
}
