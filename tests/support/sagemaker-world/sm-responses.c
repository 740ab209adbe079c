/* The world's descriptions of a job. */

#include <string.h>

#include "tests/support/sagemaker-world/sm-world.h"

#define EPOCH_S INT64_C(1700000000)

static int64_t
end_of(const struct sm_world_job *j)
{
	return j->stop >= 0 && j->stop < j->end ? j->stopped : j->end;
}

bool
sm_responses_over(const struct sm_world_job *j, int64_t at)
{
	return at >= end_of(j);
}

bool
sm_responses_trains(const struct sm_world_job *j, int64_t at)
{
	return at >= j->train && !sm_responses_over(j, at);
}

static const char *
status(const struct sm_world_job *j, int64_t at)
{
	if (!sm_responses_over(j, at))
		return j->stop >= 0 && at >= j->stop ? "Stopping"
						     : "InProgress";
	if (end_of(j) != j->end)
		return "Stopped";
	switch (j->kind) {
	case SM_WORLD_OK:
		return "Completed";
	case SM_WORLD_MAX_WAIT:
		return "Stopped";
	case SM_WORLD_FAIL:
	case SM_WORLD_CAPACITY:
	case SM_WORLD_INTERNAL:
	case SM_WORLD_CLIENT:
		break;
	}
	return "Failed";
}

static const char *
secondary(const struct sm_world_job *j, int64_t at)
{
	const char *s = status(j, at);

	if (strcmp(s, "Stopped") == 0 && end_of(j) == j->end)
		return "MaxWaitTimeExceeded";
	if (strcmp(s, "InProgress") != 0)
		return s;
	if (at < j->train)
		return at < (j->created + j->train) / 2 ? "Starting"
							: "Downloading";
	if (j->interrupted >= 0 && at >= j->interrupted &&
	    at < j->interrupted + 60000)
		return "Interrupted";
	return "Training";
}

static const char *
reason(const struct sm_world_job *j)
{
	switch (j->kind) {
	case SM_WORLD_FAIL:
		return "AlgorithmError: the trial exited with status 3, exit "
		       "code: 3";
	case SM_WORLD_CAPACITY:
		return "CapacityError: Unable to provision";
	case SM_WORLD_INTERNAL:
		return "InternalServerError: We encountered";
	case SM_WORLD_CLIENT:
		return "ClientError: No such image";
	case SM_WORLD_OK:
	case SM_WORLD_MAX_WAIT:
		break;
	}
	return "";
}

static double
seconds(int64_t ms)
{
	return (double)EPOCH_S + (double)ms / 1000;
}

void
sm_responses_put_job(struct buf *b, const struct sm_world_job *j, int64_t at)
{
	bool over = sm_responses_over(j, at),
	     trained = at >= j->train && j->train < end_of(j);

	buf_printf(b,
	    "{\"TrainingJobName\":\"%s\",\"TrainingJobStatus\":\"%s\","
	    "\"SecondaryStatus\":\"%s\",\"CreationTime\":%.3f,"
	    "\"Environment\":{\"HPOTUNE_ATTEMPT_UUID\":\"%s\"},"
	    "\"EnableManagedSpotTraining\":%s,"
	    "\"ResourceConfig\":{\"InstanceType\":\"ml.g5.xlarge\","
	    "\"InstanceCount\":1}",
	    j->name, status(j, at), secondary(j, at), seconds(j->created),
	    j->uuid, j->spot ? "true" : "false");
	if (trained)
		buf_printf(b, ",\"TrainingStartTime\":%.3f", seconds(j->train));
	if (trained && over)
		buf_printf(b,
		    ",\"TrainingEndTime\":%.3f,\"BillableTimeInSeconds\":%lld",
		    seconds(end_of(j)),
		    (long long)(end_of(j) - j->train) / 1000);
	buf_puts(b, ",\"SecondaryStatusTransitions\":[{\"Status\":"
		    "\"Starting\"}");
	if (trained)
		buf_puts(b, ",{\"Status\":\"Training\"}");
	if (trained && j->interrupted >= 0 && at >= j->interrupted)
		buf_puts(b, ",{\"Status\":\"Interrupted\"},{\"Status\":"
			    "\"Training\"}");
	buf_putc(b, ']');
	if (strcmp(status(j, at), "Failed") == 0)
		buf_printf(b, ",\"FailureReason\":\"%s\"", reason(j));
	buf_putc(b, '}');
}

void
sm_responses_put_summary(
    struct buf *b, const struct sm_world_job *j, int64_t at)
{
	buf_printf(b,
	    "{\"TrainingJobName\":\"%s\",\"TrainingJobArn\":\"arn:%s\","
	    "\"TrainingJobStatus\":\"%s\",\"SecondaryStatus\":\"%s\","
	    "\"CreationTime\":%.3f}",
	    j->name, j->name, status(j, at), secondary(j, at),
	    seconds(j->created));
}
