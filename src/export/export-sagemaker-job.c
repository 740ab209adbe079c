/*
 * A study's trial and backend as the training definition of a tuning job.
 * Shapes: API reference, HyperParameterTrainingJobDefinition.
 */

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/export/export-sagemaker.h"
#include "src/import/import-study.h"
#include "src/model/space.h"
#include "src/model/study/study.h"
#include "src/model/units.h"

enum {
	DAY = 86400,
	WAIT_MIN = 3600, /* seconds of max_wait beyond max_run, by default */
	GIB = 1 << 30,
	VOLUME = 30
};

/* Keys of the block that are converted, or that concern hpotune only. */
static const char *const said[] = { "name", "region", "profile", "role",
	"image", "instance_type", "instance_count", "volume", "spot",
	"force_spot", "checkpoints", "max_run", "max_wait", "s3", "inputs",
	"input_mode", "vpc", "parallel", "pace", "price_per_hour", "groups",
	"keep_alive", "distribution", "tags", "extra", "code", "kms_key",
	"model", "container", "algorithm", "algorithms", NULL };

/*
 * Members of extra that belong into another object; only the named one, unless
 * the others have no place.
 */
static void
extra_copy(struct import *im, const struct json *backend, const char *object,
    const char *only)
{
	const struct json *j =
	    import_at(json_get(backend, "extra"), object, NULL);

	for (j = json_first(j); j != NULL; j = json_next(j))
		if (only == NULL || strcmp(json_key(j), only) == 0)
			import_copy(im, 3, json_key(j), j);
		else
			buf_printf(im->notes,
			    "backend.extra.%s.%s: left out: a tuning job with "
			    "several types has no equivalent\n",
			    object, json_key(j));
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

/* A line that a trial prints by default: hpotune: step=3 loss=0.2 */
static void
regex_put(struct json_writer *w, const char *metric)
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
	json_writer_text(w, "Regex", buf_str(&regex));
	buf_free(&regex);
}

static void
export_job_metric_put(struct import *im, const char *name, const char *regex)
{
	struct json_writer w = import_object(im, 4, NULL);

	json_writer_text(&w, "Name", name);
	if (regex != NULL)
		json_writer_text(&w, "Regex", regex);
	else
		regex_put(&w, name);
	json_writer_end(&w);
}

/* The regular expressions of the job's metrics. */
static void
export_job_metrics_put(struct import *im, const struct export_part *part)
{
	const struct study *study = part->study;
	const struct study_trial *trial = &study->trial;
	bool found = export_is_algorithm(part->backend);
	size_t i;

	if (export_part_is_known(part)) {
		if (trial->n_metrics > 0)
			import_note(im, "trial.metrics: left out: AWS defines "
					"the metrics of its own algorithms");
		return;
	}
	import_open(im, 3, "MetricDefinitions", '[');
	for (i = 0; i < trial->n_metrics; i++) {
		export_job_metric_put(
		    im, trial->metrics[i].name, trial->metrics[i].regex);
		found |= strcmp(trial->metrics[i].name, study->metric) == 0;
	}
	if (!found)
		export_job_metric_put(im, study->metric, NULL);
	import_close(im, 3, ']');
}

static void
algorithm_put(struct import *im, const struct export_part *part)
{
	const char *mode = json_string(json_get(part->backend, "input_mode"));

	import_open(im, 2, "AlgorithmSpecification", '{');
	import_text(im, 3, "TrainingImage", export_part_image(part));
	import_text(im, 3, "TrainingInputMode", mode != NULL ? mode : "File");
	export_job_metrics_put(im, part);
	import_close(im, 2, '}');
}

static void
export_job_statics_put(struct import *im, const struct export_part *part)
{
	const struct space *space = part->study->space;
	struct buf text = { 0 };
	const char *name;
	size_t i;

	import_open(im, 2, "StaticHyperParameters", '{');
	for (i = 0; i < space->n; i++) {
		if (space->params[i].type != PARAM_FIXED ||
		    !export_part_takes(part, &space->params[i], &name))
			continue;
		buf_clear(&text);
		export_part_value_put(&text, part, &space->params[i].values[0]);
		import_text(im, 3, name, buf_str(&text));
	}
	export_part_constants_put(im, part);
	if (!export_is_algorithm(part->backend))
		export_sagemaker_put_script(im, part->study, part->backend);
	import_close(im, 2, '}');
	buf_free(&text);
}

