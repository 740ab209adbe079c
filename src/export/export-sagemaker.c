/*
 * A study as a SageMaker tuning job, and notes on what cannot be converted.
 * Shapes: API reference, CreateHyperParameterTuningJob.
 */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/export/export-sagemaker.h"
#include "src/import/import-study.h"
#include "src/model/space.h"
#include "src/model/study/study.h"
#include "src/view/trial-points.h"

enum { RANGES_MAX = 30 }; /* parameters that a tuning job can search */

static const struct {
	const char *ours;
	const char *theirs;
} strategies[] = {
	{ "auto", "Bayesian" },
	{ "tpe", "Bayesian" },
	{ "gp", "Bayesian" },
	{ "random", "Random" },
	{ "grid", "Grid" },
};

static void
export_sagemaker_integer_put(
    struct import *im, int depth, const char *key, int64_t n)
{
	import_key(im, depth, key);
	buf_printf(&im->out, "%" PRId64, n);
}

static bool
has_hyperband(const struct study *study)
{
	return strcmp(study->stopping[0].name, "hyperband") == 0;
}

/* Grid accepts categorical parameters only. */
static bool
is_all_choices(const struct space *space)
{
	size_t i;

	for (i = 0; i < space->n; i++)
		if (space->params[i].type == PARAM_FLOAT ||
		    space->params[i].type == PARAM_INT)
			return false;
	return true;
}

static const char *
strategy_of(const struct import *im, const struct study *study)
{
	const char *name = study->strategy.name;
	size_t i;

	if (has_hyperband(study))
		return "Hyperband";
	for (i = 0; i < sizeof strategies / sizeof strategies[0]; i++)
		if (strcmp(strategies[i].ours, name) == 0 &&
		    (strcmp(name, "grid") != 0 || is_all_choices(study->space)))
			return strategies[i].theirs;
	buf_printf(im->notes,
	    "strategy: %s has no counterpart here: Bayesian\n", name);
	return "Bayesian";
}

static void
export_sagemaker_hyperband_put(struct import *im, const struct study *study)
{
	const struct json *block = study->stopping[0].block;
	const struct json *min = import_at(block, "min_resource", NULL);
	const struct json *max = import_at(block, "max_resource", NULL);

	import_open(im, 2, "StrategyConfig", '{');
	import_open(im, 3, "HyperbandStrategyConfig", '{');
	if (!import_number(im, 4, "MinResource", min))
		export_sagemaker_integer_put(im, 4, "MinResource", 1);
	if (!import_number(im, 4, "MaxResource", max) &&
	    study->trial.max_steps > 0)
		export_sagemaker_integer_put(
		    im, 4, "MaxResource", study->trial.max_steps);
	import_close(im, 3, '}');
	import_close(im, 2, '}');
}

static void
export_sagemaker_objective_put(
    struct import *im, const struct study *study, bool several)
{
	/* With several definitions, each has its own. */
	if (!several) {
		import_open(im, 2, "HyperParameterTuningJobObjective", '{');
		import_text(
		    im, 3, "Type", study->maximize ? "Maximize" : "Minimize");
		import_text(im, 3, "MetricName", study->metric);
		import_close(im, 2, '}');
	}
	if (!study->value_last)
		import_note(im,
		    "objective.value: best: SageMaker uses the last "
		    "report of a job");
}

static void
export_sagemaker_limits_put(struct import *im, const struct study *study,
    const struct json *backend, bool grid)
{
	const struct study_limits *limits = &study->limits;

	import_open(im, 2, "ResourceLimits", '{');
	/* For a grid, SageMaker computes the number of jobs itself. */
	if (limits->trials > 0 && !grid)
		export_sagemaker_integer_put(
		    im, 3, "MaxNumberOfTrainingJobs", limits->trials);
	if (limits->parallel > 0)
		export_sagemaker_integer_put(
		    im, 3, "MaxParallelTrainingJobs", limits->parallel);
	else if (!import_number(im, 3, "MaxParallelTrainingJobs",
		     json_get(backend, "parallel"))) {
		export_sagemaker_integer_put(
		    im, 3, "MaxParallelTrainingJobs", 1);
		import_note(im, "limits.parallel: not given: 1");
	}
	if (limits->wall_time_ms > 0)
		export_sagemaker_integer_put(
		    im, 3, "MaxRuntimeInSeconds", limits->wall_time_ms / 1000);
	import_close(im, 2, '}');
	if (limits->cost > 0)
		import_note(im, "limits.cost: a tuning job has no such limit");
	if (limits->failed_trials > 0)
		import_note(im, "limits.failed_trials: a tuning job has none");
	if (limits->completed > 0)
		import_note(im,
		    "limits.completed: a tuning job counts all training jobs");
}

