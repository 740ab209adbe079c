/*
 * Services with XML responses, S3, STS and SNS: the parsing of responses, which
 * are not trusted, and the requests of the last two, which are forms.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/base/xml.h"
#include "trials/aws/aws-internal.h"

/* ---- responses ---------------------------------------------------------- */

/*
 * The element that contains Code and Message, or NULL: the root for S3, below
 * it for STS, and below Errors for older services.
 */
static const struct xml *
error_of(const struct xml *root)
{
	const struct xml *errors = xml_first(root, "Errors");

	if (strcmp(xml_name(root), "Error") == 0)
		return root;
	return xml_first(errors != NULL ? errors : root, "Error");
}

static const char *
child_text(const struct xml *x, const char *name)
{
	const struct xml *child = xml_first(x, name);

	return child != NULL ? xml_text(child) : "";
}

/* The bucket is in another region: a final error. */
static bool
read_region(struct aws_parsed *said, const struct aws_raw *raw)
{
	char *text;

	if (raw->bucket_region == NULL || raw->region == NULL ||
	    (raw->status != 301 && raw->status != 307 && raw->status != 400) ||
	    strcmp(raw->bucket_region, raw->region) == 0)
		return false;
	text = xasprintf("the bucket is in the region %s, not in %s",
	    raw->bucket_region, raw->region);
	aws_parsed_set(said, AWS_CALLER, "PermanentRedirect", text);
	free(text);
	return true;
}

/* A response to HEAD has no body; its status is all there is. */
static void
read_bare(struct aws_parsed *said, const struct aws_raw *raw)
{
	enum aws_class what = aws_retry_classify(raw->status, "", "");
	const char *text = "";

	if (raw->status == 403 || raw->status == 400) {
		if (raw->skewed)
			what = AWS_CLOCK;
		else if (raw->status == 400)
			what = AWS_CREDENTIALS;
		text = raw->status == 403 ? "access is denied"
					  : "the request was rejected";
	} else if (raw->status == 404)
		text = "the bucket or object does not exist";
	aws_parsed_set(said, what, "", text);
}

static void
read_foreign(struct aws_parsed *said, const struct aws_raw *raw)
{
	enum aws_class what = aws_retry_classify(raw->status, "", "");
	char *text;

	text = xasprintf(
	    "HTTP status %d with an answer that is not AWS's", raw->status);
	if (raw->status >= 400 && what != AWS_THROTTLE)
		what = AWS_TRANSIENT;
	aws_parsed_set(said, what, "", text);
	free(text);
}

static void
read_error(struct aws_parsed *said, const struct aws_raw *raw)
{
	const struct xml *x = NULL;
	struct xml *root = NULL;
	const char *text;
	char *code;

	if (read_region(said, raw))
		return;
	if (strcmp(raw->method, "HEAD") == 0) {
		read_bare(said, raw);
		return;
	}
	if (xml_parse(&root, raw->body, raw->len, NULL) == 0)
		x = error_of(root);
	else
		root = NULL;
	if (x != NULL) {
		code = aws_retry_plain_code(child_text(x, "Code"));
		text = child_text(x, "Message");
		aws_parsed_set(said,
		    aws_retry_classify(raw->status, code, text), code, text);
		free(code);
	} else
		read_foreign(said, raw);
	xml_free(root);
}

void
aws_xml_read(struct aws_parsed *said, const struct aws_raw *raw)
{
	if (raw->status >= 200 && raw->status < 300)
		aws_parsed_set(said, AWS_OK, "", "");
	else
		read_error(said, raw);
}

/* "2009-10-12T17:50:30.000Z" -> seconds since 1970; 0 when it is no time. */
static int64_t
time_read(const char *text)
{
	struct tm t = { 0 };

	if (sscanf(text, "%4d-%2d-%2dT%2d:%2d:%2d", &t.tm_year, &t.tm_mon,
		&t.tm_mday, &t.tm_hour, &t.tm_min, &t.tm_sec) != 6)
		return 0;
	t.tm_year -= 1900;
	t.tm_mon--;
	return (int64_t)timegm(&t);
}

