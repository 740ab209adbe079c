/*
 * An EventBridge rule for the jobs of one study, and the SQS queue it fills.  A
 * message is a hint that a job has changed: it may be late, duplicated or
 * lost.  References: EventBridge user guide, "SageMaker Training Job State
 * Change"; SQS API reference.
 */

#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
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
member(const struct json *json, const char *key)
{
	return json != NULL ? json_string(json_get(json, key)) : NULL;
}

/* ---- listening ----------------------------------------------------------- */

static void events_poll(struct sm_watch_eventbridge *);

/* The body of a message is the event itself. */
static void
message_read(struct sm_watch_eventbridge *ev, const char *body)
{
	struct sm_watch *w = ev->watch;
	struct json_doc *doc = NULL;
	struct err e = ERR_INIT;
	const struct json *detail;
	const char *job;

	if (json_parse(&doc, body, strlen(body), NULL, false, &e) != 0)
		return;
	detail = json_get(json_root(doc), "detail");
	job = member(detail, "TrainingJobName");
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
	const struct json *j;
	const char *receipt;
	int n = 0;

	buf_putc(&body, '{');
	sm_watch_put(&body, "QueueUrl", ev->url);
	buf_puts(&body, ",\"Entries\":[");
	for (j = json_first(list); j != NULL; j = json_next(j)) {
		receipt = member(j, "ReceiptHandle");
		if (receipt == NULL)
			continue;
		buf_printf(&body, "%s{\"Id\":\"m%d\"", n > 0 ? "," : "", n);
		sm_watch_put(&body, "ReceiptHandle", receipt);
		buf_putc(&body, '}');
		n++;
	}
	buf_puts(&body, "]}");
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
	list = a->json != NULL ? json_get(a->json, "Messages") : NULL;
	for (j = list != NULL ? json_first(list) : NULL; j != NULL;
	     j = json_next(j))
		if (member(j, "Body") != NULL)
			message_read(ev, member(j, "Body"));
	if (list != NULL)
		messages_delete(ev, list);
	events_poll(ev);
}

static void
events_poll(struct sm_watch_eventbridge *ev)
{
	struct buf body = { 0 };
	struct aws_ask ask = { .service = AWS_SQS,
		.operation = "ReceiveMessage",
		.timeout_ms = 1000 * (WAIT_S + 10) };

	buf_putc(&body, '{');
	sm_watch_put(&body, "QueueUrl", ev->url);
	buf_printf(&body, ",\"MaxNumberOfMessages\":10,\"WaitTimeSeconds\":%d}",
	    WAIT_S);
	ask.body = buf_str(&body);
	ev->poll = aws_json(ev->watch->env.aws, &ask, on_messages, ev);
	buf_free(&body);
}

/* ---- making: queue, its ARN, rule, policy, target ------------------------- */

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

	(void)json; /* an empty answer is a good one */
	buf_putc(&body, '{');
	sm_watch_put(&body, "Rule", ev->watch->env.prefix);
	buf_puts(&body, ",\"Targets\":[{\"Id\":\"queue\"");
	sm_watch_put(&body, "Arn", ev->arn);
	buf_puts(&body, "}]}");
	sm_watch_ask(ev->watch, AWS_EVENTS, "PutTargets", &body,
	    "the target of the rule", &ev->noted, on_target, ev);
	buf_free(&body);
}

/* Only this rule may send to the queue. */
static void
policy_put(struct buf *b, const struct sm_watch_eventbridge *ev)
{
	buf_puts(b, "{\"Version\":\"2012-10-17\",\"Statement\":[{\"Effect\":"
		    "\"Allow\",\"Principal\":{\"Service\":"
		    "\"events.amazonaws.com\"},\"Action\":\"sqs:SendMessage\"");
	sm_watch_put(b, "Resource", ev->arn);
	buf_puts(b, ",\"Condition\":{\"ArnEquals\":{\"aws:SourceArn\":");
	json_put_string(b, ev->rule);
	buf_puts(b, "}}}]}");
}

static void
on_rule(void *arg, const struct json *json)
{
	struct sm_watch_eventbridge *ev = arg;
	struct buf body = { 0 }, policy = { 0 };
	const char *arn = member(json, "RuleArn");

	if (arn == NULL) {
		fail_later(ev);
		return;
	}
	free(ev->rule);
	ev->rule = xstrdup(arn);
	policy_put(&policy, ev);
	buf_putc(&body, '{');
	sm_watch_put(&body, "QueueUrl", ev->url);
	buf_puts(&body, ",\"Attributes\":{");
	sm_watch_put(&body, "Policy", buf_str(&policy));
	buf_puts(&body, "}}");
	sm_watch_ask(ev->watch, AWS_SQS, "SetQueueAttributes", &body,
	    "the policy of the queue", &ev->noted, on_policy, ev);
	buf_free(&policy);
	buf_free(&body);
}

