/* State and end of a training job, from DescribeTrainingJob.  No I/O. */

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "src/base/json/json.h"
#include "src/base/text.h"
#include "trials/sagemaker/sm-internal.h"

/* Year 10000: sums in microseconds do not overflow. */
#define SECONDS_MOST 253402300800.0
#define INSTANCES_MOST 1000000

enum { UUID_LEN = 36 };

#define UUID_NAME "HPOTUNE_ATTEMPT_UUID"

enum sm_status
sm_job_status_parse(const char *s)
{
	static const struct {
		const char *word;
		enum sm_status status;
	} words[] = {
		{ "Stopping", SM_STOPPING },
		{ "Completed", SM_COMPLETED },
		{ "Failed", SM_FAILED },
		{ "Stopped", SM_STOPPED },
		{ "Deleting", SM_DELETING },
	};
	size_t i;

	for (i = 0; s != NULL && i < sizeof words / sizeof words[0]; i++)
		if (strcmp(s, words[i].word) == 0)
			return words[i].status;
	return SM_IN_PROGRESS;
}

bool
sm_job_status_over(enum sm_status s)
{
	return s != SM_IN_PROGRESS && s != SM_STOPPING;
}

int
sm_job_status_rank(const char *s)
{
	static const struct {
		const char *word;
		int rank;
	} words[] = {
		{ "Starting", 1 },
		{ "LaunchingMLInstances", 1 },
		{ "PreparingTrainingStack", 1 },
		{ "Pending", 1 },
		{ "Downloading", 2 },
		{ "DownloadingTrainingImage", 2 },
		{ "Training", 3 },
		{ "Uploading", 4 },
		{ "Stopping", 4 },
		{ "Completed", 5 },
		{ "Failed", 5 },
		{ "Stopped", 5 },
		{ "MaxRuntimeExceeded", 5 },
		{ "MaxWaitTimeExceeded", 5 },
	};
	size_t i;

	for (i = 0; s != NULL && i < sizeof words / sizeof words[0]; i++)
		if (strcmp(s, words[i].word) == 0)
			return words[i].rank;
	return 0;
}

double
sm_job_status_seconds(const struct json *o, const char *key, double otherwise)
{
	double s;

	if (!json_number(json_get(o, key), &s))
		return otherwise;
	return s >= 0 && s < SECONDS_MOST ? s : otherwise;
}

/* What the history of its secondary statuses shows. */
static void
read_transitions(struct sm_job *job, const struct json *list)
{
	const struct json *t;
	const char *status;

	for (t = json_first(list); t != NULL; t = json_next(t)) {
		status = json_string(json_get(t, "Status"));
		if (status == NULL)
			continue;
		if (strcmp(status, "Training") == 0)
			job->trained = true;
		if (strcmp(status, "Interrupted") != 0)
			continue;
		job->interruptions++;
		job->interrupted_s = sm_job_status_seconds(t, "StartTime", 0);
	}
}

/* 0 if unknown or invalid. */
static int
instances(const struct json *o)
{
	int64_t n;

	return json_integer(json_get(o, "InstanceCount"), &n) && n >= 0 &&
		       n <= INSTANCES_MOST
		   ? (int)n
		   : 0;
}

static void
read_machine(struct sm_job *job, const struct json *config)
{
	const struct json *g;

	if (config == NULL)
		return;
	job->type = json_string(json_get(config, "InstanceType"));
	job->instances = instances(config);
	g = json_get(config, "InstanceGroups");
	for (g = json_first(g); g != NULL; g = json_next(g))
		if (job->instances < INSTANCES_MOST)
			job->instances += instances(g);
}

/* Billed seconds of a job's warm pool, once it is over. */
static double
read_idle(const struct json *pool)
{
	const char *status =
	    pool != NULL ? json_string(json_get(pool, "Status")) : NULL;

	if (status == NULL || (strcmp(status, "Reused") != 0 &&
				  strcmp(status, "Terminated") != 0))
		return NAN;
	return sm_job_status_seconds(
	    pool, "ResourceRetainedBillableTimeInSeconds", NAN);
}