static void
criteria_put(struct import *im, const struct study *study)
{
	const struct study_limits *limits = &study->limits;

	if (!study->has_target && limits->no_improvement == 0 &&
	    !limits->convergence)
		return;
	import_open(im, 2, "TuningJobCompletionCriteria", '{');
	if (study->has_target) {
		import_key(im, 3, "TargetObjectiveMetricValue");
		json_put_number(&im->out, study->target);
	}
	if (limits->no_improvement > 0) {
		import_open(im, 3, "BestObjectiveNotImproving", '{');
		export_sagemaker_integer_put(im, 4,
		    "MaxNumberOfTrainingJobsNotImproving",
		    limits->no_improvement);
		import_close(im, 3, '}');
	}
	if (limits->convergence) {
		import_open(im, 3, "ConvergenceDetected", '{');
		import_text(im, 4, "CompleteOnConvergence", "Enabled");
		import_close(im, 3, '}');
		if (limits->convergence_block != NULL)
			import_note(im, "limits.convergence: AWS finds it by a "
					"rule of its own, without options");
	}
	import_close(im, 2, '}');
}

static void
export_sagemaker_stopping_put(struct import *im, const struct study *study)
{
	const char *rule = study->stopping[0].name;
	bool off = strcmp(rule, "none") == 0 || has_hyperband(study);

	import_text(
	    im, 2, "TrainingJobEarlyStoppingType", off ? "Off" : "Auto");
	if (!off && strcmp(rule, "sagemaker") != 0)
		buf_printf(im->notes,
		    "stopping: %s: the only rule of a tuning job is Auto, "
		    "which is sagemaker here\n",
		    rule);
}

/* Note properties that a SageMaker range does not have. */
static void
range_notes(
    struct import *im, const struct export_part *part, const struct param *p)
{
	bool steps = p->type == PARAM_INT ? p->step > 1 : p->step > 0;

	if (p->has_default)
		buf_printf(im->notes,
		    "parameters.%s.default: left out: ranges of a tuning "
		    "job have none\n",
		    p->name);
	if (export_part_has_condition(part, p))
		buf_printf(im->notes,
		    "parameters.%s.when: left out: it is always active "
		    "in a tuning job\n",
		    p->name);
	if (steps && (p->type == PARAM_FLOAT || p->type == PARAM_INT))
		buf_printf(im->notes,
		    "parameters.%s.step: left out: ranges of a tuning "
		    "job have none\n",
		    p->name);
}

static void
export_sagemaker_bound_put(
    struct json_writer *w, const char *key, const struct param *p, double x)
{
	struct buf text = { 0 };

	if (p->type == PARAM_INT)
		buf_printf(&text, "%.0f", x);
	else
		json_put_number(&text, x);
	json_writer_text(w, key, buf_str(&text));
	buf_free(&text);
}

static void
export_sagemaker_range_put(struct json_writer *w, const struct param *p)
{
	static const char *const scales[] = {
		[SCALE_LINEAR] = "Linear",
		[SCALE_LOG] = "Logarithmic",
		[SCALE_REVERSE_LOG] = "ReverseLogarithmic",
	};

	export_sagemaker_bound_put(w, "MinValue", p, p->min);
	export_sagemaker_bound_put(w, "MaxValue", p, p->max);
	json_writer_text(w, "ScalingType", scales[p->scale]);
}

static void
export_sagemaker_values_put(struct json_writer *w,
    const struct export_part *part, const struct param *p)
{
	struct buf text = { 0 };
	size_t i;

	json_writer_array(w, "Values");
	for (i = 0; i < p->n_values; i++) {
		buf_clear(&text);
		export_part_value_put(&text, part, &p->values[i]);
		json_writer_text(w, NULL, buf_str(&text));
	}
	json_writer_end(w);
	buf_free(&text);
}

/* Write the parameters of one type; returns their number. */
static size_t
export_sagemaker_ranges_put(struct import *im, const struct export_part *part,
    enum param_type type, const char *key)
{
	const struct space *space = part->study->space;
	const struct param *p;
	struct json_writer w;
	const char *name;
	size_t i, n = 0;

	for (i = 0; i < space->n; i++) {
		p = &space->params[i];
		if (p->type != type || !export_part_takes(part, p, &name))
			continue;
		if (n++ == 0)
			import_open(im, 3, key, '[');
		w = import_object(im, 4, NULL);
		json_writer_text(&w, "Name", name);
		if (type == PARAM_CHOICE)
			export_sagemaker_values_put(&w, part, p);
		else
			export_sagemaker_range_put(&w, p);
		json_writer_end(&w);
		range_notes(im, part, p);
	}
	if (n > 0)
		import_close(im, 3, ']');
	return n;
}

