/* S3 and STS of the AWS client, against a scripted server. */

#include <stdlib.h>
#include <time.h>

#include "src/base/err.h"
#include "tests/support/aws/aws-client.h"
#include "tests/support/tap.h"
#include "trials/aws/aws-internal.h"

enum { PACE = 200 };

static const char error_xml[] =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>%s</Code>"
    "<Message>%s</Message><RequestId>R</RequestId></Error>";

static void
aws_rig_xml(struct aws_client *rig, int status, const char *headers,
    const char *code, const char *text)
{
	static char bodies[AWS_CLIENT_STEPS][512];
	char *body = bodies[rig->n_steps];

	(void)snprintf(body, sizeof bodies[0], error_xml, code, text);
	aws_rig_step(
	    rig, (struct step){
		     .status = status, .headers = headers, .body = body });
}

static void
get(struct aws_client *rig, struct aws_client_answer *t, const char *method,
    const char *bucket, const char *key)
{
	struct aws_s3_ask ask = { .method = method,
		.bucket = bucket,
		.key = key,
		.tries = 3,
		.timeout_ms = 60000 };

	if (strcmp(method, "PUT") == 0) {
		ask.body = "a\0b";
		ask.body_len = 3;
		ask.type = "application/gzip";
	}
	aws_rig_s3(rig, t, &ask);
	aws_rig_settle(rig);
}

static void
test_objects(void)
{
	struct aws_client rig;
	struct aws_client_answer t = { 0 };

	aws_rig_open(&rig, PACE);
	aws_rig_step(&rig, (struct step){ .status = 200 });
	get(&rig, &t, "PUT", "some-bucket", "a b/c+d\xc3\xa9/~x*(1).gz");
	ok(t.good, "put");
	is_str(rig.asked[0].operation,
	    "PUT /some-bucket/a%20b/c%2Bd%C3%A9/~x%2A%281%29.gz",
	    "the path carries the bucket, encoded once");
	is_str(aws_rig_header(&rig, 0, "Content-Length"), "3", "its length");
	is_str(aws_rig_header(&rig, 0, "Content-Type"), "application/gzip",
	    "its type");
	is_str(aws_rig_header(&rig, 0, "x-amz-content-sha256"),
	    "59b271ae1bbcb1d31d41929817f4b16f"
	    "b439eb4f31520b5ad1d5ce98920a7138",
	    "its digest");
	aws_rig_step(
	    &rig, (struct step){ .status = 200, .body = "x\0y", .len = 3 });
	get(&rig, &t, "GET", "some.bucket", "k");
	ok(t.good && t.len == 3 && memcmp(t.body, "x\0y", 4) == 0, "get");
	get(&rig, &t, "HEAD", "some-bucket", "");
	ok(t.good, "the bucket itself");
	is_str(rig.asked[2].operation, "HEAD /some-bucket", "has no key");
	aws_rig_step(&rig, (struct step){ .status = 204 });
	get(&rig, &t, "DELETE", "some-bucket", "k");
	ok(t.good, "delete");
	get(&rig, &t, "GET", "x/../y", "k");
	ok(!t.good && t.what == AWS_CALLER && !t.sent && rig.n_asked == 4,
	    "not a bucket: %s", t.message);
	get(&rig, &t, "PATCH", "some-bucket", "k");
	ok(!t.good && !t.sent, "not a method: %s", t.message);
	aws_client_answer_free(&t);
	aws_rig_close(&rig);
}

static void
is_address(struct aws_client *rig, const char *bucket, const char *host,
    const char *path)
{
	struct aws_s3_ask ask = {
		.method = "GET", .bucket = bucket, .key = "a/b"
	};
	struct aws_call *c = aws_s3(rig->aws, &ask, aws_rig_told, NULL);

	is_str(c->request.host, host, "the host of a bucket");
	is_str(c->request.path, path, "its path there");
	ok(!c->request.plain, "by https");
	aws_call_cancel(c);
}

