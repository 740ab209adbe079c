/* Names of jobs, and the body of CreateTrainingJob. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json-writer.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/model/study/study.h"
#include "trials/sagemaker/request/sm-environment.h"
#include "trials/sagemaker/request/sm-hyperparameters.h"
#include "trials/sagemaker/request/sm-metric-definitions.h"
#include "trials/sagemaker/request/sm-request.h"

enum {
	STUDY_SHOWN = 16 /* characters of a study's name in a job's */
};

void
sm_job_request_prefix(
    char out[SM_NAME_MAX], const char *study, const char *study_id)
{
	size_t n = strlen(study);

	if (n > STUDY_SHOWN)
		n = STUDY_SHOWN;
	while (n > 0 && study[n - 1] == '-')
		n--;
	(void)snprintf(
	    out, SM_NAME_MAX, "hpt-%.*s-%.6s-", (int)n, study, study_id);
}

void
sm_job_request_name(char out[SM_NAME_MAX], const char *prefix, int64_t trial,
    int attempt, const char *uuid)
{
	(void)snprintf(out, SM_NAME_MAX, "%.28s%05" PRId64 "-%02d-%.6s", prefix,
	    trial, attempt, uuid);
}

char *
sm_job_request_study_key(
    const struct sm_settings *s, const char *study, const char *study_id)
{
	return xasprintf("%s%s%s-%s", s->prefix, *s->prefix != '\0' ? "/" : "",
	    study, study_id);
}

/* Members of extra, or of one of its members, that are passed on. */
static void
job_request_extra_put(
    struct json_writer *w, const struct json *block, const char *const * not )
{
	const struct json *j;
	size_t i;

	for (j = json_first(block); j != NULL; j = json_next(j)) {
		for (i = 0; not [i] != NULL; i++)
			if (strcmp(not [i], json_key(j)) == 0)
				break;
		if (not [i] != NULL)
			continue;
		json_write(json_writer_value(w, json_key(j)), j);
	}
}

static const char *const nothing[] = { NULL };

static const struct json *
extra(const struct sm_settings *s, const char *member)
{
	return json_get(s->extra, member);
}

/*
 * The first command of the container: others may write in the bucket, so that its
 * script and the code are compared with the digest that names them in S3
 * (sm-code-upload.c), where the image has sha256sum.  AWS takes 256 characters.
 */
static const char entry[] =
    "s(){ set -- $(sha256sum);echo $1;};d=${0%/*};f=$d/code.tar.gz;a=;"
    "if command -v sha256sum >/dev/null;then [ ! -f $f ]||a=$(s<$f);"
    "[ $(printf '%s %s' $(s<$0) \"$a\"|s) = $1 ]||{ echo \"$d: not what was "
    "sent\";exit 126;};fi;exec /bin/sh $0";
_Static_assert(sizeof entry <= 257, "AWS takes it");

static void
job_request_algorithm_put(struct json_writer *w, const struct sm_request *r,
    const struct sm_algorithm *a)
{
	const struct sm_settings *s = r->settings;

	json_writer_object(w, "AlgorithmSpecification");
	json_writer_text(w, "TrainingImage", a != NULL ? a->image : s->image);
	json_writer_text(w, "TrainingInputMode", s->input_mode);
	if (!sm_distribution_is_toolkit(s)) {
		/* Files of a channel have no executable bit. */
		json_writer_array(w, "ContainerEntrypoint");
		json_writer_text(w, NULL, "/bin/sh");
		json_writer_end(w);
		json_writer_array(w, "ContainerArguments");
		json_writer_text(w, NULL, "-c");
		json_writer_text(w, NULL, entry);
		json_writer_text(w, NULL, "/opt/ml/input/data/hpotune/run.sh");
		json_writer_text(w, NULL, strrchr(r->code_key, '/') + 1);
		json_writer_end(w);
	}
	/*
	 * Built-in algorithms have fixed definitions, which AWS does not let us
	 * override.
	 */
	if (a == NULL)
		sm_metric_definitions_put(w, r);
	job_request_extra_put(w, extra(s, "AlgorithmSpecification"), nothing);
	json_writer_end(w);
}

static void
member_copy(struct json_writer *w, const struct json *block, const char *from,
    const char *to)
{
	const struct json *j = json_get(block, from);

	if (j == NULL)
		return;
	json_write(json_writer_value(w, to), j);
}

static void
job_request_s3_put(struct json_writer *w, const char *uri, bool sharded,
    const char *type, const struct json *block)
{
	json_writer_object(w, "DataSource");
	json_writer_object(w, "S3DataSource");
	json_writer_text(w, "S3DataType", type);
	json_writer_text(w, "S3Uri", uri);
	json_writer_text(w, "S3DataDistributionType",
	    sharded ? "ShardedByS3Key" : "FullyReplicated");
	member_copy(w, block, "attributes", "AttributeNames");
	member_copy(w, block, "groups", "InstanceGroupNames");
	json_writer_end(w);
	json_writer_end(w);
}

