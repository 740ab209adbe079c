/* A call; private. */

#ifndef HPOTUNE_AWS_CALL_H
#define HPOTUNE_AWS_CALL_H

#include "trials/aws/aws-internal.h"

struct aws_call *
aws_call_new(struct aws *, enum aws_service service, const char *operation);
/* Put a call into its queue; with an error it ends without being sent. */
void aws_call_begin(struct aws_call *, const struct err *);
/* The request of ask to this endpoint. */
typedef void aws_fill_fn(struct aws_request *, const struct aws_endpoint *,
    const struct aws_ask *ask);
/* Begin a call of a service that has one endpoint and one form of request. */
struct aws_call *aws_call_ask(struct aws *, const struct aws_ask *,
    aws_fill_fn *fill, aws_read_fn *read, aws_cb *cb, void *arg);
void aws_call_deliver(struct aws_call *);
void aws_call_end(struct aws_call *);
/* Send a call: its queue has a token. */
void aws_call_send(struct aws_call *);

#endif /* HPOTUNE_AWS_CALL_H */
