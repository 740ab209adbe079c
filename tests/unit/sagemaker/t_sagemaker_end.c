/* State and end of a training job from DescribeTrainingJob. */

#include <stdlib.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "tests/support/tap.h"
#include "trials/sagemaker/sm-internal.h"

/* Members that stand in every description; the case adds the rest. */
#define JOB(rest) \
	"{\"TrainingJobName\":\"hpt-s-000000-00001-01-abcdef\"," rest "}"

static struct json_doc *
job_read(struct sm_job *job, const char *text)
{
	struct json_doc *doc = NULL;
	struct err e = ERR_INIT;

	if (json_parse(&doc, text, strlen(text), NULL, false, &e) != 0)
		printf("Bail out! %s: %s\n", text, e.text);
	sm_job_status_read(job, json_root(doc));
	return doc;
}

struct end_case {
	const char *what;
	const char *job;
	bool known, ran;
	int exit_code, signal;
	bool timeout, stopped;
	enum end_class end;
	const char *why;
};

#define TRAINED                                                      \
	"\"TrainingStartTime\":1700000000.5,"                        \
	"\"SecondaryStatusTransitions\":[{\"Status\":\"Starting\"}," \
	"{\"Status\":\"Training\"}]"
#define FAILED(reason)                                                     \
	"\"TrainingJobStatus\":\"Failed\",\"SecondaryStatus\":\"Failed\"," \
	"\"FailureReason\":\"" reason "\""

static const struct end_case ends[] = {
	{ "completed",
	    JOB("\"TrainingJobStatus\":\"Completed\",\"SecondaryStatus\":"
		"\"Completed\"," TRAINED),
	    true, true, 0, 0, false, false, END_NONE, "" },
	{ "the trial exits with 3",
	    JOB(FAILED("AlgorithmError: the trial exited with status 3, exit "
		       "code: 3") "," TRAINED),
	    true, true, 3, 0, false, false, END_NONE,
	    "the trial exited with status 3" },
	{ "an exit code without words",
	    JOB(FAILED("AlgorithmError: , exit code: 1") "," TRAINED), true,
	    true, 1, 0, false, false, END_NONE, "" },
	{ "the trial printed another exit code before",
	    JOB(FAILED("AlgorithmError: child had exit code: 7, exit code: "
		       "9") "," TRAINED),
	    true, true, 9, 0, false, false, END_NONE,
	    "child had exit code: 7" },
	{ "no exit code at all",
	    JOB(FAILED("AlgorithmError: boom") "," TRAINED), true, true, 1, 0,
	    false, false, END_NONE, "boom" },
	{ "a signal",
	    JOB(FAILED("AlgorithmError: the trial was ended by signal 11, "
		       "exit code: 139") "," TRAINED),
	    true, true, -1, 11, false, false, END_NONE,
	    "the trial was ended by signal 11" },
	{ "control characters and a broken character are no text",
	    JOB(FAILED("AlgorithmError: a\\nb\\u001b[1m, exit code: 2")), true,
	    true, 2, 0, false, false, END_NONE, "a b [1m" },
	{ "capacity",
	    JOB(FAILED("CapacityError: Unable to provision requested ML "
		       "compute capacity.")),
	    true, false, -1, 0, false, false, END_CAPACITY,
	    "CapacityError: Unable to provision requested ML compute "
	    "capacity." },
	{ "the platform's own fault",
	    JOB(FAILED("InternalServerError: We encountered an internal "
		       "error.") "," TRAINED),
	    true, true, -1, 0, false, false, END_LOST,
	    "InternalServerError: We encountered an internal error." },
	{ "our request was wrong",
	    JOB(FAILED("ClientError: Cannot pull image")), true, false, -1, 0,
	    false, false, END_NONE, "ClientError: Cannot pull image" },
	{ "failed without a reason",
	    JOB("\"TrainingJobStatus\":\"Failed\",\"SecondaryStatus\":"
		"\"Failed\"," TRAINED),
	    true, true, 1, 0, false, false, END_NONE,
	    "the training job failed without a reason" },
	{ "max_run",
	    JOB("\"TrainingJobStatus\":\"Stopped\",\"SecondaryStatus\":"
		"\"MaxRuntimeExceeded\"," TRAINED),
	    true, true, -1, 0, true, false, END_NONE, "" },
	{ "max_wait, and no machine ever came",
	    JOB("\"TrainingJobStatus\":\"Stopped\",\"SecondaryStatus\":"
		"\"MaxWaitTimeExceeded\""),
	    true, true, -1, 0, false, false, END_CAPACITY,
	    "max_wait was reached without a machine" },
	{ "max_wait after interruptions",
	    JOB("\"TrainingJobStatus\":\"Stopped\",\"SecondaryStatus\":"
		"\"MaxWaitTimeExceeded\",\"SecondaryStatusTransitions\":["
		"{\"Status\":\"Training\"},{\"Status\":\"Interrupted\"},"
		"{\"Status\":\"Training\"},{\"Status\":\"Interrupted\"}]"),
	    true, true, -1, 0, false, false, END_SPOT,
	    "max_wait was reached after 2 spot interruptions" },
	{ "stopped",
	    JOB("\"TrainingJobStatus\":\"Stopped\",\"SecondaryStatus\":"
		"\"Stopped\"," TRAINED),
	    true, true, -1, 15, false, true, END_NONE, "" },
	{ "being deleted",
	    JOB("\"TrainingJobStatus\":\"Deleting\",\"SecondaryStatus\":"
		"\"Completed\""),
	    false, false, -1, 0, false, false, END_NONE, "" },
};

