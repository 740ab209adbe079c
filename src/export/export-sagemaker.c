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
    struct converted *to, int depth, const char *key, int64_t n)
{
	converted_key(to, depth, key);
	buf_printf(&to->out, "%" PRId64, n);
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
strategy_of(const struct converted *to, const struct study *study)
{
	const char *name = study->strategy.name;
	size_t i;

	if (has_hyperband(study))
		return "Hyperband";
	for (i = 0; i < sizeof strategies / sizeof strategies[0]; i++)
		if (strcmp(strategies[i].ours, name) == 0 &&
		    (strcmp(name, "grid") != 0 || is_all_choices(study->space)))
			return strategies[i].theirs;
	buf_printf(to->notes,
	    "strategy: %s has no counterpart here: Bayesian\n", name);
	return "Bayesian";
}

static void
export_sagemaker_hyperband_put(struct converted *to, const struct study *study)
{
	const struct json *block = study->stopping[0].block;
	const struct json *min = import_at(block, "min_resource", NULL);
	const struct json *max = import_at(block, "max_resource", NULL);

	converted_open(to, 2, "StrategyConfig", '{');
	converted_open(to, 3, "HyperbandStrategyConfig", '{');
	if (!converted_number(to, 4, "MinResource", min))
		export_sagemaker_integer_put(to, 4, "MinResource", 1);
	if (!converted_number(to, 4, "MaxResource", max) &&
	    study->trial.max_steps > 0)
		export_sagemaker_integer_put(
		    to, 4, "MaxResource", study->trial.max_steps);
	converted_close(to, 3, '}');
	converted_close(to, 2, '}');
}

static void
export_sagemaker_objective_put(
    struct converted *to, const struct study *study, bool several)
{
	/* With several definitions, each has its own. */
	if (!several) {
		converted_open(to, 2, "HyperParameterTuningJobObjective", '{');
		converted_text(
		    to, 3, "Type", study->maximize ? "Maximize" : "Minimize");
		converted_text(to, 3, "MetricName", study->metric);
		converted_close(to, 2, '}');
	}
	if (!study->value_last)
		converted_note(to,
		    "objective.value: best: SageMaker uses the last "
		    "report of a job");
}

static void
export_sagemaker_limits_put(struct converted *to, const struct study *study,
    const struct json *backend, bool grid)
{
	const struct study_limits *limits = &study->limits;

	converted_open(to, 2, "ResourceLimits", '{');
	/* For a grid, SageMaker computes the number of jobs itself. */
	if (limits->trials > 0 && !grid)
		export_sagemaker_integer_put(
		    to, 3, "MaxNumberOfTrainingJobs", limits->trials);
	if (limits->parallel > 0)
		export_sagemaker_integer_put(
		    to, 3, "MaxParallelTrainingJobs", limits->parallel);
	else if (!converted_number(to, 3, "MaxParallelTrainingJobs",
		     json_get(backend, "parallel"))) {
		export_sagemaker_integer_put(
		    to, 3, "MaxParallelTrainingJobs", 1);
		converted_note(to, "limits.parallel: not given: 1");
	}
	if (limits->wall_time_ms > 0)
		export_sagemaker_integer_put(
		    to, 3, "MaxRuntimeInSeconds", limits->wall_time_ms / 1000);
	converted_close(to, 2, '}');
	if (limits->cost > 0)
		converted_note(
		    to, "limits.cost: a tuning job has no such limit");
	if (limits->failed_trials > 0)
		converted_note(
		    to, "limits.failed_trials: a tuning job has none");
	if (limits->completed > 0)
		converted_note(to,
		    "limits.completed: a tuning job counts all training jobs");
}

static void
criteria_put(struct converted *to, const struct study *study)
{
	const struct study_limits *limits = &study->limits;

	if (!study->has_target && limits->no_improvement == 0 &&
	    !limits->convergence)
		return;
	converted_open(to, 2, "TuningJobCompletionCriteria", '{');
	if (study->has_target) {
		converted_key(to, 3, "TargetObjectiveMetricValue");
		json_put_number(&to->out, study->target);
	}
	if (limits->no_improvement > 0) {
		converted_open(to, 3, "BestObjectiveNotImproving", '{');
		export_sagemaker_integer_put(to, 4,
		    "MaxNumberOfTrainingJobsNotImproving",
		    limits->no_improvement);
		converted_close(to, 3, '}');
	}
	if (limits->convergence) {
		converted_open(to, 3, "ConvergenceDetected", '{');
		converted_text(to, 4, "CompleteOnConvergence", "Enabled");
		converted_close(to, 3, '}');
		if (limits->convergence_block != NULL)
			converted_note(to,
			    "limits.convergence: AWS finds it by a "
			    "rule of its own, without options");
	}
	converted_close(to, 2, '}');
}

static void
export_sagemaker_stopping_put(struct converted *to, const struct study *study)
{
	const char *rule = study->stopping[0].name;
	bool off = strcmp(rule, "none") == 0 || has_hyperband(study);

	converted_text(
	    to, 2, "TrainingJobEarlyStoppingType", off ? "Off" : "Auto");
	if (!off && strcmp(rule, "sagemaker") != 0)
		buf_printf(to->notes,
		    "stopping: %s: the only rule of a tuning job is Auto, "
		    "which is sagemaker here\n",
		    rule);
}

/* Note properties that a SageMaker range does not have. */
static void
range_notes(
    struct converted *to, const struct export_part *part, const struct param *p)
{
	bool steps = p->type == PARAM_INT ? p->step > 1 : p->step > 0;

