/*
 * The client: one queue per operation, so that no operation waits for another,
 * calls, and delivery of results.  Whether and when a call is retried is decided
 * here: by token bucket and budget of its operation, clock, credentials.
 */

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/http/http.h"
#include "src/base/json/json.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "trials/aws/aws-internal.h"

/*
 * Requests per second at pace 1: at most half of AWS's published limits, to
 * leave room for other users of the account. operation NULL = default.
 */
static const struct {
	enum aws_service service;
	const char *operation;
	double rate;
} rates[] = {
	{ AWS_SAGEMAKER, "CreateTrainingJob", 1 },
	{ AWS_SAGEMAKER, "DescribeTrainingJob", 2 },
	{ AWS_SAGEMAKER, "DescribeHyperParameterTuningJob", 1 },
	{ AWS_SAGEMAKER, "ListTrainingJobs", 1 },
	{ AWS_SAGEMAKER, "ListTrainingJobsForHyperParameterTuningJob", 1 },
	{ AWS_SAGEMAKER, "StopTrainingJob", 2 },
	{ AWS_LOGS, "DescribeLogStreams", 2 },
	{ AWS_LOGS, "FilterLogEvents", 2 },
	{ AWS_LOGS, "GetLogEvents", 5 },
	{ AWS_CLOUDWATCH, "DeleteAlarms", 1 },
	{ AWS_CLOUDWATCH, "GetMetricData", 5 },
	{ AWS_CLOUDWATCH, "PutMetricAlarm", 1 },
	{ AWS_EVENTS, "PutEvents", 1 },
	{ AWS_S3, NULL, 20 },
	{ AWS_SNS, NULL, 1 },
};

enum { RATE_ELSE = 5 };

static double
rate_of(enum aws_service service, const char *operation)
{
	size_t i;

	for (i = 0; i < sizeof rates / sizeof rates[0]; i++)
		if (rates[i].service == service &&
		    (rates[i].operation == NULL ||
			strcmp(rates[i].operation, operation) == 0))
			return rates[i].rate;
	return RATE_ELSE;
}

/* ---- lines of calls and notes ------------------------------------------- */

/* Sorted by age: a retried call comes before newer ones. */
static void
aws_queue_put(struct aws_queue *q, struct aws_call *c)
{
	struct aws_call *at;

	c->state = AWS_CALL_QUEUED;
	TAILQ_FOREACH_REVERSE(at, &q->line, aws_calls, line)
	if (at->order < c->order)
		break;
	if (at != NULL)
		TAILQ_INSERT_AFTER(&q->line, at, c, line);
	else
		TAILQ_INSERT_HEAD(&q->line, c, line);
	loop_timer_set(q->timer, 0);
}

static void
aws_deliver_put(struct aws_call *c)
{
	c->state = AWS_CALL_DONE;
	TAILQ_INSERT_TAIL(&c->aws->done, c, line);
	loop_timer_set(c->aws->tell, 0);
}

static void __attribute__((format(printf, 3, 4)))
aws_note_put(struct aws *aws, bool warn, const char *fmt, ...)
{
	struct aws_note *n = xcalloc(1, sizeof *n);
	char *text;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) == -1)
		abort();
	va_end(ap);
	*n = (struct aws_note){ .warn = warn, .text = text };
	STAILQ_INSERT_TAIL(&aws->notes, n, next);
	loop_timer_set(aws->tell, 0);
}

/* ---- one call: keys, signature, request, answer, retry ------------------ */

enum aws_retry_when { AWS_RETRY_NEVER, AWS_RETRY_NOW, AWS_RETRY_LATER };

static void aws_call_end(struct aws_call *);

enum { SKEW_TOLD_S = 60 };

/*
 * Delay before the next try; false: no further try (limit reached, or the
 * budget is empty).
 */
