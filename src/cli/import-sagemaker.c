/*
 * A tuning job of SageMaker as a study: what goes where, and what does not.
 * Shapes: API reference, CreateHyperParameterTuningJob.
 */

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json.h"
#include "src/base/mem.h"
#include "src/cli/import-parts.h"
#include "src/cli/import-sagemaker.h"

/* Bounds whose ratio is at least this are searched by logarithm ("Auto"). */
#define AUTO_LOG_RATIO 1000.0

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

/* SageMaker writes bounds as texts; some tools write them as numbers. */
static int
bound_read(double *x, const struct json *range, const char *key, struct err *e)
{
	const struct json *j = json_need(range, key, e);
	const char *text;
	char *end;

	if (j == NULL)
		return -1;
	if (json_number(j, x))
		return 0;
	text = json_string(j);
	if (text != NULL) {
		*x = strtod(text, &end);
		if (end != text && *end == '\0' && isfinite(*x))
			return 0;
	}
	return json_err(j, e, "expected a number, or a text that is one");
}

static int
scale_put(struct import *im, const struct json *range, double min, double max,
    struct err *e)
{
	static const char *const words[] = { "Auto", "Linear", "Logarithmic",
		"ReverseLogarithmic", NULL };
	static const char *const scales[] = { NULL, NULL, "log",
		"reverse-log" };
	const struct json *j = json_get(range, "ScalingType");
	size_t i = 0;

	if (j != NULL && json_read_word(j, words, &i, e) != 0)
		return -1;
	if (i == 0 && min > 0 && max / min >= AUTO_LOG_RATIO)
		i = 2;
	if (scales[i] != NULL)
		buf_printf(&im->out, ", \"scale\": \"%s\"", scales[i]);
	return 0;
}

static int
range_put(struct import *im, const struct json *range, const char *type,
    struct err *e)
{
	const struct json *name = json_need(range, "Name", e);
	const char *text;
	double min, max;

	if (name == NULL || json_read_string(name, &text, e) != 0 ||
	    bound_read(&min, range, "MinValue", e) != 0 ||
	    bound_read(&max, range, "MaxValue", e) != 0)
		return -1;
	import_key(im, 2, text);
	buf_printf(&im->out, "{ \"type\": \"%s\", \"min\": ", type);
	json_put_number(&im->out, min);
	buf_puts(&im->out, ", \"max\": ");
	json_put_number(&im->out, max);
	if (scale_put(im, range, min, max, e) != 0)
		return -1;
	buf_puts(&im->out, " }");
	return 0;
}

/*
 * The SDK writes values of a framework's job as JSON ("\"adam\"", "0.1"),
 * other tools as they are: what reads as a scalar of JSON is one.
 */
static void
value_put(struct import *im, const char *text)
{
	struct json_doc *doc = NULL;
	struct err e = ERR_INIT;
	enum json_type type = JSON_NULL;

	if (json_parse(&doc, text, strlen(text), NULL, false, &e) == 0)
		type = json_type(json_root(doc));
	if (type == JSON_STRING || type == JSON_NUMBER || type == JSON_BOOL)
		json_write(&im->out, json_root(doc));
	else
		json_put_string(&im->out, text);
	json_free(doc);
}

static int
choice_put(struct import *im, const struct json *range, struct err *e)
{
	const struct json *name = json_need(range, "Name", e);
	const struct json *values = json_need(range, "Values", e), *j;
	const char *text;
	bool first = true;

	if (name == NULL || values == NULL ||
	    json_read_string(name, &text, e) != 0 ||
	    json_want(values, JSON_ARRAY, e) != 0)
		return -1;
	import_key(im, 2, text);
	buf_puts(&im->out, json_count(values) > 1
			       ? "{ \"type\": \"choice\", \"values\": ["
			       : "{ \"type\": \"fixed\", \"value\": ");
	for (j = json_first(values); j != NULL; j = json_next(j)) {
		if (json_read_string(j, &text, e) != 0)
			return -1;
		if (!first)
			buf_puts(&im->out, ", ");
		first = false;
		value_put(im, text);
	}
	buf_puts(&im->out, json_count(values) > 1 ? "] }" : " }");
	return 0;
}

/* Ranges that SageMaker would choose itself stay at their hint. */
static int
auto_put(struct import *im, const struct json *range, struct err *e)
{
	const struct json *name = json_need(range, "Name", e);
	const struct json *hint = json_need(range, "ValueHint", e);
	const char *text, *value;
	char *note;

	if (name == NULL || hint == NULL ||
	    json_read_string(name, &text, e) != 0 ||
	    json_read_string(hint, &value, e) != 0)
		return -1;
	import_key(im, 2, text);
	buf_puts(&im->out, "{ \"type\": \"fixed\", \"value\": ");
	value_put(im, value);
	buf_puts(&im->out, " }");
	note =
	    xasprintf("%s: an AutoParameter has no bounds here: fixed at its "
		      "hint; give it min and max to search it",
		text);
	import_note(im, note);
	free(note);
	return 0;
}

/* Those that belong to the tuning service or to the toolkit stay behind. */
static bool
static_ours(const char *name)
{
	return strncmp(name, "sagemaker_", 10) != 0 &&
	       strcmp(name, "_tuning_objective_metric") != 0;
}

static int
statics_put(struct import *im, struct err *e)
{
	const struct json *j =
	    import_at(im->def, "StaticHyperParameters", NULL);
	const char *text;

	for (j = j != NULL ? json_first(j) : NULL; j != NULL;
	     j = json_next(j)) {
		if (json_read_string(j, &text, e) != 0)
			return -1;
		if (!static_ours(json_key(j)))
			continue;
		import_key(im, 2, json_key(j));
		buf_puts(&im->out, "{ \"type\": \"fixed\", \"value\": ");
		value_put(im, text);
		buf_puts(&im->out, " }");
	}
	return 0;
}

static int
ranges_put(struct import *im, const struct json *ranges, const char *key,
    int (*put)(struct import *, const struct json *, struct err *),
    struct err *e)
{
	const struct json *j = import_at(ranges, key, NULL);

	for (j = j != NULL ? json_first(j) : NULL; j != NULL; j = json_next(j))
		if (put(im, j, e) != 0)
			return -1;
	return 0;
}

static int
float_put(struct import *im, const struct json *j, struct err *e)
{
	return range_put(im, j, "float", e);
}

static int
int_put(struct import *im, const struct json *j, struct err *e)
{
	return range_put(im, j, "int", e);
}

static int
parameters_put(struct import *im, struct err *e)
{
	const struct json *ranges =
	    import_at(im->config, "ParameterRanges", NULL);

	if (ranges == NULL)
		ranges = import_at(im->def, "HyperParameterRanges", NULL);
	import_open(im, 1, "parameters", '{');
	if (ranges_put(im, ranges, "ContinuousParameterRanges", float_put, e) !=
		0 ||
	    ranges_put(im, ranges, "IntegerParameterRanges", int_put, e) != 0 ||
	    ranges_put(
		im, ranges, "CategoricalParameterRanges", choice_put, e) != 0 ||
	    ranges_put(im, ranges, "AutoParameters", auto_put, e) != 0 ||
	    statics_put(im, e) != 0)
		return -1;
	import_close(im, 1, '}');
	return 0;
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
	if (objective_put(&im, e) == 0 && parameters_put(&im, e) == 0 &&
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
