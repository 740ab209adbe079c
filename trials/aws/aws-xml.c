/*
 * The responses of services that answer with XML, S3, STS and SNS, which are
 * not trusted.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "src/base/mem.h"
#include "src/base/xml.h"
#include "trials/aws/aws-internal.h"

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
aws_xml_read_foreign(struct aws_parsed *said, const struct aws_raw *raw)
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
aws_xml_read_error(struct aws_parsed *said, const struct aws_raw *raw)
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
		aws_xml_read_foreign(said, raw);
	xml_free(root);
}

void
aws_xml_read(struct aws_parsed *said, const struct aws_raw *raw)
{
	if (raw->status >= 200 && raw->status < 300)
		aws_parsed_set(said, AWS_OK, "", "");
	else
		aws_xml_read_error(said, raw);
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
aws_xml_page_read(struct aws_s3_page *p, const struct xml *root)
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
	    aws_xml_page_read(&said->page, root) == 0) {
		xml_free(root);
		return;
	}
	xml_free(root);
	aws_s3_page_fini(&said->page);
	aws_parsed_set(
	    said, AWS_TRANSIENT, "", "the answer is not the list of a bucket");
	said->broken = true;
}
