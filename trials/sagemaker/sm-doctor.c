/*
 * Doctor: checks the requirements of a study on SageMaker one by one, each with
 * a remedy.  Creates one small S3 object and removes it again.
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/loop.h"
#include "src/base/xml.h"
#include "trials/sagemaker/sm-internal.h"
#include "trials/sagemaker/sm-open.h"

#define LOG_GROUP "/aws/sagemaker/TrainingJobs"
#define PROBE "hpotune-doctor"

enum {
	TRIES = 3,
	CLOCK_S = 120 /* larger differences make AWS reject signatures */
};

struct doctor {
	struct sm *sm;
	launch_doctor_cb *cb;
	void *arg;
	size_t step;
	struct aws_call *call; /* of this step */
	struct loop_timer *limit; /* of its answer */
	int64_t patience_ms;
	bool asked, over;
	char *key; /* of the probe */
	char *account;
};

typedef void step_ask(struct doctor *);
typedef void step_hear(struct doctor *, const struct aws_answer *);

static void
doctor_say(struct doctor *d, enum launch_level level, const char *what,
    const char *text, const char *mend)
{
	d->cb(d->arg, level, what, text, mend);
}

/* The remedy if there was no answer; else that of the step. */
static const char *
mend_of(const struct aws_answer *r, const char *mend)
{
	switch (r->fault) {
	case HTTP_FAULT_NONE:
		break;
	case HTTP_FAULT_NAME:
		return "see region, endpoint_url and the name service; if only "
		       "a proxy can resolve the name, set https_proxy";
	case HTTP_FAULT_CONNECT:
	case HTTP_FAULT_OTHER:
		return "check the network, https_proxy, no_proxy and "
		       "endpoint_url";
	case HTTP_FAULT_TLS:
		return "name the certificates of your proxy or service by "
		       "AWS_CA_BUNDLE, or ca_bundle of the profile; the clock "
		       "must be right, and endpoint_url a place with TLS";
	case HTTP_FAULT_PROXY:
		return "see https_proxy and no_proxy: the proxy must be there "
		       "and let HTTPS through to this host";
	}
	return mend;
}

static void doctor_on_answer(void *, const struct aws_answer *);

static void
json_ask(struct doctor *d, enum aws_service service, const char *operation,
    const char *body)
{
	struct aws_ask ask = { .service = service,
		.operation = operation,
		.body = body,
		.tries = TRIES };

	d->call = aws_json(d->sm->aws, &ask, doctor_on_answer, d);
}

static void
s3_ask(struct doctor *d, const char *method, const char *key)
{
	struct aws_s3_ask ask = { .method = method,
		.bucket = d->sm->set->bucket,
		.key = key,
		.body = PROBE "\n",
		.body_len = strcmp(method, "PUT") == 0 ? sizeof PROBE : 0,
		.kms = d->sm->set->kms_key,
		.tries = TRIES };

	d->call = aws_s3(d->sm->aws, &ask, doctor_on_answer, d);
}

static void
ask_identity(struct doctor *d)
{
	d->call = aws_whoami(d->sm->aws, doctor_on_answer, d);
}

static void
on_identity_answer(struct doctor *d, const struct aws_answer *r)
{
	const char *arn = NULL;
	struct xml *xml = NULL;
	char *text;

	if (!r->good) {
		doctor_say(d, LAUNCH_ERROR, "credentials", r->message,
		    mend_of(r, SM_OPEN_KEYS_MEND));
		return;
	}
	if (r->body != NULL && xml_parse(&xml, r->body, r->len, NULL) == 0)
		arn = xml_get(xml, "GetCallerIdentityResult/Arn");
	text = xasprintf("%s, from %s", arn != NULL ? arn : "known to AWS",
	    aws_source(d->sm->aws));
	if (arn != NULL)
		d->account = sm_open_arn_account(arn);
	doctor_say(d, LAUNCH_INFO, "credentials", text, NULL);
	free(text);
	xml_free(xml);
}

static void
check_clock(struct doctor *d)
{
	int64_t off =
	    aws_now_s(d->sm->aws) - loop_wall_us(d->sm->loop) / 1000000;
	char text[96];

	(void)snprintf(text, sizeof text, "%" PRId64 " s %s that of AWS",
	    off < 0 ? -off : off, off < 0 ? "ahead of" : "behind");
	if (off > CLOCK_S || off < -CLOCK_S)
		doctor_say(d, LAUNCH_WARNING, "clock", text,
		    "set the clock of this machine, for example by NTP");
	else
		doctor_say(d, LAUNCH_INFO, "clock", text, NULL);
}

static void
doctor_role_check(struct doctor *d)
{
	const char *role = d->sm->set->role;
	char *account = sm_open_arn_account(role);

	if (strncmp(role, "arn:aws", 7) != 0 || strstr(role, ":role/") == NULL)
		doctor_say(d, LAUNCH_ERROR, "role", role,
		    "backend.role is arn:aws:iam::ACCOUNT:role/NAME");
	else if (account != NULL && d->account != NULL &&
		 strcmp(account, d->account) != 0)
		doctor_say(d, LAUNCH_ERROR, "role", role,
		    "the role is of another account than the credentials");
	else
		doctor_say(d, LAUNCH_INFO, "role", role, NULL);
	free(account);
}

static void
ask_bucket(struct doctor *d)
{
	check_clock(d);
	doctor_role_check(d);
	s3_ask(d, "HEAD", "");
}

static void
on_s3_answer(struct doctor *d, const struct aws_answer *r, const char *good,
    const char *mend)
{
	char *text;

	if (r->good)
		text = xasprintf("s3://%s %s", d->sm->set->bucket, good);
	else
		text = xasprintf("s3://%s: %s", d->sm->set->bucket, r->message);
	doctor_say(d, r->good ? LAUNCH_INFO : LAUNCH_ERROR, "bucket", text,
	    r->good ? NULL : mend_of(r, mend));
	free(text);
}

