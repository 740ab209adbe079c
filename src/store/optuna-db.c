/*
 * Writes the tables of an Optuna storage: RDBStorage, storages/_rdb/models.py.
 */

#include <math.h>
#include <stdlib.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/store/optuna-db.h"
#include "src/store/store-internal.h"

/* Times have six decimal digits: Optuna misreads fewer. */
#define TIME(us)                                           \
	"strftime('%Y-%m-%d %H:%M:%S', " us " / 1000000, " \
	"'unixepoch') || printf('.%06d', " us " % 1000000)"

enum row {
	ROW_STUDY,
	ROW_DIRECTION,
	ROW_STUDY_ATTR,
	ROW_STUDY_SYSTEM_ATTR,
	ROW_TRIAL,
	ROW_PARAM,
	ROW_VALUE,
	ROW_REPORT,
	ROW_ATTR,
	ROW_SYSTEM_ATTR,
	ROWS
};

/* The study has id 1; in rows of a trial ?1 is the trial's id. */
static const char *const texts[ROWS] = {
	[ROW_STUDY] = "INSERT INTO studies VALUES (1, ?1)",
	[ROW_DIRECTION] =
	    "INSERT INTO study_directions (direction, study_id, objective) "
	    "SELECT ?1, 1, count(*) FROM study_directions",
	[ROW_STUDY_ATTR] =
	    "INSERT INTO study_user_attributes (study_id, key, value_json) "
	    "VALUES (1, ?1, ?2)",
	[ROW_STUDY_SYSTEM_ATTR] =
	    "INSERT INTO study_system_attributes (study_id, key, value_json) "
	    "VALUES (1, ?1, ?2)",
	[ROW_TRIAL] = "INSERT INTO trials (trial_id, number, study_id, state, "
		      "datetime_start, datetime_complete) VALUES "
		      "(?1, ?1 - 1, 1, ?2, " TIME("?3") ", " TIME("?4") ")",
	[ROW_PARAM] = "INSERT INTO trial_params (trial_id, param_name, "
		      "param_value, distribution_json) VALUES (?1, ?2, ?3, ?4)",
	[ROW_VALUE] = "INSERT INTO trial_values (trial_id, objective, value, "
		      "value_type) VALUES (?1, ?2, ?3, ?4)",
	[ROW_REPORT] = "INSERT INTO trial_intermediate_values (trial_id, step, "
		       "intermediate_value, intermediate_value_type) "
		       "VALUES (?1, ?2, ?3, ?4)",
	[ROW_ATTR] = "INSERT INTO trial_user_attributes (trial_id, key, "
		     "value_json) VALUES (?1, ?2, ?3)",
	[ROW_SYSTEM_ATTR] =
	    "INSERT INTO trial_system_attributes (trial_id, key, value_json) "
	    "VALUES (?1, ?2, ?3)",
};

static const char tables[] =
#include "schema/optuna.inc"
    "INSERT INTO version_info VALUES (1, 12, '" PACKAGE_STRING "');";

static const char *const states[] = {
	[OPTUNA_RUNNING] = "RUNNING",
	[OPTUNA_WAITING] = "WAITING",
	[OPTUNA_COMPLETE] = "COMPLETE",
	[OPTUNA_PRUNED] = "PRUNED",
	[OPTUNA_FAIL] = "FAIL",
};

struct optuna {
	struct store *store; /* the connection */
	sqlite3_stmt *rows[ROWS];
	int64_t trial; /* id of the last trial: its number + 1 */
};

/* The statement of a row, with the id of its owner bound. */
static sqlite3_stmt *
optuna_db_row_begin(struct optuna *o, enum row row, struct err *e)
{
	if (o->rows[row] == NULL &&
	    sqlite3_prepare_v3(o->store->db, texts[row], -1,
		SQLITE_PREPARE_PERSISTENT, &o->rows[row], NULL) != SQLITE_OK) {
		(void)store_fail(o->store, "cannot be written", e);
		return NULL;
	}
	if (row > ROW_TRIAL)
		stmt_int(o->rows[row], 1, o->trial);
	return o->rows[row];
}

static int
optuna_db_row_end(struct optuna *o, sqlite3_stmt *st, struct err *e)
{
	return stmt_step(o->store, st, e) < 0 ? -1 : 0;
}

/* Parameters i and i + 1: a number, and its kind. */
static void
bind_number(sqlite3_stmt *st, int i, double x)
{
	if (isfinite(x))
		stmt_real(st, i, x);
	stmt_text(st, i + 1,
	    isfinite(x) ? "FINITE"
	    : isnan(x)	? "NAN"
	    : x > 0	? "INF_POS"
			: "INF_NEG");
}

