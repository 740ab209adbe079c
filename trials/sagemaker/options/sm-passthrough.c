/*
 * Members of CreateTrainingJob that are passed through unchanged, and the
 * alarm.  Members that hpotune sets itself are rejected.
 */

#include <string.h>

#include "src/base/json/json.h"
#include "src/model/plugin-options.h"
#include "trials/sagemaker/options/sm-options-internal.h"

/* Of these objects only some members are passed through. */
static const struct {
	const char *member;
	const char *keys[4];
} inner[] = {
	{ "AlgorithmSpecification",
	    { "TrainingImageConfig", "EnableSageMakerMetricsTimeSeries" } },
	{ "OutputDataConfig", { "KmsKeyId", "CompressionType" } },
	{ "ResourceConfig", { "VolumeKmsKeyId", "TrainingPlanArn",
				"InstancePlacementConfig" } },
	{ "StoppingCondition", { "MaxPendingTimeInSeconds" } },
};
static const char *const members[] = { "AlgorithmSpecification",
	"OutputDataConfig", "ResourceConfig", "StoppingCondition",
	"DebugHookConfig", "DebugRuleConfigurations",
	"EnableInterContainerTrafficEncryption", "EnableNetworkIsolation",
	"ExperimentConfig", "InfraCheckConfig", "MlflowConfig",
	"ProfilerConfig", "ProfilerRuleConfigurations", "RemoteDebugConfig",
	"RetryStrategy", "SessionChainingConfig", "TensorBoardOutputConfig",
	NULL };

static int
read_members(struct sm_reader *r)
{
	const struct json *j, *block = sm_options_json(r, "extra");
	size_t i;

	if (block == NULL)
		return 0;
	if (json_want(block, JSON_OBJECT, r->e) != 0 ||
	    json_only(block, members, r->e) != 0)
		return -1;
	for (i = 0; i < sizeof inner / sizeof inner[0]; i++) {
		j = json_get(block, inner[i].member);
		if (j != NULL && (json_want(j, JSON_OBJECT, r->e) != 0 ||
				     json_only(j, inner[i].keys, r->e) != 0))
			return -1;
	}
	r->s->extra = block;
	return 0;
}

static bool
topic_good(const char *s)
{
	return strncmp(s, "arn:aws", 7) == 0 && strlen(s) <= 1024;
}

static int
read_alarm(struct sm_reader *r)
{
	static const char *const keys[] = { "gpu_idle", "minutes", "action",
		NULL };
	const struct json *j, *block = sm_options_json(r, "alarm");
	const char *text;
	int64_t n;

	if (block == NULL)
		return 0;
	if (json_want(block, JSON_OBJECT, r->e) != 0 ||
	    json_only(block, keys, r->e) != 0)
		return -1;
	j = json_get(block, "gpu_idle");
	if (j != NULL && json_read_integer(j, 1, 100, &n, r->e) != 0)
		return -1;
	j = json_get(block, "minutes");
	if (j != NULL && json_read_integer(j, 1, 1440, &n, r->e) != 0)
		return -1;
	j = json_get(block, "action");
	if (j != NULL && json_read_string(j, &text, r->e) != 0)
		return -1;
	if (j != NULL && !topic_good(text))
		return json_err(j, r->e, "expected the ARN of a topic");
	r->s->alarm = block;
	return 0;
}

int
sm_passthrough_read(struct sm_reader *r)
{
	return read_members(r) == -1 ? -1 : read_alarm(r);
}