static void
on_bucket_answer(struct doctor *d, const struct aws_answer *r)
{
	on_s3_answer(d, r, "is there",
	    "make the bucket in the study's region, and allow s3:ListBucket");
}

static void
ask_write(struct doctor *d)
{
	s3_ask(d, "PUT", d->key);
}

static void
on_write_answer(struct doctor *d, const struct aws_answer *r)
{
	on_s3_answer(
	    d, r, "can be written", "allow s3:PutObject on the prefix");
}

static void
ask_remove(struct doctor *d)
{
	s3_ask(d, "DELETE", d->key);
}

static void
on_remove_answer(struct doctor *d, const struct aws_answer *r)
{
	if (!r->good)
		on_s3_answer(
		    d, r, "", "allow s3:DeleteObject, or remove " PROBE);
}

static void
ask_jobs(struct doctor *d)
{
	json_ask(d, AWS_SAGEMAKER, "ListTrainingJobs", "{\"MaxResults\":1}");
}

static void
on_jobs_answer(struct doctor *d, const struct aws_answer *r)
{
	if (r->good)
		doctor_say(
		    d, LAUNCH_INFO, "training jobs", "can be listed", NULL);
	else
		doctor_say(d, LAUNCH_ERROR, "training jobs", r->message,
		    mend_of(r,
			"allow sagemaker: CreateTrainingJob "
			"DescribeTrainingJob StopTrainingJob ListTrainingJobs "
			"AddTags ListTags, and iam:PassRole on the role"));
}

static void
ask_logs(struct doctor *d)
{
	json_ask(d, AWS_LOGS, "DescribeLogStreams",
	    "{\"logGroupName\":\"" LOG_GROUP "\",\"limit\":1}");
}

static void
on_logs_answer(struct doctor *d, const struct aws_answer *r)
{
	/* AWS creates the log group with the account's first job. */
	if (r->good || r->what == AWS_MISSING)
		doctor_say(d, LAUNCH_INFO, "logs", "can be read", NULL);
	else
		doctor_say(d, LAUNCH_ERROR, "logs", r->message,
		    mend_of(r, "allow logs: DescribeLogStreams GetLogEvents "
			       "FilterLogEvents on " LOG_GROUP));
}

static const struct {
	step_ask *ask;
	step_hear *hear;
	bool of_bucket; /* no use when the step before failed */
	const char *what; /* name of the check */
} steps[] = {
	{ ask_identity, on_identity_answer, false, "credentials" },
	{ ask_bucket, on_bucket_answer, false, "bucket" },
	{ ask_write, on_write_answer, true, "bucket" },
	{ ask_remove, on_remove_answer, true, "bucket" },
	{ ask_jobs, on_jobs_answer, false, "training jobs" },
	{ ask_logs, on_logs_answer, false, "logs" },
};

/* Continue with the next check. */
static void
step_end(struct doctor *d, bool good)
{
	d->call = NULL;
	loop_timer_stop(d->limit);
	/* Without keys or a connection all further checks would fail. */
	d->over = (d->step == 0 && !good) ||
		  d->step + 1 == sizeof steps / sizeof steps[0];
	do
		d->step++;
	while (!d->over && !good && steps[d->step].of_bucket);
	d->asked = false;
	if (d->over)
		loop_stop(d->sm->loop);
	else
		loop_wake(d->sm->loop);
}

static void
doctor_on_answer(void *arg, const struct aws_answer *r)
{
	struct doctor *d = arg;

	steps[d->step].hear(d, r);
	step_end(d, r->good);
}

static void
doctor_on_limit(void *arg)
{
	struct doctor *d = arg;
	char text[64];

	aws_call_cancel(d->call);
	(void)snprintf(text, sizeof text, "no answer within %" PRId64 " s",
	    d->patience_ms / 1000);
	doctor_say(d, LAUNCH_ERROR, steps[d->step].what, text,
	    "check the network, the proxy and endpoint_url; "
	    "--timeout waits longer");
	step_end(d, false);
}

static void
doctor_on_turn(void *arg)
{
	struct doctor *d = arg;

	if (d->over || d->asked)
		return;
	d->asked = true;
	loop_timer_set(d->limit, d->patience_ms);
	steps[d->step].ask(d);
}

static void
region_check(struct doctor *d)
{
	const struct sm *sm = d->sm;
	const char *region = aws_client_region(sm->aws), *other = NULL;
	char *text;

	if (sm->set->region == NULL)
		other = aws_client_region_other(sm->aws);
	if (other == NULL) {
		doctor_say(d, LAUNCH_INFO, "region", region, NULL);
		return;
	}
	text = xasprintf("%s, but AWS_DEFAULT_REGION is %s", region, other);
	doctor_say(d, LAUNCH_WARNING, "region", text,
	    "name it in backend.region, or set one variable alone");
	free(text);
}

int
sm_doctor(const struct launch_env *env, launch_doctor_cb *cb, void *arg,
    struct err *e)
{
	struct sm *sm = xcalloc(1, sizeof *sm);
	struct doctor d = {
		.sm = sm, .cb = cb, .arg = arg, .patience_ms = env->patience_ms
	};
	int rc = sm_open_client(sm, env, e);

	if (rc == 0) {
		d.key = xasprintf("%s/" PROBE, sm->study_key);
		region_check(&d);
		d.limit = loop_timer_new(sm->loop, doctor_on_limit, &d);
		loop_run(sm->loop, doctor_on_turn, &d);
		loop_timer_free(d.limit);
	}
	free(d.key);
	free(d.account);
	sm_close(sm);
	return rc;
}