static void
try_end(const struct end_case *c)
{
	struct launch_exit x;
	struct sm_job job;
	struct json_doc *doc = job_read(&job, c->job);
	bool known = sm_job_status_end(&x, &job, false);

	ok(known == c->known && x.ran == c->ran &&
		x.exit_code == c->exit_code && x.signal == c->signal &&
		x.timeout == c->timeout && x.stopped == c->stopped &&
		x.end == c->end && strcmp(x.why, c->why) == 0,
	    "%s", c->what);
	if (known != c->known || x.exit_code != c->exit_code ||
	    strcmp(x.why, c->why) != 0 || x.end != c->end)
		printf(
		    "# known %d ran %d exit %d signal %d end %d why \"%s\"\n",
		    known, x.ran, x.exit_code, x.signal, (int)x.end, x.why);
	json_free(doc);
}

static void
test_job(void)
{
	struct sm_job job;
	struct launch_exit x;
	struct json_doc *doc = job_read(&job,
	    JOB("\"TrainingJobStatus\":\"Completed\","
		"\"SecondaryStatus\":\"Completed\","
		"\"Environment\":{\"HPOTUNE_ATTEMPT_UUID\":\"u-1\"},"
		"\"EnableManagedSpotTraining\":true,"
		"\"ResourceConfig\":{\"InstanceType\":\"ml.g5.xlarge\","
		"\"InstanceCount\":2},"
		"\"CreationTime\":1700000000,\"TrainingStartTime\":"
		"1700000100.25,\"TrainingEndTime\":1700000200,"
		"\"TrainingTimeInSeconds\":100,\"BillableTimeInSeconds\":40,"
		"\"SecondaryStatusTransitions\":[{\"Status\":\"Interrupted\","
		"\"StartTime\":1700000150}]"));

	is_str(job.uuid, "u-1", "the uuid of its environment");
	is_str(job.type, "ml.g5.xlarge", "the type of its machines");
	is_int(job.instances, 2, "their number");
	ok(job.spot, "spot");
	is_int(job.interruptions, 1, "interruptions are counted");
	is_near(job.interrupted_s, 1700000150, 0, "the time of the last");
	ok(sm_job_status_end(&x, &job, false), "its end is known");
	is_int(x.started_us, 1700000100250000, "when it started");
	is_int(x.ended_us, 1700000200000000, "when it ended");
	ok(x.billed, "what is billed is known");
	is_near(x.billable_s, 40, 0, "billable seconds");
	json_free(doc);
}

/* Numbers that are none of seconds, and none of machines. */
static void
test_beyond(void)
{
	static const char *const numbers[] = { "1e306", "-1e306", "-1",
		"253402300800" };
	struct launch_exit x;
	struct json_doc *doc;
	struct sm_job job;
	char *text;
	size_t i;

	for (i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
		text = xasprintf(
		    "{\"TrainingJobStatus\":\"Completed\",\"CreationTime\":%s,"
		    "\"TrainingStartTime\":%s,\"TrainingEndTime\":%s,"
		    "\"TrainingTimeInSeconds\":%s,"
		    "\"BillableTimeInSeconds\":%s}",
		    numbers[i], numbers[i], numbers[i], numbers[i], numbers[i]);
		doc = job_read(&job, text);
		ok(sm_job_status_end(&x, &job, false) && x.started_us == 0 &&
			x.ended_us == 0 && job.created_s == 0 && !x.billed &&
			x.trained_s == 0,
		    "%s seconds are not reported", numbers[i]);
		json_free(doc);
		free(text);
	}
	doc = job_read(&job, "{\"ResourceConfig\":{\"InstanceGroups\":["
			     "{\"InstanceCount\":9223372036854775807},"
			     "{\"InstanceCount\":-2147483648},"
			     "{\"InstanceCount\":2147483647},"
			     "{\"InstanceCount\":3}]}}");
	is_int(job.instances, 3, "groups with impossible counts are ignored");
	json_free(doc);
}

static void
test_groups(void)
{
	struct sm_job job;
	struct json_doc *doc = job_read(
	    &job, JOB("\"TrainingJobStatus\":\"Failed\",\"SecondaryStatus\":"
		      "\"Failed\",\"ResourceConfig\":{\"InstanceGroups\":["
		      "{\"InstanceType\":\"a\",\"InstanceCount\":2},"
		      "{\"InstanceType\":\"b\",\"InstanceCount\":3}]}"));

	ok(job.type == NULL && job.instances == 5, "groups are counted");
	ok(job.uuid == NULL && !job.spot && !job.trained,
	    "absent members stay unknown");
	ok(isnan(job.billable_s), "billable seconds that are missing");
	json_free(doc);
	doc = job_read(&job, "{}");
	ok(job.status == SM_IN_PROGRESS && *job.secondary == '\0' &&
		*job.reason == '\0',
	    "an empty description");
	json_free(doc);
}

