/* Members of a tuning job that no other file reads: each gets a note. */

#include <stdlib.h>
#include <string.h>

#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/import/import-study.h"

enum { KEYS_MAX = 24 };

/* The members of each object that are read, or only describe results. */
static const struct place {
	const char *path; /* from the request or a definition */
	const char *keys[KEYS_MAX];
} places[] = {
	{ "", { "HyperParameterTuningJobName", "HyperParameterTuningJobConfig",
		  "TrainingJobDefinition", "TrainingJobDefinitions",
		  "WarmStartConfig", "Tags", "HyperParameterTuningJobArn",
		  "HyperParameterTuningJobStatus", "CreationTime",
		  "HyperParameterTuningEndTime", "LastModifiedTime",
		  "TrainingJobStatusCounters", "ObjectiveStatusCounters",
		  "BestTrainingJob", "OverallBestTrainingJob", "FailureReason",
		  "TuningJobCompletionDetails", "ConsumedResources",
		  "ResponseMetadata" } },
	{ "HyperParameterTuningJobConfig",
	    { "Strategy", "StrategyConfig", "HyperParameterTuningJobObjective",
		"ResourceLimits", "ParameterRanges",
		"TrainingJobEarlyStoppingType", "TuningJobCompletionCriteria",
		"RandomSeed" } },
	{ "StrategyConfig", { "HyperbandStrategyConfig" } },
	{ "HyperbandStrategyConfig", { "MinResource", "MaxResource" } },
	{ "ResourceLimits",
	    { "MaxNumberOfTrainingJobs", "MaxParallelTrainingJobs",
		"MaxRuntimeInSeconds" } },
	{ "ParameterRanges",
	    { "ContinuousParameterRanges", "IntegerParameterRanges",
		"CategoricalParameterRanges", "AutoParameters" } },
	{ "HyperParameterRanges",
	    { "ContinuousParameterRanges", "IntegerParameterRanges",
		"CategoricalParameterRanges", "AutoParameters" } },
	{ "TuningJobCompletionCriteria",
	    { "TargetObjectiveMetricValue", "BestObjectiveNotImproving",
		"ConvergenceDetected" } },
	{ "WarmStartConfig",
	    { "ParentHyperParameterTuningJobs", "WarmStartType" } },
	{ "TrainingJobDefinition",
	    { "DefinitionName", "TuningObjective", "HyperParameterRanges",
		"StaticHyperParameters", "AlgorithmSpecification", "RoleArn",
		"InputDataConfig", "VpcConfig", "OutputDataConfig",
		"ResourceConfig", "HyperParameterTuningResourceConfig",
		"StoppingCondition", "EnableNetworkIsolation",
		"EnableInterContainerTrafficEncryption",
		"EnableManagedSpotTraining", "CheckpointConfig",
		"RetryStrategy", "Environment" } },
	{ "AlgorithmSpecification",
	    { "TrainingImage", "TrainingInputMode", "AlgorithmName",
		"MetricDefinitions" } },
	{ "VpcConfig", { "Subnets", "SecurityGroupIds" } },
	{ "OutputDataConfig",
	    { "S3OutputPath", "KmsKeyId", "CompressionType" } },
	{ "ResourceConfig",
	    { "InstanceType", "InstanceCount", "VolumeSizeInGB",
		"VolumeKmsKeyId", "KeepAlivePeriodInSeconds", "InstanceGroups",
		"InstancePreferences", "TrainingPlanArn",
		"InstancePlacementConfig" } },
	{ "InstancePreferences", { "InstanceType", "InstanceCount" } },
	{ "InstanceGroups",
	    { "InstanceGroupName", "InstanceType", "InstanceCount" } },
	{ "HyperParameterTuningResourceConfig",
	    { "InstanceType", "InstanceCount", "VolumeSizeInGB",
		"VolumeKmsKeyId", "AllocationStrategy", "InstanceConfigs" } },
	{ "InstanceConfigs",
	    { "InstanceType", "InstanceCount", "VolumeSizeInGB" } },
	{ "StoppingCondition", { "MaxRuntimeInSeconds", "MaxWaitTimeInSeconds",
				   "MaxPendingTimeInSeconds" } },
	{ "CheckpointConfig", { "S3Uri", "LocalPath" } },
	{ "RetryStrategy", { "MaximumRetryAttempts" } },
	{ "InputDataConfig",
	    { "ChannelName", "DataSource", "ContentType", "CompressionType",
		"RecordWrapperType", "InputMode", "ShuffleConfig" } },
	{ "DataSource", { "S3DataSource", "FileSystemDataSource" } },
	{ "S3DataSource", { "S3DataType", "S3Uri", "S3DataDistributionType",
			      "AttributeNames", "InstanceGroupNames" } },
	{ "FileSystemDataSource",
	    { "FileSystemId", "FileSystemType", "DirectoryPath",
		"FileSystemAccessMode" } },
};

static const struct place *
import_dropped_place_find(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof places / sizeof places[0]; i++)
		if (strcmp(places[i].path, name) == 0)
			return &places[i];
	return NULL;
}

static bool
import_dropped_is_known(const struct place *p, const char *key)
{
	size_t i;

	for (i = 0; i < KEYS_MAX && p->keys[i] != NULL; i++)
		if (strcmp(p->keys[i], key) == 0)
			return true;
	return false;
}

static void object_note(
    struct import *, const struct json *, const struct place *, const char *);

/* An object, or each of a list of them. */
static void
member_note(struct import *im, const struct json *j, const char *path)
{
	const struct place *p = import_dropped_place_find(json_key(j));
	const struct json *k;

	if (p == NULL)
		return;
	if (json_type(j) == JSON_OBJECT)
		object_note(im, j, p, path);
	else if (json_type(j) == JSON_ARRAY)
		for (k = json_first(j); k != NULL; k = json_next(k))
			if (json_type(k) == JSON_OBJECT)
				object_note(im, k, p, path);
}

static void
object_note(struct import *im, const struct json *object,
    const struct place *place, const char *path)
{
	const struct json *j;
	char *at;

	for (j = json_first(object); j != NULL; j = json_next(j)) {
		at = xasprintf(
		    "%s%s%s", path, *path != '\0' ? "." : "", json_key(j));
		if (json_type(j) == JSON_NULL)
			;
		else if (!import_dropped_is_known(place, json_key(j)))
			buf_printf(im->to.notes,
			    "%s: left out: a study has no equivalent\n", at);
		else if (j != im->config && j != im->def)
			member_note(im, j, at);
		free(at);
	}
}

void
import_dropped_note(struct import *im)
{
	size_t i;

	if (im->root != im->config && im->root != im->def)
		object_note(im, im->root, import_dropped_place_find(""), "");
	object_note(im, im->config,
	    import_dropped_place_find("HyperParameterTuningJobConfig"),
	    "HyperParameterTuningJobConfig");
	for (i = 0; i < im->n_defs; i++)
		object_note(im, im->defs[i],
		    import_dropped_place_find("TrainingJobDefinition"),
		    "TrainingJobDefinitions");
	if (im->def != NULL && im->n_defs == 0)
		object_note(im, im->def,
		    import_dropped_place_find("TrainingJobDefinition"),
		    "TrainingJobDefinition");
}
