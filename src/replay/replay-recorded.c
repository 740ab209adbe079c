/*
 * A recorded study: its records are taken in order, and the rule decides which
 * of them would be missing; and the curves of its completed trials.
 */

#include <stdlib.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/base/search.h"
#include "src/model/history/history.h"
#include "src/model/study/study.h"
#include "src/replay/curve-file.h"
#include "src/replay/replay-rerun.h"
#include "src/replay/replay-sums.h"
#include "src/replay/replay.h"
#include "src/store/queries.h"
#include "src/store/store.h"
#include "strategies/stopper.h"

struct records {
	struct replay_rerun rerun;
	const struct study *study;
	struct store *store;
	struct err *err;
};

void
replay_set_objectives(struct history *h, const struct study *study)
{
	if (study->n_objectives == 1 && study->n_constraints > 0)
		history_set_objectives(
		    h, 1, &study->maximize, study->n_constraints);
}

int
replay_results(struct history *h, const struct study *study,
    struct store *store, int64_t trial, struct err *e)
{
	size_t i, n = study->n_objectives, all = n + study->n_constraints;
	double *values;
	int rc;

	if (!history_has_results(h))
		return 0;
	values = xcalloc(all, sizeof *values);
	rc = store_outcome_get(store, trial, all, values, e);
	for (i = n; i < all; i++)
		values[i] =
		    study_violation(&study->constraints[i - n], values[i]);
	if (rc == 0)
		history_results(h, trial, values, values + n);
	free(values);
	return rc;
}

/*
 * Rules compare first replicates (judged.h): call this for each other replicate
 * of a recorded study, in the order of their numbers.
 */
static int
replay_each_other(struct store *s, void (*each)(void *, int64_t trial),
    void *arg, struct err *e)
{
	struct store_rows *rows;
	int rc;

	if (store_list_later_replicates(&rows, s, e) != 0)
		return -1;
	while ((rc = store_rows_next(rows, e)) == 1)
		each(arg, store_rows_int(rows, 0));
	store_rows_close(rows);
	return rc;
}

/*
 * Call this for each trial of a study whose trials have numbers of steps of
 * their own, -1 for one that has not said it.
 */
static int
replay_each_own(struct store *s, const struct study_trial *study,
    void (*each)(void *, int64_t trial, int64_t own), void *arg, struct err *e)
{
	struct store_rows *rows;
	int64_t own;
	int rc;

	if (!study_has_own_steps(study))
		return 0;
	if (store_list_own_steps(&rows, s, e) != 0)
		return -1;
	while ((rc = store_rows_next(rows, e)) == 1) {
		own = store_rows_int(rows, 1);
		if (own == 0 && study->own_metric != NULL)
			own = -1;
		each(arg, store_rows_int(rows, 0), own);
	}
	store_rows_close(rows);
	return rc;
}

static void
on_own(void *arg, int64_t trial, int64_t own)
{
	replay_rerun_set_own(arg, trial, own);
}

static void
on_other(void *arg, int64_t trial)
{
	replay_rerun_leave_out(arg, trial);
}

/* Whether the study as it is replayed does not have the trial. */
static bool
is_left_out(const struct replay_rerun *r, int64_t trial)
{
	return trial >= 1 && (uint64_t)trial <= r->n &&
	       r->trials[trial - 1].left_out;
}

static int
replay_recorded_on_record(void *arg, const struct store_record *row)
{
	struct records *r = arg;
	struct stop_report report = { .trial = row->trial,
		.metric = row->metric != NULL ? row->metric : r->study->metric,
		.step = row->step,
		.value = row->value,
		.spent = { row->seconds, row->dollars } };

	if (is_left_out(&r->rerun, row->trial))
		return 0;
	if (row->state == TRIAL_RUNNING) {
		if (row->metric == NULL)
			replay_rerun_report(
			    &r->rerun, row->trial, row->step, row->value);
		replay_rerun_series(&r->rerun, &report);
		return 0;
	}
	replay_rerun_begin(&r->rerun, row->trial);
	if (row->state == TRIAL_WAITING) {
		replay_rerun_revive(&r->rerun, row->trial);
		return 0;
	}
	if (replay_results(
		r->rerun.history, r->study, r->store, row->trial, r->err) != 0)
		return -1;
	replay_rerun_end(&r->rerun, row->trial, row->state == TRIAL_COMPLETED);
	return 0;
}

/* The recorded stops and their steps. */
static int
replay_recorded_on_stopped(void *arg, int64_t trial, int64_t step, bool late)
{
	replay_rerun_set_stop(arg, trial, step, late);
	return 0;
}

