/*
 * A tuning job of SageMaker as a study: what goes where, and what does not.
 * Shapes: API reference, CreateHyperParameterTuningJob.
 */

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json.h"
#include "src/base/mem.h"
#include "src/cli/import-parts.h"
#include "src/cli/import-sagemaker.h"

void
import_key(struct import *im, int depth, const char *key)
{
	buf_printf(&im->out, "%s\n%*s", im->fresh ? "" : ",", 2 * depth, "");
	if (key != NULL) {
		json_put_string(&im->out, key);
		buf_puts(&im->out, ": ");
	}
	im->fresh = false;
}

void
import_open(struct import *im, int depth, const char *key, char bracket)
{
	import_key(im, depth, key);
	buf_putc(&im->out, bracket);
	im->fresh = true;
}

void
import_close(struct import *im, int depth, char bracket)
{
	if (!im->fresh)
		buf_printf(&im->out, "\n%*s", 2 * depth, "");
	buf_putc(&im->out, bracket);
	im->fresh = false;
}

void
import_text(struct import *im, int depth, const char *key, const char *text)
{
	if (text == NULL)
		return;
	import_key(im, depth, key);
	json_put_string(&im->out, text);
}

bool
import_number(
    struct import *im, int depth, const char *key, const struct json *j)
{
	double x;

	if (!json_number(j, &x))
		return false;
	import_key(im, depth, key);
	json_put_number(&im->out, x);
	return true;
}

void
import_note(struct import *im, const char *text)
{
	buf_printf(im->notes, "%s\n", text);
}

const struct json *
import_at(const struct json *j, const char *a, const char *b)
{
	j = j != NULL ? json_get(j, a) : NULL;
	return j != NULL && b != NULL ? json_get(j, b) : j;
}

static int
objective_put(struct import *im, struct err *e)
{
	static const char *const types[] = { "Maximize", "Minimize", NULL };
	const struct json *j, *name, *type;
	const char *text;
	size_t i;

	j = import_at(im->config, "HyperParameterTuningJobObjective", NULL);
	if (j == NULL)
		j = import_at(im->def, "TuningObjective", NULL);
	if (j == NULL)
		return json_err(im->config, e,
		    "HyperParameterTuningJobObjective is missing");
	name = json_need(j, "MetricName", e);
	type = name != NULL ? json_need(j, "Type", e) : NULL;
	if (type == NULL || json_read_string(name, &text, e) != 0 ||
	    json_read_word(type, types, &i, e) != 0)
		return -1;
	import_key(im, 1, "objective");
	buf_puts(&im->out, "{ \"metric\": ");
	json_put_string(&im->out, text);
	buf_printf(
	    &im->out, ", \"goal\": \"%s\"", i == 0 ? "maximize" : "minimize");
	/* SageMaker's result of a job is what it said last. */
	buf_puts(&im->out, ", \"value\": \"last\"");
	j = import_at(im->config, "TuningJobCompletionCriteria",
	    "TargetObjectiveMetricValue");
	if (j != NULL) {
		buf_puts(&im->out, ", \"target\": ");
		json_write(&im->out, j);
	}
	buf_puts(&im->out, " }");
	return 0;
}

/* [a-z0-9][a-z0-9-]{0,31} */
static void
name_put(struct import *im, const struct json *root)
{
	const char *name =
	    json_string(json_get(root, "HyperParameterTuningJobName"));
	char text[33];
	size_t n = 0;

	for (; name != NULL && *name != '\0' && n < sizeof text - 1; name++)
		if (isalnum((unsigned char)*name) || (*name == '-' && n > 0))
			text[n++] = (char)tolower((unsigned char)*name);
	text[n] = '\0';
	import_text(im, 1, "study", n > 0 ? text : "imported");
}

static int
strategy_put(struct import *im, struct err *e)
{
	static const char *const words[] = { "Bayesian", "Random", "Hyperband",
		"Grid", NULL };
	static const char *const names[] = { "tpe", "random", "tpe", "grid" };
	const struct json *j = json_need(im->config, "Strategy", e);
	size_t i;

	if (j == NULL || json_read_word(j, words, &i, e) != 0)
		return -1;
	import_key(im, 1, "strategy");
	buf_printf(&im->out, "{ \"name\": \"%s\"", names[i]);
	j = json_get(im->config, "RandomSeed");
	if (j != NULL) {
		buf_puts(&im->out, ", \"seed\": ");
		json_write(&im->out, j);
	}
	buf_puts(&im->out, " }");
	im->hyperband = i == 2;
	return 0;
}

