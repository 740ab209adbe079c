/*
 * Secondary results of a trial: last values of the other objectives, constraint
 * violations, Pareto front, failure class.  Aims count from 0: objectives, then
 * constraints.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/engine/announce/hooks.h"
#include "src/engine/announce/trial-log.h"
#include "src/engine/median-view.h"
#include "src/engine/tuner/live-trial.h"
#include "src/engine/tuner/outcome.h"
#include "src/engine/tuner/tuner-internal.h"
#include "src/model/history/history.h"
#include "src/model/pareto-front.h"
#include "src/model/study/study.h"
#include "src/store/queries.h"

/* The metrics of all aims but the first, without duplicates. */
static void
also_list(struct outcomes *all)
{
	size_t i, k;

	all->also = xcalloc(all->n_aims, sizeof *all->also);
	for (i = 1; i < all->n_aims; i++) {
		for (k = 0; k < i; k++)
			if (strcmp(study_aim_metric(all->study, k),
				study_aim_metric(all->study, i)) == 0)
				break;
		if (k == i)
			all->also[all->n_also++] =
			    study_aim_metric(all->study, i);
	}
}

void
outcome_open_history(const struct study *s, struct history *h)
{
	bool goals[STUDY_OBJECTIVES_MAX];
	size_t i;

	if (s->n_objectives == 1 && s->n_constraints == 0)
		return;
	for (i = 0; i < s->n_objectives; i++)
		goals[i] = s->objectives[i].maximize;
	history_set_objectives(h, s->n_objectives, goals, s->n_constraints);
}

void
outcome_open(
    struct outcomes *all, const struct study *s, struct history *history)
{
	*all = (struct outcomes){ .study = s, .best_loss = NAN };
	if (s->n_objectives == 1 && s->n_constraints == 0)
		return;
	outcome_open_history(s, history);
	all->n_aims = s->n_objectives + s->n_constraints;
	also_list(all);
	if (s->n_objectives > 1)
		all->front = pareto_front_new(s->n_objectives);
}

void
outcome_close(struct outcomes *all)
{
	pareto_front_free(all->front);
	free(all->also);
	free(all->counted);
}

bool
outcome_has_metric(const struct outcomes *all, const char *metric)
{
	size_t i;

	for (i = 0; i < all->n_also; i++)
		if (strcmp(all->also[i], metric) == 0)
			return true;
	return strcmp(metric, all->study->metric) == 0;
}

void
outcome_report(struct tuner *t, struct live_trial *l, const char *metric,
    int64_t step, double value)
{
	size_t i;

	for (i = 1; i < t->outcomes.n_aims; i++)
		if (strcmp(study_aim_metric(t->outcomes.study, i), metric) ==
			0 &&
		    (l->aims == NULL || step >= l->aims[i].step))
			live_trial_set_aim(
			    l, t->outcomes.n_aims, i, step, value);
}

/* One value for each aim, NaN = none. */
static void
outcome_values(
    const struct tuner *t, const struct live_trial *l, double *values)
{
	size_t i;

	values[0] = l->row.objective;
	for (i = 1; i < t->outcomes.n_aims; i++)
		values[i] = l->aims != NULL ? l->aims[i].value : NAN;
}

enum end_class
outcome_class(
    const struct outcomes *all, const struct live_trial *l, const char **metric)
{
	size_t i;

	for (i = 1; i < all->study->n_objectives; i++) {
		*metric = study_aim_metric(all->study, i);
		if (l->aims == NULL || l->aims[i].step < 0)
			return END_NO_REPORT;
		if (!isfinite(l->aims[i].value))
			return END_DIVERGED;
	}
	return END_OK;
}

bool
outcome_whole(const struct tuner *t, const struct live_trial *l)
{
	const char *metric;
	size_t i;

	if (!(l->row.until > 0 ? live_trial_segment_done(l)
			       : live_trial_all_steps(t, l)) ||
	    !isfinite(l->row.objective) ||
	    outcome_class(&t->outcomes, l, &metric) != END_OK)
		return false;
	for (i = t->study->n_objectives; i < t->outcomes.n_aims; i++)
		if (l->aims == NULL || l->aims[i].step < 0)
			return false;
	return true;
}