/* The last part of where a job puts its output, when it is a UUID. */
static const char *
uuid_of_output(const struct json *config)
{
	const char *path, *slash;
	size_t i;

	path = config != NULL ? json_string(json_get(config, "S3OutputPath"))
			      : NULL;
	slash = path != NULL ? strrchr(path, '/') : NULL;
	if (slash == NULL || strlen(slash + 1) != UUID_LEN)
		return NULL;
	for (i = 1; i <= UUID_LEN; i++)
		if (!isxdigit((unsigned char)slash[i]) && slash[i] != '-')
			return NULL;
	return slash + 1;
}

/*
 * What AWS counts is TrainingTimeInSeconds, of which the history shows the
 * shares.
 */
/* After the end of a job: adjust to the numbers of AWS. */
static void
meter_scale(struct sm_bill_meter *m, double training_s)
{
	double f = training_s / m->paid_s;

	if (!(m->paid_s > 0) || !isfinite(f))
		return;
	m->paid_s *= f;
	m->trained_s *= f;
	m->before_s *= f;
	m->after_s *= f;
}

void
sm_job_status_read(struct sm_job *job, const struct json *o)
{
	const struct json *env = json_get(o, "Environment");
	const struct json *artifacts = json_get(o, "ModelArtifacts");
	const char *s = json_string(json_get(o, "SecondaryStatus"));

	*job = (struct sm_job){ .reason = "" };
	sm_bill_meter_read(&job->meter, &job->since_s, o);
	job->idle_s = read_idle(json_get(o, "WarmPoolStatus"));
	job->status =
	    sm_job_status_parse(json_string(json_get(o, "TrainingJobStatus")));
	if (s != NULL)
		(void)snprintf(job->secondary, sizeof job->secondary, "%s", s);
	if (env != NULL)
		job->uuid = json_string(json_get(env, UUID_NAME));
	if (job->uuid == NULL)
		job->uuid = uuid_of_output(json_get(o, "OutputDataConfig"));
	(void)json_bool(json_get(o, "EnableManagedSpotTraining"), &job->spot);
	read_machine(job, json_get(o, "ResourceConfig"));
	read_transitions(job, json_get(o, "SecondaryStatusTransitions"));
	job->created_s = sm_job_status_seconds(o, "CreationTime", 0);
	job->started_s = sm_job_status_seconds(o, "TrainingStartTime", 0);
	job->ended_s = sm_job_status_seconds(o, "TrainingEndTime", 0);
	job->training_s =
	    sm_job_status_seconds(o, "TrainingTimeInSeconds", NAN);
	job->billable_s =
	    sm_job_status_seconds(o, "BillableTimeInSeconds", NAN);
	if (sm_job_status_over(job->status))
		meter_scale(&job->meter, job->training_s);
	if (sm_job_status_rank(job->secondary) == 3)
		job->trained = true;
	if (artifacts != NULL)
		job->model =
		    json_string(json_get(artifacts, "S3ModelArtifacts"));
	if ((s = json_string(json_get(o, "FailureReason"))) != NULL)
		job->reason = s;
}

/* The N of "exit code: N" in a reason; -1 if there is none. */
static int
exit_code_read(const char *reason)
{
	static const char what[] = "exit code: ";
	const char *at = NULL, *next = reason;
	char *end;
	long n;

	/*
	 * Take the last match: the platform appends its text, and the trial may
	 * have printed another.
	 */
	while ((next = strcasestr(next, what)) != NULL) {
		next += sizeof what - 1;
		at = next;
	}
	if (at == NULL)
		return -1;
	n = strtol(at, &end, 10);
	return end == at || n < 0 || n > 255 ? -1 : (int)n;
}

static bool
job_status_begins(const char *s, const char *with)
{
	return strncmp(s, with, strlen(with)) == 0;
}