/* The file is not used yet: no journal, no sync, foreign keys not checked. */
static int
optuna_db_fill(
    struct optuna *o, const char *path, const char *study, struct err *e)
{
	sqlite3_stmt *st;

	if (store_connect(o->store, path, SQLITE_OPEN_READWRITE, e) != 0)
		return -1;
	/*
	 * The one transaction of an export has as many steps as the study has
	 * reports.
	 */
	query_limit_lift(o->store);
	if (store_exec(o->store,
		"PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; "
		"PRAGMA foreign_keys = OFF; BEGIN",
		e) != 0 ||
	    store_exec(o->store, tables, e) != 0 ||
	    (st = optuna_db_row_begin(o, ROW_STUDY, e)) == NULL)
		return -1;
	stmt_text(st, 1, study);
	return optuna_db_row_end(o, st, e);
}

int
optuna_db_create(struct optuna **out, const char *path, const char *name,
    const char *study, struct err *e)
{
	struct optuna *o = xcalloc(1, sizeof *o);

	o->store = store_new(name, STORE_WRITE);
	if (optuna_db_fill(o, path, study, e) != 0) {
		optuna_db_close(o);
		return -1;
	}
	*out = o;
	return 0;
}

int
optuna_db_add_direction(struct optuna *o, bool maximize, struct err *e)
{
	sqlite3_stmt *st = optuna_db_row_begin(o, ROW_DIRECTION, e);

	if (st == NULL)
		return -1;
	stmt_text(st, 1, maximize ? "MAXIMIZE" : "MINIMIZE");
	return optuna_db_row_end(o, st, e);
}

int
optuna_db_add_study_attr(struct optuna *o, bool system, const char *key,
    const char *json, struct err *e)
{
	sqlite3_stmt *st = optuna_db_row_begin(
	    o, system ? ROW_STUDY_SYSTEM_ATTR : ROW_STUDY_ATTR, e);

	if (st == NULL)
		return -1;
	stmt_text(st, 1, key);
	stmt_text(st, 2, json);
	return optuna_db_row_end(o, st, e);
}

int
optuna_db_add_trial(
    struct optuna *o, const struct optuna_trial *trial, struct err *e)
{
	sqlite3_stmt *st = optuna_db_row_begin(o, ROW_TRIAL, e);

	if (st == NULL)
		return -1;
	o->trial = trial->number + 1;
	stmt_int(st, 1, o->trial);
	stmt_text(st, 2, states[trial->state]);
	stmt_int_or(st, 3, trial->started_us, 0);
	stmt_int_or(st, 4, trial->ended_us, 0);
	return optuna_db_row_end(o, st, e);
}

int
optuna_db_add_param(struct optuna *o, const char *name, double value,
    const char *distribution, struct err *e)
{
	sqlite3_stmt *st = optuna_db_row_begin(o, ROW_PARAM, e);

	if (st == NULL)
		return -1;
	stmt_text(st, 2, name);
	stmt_real(st, 3, value);
	stmt_text(st, 4, distribution);
	return optuna_db_row_end(o, st, e);
}

int
optuna_db_add_value(
    struct optuna *o, int64_t objective, double value, struct err *e)
{
	sqlite3_stmt *st = optuna_db_row_begin(o, ROW_VALUE, e);

	if (st == NULL)
		return -1;
	stmt_int(st, 2, objective);
	bind_number(st, 3, value);
	return optuna_db_row_end(o, st, e);
}

int
optuna_db_add_report(
    struct optuna *o, int64_t step, double value, struct err *e)
{
	sqlite3_stmt *st = optuna_db_row_begin(o, ROW_REPORT, e);

	if (st == NULL)
		return -1;
	stmt_int(st, 2, step);
	bind_number(st, 3, value);
	return optuna_db_row_end(o, st, e);
}

int
optuna_db_add_attr(struct optuna *o, bool system, const char *key,
    const char *json, struct err *e)
{
	sqlite3_stmt *st =
	    optuna_db_row_begin(o, system ? ROW_SYSTEM_ATTR : ROW_ATTR, e);

	if (st == NULL)
		return -1;
	stmt_text(st, 2, key);
	stmt_text(st, 3, json);
	return optuna_db_row_end(o, st, e);
}

int
optuna_db_commit(struct optuna *o, struct err *e)
{
	return store_exec(o->store, "COMMIT", e);
}

void
optuna_db_close(struct optuna *o)
{
	int i;

	if (o == NULL)
		return;
	for (i = 0; i < ROWS; i++)
		(void)sqlite3_finalize(o->rows[i]);
	store_close(o->store);
	free(o);
}
