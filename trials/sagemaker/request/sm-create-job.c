/* Names of jobs, and the body of CreateTrainingJob. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/model/study/study.h"
#include "trials/sagemaker/request/sm-json-put.h"

enum {
	STUDY_SHOWN = 16 /* characters of a study's name in a job's */
};

void
sm_create_job_prefix(
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
sm_create_job_name(char out[SM_NAME_MAX], const char *prefix, int64_t trial,
    int attempt, const char *uuid)
{
	(void)snprintf(out, SM_NAME_MAX, "%.28s%05" PRId64 "-%02d-%.6s", prefix,
	    trial, attempt, uuid);
}

char *
sm_create_job_study_key(
    const struct sm_settings *s, const char *study, const char *study_id)
{
	return xasprintf("%s%s%s-%s", s->prefix, *s->prefix != '\0' ? "/" : "",
	    study, study_id);
}

/* Members of extra, or of one of its members, that are passed on. */
static void
extra_put(struct buf *b, const struct json *block, const char *const * not )
{
	const struct json *j;
	size_t i;

	for (j = block != NULL ? json_first(block) : NULL; j != NULL;
	     j = json_next(j)) {
		for (i = 0; not [i] != NULL; i++)
			if (strcmp(not [i], json_key(j)) == 0)
				break;
		if (not [i] != NULL)
			continue;
		sm_json_put_key(b, json_key(j));
		json_write(b, j);
	}
}

static const char *const nothing[] = { NULL };

static const struct json *
extra(const struct sm_settings *s, const char *member)
{
	return s->extra != NULL ? json_get(s->extra, member) : NULL;
}

static void
algorithm_put(
    struct buf *b, const struct sm_request *r, const struct sm_algorithm *a)
{
	const struct sm_settings *s = r->settings;

	sm_json_put_key(b, "AlgorithmSpecification");
	buf_putc(b, '{');
	sm_json_put_text(b, "TrainingImage", a != NULL ? a->image : s->image);
	sm_json_put_text(b, "TrainingInputMode", s->input_mode);
	if (!sm_distribution_is_toolkit(s)) {
		/* Files of a channel have no executable bit. */
		sm_json_put_key(b, "ContainerEntrypoint");
		buf_puts(b, "[\"/bin/sh\"]");
		sm_json_put_key(b, "ContainerArguments");
		buf_puts(b, "[\"/opt/ml/input/data/hpotune/run.sh\"]");
	}
	/*
	 * Built-in algorithms have fixed definitions, which AWS does not let us
	 * override.
	 */
	if (a == NULL)
		sm_hyperparameters_put_metrics(b, r);
	extra_put(b, extra(s, "AlgorithmSpecification"), nothing);
	buf_putc(b, '}');
}

/* ---- data ------------------------------------------------------------------ */

static void
member_copy(
    struct buf *b, const struct json *block, const char *from, const char *to)
{
	const struct json *j = block != NULL ? json_get(block, from) : NULL;

	if (j == NULL)
		return;
	sm_json_put_key(b, to);
	json_write(b, j);
}

static void
s3_put(struct buf *b, const char *uri, bool sharded, const char *type,
    const struct json *block)
{
	sm_json_put_key(b, "DataSource");
	buf_putc(b, '{');
	sm_json_put_key(b, "S3DataSource");
	buf_putc(b, '{');
	sm_json_put_text(b, "S3DataType", type);
	sm_json_put_text(b, "S3Uri", uri);
	sm_json_put_text(b, "S3DataDistributionType",
	    sharded ? "ShardedByS3Key" : "FullyReplicated");
	member_copy(b, block, "attributes", "AttributeNames");
	member_copy(b, block, "groups", "InstanceGroupNames");
	buf_puts(b, "}}");
}

static void
file_system_put(struct buf *b, const struct json *block)
{
	const char *access = json_string(json_get(block, "access"));

	sm_json_put_key(b, "DataSource");
	buf_putc(b, '{');
	sm_json_put_key(b, "FileSystemDataSource");
	buf_putc(b, '{');
	member_copy(b, block, "id", "FileSystemId");
	member_copy(b, block, "type", "FileSystemType");
	member_copy(b, block, "path", "DirectoryPath");
	sm_json_put_text(
	    b, "FileSystemAccessMode", access != NULL ? access : "ro");
	buf_puts(b, "}}");
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
input_put(struct buf *b, const struct sm_input *in)
{
	const struct json *block = in->block, *seed;
	const char *text;

	sm_json_put_next(b);
	buf_putc(b, '{');
	sm_json_put_text(b, "ChannelName", in->channel);
	if (in->s3 != NULL)
		s3_put(b, in->s3, in->sharded, data_type(block), block);
	else
		file_system_put(b, json_get(block, "file_system"));
	member_copy(b, block, "mode", "InputMode");
	member_copy(b, block, "content_type", "ContentType");
	text =
	    block != NULL ? json_string(json_get(block, "compression")) : NULL;
	if (text != NULL)
		sm_json_put_text(b, "CompressionType",
		    strcmp(text, "gzip") == 0 ? "Gzip" : "None");
	text = block != NULL ? json_string(json_get(block, "record_wrapper"))
			     : NULL;
	if (text != NULL)
		sm_json_put_text(b, "RecordWrapperType",
		    strcmp(text, "none") == 0 ? "None" : text);
	seed = block != NULL ? json_get(block, "shuffle_seed") : NULL;
	if (seed != NULL) {
		sm_json_put_key(b, "ShuffleConfig");
		buf_puts(b, "{\"Seed\":");
		json_write(b, seed);
		buf_putc(b, '}');
	}
	buf_putc(b, '}');
}

/* The user's channels, and ours with the entry script and the code. */
static void
inputs_put(struct buf *b, const struct sm_request *r)
{
	const struct sm_settings *s = r->settings;
	char *uri;
	size_t i;

	if (s->n_inputs == 0 && sm_distribution_is_toolkit(s))
		return;
	sm_json_put_key(b, "InputDataConfig");
	buf_putc(b, '[');
	for (i = 0; i < s->n_inputs; i++)
		input_put(b, &s->inputs[i]);
	if (!sm_distribution_is_toolkit(s)) {
		sm_json_put_next(b);
		buf_putc(b, '{');
		sm_json_put_text(b, "ChannelName", "hpotune");
		sm_json_put_text(b, "InputMode", "File");
		uri = xasprintf("s3://%s/%s/", s->bucket, r->code_key);
		s3_put(b, uri, false, "S3Prefix", NULL);
		free(uri);
		buf_putc(b, '}');
	}
	buf_putc(b, ']');
}

/*
 * Where the output goes.  Unless packed, files are uploaded one by one, so that
 * a stopped job ends sooner.
 */
static void
output_put(struct buf *b, const struct sm_request *r)
{
	const struct sm_settings *s = r->settings;
	const struct json *more = extra(s, "OutputDataConfig");
	/*
	 * A built-in algorithm gets no environment: the path contains the uuid.
	 */
	char *uri = xasprintf("s3://%s/%s/out%s%s", s->bucket, r->study_key,
	    s->algorithm ? "/" : "", s->algorithm ? r->spec->uuid : "");

	sm_json_put_key(b, "OutputDataConfig");
	buf_putc(b, '{');
	sm_json_put_text(b, "S3OutputPath", uri);
	if (!s->algorithm &&
	    (more == NULL || json_get(more, "CompressionType") == NULL))
		sm_json_put_text(
		    b, "CompressionType", s->packed ? "GZIP" : "NONE");
	if (s->kms_key != NULL &&
	    (more == NULL || json_get(more, "KmsKeyId") == NULL))
		sm_json_put_text(b, "KmsKeyId", s->kms_key);
	extra_put(b, more, nothing);
	buf_putc(b, '}');
	free(uri);
	if (!s->checkpoints)
		return;
	uri = xasprintf("s3://%s/%s/ckpt/%05" PRId64 "/", s->bucket,
	    r->study_key, r->spec->trial);
	sm_json_put_key(b, "CheckpointConfig");
	buf_putc(b, '{');
	sm_json_put_text(b, "S3Uri", uri);
	sm_json_put_text(b, "LocalPath", "/opt/ml/checkpoints");
	buf_putc(b, '}');
	free(uri);
}

/* ---- machines --------------------------------------------------------------- */

static void
groups_put(struct buf *b, const struct sm_settings *s)
{
	size_t i;

	sm_json_put_key(b, "InstanceGroups");
	buf_putc(b, '[');
	for (i = 0; i < s->n_groups; i++) {
		sm_json_put_next(b);
		buf_putc(b, '{');
		sm_json_put_text(b, "InstanceGroupName", s->groups[i].name);
		sm_json_put_text(b, "InstanceType", s->groups[i].type.name);
		sm_json_put_number(b, "InstanceCount", s->groups[i].count);
		buf_putc(b, '}');
	}
	buf_putc(b, ']');
}

static void
resources_put(struct buf *b, const struct sm_request *r)
{
	const struct sm_settings *s = r->settings;
	const struct sm_plan *plan = r->plan;

	sm_json_put_key(b, "ResourceConfig");
	buf_putc(b, '{');
	if (plan->type != NULL) {
		sm_json_put_text(b, "InstanceType", plan->type->name);
		sm_json_put_number(b, "InstanceCount", plan->instances);
	} else {
		groups_put(b, s);
	}
	sm_json_put_number(b, "VolumeSizeInGB", s->volume_gb);
	if (s->keep_alive_s > 0 && !plan->spot)
		sm_json_put_number(
		    b, "KeepAlivePeriodInSeconds", s->keep_alive_s);
	extra_put(b, extra(s, "ResourceConfig"), nothing);
	buf_putc(b, '}');
	sm_json_put_key(b, "StoppingCondition");
	buf_putc(b, '{');
	sm_json_put_number(b, "MaxRuntimeInSeconds", plan->max_run_s);
	if (plan->spot)
		sm_json_put_number(b, "MaxWaitTimeInSeconds", plan->max_wait_s);
	extra_put(b, extra(s, "StoppingCondition"), nothing);
	buf_putc(b, '}');
	sm_json_put_key(b, "EnableManagedSpotTraining");
	buf_puts(b, plan->spot ? "true" : "false");
}

static void
texts_put(struct buf *b, const char *key, char *const *texts)
{
	sm_json_put_key(b, key);
	buf_putc(b, '[');
	for (; *texts != NULL; texts++) {
		sm_json_put_next(b);
		json_put_string(b, *texts);
	}
	buf_putc(b, ']');
}

static void
vpc_put(struct buf *b, const struct sm_settings *s)
{
	if (s->subnets == NULL)
		return;
	sm_json_put_key(b, "VpcConfig");
	buf_putc(b, '{');
	texts_put(b, "SecurityGroupIds", s->security_groups);
	texts_put(b, "Subnets", s->subnets);
	buf_putc(b, '}');
}

static void
tag_put(struct buf *b, const char *key, const char *value)
{
	sm_json_put_next(b);
	buf_putc(b, '{');
	sm_json_put_text(b, "Key", key);
	sm_json_put_text(b, "Value", value);
	buf_putc(b, '}');
}

static void
tags_put(struct buf *b, const struct sm_request *r)
{
	const struct sm_settings *s = r->settings;
	char trial[24];
	size_t i;

	(void)snprintf(trial, sizeof trial, "%" PRId64, r->spec->trial);
	sm_json_put_key(b, "Tags");
	buf_putc(b, '[');
	tag_put(b, "hpotune:study", r->spec->study);
	tag_put(b, "hpotune:study-id", r->study_id);
	tag_put(b, "hpotune:trial", trial);
	tag_put(b, "hpotune:attempt", r->spec->uuid);
	for (i = 0; i < s->n_tags; i++)
		tag_put(b, s->tags[i].name, s->tags[i].value);
	buf_putc(b, ']');
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
sm_create_job_put(struct buf *b, const struct sm_request *r, struct err *e)
{
	static const char *const done[] = { "AlgorithmSpecification",
		"OutputDataConfig", "ResourceConfig", "StoppingCondition",
		NULL };

	const char *params = r->spec->params_json;
	const struct sm_algorithm *a = NULL;
	struct json_doc *doc;

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
	buf_putc(b, '{');
	sm_json_put_text(b, "TrainingJobName", r->job);
	sm_json_put_text(b, "RoleArn", r->settings->role);
	algorithm_put(b, r, a);
	if (sm_hyperparameters_put(b, r, e) == -1 ||
	    (a == NULL && sm_hyperparameters_put_env(b, r, e) == -1))
		return -1;
	inputs_put(b, r);
	output_put(b, r);
	resources_put(b, r);
	vpc_put(b, r->settings);
	tags_put(b, r);
	extra_put(b, r->settings->extra, done);
	buf_putc(b, '}');
	return 0;
}