static void
test_addresses(void)
{
	struct aws_client rig;

	aws_rig_open(&rig, PACE);
	rig.real = true;
	is_address(&rig, "some-bucket",
	    "some-bucket.s3.eu-west-1.amazonaws.com", "/a/b");
	is_address(&rig, "some.bucket", "s3.eu-west-1.amazonaws.com",
	    "/some.bucket/a/b");
	aws_rig_close(&rig);
}

static void
test_errors(void)
{
	static const char elsewhere[] =
	    "x-amz-bucket-region: us-west-2\r\nx-amz-request-id: r1\r\n";
	struct aws_client rig;
	struct aws_client_answer t = { 0 };

	aws_rig_open(&rig, PACE);
	aws_rig_xml(&rig, 404, NULL, "NoSuchKey", "The key does not exist.");
	get(&rig, &t, "GET", "some-bucket", "k");
	ok(t.what == AWS_MISSING && strcmp(t.code, "NoSuchKey") == 0,
	    "missing: %s", t.message);
	aws_rig_xml(&rig, 503, NULL, "SlowDown", "Reduce your rate.");
	get(&rig, &t, "GET", "some-bucket", "k");
	ok(t.good && !t.unclear, "slow down, then good");
	aws_rig_xml(&rig, 500, NULL, "InternalError", "We are sorry.");
	get(&rig, &t, "PUT", "some-bucket", "k");
	ok(t.good && t.unclear, "an internal error is tried again");
	aws_rig_xml(&rig, 301, elsewhere, "PermanentRedirect", "Over there.");
	get(&rig, &t, "GET", "some-bucket", "k");
	ok(t.what == AWS_CALLER &&
		strstr(t.message, "the bucket is in the region us-west-2, "
				  "not in eu-west-1") != NULL,
	    "elsewhere: %s", t.message);
	aws_rig_step(
	    &rig, (struct step){ .status = 400, .headers = elsewhere });
	get(&rig, &t, "HEAD", "some-bucket", "");
	ok(t.what == AWS_CALLER && strstr(t.message, "us-west-2") != NULL,
	    "elsewhere, without a body");
	aws_rig_xml(&rig, 403, NULL, "AccessDenied", "Access Denied");
	get(&rig, &t, "GET", "some-bucket", "k");
	ok(t.what == AWS_CALLER && t.status == 403, "denied: %s", t.message);
	aws_rig_step(
	    &rig, (struct step){ .status = 403, .body = "<html>proxy" });
	get(&rig, &t, "GET", "some-bucket", "k");
	ok(t.good, "a proxy refuses: retried");
	aws_client_answer_free(&t);
	aws_rig_close(&rig);
}

/* Without a body the status must say everything. */
static void
test_heads(void)
{
	struct aws_client rig;
	struct aws_client_answer t = { 0 };

	aws_rig_open(&rig, PACE);
	aws_rig_step(&rig, (struct step){ .status = 404 });
	get(&rig, &t, "HEAD", "some-bucket", "k");
	is_int(t.what, AWS_MISSING, "HEAD of nothing");
	aws_rig_step(&rig, (struct step){ .status = 403 });
	get(&rig, &t, "HEAD", "some-bucket", "k");
	ok(t.what == AWS_CALLER, "denied: %s", t.message);
	aws_rig_step(&rig, (struct step){ .status = 400 });
	get(&rig, &t, "HEAD", "some-bucket", "k");
	ok(t.good && rig.spoiled == 1, "an expired token: new keys");
	rig.date_off_s = 3600;
	aws_rig_step(&rig, (struct step){ .status = 403 });
	get(&rig, &t, "HEAD", "some-bucket", "k");
	ok(t.good && aws_now_s(rig.aws) - time(NULL) > 3500,
	    "a clock that is off shows in the date");
	aws_rig_step(&rig, (struct step){ .status = 503 });
	get(&rig, &t, "HEAD", "some-bucket", "k");
	ok(t.good, "unavailable, then good");
	aws_client_answer_free(&t);
	aws_rig_close(&rig);
}

