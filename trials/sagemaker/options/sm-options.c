/*
 * The options of the backend block as a table, and access by name.
 * sm-settings.c reads the values.
 */

#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/model/plugin-options.h"
#include "trials/sagemaker/options/sm-options-internal.h"

enum {
	RUN_MAX_S = 28 * 86400 /* of a training job */
};

static const char *const modes[] = { "File", "FastFile", "Pipe", NULL };
static const char *const containers[] = { "script", "algorithm", NULL };
static const char *const sources[] = { "logs", "cloudwatch", NULL };

static const char *const models[] = { "files", "tar.gz", NULL };

const struct option sm_options[] = {
	{ .name = "region",
	    .type = OPTION_TEXT,
	    .help = "region of the jobs (of the AWS environment)" },
	{ .name = "profile",
	    .type = OPTION_TEXT,
	    .help = "profile of the shared AWS files" },
	{ .name = "role",
	    .type = OPTION_TEXT,
	    .help = "ARN of the role that jobs have" },
	{ .name = "image",
	    .type = OPTION_TEXT,
	    .help = "container image, by tag or digest" },
	{ .name = "container",
	    .type = OPTION_TEXT,
	    .choices = containers,
	    .def = "script",
	    .help = "what the image runs: the command, or its own" },
	{ .name = "algorithm",
	    .type = OPTION_TEXT,
	    .help = "the parameter that chooses an algorithm" },
	{ .name = "algorithms",
	    .type = OPTION_JSON,
	    .help = "AWS's own algorithms by that parameter's value" },
	{ .name = "instance_type",
	    .type = OPTION_WORDS,
	    .help = "one or more, in order of preference" },
	{ .name = "instance_count",
	    .type = OPTION_INT,
	    .min = 1,
	    .max = 10000,
	    .def = "1",
	    .help = "instances of one job" },
	{ .name = "groups",
	    .type = OPTION_JSON,
	    .help = "groups of a heterogeneous cluster" },
	{ .name = "volume",
	    .type = OPTION_SIZE,
	    .min = 1,
	    .max = 17592186044416.0, /* 16 TiB, EBS's own */
	    .def = "30GiB",
	    .help = "disk of an instance" },
	{ .name = "spot",
	    .type = OPTION_BOOL,
	    .def = "false",
	    .help = "managed spot training" },
	{ .name = "force_spot",
	    .type = OPTION_BOOL,
	    .def = "false",
	    .help = "spot although there are no checkpoints" },
	{ .name = "checkpoints",
	    .type = OPTION_BOOL,
	    .def = "true",
	    .help = "the trial writes checkpoints: keep them in S3" },
	{ .name = "max_run",
	    .type = OPTION_DURATION,
	    .min = 1,
	    .max = RUN_MAX_S,
	    .help = "longest training (trial.max_run, else a day)" },
	{ .name = "max_wait",
	    .type = OPTION_DURATION,
	    .min = 1,
	    .max = 2.0 * RUN_MAX_S,
	    .help = "spot: longest waiting and training" },
	{ .name = "on_demand_after",
	    .type = OPTION_INT,
	    .min = 0,
	    .max = 1000,
	    .def = "0",
	    .help = "spot: failures before on-demand; 0 = never" },
	{ .name = "keep_alive",
	    .type = OPTION_DURATION,
	    .min = 0,
	    .max = 21600,
	    .def = "0",
	    .help = "warm pool: time an instance is kept" },
	{ .name = "download_time",
	    .type = OPTION_DURATION,
	    .min = 0,
	    .max = RUN_MAX_S,
	    .def = "10m",
	    .help =
		"time billed before training, until jobs have measured it" },
	{ .name = "upload_time",
	    .type = OPTION_DURATION,
	    .min = 0,
	    .max = RUN_MAX_S,
	    .def = "10m",
	    .help = "time billed after training, until jobs have measured it" },
	{ .name = "s3",
	    .type = OPTION_TEXT,
	    .help = "where code, checkpoints and output go" },
	{ .name = "model",
	    .type = OPTION_TEXT,
	    .choices = models,
	    .def = "files",
	    .help = "how model and output are uploaded to S3" },
	{ .name = "kms_key",
	    .type = OPTION_TEXT,
	    .help = "KMS key of code and output in S3" },
	{ .name = "code",
	    .type = OPTION_TEXT,
	    .help = "folder that is sent to the trials" },
	{ .name = "requirements",
	    .type = OPTION_BOOL,
	    .def = "true",
	    .help = "install requirements.txt of the code" },
	{ .name = "inputs",
	    .type = OPTION_JSON,
	    .help = "data channels by name" },
	{ .name = "input_mode",
	    .type = OPTION_TEXT,
	    .choices = modes,
	    .def = "File",
	    .help = "how data is provided to a trial" },
	{ .name = "distribution",
	    .type = OPTION_JSON,
	    .help = "how the processes of a trial are started" },
	{ .name = "price_per_hour",
	    .type = OPTION_JSON,
	    .help = "dollars of an instance, by type" },
	{ .name = "tags", .type = OPTION_JSON, .help = "tags of every job" },
	{ .name = "vpc",
	    .type = OPTION_JSON,
	    .help = "subnets and security_groups" },
	{ .name = "parallel",
	    .type = OPTION_INT,
	    .min = 1,
	    .max = 10000,
	    .help = "jobs at once (limits.parallel, else 10)" },
	{ .name = "pace",
	    .type = OPTION_REAL,
	    .min = 0.01,
	    .max = 10000,
	    .def = "1",
	    .help = "multiplies request rates" },
	{ .name = "metrics_from",
	    .type = OPTION_TEXT,
	    .choices = sources,
	    .def = "logs",
	    .help = "where reports are read" },
	{ .name = "watch",
	    .type = OPTION_BOOL,
	    .def = "false",
	    .help = "get job state changes by EventBridge and SQS, too" },
	{ .name = "publish",
	    .type = OPTION_BOOL,
	    .def = "false",
	    .help = "metrics of the study to CloudWatch" },
	{ .name = "alarm",
	    .type = OPTION_JSON,
	    .help = "CloudWatch alarm on idle GPUs" },
	{ .name = "extra",
	    .type = OPTION_JSON,
	    .help = "members of CreateTrainingJob as they are" },
	{ .type = OPTION_END },
};

const struct json *
sm_options_json(const struct sm_reader *r, const char *name)
{
	const struct option_value *v = plugin_option_get(r->values, name);

	return v->given ? v->json : NULL;
}

const struct json *
sm_options_where(const struct sm_reader *r, const char *name)
{
	const struct json *j = sm_options_json(r, name);
	size_t i;

	for (i = 0; j == NULL && sm_options[i].type != OPTION_END; i++)
		if (r->values[i].given)
			j = r->values[i].json;
	return j;
}

char *
sm_options_text(const struct sm_reader *r, const char *name)
{
	const char *text = plugin_option_get(r->values, name)->text;

	return text != NULL ? xstrdup(text) : NULL;
}
