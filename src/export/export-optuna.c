/* Maps a study to an Optuna storage. */

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/export/export-optuna.h"
#include "src/export/optuna-distribution.h"
#include "src/model/space.h"
#include "src/model/study/study.h"
#include "src/model/trial.h"
#include "src/store/optuna-db.h"
#include "src/store/queries.h"
#include "src/store/store.h"
#include "src/view/objectives.h"
#include "src/view/rows.h"
#include "src/view/trial-points.h"

enum {
	COL_TRIAL,
	COL_STATE,
	COL_OBJECTIVE,
	COL_PARAMS,
	COL_STARTED,
	COL_ENDED,
	COL_ATTEMPTS,
	COL_FACTS /* first of the columns below */
};

/* Columns that become user attributes of the trial under their own names. */
static const char trials_sql[] =
    "SELECT trial, iif(forgotten, 'cancelled', state), objective, "
    "iif(outside IS NULL, params, '{}'), "
    "coalesce(started_us, ended_us, created_us), "
    "coalesce(ended_us, started_us, created_us), "
    "attempts, trial AS hpotune_trial, state AS hpotune_state, "
    "(SELECT text FROM notes AS n WHERE n.trial = t.trial) AS "
    "hpotune_note, (SELECT group_concat(tag, ', ') FROM tags AS g WHERE "
    "g.trial = t.trial) AS hpotune_tags, "
    "iif(outside IS NULL, NULL, params) AS hpotune_params, "
    "why AS hpotune_why, end_class AS hpotune_end_class, attempts AS "
    "hpotune_attempts, "
    "seconds AS hpotune_seconds, cost AS hpotune_cost "
    "FROM " STORE_SQL_TRIALS " AS t ORDER BY trial";

static const char curves_sql[] =
    "SELECT trial, step, value FROM curves ORDER BY trial, step";

/* Of the metrics that are no value of the trial. */
static const char last_sql[] =
    "SELECT trial, name, value FROM last_reports WHERE name NOT IN "
    "(SELECT metric FROM " STORE_SQL_AIMS " WHERE goal IS NOT NULL) AND "
    "value IS NOT NULL ORDER BY trial";

struct writer {
	struct store *store;
	struct optuna *to;
	struct study *study;
	struct objectives aims;
	char **distributions; /* one per parameter */
	struct value *values;
	struct rows_cursor curves, outcomes, last;
};

/* The results of one trial, as they are read. */
struct result {
	double last; /* last report */
	double values[STUDY_OBJECTIVES_MAX]; /* NaN = none */
	struct buf constraints; /* JSON, or empty */
};

/*
 * A trial that waits and never ran becomes WAITING, which Optuna may run; after
 * a first attempt it becomes RUNNING, because it keeps its reports.
 */
static enum optuna_state
export_optuna_state_of(enum trial_state state, bool begun, bool has_values)
{
	switch (state) {
	case TRIAL_WAITING:
		return begun ? OPTUNA_RUNNING : OPTUNA_WAITING;
	case TRIAL_STARTING:
	case TRIAL_RUNNING:
	case TRIAL_STOPPING:
		return OPTUNA_RUNNING;
	case TRIAL_COMPLETED:
		return has_values ? OPTUNA_COMPLETE : OPTUNA_FAIL;
	case TRIAL_STOPPED:
		return OPTUNA_PRUNED;
	case TRIAL_FAILED:
	case TRIAL_CANCELLED:
	case TRIAL_STATES:
		break;
	}
	return OPTUNA_FAIL;
}

static int
export_optuna_study_put(
    struct writer *w, const struct store_study *row, struct err *e)
{
	struct buf names = { 0 };
	size_t i;
	int rc = 0;

	for (i = 0; i < w->aims.n && rc == 0; i++) {
		buf_puts(&names, i == 0 ? "[" : ", ");
		json_put_string(&names, w->aims.objectives[i].metric);
		rc = optuna_db_add_direction(
		    w->to, w->aims.objectives[i].maximize, e);
	}
	buf_putc(&names, ']');
	/* System attributes of Optuna and of optuna-dashboard. */
	if (rc == 0)
		rc = optuna_db_add_study_attr(
		    w->to, true, "study:metric_names", buf_str(&names), e);
	if (rc == 0)
		rc = optuna_db_add_study_attr(w->to, true,
		    "dashboard:objective_names", buf_str(&names), e);
	if (rc == 0)
		rc = optuna_db_add_study_attr(
		    w->to, false, "hpotune_study", row->json, e);
	buf_free(&names);
	return rc;
}

/*
 * Parameters of a waiting trial are fixed values for Optuna; others are those
 * tried.
 */