static void
hyperband_put(struct import *im)
{
	const struct json *j =
	    import_at(im->config, "StrategyConfig", "HyperbandStrategyConfig");
	const struct json *min = import_at(j, "MinResource", NULL);
	const struct json *max = import_at(j, "MaxResource", NULL);

	import_key(im, 1, "stopping");
	buf_puts(&im->out, "{ \"rule\": \"hyperband\"");
	if (min != NULL) {
		buf_puts(&im->out, ", \"min_resource\": ");
		json_write(&im->out, min);
	}
	if (max != NULL) {
		buf_puts(&im->out, ", \"max_resource\": ");
		json_write(&im->out, max);
	} else
		import_note(im, "stopping: Hyperband without MaxResource: give "
				"trial.max_steps the number of epochs");
	buf_puts(&im->out, " }");
}

static int
stopping_put(struct import *im, struct err *e)
{
	static const char *const words[] = { "Off", "Auto", NULL };
	const struct json *j =
	    json_get(im->config, "TrainingJobEarlyStoppingType");
	size_t i = 0;

	if (j != NULL && json_read_word(j, words, &i, e) != 0)
		return -1;
	if (im->hyperband)
		hyperband_put(im);
	else
		import_text(im, 1, "stopping", i == 1 ? "sagemaker" : "none");
	return 0;
}

static int
limits_put(struct import *im, struct err *e)
{
	const struct json *j = json_need(im->config, "ResourceLimits", e);
	const struct json *done =
	    json_get(im->config, "TuningJobCompletionCriteria");
	bool bounded;

	if (j == NULL)
		return -1;
	import_open(im, 1, "limits", '{');
	bounded = import_number(
	    im, 2, "trials", json_get(j, "MaxNumberOfTrainingJobs"));
	(void)import_number(
	    im, 2, "parallel", json_get(j, "MaxParallelTrainingJobs"));
	bounded |= import_number(
	    im, 2, "wall_time", json_get(j, "MaxRuntimeInSeconds"));
	(void)import_number(im, 2, "no_improvement",
	    import_at(done, "BestObjectiveNotImproving",
		"MaxNumberOfTrainingJobsNotImproving"));
	if (!bounded) {
		import_key(im, 2, "trials");
		buf_puts(&im->out, "100");
		import_note(im, "limits.trials: nothing bounded the job: 100");
	}
	import_close(im, 1, '}');
	if (import_at(done, "ConvergenceDetected", NULL) != NULL)
		import_note(im, "ConvergenceDetected has no counterpart: "
				"limits.no_improvement is near to it");
	if (json_get(im->root, "WarmStartConfig") != NULL)
		import_note(im,
		    "WarmStartConfig: results of earlier tuning jobs are not "
		    "read");
	return 0;
}

/* The one training definition, and where the errors about it stand. */
static int
definition_find(struct import *im, const char *name, struct err *e)
{
	const struct json *list = json_get(im->root, "TrainingJobDefinitions");
	const struct json *j;
	const char *text;

	im->def = json_get(im->root, "TrainingJobDefinition");
	if (im->def != NULL && name == NULL)
		return json_want(im->def, JSON_OBJECT, e);
	if (list == NULL && im->def == NULL)
		return json_err(
		    im->root, e, "TrainingJobDefinition is missing");
	if (list != NULL && name == NULL && json_count(list) == 1) {
		im->def = json_first(list);
		return 0;
	}
	for (j = list != NULL ? json_first(list) : im->def; j != NULL;
	     j = list != NULL ? json_next(j) : NULL) {
		text = json_string(json_get(j, "DefinitionName"));
		if (name != NULL && text != NULL && strcmp(text, name) == 0) {
			im->def = j;
			return 0;
		}
	}
	if (name != NULL)
		return json_err(list != NULL ? list : im->def, e,
		    "no definition is named %s", name);
	return json_err(list, e,
	    "there are %zu definitions, and a study has one: choose it with "
	    "--definition",
	    json_count(list));
}

int
import_sagemaker(struct buf *out, struct buf *notes, const struct json *root,
    const char *definition, struct err *e)
{
	struct import im = { .notes = notes, .root = root, .fresh = true };
	int rc = -1;

	if (json_want(root, JSON_OBJECT, e) != 0)
		return -1;
	im.config = json_get(root, "HyperParameterTuningJobConfig");
	if (im.config == NULL)
		im.config = root;
	if (definition_find(&im, definition, e) != 0)
		return -1;
	buf_putc(&im.out, '{');
	name_put(&im, root);
	if (objective_put(&im, e) == 0 && import_space_put(&im, e) == 0 &&
	    strategy_put(&im, e) == 0 && stopping_put(&im, e) == 0 &&
	    import_trial_put(&im, e) == 0 && import_backend_put(&im, e) == 0 &&
	    limits_put(&im, e) == 0) {
		buf_puts(&im.out, "\n}\n");
		buf_add(out, im.out.data, im.out.len);
		rc = 0;
	}
	buf_free(&im.out);
	return rc;
}