static void
test_list(void)
{
	static const char page[] =
	    "<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/"
	    "\"><IsTruncated>true</IsTruncated><Contents><Key>p/a &amp; b</Key>"
	    "<LastModified>2009-10-12T17:50:30.000Z</LastModified>"
	    "<Size>434234</Size></Contents><Contents><Key>p/c</Key><Size>0"
	    "</Size></Contents><NextContinuationToken>t/1+=</"
	    "NextContinuationToken></ListBucketResult>";
	static const char last[] =
	    "<ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>"
	    "z</Key><Size>7</Size></Contents></ListBucketResult>";
	struct aws_client rig;
	struct aws_client_answer t = { 0 };
	int i;

	aws_rig_open(&rig, PACE);
	aws_rig_good(&rig, NULL, page);
	aws_rig_xml(&rig, 503, NULL, "SlowDown", "");
	aws_rig_good(&rig, NULL, last);
	aws_rig_list(&rig, &t, "some-bucket", "p/", 0);
	aws_rig_settle(&rig);
	ok(t.good && t.n == 3, "a list over two pages");
	is_str(t.keys.data, "p/a & b 434234 1255369830\np/c 0 0\nz 7 0\n",
	    "its objects");
	ok(strncmp(rig.asked[0].head,
	       "GET /some-bucket?list-type=2&max-keys=1000&prefix=p%2F ",
	       55) == 0,
	    "asked for");
	ok(strncmp(rig.asked[2].head,
	       "GET /some-bucket?continuation-token=t%2F1%2B%3D&list-type=2&",
	       60) == 0,
	    "and what follows");
	aws_rig_good(&rig, NULL, page);
	aws_rig_list(&rig, &t, "some-bucket", "p/", 2);
	aws_rig_settle(&rig);
	ok(t.good && t.n == 2 && rig.n_asked == 4, "one page of two");
	ok(strstr(rig.asked[3].head, "max-keys=2&") != NULL, "asked for");
	aws_rig_good(&rig, NULL, page);
	aws_rig_good(&rig, NULL, page);
	aws_rig_list(&rig, &t, "some-bucket", "p/", 0);
	aws_rig_settle(&rig);
	ok(!t.good && t.n == 0 && rig.n_asked == 6, "a list without an end: %s",
	    t.message);
	for (i = 0; i < 14; i++) {
		if (i == 7)
			aws_rig_good(&rig, NULL, page);
		aws_rig_xml(&rig, 503, NULL, "SlowDown", "");
	}
	aws_rig_good(&rig, NULL, last);
	aws_rig_list(&rig, &t, "some-bucket", "p/", 0);
	aws_rig_settle(&rig);
	ok(t.good && t.n == 3, "each page has all tries");
	aws_rig_xml(&rig, 404, NULL, "NoSuchBucket", "There is none.");
	aws_rig_list(&rig, &t, "some-bucket", "p/", 0);
	aws_rig_settle(&rig);
	ok(t.what == AWS_MISSING && t.n == 0, "no bucket: %s", t.message);
	aws_client_answer_free(&t);
	aws_rig_close(&rig);
}

