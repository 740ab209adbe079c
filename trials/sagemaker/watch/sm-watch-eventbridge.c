/*
 * An EventBridge rule for the jobs of one study, and the SQS queue it fills.  A
 * message is a hint that a job has changed: it may be late, duplicated or
 * lost.  References: EventBridge user guide, "SageMaker Training Job State
 * Change"; SQS API reference.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json-writer.h"
#include "src/base/json/json.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "trials/sagemaker/watch/sm-watch-internal.h"
#include "trials/sagemaker/options/sm-settings.h"

enum {
	AGAIN_MS = 300000, /* after a failure that outlived all tries */
	WAIT_S = 20 /* long poll: the maximum */
};

struct sm_watch_eventbridge {
	struct sm_watch *watch;
	char *url, *arn, *rule; /* of queue, queue and rule */
	struct loop_timer *again;
	struct aws_call *poll;
	bool noted;
};

static void
fail_later(struct sm_watch_eventbridge *ev)
{
	loop_timer_set(
	    ev->again, (int64_t)(AGAIN_MS / ev->watch->env.settings->pace));
}

static const char *
eventbridge_member(const struct json *json, const char *key)
{
	return json != NULL ? json_string(json_get(json, key)) : NULL;
}

static void events_poll(struct sm_watch_eventbridge *);

/* The body of a message is the event itself. */
static void
eventbridge_message_read(struct sm_watch_eventbridge *ev, const char *body)
{
	struct sm_watch *w = ev->watch;
	struct json_doc *doc = NULL;
	struct err e = ERR_INIT;
	const struct json *detail;
	const char *job;

	if (json_parse(&doc, body, strlen(body), NULL, false, &e) != 0)
		return;
	detail = json_get(json_root(doc), "detail");
	job = eventbridge_member(detail, "TrainingJobName");
	if (job != NULL &&
	    strncmp(job, w->env.prefix, strlen(w->env.prefix)) == 0)
		w->env.changed(w->env.arg, job);
	json_free(doc);
}

/* What was read is taken off the queue, foreign messages too. */
static void
messages_delete(struct sm_watch_eventbridge *ev, const struct json *list)
{
	struct buf body = { 0 };
	struct json_writer o = { .out = &body };
	const struct json *j;
	const char *receipt;
	char id[16];
	int n = 0;

	json_writer_object(&o, NULL);
	json_writer_text(&o, "QueueUrl", ev->url);
	json_writer_array(&o, "Entries");
	for (j = json_first(list); j != NULL; j = json_next(j)) {
		receipt = eventbridge_member(j, "ReceiptHandle");
		if (receipt == NULL)
			continue;
		(void)snprintf(id, sizeof id, "m%d", n++);
		json_writer_object(&o, NULL);
		json_writer_text(&o, "Id", id);
		json_writer_text(&o, "ReceiptHandle", receipt);
		json_writer_end(&o);
	}
	json_writer_end(&o);
	json_writer_end(&o);
	if (n > 0)
		sm_watch_ask(ev->watch, AWS_SQS, "DeleteMessageBatch", &body,
		    "messages of the queue", &ev->noted, NULL, NULL);
	buf_free(&body);
}

static void
on_messages(void *arg, const struct aws_answer *a)
{
	struct sm_watch_eventbridge *ev = arg;
	const struct json *list, *j;

	ev->poll = NULL;
	if (!a->good) {
		/* The queue may be gone: set up everything again. */
		fail_later(ev);
		return;
	}
	/* An empty answer has no such key. */
	list = json_get(a->json, "Messages");
	for (j = json_first(list); j != NULL; j = json_next(j))
		if (eventbridge_member(j, "Body") != NULL)
			eventbridge_message_read(
			    ev, eventbridge_member(j, "Body"));
	if (list != NULL)
		messages_delete(ev, list);
	events_poll(ev);
}

static void
events_poll(struct sm_watch_eventbridge *ev)
{
	struct buf body = { 0 };
	struct json_writer o = { .out = &body };
	struct aws_ask ask = { .service = AWS_SQS,
		.operation = "ReceiveMessage",
		.timeout_ms = 1000 * (WAIT_S + 10) };

	json_writer_object(&o, NULL);
	json_writer_text(&o, "QueueUrl", ev->url);
	json_writer_integer(&o, "MaxNumberOfMessages", 10);
	json_writer_integer(&o, "WaitTimeSeconds", WAIT_S);
	json_writer_end(&o);
	ask.body = buf_str(&body);
	ev->poll = aws_json(ev->watch->env.aws, &ask, on_messages, ev);
	buf_free(&body);
}

static void
on_target(void *arg, const struct json *json)
{
	struct sm_watch_eventbridge *ev = arg;
	int64_t failed = 0;

	if (json != NULL)
		(void)json_integer(json_get(json, "FailedEntryCount"), &failed);
	if (json == NULL || failed > 0) {
		fail_later(ev);
		return;
	}
	events_poll(ev);
}