/* The violation of each constraint; NaN for objectives and unknown values. */
static void
outcome_violations(
    const struct tuner *t, const double *values, double *violations)
{
	size_t i, n = t->study->n_objectives;

	for (i = 0; i < t->outcomes.n_aims; i++)
		violations[i] =
		    i < n ? NAN
			  : study_violation(
				&t->study->constraints[i - n], values[i]);
}

/* A completed trial violates without bound a constraint it did not report. */
static double
violations_sum(struct tuner *t, const struct live_trial *l, enum trial_state to,
    double *violations)
{
	double sum = 0;
	size_t i;

	for (i = t->study->n_objectives; i < t->outcomes.n_aims; i++) {
		if (isnan(violations[i]) && to == TRIAL_COMPLETED) {
			violations[i] = INFINITY;
			if (!t->outcomes.warned_unreported)
				tuner_event(t, LOG_LEVEL_WARN, "report",
				    l->row.number, l->att.attempt,
				    "it completed without a finite report of "
				    "%s: so it "
				    "violates that constraint",
				    study_aim_metric(t->outcomes.study, i));
			t->outcomes.warned_unreported = true;
		}
		if (violations[i] > 0)
			sum += violations[i];
	}
	return sum;
}

/* Record the results of a trial that ends in this state. */
static void
outcome_settle(struct tuner *t, struct live_trial *l, enum trial_state to)
{
	double *values, *violations;

	if (t->outcomes.n_aims == 0)
		return;
	values = xcalloc(2 * t->outcomes.n_aims, sizeof *values);
	violations = values + t->outcomes.n_aims;
	outcome_values(t, l, values);
	outcome_violations(t, values, violations);
	live_trial_set_violation(l, violations_sum(t, l, to, violations));
	if (l->row.attempts > 0 || to == TRIAL_COMPLETED)
		(void)store_outcome_put(t->store, l->row.number,
		    t->outcomes.n_aims, values, violations, NULL);
	free(values);
}

void
outcome_move(
    struct tuner *t, struct live_trial *l, enum trial_event ev, const char *why)
{
	enum trial_state to;

	if (trial_move(l->row.state, ev, &to) && trial_state_final(to))
		outcome_settle(t, l, to);
	live_trial_set_state(t, l, ev, why);
}

int
outcome_copy(struct tuner *t, struct live_trial *l, int64_t from, struct err *e)
{
	double *values = xcalloc(t->outcomes.n_aims + 1, sizeof *values);
	size_t i;
	int rc = 0;

	if (t->outcomes.n_aims > 0)
		rc = store_outcome_get(
		    t->store, from, t->outcomes.n_aims, values, e);
	for (i = 1; i < t->outcomes.n_aims && rc == 0; i++)
		live_trial_set_aim(l, t->outcomes.n_aims, i, 0, values[i]);
	free(values);
	return rc;
}

/* Pass the results to the history, before the trial's end. */
static void
outcome_observe(struct tuner *t, int64_t trial, const double *values)
{
	double *violations = xcalloc(t->outcomes.n_aims, sizeof *violations);

	outcome_violations(t, values, violations);
	judged_results(
	    &t->judged, trial, values, violations + t->study->n_objectives);
	free(violations);
}

/* The values of the objectives, smaller is better. */
static void
outcome_losses(const struct tuner *t, const double *values, double *losses)
{
	size_t i;

	for (i = 0; i < t->study->n_objectives; i++)
		losses[i] =
		    t->study->objectives[i].maximize ? -values[i] : values[i];
}

/* Whether the trial adds a new point to a front; records it. */
static bool
outcome_front_put(struct tuner *t, struct pareto_front *front, int64_t trial,
    const double *losses)
{
	enum pareto_front_place place;
	const int64_t *out;
	size_t i, n_out;

	for (i = 0; i < t->study->n_objectives; i++)
		if (!isfinite(losses[i]))
			return false;
	place = pareto_front_add(front, trial, losses, &out, &n_out);
	if (place == PARETO_FRONT_DOMINATED)
		return false;
	for (i = 0; i < n_out; i++)
		(void)store_front_drop(t->store, out[i], NULL);
	(void)store_front_add(
	    t->store, trial, place == PARETO_FRONT_BETTER, NULL);
	return place == PARETO_FRONT_BETTER;
}