static void
test_list_nonsense(void)
{
	static const char *const bodies[] = { "", "<html>", "<a/>",
		"<ListBucketResult><Contents><Key>k</Key></Contents>"
		"</ListBucketResult>",
		"<ListBucketResult><Contents><Key>k</Key><Size>-1</Size>"
		"</Contents></ListBucketResult>",
		"<ListBucketResult><Contents><Key/><Size>1</Size>"
		"</Contents></ListBucketResult>",
		"<ListBucketResult><IsTruncated>true</IsTruncated>"
		"</ListBucketResult>",
		"<ListBucketResult><Contents>" };
	struct aws_client rig;
	struct aws_client_answer t = { 0 };
	size_t i;

	aws_rig_open(&rig, PACE);
	for (i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
		aws_rig_good(&rig, NULL, bodies[i]);
		aws_rig_good(&rig, NULL, "<ListBucketResult/>");
		aws_rig_list(&rig, &t, "some-bucket", "p/", 0);
		aws_rig_settle(&rig);
		ok(t.good && t.n == 0 && rig.n_asked == 2 * (i + 1),
		    "no list, asked again: %s", bodies[i]);
	}
	aws_rig_good(&rig, NULL, "<ListBucketResult/>");
	aws_rig_list(&rig, &t, "some-bucket", "p/", 0);
	aws_call_cancel(t.call);
	rig.open--;
	aws_rig_settle(&rig);
	is_int(t.calls, 0, "a list that is cancelled");
	aws_client_answer_free(&t);
	aws_rig_close(&rig);
}

/* One try that is answered so. */
static void
aws_rig_publish(
    struct aws_client *rig, struct aws_client_answer *t, const char *answer)
{
	const struct aws_ask ask = { .service = AWS_SNS,
		.operation = "Publish",
		.body = "&Message=a%20b",
		.tries = 1 };

	rig->open++;
	aws_rig_good(rig, NULL, answer);
	(void)aws_query(rig->aws, &ask, aws_rig_told, t);
	aws_rig_settle(rig);
}

static void
test_whoami(void)
{
	struct aws_client rig;
	struct aws_client_answer t = { 0 };

	aws_rig_open(&rig, PACE);
	aws_rig_good(&rig, NULL,
	    "<GetCallerIdentityResponse><GetCallerIdentityResult><Arn>a</Arn>"
	    "</GetCallerIdentityResult></GetCallerIdentityResponse>");
	t.rig = &rig;
	rig.open++;
	(void)aws_whoami(rig.aws, aws_rig_told, &t);
	aws_rig_settle(&rig);
	ok(t.good && strstr(t.body, "<Arn>a</Arn>") != NULL, "who we are");
	is_str(rig.asked[0].body, "Action=GetCallerIdentity&Version=2011-06-15",
	    "asked of STS");
	ok(strstr(aws_rig_header(&rig, 0, "Authorization"), "/sts/aws4") !=
		NULL,
	    "signed for it");
	aws_client_answer_free(&t);
	t.rig = &rig;
	rig.open++;
	aws_rig_step(
	    &rig, (struct step){ .status = 403,
		      .body = "<ErrorResponse><Error><Type>Sender</Type><Code>"
			      "AccessDenied</Code><Message>no</Message></Error>"
			      "<RequestId>1</RequestId></ErrorResponse>" });
	(void)aws_whoami(rig.aws, aws_rig_told, &t);
	aws_rig_settle(&rig);
	is_str(t.message, "STS GetCallerIdentity: no (AccessDenied)",
	    "an error of STS");
	aws_client_answer_free(&t);
	t.rig = &rig;
	aws_rig_publish(&rig, &t, "<html>sign in</html>");
	is_str(t.message, "SNS Publish: the answer is not AWS's",
	    "a success of another request");
	ok(!t.good && t.unclear, "is none, and may have acted");
	aws_client_answer_free(&t);
	t.rig = &rig;
	aws_rig_publish(&rig, &t, "<PublishResponse/>");
	ok(t.good &&
		strstr(aws_rig_header(&rig, rig.n_asked - 1, "Authorization"),
		    "/sns/aws4") != NULL,
	    "SNS is signed for");
	is_str(rig.asked[rig.n_asked - 1].body,
	    "Action=Publish&Version=2010-03-31&Message=a%20b",
	    "a form, with its version");
	aws_client_answer_free(&t);
	aws_rig_close(&rig);
}

int
main(void)
{
	test_objects();
	test_addresses();
	test_errors();
	test_heads();
	test_list();
	test_list_nonsense();
	test_whoami();
	return done_testing();
}