void
export_ranges_put(
    struct import *im, const struct export_part *part, const char *key)
{
	size_t n;

	import_open(im, 2, key, '{');
	n = export_sagemaker_ranges_put(
	    im, part, PARAM_FLOAT, "ContinuousParameterRanges");
	n += export_sagemaker_ranges_put(
	    im, part, PARAM_INT, "IntegerParameterRanges");
	n += export_sagemaker_ranges_put(
	    im, part, PARAM_CHOICE, "CategoricalParameterRanges");
	import_close(im, 2, '}');
	if (n > RANGES_MAX)
		buf_printf(im->notes,
		    "parameters: %zu are searched, a tuning job may have %d\n",
		    n, RANGES_MAX);
}

static void
config_put(
    struct import *im, const struct study *study, const struct json *backend)
{
	const char *strategy = strategy_of(im, study);
	const struct export_part whole = { study, backend, NULL };
	bool several = export_algorithms(backend) != NULL;

	import_open(im, 1, "HyperParameterTuningJobConfig", '{');
	import_text(im, 2, "Strategy", strategy);
	if (has_hyperband(study))
		export_sagemaker_hyperband_put(im, study);
	export_sagemaker_objective_put(im, study, several);
	export_sagemaker_limits_put(
	    im, study, backend, strcmp(strategy, "Grid") == 0);
	if (!several)
		export_ranges_put(im, &whole, "ParameterRanges");
	export_sagemaker_stopping_put(im, study);
	criteria_put(im, study);
	if (study->has_seed && study->seed <= INT32_MAX)
		export_sagemaker_integer_put(
		    im, 2, "RandomSeed", (int64_t)study->seed);
	else if (study->has_seed)
		import_note(im, "strategy.seed: left out: it is too large");
	import_close(im, 1, '}');
}

/* The block of the backend; without one there is no tuning job. */
static const struct json *
backend_find(const struct study *study, struct err *e)
{
	size_t i;

	for (i = 0; i < study->n_backends; i++)
		if (strcmp(study->backends[i].name, "sagemaker") == 0 &&
		    study->backends[i].block != NULL)
			return study->backends[i].block;
	(void)err_set(e, ERR_USAGE,
	    "export: %s: a tuning job needs a backend sagemaker: "
	    "which has role, image and machines",
	    study->name);
	return NULL;
}

/* Tags of the tuning job, which applies them to its training jobs. */
static void
export_sagemaker_tags_put(struct import *im, const struct json *backend)
{
	const struct json *j = json_get(backend, "tags");

	if (json_count(j) == 0)
		return;
	import_open(im, 1, "Tags", '[');
	for (j = json_first(j); j != NULL; j = json_next(j)) {
		import_open(im, 2, NULL, '{');
		import_text(im, 3, "Key", json_key(j));
		import_copy(im, 3, "Value", j);
		import_close(im, 2, '}');
	}
	import_close(im, 1, ']');
}

static int
export_sagemaker_study_put(
    struct import *im, const struct study *study, struct err *e)
{
	const struct json *backend = backend_find(study, e);

	if (backend == NULL)
		return -1;
	if (study->n_objectives > 1)
		return err_set(e, ERR_USAGE,
		    "export: %s: a tuning job has one objective, not %zu",
		    study->name, study->n_objectives);
	if (study->n_constraints > 0)
		return err_set(e, ERR_USAGE,
		    "export: %s: a tuning job has no constraints", study->name);
	buf_putc(&im->out, '{');
	import_text(im, 1, "HyperParameterTuningJobName", study->name);
	config_put(im, study, backend);
	export_definitions_put(im, study, backend);
	export_sagemaker_tags_put(im, backend);
	buf_puts(&im->out, "\n}\n");
	if (study->n_warm_start > 0)
		import_note(im, "warm_start: left out: name the parent tuning "
				"jobs in the request");
	if (study->n_enqueue > 0)
		import_note(im, "enqueue: a tuning job has none");
	return 0;
}

int
export_sagemaker(
    struct buf *out, struct buf *notes, struct store *store, struct err *e)
{
	struct import im = { .notes = notes, .fresh = true };
	struct study *study = NULL;
	int rc;

	if (trial_points_study(&study, store, e) != 0)
		return -1;
	if ((rc = export_sagemaker_study_put(&im, study, e)) == 0)
		buf_add(out, im.out.data, im.out.len);
	buf_free(&im.out);
	study_free(study);
	return rc;
}
