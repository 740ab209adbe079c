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
extra_copy(struct converted *to, const struct json *backend, const char *object,
    const char *only)
{
	const struct json *j =
	    import_at(json_get(backend, "extra"), object, NULL);

	for (j = json_first(j); j != NULL; j = json_next(j))
		if (only == NULL || strcmp(json_key(j), only) == 0)
			converted_copy(to, 3, json_key(j), j);
		else
			buf_printf(to->notes,
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
number_put(struct converted *to, int depth, const char *key, double x)
{
	converted_key(to, depth, key);
	buf_printf(&to->out, "%.0f", ceil(x));
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
export_job_metric_put(struct converted *to, const char *name, const char *regex)
{
	struct json_writer w = converted_object(to, 4, NULL);

	json_writer_text(&w, "Name", name);
	if (regex != NULL)
		json_writer_text(&w, "Regex", regex);
	else
		regex_put(&w, name);
	json_writer_end(&w);
}

/* The regular expressions of the job's metrics. */
static void
export_job_metrics_put(struct converted *to, const struct export_part *part)
{
	const struct study *study = part->study;
	const struct study_trial *trial = &study->trial;
	bool found = export_is_algorithm(part->backend);
	size_t i;

	if (export_part_is_known(part)) {
		if (trial->n_metrics > 0)
			converted_note(to,
			    "trial.metrics: left out: AWS defines "
			    "the metrics of its own algorithms");
		return;
	}
	converted_open(to, 3, "MetricDefinitions", '[');
	for (i = 0; i < trial->n_metrics; i++) {
		export_job_metric_put(
		    to, trial->metrics[i].name, trial->metrics[i].regex);
		found |= strcmp(trial->metrics[i].name, study->metric) == 0;
	}
	if (!found)
		export_job_metric_put(to, study->metric, NULL);
	converted_close(to, 3, ']');
}

static void
algorithm_put(struct converted *to, const struct export_part *part)
{
	const char *mode = json_string(json_get(part->backend, "input_mode"));

	converted_open(to, 2, "AlgorithmSpecification", '{');
	converted_text(to, 3, "TrainingImage", export_part_image(part));
	converted_text(
	    to, 3, "TrainingInputMode", mode != NULL ? mode : "File");
	export_job_metrics_put(to, part);
	converted_close(to, 2, '}');
}

static void
export_job_statics_put(struct converted *to, const struct export_part *part)
{
	const struct space *space = part->study->space;
	struct buf text = { 0 };
	const char *name;
	size_t i;

	converted_open(to, 2, "StaticHyperParameters", '{');
	for (i = 0; i < space->n; i++) {
		if (space->params[i].type != PARAM_FIXED ||
		    !export_part_takes(part, &space->params[i], &name))
			continue;
		buf_clear(&text);
		export_part_value_put(&text, part, &space->params[i].values[0]);
		converted_text(to, 3, name, buf_str(&text));
	}
	export_part_constants_put(to, part);
	if (!export_is_algorithm(part->backend))
		export_sagemaker_put_script(to, part->study, part->backend);
	converted_close(to, 2, '}');
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
machine_put(struct converted *to, int depth, const struct json *type,
    const struct json *backend)
{
	int64_t count = 1;

	(void)json_integer(json_get(backend, "instance_count"), &count);
	converted_text(to, depth, "InstanceType", json_string(type));
	number_put(to, depth, "InstanceCount", (double)count);
	number_put(to, depth, "VolumeSizeInGB", volume_gb(backend));
}

static void
groups_put(struct converted *to, const struct json *groups)
{
	const struct json *j;
	int64_t count;

	converted_open(to, 3, "InstanceGroups", '[');
	for (j = json_first(groups); j != NULL; j = json_next(j)) {
		count = 1;
		(void)json_integer(json_get(j, "count"), &count);
		converted_open(to, 4, NULL, '{');
		converted_text(to, 5, "InstanceGroupName",
		    json_string(json_get(j, "name")));
		converted_text(to, 5, "InstanceType",
		    json_string(json_get(j, "instance_type")));
		number_put(to, 5, "InstanceCount", (double)count);
		converted_close(to, 4, '}');
	}
	converted_close(to, 3, ']');
}

/* One type or a cluster: pools and training plans are allowed only here. */
static void
cluster_put(struct converted *to, const struct json *backend)
{
	const struct json *type = json_get(backend, "instance_type");
	const struct json *groups = json_get(backend, "groups");
	double keep;

	converted_open(to, 2, "ResourceConfig", '{');
	if (groups != NULL) {
		groups_put(to, groups);
		number_put(to, 3, "VolumeSizeInGB", volume_gb(backend));
	} else
		machine_put(to, 3,
		    type != NULL && json_string(type) == NULL ? json_first(type)
							      : type,
		    backend);
	if (amount_read(
		&keep, json_get(backend, "keep_alive"), duration_parse) &&
	    keep > 0)
		number_put(to, 3, "KeepAlivePeriodInSeconds", keep);
	extra_copy(to, backend, "ResourceConfig", NULL);
	converted_close(to, 2, '}');
}

/* Several types, in the order of preference. */
static void
export_job_machines_put(struct converted *to, const struct json *backend)
{
	const struct json *type = json_get(backend, "instance_type"), *j;

	if (type == NULL || json_string(type) != NULL ||
	    json_count(type) == 1) {
		cluster_put(to, backend);
		return;
	}
	if (json_get(backend, "keep_alive") != NULL)
		converted_note(to, "backend.keep_alive: left out: a tuning job "
				   "with several types has no equivalent");
	converted_open(to, 2, "HyperParameterTuningResourceConfig", '{');
	converted_open(to, 3, "InstanceConfigs", '[');
	for (j = json_first(type); j != NULL; j = json_next(j)) {
		converted_open(to, 4, NULL, '{');
		machine_put(to, 5, j, backend);
		converted_close(to, 4, '}');
	}
	converted_close(to, 3, ']');
	converted_text(to, 3, "AllocationStrategy", "Prioritized");
	extra_copy(to, backend, "ResourceConfig", "VolumeKmsKeyId");
	converted_close(to, 2, '}');
}

/* Stopping condition, spot training, and the checkpoint location. */
static void
terms_put(
    struct converted *to, const struct study *study, const struct json *backend)
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
	converted_open(to, 2, "StoppingCondition", '{');
	number_put(to, 3, "MaxRuntimeInSeconds", run);
	if (spot)
		number_put(to, 3, "MaxWaitTimeInSeconds", wait);
	extra_copy(to, backend, "StoppingCondition", NULL);
	converted_close(to, 2, '}');
	converted_key(to, 2, "EnableManagedSpotTraining");
	buf_puts(&to->out, spot ? "true" : "false");
	if (!checkpoints || s3 == NULL)
		return;
	uri = xasprintf("%s%scheckpoints/", s3,
	    *s3 != '\0' && s3[strlen(s3) - 1] == '/' ? "" : "/");
	converted_open(to, 2, "CheckpointConfig", '{');
	converted_text(to, 3, "S3Uri", uri);
	converted_close(to, 2, '}');
	free(uri);
}

/* A word of a channel's block in AWS's spelling; nothing when not given. */
static void
export_job_word_put(
    struct converted *to, int depth, const char *key, const struct json *j)
{
	const char *text = json_string(j);

	if (text != NULL)
		converted_text(
		    to, depth, key, import_channel_word(text, false));
}

/* block: of the channel, or only its URI. */
static void
export_job_s3_put(struct converted *to, const struct json *block)
{
	const char *uri = json_string(block);

	converted_open(to, 5, "S3DataSource", '{');
	if (uri != NULL || json_get(block, "type") == NULL)
		converted_text(to, 6, "S3DataType", "S3Prefix");
	else
		export_job_word_put(
		    to, 6, "S3DataType", json_get(block, "type"));
	converted_text(to, 6, "S3Uri",
	    uri != NULL ? uri : json_string(json_get(block, "s3")));
	if (uri != NULL || json_get(block, "distribution") == NULL)
		converted_text(
		    to, 6, "S3DataDistributionType", "FullyReplicated");
	else
		export_job_word_put(to, 6, "S3DataDistributionType",
		    json_get(block, "distribution"));
	if (uri == NULL) {
		converted_copy(
		    to, 6, "AttributeNames", json_get(block, "attributes"));
		converted_copy(
		    to, 6, "InstanceGroupNames", json_get(block, "groups"));
	}
	converted_close(to, 5, '}');
}

static void
file_system_put(struct converted *to, const struct json *fs)
{
	converted_open(to, 5, "FileSystemDataSource", '{');
	import_file_system_put(to, 6, fs, false);
	if (json_get(fs, "access") == NULL)
		converted_text(to, 6, "FileSystemAccessMode", "ro");
	converted_close(to, 5, '}');
}

static void
inputs_put(struct converted *to, const struct json *backend)
{
	const struct json *j = json_get(backend, "inputs"), *fs, *seed;

	if (json_count(j) == 0)
		return;
	converted_open(to, 2, "InputDataConfig", '[');
	for (j = json_first(j); j != NULL; j = json_next(j)) {
		converted_open(to, 3, NULL, '{');
		converted_text(to, 4, "ChannelName", json_key(j));
		converted_open(to, 4, "DataSource", '{');
		fs = json_get(j, "file_system");
		if (fs != NULL)
			file_system_put(to, fs);
		else
			export_job_s3_put(to, j);
		converted_close(to, 4, '}');
		converted_copy(to, 4, "InputMode", json_get(j, "mode"));
		converted_copy(
		    to, 4, "ContentType", json_get(j, "content_type"));
		export_job_word_put(
		    to, 4, "CompressionType", json_get(j, "compression"));
		export_job_word_put(
		    to, 4, "RecordWrapperType", json_get(j, "record_wrapper"));
		if ((seed = json_get(j, "shuffle_seed")) != NULL) {
			converted_open(to, 4, "ShuffleConfig", '{');
			converted_copy(to, 5, "Seed", seed);
			converted_close(to, 4, '}');
		}
		converted_close(to, 3, '}');
	}
	converted_close(to, 2, ']');
}

static void
export_job_places_put(struct converted *to, const struct json *backend)
{
	const struct json *vpc = json_get(backend, "vpc");
	const char *model = json_string(json_get(backend, "model"));

	converted_open(to, 2, "OutputDataConfig", '{');
	converted_text(
	    to, 3, "S3OutputPath", json_string(json_get(backend, "s3")));
	if (import_at(json_get(backend, "extra"), "OutputDataConfig",
		"KmsKeyId") == NULL)
		converted_copy(to, 3, "KmsKeyId", json_get(backend, "kms_key"));
	if (import_at(json_get(backend, "extra"), "OutputDataConfig",
		"CompressionType") == NULL)
		converted_text(to, 3, "CompressionType",
		    export_is_algorithm(backend) ||
			    (model != NULL && strcmp(model, "tar.gz") == 0)
			? "GZIP"
			: "NONE");
	extra_copy(to, backend, "OutputDataConfig", NULL);
	converted_close(to, 2, '}');
	if (vpc == NULL)
		return;
	converted_open(to, 2, "VpcConfig", '{');
	converted_copy(to, 3, "Subnets", json_get(vpc, "subnets"));
	converted_copy(
	    to, 3, "SecurityGroupIds", json_get(vpc, "security_groups"));
	converted_close(to, 2, '}');
}

static void
export_job_env_put(struct converted *to, const struct study_trial *t)
{
	const char *value;
	char *name, *note;
	size_t i;

	if (t->env[0] == NULL)
		return;
	converted_open(to, 2, "Environment", '{');
	for (i = 0; t->env[i] != NULL; i++) {
		value = strchr(t->env[i], '=');
		name = xstrndup(t->env[i], (size_t)(value - t->env[i]));
		if (study_command_has_names(t->env_text[i])) {
			note = xasprintf("trial.env.%s: a tuning job gives all "
					 "trials the same: what stands in "
					 "braces stays as it is",
			    name);
			converted_note(to, note);
			free(note);
		}
		converted_text(to, 3, name, value + 1);
		free(name);
	}
	converted_close(to, 2, '}');
}

/* Members of extra that a definition has, too; the others go to the notes. */
static void
export_job_extra_put(struct converted *to, const struct json *backend)
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
			buf_printf(to->notes,
			    "backend.extra.%s: left out: a tuning job has no "
			    "place for it\n",
			    json_key(j));
		else if (i < 3)
			converted_copy(to, 2, json_key(j), j);
	}
}

/* Note the remaining keys of the block. */
static void
export_job_rest_note(struct converted *to, const struct json *backend)
{
	const struct json *j;
	size_t i;

	for (j = json_first(backend); j != NULL; j = json_next(j)) {
		for (i = 0; said[i] != NULL; i++)
			if (strcmp(said[i], json_key(j)) == 0)
				break;
		if (said[i] == NULL)
			buf_printf(to->notes,
			    "backend.%s: left out: a tuning job has no place "
			    "for it\n",
			    json_key(j));
	}
}

/* number: index of several, from 1; 0 = the only one. */
static void
definition_put(
    struct converted *to, const struct export_part *part, size_t number)
{
	const struct study *study = part->study;
	const struct json *backend = part->backend;

	converted_open(to, 1, number > 0 ? NULL : "TrainingJobDefinition", '{');
	if (number > 0) {
		export_part_name_put(to, part, number);
		converted_open(to, 2, "TuningObjective", '{');
		converted_text(
		    to, 3, "Type", study->maximize ? "Maximize" : "Minimize");
		converted_text(to, 3, "MetricName", export_part_metric(part));
		converted_close(to, 2, '}');
		export_ranges_put(to, part, "HyperParameterRanges");
	}
	export_job_statics_put(to, part);
	algorithm_put(to, part);
	converted_text(
	    to, 2, "RoleArn", json_string(json_get(backend, "role")));
	inputs_put(to, backend);
	export_job_places_put(to, backend);
	export_job_machines_put(to, backend);
	terms_put(to, study, backend);
	export_job_extra_put(to, backend);
	if (study->trial.retries > 0 && import_at(json_get(backend, "extra"),
					    "RetryStrategy", NULL) == NULL) {
		converted_open(to, 2, "RetryStrategy", '{');
		number_put(to, 3, "MaximumRetryAttempts",
		    (double)study->trial.retries);
		converted_close(to, 2, '}');
	}
	export_job_env_put(to, &study->trial);
	converted_close(to, 1, '}');
}

void
export_definitions_put(
    struct converted *to, const struct study *study, const struct json *backend)
{
	struct export_part part = { .study = study, .backend = backend };
	const struct json *j = export_algorithms(backend);
	size_t n = 0;

	if (j == NULL) {
		definition_put(to, &part, 0);
		export_job_rest_note(to, backend);
		return;
	}
	converted_open(to, 1, "TrainingJobDefinitions", '[');
	to->shift = 1;
	for (j = json_first(j); j != NULL; j = json_next(j)) {
		part.algorithm = j;
		if (export_part_is_chosen(&part))
			definition_put(to, &part, ++n);
		else
			buf_printf(to->notes,
			    "backend.algorithms.%s: left out: no trial chooses "
			    "it\n",
			    json_key(j));
	}
	to->shift = 0;
	converted_close(to, 1, ']');
	export_job_rest_note(to, backend);
}