static int
export_optuna_params_put(
    struct writer *w, const char *params, bool wish, struct err *e)
{
	const struct space *space = w->study->space;
	struct json_doc *doc;
	size_t i;
	int rc;

	if (wish)
		return optuna_db_add_attr(
		    w->to, true, "fixed_params", params, e);
	for (i = 0; i < space->n; i++)
		w->values[i] = (struct value){ .kind = VALUE_NONE };
	if (json_parse(&doc, params, strlen(params), NULL, false, e) != 0)
		return -1;
	rc = space_read_values(space, json_root(doc), w->values, e);
	for (i = 0; i < space->n && rc == 0; i++)
		if (w->values[i].kind != VALUE_NONE)
			rc = optuna_db_add_param(w->to, space->params[i].name,
			    optuna_distribution_value(
				&space->params[i], &w->values[i]),
			    w->distributions[i], e);
	json_free(doc);
	return rc;
}

static int
export_optuna_curve_put(
    struct writer *w, int64_t trial, double *last, struct err *e)
{
	struct store_rows *rows = w->curves.rows;

	*last = NAN;
	while (rows_cursor_is_at(&w->curves, trial)) {
		*last = rows_real(rows, 2);
		if (optuna_db_add_report(
			w->to, store_rows_int(rows, 1), *last, e) != 0 ||
		    rows_cursor_next(&w->curves, e) != 0)
			return -1;
	}
	return 0;
}

/* Optuna requires numbers: a missing metric becomes the largest double. */
static void
constraint_put(struct buf *b, double violation)
{
	buf_puts(b, b->len == 0 ? "[" : ", ");
	json_put_number(b, isfinite(violation) ? violation : DBL_MAX);
}

/* With a single objective there are no outcomes: the value is the trial's. */
static int
export_optuna_result_read(struct writer *w, const struct store_rows *trial,
    struct result *result, struct err *e)
{
	struct store_rows *rows = w->outcomes.rows;
	size_t n = 0;

	if (!w->aims.several)
		result->values[n++] = rows_real(trial, COL_OBJECTIVE);
	while (
	    rows_cursor_is_at(&w->outcomes, store_rows_int(trial, COL_TRIAL))) {
		if (store_rows_null(rows, 1))
			constraint_put(
			    &result->constraints, rows_real(rows, 3));
		else if (w->aims.several && n < STUDY_OBJECTIVES_MAX)
			result->values[n++] = rows_real(rows, 2);
		if (rows_cursor_next(&w->outcomes, e) != 0)
			return -1;
	}
	while (n < w->aims.n)
		result->values[n++] = NAN;
	if (result->constraints.len > 0)
		buf_putc(&result->constraints, ']');
	return 0;
}

/* As in Optuna, the value of a pruned trial is its last report. */
static int
export_optuna_values_put(struct writer *w, enum optuna_state state,
    const struct result *result, struct err *e)
{
	size_t i;

	if (result->constraints.len > 0 &&
	    optuna_db_add_attr(w->to, true, "constraints",
		buf_str(&result->constraints), e) != 0)
		return -1;
	if (state == OPTUNA_PRUNED && !w->aims.several && !isnan(result->last))
		return optuna_db_add_value(w->to, 0, result->last, e);
	for (i = 0; i < w->aims.n && state == OPTUNA_COMPLETE; i++)
		if (optuna_db_add_value(
			w->to, (int64_t)i, result->values[i], e) != 0)
			return -1;
	return 0;
}

static int
export_optuna_facts_put(
    struct writer *w, const struct store_rows *trial, struct err *e)
{
	struct buf json = { 0 };
	int col, rc = 0;

	for (col = COL_FACTS; col < store_rows_columns(trial) && rc == 0;
	     col++) {
		if (store_rows_null(trial, col))
			continue;
		buf_clear(&json);
		if (store_rows_is_number(trial, col))
			rows_put_digits(&json, trial, col);
		else
			json_put_string(&json, store_rows_text(trial, col));
		rc = optuna_db_add_attr(w->to, false,
		    store_rows_name(trial, col), buf_str(&json), e);
	}
	buf_free(&json);
	return rc;
}

/* Metrics as user attributes, which a program would set under these names. */
static int
export_optuna_metrics_put(struct writer *w, int64_t trial, struct err *e)
{
	struct store_rows *rows = w->last.rows;
	struct buf json = { 0 };
	int rc = 0;

	while (rc == 0 && rows_cursor_is_at(&w->last, trial)) {
		buf_clear(&json);
		if (isfinite(store_rows_real(rows, 2)))
			rows_put_digits(&json, rows, 2);
		else /* as Python reads and writes it */
			buf_puts(&json, store_rows_real(rows, 2) > 0
					    ? "Infinity"
					    : "-Infinity");
		rc = optuna_db_add_attr(
		    w->to, false, store_rows_text(rows, 1), buf_str(&json), e);
		if (rc == 0)
			rc = rows_cursor_next(&w->last, e);
	}
	buf_free(&json);
	return rc;
}