/*
 * Whether the trial has made its setting whole, and that is better than all
 * before it.  What is on the front of settings, replicates_write records.
 */
static bool
setting_improves(struct tuner *t, const struct outcome *o)
{
	const struct setting *s;
	const int64_t *out;
	int64_t trial;
	size_t i, n_out;
	bool better;

	if (o->state != TRIAL_COMPLETED)
		return false;
	s = replicates_whole(&t->replicates, o->trial, &trial);
	if (s == NULL || s->violation > 0)
		return false;
	for (i = 0; i < t->study->n_objectives; i++)
		if (!isfinite(s->values[i]))
			return false;
	better = !(s->value >= t->outcomes.best_loss);
	if (better) {
		t->outcomes.best_loss = s->value;
		t->outcomes.best_trial = trial;
	}
	return t->outcomes.front == NULL
		   ? better
		   : pareto_front_add(t->outcomes.front, trial, s->values, &out,
			 &n_out) == PARETO_FRONT_BETTER;
}

/* Whether an outcome is better than those of all trials before. */
static bool
outcome_improves(struct tuner *t, const struct outcome *o)
{
	double loss = history_flip_sign(t->history, o->objective);
	int64_t trial = o->trial;

	if (t->replicates.count > 0)
		return setting_improves(t, o);
	if (o->state != TRIAL_COMPLETED ||
	    (t->outcomes.n_aims > 0 &&
		history_violation(t->history, o->trial) > 0))
		return false;
	if (t->outcomes.front != NULL)
		return o->known
			   ? o->better
			   : outcome_front_put(t, t->outcomes.front, o->trial,
				 history_losses(t->history, o->trial));
	if (!isfinite(loss) || loss >= t->outcomes.best_loss)
		return false;
	t->outcomes.best_loss = loss;
	t->outcomes.best_trial = trial;
	return true;
}

/* Whether the trial has not been counted before; it is now. */
static bool
outcome_count(struct outcomes *all, int64_t trial)
{
	size_t n = (size_t)trial + 1;
	bool first;

	if (n > all->n_counted) {
		all->counted =
		    xreallocarray(all->counted, 2 * n, sizeof *all->counted);
		memset(all->counted + all->n_counted, 0,
		    (2 * n - all->n_counted) * sizeof *all->counted);
		all->n_counted = 2 * n;
	}
	first = !all->counted[trial];
	all->counted[trial] = true;
	return first;
}

/*
 * A failure caused by the machine does not count against the setting.  "In a
 * row without a better one" counts trials with an objective or stopped by a
 * rule, each once; crashes are not counted.
 */
void
outcome_ended(struct tuner *t, const struct outcome *o)
{
	enum trial_state shown = o->state;
	bool first, once, better;

	if (o->outside || (o->state == TRIAL_FAILED &&
			      end_class_retry(o->last) == RETRY_FREE))
		shown = TRIAL_CANCELLED;
	if (t->outcomes.n_aims > 0 && o->values != NULL)
		outcome_observe(t, o->trial, o->values);
	judged_end(&t->judged, o->trial, shown, o->objective);
	first = replicates_ended(&t->replicates, o->trial, shown);
	judged_ended(&t->judged, o->trial);
	if (judged_compares(&t->judged, o->trial))
		median_view_end(&t->medians, o->trial);
	t->outcomes.n_over++;
	/* The search is over, or does not know of it. */
	if (replicates_is_held(&t->replicates, o->trial))
		return;
	t->outcomes.n_failed += o->state == TRIAL_FAILED;
	t->outcomes.failed_in_row += o->state == TRIAL_FAILED;
	t->outcomes.n_completed += o->state == TRIAL_COMPLETED;
	if (o->state != TRIAL_COMPLETED && o->state != TRIAL_STOPPED) {
		t->outcomes.n_news++;
		return;
	}
	if (o->state == TRIAL_COMPLETED)
		t->outcomes.failed_in_row = 0;
	once = outcome_count(&t->outcomes, o->trial);
	if (once)
		t->outcomes.since_better += t->replicates.count == 0 || first;
	better = outcome_improves(t, o);
	if (better)
		t->outcomes.since_better = 0;
	t->outcomes.n_news += once || better;
}