/* Of a job that has failed before its training. */
static int
exit_code(const char *reason)
{
	struct sm_job job = { .status = SM_FAILED, .reason = reason };
	struct launch_exit x = { 0 };

	if (!sm_job_status_end(&x, &job, false))
		return -2;
	return x.exit_code;
}

static void
test_words(void)
{
	ok(sm_job_status_parse("Sleeping") == SM_IN_PROGRESS &&
		sm_job_status_parse(NULL) == SM_IN_PROGRESS,
	    "unknown words are in progress");
	ok(!sm_job_status_over(SM_STOPPING) && sm_job_status_over(SM_STOPPED),
	    "who is stopping is not over");
	ok(sm_job_status_rank("Starting") < sm_job_status_rank("Downloading") &&
		sm_job_status_rank("Downloading") <
		    sm_job_status_rank("Training"),
	    "a job comes nearer");
	is_int(sm_job_status_rank("Interrupted"), 0,
	    "an interruption is no progress");
	is_int(exit_code("nothing"), -1, "no exit code");
	is_int(exit_code("Exit Code: 256"), -1, "no exit code that is one");
	is_int(exit_code("exit code: 0"), 0, "zero is one");
}

/* What only the owner of the account can mend, in AWS's own words. */
static void
test_owner(void)
{
	static const struct {
		const char *code, *message, *why; /* NULL = the trial's own */
	} rows[] = {
		{ "NoSuchBucket", "The specified bucket does not exist",
		    "the bucket b does not exist: create it" },
		{ "AccessDenied", "Access Denied",
		    "AWS denies access to the bucket b: allow it" },
		{ "AccessDeniedException",
		    "User: arn:aws:sts::1:assumed-role/Notebook/me is not "
		    "authorized to perform: sagemaker:CreateTrainingJob on "
		    "resource: arn:aws:sagemaker:eu-west-1:1:training-job/x "
		    "with an explicit deny",
		    "AWS denies sagemaker:CreateTrainingJob to "
		    "arn:aws:sts::1:assumed-role/Notebook/me: allow it" },
		{ "AccessDeniedException",
		    "User: u is not authorized to perform: iam:PassRole on "
		    "resource: arn:aws:iam::1:role/R because no policy allows",
		    "AWS denies iam:PassRole to u for arn:aws:iam::1:role/R" },
		{ "ValidationException",
		    "Could not assume role arn:aws:iam::1:role/R. Please "
		    "ensure that the role exists and allows principal "
		    "'sagemaker.amazonaws.com' to assume the role.",
		    "SageMaker cannot assume the role r: let it trust" },
		{ "ValidationException",
		    "No S3 objects found under S3 URL \"s3://in/data\" given "
		    "in input data source.",
		    "SageMaker finds nothing at s3://in/data: put" },
		{ "PermanentRedirect", "The bucket must be addressed elsewhere",
		    "the bucket b is in another region" },
		{ "",
		    "ClientError: SageMaker was unable to assume the role 'x'",
		    "SageMaker cannot assume the role r" },
		{ "", "ClientError: Data download failed:AccessDenied: no",
		    "the role r may not do what the job needs" },
		{ "", "ClientError: Data download failed: NoSuchBucket",
		    "the bucket b does not exist" },
		{ "ValidationException",
		    "1 validation error detected: Value "
		    "at 'hyperParameters' is too long",
		    NULL },
		{ "ValidationException",
		    "Invalid MaxWaitTimeInSeconds. It is only supported when "
		    "EnableManagedSpotTraining is set to true",
		    NULL },
		{ "ResourceLimitExceeded", "The account-level limit", NULL },
		{ "", "AlgorithmError: exit code: 1", NULL },
	};
	char bucket[] = "b", role[] = "r", why[LAUNCH_WHY];
	struct sm_settings set = { .bucket = bucket, .role = role };
	size_t i;
	bool is;

	for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		is = sm_owner_errors_why(
		    why, sizeof why, &set, rows[i].code, rows[i].message);
		if (rows[i].why == NULL)
			ok(!is, "the trial's own: %s", rows[i].message);
		else if (!ok(is && strncmp(why, rows[i].why,
				       strlen(rows[i].why)) == 0,
			     "the owner's: %s", rows[i].message))
			printf("# got: %s\n", is ? why : "no");
	}
}

int
main(void)
{
	size_t i;

	for (i = 0; i < sizeof ends / sizeof ends[0]; i++)
		try_end(&ends[i]);
	test_job();
	test_groups();
	test_beyond();
	test_words();
	test_owner();
	return done_testing();
}
