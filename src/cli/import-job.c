/*
 * The training definition of a tuning job as "trial" and "backend".  Shapes:
 * API reference, HyperParameterTrainingJobDefinition.
 */

#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json.h"
#include "src/base/mem.h"
#include "src/cli/import-parts.h"

/* A job of one of AWS's own images says which program it runs. */
static const char *
program_of(const struct import *im, struct json_doc **doc)
{
	const char *text = json_string(
	    import_at(im->def, "StaticHyperParameters", "sagemaker_program"));
	struct err e = ERR_INIT;

	if (text == NULL || *text != '"')
		return text;
	if (json_parse(doc, text, strlen(text), NULL, false, &e) != 0)
		return text;
	return json_string(json_root(*doc));
}

static void
command_put(struct import *im)
{
	struct json_doc *doc = NULL;
	const char *program = program_of(im, &doc);

	import_key(im, 2, "command");
	if (program == NULL) {
		/* What SageMaker runs in an image without a program. */
		buf_puts(&im->out, "[\"train\"]");
		import_note(im,
		    "trial.command: \"train\" is what SageMaker runs "
		    "in an image; put your program there");
	} else {
		buf_puts(&im->out, "[\"python3\", ");
		json_put_string(&im->out, program);
		buf_puts(&im->out, ", \"{params}\"]");
		import_note(im, "backend.code: name the folder that holds the "
				"program (sagemaker_submit_directory is not "
				"read)");
	}
	json_free(doc);
}

static int
metrics_put(struct import *im, struct err *e)
{
	const struct json *j =
	    import_at(im->def, "AlgorithmSpecification", "MetricDefinitions");
	const struct json *name, *regex;
	const char *a, *b;

	if (j == NULL || json_count(j) == 0)
		return 0;
	import_open(im, 2, "metrics", '[');
	for (j = json_first(j); j != NULL; j = json_next(j)) {
		name = json_need(j, "Name", e);
		regex = name != NULL ? json_need(j, "Regex", e) : NULL;
		if (regex == NULL || json_read_string(name, &a, e) != 0 ||
		    json_read_string(regex, &b, e) != 0)
			return -1;
		import_key(im, 3, NULL);
		buf_puts(&im->out, "{ \"name\": ");
		json_put_string(&im->out, a);
		buf_puts(&im->out, ", \"regex\": ");
		json_put_string(&im->out, b);
		buf_puts(&im->out, " }");
	}
	import_close(im, 2, ']');
	return 0;
}

static void
env_put(struct import *im)
{
	const struct json *j = import_at(im->def, "Environment", NULL);

	if (j == NULL || json_count(j) == 0)
		return;
	import_open(im, 2, "env", '{');
	for (j = json_first(j); j != NULL; j = json_next(j))
		import_text(im, 3, json_key(j), json_string(j));
	import_close(im, 2, '}');
}

int
import_trial_put(struct import *im, struct err *e)
{
	import_open(im, 1, "trial", '{');
	command_put(im);
	if (metrics_put(im, e) != 0)
		return -1;
	env_put(im);
	(void)import_number(im, 2, "retries",
	    import_at(im->def, "RetryStrategy", "MaximumRetryAttempts"));
	import_close(im, 1, '}');
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

	import_text(im, 2, "region", region);
	free(region);
	import_text(
	    im, 2, "role", json_string(import_at(im->def, "RoleArn", NULL)));
	import_text(im, 2, "image", image);
	if (image == NULL)
		import_note(im,
		    "backend.image: an algorithm without an image of "
		    "its own cannot be run: name an image");
	import_text(im, 2, "input_mode",
	    json_string(import_at(spec, "TrainingInputMode", NULL)));
}