void
outcome_finish(struct tuner *t, struct live_trial *l)
{
	double *values = xcalloc(t->outcomes.n_aims + 1, sizeof *values);
	struct outcome o = {
		.trial = l->row.number,
		.state = l->row.state,
		.last = l->att.end_class,
		.objective = l->row.objective,
		.values = values,
	};

	outcome_values(t, l, values);
	outcome_ended(t, &o);
	trial_log_ended(&l->row, t->study->metric,
	    history_flip_sign(t->history, t->outcomes.best_loss),
	    t->outcomes.best_trial);
	if (o.state == TRIAL_FAILED)
		hooks_trial_failed(t->hooks, &l->row);
	free(values);
}

void
outcome_pause(struct tuner *t, struct live_trial *l)
{
	double *values = xcalloc(t->outcomes.n_aims + 1, sizeof *values);

	outcome_values(t, l, values);
	if (t->outcomes.n_aims > 0)
		outcome_observe(t, l->row.number, values);
	judged_end(&t->judged, l->row.number, TRIAL_STOPPED, l->row.objective);
	replicates_paused(&t->replicates, l->row.number);
	free(values);
}

int
outcome_restore(struct tuner *t, struct live_trial *l, struct err *e)
{
	const char *metric;
	int64_t step;
	double value;
	size_t i;
	int rc;

	for (i = 1; i < t->outcomes.n_aims; i++) {
		metric = study_aim_metric(t->outcomes.study, i);
		rc = store_metric_last(
		    t->store, l->row.number, metric, &step, &value, e);
		if (rc < 0)
			return -1;
		if (rc > 0)
			outcome_report(t, l, metric, step, value);
	}
	return 0;
}

struct live_trial *
outcome_read_ended(struct tuner *t, int64_t trial)
{
	struct store_trial row = { 0 };
	struct store_past past;
	struct live_trial *l;

	if (store_trial_get(t->store, trial, &row, NULL) != 0 ||
	    store_attempt_past(t->store, trial, &past, NULL) != 0) {
		store_trial_fini(&row);
		return NULL;
	}
	l = live_trial_new(&row, NULL);
	live_trial_restore_past(l, &past);
	live_trial_set_judged(l, l->row.last_step);
	(void)outcome_restore(t, l, NULL);
	return l;
}

void
outcome_revive(struct tuner *t, int64_t trial, bool failed)
{
	failed = failed && !replicates_is_held(&t->replicates, trial);
	t->outcomes.n_failed -= failed;
	if (failed && t->outcomes.failed_in_row > 0)
		t->outcomes.failed_in_row--;
	judged_retry(&t->judged, trial);
	replicates_revived(&t->replicates, trial);
	judged_ended(&t->judged, trial);
	if (judged_compares(&t->judged, trial))
		median_view_end(&t->medians, trial);
}

int
outcome_front_again(struct tuner *t)
{
	double *values, losses[STUDY_OBJECTIVES_MAX];
	struct pareto_front *front;
	struct store_rows *rows;
	int rc;

	if (t->study->n_objectives < 2)
		return 0;
	if (store_front_clear(t->store, NULL) != 0)
		return -1;
	/* The front of settings is written again when they are read again. */
	if (t->replicates.count > 0)
		return 0;
	if (store_list_feasible(&rows, t->store, NULL) != 0)
		return -1;
	front = pareto_front_new(t->study->n_objectives);
	values = xcalloc(t->outcomes.n_aims, sizeof *values);
	while ((rc = store_rows_next(rows, NULL)) == 1) {
		rc = store_outcome_get(t->store, store_rows_int(rows, 0),
		    t->outcomes.n_aims, values, NULL);
		if (rc != 0)
			break;
		outcome_losses(t, values, losses);
		(void)outcome_front_put(
		    t, front, store_rows_int(rows, 0), losses);
	}
	store_rows_close(rows);
	free(values);
	pareto_front_free(front);
	return rc;
}
