/* Histories and rules of first replicates, and of the others. */

#include <stdlib.h>

#include "src/base/mem.h"
#include "src/engine/replicates/judged.h"
#include "src/engine/replicates/replicates.h"
#include "src/model/history/history.h"
#include "src/model/space.h"
#include "src/model/study/study.h"
#include "strategies/stopper.h"

void
judged_open(struct judged *j, struct history *trials,
    const struct replicates *r, const struct study *study,
    struct stop_rule_set *rules, struct stop_rule_set *others)
{
	*j = (struct judged){ .trials = trials,
		.firsts = trials,
		.rules = rules,
		.others = others,
		.replicates = r };
	if (study_has_own_steps(&study->trial))
		j->axis = &study->trial;
	stop_rule_set_read_metric(rules, study->trial.own_metric);
	if (others != NULL)
		stop_rule_set_read_metric(others, study->trial.own_metric);
	if (others == NULL && j->axis == NULL)
		return;
	if (others != NULL)
		stop_rule_set_compare_nothing(others);
	j->firsts =
	    history_new(study->space->n, study->maximize, HISTORY_CURVES);
}

void
judged_close(struct judged *j)
{
	stop_rule_set_free(j->rules);
	stop_rule_set_free(j->others);
	if (j->firsts != j->trials)
		history_free(j->firsts);
	free(j->own);
}

bool
judged_compares(const struct judged *j, int64_t trial)
{
	return j->others == NULL ||
	       replicates_number(j->replicates, trial) == 1;
}

struct stop_rule_set *
judged_rules(const struct judged *j, int64_t trial)
{
	return judged_compares(j, trial) ? j->rules : j->others;
}

struct history *
judged_history(const struct judged *j, int64_t trial)
{
	return judged_compares(j, trial) ? j->firsts : j->trials;
}

/* Whether there is another history that has the trial. */
static bool
judged_twice(const struct judged *j, int64_t trial)
{
	return j->firsts != j->trials && judged_compares(j, trial);
}

void
judged_add(struct judged *j, int64_t trial, int replicate, const double *point)
{
	history_add(j->trials, trial, point);
	if (j->firsts != j->trials && replicate <= 1)
		history_add(j->firsts, trial, NULL);
	while (j->axis != NULL && (int64_t)j->n_own < trial) {
		XGROW(j->own, j->n_own, j->cap_own);
		j->own[j->n_own++] = 0;
	}
}

int64_t
judged_at(const struct judged *j, int64_t trial, int64_t step)
{
	int64_t own;

	if (j->axis == NULL || !judged_compares(j, trial))
		return step;
	own = j->own[trial - 1];
	if (own == 0 && j->axis->own_metric != NULL)
		return -1;
	return study_axis_step(j->axis->max_steps, own, step);
}

void
judged_set_own(struct judged *j, int64_t trial, int64_t steps,
    void (*each)(void *, int64_t trial, int64_t at), void *arg)
{
	struct curve c;
	int64_t at;
	size_t i;

	if (j->axis == NULL || steps == 0 || j->own[trial - 1] != 0)
		return;
	j->own[trial - 1] = steps;
	if (j->axis->own_metric == NULL || !judged_compares(j, trial))
		return;
	c = history_curve(j->trials, trial);
	for (i = 0; i < c.n; i++) {
		at = judged_at(j, trial, curve_step(&c, i));
		(void)history_report(j->firsts, trial, at,
		    history_flip_sign(j->trials, curve_value(&c, i)));
		each(arg, trial, at);
	}
}

bool
judged_report(struct judged *j, int64_t trial, int64_t step, double value)
{
	int64_t at = judged_at(j, trial, step);

	if (judged_twice(j, trial) && at >= 0)
		(void)history_report(j->firsts, trial, at, value);
	return history_report(j->trials, trial, step, value);
}

void
judged_results(struct judged *j, int64_t trial, const double *objectives,
    const double *violations)
{
	if (judged_twice(j, trial))
		history_results(j->firsts, trial, objectives, violations);
	history_results(j->trials, trial, objectives, violations);
}

void
judged_end(
    struct judged *j, int64_t trial, enum trial_state state, double objective)
{
	if (judged_twice(j, trial))
		history_end(j->firsts, trial, state, objective);
	history_end(j->trials, trial, state, objective);
}

void
judged_retry(struct judged *j, int64_t trial)
{
	if (judged_twice(j, trial))
		history_retry(j->firsts, trial);
	history_retry(j->trials, trial);
}

void
judged_ended(struct judged *j, int64_t trial)
{
	stop_rule_set_ended(
	    judged_rules(j, trial), judged_history(j, trial), trial);
}
