/*
 * Converts the trials of a JSON document, as hpotune export --format json
 * writes it and hpotune import for the trials of other tools.
 */

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/model/goal.h"
#include "src/model/study/study.h"
#include "src/server/warmstart/warmstart-internal.h"

/* Its result, and whether it has one of use. */
static bool
result_read(struct warmstart_reading *r, const struct json *j,
    struct warmstart_trial *trial)
{
	struct warmstart_source *s = r->source;
	const char *state = json_string(json_get(j, "state"));

	(void)json_number(json_get(j, "objective"), &trial->objective);
	(void)json_integer(json_get(j, "step"), &trial->step);
	trial->value = trial->objective;
	if (state == NULL || !trial_state_parse(state, &trial->state) ||
	    (trial->state != TRIAL_COMPLETED && trial->state != TRIAL_STOPPED &&
		trial->state != TRIAL_FAILED)) {
		s->running++;
		return false;
	}
	if (trial->state != TRIAL_FAILED && !isfinite(trial->objective)) {
		s->empty++;
		return false;
	}
	return true;
}

static void
trial_read(struct warmstart_reading *r, const struct json *j)
{
	struct warmstart_source *s = r->source;
	struct warmstart_trial trial = {
		.trial = ++s->trials, .objective = NAN, .step = -1, .value = NAN
	};
	const struct json *params = json_get(j, "params");
	char why[sizeof s->why] = "its parameters cannot be read";

	if (!result_read(r, j, &trial))
		return;
	warmstart_source_unknown(r, params);
	if (params != NULL && warmstart_source_fit(r, params, why, sizeof why))
		warmstart_source_take(r, &trial);
	else if (s->unfit++ == 0)
		memcpy(s->why, why, sizeof why);
}

/* The other study must have searched for the same. */
static int
goal_check(const struct warmstart_reading *r, const struct json *root,
    const struct study_warm *from, struct err *e)
{
	const struct json *study = json_get(root, "study");
	const char *metric = json_string(json_get(study, "metric"));
	const char *goal = json_string(json_get(study, "goal"));

	if (warmstart_source_is_multi(r->study))
		return json_err(from->where, e,
		    "a list of trials has one objective and no constraints");
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

	if (goal_check(r, root, from, e) != 0)
		return -1;
	for (j = json_first(json_get(root, "trials")); j != NULL;
	     j = json_next(j))
		trial_read(r, j);
	return r->source->taken > 0
		   ? 0
		   : warmstart_source_useless(r->source, from, e);
}
