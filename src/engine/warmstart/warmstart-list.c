/*
 * Converts the trials of a JSON document, as hpotune export --format json
 * writes it and hpotune import for the trials of other tools.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json-writer.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/engine/warmstart/warmstart-internal.h"
#include "src/model/goal.h"
#include "src/model/study/study.h"

/*
 * A trial's value of a metric among its outcomes, or NULL; the goal there, or
 * NULL.
 */
static const struct json *
outcome_of(const struct json *trial, const char *metric, const char **goal)
{
	const struct json *j;
	const char *name;

	for (j = json_first(json_get(trial, "outcomes")); j != NULL;
	     j = json_next(j)) {
		name = json_string(json_get(j, "metric"));
		if (name == NULL || strcmp(name, metric) != 0)
			continue;
		*goal = json_string(json_get(j, "goal"));
		return json_get(j, "value");
	}
	return NULL;
}

/* The values of all objectives and constraints; false: an objective has none. */
static bool
warmstart_list_outcomes_read(
    const struct study *s, const struct json *trial, struct warmstart_trial *to)
{
	struct json_writer w = { 0 };
	struct buf b = { 0 };
	const char *goal, *metric;
	bool whole = true;
	double x;
	size_t i;

	w.out = &b;
	json_writer_object(&w, NULL);
	for (i = 0; i < s->n_objectives + s->n_constraints; i++) {
		metric = study_aim_metric(s, i);
		x = NAN;
		(void)json_number(outcome_of(trial, metric, &goal), &x);
		json_writer_number(&w, metric, x);
		whole = whole && (i >= s->n_objectives || isfinite(x));
		if (i == 0)
			to->objective = x;
	}
	json_writer_end(&w);
	to->metrics = buf_take(&b);
	return whole;
}

/* Read the result of a trial; returns whether it has one of use. */
static bool
warmstart_list_result_read(struct warmstart_reading *r, const struct json *j,
    struct warmstart_trial *trial)
{
	struct warmstart_source *s = r->source;
	const char *state = json_string(json_get(j, "state"));

	bool whole = true;

	(void)json_number(json_get(j, "objective"), &trial->objective);
	if (warmstart_source_is_multi(r->study))
		whole = warmstart_list_outcomes_read(r->study, j, trial);
	(void)json_integer(json_get(j, "step"), &trial->step);
	trial->value = trial->objective;
	if (state == NULL || !trial_state_parse(state, &trial->state) ||
	    (trial->state != TRIAL_COMPLETED && trial->state != TRIAL_STOPPED &&
		trial->state != TRIAL_FAILED)) {
		s->running++;
		return false;
	}
	if (trial->state != TRIAL_FAILED &&
	    !(whole && isfinite(trial->objective))) {
		s->empty++;
		return false;
	}
	return true;
}

static void
warmstart_list_trial_read(struct warmstart_reading *r, const struct json *j)
{
	struct warmstart_source *s = r->source;
	struct warmstart_trial trial = {
		.trial = ++s->trials, .objective = NAN, .step = -1, .value = NAN
	};
	const struct json *params = json_get(j, "params");
	char why[sizeof s->why] = "its parameters cannot be read";

	if (!warmstart_list_result_read(r, j, &trial)) {
		free(trial.metrics);
		return;
	}
	warmstart_source_unknown(r, params);
	if (params != NULL &&
	    warmstart_source_fit(r, params, why, sizeof why)) {
		warmstart_source_take(r, &trial);
		return;
	}
	free(trial.metrics);
	if (s->unfit++ == 0)
		memcpy(s->why, why, sizeof why);
}

/* Each objective must be there, with its goal, and each constraint. */
static int
goals_check(const struct warmstart_reading *r, const struct json *root,
    const struct study_warm *from, struct err *e)
{
	const struct study *s = r->study;
	const char *goal, *metric;
	const struct json *j;
	size_t i;

	for (i = 0; i < s->n_objectives + s->n_constraints; i++) {
		metric = study_aim_metric(s, i);
		goal = NULL;
		for (j = json_first(json_get(root, "trials")); j != NULL;
		     j = json_next(j))
			if (outcome_of(j, metric, &goal) != NULL)
				break;
		if (j == NULL)
			return json_err(from->where, e,
			    "no trial there has an outcome of %s", metric);
		/* The metric may have been a constraint there. */
		if (i < s->n_objectives && goal != NULL &&
		    strcmp(goal, "keep") != 0 &&
		    strcmp(goal, goal_name(s->objectives[i].maximize)) != 0)
			return json_err(from->where, e,
			    "the goal of %s is %s, and here it is %s", metric,
			    goal, goal_name(s->objectives[i].maximize));
	}
	return 0;
}

/* The other study must have searched for the same. */
static int
warmstart_list_goal_check(const struct warmstart_reading *r,
    const struct json *root, const struct study_warm *from, struct err *e)
{
	const struct json *study = json_get(root, "study");
	const char *metric = json_string(json_get(study, "metric"));
	const char *goal = json_string(json_get(study, "goal"));

	if (warmstart_source_is_multi(r->study))
		return goals_check(r, root, from, e);
	if (metric != NULL && strcmp(metric, r->study->metric) != 0)
		return json_err(from->where, e,
		    "its objective is %s and not %s", metric, r->study->metric);
	if (goal != NULL && strcmp(goal, goal_name(r->study->maximize)) != 0)
		return json_err(from->where, e,
		    "its goal is %s, and the goal here is %s", goal,
		    goal_name(r->study->maximize));
	return 0;
}

int
warmstart_list_read(struct warmstart_reading *r, const struct json *root,
    const struct study_warm *from, struct err *e)
{
	const struct json *j;

	if (warmstart_list_goal_check(r, root, from, e) != 0)
		return -1;
	for (j = json_first(json_get(root, "trials")); j != NULL;
	     j = json_next(j))
		warmstart_list_trial_read(r, j);
	return r->source->taken > 0
		   ? 0
		   : warmstart_source_useless(r->source, from, e);
}
