/* An Experiment of Katib, kubeflow.org/v1beta1, as a study. */

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/import/import-katib-params.h"
#include "src/import/import-katib-trial.h"
#include "src/import/import-katib.h"
#include "src/import/import-study.h"

enum { TRIALS = 100, PARALLEL = 3 }; /* PARALLEL: Katib's own default */

/* Whether the value of a trial is the last one, by metricStrategies. */
static bool
katib_is_latest(struct import *im, const char *metric, bool maximize)
{
	const struct json *j =
	    json_first(import_at(im->root, "objective", "metricStrategies"));
	const char *name, *value;

	for (; j != NULL; j = json_next(j)) {
		name = json_string(json_get(j, "name"));
		value = json_string(json_get(j, "value"));
		if (name == NULL || value == NULL || strcmp(name, metric) != 0)
			continue;
		if (strcmp(value, "latest") == 0)
			return true;
		if (strcmp(value, maximize ? "max" : "min") != 0)
			buf_printf(im->to.notes,
			    "objective.value: the strategy %s of %s becomes "
			    "best\n",
			    value, metric);
	}
	return false;
}

static int
katib_objective_put(struct import *im, struct err *e)
{
	static const char *const goals[] = { "minimize", "maximize", NULL };
	const struct json *from = json_need(im->root, "objective", e), *j;
	struct buf metric = { 0 };
	struct json_writer w;
	const char *name;
	size_t i;

	if (from == NULL || json_want(from, JSON_OBJECT, e) != 0 ||
	    (j = json_need(from, "type", e)) == NULL ||
	    json_read_word(j, goals, &i, e) != 0 ||
	    (j = json_need(from, "objectiveMetricName", e)) == NULL ||
	    json_read_string(j, &name, e) != 0)
		return -1;
	w = converted_object(&im->to, 1, "objective");
	import_put_metric(&metric, name);
	if (strcmp(buf_str(&metric), name) != 0)
		buf_printf(im->to.notes, "objective.metric: %s is %s here\n",
		    name, buf_str(&metric));
	json_writer_text(&w, "metric", buf_str(&metric));
	buf_free(&metric);
	json_writer_text(&w, "goal", goals[i]);
	json_writer_text(
	    &w, "value", katib_is_latest(im, name, i == 1) ? "last" : "best");
	if (json_get(from, "goal") != NULL)
		json_write(
		    json_writer_value(&w, "target"), json_get(from, "goal"));
	json_writer_end(&w);
	return 0;
}

/* A number of a setting, which is a text; other where there is none. */
static int64_t
katib_setting(const struct json *block, const char *settings, const char *name,
    int64_t other)
{
	const struct json *j = json_first(json_get(block, settings));
	const char *own, *value;

	for (; j != NULL; j = json_next(j)) {
		own = json_string(json_get(j, "name"));
		value = json_string(json_get(j, "value"));
		if (own != NULL && value != NULL && strcmp(own, name) == 0)
			return strtoll(value, NULL, 10);
	}
	return other;
}

static int
katib_strategy_put(struct import *im, struct err *e)
{
	static const struct {
		const char *theirs, *ours;
	} names[] = { { "random", "random" }, { "grid", "grid" },
		{ "tpe", "tpe" }, { "multivariate-tpe", "tpe" },
		{ "bayesianoptimization", "gp" }, { "cmaes", "cmaes" },
		{ "sobol", "sobol" }, { "hyperband", "random" },
		{ "pbt", "pbt" } };
	const char *name =
	    json_string(import_at(im->root, "algorithm", "algorithmName"));
	size_t i;

	if (json_get(im->root, "nasConfig") != NULL)
		return json_err(im->root, e,
		    "nasConfig: a search of architectures has no equivalent");
	for (i = 0; name != NULL && i < sizeof names / sizeof *names; i++)
		if (strcmp(name, names[i].theirs) == 0) {
			converted_text(&im->to, 1, "strategy", names[i].ours);
			return 0;
		}
	if (name != NULL)
		buf_printf(
		    im->to.notes, "strategy: %s is left out: auto\n", name);
	return 0;
}

