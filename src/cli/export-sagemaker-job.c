/*
 * A study's trial and backend as the training definition of a tuning job.
 * Shapes: API reference, HyperParameterTrainingJobDefinition.
 */

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json.h"
#include "src/base/mem.h"
#include "src/cli/export-sagemaker.h"
#include "src/cli/import-parts.h"
#include "src/model/space.h"
#include "src/model/study.h"
#include "src/model/units.h"

enum { DAY = 86400, GIB = 1 << 30, VOLUME = 30 };

/* Keys of the block that have a place, or that only matter here. */
static const char *const said[] = { "name", "region", "profile", "role",
	"image", "instance_type", "instance_count", "volume", "spot",
	"force_spot", "checkpoints", "max_run", "max_wait", "s3", "inputs",
	"input_mode", "vpc", "parallel", "pace", "price_per_hour", NULL };

void
export_put_hyperparameter(struct buf *b, const struct value *v)
{
	struct json_doc *doc = NULL;
	enum json_type type = JSON_NULL;

	if (v->kind != VALUE_TEXT) {
		value_put_json(b, v);
		return;
	}
	if (json_parse(&doc, v->text, strlen(v->text), NULL, false, NULL) == 0)
		type = json_type(json_root(doc));
	if (type == JSON_STRING || type == JSON_NUMBER || type == JSON_BOOL)
		json_put_string(b, v->text);
	else
		buf_puts(b, v->text);
	json_free(doc);
}

/* A whole number of a block: seconds of a duration, or bytes of a size. */
static bool
amount_read(
    double *x, const struct json *j, bool (*parse)(const char *, double *))
{
	const char *text = json_string(j);

	return json_number(j, x) || (text != NULL && parse(text, x));
}

static void
number_put(struct import *im, int depth, const char *key, double x)
{
	import_key(im, depth, key);
	buf_printf(&im->out, "%.0f", ceil(x));
}

/* What a trial prints by itself: hpotune: step=3 loss=0.2 */
static void
regex_put(struct import *im, const char *metric)
{
	struct buf regex = { 0 };

	buf_puts(&regex, "hpotune:.*\\s");
	for (; *metric != '\0'; metric++) {
		if (!isalnum((unsigned char)*metric) && *metric != '_' &&
		    *metric != ':' && (*metric & 0x80) == 0)
			buf_putc(&regex, '\\');
		buf_putc(&regex, *metric);
	}
	buf_puts(&regex, "=(\\S+)");
	json_put_string(&im->out, buf_str(&regex));
	buf_free(&regex);
}

static void
metric_put(struct import *im, const char *name, const char *regex)
{
	import_key(im, 4, NULL);
	buf_puts(&im->out, "{ \"Name\": ");
	json_put_string(&im->out, name);
	buf_puts(&im->out, ", \"Regex\": ");
	if (regex != NULL)
		json_put_string(&im->out, regex);
	else
		regex_put(im, name);
	buf_puts(&im->out, " }");
}

static void
algorithm_put(
    struct import *im, const struct study *study, const struct json *backend)
{
	const struct study_trial *trial = &study->trial;
	const char *mode = json_string(json_get(backend, "input_mode"));
	bool found = false;
	size_t i;

	import_open(im, 2, "AlgorithmSpecification", '{');
	import_text(
	    im, 3, "TrainingImage", json_string(json_get(backend, "image")));
	import_text(im, 3, "TrainingInputMode", mode != NULL ? mode : "File");
	import_open(im, 3, "MetricDefinitions", '[');
	for (i = 0; i < trial->n_metrics; i++) {
		metric_put(im, trial->metrics[i].name, trial->metrics[i].regex);
		found |= strcmp(trial->metrics[i].name, study->metric) == 0;
	}
	if (!found)
		metric_put(im, study->metric, NULL);
	import_close(im, 3, ']');
	import_close(im, 2, '}');
}

