/*
 * Whether a call is tried again, and when: the bucket and the budget of its
 * operation, the clock and the keys.  Sends nothing.
 */

#include <stdlib.h>

#include "src/base/loop.h"
#include "trials/aws/aws-internal.h"

enum { SKEW_TOLD_S = 60 };

/* When a try of now may be followed by another; false when by none. */
static bool
call_wait(struct aws_call *c, bool timeout, int64_t asked_ms, int64_t *wait_ms)
{
	int cost = timeout ? AWS_COST_TIMEOUT : AWS_COST_RETRY;
	double u = rng_uniform(&c->aws->rng);

	if (c->tries > 0 && c->tried >= c->tries)
		return false;
	if (aws_budget_take(&c->queue->budget, cost, loop_now_ms(c->aws->loop)))
		c->cost = cost;
	else if (c->tries > 0)
		return false;
	else
		u = 1;
	*wait_ms =
	    (int64_t)((double)aws_backoff_ms(c->tried, u, 0) / c->aws->pace);
	if (*wait_ms < asked_ms)
		*wait_ms = asked_ms;
	return true;
}

void
aws_call_next(
    struct aws_call *c, enum aws_next next, bool timeout, int64_t asked_ms)
{
	int64_t wait_ms = 0;

	if (next == NEXT_LATER && !call_wait(c, timeout, asked_ms, &wait_ms))
		next = NEXT_END;
	if (next == NEXT_END) {
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

	if (llabs(off_s - aws->told_offset_s) <= SKEW_TOLD_S)
		return;
	aws->told_offset_s = off_s;
	if (llabs(off_s) > SKEW_TOLD_S)
		aws_note_put(aws, true,
		    "the clock of this machine is %lld s %s that of AWS; "
		    "requests are dated by theirs",
		    llabs(off_s), off_s > 0 ? "behind" : "ahead of");
}

/* Their clock counts: they refuse what is dated otherwise. */
static enum aws_next
next_clock(struct aws_call *c, bool dated, int64_t date_s)
{
	struct aws *aws = c->aws;
	int64_t off_s;

	if (dated) {
		off_s = date_s - loop_wall_us(aws->loop) / 1000000;
		aws->offset_s = off_s;
		aws_cred_set_offset(aws->cred, off_s);
		clock_tell(aws);
	}
	if (!dated || c->clocked)
		return NEXT_LATER;
	c->clocked = true;
	return NEXT_NOW;
}

/* They may have expired, or have been exchanged: get them anew, once. */
static enum aws_next
next_keys(struct aws_call *c)
{
	struct aws *aws = c->aws;
	char *text;

	aws_cred_spoil(aws->cred, c->key_id);
	if (!c->renewed) {
		c->renewed = true;
		return NEXT_NOW;
	}
	if (!aws->refused) {
		aws->refused = true;
		text = aws_text(
		    &aws->keys, c->queue, &c->said, c->status, c->request_id);
		aws_note_put(aws, true, "the keys of AWS (%s) are refused: %s",
		    aws_cred_source(aws->cred), text);
		free(text);
	}
	return c->tries < 0 ? NEXT_LATER : NEXT_END;
}

enum aws_next
aws_next_of(struct aws_call *c, bool dated, int64_t date_s)
{
	struct aws_queue *q = c->queue;
	int64_t now_ms = loop_now_ms(c->aws->loop);

	switch (c->said.what) {
	case AWS_THROTTLE:
		aws_bucket_throttled(&q->bucket, c->sent_ms, now_ms);
		return NEXT_LATER;
	case AWS_TRANSIENT:
		return NEXT_LATER;
	case AWS_CLOCK:
		return next_clock(c, dated, date_s);
	case AWS_CREDENTIALS:
		return next_keys(c);
	case AWS_OK:
		aws_budget_good(&q->budget, c->cost);
		c->aws->refused = false;
		break;
	case AWS_QUOTA:
	case AWS_EXISTS:
	case AWS_MISSING:
	case AWS_CALLER:
	case AWS_CLASSES:
		break;
	}
	aws_bucket_good(&q->bucket, now_ms);
	return NEXT_END;
}
