/*
 * One call: retries, whether it may have taken effect, and its messages.
 * Against a scripted server.
 */

#include <stdlib.h>
#include <time.h>

#include "tests/support/aws/aws-client.h"
#include "tests/support/tap.h"
#include "trials/aws/aws-internal.h"

/* How many seconds an answer may be under way on a busy machine. */
enum { PACE = 200, LATE_S = 60 };

static const char stop[] = "StopTrainingJob";

static void
test_good(void)
{
	struct aws_client rig;
	struct aws_client_answer t = { 0 };

	aws_rig_open(&rig, PACE);
	aws_rig_good(&rig, NULL, "{\"x\": [1, \"\\u00e9\"]}");
	aws_rig_json(&rig, &t, AWS_SAGEMAKER, stop, 0);
	ok(t.calls == 0 && rig.n_asked == 0, "nothing happens inside the call");
	aws_rig_settle(&rig);
	ok(t.good && t.calls == 1 && t.what == AWS_OK, "a good answer");
	is_str(t.json, "{\"x\":[1,\"\\u00e9\"]}", "its JSON");
	ok(t.sent && !t.unclear, "sent and clear");
	is_str(rig.asked[0].body, "{\"A\": 1}", "the body as it was given");
	is_str(aws_rig_header(&rig, 0, "X-Amz-Target"),
	    "SageMaker.StopTrainingJob", "its target");
	is_str(aws_rig_header(&rig, 0, "Content-Type"),
	    "application/x-amz-json-1.1", "its type");
	is_str(aws_rig_header(&rig, 0, "X-Amz-Security-Token"), "TOKEN1+/=def",
	    "its token");
	ok(strstr(aws_rig_header(&rig, 0, "Authorization"),
	       "Credential=AKID1/") != NULL &&
		strstr(aws_rig_header(&rig, 0, "Authorization"),
		    "/eu-west-1/sagemaker/aws4_request") != NULL,
	    "its signature");
	aws_rig_step(&rig, (struct step){ .status = 200 });
	aws_rig_json(&rig, &t, AWS_SAGEMAKER, stop, 0);
	aws_rig_settle(&rig);
	ok(t.good && t.json == NULL, "an empty answer is good");
	is_int(rig.aws->requests, 2, "requests are counted");
	is_str(rig.notes.data, NULL, "and no request was sent");
	aws_client_answer_free(&t);
	aws_rig_close(&rig);
}

static void
test_protocols(void)
{
	static const struct {
		enum aws_service service;
		const char *operation, *target, *type, *scope;
	} rows[] = {
		{ AWS_LOGS, "GetLogEvents", "Logs_20140328.GetLogEvents",
		    "application/x-amz-json-1.1", "/logs/aws4" },
		{ AWS_EVENTS, "PutRule", "AWSEvents.PutRule",
		    "application/x-amz-json-1.1", "/events/aws4" },
		{ AWS_CLOUDWATCH, "GetMetricData",
		    "GraniteServiceVersion20100801.GetMetricData",
		    "application/x-amz-json-1.0", "/monitoring/aws4" },
		{ AWS_SQS, "ReceiveMessage", "AmazonSQS.ReceiveMessage",
		    "application/x-amz-json-1.0", "/sqs/aws4" },
	};
	struct aws_client_answer t = { 0 };
	struct aws_client rig;
	size_t i;

	aws_rig_open(&rig, PACE);
	for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		aws_rig_json(&rig, &t, rows[i].service, rows[i].operation, 0);
		aws_rig_settle(&rig);
		ok(t.good &&
			strcmp(aws_rig_header(&rig, i, "X-Amz-Target"),
			    rows[i].target) == 0 &&
			strcmp(aws_rig_header(&rig, i, "Content-Type"),
			    rows[i].type) == 0 &&
			strstr(aws_rig_header(&rig, i, "Authorization"),
			    rows[i].scope) != NULL,
		    "%s", rows[i].target);
	}
	aws_client_answer_free(&t);
	aws_rig_close(&rig);
}

