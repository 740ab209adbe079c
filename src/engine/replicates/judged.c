/* Histories and rules of first replicates, and of the others. */

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
	if (others == NULL)
		return;
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
	return j->others != NULL && judged_compares(j, trial);
}

void
judged_add(struct judged *j, int64_t trial, int replicate, const double *point)
{
	history_add(j->trials, trial, point);
	if (j->others != NULL && replicate <= 1)
		history_add(j->firsts, trial, NULL);
}

bool
judged_report(struct judged *j, int64_t trial, int64_t step, double value)
{
	if (judged_twice(j, trial))
		(void)history_report(j->firsts, trial, step, value);
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