static void
job_request_file_system_put(struct json_writer *w, const struct json *block)
{
	const char *access = json_string(json_get(block, "access"));

	json_writer_object(w, "DataSource");
	json_writer_object(w, "FileSystemDataSource");
	member_copy(w, block, "id", "FileSystemId");
	member_copy(w, block, "type", "FileSystemType");
	member_copy(w, block, "path", "DirectoryPath");
	json_writer_text(
	    w, "FileSystemAccessMode", access != NULL ? access : "ro");
	json_writer_end(w);
	json_writer_end(w);
}

static const char *
data_type(const struct json *block)
{
	const char *type =
	    block != NULL ? json_string(json_get(block, "type")) : NULL;

	if (type != NULL && strcmp(type, "manifest") == 0)
		return "ManifestFile";
	if (type != NULL && strcmp(type, "augmented-manifest") == 0)
		return "AugmentedManifestFile";
	return "S3Prefix";
}

static void
job_request_input_put(struct json_writer *w, const struct sm_input *in)
{
	const struct json *block = in->block, *seed;
	const char *text;

	json_writer_object(w, NULL);
	json_writer_text(w, "ChannelName", in->channel);
	if (in->s3 != NULL)
		job_request_s3_put(
		    w, in->s3, in->sharded, data_type(block), block);
	else
		job_request_file_system_put(w, json_get(block, "file_system"));
	member_copy(w, block, "mode", "InputMode");
	member_copy(w, block, "content_type", "ContentType");
	text =
	    block != NULL ? json_string(json_get(block, "compression")) : NULL;
	if (text != NULL)
		json_writer_text(w, "CompressionType",
		    strcmp(text, "gzip") == 0 ? "Gzip" : "None");
	text = block != NULL ? json_string(json_get(block, "record_wrapper"))
			     : NULL;
	if (text != NULL)
		json_writer_text(w, "RecordWrapperType",
		    strcmp(text, "none") == 0 ? "None" : text);
	seed = json_get(block, "shuffle_seed");
	if (seed != NULL) {
		json_writer_object(w, "ShuffleConfig");
		json_write(json_writer_value(w, "Seed"), seed);
		json_writer_end(w);
	}
	json_writer_end(w);
}

/* The user's channels, and ours with the entry script and the code. */
static void
job_request_inputs_put(struct json_writer *w, const struct sm_request *r)
{
	const struct sm_settings *s = r->settings;
	char *uri;
	size_t i;

	if (s->n_inputs == 0 && sm_distribution_is_toolkit(s))
		return;
	json_writer_array(w, "InputDataConfig");
	for (i = 0; i < s->n_inputs; i++)
		job_request_input_put(w, &s->inputs[i]);
	if (!sm_distribution_is_toolkit(s)) {
		json_writer_object(w, NULL);
		json_writer_text(w, "ChannelName", "hpotune");
		json_writer_text(w, "InputMode", "File");
		uri = xasprintf("s3://%s/%s/", s->bucket, r->code_key);
		job_request_s3_put(w, uri, false, "S3Prefix", NULL);
		free(uri);
		json_writer_end(w);
	}
	json_writer_end(w);
}

/*
 * Where the output goes.  Unless packed, files are uploaded one by one, so that
 * a stopped job ends sooner.
 */
static void
output_put(struct json_writer *w, const struct sm_request *r)
{
	const struct sm_settings *s = r->settings;
	const struct json *more = extra(s, "OutputDataConfig");
	/*
	 * A built-in algorithm gets no environment: the path contains the uuid.
	 */
	char *uri = xasprintf("s3://%s/%s/out%s%s", s->bucket, r->study_key,
	    s->algorithm ? "/" : "", s->algorithm ? r->spec->uuid : "");

	json_writer_object(w, "OutputDataConfig");
	json_writer_text(w, "S3OutputPath", uri);
	if (!s->algorithm &&
	    (more == NULL || json_get(more, "CompressionType") == NULL))
		json_writer_text(
		    w, "CompressionType", s->packed ? "GZIP" : "NONE");
	if (s->kms_key != NULL &&
	    (more == NULL || json_get(more, "KmsKeyId") == NULL))
		json_writer_text(w, "KmsKeyId", s->kms_key);
	job_request_extra_put(w, more, nothing);
	json_writer_end(w);
	free(uri);
	if (!s->checkpoints)
		return;
	uri = xasprintf("s3://%s/%s/ckpt/%05" PRId64 "/", s->bucket,
	    r->study_key, r->spec->trial);
	json_writer_object(w, "CheckpointConfig");
	json_writer_text(w, "S3Uri", uri);
	json_writer_text(w, "LocalPath", "/opt/ml/checkpoints");
	json_writer_end(w);
	free(uri);
}

static void
job_request_groups_put(struct json_writer *w, const struct sm_settings *s)
{
	size_t i;

	json_writer_array(w, "InstanceGroups");
	for (i = 0; i < s->n_groups; i++) {
		json_writer_object(w, NULL);
		json_writer_text(w, "InstanceGroupName", s->groups[i].name);
		json_writer_text(w, "InstanceType", s->groups[i].type.name);
		json_writer_integer(w, "InstanceCount", s->groups[i].count);
		json_writer_end(w);
	}
	json_writer_end(w);
}

