/* Whether and when a call is retried; private. */

#ifndef HPOTUNE_AWS_RETRY_SCHEDULE_H
#define HPOTUNE_AWS_RETRY_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#include "trials/aws/aws-internal.h"

enum aws_retry_when { AWS_RETRY_NEVER, AWS_RETRY_NOW, AWS_RETRY_LATER };

/*
 * Schedule a call: asked_ms is the minimum delay; a retry after a timeout costs
 * more.
 */
void aws_retry_schedule(struct aws_call *, enum aws_retry_when next,
    bool timeout, int64_t asked_ms);
/* When to retry, from the last answer and its date. */
enum aws_retry_when
aws_retry_schedule_of(struct aws_call *, bool dated, int64_t date_s);

#endif /* HPOTUNE_AWS_RETRY_SCHEDULE_H */