static void
on_policy(void *arg, const struct json *json)
{
	struct sm_watch_eventbridge *ev = arg;
	struct buf body = { 0 };
	struct json_writer o = { .out = &body };

	(void)json; /* an empty answer is a good one */
	json_writer_object(&o, NULL);
	json_writer_text(&o, "Rule", ev->watch->env.prefix);
	json_writer_array(&o, "Targets");
	json_writer_object(&o, NULL);
	json_writer_text(&o, "Id", "queue");
	json_writer_text(&o, "Arn", ev->arn);
	json_writer_end(&o);
	json_writer_end(&o);
	json_writer_end(&o);
	sm_watch_ask(ev->watch, AWS_EVENTS, "PutTargets", &body,
	    "the target of the rule", &ev->noted, on_target, ev);
	buf_free(&body);
}

/* Only this rule may send to the queue. */
static void
policy_put(struct buf *b, const struct sm_watch_eventbridge *ev)
{
	struct json_writer o = { .out = b };

	json_writer_object(&o, NULL);
	json_writer_text(&o, "Version", "2012-10-17");
	json_writer_array(&o, "Statement");
	json_writer_object(&o, NULL);
	json_writer_text(&o, "Effect", "Allow");
	json_writer_object(&o, "Principal");
	json_writer_text(&o, "Service", "events.amazonaws.com");
	json_writer_end(&o);
	json_writer_text(&o, "Action", "sqs:SendMessage");
	json_writer_text(&o, "Resource", ev->arn);
	json_writer_object(&o, "Condition");
	json_writer_object(&o, "ArnEquals");
	json_writer_text(&o, "aws:SourceArn", ev->rule);
	while (o.depth > 0)
		json_writer_end(&o);
}

static void
on_rule(void *arg, const struct json *json)
{
	struct sm_watch_eventbridge *ev = arg;
	struct buf body = { 0 }, policy = { 0 };
	struct json_writer o = { .out = &body };
	const char *arn = eventbridge_member(json, "RuleArn");

	if (arn == NULL) {
		fail_later(ev);
		return;
	}
	free(ev->rule);
	ev->rule = xstrdup(arn);
	policy_put(&policy, ev);
	json_writer_object(&o, NULL);
	json_writer_text(&o, "QueueUrl", ev->url);
	json_writer_object(&o, "Attributes");
	json_writer_text(&o, "Policy", buf_str(&policy));
	json_writer_end(&o);
	json_writer_end(&o);
	sm_watch_ask(ev->watch, AWS_SQS, "SetQueueAttributes", &body,
	    "the policy of the queue", &ev->noted, on_policy, ev);
	buf_free(&policy);
	buf_free(&body);
}

/* Changes of state of the study's jobs. */
static void
eventbridge_pattern_put(struct buf *b, const struct sm_watch_eventbridge *ev)
{
	struct json_writer o = { .out = b };

	json_writer_object(&o, NULL);
	json_writer_array(&o, "source");
	json_writer_text(&o, NULL, "aws.sagemaker");
	json_writer_end(&o);
	json_writer_array(&o, "detail-type");
	json_writer_text(&o, NULL, "SageMaker Training Job State Change");
	json_writer_end(&o);
	json_writer_object(&o, "detail");
	json_writer_array(&o, "TrainingJobName");
	json_writer_object(&o, NULL);
	json_writer_text(&o, "prefix", ev->watch->env.prefix);
	while (o.depth > 0)
		json_writer_end(&o);
}

static void
on_arn(void *arg, const struct json *json)
{
	struct sm_watch_eventbridge *ev = arg;
	struct buf body = { 0 }, pattern = { 0 };
	struct json_writer o = { .out = &body };
	const struct json *attributes = json_get(json, "Attributes");
	const char *arn = eventbridge_member(attributes, "QueueArn");

	if (arn == NULL) {
		fail_later(ev);
		return;
	}
	free(ev->arn);
	ev->arn = xstrdup(arn);
	eventbridge_pattern_put(&pattern, ev);
	json_writer_object(&o, NULL);
	json_writer_text(&o, "Name", ev->watch->env.prefix);
	json_writer_text(&o, "State", "ENABLED");
	json_writer_text(&o, "EventPattern", buf_str(&pattern));
	json_writer_end(&o);
	sm_watch_ask(ev->watch, AWS_EVENTS, "PutRule", &body,
	    "the EventBridge rule", &ev->noted, on_rule, ev);
	buf_free(&pattern);
	buf_free(&body);
}