static void
katib_stopping_put(struct import *im)
{
	const struct json *block = json_get(im->root, "earlyStopping");
	const struct json *algorithm = json_get(im->root, "algorithm");
	const char *name = json_string(json_get(block, "algorithmName"));
	const char *strategy =
	    json_string(json_get(algorithm, "algorithmName"));
	struct json_writer w;
	int64_t n;

	if (strategy != NULL && strcmp(strategy, "hyperband") == 0) {
		w = converted_object(&im->to, 1, "stopping");
		json_writer_text(&w, "rule", "hyperband");
		n = katib_setting(algorithm, "algorithmSettings", "eta", 3);
		json_writer_integer(&w, "reduction_factor", n >= 2 ? n : 2);
		json_writer_end(&w);
		converted_note(&im->to,
		    "stopping: Katib sets the parameter resourceName to the "
		    "budget of Hyperband; here a trial trains to its end "
		    "unless the rule stops it");
	} else if (name != NULL && strcmp(name, "medianstop") == 0) {
		w = converted_object(&im->to, 1, "stopping");
		json_writer_text(&w, "rule", "katib");
		n = katib_setting(
		    block, "algorithmSettings", "min_trials_required", 3);
		json_writer_integer(&w, "min_trials_required", n);
		n = katib_setting(block, "algorithmSettings", "start_step", 4);
		json_writer_integer(&w, "start_step", n);
		json_writer_end(&w);
	} else {
		if (name != NULL)
			buf_printf(im->to.notes,
			    "stopping: %s is left out: none\n", name);
		converted_text(&im->to, 1, "stopping", "none");
	}
}

static int
katib_limits_put(struct import *im, struct err *e)
{
	const struct json *most = json_get(im->root, "maxTrialCount");
	const struct json *parallel = json_get(im->root, "parallelTrialCount");
	const struct json *failed = json_get(im->root, "maxFailedTrialCount");
	int64_t trials = TRIALS, n = PARALLEL;

	if (most != NULL &&
	    json_read_integer(most, 1, 1000000000, &trials, e) != 0)
		return -1;
	if (parallel != NULL &&
	    json_read_integer(parallel, 1, 1000000, &n, e) != 0)
		return -1;
	if (most == NULL)
		converted_note(&im->to,
		    "limits.trials: the experiment has no maxTrialCount: 100");
	converted_open(&im->to, 1, "limits", '{');
	converted_key(&im->to, 2, "trials");
	buf_printf(&im->to.out, "%lld", (long long)trials);
	converted_key(&im->to, 2, "parallel");
	buf_printf(&im->to.out, "%lld", (long long)n);
	/* Katib ends the experiment when there are more. */
	if (failed != NULL) {
		if (json_read_integer(failed, 0, 1000000, &n, e) != 0)
			return -1;
		converted_key(&im->to, 2, "failed_trials");
		buf_printf(&im->to.out, "%lld", (long long)n + 1);
	}
	converted_close(&im->to, 1, '}');
	return 0;
}

static int
katib_study_put(struct import *im, const char *name, struct err *e)
{
	const struct json *params = json_need(im->root, "parameters", e);

	if (params == NULL)
		return -1;
	buf_putc(&im->to.out, '{');
	name = name != NULL ? name : "";
	import_name(im, name, strlen(name), "katib");
	if (katib_objective_put(im, e) != 0)
		return -1;
	converted_open(&im->to, 1, "parameters", '{');
	if (import_katib_params_put(im, params, e) != 0)
		return -1;
	converted_close(&im->to, 1, '}');
	if (katib_strategy_put(im, e) != 0)
		return -1;
	katib_stopping_put(im);
	if (import_katib_trial_put(im, e) != 0 || katib_limits_put(im, e) != 0)
		return -1;
	buf_puts(&im->to.out, "\n}\n");
	return 0;
}

int
import_katib(
    struct buf *out, struct buf *notes, const struct json *root, struct err *e)
{
	struct import im = { .to = { .notes = notes, .fresh = true } };
	const struct json *meta = json_get(root, "metadata");
	const char *name = json_string(json_get(meta, "name"));
	int rc = -1;

	if (name == NULL)
		name = json_string(json_get(meta, "generateName"));
	if (json_want(root, JSON_OBJECT, e) == 0)
		im.root = json_need(root, "spec", e);
	if (im.root != NULL && json_want(im.root, JSON_OBJECT, e) == 0)
		rc = katib_study_put(&im, name, e);
	if (rc == 0)
		buf_add(out, im.to.out.data, im.to.out.len);
	buf_free(&im.to.out);
	strv_free(im.names.v);
	return rc;
}
