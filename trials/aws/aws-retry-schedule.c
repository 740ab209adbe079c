/*
 * Whether and when a call is retried: by token bucket and budget of its
 * operation, clock, credentials.
 */

#include <stdlib.h>

#include "src/base/loop.h"
#include "trials/aws/aws-call.h"
#include "trials/aws/aws-internal.h"
#include "trials/aws/aws-queue.h"
#include "trials/aws/aws-retry-schedule.h"

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

void
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

enum aws_retry_when
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