static double
volume_gb(const struct json *backend)
{
	double bytes;

	if (!amount_read(&bytes, json_get(backend, "volume"), size_parse))
		bytes = (double)VOLUME * GIB;
	return bytes / GIB;
}

static void
machine_put(struct import *im, int depth, const struct json *type,
    const struct json *backend)
{
	int64_t count = 1;

	(void)json_integer(json_get(backend, "instance_count"), &count);
	import_text(im, depth, "InstanceType", json_string(type));
	number_put(im, depth, "InstanceCount", (double)count);
	number_put(im, depth, "VolumeSizeInGB", volume_gb(backend));
}

static void
groups_put(struct import *im, const struct json *groups)
{
	const struct json *j;
	int64_t count;

	import_open(im, 3, "InstanceGroups", '[');
	for (j = json_first(groups); j != NULL; j = json_next(j)) {
		count = 1;
		(void)json_integer(json_get(j, "count"), &count);
		import_open(im, 4, NULL, '{');
		import_text(im, 5, "InstanceGroupName",
		    json_string(json_get(j, "name")));
		import_text(im, 5, "InstanceType",
		    json_string(json_get(j, "instance_type")));
		number_put(im, 5, "InstanceCount", (double)count);
		import_close(im, 4, '}');
	}
	import_close(im, 3, ']');
}

/* One type or a cluster: pools and training plans are allowed only here. */
static void
cluster_put(struct import *im, const struct json *backend)
{
	const struct json *type = json_get(backend, "instance_type");
	const struct json *groups = json_get(backend, "groups");
	double keep;

	import_open(im, 2, "ResourceConfig", '{');
	if (groups != NULL) {
		groups_put(im, groups);
		number_put(im, 3, "VolumeSizeInGB", volume_gb(backend));
	} else
		machine_put(im, 3,
		    type != NULL && json_string(type) == NULL ? json_first(type)
							      : type,
		    backend);
	if (amount_read(
		&keep, json_get(backend, "keep_alive"), duration_parse) &&
	    keep > 0)
		number_put(im, 3, "KeepAlivePeriodInSeconds", keep);
	extra_copy(im, backend, "ResourceConfig", NULL);
	import_close(im, 2, '}');
}

/* Several types, in the order of preference. */
static void
export_job_machines_put(struct import *im, const struct json *backend)
{
	const struct json *type = json_get(backend, "instance_type"), *j;

	if (type == NULL || json_string(type) != NULL ||
	    json_count(type) == 1) {
		cluster_put(im, backend);
		return;
	}
	if (json_get(backend, "keep_alive") != NULL)
		import_note(im, "backend.keep_alive: left out: a tuning job "
				"with several types has no equivalent");
	import_open(im, 2, "HyperParameterTuningResourceConfig", '{');
	import_open(im, 3, "InstanceConfigs", '[');
	for (j = json_first(type); j != NULL; j = json_next(j)) {
		import_open(im, 4, NULL, '{');
		machine_put(im, 5, j, backend);
		import_close(im, 4, '}');
	}
	import_close(im, 3, ']');
	import_text(im, 3, "AllocationStrategy", "Prioritized");
	extra_copy(im, backend, "ResourceConfig", "VolumeKmsKeyId");
	import_close(im, 2, '}');
}

/* Stopping condition, spot training, and the checkpoint location. */
static void
terms_put(
    struct import *im, const struct study *study, const struct json *backend)
{
	const char *s3 = json_string(json_get(backend, "s3"));
	bool spot = false, checkpoints = !export_is_algorithm(backend);
	double run, wait;
	char *uri;