static bool
has_values(const struct writer *w, const struct result *result)
{
	size_t i;

	for (i = 0; i < w->aims.n; i++)
		if (isnan(result->values[i]))
			return false;
	return true;
}

static int
export_optuna_trial_put(
    struct writer *w, const struct store_rows *row, struct err *e)
{
	int64_t number = store_rows_int(row, COL_TRIAL);
	enum trial_state state = TRIAL_FAILED;
	struct result result = { 0 };
	struct optuna_trial trial;
	bool wish;
	int rc;

	(void)trial_state_parse(store_rows_text(row, COL_STATE), &state);
	rc = export_optuna_result_read(w, row, &result, e);
	trial.number = number - 1;
	trial.state = export_optuna_state_of(state,
	    store_rows_int(row, COL_ATTEMPTS) > 0, has_values(w, &result));
	wish = trial.state == OPTUNA_WAITING;
	trial.started_us = wish ? 0 : store_rows_int(row, COL_STARTED);
	trial.ended_us = wish || trial.state == OPTUNA_RUNNING
			     ? 0
			     : store_rows_int(row, COL_ENDED);
	if (rc == 0)
		rc = optuna_db_add_trial(w->to, &trial, e);
	if (rc == 0)
		rc = export_optuna_params_put(
		    w, store_rows_text(row, COL_PARAMS), wish, e);
	if (rc == 0)
		rc = export_optuna_curve_put(w, number, &result.last, e);
	if (rc == 0)
		rc = export_optuna_values_put(w, trial.state, &result, e);
	if (rc == 0)
		rc = export_optuna_facts_put(w, row, e);
	if (rc == 0)
		rc = export_optuna_metrics_put(w, number, e);
	buf_free(&result.constraints);
	return rc;
}

static int
export_optuna_trials_put(struct writer *w, struct err *e)
{
	struct store_rows *rows;
	int rc;

	if (rows_cursor_open(&w->curves, w->store, curves_sql, e) != 0 ||
	    store_list_results(&w->outcomes.rows, w->store, e) != 0 ||
	    rows_cursor_next(&w->outcomes, e) != 0 ||
	    rows_cursor_open(&w->last, w->store, last_sql, e) != 0 ||
	    store_rows_open(&rows, w->store, trials_sql, NULL, e) != 0)
		return -1;
	while ((rc = store_rows_next(rows, e)) == 1)
		if ((rc = export_optuna_trial_put(w, rows, e)) == -1)
			break;
	store_rows_close(rows);
	return rc;
}

static void
distributions_make(struct writer *w)
{
	const struct space *space = w->study->space;
	struct buf b = { 0 };
	size_t i;

	w->values = xcalloc(space->n + 1, sizeof *w->values);
	w->distributions = xcalloc(space->n + 1, sizeof *w->distributions);
	for (i = 0; i < space->n; i++) {
		optuna_distribution_of(&b, &space->params[i]);
		w->distributions[i] = buf_take(&b);
	}
}

static void
writer_fini(struct writer *w)
{
	size_t i;

	for (i = 0; w->distributions != NULL && i < w->study->space->n; i++)
		free(w->distributions[i]);
	free(w->distributions);
	free(w->values);
	rows_cursor_close(&w->curves);
	rows_cursor_close(&w->outcomes);
	rows_cursor_close(&w->last);
	study_free(w->study);
	objectives_fini(&w->aims);
	optuna_db_close(w->to);
}

int
export_optuna(
    struct store *store, const char *path, const char *name, struct err *e)
{
	struct writer w = { .store = store };
	struct store_study row = { 0 };
	int rc;

	rc = store_study_get(store, &row, e);
	if (rc == 0)
		rc = trial_points_study(&w.study, store, e);
	if (rc == 0)
		rc = objectives_read(&w.aims, store, e);
	if (rc == 0)
		rc = optuna_db_create(&w.to, path, name, row.name, e);
	if (rc == 0) {
		distributions_make(&w);
		rc = export_optuna_study_put(&w, &row, e);
	}
	if (rc == 0)
		rc = export_optuna_trials_put(&w, e);
	if (rc == 0)
		rc = optuna_db_commit(w.to, e);
	writer_fini(&w);
	store_study_fini(&row);
	return rc;
}
