/* A call: keys, signature, request, answer, until its last try. */

#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/http/http.h"
#include "src/base/json/json.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "trials/aws/aws-call.h"
#include "trials/aws/aws-internal.h"
#include "trials/aws/aws-queue.h"
#include "trials/aws/aws-retry-schedule.h"

enum { SKEW_S = 4 * 60 }; /* AWS itself allows five minutes, S3 fifteen */

struct aws_call *
aws_call_new(struct aws *aws, enum aws_service service, const char *operation)
{
	struct aws_call *c = xcalloc(1, sizeof *c);

	c->aws = aws;
	c->queue = aws_queue_of(aws, service, operation);
	c->order = aws->order++;
	TAILQ_INSERT_TAIL(&aws->calls, c, all);
	return c;
}

/* Free the last answer. */
static void
answer_clear(struct aws_call *c)
{
	aws_parsed_fini(&c->said);
	free(c->message);
	free(c->request_id);
	free(c->body);
	c->message = c->request_id = c->body = NULL;
	c->len = 0;
	c->status = 0;
}

static void
aws_call_free(struct aws_call *c)
{
	answer_clear(c);
	aws_s3_page_fini(&c->found);
	aws_request_fini(&c->request);
	free(c->key_id);
	free(c);
}

/* Remove a call from any list. */
static void
aws_call_drop(struct aws_call *c)
{
	struct aws *aws = c->aws;

	switch (c->state) {
	case AWS_CALL_QUEUED:
		TAILQ_REMOVE(&c->queue->line, c, line);
		break;
	case AWS_CALL_KEYS:
		cred_forget(aws->cred, c);
		break;
	case AWS_CALL_FLIGHT:
		http_cancel(c->http);
		break;
	case AWS_CALL_DONE:
		TAILQ_REMOVE(&aws->done, c, line);
		break;
	case AWS_CALL_DELIVERED:
		return;
	}
	TAILQ_REMOVE(&aws->calls, c, all);
	aws_call_free(c);
}

void
aws_call_cancel(struct aws_call *c)
{
	if (c != NULL)
		aws_call_drop(c);
}

void
aws_call_end(struct aws_call *c)
{
	if (c->said.what != AWS_OK)
		c->message = aws_message(&c->aws->keys, c->queue, &c->said,
		    c->status, c->request_id);
	aws_deliver_put(c);
}

void
aws_call_begin(struct aws_call *c, const struct err *e)
{
	if (e != NULL) {
		aws_parsed_set(&c->said, AWS_CALLER, "", e->text);
		aws_call_end(c);
		return;
	}
	if (c->tries == 0)
		c->tries = AWS_TRIES;
	aws_queue_put(c->queue, c);
}

struct aws_call *
aws_call_ask(struct aws *aws, const struct aws_ask *ask, aws_fill_fn *fill,
    aws_read_fn *read, aws_cb *cb, void *arg)
{
	struct aws_call *c = aws_call_new(aws, ask->service, ask->operation);
	const struct aws_endpoint *p;
	struct err e = ERR_INIT;

	c->cb = cb;
	c->arg = arg;
	c->read = read;
	c->tries = ask->tries;
	if (aws_client_endpoint(aws, ask->service, &p, &e) != 0) {
		aws_call_begin(c, &e);
		return c;
	}
	fill(&c->request, p, ask);
	aws_call_begin(c, NULL);
	return c;
}

void
aws_call_deliver(struct aws_call *c)
{
	struct aws_answer a = {
		.good = c->said.what == AWS_OK,
		.what = c->said.what,
		.unclear = c->unclear,
		.sent = c->sent,
		.status = c->status,
		.fault = c->fault,
		.code = c->said.code != NULL ? c->said.code : "",
		.message = c->message != NULL ? c->message : "",
		.request_id = c->request_id != NULL ? c->request_id : "",
		.json = c->said.doc != NULL ? json_root(c->said.doc) : NULL,
		.body = c->body != NULL ? c->body : "",
		.len = c->len,
	};

	c->state = AWS_CALL_DELIVERED;
	if (c->list_cb != NULL)
		c->list_cb(c->arg, &a, a.good ? c->found.objects : NULL,
		    a.good ? c->found.n : 0);
	else
		c->cb(c->arg, &a);
	aws_call_free(c);
}

/* Whether this try may have taken effect without a clear answer. */
static bool
try_unclear(const struct aws_call *c, const struct http_answer *h)
{
	if (h->status == 0)
		return !h->unsent;
	return c->said.broken ||
	       (h->status >= 500 && c->said.what != AWS_THROTTLE);
}

static void
aws_call_answer_read(
    struct aws_call *c, const struct http_answer *h, bool skewed)
{
	struct aws_raw raw = {
		.service = c->queue->service,
		.method = c->request.method,
		.status = h->status,
		.body = h->body,
		.len = h->len,
		.errortype = http_header(h, "x-amzn-errortype"),
		.bucket_region = http_header(h, "x-amz-bucket-region"),
		.region = aws_client_region(c->aws),
		.skewed = skewed,
	};
	const char *id = http_header(h, "x-amzn-requestid");

	if (id == NULL)
		id = http_header(h, "x-amz-request-id");
	c->request_id = id != NULL ? xstrdup(id) : NULL;
	c->read(&c->said, &raw);
	/* JSON is read already. */
	if (c->said.what == AWS_OK && c->said.doc == NULL &&
	    c->list_cb == NULL) {
		c->body = xmalloc(h->len + 1);
		memcpy(c->body, h->body, h->len);
		c->body[h->len] = '\0';
		c->len = h->len;
	}
}

