/*
 * A SageMaker tuning job as a study, and notes on what is lost.  Shapes: API
 * reference, CreateHyperParameterTuningJob.
 */

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/import/import-sagemaker.h"
#include "src/import/import-study.h"
#include "src/model/goal.h"

static int
import_sagemaker_objective_put(struct import *im, struct err *e)
{
	static const char *const types[] = { "Maximize", "Minimize", NULL };
	const struct json *j, *name, *type;
	struct json_writer w;
	const char *text;
	size_t i;

	/* With several definitions, each has its own. */
	j = import_at(im->def, "TuningObjective", NULL);
	if (j == NULL)
		j = import_at(
		    im->config, "HyperParameterTuningJobObjective", NULL);
	if (j == NULL)
		return json_err(im->config, e,
		    "HyperParameterTuningJobObjective is missing");
	name = json_need(j, "MetricName", e);
	type = name != NULL ? json_need(j, "Type", e) : NULL;
	if (type == NULL || json_read_string(name, &text, e) != 0 ||
	    json_read_word(type, types, &i, e) != 0)
		return -1;
	if (im->n_defs > 1)
		text = import_several_metric(im);
	w = converted_object(&im->to, 1, "objective");
	json_writer_text(&w, "metric", text);
	json_writer_text(&w, "goal", goal_name(i == 0));
	/* In SageMaker the last value of a job is its result. */
	json_writer_text(&w, "value", "last");
	j = import_at(im->config, "TuningJobCompletionCriteria",
	    "TargetObjectiveMetricValue");
	if (j != NULL)
		json_write(json_writer_value(&w, "target"), j);
	json_writer_end(&w);
	return 0;
}

enum {
	NAME_MAX_STUDY = 32,
	NAME_PART = 15 /* of a definition's name */
};

/*
 * Append at most max characters of name as [a-z0-9][a-z0-9-]*; the new length.
 */
static size_t
name_add(char *text, size_t n, size_t max, const char *name)
{
	for (; name != NULL && *name != '\0' && n < max; name++)
		if (isalnum((unsigned char)*name) || (*name == '-' && n > 0))
			text[n++] = (char)tolower((unsigned char)*name);
	return n;
}

static void
import_sagemaker_name_put(struct import *im)
{
	char text[NAME_MAX_STUDY + 1];
	size_t n;

	n = name_add(text, 0,
	    im->parts > 1 ? NAME_MAX_STUDY - NAME_PART - 1 : NAME_MAX_STUDY,
	    json_string(json_get(im->root, "HyperParameterTuningJobName")));
	if (im->parts > 1) {
		if (n > 0)
			text[n++] = '-';
		n = name_add(text, n, NAME_MAX_STUDY,
		    json_string(json_get(im->def, "DefinitionName")));
	}
	text[n] = '\0';
	converted_text(&im->to, 1, "study", n > 0 ? text : "imported");
}

static int
import_sagemaker_strategy_put(struct import *im, struct err *e)
{
	static const char *const words[] = { "Bayesian", "Random", "Hyperband",
		"Grid", NULL };
	static const char *const names[] = { "tpe", "random", "tpe", "grid" };
	const struct json *j = json_need(im->config, "Strategy", e);
	struct json_writer w;
	size_t i;

	if (j == NULL || json_read_word(j, words, &i, e) != 0)
		return -1;
	w = converted_object(&im->to, 1, "strategy");
	json_writer_text(&w, "name", names[i]);
	j = json_get(im->config, "RandomSeed");
	if (j != NULL)
		json_write(json_writer_value(&w, "seed"), j);
	json_writer_end(&w);
	im->hyperband = i == 2;
	return 0;
}

static void
import_sagemaker_hyperband_put(struct import *im)
{
	const struct json *j =
	    import_at(im->config, "StrategyConfig", "HyperbandStrategyConfig");
	const struct json *min = import_at(j, "MinResource", NULL);
	const struct json *max = import_at(j, "MaxResource", NULL);
	struct json_writer w = converted_object(&im->to, 1, "stopping");

	json_writer_text(&w, "rule", "hyperband");
	if (min != NULL)
		json_write(json_writer_value(&w, "min_resource"), min);
	if (max != NULL)
		json_write(json_writer_value(&w, "max_resource"), max);
	else
		converted_note(&im->to,
		    "stopping: Hyperband without MaxResource: give "
		    "trial.max_steps the number of epochs");
	json_writer_end(&w);
}

