/* The streams of one job. */

#ifndef HPOTUNE_SM_LOG_STREAMS_H
#define HPOTUNE_SM_LOG_STREAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "trials/aws/aws.h"

struct sm_log;
struct sm_log_stream;

void sm_log_streams_free(struct sm_log *);
/* DescribeLogStreams, then then(log, good). */
void sm_log_streams_discover(
    struct sm_log *, void (*then)(struct sm_log *, bool good));
/* GetLogEvents, from the token of the stream or from a time. */
void sm_log_streams_get(
    struct sm_log *, struct sm_log_stream *, int64_t from_ms, aws_cb *cb);
void sm_log_streams_on_timer(void *arg);

#endif /* HPOTUNE_SM_LOG_STREAMS_H */
