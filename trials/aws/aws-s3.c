/*
 * S3 as far as a study needs it: whole objects, lists over pages; and
 * GetCallerIdentity of STS.
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/http/http.h"
#include "src/base/mem.h"
#include "trials/aws/aws-call.h"
#include "trials/aws/aws-internal.h"

enum {
	S3_TIMEOUT_MS = 10 * 60 * 1000,
	LIST_TIMEOUT_MS = 30 * 1000,
	PAGE_OBJECTS = 1000, /* maximum of S3 */
	LIST_OBJECTS_MAX = 1000 * 1000,
	LIST_PAGES_MAX = 10 * 1000 /* of a thousand, some of them not full */
};

/*
 * The bucket is part of the host name, but part of the path if its name has a
 * dot, which the certificate would not match, or if a custom endpoint is set.
 */
static void
s3_address(struct aws_request *r, const struct aws_endpoint *p,
    const char *bucket, const char *key)
{
	bool in_path = p->custom || strchr(bucket, '.') != NULL;
	struct buf b = { 0 };

	buf_puts(&b, p->path);
	if (in_path) {
		buf_putc(&b, '/');
		http_put_encoded(&b, bucket, strlen(bucket), false);
	}
	/* The bucket itself is "/bucket" in a path and "/" of its host. */
	if (key[0] != '\0' || !in_path)
		buf_putc(&b, '/');
	http_put_encoded(&b, key, strlen(key), true);
	r->path = buf_take(&b);
	r->host =
	    in_path ? xstrdup(p->host) : xasprintf("%s.%s", bucket, p->host);
	r->plain = p->plain;
	r->s3 = true;
}

/* Letters, digits, dots and hyphens: nothing that could change a host. */
static bool
bucket_is_good(const char *bucket)
{
	size_t n = strspn(bucket, "abcdefghijklmnopqrstuvwxyz0123456789.-_"
				  "ABCDEFGHIJKLMNOPQRSTUVWXYZ");

	return bucket[n] == '\0' && n >= 3 && n <= 255 && bucket[0] != '.' &&
	       bucket[0] != '-';
}

static const char *
method_known(const char *method)
{
	static const char *const methods[] = { "PUT", "HEAD", "GET", "DELETE" };
	size_t i;

	for (i = 0; i < sizeof methods / sizeof methods[0]; i++)
		if (strcmp(method, methods[i]) == 0)
			return methods[i];
	return NULL;
}

static int
s3_request_fill(struct aws_call *c, const struct aws_s3_ask *ask, struct err *e)
{
	struct aws_request *r = &c->request;
	const struct aws_endpoint *p;
	char range[64];
	size_t i;

	r->method = method_known(ask->method);
	if (r->method == NULL)
		return err_set(e, ERR_USAGE, "no method %s", ask->method);
	if (!bucket_is_good(ask->bucket))
		return err_set(e, ERR_USAGE,
		    "\"%s\" is not the name of a bucket", ask->bucket);
	if (aws_client_endpoint(c->aws, AWS_S3, &p, e) != 0)
		return -1;
	s3_address(r, p, ask->bucket, ask->key);
	for (i = 0; i < ask->n_query; i++)
		aws_pair_add(&r->query, &r->n_query, ask->query[i].name,
		    ask->query[i].value);
	if (ask->type != NULL)
		aws_pair_add(
		    &r->headers, &r->n_headers, "Content-Type", ask->type);
	if (ask->most > 0) {
		(void)snprintf(range, sizeof range,
		    "bytes=%" PRId64 "-%" PRId64, ask->from,
		    ask->from + ask->most - 1);
		aws_pair_add(&r->headers, &r->n_headers, "Range", range);
	}
	if (ask->kms != NULL && strcmp(r->method, "PUT") == 0) {
		aws_pair_add(&r->headers, &r->n_headers,
		    "x-amz-server-side-encryption", "aws:kms");
		aws_pair_add(&r->headers, &r->n_headers,
		    "x-amz-server-side-encryption-aws-kms-key-id", ask->kms);
	}
	if (ask->body_len > 0) {
		r->body = xmalloc(ask->body_len);
		memcpy(r->body, ask->body, ask->body_len);
		r->len = ask->body_len;
	}
	r->timeout_ms = ask->timeout_ms > 0 ? ask->timeout_ms : S3_TIMEOUT_MS;
	return 0;
}