static int
import_sagemaker_stopping_put(struct import *im, struct err *e)
{
	static const char *const words[] = { "Off", "Auto", NULL };
	const struct json *j =
	    json_get(im->config, "TrainingJobEarlyStoppingType");
	size_t i = 0;

	if (j != NULL && json_read_word(j, words, &i, e) != 0)
		return -1;
	if (im->hyperband)
		import_sagemaker_hyperband_put(im);
	else
		converted_text(
		    &im->to, 1, "stopping", i == 1 ? "sagemaker" : "none");
	if (im->n_defs > 1 && (im->hyperband || i == 1))
		converted_note(&im->to,
		    "stopping: trials are compared by their steps, "
		    "also those of different definitions");
	return 0;
}

/* A number of jobs; with several studies each gets its share, rounded up. */
static bool
import_sagemaker_share_put(
    struct import *im, const char *key, const struct json *j)
{
	int64_t n, parts = im->parts > 1 ? im->parts : 1;

	if (!json_integer(j, &n))
		return converted_number(&im->to, 2, key, j);
	converted_key(&im->to, 2, key);
	buf_printf(&im->to.out, "%lld",
	    (long long)(n > 0 ? (n + parts - 1) / parts : n));
	return true;
}

/* AWS does not publish its convergence rule; state ours. */
static void
import_sagemaker_convergence_put(struct import *im, const struct json *done)
{
	const char *how =
	    json_string(import_at(import_at(done, "ConvergenceDetected", NULL),
		"CompleteOnConvergence", NULL));

	if (how == NULL || strcmp(how, "Enabled") != 0)
		return;
	converted_key(&im->to, 2, "convergence");
	buf_puts(&im->to.out, "true");
	converted_note(&im->to,
	    "ConvergenceDetected: AWS does not document its "
	    "rule; limits.convergence uses another one");
}

/* Trials of earlier tuning jobs: the study reads them from AWS. */
static void
warm_put(struct import *im)
{
	const struct json *j = import_at(json_get(im->root, "WarmStartConfig"),
	    "ParentHyperParameterTuningJobs", NULL);
	const char *name;

	if (json_count(j) == 0)
		return;
	converted_open(&im->to, 1, "warm_start", '[');
	for (j = json_first(j); j != NULL; j = json_next(j)) {
		name = json_string(json_get(j, "HyperParameterTuningJobName"));
		if (name == NULL)
			continue;
		converted_open(&im->to, 2, NULL, '{');
		converted_text(&im->to, 3, "tuning_job", name);
		converted_close(&im->to, 2, '}');
	}
	converted_close(&im->to, 1, ']');
	converted_note(&im->to,
	    "warm_start: the first start asks AWS for the trials of these "
	    "tuning jobs");
}

static int
import_sagemaker_limits_put(struct import *im, struct err *e)
{
	const struct json *j = json_need(im->config, "ResourceLimits", e);
	const struct json *done =
	    json_get(im->config, "TuningJobCompletionCriteria");
	bool bounded;

	if (j == NULL)
		return -1;
	converted_open(&im->to, 1, "limits", '{');
	bounded = import_sagemaker_share_put(
	    im, "trials", json_get(j, "MaxNumberOfTrainingJobs"));
	(void)import_sagemaker_share_put(
	    im, "parallel", json_get(j, "MaxParallelTrainingJobs"));
	if (im->parts > 1)
		buf_printf(im->to.notes,
		    "limits: each of the %d studies has its share of the "
		    "jobs\n",
		    im->parts);
	bounded |= converted_number(
	    &im->to, 2, "wall_time", json_get(j, "MaxRuntimeInSeconds"));
	(void)converted_number(&im->to, 2, "no_improvement",
	    import_at(done, "BestObjectiveNotImproving",
		"MaxNumberOfTrainingJobsNotImproving"));
	if (!bounded) {
		converted_key(&im->to, 2, "trials");
		buf_puts(&im->to.out, "100");
		converted_note(
		    &im->to, "limits.trials: nothing bounded the job: 100");
	}
	import_sagemaker_convergence_put(im, done);
	converted_close(&im->to, 1, '}');
	warm_put(im);
	return 0;
}

/* Element i of an object (one element) or a list; NULL after the last. */
static const struct json *
import_sagemaker_one_of(const struct json *j, size_t i)
{
	if (j == NULL || json_type(j) != JSON_ARRAY)
		return i == 0 ? j : NULL;
	for (j = json_first(j); j != NULL && i > 0; i--)
		j = json_next(j);
	return j;
}

/* The JSON of the definitions: a list, or an object; NULL = none. */
static const struct json *
definitions_of(const struct json *root)
{
	const struct json *list = json_get(root, "TrainingJobDefinitions");

	return list != NULL ? list : json_get(root, "TrainingJobDefinition");
}

static const struct json *
definitions_find(const struct json *root, const struct json *more)
{
	const struct json *inner;

	if (more == NULL)
		return definitions_of(root);
	inner = json_type(more) == JSON_OBJECT ? definitions_of(more) : NULL;
	return inner != NULL ? inner : more;
}