static void
eventbridge_on_queue(void *arg, const struct json *json)
{
	struct sm_watch_eventbridge *ev = arg;
	struct buf body = { 0 };
	struct json_writer o = { .out = &body };
	const char *url = eventbridge_member(json, "QueueUrl");

	if (url == NULL) {
		fail_later(ev);
		return;
	}
	free(ev->url);
	ev->url = xstrdup(url);
	json_writer_object(&o, NULL);
	json_writer_text(&o, "QueueUrl", url);
	json_writer_array(&o, "AttributeNames");
	json_writer_text(&o, NULL, "QueueArn");
	json_writer_end(&o);
	json_writer_end(&o);
	sm_watch_ask(ev->watch, AWS_SQS, "GetQueueAttributes", &body,
	    "the queue", &ev->noted, on_arn, ev);
	buf_free(&body);
}

static void
events_begin(void *arg)
{
	struct sm_watch_eventbridge *ev = arg;
	struct buf body = { 0 };
	struct json_writer o = { .out = &body };

	json_writer_object(&o, NULL);
	json_writer_text(&o, "QueueName", ev->watch->env.prefix);
	json_writer_object(&o, "Attributes");
	json_writer_text(&o, "ReceiveMessageWaitTimeSeconds", "20");
	json_writer_text(&o, "MessageRetentionPeriod", "86400");
	json_writer_end(&o);
	json_writer_end(&o);
	sm_watch_ask(ev->watch, AWS_SQS, "CreateQueue", &body, "the queue",
	    &ev->noted, eventbridge_on_queue, ev);
	buf_free(&body);
}

struct sm_watch_eventbridge *
sm_watch_eventbridge_new(struct sm_watch *w)
{
	struct sm_watch_eventbridge *ev = xcalloc(1, sizeof *ev);

	ev->watch = w;
	ev->again = loop_timer_new(w->env.loop, events_begin, ev);
	events_begin(ev);
	return ev;
}

void
sm_watch_eventbridge_free(struct sm_watch_eventbridge *ev)
{
	if (ev == NULL)
		return;
	if (ev->poll != NULL)
		aws_call_cancel(ev->poll);
	loop_timer_free(ev->again);
	free(ev->url);
	free(ev->arn);
	free(ev->rule);
	free(ev);
}

/* Remove target, rule and queue in turn; missing ones are ignored. */

static void
on_taken(void *arg, const struct json *json)
{
	struct sm_watch_removal *k = arg;

	(void)json;
	k->done(k->arg);
}

static void
eventbridge_on_found(void *arg, const struct json *json)
{
	struct sm_watch_removal *k = arg;
	const char *url = eventbridge_member(json, "QueueUrl");
	struct buf body = { 0 };
	struct json_writer o = { .out = &body };

	if (url == NULL) {
		on_taken(k, NULL);
		return;
	}
	json_writer_object(&o, NULL);
	json_writer_text(&o, "QueueUrl", url);
	json_writer_end(&o);
	sm_watch_ask(k->watch, AWS_SQS, "DeleteQueue", &body, "", &k->quiet,
	    on_taken, k);
	buf_free(&body);
}

static void
on_rule_gone(void *arg, const struct json *json)
{
	struct sm_watch_removal *k = arg;
	struct buf body = { 0 };
	struct json_writer o = { .out = &body };

	(void)json;
	json_writer_object(&o, NULL);
	json_writer_text(&o, "QueueName", k->watch->env.prefix);
	json_writer_end(&o);
	sm_watch_ask(k->watch, AWS_SQS, "GetQueueUrl", &body, "", &k->quiet,
	    eventbridge_on_found, k);
	buf_free(&body);
}

static void
on_target_gone(void *arg, const struct json *json)
{
	struct sm_watch_removal *k = arg;
	struct buf body = { 0 };
	struct json_writer o = { .out = &body };

	(void)json;
	json_writer_object(&o, NULL);
	json_writer_text(&o, "Name", k->watch->env.prefix);
	json_writer_end(&o);
	sm_watch_ask(k->watch, AWS_EVENTS, "DeleteRule", &body, "", &k->quiet,
	    on_rule_gone, k);
	buf_free(&body);
}

void
sm_watch_eventbridge_remove(
    struct sm_watch *w, void (*done)(void *arg), void *arg)
{
	struct sm_watch_removal *k = &w->events_removal;
	struct buf body = { 0 };
	struct json_writer o = { .out = &body };

	*k = (struct sm_watch_removal){
		.watch = w, .quiet = true, .done = done, .arg = arg
	};
	json_writer_object(&o, NULL);
	json_writer_text(&o, "Rule", w->env.prefix);
	json_writer_array(&o, "Ids");
	json_writer_text(&o, NULL, "queue");
	json_writer_end(&o);
	json_writer_end(&o);
	sm_watch_ask(w, AWS_EVENTS, "RemoveTargets", &body, "", &k->quiet,
	    on_target_gone, k);
	buf_free(&body);
}