	if (p->has_default)
		buf_printf(to->notes,
		    "parameters.%s.default: left out: ranges of a tuning "
		    "job have none\n",
		    p->name);
	if (export_part_has_condition(part, p))
		buf_printf(to->notes,
		    "parameters.%s.when: left out: it is always active "
		    "in a tuning job\n",
		    p->name);
	if (steps && (p->type == PARAM_FLOAT || p->type == PARAM_INT))
		buf_printf(to->notes,
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
export_sagemaker_ranges_put(struct converted *to,
    const struct export_part *part, enum param_type type, const char *key)
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
			converted_open(to, 3, key, '[');
		w = converted_object(to, 4, NULL);
		json_writer_text(&w, "Name", name);
		if (type == PARAM_CHOICE)
			export_sagemaker_values_put(&w, part, p);
		else
			export_sagemaker_range_put(&w, p);
		json_writer_end(&w);
		range_notes(to, part, p);
	}
	if (n > 0)
		converted_close(to, 3, ']');
	return n;
}

void
export_ranges_put(
    struct converted *to, const struct export_part *part, const char *key)
{
	size_t n;

	converted_open(to, 2, key, '{');
	n = export_sagemaker_ranges_put(
	    to, part, PARAM_FLOAT, "ContinuousParameterRanges");
	n += export_sagemaker_ranges_put(
	    to, part, PARAM_INT, "IntegerParameterRanges");
	n += export_sagemaker_ranges_put(
	    to, part, PARAM_CHOICE, "CategoricalParameterRanges");
	converted_close(to, 2, '}');
	if (n > RANGES_MAX)
		buf_printf(to->notes,
		    "parameters: %zu are searched, a tuning job may have %d\n",
		    n, RANGES_MAX);
}

static void
config_put(
    struct converted *to, const struct study *study, const struct json *backend)
{
	const char *strategy = strategy_of(to, study);
	const struct export_part whole = { study, backend, NULL };
	bool several = export_algorithms(backend) != NULL;

	converted_open(to, 1, "HyperParameterTuningJobConfig", '{');
	converted_text(to, 2, "Strategy", strategy);
	if (has_hyperband(study))
		export_sagemaker_hyperband_put(to, study);
	export_sagemaker_objective_put(to, study, several);
	export_sagemaker_limits_put(
	    to, study, backend, strcmp(strategy, "Grid") == 0);
	if (!several)
		export_ranges_put(to, &whole, "ParameterRanges");
	export_sagemaker_stopping_put(to, study);
	criteria_put(to, study);
	if (study->has_seed && study->seed <= INT32_MAX)
		export_sagemaker_integer_put(
		    to, 2, "RandomSeed", (int64_t)study->seed);
	else if (study->has_seed)
		converted_note(to, "strategy.seed: left out: it is too large");
	converted_close(to, 1, '}');
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
export_sagemaker_tags_put(struct converted *to, const struct json *backend)
{
	const struct json *j = json_get(backend, "tags");

	if (json_count(j) == 0)
		return;
	converted_open(to, 1, "Tags", '[');
	for (j = json_first(j); j != NULL; j = json_next(j)) {
		converted_open(to, 2, NULL, '{');
		converted_text(to, 3, "Key", json_key(j));
		converted_copy(to, 3, "Value", j);
		converted_close(to, 2, '}');
	}
	converted_close(to, 1, ']');
}

static int
export_sagemaker_study_put(
    struct converted *to, const struct study *study, struct err *e)
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
	buf_putc(&to->out, '{');
	converted_text(to, 1, "HyperParameterTuningJobName", study->name);
	config_put(to, study, backend);
	export_definitions_put(to, study, backend);
	export_sagemaker_tags_put(to, backend);
	buf_puts(&to->out, "\n}\n");
	if (study->n_warm_start > 0)
		converted_note(to,
		    "warm_start: left out: name the parent tuning "
		    "jobs in the request");
	if (study->n_enqueue > 0)
		converted_note(to, "enqueue: a tuning job has none");
	return 0;
}

int
export_sagemaker(
    struct buf *out, struct buf *notes, struct store *store, struct err *e)
{
	struct converted to = { .notes = notes, .fresh = true };
	struct study *study = NULL;
	int rc;

	if (trial_points_study(&study, store, e) != 0)
		return -1;
	if ((rc = export_sagemaker_study_put(&to, study, e)) == 0)
		buf_add(out, to.out.data, to.out.len);
	buf_free(&to.out);
	study_free(study);
	return rc;
}
