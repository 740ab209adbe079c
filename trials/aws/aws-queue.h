/* The queue of an operation; private. */

#ifndef HPOTUNE_AWS_QUEUE_H
#define HPOTUNE_AWS_QUEUE_H

#include "trials/aws/aws-internal.h"

/* Sorted by age: a retried call comes before newer ones. */
void aws_queue_put(struct aws_queue *, struct aws_call *);
struct aws_queue *
aws_queue_of(struct aws *, enum aws_service service, const char *operation);
void aws_queue_free(struct aws_queue *);

#endif /* HPOTUNE_AWS_QUEUE_H */
