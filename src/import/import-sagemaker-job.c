/*
 * The training definition of a tuning job as "trial" and "backend".  Shapes:
 * API reference, HyperParameterTrainingJobDefinition.
 */

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/import/import-study.h"

/* Whether one of the first n definitions has the same member. */
static bool
metric_is_there(const struct import *im, size_t n, const char *metric)
{
	const struct json *j;
	const char *name;
	size_t i;

	for (i = 0; i < n; i++) {
		j = import_at(
		    im->defs[i], "AlgorithmSpecification", "MetricDefinitions");
		for (j = json_first(j); j != NULL; j = json_next(j)) {
			name = json_string(json_get(j, "Name"));
			if (name != NULL && strcmp(name, metric) == 0)
				return true;
		}
	}
	return false;
}

static int
import_job_metrics_put(struct import *im, struct err *e)
{
	const struct json *def, *j, *name, *regex;
	bool open = false;
	struct json_writer w;
	const char *a, *b;
	size_t i;

	for (i = 0; i < (im->n_defs > 0 ? im->n_defs : 1); i++) {
		def = im->n_defs > 0 ? im->defs[i] : im->def;
		j = import_at(
		    def, "AlgorithmSpecification", "MetricDefinitions");
		for (j = json_first(j); j != NULL; j = json_next(j)) {
			name = json_need(j, "Name", e);
			regex = name != NULL ? json_need(j, "Regex", e) : NULL;
			if (regex == NULL ||
			    json_read_string(name, &a, e) != 0 ||
			    json_read_string(regex, &b, e) != 0)
				return -1;
			if (metric_is_there(im, i, a))
				continue;
			if (!open)
				converted_open(&im->to, 2, "metrics", '[');
			open = true;
			w = converted_object(&im->to, 3, NULL);
			json_writer_text(&w, "name", a);
			json_writer_text(&w, "regex", b);
			json_writer_end(&w);
		}
	}
	if (open)
		converted_close(&im->to, 2, ']');
	return 0;
}

/*
 * Braces are escaped in trial.env, and names reserved for the server are noted.
 */
static void
import_job_env_put(struct import *im)
{
	const struct json *j = import_at(im->def, "Environment", NULL);
	struct buf text = { 0 };

	if (json_count(j) == 0)
		return;
	converted_open(&im->to, 2, "env", '{');
	for (j = json_first(j); j != NULL; j = json_next(j)) {
		if (json_string(j) == NULL ||
		    strncmp(json_key(j), "HPOTUNE_", 8) == 0) {
			buf_printf(im->to.notes,
			    "Environment.%s: left out: %s\n", json_key(j),
			    json_string(j) == NULL ? "it is no text"
						   : "the name is hpotune's");
			continue;
		}
		buf_clear(&text);
		import_escape_braces(&text, json_string(j));
		converted_text(&im->to, 3, json_key(j), buf_str(&text));
	}
	converted_close(&im->to, 2, '}');
	buf_free(&text);
}

static int
job_put_trial(struct import *im, struct err *e)
{
	converted_open(&im->to, 1, "trial", '{');
	import_script_put_command(im);
	if (im->def == NULL) {
		converted_close(&im->to, 1, '}');
		return 0;
	}
	if (import_job_metrics_put(im, e) != 0)
		return -1;
	import_job_env_put(im);
	(void)converted_number(&im->to, 2, "retries",
	    import_at(im->def, "RetryStrategy", "MaximumRetryAttempts"));
	converted_close(&im->to, 1, '}');
	return 0;
}

/* ACCOUNT.dkr.ecr.REGION.amazonaws.com/… */
static char *
region_of_image(const char *image)
{
	const char *at = image != NULL ? strstr(image, ".dkr.ecr.") : NULL;
	const char *end;

	if (at == NULL)
		return NULL;
	at += strlen(".dkr.ecr.");
	end = strchr(at, '.');
	return end != NULL ? xstrndup(at, (size_t)(end - at)) : NULL;
}