static bool
call_wait(struct aws_call *c, bool timeout, int64_t asked_ms, int64_t *wait_ms)
{
	int cost = timeout ? AWS_COST_TIMEOUT : AWS_COST_RETRY;
	double u = rng_uniform(&c->aws->rng);

	if (c->tries > 0 && c->tried >= c->tries)
		return false;
	if (aws_retry_budget_take(
		&c->queue->budget, cost, loop_now_ms(c->aws->loop)))
		c->cost = cost;
	else if (c->tries > 0)
		return false;
	else
		u = 1;
	*wait_ms = (int64_t)((double)aws_retry_backoff_ms(c->tried, u, 0) /
			     c->aws->pace);
	if (*wait_ms < asked_ms)
		*wait_ms = asked_ms;
	return true;
}

/*
 * Schedule it: asked_ms is the minimum delay; a retry after a timeout costs
 * more.
 */
static void
aws_retry_schedule(struct aws_call *c, enum aws_retry_when next, bool timeout,
    int64_t asked_ms)
{
	int64_t wait_ms = 0;

	if (next == AWS_RETRY_LATER &&
	    !call_wait(c, timeout, asked_ms, &wait_ms))
		next = AWS_RETRY_NEVER;
	if (next == AWS_RETRY_NEVER) {
		aws_call_end(c);
		return;
	}
	c->due_ms = loop_now_ms(c->aws->loop) + wait_ms;
	aws_queue_put(c->queue, c);
}

static void
clock_tell(struct aws *aws)
{
	int64_t off_s = aws->offset_s;

	if (llabs(off_s - aws->noted_offset_s) <= SKEW_TOLD_S)
		return;
	aws->noted_offset_s = off_s;
	if (llabs(off_s) > SKEW_TOLD_S)
		aws_note_put(aws, true,
		    "the clock of this machine is %lld s %s that of AWS; "
		    "requests are dated by theirs",
		    llabs(off_s), off_s > 0 ? "behind" : "ahead of");
}

/* Requests with a wrong date are rejected: adopt AWS's clock and retry once. */
static enum aws_retry_when
next_clock(struct aws_call *c, bool dated, int64_t date_s)
{
	struct aws *aws = c->aws;
	int64_t off_s;

	if (dated) {
		off_s = date_s - loop_wall_us(aws->loop) / 1000000;
		aws->offset_s = off_s;
		cred_set_offset(aws->cred, off_s);
		clock_tell(aws);
	}
	if (!dated || c->clocked)
		return AWS_RETRY_LATER;
	c->clocked = true;
	return AWS_RETRY_NOW;
}

/* The keys may have expired or been rotated: get new ones, once. */
static enum aws_retry_when
next_keys(struct aws_call *c)
{
	struct aws *aws = c->aws;
	char *text;

	cred_invalidate(aws->cred, c->key_id);
	if (!c->renewed) {
		c->renewed = true;
		return AWS_RETRY_NOW;
	}
	if (!aws->refused) {
		aws->refused = true;
		text = aws_message(
		    &aws->keys, c->queue, &c->said, c->status, c->request_id);
		aws_note_put(aws, true, "AWS rejected the access keys (%s): %s",
		    cred_source_name(aws->cred), text);
		free(text);
	}
	return c->tries < 0 ? AWS_RETRY_LATER : AWS_RETRY_NEVER;
}

/* When to retry, from the last answer and its date. */
static enum aws_retry_when
aws_retry_schedule_of(struct aws_call *c, bool dated, int64_t date_s)
{
	struct aws_queue *q = c->queue;
	int64_t now_ms = loop_now_ms(c->aws->loop);

	switch (c->said.what) {
	case AWS_THROTTLE:
		aws_retry_bucket_throttled(&q->bucket, c->sent_ms, now_ms);
		return AWS_RETRY_LATER;
	case AWS_TRANSIENT:
		return AWS_RETRY_LATER;
	case AWS_CLOCK:
		return next_clock(c, dated, date_s);
	case AWS_CREDENTIALS:
		return next_keys(c);
	case AWS_OK:
		aws_retry_budget_good(&q->budget, c->cost);
		c->aws->refused = false;
		break;
	case AWS_QUOTA:
	case AWS_EXISTS:
	case AWS_MISSING:
	case AWS_CALLER:
	case AWS_CLASSES:
		break;
	}
	aws_retry_bucket_good(&q->bucket, now_ms);
	return AWS_RETRY_NEVER;
}

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