size_t
import_sagemaker_count(const struct json *root, const struct json *more)
{
	const struct json *j = definitions_find(root, more);
	size_t n = 0;

	while (import_sagemaker_one_of(j, n) != NULL)
		n++;
	return n;
}

const char *
import_sagemaker_name(
    const struct json *root, const struct json *more, size_t i)
{
	const struct json *j =
	    import_sagemaker_one_of(definitions_find(root, more), i);

	return j != NULL ? json_string(json_get(j, "DefinitionName")) : NULL;
}

bool
import_sagemaker_is_one(
    const struct json *root, const struct json *more, struct buf *why)
{
	const struct json *list = definitions_find(root, more);
	struct import im = { .to = { .notes = why } };

	return list != NULL && json_type(list) == JSON_ARRAY &&
	       import_several_find(&im, list, why);
}

static int
definition_named(
    struct import *im, const struct json *list, const char *name, struct err *e)
{
	const struct json *j;
	const char *text;
	size_t i;

	for (i = 0; (j = import_sagemaker_one_of(list, i)) != NULL; i++) {
		text = json_string(json_get(j, "DefinitionName"));
		if (text != NULL && strcmp(text, name) == 0)
			im->def = j;
		else if (im->parts <= 1)
			buf_printf(im->to.notes,
			    "TrainingJobDefinitions: %s is left out\n",
			    text != NULL ? text : "one without a name");
	}
	if (im->def == NULL)
		return json_err(list, e, "no definition is named %s", name);
	return json_want(im->def, JSON_OBJECT, e);
}

/*
 * Select the only training definition, and the document that errors about it
 * name.
 */
static int
definition_find(
    struct import *im, const struct json *more, const char *name, struct err *e)
{
	const struct json *list = definitions_find(im->root, more);
	size_t n = import_sagemaker_count(im->root, more);
	struct buf why = { 0 };
	int rc;

	if (list == NULL && name == NULL && im->config == im->root &&
	    json_get(im->root, "Strategy") != NULL)
		return 0;
	if (list == NULL && json_get(im->root, "StoppingCondition") != NULL)
		return json_err(im->root, e,
		    "this is a training definition: name the file of the "
		    "tuning job's configuration in front of it");
	if (list == NULL)
		return json_err(
		    im->root, e, "TrainingJobDefinition is missing");
	if (name != NULL)
		return definition_named(im, list, name, e);
	if (n != 1) {
		if (json_type(list) == JSON_ARRAY &&
		    import_several_find(im, list, &why)) {
			buf_free(&why);
			return 0;
		}
		rc = json_err(list, e,
		    "there are %zu definitions, and they are not one study: "
		    "%s: choose one with --definition, or name a file with -o, "
		    "and each becomes a study",
		    n, n > 0 ? buf_str(&why) : "the list is empty");
		buf_free(&why);
		return rc;
	}
	im->def = import_sagemaker_one_of(list, 0);
	return json_want(im->def, JSON_OBJECT, e);
}

static int
import_sagemaker_study_put(struct import *im, struct err *e)
{
	buf_putc(&im->to.out, '{');
	import_sagemaker_name_put(im);
	if (import_sagemaker_objective_put(im, e) != 0 ||
	    import_space_put(im, e) != 0 ||
	    import_sagemaker_strategy_put(im, e) != 0 ||
	    import_sagemaker_stopping_put(im, e) != 0 ||
	    import_job_put(im, e) != 0 ||
	    import_sagemaker_limits_put(im, e) != 0)
		return -1;
	buf_puts(&im->to.out, "\n}\n");
	import_dropped_note(im);
	return 0;
}

int
import_sagemaker(struct buf *out, struct buf *notes,
    const struct import_source *from, struct err *e)
{
	struct import im = {
		.to = { .notes = notes, .fresh = true },
		.root = from->root,
		.parts = from->parts,
	};
	int rc;

	if (json_want(from->root, JSON_OBJECT, e) != 0)
		return -1;
	im.config = json_get(from->root, "HyperParameterTuningJobConfig");
	if (im.config == NULL)
		im.config = from->root;
	if (json_want(im.config, JSON_OBJECT, e) != 0 ||
	    definition_find(&im, from->more, from->definition, e) != 0)
		return -1;
	if (im.n_defs == 0)
		import_script_find(&im);
	if (im.n_defs == 0)
		import_algorithm_find(&im);
	if ((rc = import_sagemaker_study_put(&im, e)) == 0)
		buf_add(out, im.to.out.data, im.to.out.len);
	buf_free(&im.to.out);
	free(im.program);
	return rc;
}