static int
object_read(struct aws_s3_object *o, const struct xml *x)
{
	const char *key = child_text(x, "Key");
	const char *size = child_text(x, "Size");
	char *end;

	errno = 0;
	o->size = strtoll(size, &end, 10);
	if (key[0] == '\0' || size[0] == '\0' || *end != '\0' || o->size < 0 ||
	    errno != 0)
		return -1;
	o->key = xstrdup(key);
	o->modified_s = time_read(child_text(x, "LastModified"));
	return 0;
}

static int
page_read(struct aws_s3_page *p, const struct xml *root)
{
	const struct xml *x;
	const char *token;
	size_t cap = 0;

	if (strcmp(xml_name(root), "ListBucketResult") != 0)
		return -1;
	for (x = xml_first(root, "Contents"); x != NULL;
	     x = xml_next(x, "Contents")) {
		XGROW(p->objects, p->n, cap);
		if (object_read(&p->objects[p->n], x) != 0)
			return -1;
		p->n++;
	}
	if (strcmp(child_text(root, "IsTruncated"), "true") != 0)
		return 0;
	token = child_text(root, "NextContinuationToken");
	if (token[0] == '\0')
		return -1;
	p->token = xstrdup(token);
	return 0;
}

void
aws_xml_read_list(struct aws_parsed *said, const struct aws_raw *raw)
{
	struct xml *root = NULL;

	aws_xml_read(said, raw);
	if (said->what != AWS_OK)
		return;
	if (xml_parse(&root, raw->body, raw->len, NULL) == 0 &&
	    page_read(&said->page, root) == 0) {
		xml_free(root);
		return;
	}
	xml_free(root);
	aws_s3_page_fini(&said->page);
	aws_parsed_set(
	    said, AWS_TRANSIENT, "", "the answer is not the list of a bucket");
	said->broken = true;
}

/* ---- form requests ------------------------------------------------------ */

enum { QUERY_TIMEOUT_MS = 30 * 1000 };

/* API version, part of each request; NULL: the service takes no forms. */
static const char *const versions[AWS_SERVICES] = {
	[AWS_STS] = "2011-06-15",
	[AWS_SNS] = "2010-03-31",
};

/* A 2xx answer counts if its root element is that of such a service. */
static void
aws_read_query(struct aws_parsed *said, const struct aws_raw *raw)
{
	static const char end[] = "Response";
	struct xml *root = NULL;
	const char *name;
	size_t n, k = sizeof end - 1;
	bool good;

	aws_xml_read(said, raw);
	if (said->what != AWS_OK)
		return;
	good = xml_parse(&root, raw->body, raw->len, NULL) == 0;
	if (good) {
		name = xml_name(root);
		n = strlen(name);
		good = n > k && strcmp(name + n - k, end) == 0 &&
		       strcmp(name, "ErrorResponse") != 0;
		xml_free(root);
	}
	if (good)
		return;
	aws_parsed_set(said, AWS_TRANSIENT, "", "the answer is not AWS's");
	said->broken = true;
}

static void
request_fill(struct aws_request *r, const struct aws_endpoint *p,
    const struct aws_ask *ask)
{
	const char *more = ask->body != NULL ? ask->body : "";

	*r = (struct aws_request){
		.method = "POST",
		.host = xstrdup(p->host),
		.path = xasprintf("%s/", p->path),
		.plain = p->plain,
		.body = xasprintf("Action=%s&Version=%s%s", ask->operation,
		    versions[ask->service], more),
		.timeout_ms =
		    ask->timeout_ms > 0 ? ask->timeout_ms : QUERY_TIMEOUT_MS,
	};
	r->len = strlen(r->body);
	aws_pair_add(&r->headers, &r->n_headers, "Content-Type",
	    "application/x-www-form-urlencoded; charset=utf-8");
}

struct aws_call *
aws_query(struct aws *aws, const struct aws_ask *ask, aws_cb *cb, void *arg)
{
	return aws_call_ask(aws, ask, request_fill, aws_read_query, cb, arg);
}

struct aws_call *
aws_whoami(struct aws *aws, aws_cb *cb, void *arg)
{
	const struct aws_ask ask = { .service = AWS_STS,
		.operation = "GetCallerIdentity" };

	return aws_query(aws, &ask, cb, arg);
}