/* Remove it from any list. */
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

static void
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

static void
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
answer_read(struct aws_call *c, const struct http_answer *h, bool skewed)
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
on_answer(void *arg, const struct http_answer *h)
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
		answer_read(
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
	c->http = http_start(c->aws->http, &send, on_answer, c);
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
on_keys(void *arg, const struct aws_keys *keys, const struct err *e)
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

/* Send it: its queue has a token. */
static void
aws_call_send(struct aws_call *c)
{
	c->state = AWS_CALL_KEYS;
	cred_get(c->aws->cred, on_keys, c);
}

/* ---- the queue of an operation ------------------------------------------ */

static struct aws_call *
queue_first(const struct aws_queue *q, int64_t now_ms, int64_t *wait_ms)
{
	struct aws_call *c;
	int64_t wait;

	*wait_ms = -1;
	TAILQ_FOREACH(c, &q->line, line)
	{
		wait = c->due_ms - now_ms;
		if (wait <= 0)
			return c;
		if (*wait_ms < 0 || wait < *wait_ms)
			*wait_ms = wait;
	}
	return NULL;
}

/* Send due calls, as many as there are tokens. */
static void
on_queue(void *arg)
{
	struct aws_queue *q = arg;
	int64_t now_ms = loop_now_ms(q->aws->loop), wait_ms;
	struct aws_call *c;

	while ((c = queue_first(q, now_ms, &wait_ms)) != NULL) {
		wait_ms = aws_retry_bucket_take(&q->bucket, now_ms);
		if (wait_ms > 0)
			break;
		TAILQ_REMOVE(&q->line, c, line);
		aws_call_send(c);
	}
	if (wait_ms >= 0 && !TAILQ_EMPTY(&q->line))
		loop_timer_set(q->timer, wait_ms);
}

struct aws_queue *
aws_queue_of(struct aws *aws, enum aws_service service, const char *operation)
{
	struct aws_queue *q;

	TAILQ_FOREACH(q, &aws->queues, next)
	if (q->service == service && strcmp(q->operation, operation) == 0)
		return q;
	q = xcalloc(1, sizeof *q);
	q->aws = aws;
	q->service = service;
	q->operation = xstrdup(operation);
	aws_retry_bucket_init(&q->bucket,
	    rate_of(service, operation) * aws->pace, loop_now_ms(aws->loop));
	aws_retry_budget_init(&q->budget, loop_now_ms(aws->loop));
	TAILQ_INIT(&q->line);
	q->timer = loop_timer_new(aws->loop, on_queue, q);
	TAILQ_INSERT_TAIL(&aws->queues, q, next);
	return q;
}

static void
queue_free(struct aws_queue *q)
{
	loop_timer_free(q->timer);
	free(q->operation);
	free(q);
}

/* ---- the client --------------------------------------------------------- */

int
aws_client_endpoint(struct aws *aws, enum aws_service service,
    const struct aws_endpoint **out, struct err *e)
{
	struct aws_endpoint *p = &aws->endpoints[service];

	if (p->url == NULL &&
	    aws_endpoint_resolve(aws->config, service, p, e) != 0)
		return -1;
	*out = p;
	return 0;
}

static void
note_free(struct aws_note *n)
{
	free(n->text);
	free(n);
}

/*
 * One callback per iteration; the client is not used after it, because the
 * callback may close it.
 */
static void
on_tell(void *arg)
{
	struct aws *aws = arg;
	struct aws_note *n = STAILQ_FIRST(&aws->notes);
	struct aws_call *c = TAILQ_FIRST(&aws->done);

	if (n != NULL)
		STAILQ_REMOVE_HEAD(&aws->notes, next);
	else if (c != NULL) {
		TAILQ_REMOVE(&aws->done, c, line);
		TAILQ_REMOVE(&aws->calls, c, all);
	}
	if (!STAILQ_EMPTY(&aws->notes) || !TAILQ_EMPTY(&aws->done))
		loop_timer_set(aws->tell, 0);
	if (n != NULL) {
		if (aws->note != NULL)
			aws->note(aws->note_arg, n->warn, n->text);
		note_free(n);
	} else if (c != NULL)
		aws_call_deliver(c);
}

static int
aws_set_up(struct aws *aws, const struct aws_env *env, struct err *e)
{
	const char *ca;

	if (aws_config_open(
		&aws->config, env->env, env->profile, env->region, e) != 0)
		return -1;
	if (cred_region_ask(aws->config, e) != 0)
		return -1;
	ca = aws_config_ca_bundle(aws->config);
	if (http_open(&aws->http, aws->loop, ca, e) != 0)
		return -1;
	aws->cred = cred_new(aws->loop, aws->http, aws->config);
	return 0;
}

/* Other programs may use the other variable. */
static void
region_tell(struct aws *aws)
{
	const char *other = aws_config_region_other(aws->config);

	if (other != NULL)
		aws_note_put(aws, true,
		    "AWS_REGION is %s and AWS_DEFAULT_REGION %s: the first "
		    "counts",
		    aws_client_region(aws), other);
}

int
aws_open(struct aws **out, const struct aws_env *env, struct err *e)
{
	struct aws *aws = xcalloc(1, sizeof *aws);
	uint64_t seed;

	aws->loop = env->loop;
	aws->pace = env->pace > 0 ? fmin(fmax(env->pace, 1e-3), 1e6) : 1;
	aws->note = env->note;
	aws->note_arg = env->note_arg;
	TAILQ_INIT(&aws->queues);
	TAILQ_INIT(&aws->calls);
	TAILQ_INIT(&aws->done);
	STAILQ_INIT(&aws->notes);
	aws->tell = loop_timer_new(aws->loop, on_tell, aws);
	rng_system(&seed, sizeof seed);
	rng_init(&aws->rng, seed, 0);
	if (aws_set_up(aws, env, e) != 0) {
		aws_close(aws);
		return -1;
	}
	if (env->region == NULL)
		region_tell(aws);
	*out = aws;
	return 0;
}

void
aws_close(struct aws *aws)
{
	struct aws_queue *q;
	struct aws_note *n;
	struct aws_call *c;
	int i;

	if (aws == NULL)
		return;
	while ((c = TAILQ_FIRST(&aws->calls)) != NULL)
		aws_call_cancel(c);
	while ((q = TAILQ_FIRST(&aws->queues)) != NULL) {
		TAILQ_REMOVE(&aws->queues, q, next);
		queue_free(q);
	}
	while ((n = STAILQ_FIRST(&aws->notes)) != NULL) {
		STAILQ_REMOVE_HEAD(&aws->notes, next);
		note_free(n);
	}
	if (aws->cred != NULL)
		cred_free(aws->cred);
	if (aws->http != NULL)
		http_close(aws->http);
	for (i = 0; i < AWS_SERVICES; i++)
		if (aws->endpoints[i].url != NULL)
			aws_endpoint_fini(&aws->endpoints[i]);
	if (aws->config != NULL)
		aws_config_free(aws->config);
	loop_timer_free(aws->tell);
	aws_sigv4_keys_fini(&aws->keys);
	free(aws);
}

const char *
aws_client_region(const struct aws *aws)
{
	return aws_config_region(aws->config);
}

const char *
aws_client_region_other(const struct aws *aws)
{
	return aws_config_region_other(aws->config);
}

const char *
aws_source(const struct aws *aws)
{
	return cred_source_name(aws->cred);
}

int64_t
aws_now_s(const struct aws *aws)
{
	return loop_wall_us(aws->loop) / 1000000 + aws->offset_s;
}
