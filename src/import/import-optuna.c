/* The trials of an Optuna storage. */

#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json-writer.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/import/import-results.h"

static const struct {
	const char *theirs, *ours;
} states[] = {
	{ "COMPLETE", "completed" },
	{ "PRUNED", "stopped" },
	{ "FAIL", "failed" },
};

static const char *
import_optuna_state_of(const struct json *trial)
{
	const char *state = json_string(json_get(trial, "state"));
	size_t i;

	for (i = 0; state != NULL && i < sizeof states / sizeof *states; i++)
		if (strcmp(state, states[i].theirs) == 0)
			return states[i].ours;
	return NULL;
}

/*
 * The value of its objective: of a trial that was pruned that of its last step,
 * if it has one.
 */
static const struct json *
import_optuna_value_of(const struct json *trial, const char *state)
{
	const struct json *value = json_first(json_get(trial, "values"));
	double step;

	if (value == NULL && strcmp(state, "stopped") == 0 &&
	    json_number(json_get(trial, "step"), &step))
		value = json_get(trial, "last");
	return value;
}

static void
import_optuna_trial_put(
    struct json_writer *w, const struct json *trial, const char *state)
{
	const struct json *value = import_optuna_value_of(trial, state);
	const struct json *constraints = json_get(trial, "constraints");
	double x;

	json_writer_object(w, NULL);
	json_writer_text(w, "state", state);
	if (json_number(value, &x))
		json_writer_number(w, "objective", x);
	if (json_number(json_get(trial, "step"), &x))
		json_writer_number(w, "step", x);
	if (json_count(json_get(trial, "values")) > 1)
		json_write(
		    json_writer_value(w, "values"), json_get(trial, "values"));
	else if (value != NULL) {
		json_writer_array(w, "values");
		json_write(json_writer_value(w, NULL), value);
		json_writer_end(w);
	}
	if (json_count(constraints) > 0)
		json_write(json_writer_value(w, "constraints"), constraints);
	json_write(json_writer_value(w, "params"), json_get(trial, "params"));
	json_writer_end(w);
}

int
import_optuna(struct buf *trials, struct import_results *to,
    const struct json *root, struct err *e)
{
	struct json_writer w = { .out = trials };
	const struct json *j, *goals = json_get(root, "goals");
	const char *text = json_string(json_first(goals));
	const char *name = json_string(json_first(json_get(root, "metrics")));
	size_t n;

	to->study = json_string(json_get(root, "study"));
	if (json_count(goals) == 0 || text == NULL || to->study == NULL)
		return err_set(
		    e, ERR_USAGE, "the study has no name, or no direction");
	if (json_count(goals) > 1) {
		to->goals = goals;
		to->metrics = json_get(root, "metrics");
	} else {
		if (to->metric == NULL)
			to->metric = name != NULL ? name : "objective";
		to->maximize = strcmp(text, "MAXIMIZE") == 0;
	}
	to->domains = json_get(root, "domains");
	json_writer_array(&w, NULL);
	for (j = json_first(json_get(root, "trials")); j != NULL;
	     j = json_next(j)) {
		text = import_optuna_state_of(j);
		if (text == NULL)
			continue;
		to->stops = to->stops || strcmp(text, "stopped") == 0;
		n = json_count(json_get(j, "constraints"));
		to->constraints = n > to->constraints ? n : to->constraints;
		if (import_optuna_value_of(j, text) != NULL &&
		    json_type(import_optuna_value_of(j, text)) == JSON_NULL &&
		    json_count(goals) == 1 && strcmp(text, "failed") != 0) {
			text = "failed"; /* NaN, or infinite */
			to->diverged++;
		}
		import_optuna_trial_put(&w, j, text);
	}
	json_writer_end(&w);
	return 0;
}