static void
test_throttle(void)
{
	struct aws_client rig;
	struct aws_client_answer t = { 0 };
	int i;

	aws_rig_open(&rig, PACE);
	aws_rig_error(&rig, NULL, 400, "ThrottlingException", "Rate exceeded");
	aws_rig_error(&rig, NULL, 400, "a.b#Throttling:http://c/", "");
	aws_rig_json(&rig, &t, AWS_SAGEMAKER, stop, 0);
	aws_rig_settle(&rig);
	ok(t.good && !t.unclear && rig.n_asked == 3,
	    "throttled twice, then good: %zu requests", rig.n_asked);
	for (i = 0; i < 3; i++)
		aws_rig_error(
		    &rig, NULL, 400, "ThrottlingException", "Rate exceeded");
	aws_rig_json(&rig, &t, AWS_SAGEMAKER, stop, 3);
	aws_rig_settle(&rig);
	ok(!t.good && t.what == AWS_THROTTLE && !t.unclear && t.sent,
	    "throttled to the end: certainly nothing happened");
	is_str(t.message,
	    "SageMaker StopTrainingJob: Rate exceeded (ThrottlingException, "
	    "request id-1234)",
	    "what is reported");
	is_str(t.code, "ThrottlingException", "its code");
	is_str(t.request_id, "id-1234", "its request");
	is_int(t.status, 400, "its status");
	is_int(rig.n_asked, 6, "three tries are three requests");
	aws_client_answer_free(&t);
	aws_rig_close(&rig);
}

static void
test_retry_after(void)
{
	struct aws_client rig;
	struct aws_client_answer t = { 0 };

	aws_rig_open(&rig, 1e6);
	aws_rig_step(&rig,
	    (struct step){ .status = 429, .headers = "Retry-After: 1\r\n" });
	aws_rig_step(
	    &rig, (struct step){ .status = 503,
		      .headers = "X-Amz-Retry-After: 400\r\n",
		      .body = "{\"__type\": \"ThrottlingException\"}" });
	aws_rig_json(&rig, &t, AWS_LOGS, "GetLogEvents", 0);
	aws_rig_settle(&rig);
	ok(t.good && rig.asked[1].at_ms - rig.asked[0].at_ms >= 999,
	    "no sooner than after the seconds they ask for");
	ok(rig.asked[2].at_ms - rig.asked[1].at_ms >= 399,
	    "or the milliseconds");
	ok(!t.unclear, "a throttle is clear, whatever its status");
	aws_client_answer_free(&t);
	aws_rig_close(&rig);
}