static void
resources_put(struct json_writer *w, const struct sm_request *r)
{
	const struct sm_settings *s = r->settings;
	const struct sm_plan *plan = r->plan;

	json_writer_object(w, "ResourceConfig");
	if (plan->type != NULL) {
		json_writer_text(w, "InstanceType", plan->type->name);
		json_writer_integer(w, "InstanceCount", plan->instances);
	} else {
		job_request_groups_put(w, s);
	}
	json_writer_integer(w, "VolumeSizeInGB", s->volume_gb);
	if (s->keep_alive_s > 0 && !plan->spot)
		json_writer_integer(
		    w, "KeepAlivePeriodInSeconds", s->keep_alive_s);
	job_request_extra_put(w, extra(s, "ResourceConfig"), nothing);
	json_writer_end(w);
	json_writer_object(w, "StoppingCondition");
	json_writer_integer(w, "MaxRuntimeInSeconds", plan->max_run_s);
	if (plan->spot)
		json_writer_integer(
		    w, "MaxWaitTimeInSeconds", plan->max_wait_s);
	job_request_extra_put(w, extra(s, "StoppingCondition"), nothing);
	json_writer_end(w);
	json_writer_bool(w, "EnableManagedSpotTraining", plan->spot);
}

static void
texts_put(struct json_writer *w, const char *key, char *const *texts)
{
	json_writer_array(w, key);
	for (; *texts != NULL; texts++) {
		json_writer_text(w, NULL, *texts);
	}
	json_writer_end(w);
}

static void
job_request_vpc_put(struct json_writer *w, const struct sm_settings *s)
{
	if (s->subnets == NULL)
		return;
	json_writer_object(w, "VpcConfig");
	texts_put(w, "SecurityGroupIds", s->security_groups);
	texts_put(w, "Subnets", s->subnets);
	json_writer_end(w);
}

static void
job_request_tag_put(struct json_writer *w, const char *key, const char *value)
{
	json_writer_object(w, NULL);
	json_writer_text(w, "Key", key);
	json_writer_text(w, "Value", value);
	json_writer_end(w);
}

static void
job_request_tags_put(struct json_writer *w, const struct sm_request *r)
{
	const struct sm_settings *s = r->settings;
	char trial[24];
	size_t i;

	(void)snprintf(trial, sizeof trial, "%" PRId64, r->spec->trial);
	json_writer_array(w, "Tags");
	job_request_tag_put(w, "hpotune:study", r->spec->study);
	job_request_tag_put(w, "hpotune:study-id", r->study_id);
	job_request_tag_put(w, "hpotune:trial", trial);
	job_request_tag_put(w, "hpotune:attempt", r->spec->uuid);
	for (i = 0; i < s->n_tags; i++)
		job_request_tag_put(w, s->tags[i].name, s->tags[i].value);
	json_writer_end(w);
}

/* Texts that stand in every request, within others. */
static bool
is_incomplete(const struct sm_request *r)
{
	return r->job == NULL || r->study_id == NULL || r->study_key == NULL ||
	       r->code_key == NULL || r->region == NULL ||
	       r->settings->role == NULL || r->settings->bucket == NULL ||
	       r->spec->study == NULL || r->spec->uuid == NULL;
}

int
sm_job_request_put(struct buf *b, const struct sm_request *r, struct err *e)
{
	static const char *const done[] = { "AlgorithmSpecification",
		"OutputDataConfig", "ResourceConfig", "StoppingCondition",
		NULL };

	const char *params = r->spec->params_json;
	const struct sm_algorithm *a = NULL;
	struct json_doc *doc;
	struct json_writer w = { .out = b };

	if (is_incomplete(r))
		return err_set(e, ERR_LAUNCH,
		    "the request of job %s is not complete: nothing is sent",
		    r->job != NULL ? r->job : "(no name)");
	if (r->settings->algorithm) {
		if (json_parse(&doc, params, strlen(params), NULL, false, e) ==
		    -1)
			return -1;
		a = sm_algorithm_of(r->settings, json_root(doc), e);
		json_free(doc);
		if (a == NULL)
			return -1;
	}
	json_writer_object(&w, NULL);
	json_writer_text(&w, "TrainingJobName", r->job);
	json_writer_text(&w, "RoleArn", r->settings->role);
	job_request_algorithm_put(&w, r, a);
	if (sm_hyperparameters_put(&w, r, e) == -1 ||
	    (a == NULL && sm_environment_put(&w, r, e) == -1))
		return -1;
	job_request_inputs_put(&w, r);
	output_put(&w, r);
	resources_put(&w, r);
	job_request_vpc_put(&w, r->settings);
	job_request_tags_put(&w, r);
	job_request_extra_put(&w, r->settings->extra, done);
	json_writer_end(&w);
	return 0;
}
