/*
 * What an error of AWS means, and when to ask again: classes (reference:
 * botocore's standard retry mode), token buckets per operation that halve when
 * throttled, jittered back-off, the clock of the other side.  Pure: time is an
 * argument, in milliseconds.
 */

#ifndef AWS_RETRY_H
#define AWS_RETRY_H

#include <stdbool.h>
#include <stdint.h>

enum aws_class {
	AWS_OK,
	AWS_THROTTLE, /* too fast */
	AWS_TRANSIENT, /* 5xx, connection: it may have acted */
	AWS_CLOCK, /* our clock is off */
	AWS_CREDENTIALS, /* expired or unknown keys */
	AWS_QUOTA, /* ResourceLimitExceeded */
	AWS_EXISTS, /* ResourceInUse */
	AWS_MISSING, /* there is no such thing */
	AWS_CALLER, /* anything else: asking again is no use */
	AWS_CLASSES
};

const char *aws_class_name(enum aws_class);
/* status 0: no answer came.  code and message may be "". */
enum aws_class aws_classify(int status, const char *code, const char *message);

struct aws_bucket {
	double rate; /* per second, now */
	double most; /* per second, when nothing throttles */
	double burst;
	double tokens;
	int64_t at_ms;
};
void aws_bucket_init(struct aws_bucket *, double rate, int64_t now_ms);
/* 0: take one now (and it is taken); else milliseconds to wait. */
int64_t aws_bucket_take(struct aws_bucket *, int64_t now_ms);
void aws_bucket_throttled(struct aws_bucket *, int64_t now_ms);
void aws_bucket_good(struct aws_bucket *, int64_t now_ms);

/*
 * Milliseconds before try n + 1 (n = 1 after the first): u in [0, 1) times the
 * smaller of base * 2^(n-1) and 20 s; at least what the other side asked for.
 */
int64_t aws_backoff_ms(int n, double u, int64_t retry_after_ms);

#endif /* AWS_RETRY_H */