static void
image_put(struct import *im)
{
	const struct json *spec =
	    import_at(im->def, "AlgorithmSpecification", NULL);
	const char *image = json_string(import_at(spec, "TrainingImage", NULL));
	char *region = region_of_image(image);

	converted_text(&im->to, 2, "region", region);
	free(region);
	converted_text(&im->to, 2, "role",
	    json_string(import_at(im->def, "RoleArn", NULL)));
	if (im->algorithm)
		import_algorithms_put(im);
	else
		converted_text(&im->to, 2, "image", image);
	if (image == NULL)
		converted_note(&im->to,
		    "backend.image: an algorithm without an image of "
		    "its own cannot be run: name an image");
	converted_text(&im->to, 2, "input_mode",
	    json_string(import_at(spec, "TrainingInputMode", NULL)));
}

/* Types in order of preference, each with its number of machines. */
static void
machine_types_put(struct import *im, const struct json *list)
{
	const struct json *count, *j;
	const char *type;
	int64_t first = 1, n;

	converted_open(&im->to, 2, "instance_type", '[');
	for (j = json_first(list); j != NULL; j = json_next(j))
		converted_text(
		    &im->to, 3, NULL, json_string(json_get(j, "InstanceType")));
	converted_close(&im->to, 2, ']');
	count = import_at(json_first(list), "InstanceCount", NULL);
	(void)converted_number(&im->to, 2, "instance_count", count);
	(void)json_integer(count, &first);
	for (j = json_first(list); j != NULL; j = json_next(j))
		if (json_integer(json_get(j, "InstanceCount"), &n) &&
		    n != first) {
			type = json_string(json_get(j, "InstanceType"));
			buf_printf(im->to.notes,
			    "backend.instance_count: %lld machines of %s were "
			    "asked for, and here %lld of each type\n",
			    (long long)n, type != NULL ? type : "no type",
			    (long long)first);
			break;
		}
}

/* The machines, of all shapes that a definition has. */
static void
import_job_machines_put(struct import *im)
{
	const struct json *one = import_at(im->def, "ResourceConfig", NULL);
	const struct json *many =
	    import_at(im->def, "HyperParameterTuningResourceConfig", NULL);
	const struct json *list = import_at(many, "InstanceConfigs", NULL), *j;
	const struct json *volume =
	    import_at(one != NULL ? one : many, "VolumeSizeInGB", NULL);
	int64_t gb, keep;

	/* With several types, each has its volume size: use one for all. */
	if (volume == NULL && list != NULL)
		volume = import_at(json_first(list), "VolumeSizeInGB", NULL);
	if (list == NULL)
		list = import_at(one, "InstancePreferences", NULL);
	if (list != NULL) {
		machine_types_put(im, list);
	} else if ((list = import_at(one, "InstanceGroups", NULL)) == NULL) {
		one = one != NULL ? one : many;
		converted_text(&im->to, 2, "instance_type",
		    json_string(import_at(one, "InstanceType", NULL)));
		(void)converted_number(&im->to, 2, "instance_count",
		    import_at(one, "InstanceCount", NULL));
	} else {
		converted_open(&im->to, 2, "groups", '[');
		for (j = json_first(list); j != NULL; j = json_next(j)) {
			converted_open(&im->to, 3, NULL, '{');
			converted_text(&im->to, 4, "name",
			    json_string(json_get(j, "InstanceGroupName")));
			converted_text(&im->to, 4, "instance_type",
			    json_string(json_get(j, "InstanceType")));
			(void)converted_number(
			    &im->to, 4, "count", json_get(j, "InstanceCount"));
			converted_close(&im->to, 3, '}');
		}
		converted_close(&im->to, 2, ']');
	}
	if (json_integer(volume, &gb) && gb > 0) {
		converted_key(&im->to, 2, "volume");
		buf_printf(&im->to.out, "\"%lldGiB\"", (long long)gb);
	}
	if (json_integer(import_at(im->def, "ResourceConfig",
			     "KeepAlivePeriodInSeconds"),
		&keep) &&
	    keep > 0) {
		converted_key(&im->to, 2, "keep_alive");
		buf_printf(&im->to.out, "%lld", (long long)keep);
	}
}