/* One line, cut between characters. */
static void
copy_clause(char *out, size_t n, const char *s, size_t len)
{
	struct buf line = { 0 };
	uint32_t code;
	size_t i;
	int k;

	for (i = 0; i < len; i += k < 1 ? 1 : (size_t)k) {
		k = text_decode(s + i, len - i, &code);
		if (k > 0 && !text_is_control(code))
			buf_add(&line, s + i, (size_t)k);
		else if (line.len > 0 && line.data[line.len - 1] != ' ')
			buf_putc(&line, ' ');
	}
	while (line.len > 0 && line.data[line.len - 1] == ' ')
		line.data[--line.len] = '\0';
	text_cut(out, n, buf_str(&line));
	buf_free(&line);
}

/* The trial's message within the platform's text. */
static void
copy_algorithm_error(char *out, size_t n, const char *reason)
{
	const char *s = strchr(reason, ':') + 1, *end = NULL, *next = s;

	while ((next = strcasestr(next, "exit code: ")) != NULL)
		end = next++;
	if (end == NULL)
		end = s + strlen(s);
	while (isspace((unsigned char)*s))
		s++;
	while (end > s && (isspace((unsigned char)end[-1]) || end[-1] == ','))
		end--;
	copy_clause(out, n, s, end > s ? (size_t)(end - s) : 0);
}

static void
end_failed(struct launch_exit *x, const struct sm_job *job)
{
	const char *signal;

	x->ran = job->trained;
	x->exit_code = exit_code_read(job->reason);
	if (job_status_begins(job->reason, "AlgorithmError:")) {
		copy_algorithm_error(x->why, sizeof x->why, job->reason);
		x->ran = true;
		if (x->exit_code < 0)
			x->exit_code = 1;
		signal = strstr(job->reason, "was ended by signal ");
		if (signal != NULL && x->exit_code > 128) {
			x->signal = x->exit_code - 128;
			x->exit_code = -1;
		}
		return;
	}
	copy_clause(x->why, sizeof x->why, job->reason, strlen(job->reason));
	if (job_status_begins(job->reason, "CapacityError"))
		x->end = END_CAPACITY;
	else if (job_status_begins(job->reason, "InternalServerError"))
		x->end = END_LOST;
	else if (job_status_begins(job->reason, "ClientError"))
		x->ran = false;
	else if (x->ran && x->exit_code < 0)
		x->exit_code = 1;
	if (*x->why == '\0')
		(void)snprintf(x->why, sizeof x->why,
		    "the training job failed without a reason");
}

static void
end_stopped(struct launch_exit *x, const struct sm_job *job)
{
	x->ran = true;
	x->exit_code = -1;
	if (strcmp(job->secondary, "MaxRuntimeExceeded") == 0)
		x->timeout = true;
	else if (strcmp(job->secondary, "MaxWaitTimeExceeded") == 0) {
		x->end = job->trained ? END_SPOT : END_CAPACITY;
		(void)snprintf(x->why, sizeof x->why,
		    job->trained ? "max_wait was reached after %d spot "
				   "interruption%s"
				 : "max_wait was reached without a machine",
		    job->interruptions, job->interruptions == 1 ? "" : "s");
	} else {
		x->stopped = true;
		x->signal = 15;
	}
}

bool
sm_job_status_end(struct launch_exit *x, const struct sm_job *job, bool stop)
{
	*x = (struct launch_exit){ .exit_code = -1 };
	x->started_us = (int64_t)(job->started_s * 1e6);
	x->ended_us = (int64_t)(job->ended_s * 1e6);
	x->billed = isfinite(job->billable_s);
	x->billable_s = x->billed ? job->billable_s : 0;
	x->trained_s = isfinite(job->training_s) ? job->training_s : 0;
	x->before_s = job->meter.before_s;
	x->after_s = job->meter.after_s;
	switch (job->status) {
	case SM_COMPLETED:
		x->ran = true;
		x->exit_code = 0;
		return true;
	case SM_FAILED:
		end_failed(x, job);
		x->stopped = stop;
		return true;
	case SM_STOPPED:
		end_stopped(x, job);
		return true;
	case SM_DELETING:
	case SM_IN_PROGRESS:
	case SM_STOPPING:
		break;
	}
	return false;
}