static void
test_unclear(void)
{
	struct aws_client rig;
	struct aws_client_answer t = { 0 };

	aws_rig_open(&rig, PACE);
	aws_rig_error(&rig, NULL, 500, "InternalFailure", "after acting");
	aws_rig_error(&rig, NULL, 400, "ResourceInUse", "names must be unique");
	aws_rig_json(&rig, &t, AWS_SAGEMAKER, "CreateTrainingJob", 0);
	aws_rig_settle(&rig);
	ok(!t.good && t.what == AWS_EXISTS && t.unclear,
	    "500 after acting, then \"exists\": it may have acted");
	aws_rig_error(&rig, NULL, 400, "ResourceInUse", "names must be unique");
	aws_rig_json(&rig, &t, AWS_SAGEMAKER, "CreateTrainingJob", 0);
	aws_rig_settle(&rig);
	ok(t.what == AWS_EXISTS && !t.unclear, "\"exists\" alone: it has not");
	aws_rig_step(&rig, (struct step){ .kind = STEP_CLOSE });
	aws_rig_error(&rig, NULL, 400, "ValidationException", "no");
	aws_rig_json(&rig, &t, AWS_SAGEMAKER, "CreateTrainingJob", 0);
	aws_rig_settle(&rig);
	ok(t.what == AWS_CALLER && t.unclear && t.sent,
	    "a connection that closes: it may have acted");
	/* For longer, where it was not sent by then. */
	rig.timeout_ms = 500;
	do {
		rig.timeout_ms *= 2;
		aws_rig_step(&rig, (struct step){ .kind = STEP_SILENT });
		aws_rig_json(&rig, &t, AWS_SAGEMAKER, "CreateTrainingJob", 1);
		aws_rig_settle(&rig);
	} while (!t.sent && rig.timeout_ms < 60000);
	rig.timeout_ms = 0;
	ok(t.what == AWS_TRANSIENT && t.unclear && t.status == 0,
	    "no answer in time: it may have acted");
	aws_rig_step(&rig,
	    (struct step){ .kind = STEP_RAW,
		.body = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{\"a\"" });
	aws_rig_json(&rig, &t, AWS_SAGEMAKER, "CreateTrainingJob", 1);
	aws_rig_settle(&rig);
	ok(t.what == AWS_TRANSIENT && t.unclear, "half an answer: the same");
	aws_client_answer_free(&t);
	aws_rig_close(&rig);
}

static void
test_refused(void)
{
	struct aws_client rig;
	struct aws_client_answer t = { 0 };

	aws_rig_open(&rig, PACE);
	aws_rig_deaf(&rig);
	aws_rig_json(&rig, &t, AWS_SAGEMAKER, "CreateTrainingJob", 3);
	aws_rig_settle(&rig);
	ok(t.what == AWS_TRANSIENT && !t.unclear && !t.sent,
	    "no listener: certainly unsent");
	ok(strncmp(t.message, "SageMaker CreateTrainingJob: ", 29) == 0 &&
		strlen(t.message) > 40,
	    "and reported: %s", t.message);
	is_int(rig.aws->requests, 3, "three tries");
	aws_client_answer_free(&t);
	aws_rig_close(&rig);
}

/* Whether a request has the date of a time between these, or a little later. */
static bool
is_dated(const struct aws_client *rig, size_t i, time_t from, time_t to)
{
	const char *date = aws_rig_header(rig, i, "X-Amz-Date");
	char first[20], last[20];

	to += LATE_S;
	from -= LATE_S;
	(void)strftime(first, sizeof first, "%Y%m%dT%H%M%SZ", gmtime(&from));
	(void)strftime(last, sizeof last, "%Y%m%dT%H%M%SZ", gmtime(&to));
	return strcmp(first, date) <= 0 && strcmp(date, last) <= 0;
}

static void
test_clock(void)
{
	static const char *const off[] = {
		"Signature expired: 20260101T000000Z is now earlier than ...",
		"Signature not yet current: 20260101T000000Z is still later "
		"than ..."
	};
	struct aws_client rig;
	struct aws_client_answer t = { 0 };
	time_t before, there;
	int i;

	for (i = 0; i < 2; i++) {
		aws_rig_open(&rig, 1);
		rig.date_off_s = i == 0 ? 7200 : -7200;
		aws_rig_error(&rig, NULL, 403,
		    i == 0 ? "InvalidSignatureException"
			   : "SignatureDoesNotMatch",
		    off[i]);
		before = time(NULL) + (time_t)rig.date_off_s;
		aws_rig_json(&rig, &t, AWS_SAGEMAKER, stop, 1);
		aws_rig_settle(&rig);
		ok(t.good && !t.unclear && rig.n_asked == 2,
		    "a clock that is off: once more, at once");
		there = time(NULL) + (time_t)rig.date_off_s;
		ok(is_dated(&rig, 1, before, there), "dated by theirs");
		ok(llabs(aws_now_s(rig.aws) - there) <= LATE_S,
		    "which is known");
		ok(llabs(rig.cred_offset_s - rig.date_off_s) <= LATE_S,
		    "to the keys too");
		aws_rig_json(&rig, &t, AWS_LOGS, "GetLogEvents", 1);
		aws_rig_settle(&rig);
		there = time(NULL) + (time_t)rig.date_off_s;
		ok(t.good && rig.n_asked == 3 &&
			is_dated(&rig, 2, before, there),
		    "and from then on");
		ok(strstr(buf_str(&rig.notes),
		       i == 0 ? " s behind that of AWS" : " s ahead of that") !=
			NULL,
		    "reported once: %.50s", buf_str(&rig.notes));
		aws_client_answer_free(&t);
		aws_rig_close(&rig);
	}
}

static void
test_clock_vain(void)
{
	struct aws_client rig;
	struct aws_client_answer t = { 0 };
	int i;

	aws_rig_open(&rig, PACE);
	rig.no_date = true;
	for (i = 0; i < 4; i++)
		aws_rig_error(&rig, NULL, 403, "RequestTimeTooSkewed", "off");
	aws_rig_json(&rig, &t, AWS_SAGEMAKER, stop, 4);
	aws_rig_settle(&rig);
	ok(!t.good && t.what == AWS_CLOCK && rig.n_asked == 4 &&
		llabs(aws_now_s(rig.aws) - time(NULL)) <= LATE_S,
	    "without a date there is nothing to go by");
	rig.no_date = false;
	for (i = 0; i < 4; i++)
		aws_rig_error(&rig, NULL, 403, "RequestTimeTooSkewed", "off");
	aws_rig_json(&rig, &t, AWS_SAGEMAKER, stop, 2);
	aws_rig_settle(&rig);
	ok(t.what == AWS_CLOCK && rig.n_asked == 6,
	    "theirs does not help forever");
	aws_client_answer_free(&t);
	aws_rig_close(&rig);
}

static void
test_keys(void)
{
	struct aws_client rig;
	struct aws_client_answer t = { 0 };
	int i;

	aws_rig_open(&rig, PACE);
	aws_rig_error(&rig, NULL, 400, "ExpiredTokenException", "expired");
	aws_rig_json(&rig, &t, AWS_SAGEMAKER, stop, 1);
	aws_rig_settle(&rig);
	ok(t.good && rig.spoiled == 1 && rig.n_asked == 2,
	    "an expired token: new keys, once more, at once");
	is_str(aws_rig_header(&rig, 1, "X-Amz-Security-Token"), "TOKEN2+/=def",
	    "with the new ones");
	ok(rig.notes.len == 0, "no request is sent");
	for (i = 0; i < 2; i++)
		aws_rig_error(&rig, NULL, 400, "UnrecognizedClientException",
		    "The security token SECRET3/+abc TOKEN4+/=def is invalid");
	aws_rig_json(&rig, &t, AWS_SAGEMAKER, stop, 0);
	aws_rig_settle(&rig);
	ok(!t.good && t.what == AWS_CREDENTIALS && rig.n_asked == 4,
	    "refused twice: the end");
	ok(strstr(buf_str(&rig.notes),
	       "rejected the access keys (the rig): ") != NULL,
	    "and said: %s", buf_str(&rig.notes));
	for (i = 0; i < 5; i++)
		aws_rig_error(&rig, NULL, 400, "ExpiredToken", "expired");
	aws_rig_json(&rig, &t, AWS_SAGEMAKER, stop, -1);
	aws_rig_settle(&rig);
	ok(t.good && rig.n_asked == 10,
	    "what must be answered waits for good keys");
	aws_client_answer_free(&t);
	aws_rig_close(&rig);
}

static void
test_keyless(void)
{
	struct aws_client rig;
	struct aws_client_answer t = { 0 };

	aws_rig_open(&rig, PACE);
	rig.keyless = true;
	aws_rig_json(&rig, &t, AWS_SAGEMAKER, stop, 0);
	aws_rig_settle(&rig);
	ok(!t.good && t.what == AWS_CREDENTIALS && !t.sent && !t.unclear &&
		rig.n_asked == 0,
	    "no keys: not sent");
	is_str(t.message, "SageMaker StopTrainingJob: no keys were found",
	    "and reported");
	aws_client_answer_free(&t);
	aws_rig_close(&rig);
}

static void
test_secrets(void)
{
	struct aws_client rig;
	struct aws_client_answer t = { 0 };
	int i;

	aws_rig_open(&rig, PACE);
	for (i = 1; i <= 2; i++)
		aws_rig_error(&rig, NULL, 403, "SignatureDoesNotMatch",
		    i == 1
			? ""
			: "It does not match SECRET2/+abc or TOKEN2+/=def; "
			  "\\u001b[2J. The Canonical String for this request "
			  "should have been 'POST x-amz-security-token:T'");
	aws_rig_json(&rig, &t, AWS_SAGEMAKER, stop, 0);
	aws_rig_settle(&rig);
	is_str(t.message,
	    "SageMaker StopTrainingJob: It does not match (hidden) or "
	    "(hidden); \\x1b[2J. (SignatureDoesNotMatch, request id-1234)",
	    "no key, no canonical request and no control in a message");
	ok(strstr(rig.notes.data, "SECRET") == NULL &&
		strstr(rig.notes.data, "TOKEN") == NULL,
	    "nor in a note");
	aws_client_answer_free(&t);
	aws_rig_close(&rig);
}

/* A message is cut, but never in the middle of a key. */
static void
test_long(void)
{
	struct aws_client rig;
	struct aws_client_answer t = { 0 };
	struct buf b = { 0 };
	int i;

	aws_rig_open(&rig, PACE);
	buf_puts(&b, "{\"__type\": \"X\", \"message\": \"");
	for (i = 0; i < 594; i++)
		buf_putc(&b, 'm');
	buf_puts(&b, "SECRET1/+abc and more and more\"}");
	aws_rig_step(&rig, (struct step){ .status = 400, .body = buf_str(&b) });
	aws_rig_json(&rig, &t, AWS_SAGEMAKER, stop, 1);
	aws_rig_settle(&rig);
	ok(strstr(t.message, "SEC") == NULL && strlen(t.message) < 660,
	    "a key at the cut: ...%s", t.message + 610);
	ok(strstr(t.message, "...") != NULL, "what was cut shows it");
	buf_free(&b);
	aws_client_answer_free(&t);
	aws_rig_close(&rig);
}

static void
test_for_ever(void)
{
	struct aws_client rig;
	struct aws_client_answer t = { 0 };
	int i;

	aws_rig_open(&rig, 10000);
	for (i = 0; i < 30; i++)
		switch (i % 3) {
		case 0:
			aws_rig_error(&rig, NULL, 400, "Throttling", "slow");
			break;
		case 1:
			aws_rig_error(&rig, NULL, 503, "", "");
			break;
		case 2:
			aws_rig_step(&rig, (struct step){ .kind = STEP_CLOSE });
			break;
		}
	aws_rig_error(&rig, NULL, 400, "ValidationException",
	    "The request was rejected because the training job is in status "
	    "Stopped.");
	aws_rig_json(&rig, &t, AWS_SAGEMAKER, stop, -1);
	aws_rig_settle(&rig);
	ok(!t.good && t.what == AWS_CALLER && rig.n_asked == 31,
	    "tried until it is answered for good: %zu", rig.n_asked);
	aws_client_answer_free(&t);
	aws_rig_close(&rig);
}

static void
test_budget(void)
{
	struct aws_client rig;
	struct aws_client_answer t = { 0 };
	int i;

	aws_rig_open(&rig, 100000);
	aws_rig_deaf(&rig);
	for (i = 0; i < 14; i++) {
		aws_rig_json(&rig, &t, AWS_SAGEMAKER, stop, 0);
		aws_rig_settle(&rig);
	}
	is_int(rig.aws->requests, 14 * 8, "while there is a budget");
	for (i = 0; i < 14; i++) {
		aws_rig_json(&rig, &t, AWS_SAGEMAKER, stop, 0);
		aws_rig_settle(&rig);
	}
	is_int(rig.aws->requests, 28 + 100, "then one try each");
	aws_client_answer_free(&t);
	aws_rig_close(&rig);
}

int
main(void)
{
	test_good();
	test_protocols();
	test_throttle();
	test_retry_after();
	test_unclear();
	test_refused();
	test_clock();
	test_clock_vain();
	test_keys();
	test_keyless();
	test_secrets();
	test_long();
	test_for_ever();
	test_budget();
	return done_testing();
}