/* python3 PROGRAM {params} is what the toolkit makes of sagemaker_program. */
static const char *
program_of(const struct study_trial *trial)
{
	char **argv = trial->command;

	if (argv[0] != NULL && argv[1] != NULL && argv[2] != NULL &&
	    argv[3] == NULL && strcmp(argv[0], "python3") == 0 &&
	    strcmp(argv[2], "{params}") == 0)
		return argv[1];
	return NULL;
}

static void
statics_put(struct import *im, const struct study *study)
{
	const struct space *space = study->space;
	const char *program = program_of(&study->trial);
	struct buf text = { 0 };
	size_t i;

	import_open(im, 2, "StaticHyperParameters", '{');
	for (i = 0; i < space->n; i++) {
		if (space->params[i].type != PARAM_FIXED)
			continue;
		buf_clear(&text);
		export_put_hyperparameter(&text, &space->params[i].values[0]);
		import_text(im, 3, space->params[i].name, buf_str(&text));
	}
	if (program != NULL) {
		/* The toolkit reads it as JSON. */
		buf_clear(&text);
		json_put_string(&text, program);
		import_text(im, 3, "sagemaker_program", buf_str(&text));
		import_note(im, "trial.command: sagemaker_program says it; "
				"sagemaker_submit_directory has to name the "
				"code in S3");
	} else
		import_note(im, "trial.command: a tuning job starts what the "
				"image starts by itself");
	import_close(im, 2, '}');
	buf_free(&text);
}

static void
machine_put(struct import *im, int depth, const struct json *type,
    const struct json *backend)
{
	int64_t count = 1;
	double bytes;

	(void)json_integer(json_get(backend, "instance_count"), &count);
	if (!amount_read(&bytes, json_get(backend, "volume"), size_parse))
		bytes = (double)VOLUME * GIB;
	import_text(im, depth, "InstanceType", json_string(type));
	number_put(im, depth, "InstanceCount", (double)count);
	number_put(im, depth, "VolumeSizeInGB", bytes / GIB);
}

/* Several types stand in the order of preference. */
static void
machines_put(struct import *im, const struct json *backend)
{
	const struct json *type = json_get(backend, "instance_type"), *j;

	import_open(im, 2, "HyperParameterTuningResourceConfig", '{');
	if (json_string(type) != NULL)
		machine_put(im, 3, type, backend);
	else if (type != NULL) {
		import_open(im, 3, "InstanceConfigs", '[');
		for (j = json_first(type); j != NULL; j = json_next(j)) {
			import_open(im, 4, NULL, '{');
			machine_put(im, 5, j, backend);
			import_close(im, 4, '}');
		}
		import_close(im, 3, ']');
		import_text(im, 3, "AllocationStrategy", "Prioritized");
	}
	import_close(im, 2, '}');
}

/* How long, on what terms, and where checkpoints are kept meanwhile. */
static void
terms_put(
    struct import *im, const struct study *study, const struct json *backend)
{
	const char *s3 = json_string(json_get(backend, "s3"));
	bool spot = false, checkpoints = true;
	double run, wait;
	char *uri;

	(void)json_bool(json_get(backend, "spot"), &spot);
	(void)json_bool(json_get(backend, "checkpoints"), &checkpoints);
	if (!amount_read(&run, json_get(backend, "max_run"), duration_parse))
		run = study->trial.max_run_ms > 0
			  ? (double)study->trial.max_run_ms / 1000
			  : DAY;
	if (!amount_read(&wait, json_get(backend, "max_wait"), duration_parse))
		wait = run;
	import_open(im, 2, "StoppingCondition", '{');
	number_put(im, 3, "MaxRuntimeInSeconds", run);
	if (spot)
		number_put(im, 3, "MaxWaitTimeInSeconds", wait);
	import_close(im, 2, '}');
	import_key(im, 2, "EnableManagedSpotTraining");
	buf_puts(&im->out, spot ? "true" : "false");
	if (!checkpoints || s3 == NULL)
		return;
	uri = xasprintf("%s%scheckpoints/", s3,
	    *s3 != '\0' && s3[strlen(s3) - 1] == '/' ? "" : "/");
	import_open(im, 2, "CheckpointConfig", '{');
	import_text(im, 3, "S3Uri", uri);
	import_close(im, 2, '}');
	free(uri);
}