static void
aws_call_on_answer(void *arg, const struct http_answer *h)
{
	struct aws_call *c = arg;
	int64_t date_s = 0, asked_ms = 0;
	bool dated = false;
	enum aws_retry_when next;

	c->http = NULL;
	c->status = h->status;
	c->fault = h->fault;
	c->sent = c->sent || !h->unsent;
	if (h->status == 0)
		aws_parsed_set(&c->said, AWS_TRANSIENT, "", h->error);
	else {
		dated = aws_retry_date_s(http_header(h, "date"), &date_s);
		asked_ms = aws_retry_after_ms(http_header(h, "retry-after"),
		    http_header(h, "x-amz-retry-after"));
		aws_call_answer_read(
		    c, h, dated && llabs(date_s - c->signed_s) > SKEW_S);
	}
	c->unclear = c->unclear || try_unclear(c, h);
	next = aws_retry_schedule_of(c, dated, date_s);
	if (c->said.what == AWS_OK && c->list_cb != NULL && aws_s3_more(c))
		next = AWS_RETRY_NOW;
	aws_retry_schedule(c, next, h->timeout, asked_ms);
}

/* "Name: value" of both lists, then NULL; the second one's are borrowed. */
static char **
headers_make(const struct aws_request *r, char *const *signed_by)
{
	size_t n = 0, i;
	char **list;

	while (signed_by[n] != NULL)
		n++;
	list = xcalloc(r->n_headers + n + 1, sizeof *list);
	for (i = 0; i < r->n_headers; i++)
		list[i] = xasprintf(
		    "%s: %s", r->headers[i].name, r->headers[i].value);
	memcpy(list + r->n_headers, signed_by, n * sizeof *list);
	return list;
}

static void
headers_free(char **list, size_t n)
{
	while (n > 0)
		free(list[--n]);
	free(list);
}

static void
call_send(struct aws_call *c, const struct buf *url, char **signed_by)
{
	const struct aws_request *r = &c->request;
	char **headers = headers_make(r, signed_by);
	struct http_send send = {
		.method = r->method,
		.url = buf_str(url),
		.headers = (const char *const *)headers,
		.body = r->body,
		.body_len = r->len,
		.timeout_ms = r->timeout_ms,
		.plain = r->plain,
	};

	answer_clear(c);
	c->state = AWS_CALL_FLIGHT;
	c->tried += c->tried < AWS_TRIES * AWS_TRIES;
	c->sent_ms = loop_now_ms(c->aws->loop);
	c->aws->requests++;
	c->http = http_start(c->aws->http, &send, aws_call_on_answer, c);
	headers_free(headers, r->n_headers);
}

static void
call_sign(struct aws_call *c, const struct aws_keys *keys)
{
	const struct aws_request *r = &c->request;
	struct aws_sigv4 sign = {
		.keys = keys,
		.region = aws_client_region(c->aws),
		.service = aws_endpoint_scope(c->queue->service),
		.time_s = aws_now_s(c->aws),
		.method = r->method,
		.host = r->host,
		.path = r->path,
		.path_once = r->s3,
		.query = r->query,
		.n_query = r->n_query,
		.headers = r->headers,
		.n_headers = r->n_headers,
		.body = r->body,
		.body_len = r->len,
		.content_sha256 = r->s3,
	};
	struct buf url = { 0 };
	char **headers = aws_sigv4_headers(&sign);

	c->signed_s = sign.time_s;
	buf_printf(
	    &url, "%s://%s%s", r->plain ? "http" : "https", r->host, r->path);
	if (r->n_query > 0) {
		buf_putc(&url, '?');
		aws_sigv4_put_query(&url, r->query, r->n_query);
	}
	call_send(c, &url, headers);
	aws_sigv4_free(headers);
	buf_free(&url);
}

static bool
same(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

/* Remembered so that no text shows them. */
static void
keys_copy(struct aws *aws, const struct aws_keys *keys)
{
	if (same(aws->keys.id, keys->id) &&
	    same(aws->keys.secret, keys->secret) &&
	    same(aws->keys.token, keys->token))
		return;
	aws_sigv4_keys_fini(&aws->keys);
	aws->keys = (struct aws_keys){
		.id = xstrdup(keys->id),
		.secret = xstrdup(keys->secret),
		.token = keys->token != NULL ? xstrdup(keys->token) : NULL,
	};
	aws->had_keys = true;
}

/* If keys were available before, missing ones are a temporary error. */
static void
call_keyless(struct aws_call *c, const struct err *e)
{
	answer_clear(c);
	aws_parsed_set(&c->said, AWS_CREDENTIALS, "", e->text);
	c->tried += c->tried < AWS_TRIES * AWS_TRIES;
	aws_retry_schedule(c,
	    c->aws->had_keys || c->tries < 0 ? AWS_RETRY_LATER
					     : AWS_RETRY_NEVER,
	    false, 0);
}

static void
aws_call_on_keys(void *arg, const struct aws_keys *keys, const struct err *e)
{
	struct aws_call *c = arg;

	if (keys == NULL) {
		call_keyless(c, e);
		return;
	}
	keys_copy(c->aws, keys);
	free(c->key_id);
	c->key_id = xstrdup(keys->id);
	call_sign(c, keys);
}

void
aws_call_send(struct aws_call *c)
{
	c->state = AWS_CALL_KEYS;
	cred_get(c->aws->cred, aws_call_on_keys, c);
}