static void
spot_put(struct import *im)
{
	const struct json *stop = import_at(im->def, "StoppingCondition", NULL);
	bool spot = false;

	(void)json_bool(
	    import_at(im->def, "EnableManagedSpotTraining", NULL), &spot);
	(void)converted_number(&im->to, 2, "max_run",
	    import_at(stop, "MaxRuntimeInSeconds", NULL));
	if (!spot)
		return;
	converted_key(&im->to, 2, "spot");
	buf_puts(&im->to.out, "true");
	(void)converted_number(&im->to, 2, "max_wait",
	    import_at(stop, "MaxWaitTimeInSeconds", NULL));
	if (import_at(im->def, "CheckpointConfig", NULL) != NULL)
		return;
	if (!im->algorithm) {
		converted_key(&im->to, 2, "checkpoints");
		buf_puts(&im->to.out, "false");
	}
	converted_key(&im->to, 2, "force_spot");
	buf_puts(&im->to.out, "true");
	converted_note(&im->to,
	    "backend.force_spot: the job used spot without "
	    "checkpoints: every interruption restarts a trial "
	    "from its beginning");
}

static void
vpc_put(struct import *im)
{
	const struct json *j = import_at(im->def, "VpcConfig", NULL);

	if (j == NULL)
		return;
	converted_open(&im->to, 2, "vpc", '{');
	converted_copy(&im->to, 3, "subnets", json_get(j, "Subnets"));
	converted_copy(
	    &im->to, 3, "security_groups", json_get(j, "SecurityGroupIds"));
	converted_close(&im->to, 2, '}');
}

/* The tags of the tuning job, which its training jobs had, too. */
static void
import_job_tags_put(struct import *im)
{
	const struct json *j =
	    im->root != im->config ? json_get(im->root, "Tags") : NULL;
	const char *name;

	if (json_count(j) == 0)
		return;
	converted_open(&im->to, 2, "tags", '{');
	for (j = json_first(j); j != NULL; j = json_next(j)) {
		name = json_string(json_get(j, "Key"));
		if (name != NULL && strncasecmp(name, "aws:", 4) != 0 &&
		    strncmp(name, "hpotune:", 8) != 0)
			converted_text(&im->to, 3, name,
			    json_string(json_get(j, "Value")));
		else
			buf_printf(im->to.notes, "Tags: %s was left out\n",
			    name != NULL ? name : "one without a name");
	}
	converted_close(&im->to, 2, '}');
}

/* Members that the block passes on unchanged, some within others. */
static const struct {
	const char *object,
	    *member; /* in AWS's shape; object NULL: the definition */
	const char *within; /* of extra */
} extras[] = {
	{ NULL, "EnableNetworkIsolation", NULL },
	{ NULL, "EnableInterContainerTrafficEncryption", NULL },
	{ "ResourceConfig", "VolumeKmsKeyId", "ResourceConfig" },
	{ "HyperParameterTuningResourceConfig", "VolumeKmsKeyId",
	    "ResourceConfig" },
	{ "ResourceConfig", "TrainingPlanArn", "ResourceConfig" },
	{ "ResourceConfig", "InstancePlacementConfig", "ResourceConfig" },
	{ "StoppingCondition", "MaxPendingTimeInSeconds", "StoppingCondition" },
};

enum { N_EXTRAS = sizeof extras / sizeof extras[0] };