	(void)json_bool(json_get(backend, "spot"), &spot);
	(void)json_bool(json_get(backend, "checkpoints"), &checkpoints);
	if (!amount_read(&run, json_get(backend, "max_run"), duration_parse))
		run = study->trial.max_run_ms > 0
			  ? (double)study->trial.max_run_ms / 1000
			  : DAY;
	if (!amount_read(&wait, json_get(backend, "max_wait"), duration_parse))
		wait = run + (run > WAIT_MIN ? run : WAIT_MIN);
	import_open(im, 2, "StoppingCondition", '{');
	number_put(im, 3, "MaxRuntimeInSeconds", run);
	if (spot)
		number_put(im, 3, "MaxWaitTimeInSeconds", wait);
	extra_copy(im, backend, "StoppingCondition", NULL);
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

/* A word of a channel's block in AWS's spelling; nothing when not given. */
static void
export_job_word_put(
    struct import *im, int depth, const char *key, const struct json *j)
{
	const char *text = json_string(j);

	if (text != NULL)
		import_text(im, depth, key, import_channel_word(text, false));
}

/* block: of the channel, or only its URI. */
static void
export_job_s3_put(struct import *im, const struct json *block)
{
	const char *uri = json_string(block);

	import_open(im, 5, "S3DataSource", '{');
	if (uri != NULL || json_get(block, "type") == NULL)
		import_text(im, 6, "S3DataType", "S3Prefix");
	else
		export_job_word_put(
		    im, 6, "S3DataType", json_get(block, "type"));
	import_text(im, 6, "S3Uri",
	    uri != NULL ? uri : json_string(json_get(block, "s3")));
	if (uri != NULL || json_get(block, "distribution") == NULL)
		import_text(im, 6, "S3DataDistributionType", "FullyReplicated");
	else
		export_job_word_put(im, 6, "S3DataDistributionType",
		    json_get(block, "distribution"));
	if (uri == NULL) {
		import_copy(
		    im, 6, "AttributeNames", json_get(block, "attributes"));
		import_copy(
		    im, 6, "InstanceGroupNames", json_get(block, "groups"));
	}
	import_close(im, 5, '}');
}

static void
file_system_put(struct import *im, const struct json *fs)
{
	import_open(im, 5, "FileSystemDataSource", '{');
	import_file_system_put(im, 6, fs, false);
	if (json_get(fs, "access") == NULL)
		import_text(im, 6, "FileSystemAccessMode", "ro");
	import_close(im, 5, '}');
}

static void
inputs_put(struct import *im, const struct json *backend)
{
	const struct json *j = json_get(backend, "inputs"), *fs, *seed;

	if (json_count(j) == 0)
		return;
	import_open(im, 2, "InputDataConfig", '[');
	for (j = json_first(j); j != NULL; j = json_next(j)) {
		import_open(im, 3, NULL, '{');
		import_text(im, 4, "ChannelName", json_key(j));
		import_open(im, 4, "DataSource", '{');
		fs = json_get(j, "file_system");
		if (fs != NULL)
			file_system_put(im, fs);
		else
			export_job_s3_put(im, j);
		import_close(im, 4, '}');
		import_copy(im, 4, "InputMode", json_get(j, "mode"));
		import_copy(im, 4, "ContentType", json_get(j, "content_type"));
		export_job_word_put(
		    im, 4, "CompressionType", json_get(j, "compression"));
		export_job_word_put(
		    im, 4, "RecordWrapperType", json_get(j, "record_wrapper"));
		if ((seed = json_get(j, "shuffle_seed")) != NULL) {
			import_open(im, 4, "ShuffleConfig", '{');
			import_copy(im, 5, "Seed", seed);
			import_close(im, 4, '}');
		}
		import_close(im, 3, '}');
	}
	import_close(im, 2, ']');
}

static void
export_job_places_put(struct import *im, const struct json *backend)
{
	const struct json *vpc = json_get(backend, "vpc");
	const char *model = json_string(json_get(backend, "model"));

	import_open(im, 2, "OutputDataConfig", '{');
	import_text(
	    im, 3, "S3OutputPath", json_string(json_get(backend, "s3")));
	if (import_at(json_get(backend, "extra"), "OutputDataConfig",
		"KmsKeyId") == NULL)
		import_copy(im, 3, "KmsKeyId", json_get(backend, "kms_key"));
	if (import_at(json_get(backend, "extra"), "OutputDataConfig",
		"CompressionType") == NULL)
		import_text(im, 3, "CompressionType",
		    export_is_algorithm(backend) ||
			    (model != NULL && strcmp(model, "tar.gz") == 0)
			? "GZIP"
			: "NONE");
	extra_copy(im, backend, "OutputDataConfig", NULL);
	import_close(im, 2, '}');
	if (vpc == NULL)
		return;
	import_open(im, 2, "VpcConfig", '{');
	import_copy(im, 3, "Subnets", json_get(vpc, "subnets"));
	import_copy(
	    im, 3, "SecurityGroupIds", json_get(vpc, "security_groups"));
	import_close(im, 2, '}');
}

static void
export_job_env_put(struct import *im, const struct study_trial *t)
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
		if (study_command_has_names(t->env_text[i])) {
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

/* Members of extra that a definition has, too; the others go to the notes. */
static void
export_job_extra_put(struct import *im, const struct json *backend)
{
	static const char *const placed[] = { "EnableNetworkIsolation",
		"EnableInterContainerTrafficEncryption", "RetryStrategy",
		"OutputDataConfig", "ResourceConfig", "StoppingCondition",
		NULL };
	const struct json *j = json_get(backend, "extra");
	size_t i;

	for (j = json_first(j); j != NULL; j = json_next(j)) {
		for (i = 0; placed[i] != NULL; i++)
			if (strcmp(placed[i], json_key(j)) == 0)
				break;
		if (placed[i] == NULL)
			buf_printf(im->notes,
			    "backend.extra.%s: left out: a tuning job has no "
			    "place for it\n",
			    json_key(j));
		else if (i < 3)
			import_copy(im, 2, json_key(j), j);
	}
}

/* Note the remaining keys of the block. */
static void
export_job_rest_note(struct import *im, const struct json *backend)
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

/* number: index of several, from 1; 0 = the only one. */
static void
definition_put(struct import *im, const struct export_part *part, size_t number)
{
	const struct study *study = part->study;
	const struct json *backend = part->backend;

	import_open(im, 1, number > 0 ? NULL : "TrainingJobDefinition", '{');
	if (number > 0) {
		export_part_name_put(im, part, number);
		import_open(im, 2, "TuningObjective", '{');
		import_text(
		    im, 3, "Type", study->maximize ? "Maximize" : "Minimize");
		import_text(im, 3, "MetricName", export_part_metric(part));
		import_close(im, 2, '}');
		export_ranges_put(im, part, "HyperParameterRanges");
	}
	export_job_statics_put(im, part);
	algorithm_put(im, part);
	import_text(im, 2, "RoleArn", json_string(json_get(backend, "role")));
	inputs_put(im, backend);
	export_job_places_put(im, backend);
	export_job_machines_put(im, backend);
	terms_put(im, study, backend);
	export_job_extra_put(im, backend);
	if (study->trial.retries > 0 && import_at(json_get(backend, "extra"),
					    "RetryStrategy", NULL) == NULL) {
		import_open(im, 2, "RetryStrategy", '{');
		number_put(im, 3, "MaximumRetryAttempts",
		    (double)study->trial.retries);
		import_close(im, 2, '}');
	}
	export_job_env_put(im, &study->trial);
	import_close(im, 1, '}');
}

void
export_definitions_put(
    struct import *im, const struct study *study, const struct json *backend)
{
	struct export_part part = { .study = study, .backend = backend };
	const struct json *j = export_algorithms(backend);
	size_t n = 0;

	if (j == NULL) {
		definition_put(im, &part, 0);
		export_job_rest_note(im, backend);
		return;
	}
	import_open(im, 1, "TrainingJobDefinitions", '[');
	im->shift = 1;
	for (j = json_first(j); j != NULL; j = json_next(j)) {
		part.algorithm = j;
		if (export_part_is_chosen(&part))
			definition_put(im, &part, ++n);
		else
			buf_printf(im->notes,
			    "backend.algorithms.%s: left out: no trial chooses "
			    "it\n",
			    json_key(j));
	}
	im->shift = 0;
	import_close(im, 1, ']');
	export_job_rest_note(im, backend);
}