static struct aws_call *
call_new(struct aws *aws, const struct aws_s3_ask *ask, const char *operation,
    aws_read_fn *read, struct err *e)
{
	struct aws_call *c = aws_call_new(aws, AWS_S3, operation);

	c->read = read;
	c->tries = ask->tries;
	(void)s3_request_fill(c, ask, e);
	return c;
}

struct aws_call *
aws_s3(struct aws *aws, const struct aws_s3_ask *ask, aws_cb *cb, void *arg)
{
	struct err e = ERR_INIT;
	struct aws_call *c = call_new(aws, ask, ask->method, aws_xml_read, &e);

	c->cb = cb;
	c->arg = arg;
	aws_call_begin(c, e.kind != ERR_NONE ? &e : NULL);
	return c;
}

struct aws_call *
aws_s3_list(struct aws *aws, const char *bucket, const char *prefix,
    size_t most, aws_s3_list_cb *cb, void *arg)
{
	char number[24];
	const struct aws_pair query[] = {
		{ "list-type", "2" },
		{ "prefix", prefix },
		{ "max-keys", number },
	};
	const struct aws_s3_ask ask = {
		.method = "GET",
		.bucket = bucket,
		.key = "",
		.query = query,
		.n_query = sizeof query / sizeof query[0],
		.timeout_ms = LIST_TIMEOUT_MS,
	};
	struct err e = ERR_INIT;
	struct aws_call *c;

	(void)snprintf(number, sizeof number, "%zu",
	    most > 0 && most < PAGE_OBJECTS ? most : PAGE_OBJECTS);
	c = call_new(aws, &ask, "LIST", aws_xml_read_list, &e);
	c->list_cb = cb;
	c->arg = arg;
	c->most = most;
	aws_call_begin(c, e.kind != ERR_NONE ? &e : NULL);
	return c;
}

/* Append the objects of a page to those found. */
static void
found_add(struct aws_s3_page *found, struct aws_s3_page *page)
{
	if (page->n > 0) {
		found->objects = xreallocarray(
		    found->objects, found->n + page->n, sizeof *found->objects);
		memcpy(found->objects + found->n, page->objects,
		    page->n * sizeof *found->objects);
		found->n += page->n;
		page->n = 0;
	}
	free(found->token);
	found->token = page->token;
	page->token = NULL;
}

/* Request the next page as a fresh call. */
static void
query_next(struct aws_call *c, const char *token)
{
	static const char name[] = "continuation-token";
	struct aws_request *r = &c->request;
	struct aws_pair *last = &r->query[r->n_query - 1];

	if (strcmp(last->name, name) == 0) {
		free((char *)last->value);
		last->value = xstrdup(token);
	} else
		aws_pair_add(&r->query, &r->n_query, name, token);
	c->tried = 0;
	c->cost = 0;
	c->clocked = c->renewed = false;
}

bool
aws_s3_more(struct aws_call *c)
{
	struct aws_s3_page *page = &c->said.page;
	bool again = page->token != NULL && c->found.token != NULL &&
		     strcmp(page->token, c->found.token) == 0;

	again = again || ++c->pages >= LIST_PAGES_MAX;
	found_add(&c->found, page);
	if (c->found.token == NULL || c->most > 0)
		return false;
	if (again || c->found.n > LIST_OBJECTS_MAX) {
		aws_parsed_set(&c->said, AWS_CALLER, "",
		    again ? "the list of the bucket has no end"
			  : "there are more than a million objects");
		return false;
	}
	query_next(c, c->found.token);
	return true;
}