static void
inputs_put(struct import *im, const struct json *backend)
{
	const struct json *j = json_get(backend, "inputs");
	const char *uri, *way;

	if (j == NULL || json_count(j) == 0)
		return;
	import_open(im, 2, "InputDataConfig", '[');
	for (j = json_first(j); j != NULL; j = json_next(j)) {
		uri = json_string(j);
		way = NULL;
		if (uri == NULL) {
			uri = json_string(json_get(j, "s3"));
			way = json_string(json_get(j, "distribution"));
		}
		import_open(im, 3, NULL, '{');
		import_text(im, 4, "ChannelName", json_key(j));
		import_open(im, 4, "DataSource", '{');
		import_open(im, 5, "S3DataSource", '{');
		import_text(im, 6, "S3DataType", "S3Prefix");
		import_text(im, 6, "S3Uri", uri);
		import_text(im, 6, "S3DataDistributionType",
		    way != NULL && strcmp(way, "sharded") == 0
			? "ShardedByS3Key"
			: "FullyReplicated");
		import_close(im, 5, '}');
		import_close(im, 4, '}');
		import_close(im, 3, '}');
	}
	import_close(im, 2, ']');
}

static void
list_put(struct import *im, const char *key, const struct json *j)
{
	if (j == NULL)
		return;
	import_key(im, 3, key);
	json_write(&im->out, j);
}

static void
places_put(struct import *im, const struct json *backend)
{
	const struct json *vpc = json_get(backend, "vpc");

	import_open(im, 2, "OutputDataConfig", '{');
	import_text(
	    im, 3, "S3OutputPath", json_string(json_get(backend, "s3")));
	import_close(im, 2, '}');
	if (vpc == NULL)
		return;
	import_open(im, 2, "VpcConfig", '{');
	list_put(im, "Subnets", json_get(vpc, "subnets"));
	list_put(im, "SecurityGroupIds", json_get(vpc, "security_groups"));
	import_close(im, 2, '}');
}

static void
env_put(struct import *im, const struct study_trial *t)
{
	const char *value;
	char *name, *note;
	size_t i;

	if (t->env[0] == NULL)
		return;
	import_open(im, 2, "Environment", '{');
	for (i = 0; t->env[i] != NULL; i++) {
		value = strchr(t->env[i], '=');
		name = xstrndup(t->env[i], (size_t)(value - t->env[i]));
		if (study_has_names(t->env_text[i])) {
			note = xasprintf("trial.env.%s: a tuning job gives all "
					 "trials the same: what stands in "
					 "braces stays as it is",
			    name);
			import_note(im, note);
			free(note);
		}
		import_text(im, 3, name, value + 1);
		free(name);
	}
	import_close(im, 2, '}');
}

/* The rest of the block, by its names. */
static void
rest_note(struct import *im, const struct json *backend)
{
	const struct json *j;
	size_t i;

	for (j = json_first(backend); j != NULL; j = json_next(j)) {
		for (i = 0; said[i] != NULL; i++)
			if (strcmp(said[i], json_key(j)) == 0)
				break;
		if (said[i] == NULL)
			buf_printf(im->notes,
			    "backend.%s: left out: a tuning job has no place "
			    "for it\n",
			    json_key(j));
	}
}

void
export_definition_put(
    struct import *im, const struct study *study, const struct json *backend)
{
	import_open(im, 1, "TrainingJobDefinition", '{');
	statics_put(im, study);
	algorithm_put(im, study, backend);
	import_text(im, 2, "RoleArn", json_string(json_get(backend, "role")));
	inputs_put(im, backend);
	places_put(im, backend);
	machines_put(im, backend);
	terms_put(im, study, backend);
	if (study->trial.retries > 0) {
		import_open(im, 2, "RetryStrategy", '{');
		number_put(im, 3, "MaximumRetryAttempts",
		    (double)study->trial.retries);
		import_close(im, 2, '}');
	}
	env_put(im, &study->trial);
	import_close(im, 1, '}');
	rest_note(im, backend);
}