/* Instance types in order of preference, of either shape. */
static void
machines_put(struct import *im)
{
	const struct json *one = import_at(im->def, "ResourceConfig", NULL);
	const struct json *many =
	    import_at(im->def, "HyperParameterTuningResourceConfig", NULL);
	const struct json *list = import_at(many, "InstanceConfigs", NULL), *j;
	const struct json *volume =
	    import_at(one != NULL ? one : many, "VolumeSizeInGB", NULL);
	int64_t gb;

	/* Where there are several types, each has its volume: one for all. */
	if (volume == NULL && list != NULL)
		volume = import_at(json_first(list), "VolumeSizeInGB", NULL);
	if (list == NULL)
		list = import_at(one, "InstanceGroups", NULL);
	if (list == NULL) {
		one = one != NULL ? one : many;
		import_text(im, 2, "instance_type",
		    json_string(import_at(one, "InstanceType", NULL)));
		(void)import_number(im, 2, "instance_count",
		    import_at(one, "InstanceCount", NULL));
	} else if (many != NULL) {
		import_open(im, 2, "instance_type", '[');
		for (j = json_first(list); j != NULL; j = json_next(j))
			import_text(im, 3, NULL,
			    json_string(json_get(j, "InstanceType")));
		import_close(im, 2, ']');
		(void)import_number(im, 2, "instance_count",
		    import_at(json_first(list), "InstanceCount", NULL));
	} else {
		import_open(im, 2, "groups", '[');
		for (j = json_first(list); j != NULL; j = json_next(j)) {
			import_open(im, 3, NULL, '{');
			import_text(im, 4, "name",
			    json_string(json_get(j, "InstanceGroupName")));
			import_text(im, 4, "instance_type",
			    json_string(json_get(j, "InstanceType")));
			(void)import_number(im, 4, "instance_count",
			    json_get(j, "InstanceCount"));
			import_close(im, 3, '}');
		}
		import_close(im, 2, ']');
	}
	if (json_integer(volume, &gb) && gb > 0) {
		import_key(im, 2, "volume");
		buf_printf(&im->out, "\"%lldGiB\"", (long long)gb);
	}
}

static void
spot_put(struct import *im)
{
	const struct json *stop = import_at(im->def, "StoppingCondition", NULL);
	bool spot = false;

	(void)json_bool(
	    import_at(im->def, "EnableManagedSpotTraining", NULL), &spot);
	(void)import_number(
	    im, 2, "max_run", import_at(stop, "MaxRuntimeInSeconds", NULL));
	if (!spot)
		return;
	import_key(im, 2, "spot");
	buf_puts(&im->out, "true");
	(void)import_number(
	    im, 2, "max_wait", import_at(stop, "MaxWaitTimeInSeconds", NULL));
	if (import_at(im->def, "CheckpointConfig", NULL) != NULL)
		return;
	import_key(im, 2, "checkpoints");
	buf_puts(&im->out, "false");
	import_key(im, 2, "force_spot");
	buf_puts(&im->out, "true");
	import_note(im, "backend.force_spot: the job used spot without "
			"checkpoints: every interruption starts a trial anew");
}

static void
inputs_put(struct import *im)
{
	const struct json *j = import_at(im->def, "InputDataConfig", NULL);
	const struct json *s3;
	const char *way;

	if (j == NULL || json_count(j) == 0)
		return;
	import_open(im, 2, "inputs", '{');
	for (j = json_first(j); j != NULL; j = json_next(j)) {
		s3 = import_at(j, "DataSource", "S3DataSource");
		if (s3 == NULL) {
			import_note(im,
			    "backend.inputs: a channel that is no S3 "
			    "prefix was left out");
			continue;
		}
		way = json_string(json_get(s3, "S3DataDistributionType"));
		if (way == NULL || strcmp(way, "ShardedByS3Key") != 0) {
			import_text(im, 3,
			    json_string(json_get(j, "ChannelName")),
			    json_string(json_get(s3, "S3Uri")));
			continue;
		}
		import_open(
		    im, 3, json_string(json_get(j, "ChannelName")), '{');
		import_text(im, 4, "s3", json_string(json_get(s3, "S3Uri")));
		import_text(im, 4, "distribution", "sharded");
		import_close(im, 3, '}');
	}
	import_close(im, 2, '}');
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
vpc_put(struct import *im)
{
	const struct json *j = import_at(im->def, "VpcConfig", NULL);

	if (j == NULL)
		return;
	import_open(im, 2, "vpc", '{');
	list_put(im, "subnets", json_get(j, "Subnets"));
	list_put(im, "security_groups", json_get(j, "SecurityGroupIds"));
	import_close(im, 2, '}');
}

int
import_backend_put(struct import *im, struct err *e)
{
	const char *s3 =
	    json_string(import_at(im->def, "OutputDataConfig", "S3OutputPath"));

	(void)e;
	import_open(im, 1, "backend", '{');
	import_text(im, 2, "name", "sagemaker");
	image_put(im);
	machines_put(im);
	spot_put(im);
	import_text(im, 2, "s3", s3);
	if (s3 == NULL)
		import_note(im,
		    "backend.s3: name a prefix for code, checkpoints "
		    "and output");
	inputs_put(im);
	vpc_put(im);
	import_close(im, 1, '}');
	return 0;
}