static void
on_arn(void *arg, const struct json *json)
{
	struct sm_watch_eventbridge *ev = arg;
	struct buf body = { 0 }, pattern = { 0 };
	const struct json *attributes =
	    json != NULL ? json_get(json, "Attributes") : NULL;
	const char *arn = member(attributes, "QueueArn");

	if (arn == NULL) {
		fail_later(ev);
		return;
	}
	free(ev->arn);
	ev->arn = xstrdup(arn);
	buf_puts(&pattern,
	    "{\"source\":[\"aws.sagemaker\"],\"detail-type\":[\"SageMaker "
	    "Training Job State Change\"],\"detail\":{\"TrainingJobName\":[{"
	    "\"prefix\":");
	json_put_string(&pattern, ev->watch->env.prefix);
	buf_puts(&pattern, "}]}}");
	buf_putc(&body, '{');
	sm_watch_put(&body, "Name", ev->watch->env.prefix);
	sm_watch_put(&body, "State", "ENABLED");
	sm_watch_put(&body, "EventPattern", buf_str(&pattern));
	buf_putc(&body, '}');
	sm_watch_ask(ev->watch, AWS_EVENTS, "PutRule", &body,
	    "the EventBridge rule", &ev->noted, on_rule, ev);
	buf_free(&pattern);
	buf_free(&body);
}

static void
on_queue(void *arg, const struct json *json)
{
	struct sm_watch_eventbridge *ev = arg;
	struct buf body = { 0 };
	const char *url = member(json, "QueueUrl");

	if (url == NULL) {
		fail_later(ev);
		return;
	}
	free(ev->url);
	ev->url = xstrdup(url);
	buf_putc(&body, '{');
	sm_watch_put(&body, "QueueUrl", url);
	buf_puts(&body, ",\"AttributeNames\":[\"QueueArn\"]}");
	sm_watch_ask(ev->watch, AWS_SQS, "GetQueueAttributes", &body,
	    "the queue", &ev->noted, on_arn, ev);
	buf_free(&body);
}

static void
events_begin(void *arg)
{
	struct sm_watch_eventbridge *ev = arg;
	struct buf body = { 0 };

	buf_putc(&body, '{');
	sm_watch_put(&body, "QueueName", ev->watch->env.prefix);
	buf_puts(&body, ",\"Attributes\":{\"ReceiveMessageWaitTimeSeconds\":"
			"\"20\",\"MessageRetentionPeriod\":\"86400\"}}");
	sm_watch_ask(ev->watch, AWS_SQS, "CreateQueue", &body, "the queue",
	    &ev->noted, on_queue, ev);
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

/* ---- taking away ------------------------------------------------------------ */

/* Remove target, rule and queue in turn; missing ones are ignored. */

static void
on_taken(void *arg, const struct json *json)
{
	struct sm_watch_removal *k = arg;

	(void)json;
	k->done(k->arg);
}

static void
on_found(void *arg, const struct json *json)
{
	struct sm_watch_removal *k = arg;
	const char *url = member(json, "QueueUrl");
	struct buf body = { 0 };

	if (url == NULL) {
		on_taken(k, NULL);
		return;
	}
	buf_putc(&body, '{');
	sm_watch_put(&body, "QueueUrl", url);
	buf_putc(&body, '}');
	sm_watch_ask(k->watch, AWS_SQS, "DeleteQueue", &body, "", &k->quiet,
	    on_taken, k);
	buf_free(&body);
}

static void
on_rule_gone(void *arg, const struct json *json)
{
	struct sm_watch_removal *k = arg;
	struct buf body = { 0 };

	(void)json;
	buf_putc(&body, '{');
	sm_watch_put(&body, "QueueName", k->watch->env.prefix);
	buf_putc(&body, '}');
	sm_watch_ask(k->watch, AWS_SQS, "GetQueueUrl", &body, "", &k->quiet,
	    on_found, k);
	buf_free(&body);
}

static void
on_target_gone(void *arg, const struct json *json)
{
	struct sm_watch_removal *k = arg;
	struct buf body = { 0 };

	(void)json;
	buf_putc(&body, '{');
	sm_watch_put(&body, "Name", k->watch->env.prefix);
	buf_putc(&body, '}');
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

	*k = (struct sm_watch_removal){
		.watch = w, .quiet = true, .done = done, .arg = arg
	};
	buf_putc(&body, '{');
	sm_watch_put(&body, "Rule", w->env.prefix);
	buf_puts(&body, ",\"Ids\":[\"queue\"]}");
	sm_watch_ask(w, AWS_EVENTS, "RemoveTargets", &body, "", &k->quiet,
	    on_target_gone, k);
	buf_free(&body);
}