/* The study recorded in a database. */
static int
replay_recorded_study(struct study **study, struct store *s, struct err *e)
{
	struct store_study row = { 0 };
	int rc;

	if (store_study_get(s, &row, e) != 0)
		return -1;
	rc = study_parse_recorded(study, row.json, row.dir, e);
	store_study_fini(&row);
	return rc;
}

int
replay_recorded(struct replay_sum *sum, struct store *s,
    const struct replay_rule *rule, struct err *e)
{
	struct stopper_env env;
	struct study *study;
	struct records r = { .store = s, .err = e };
	int rc;

	if (replay_recorded_study(&study, s, e) == -1)
		return -1;
	env = (struct stopper_env){ .max_steps = study->trial.max_steps,
		.maximize = study->maximize,
		.study = study->name,
		.metric = study->metric };
	r.study = study;
	rc = replay_rerun_open(&r.rerun, rule, &env, study->value_last, e);
	if (rc == 0) {
		replay_set_objectives(r.rerun.history, study);
		rc = replay_each_other(s, on_other, &r.rerun, e);
		if (rc == 0)
			rc = replay_each_own(
			    s, &study->trial, on_own, &r.rerun, e);
		if (rc == 0)
			rc = store_walk_stopped(
			    s, replay_recorded_on_stopped, &r.rerun, e);
		if (rc == 0)
			rc = store_walk_records(s,
			    stop_rule_set_metrics(r.rerun.set),
			    replay_recorded_on_record, &r, e);
		if (rc == 0) {
			replay_rerun_look(&r.rerun);
			replay_sums_add(sum, &r.rerun);
		}
		replay_rerun_close(&r.rerun);
	}
	study_free(study);
	return rc;
}

struct reading {
	struct history *ends; /* final states only */
	struct curve_file *curves;
	struct curve_file_curve *curve;
	int64_t trial; /* of the curve */
	int64_t *trials; /* of each curve */
	size_t cap_trials;
};

static int
on_curve_end(void *arg, const struct store_record *row)
{
	struct reading *r = arg;

	while (history_count(r->ends) < row->trial)
		history_add(r->ends, history_count(r->ends) + 1, NULL);
	if (trial_state_final(row->state))
		history_end(r->ends, row->trial, row->state, row->value);
	return 0;
}

static int
on_curve_report(void *arg, int64_t trial, int64_t step, double value)
{
	struct reading *r = arg;

	if (trial > history_count(r->ends) ||
	    history_state(r->ends, trial) != TRIAL_COMPLETED)
		return 0;
	if (trial != r->trial) {
		XGROW(r->trials, r->curves->n, r->cap_trials);
		r->trials[r->curves->n] = trial;
		r->curve = curve_file_begin(r->curves);
	}
	r->trial = trial;
	curve_file_report(r->curves, r->curve, step, value);
	return 0;
}

/* A second or later replicate of a setting is none of the curves. */
static void
on_other_curve(void *arg, int64_t trial)
{
	struct reading *r = arg;

	if (trial <= history_count(r->ends))
		history_retry(r->ends, trial);
}

/* Curves are in the order of their trials; one without own steps keeps its. */
static void
on_own_curve(void *arg, int64_t trial, int64_t own)
{
	struct reading *r = arg;
	size_t i;

	SEARCH_FIRST(i, r->curves->n, r->trials[i] < trial);
	if (i < r->curves->n && r->trials[i] == trial && own > 0)
		curve_file_stretch_one(r->curves, &r->curves->curves[i], own);
}

int
replay_recorded_curves(struct curve_file *b, struct replay_plan *plan,
    struct store *s, struct err *e)
{
	struct reading r = { .curves = b };
	struct study *study;
	int rc;

	*b = (struct curve_file){ 0 };
	if (replay_recorded_study(&study, s, e) == -1)
		return -1;
	r.ends = history_new(0, study->maximize, 0);
	rc = store_walk_records(s, NULL, on_curve_end, &r, e);
	if (rc == 0)
		rc = replay_each_other(s, on_other_curve, &r, e);
	if (rc == 0)
		rc = store_walk_curves(s, on_curve_report, &r, e);
	if (rc == 0 && b->n == 0)
		rc = err_set(e, ERR_USAGE,
		    "%s: no completed trial has reported anything",
		    study->name);
	plan->maximize = study->maximize;
	plan->value_last = study->value_last;
	if (study->trial.max_steps > 0)
		b->max_steps = study->trial.max_steps;
	if (rc == 0)
		rc = replay_each_own(s, &study->trial, on_own_curve, &r, e);
	free(r.trials);
	history_free(r.ends);
	study_free(study);
	if (rc != 0)
		curve_file_free(b);
	return rc;
}
