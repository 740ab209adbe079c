/* The queue of an operation: its calls, sent at the rate of that operation. */

#include <stdlib.h>
#include <string.h>

#include "src/base/loop.h"
#include "src/base/mem.h"
#include "trials/aws/aws-call.h"
#include "trials/aws/aws-internal.h"
#include "trials/aws/aws-queue.h"

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

void
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
aws_queue_on_timer(void *arg)
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
	q->timer = loop_timer_new(aws->loop, aws_queue_on_timer, q);
	TAILQ_INSERT_TAIL(&aws->queues, q, next);
	return q;
}

void
aws_queue_free(struct aws_queue *q)
{
	loop_timer_free(q->timer);
	free(q->operation);
	free(q);
}