/* A member that is false or empty equals a missing one. */
static const struct json *
extra_find(const struct import *im, size_t i)
{
	const struct json *j =
	    extras[i].object != NULL
		? import_at(im->def, extras[i].object, extras[i].member)
		: import_at(im->def, extras[i].member, NULL);
	const char *text = json_string(j);
	bool yes;

	if (j == NULL || json_type(j) == JSON_NULL ||
	    (text != NULL && *text == '\0') || (json_bool(j, &yes) && !yes))
		return NULL;
	return j;
}

static void
import_job_extra_put(struct import *im)
{
	const char *within = NULL;
	bool open = false;
	size_t i;

	for (i = 0; i < N_EXTRAS; i++) {
		if (extra_find(im, i) == NULL)
			continue;
		if (!open)
			converted_open(&im->to, 2, "extra", '{');
		open = true;
		if (within != NULL &&
		    (extras[i].within == NULL ||
			strcmp(within, extras[i].within) != 0))
			converted_close(&im->to, 3, '}');
		if (extras[i].within != NULL &&
		    (within == NULL || strcmp(within, extras[i].within) != 0))
			converted_open(&im->to, 3, extras[i].within, '{');
		within = extras[i].within;
		converted_copy(&im->to, within != NULL ? 4 : 3,
		    extras[i].member, extra_find(im, i));
	}
	if (within != NULL)
		converted_close(&im->to, 3, '}');
	if (open)
		converted_close(&im->to, 2, '}');
}

/* The checkpoint location: here each trial has a folder of its own. */
static void
checkpoints_note(struct import *im)
{
	const char *uri =
	    json_string(import_at(im->def, "CheckpointConfig", "S3Uri"));
	const char *path =
	    json_string(import_at(im->def, "CheckpointConfig", "LocalPath"));

	if (uri != NULL)
		buf_printf(im->to.notes,
		    "CheckpointConfig.S3Uri: left out: %s: each trial has a "
		    "folder of its own below backend.s3\n",
		    uri);
	if (path != NULL && strncmp(path, "/opt/ml/checkpoints", 19) != 0)
		buf_printf(im->to.notes,
		    "CheckpointConfig.LocalPath: left out: %s: here it is "
		    "/opt/ml/checkpoints\n",
		    path);
}

static void
job_put_backend(struct import *im)
{
	const char *s3 =
	    json_string(import_at(im->def, "OutputDataConfig", "S3OutputPath"));
	const char *kms =
	    json_string(import_at(im->def, "OutputDataConfig", "KmsKeyId"));
	const char *packing = json_string(
	    import_at(im->def, "OutputDataConfig", "CompressionType"));
	size_t i;

	if (im->def == NULL) {
		converted_note(&im->to,
		    "backend: the file has no training definition, so "
		    "trials run on this machine: name the definition's "
		    "file after it");
		return;
	}
	converted_open(&im->to, 1, "backend", '{');
	converted_text(&im->to, 2, "name", "sagemaker");
	image_put(im);
	import_job_machines_put(im);
	spot_put(im);
	converted_text(&im->to, 2, "s3", s3);
	if (s3 == NULL)
		converted_note(&im->to,
		    "backend.s3: name a prefix for code, checkpoints "
		    "and output");
	/* A tuning job's models are archives that can be hosted. */
	if (!im->algorithm && (packing == NULL || strcmp(packing, "NONE") != 0))
		converted_text(&im->to, 2, "model", "tar.gz");
	if (kms != NULL && *kms != '\0')
		converted_text(&im->to, 2, "kms_key", kms);
	if (!im->algorithm)
		import_script_put(im);
	import_inputs_put(im);
	vpc_put(im);
	import_job_tags_put(im);
	import_job_extra_put(im);
	converted_close(&im->to, 1, '}');
	for (i = 1; i < im->n_defs; i++) {
		im->def = im->defs[i];
		checkpoints_note(im);
	}
	im->def = im->n_defs > 0 ? im->defs[0] : im->def;
	checkpoints_note(im);
}

int
import_job_put(struct import *im, struct err *e)
{
	if (job_put_trial(im, e) != 0)
		return -1;
	job_put_backend(im);
	return 0;
}
