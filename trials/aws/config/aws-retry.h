/*
 * What an error of AWS means, and when to ask again: classes (reference:
 * botocore's standard retry mode), token buckets per operation that halve when
 * throttled, jittered back-off, the clock of the other side.  Pure: time is an
 * argument, in milliseconds.
 */

#ifndef HPOTUNE_AWS_RETRY_H
#define HPOTUNE_AWS_RETRY_H

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

const char *aws_retry_class_name(enum aws_class);
/* status 0: no answer came.  code and message may be "". */
enum aws_class
aws_retry_classify(int status, const char *code, const char *message);
/* "com.amazonaws.sqs#QueueDoesNotExist:http://…" -> "QueueDoesNotExist". */
char *aws_retry_plain_code(const char *);

struct aws_retry_bucket {
	double rate; /* per second, now */
	double most; /* per second, when nothing throttles */
	double burst;
	double tokens;
	int64_t at_ms; /* of tokens */
	int64_t moved_ms; /* when rate was last changed */
	int64_t cut_ms; /* when it was last halved */
};
void
aws_retry_bucket_init(struct aws_retry_bucket *, double rate, int64_t now_ms);
/* 0: take one now (and it is taken); else milliseconds to wait. */
int64_t aws_retry_bucket_take(struct aws_retry_bucket *, int64_t now_ms);
/*
 * A request that was sent at sent_ms was throttled: halve the rate.  One that
 * was on its way already when it was last halved tells nothing new.
 */
void aws_retry_bucket_throttled(
    struct aws_retry_bucket *, int64_t sent_ms, int64_t now_ms);
/* A good answer: back towards most, by a fiftieth of it and by time. */
void aws_retry_bucket_good(struct aws_retry_bucket *, int64_t now_ms);

/*
 * The retry budget (botocore's standard mode): when nothing works, calls are
 * no longer tried again and again.  Ours fills with time, too: what lives for
 * weeks must forget a bad hour.
 */
enum { AWS_BUDGET = 500, AWS_COST_RETRY = 5, AWS_COST_TIMEOUT = 10 };
struct aws_retry_budget {
	double left;
	int64_t at_ms;
};
void aws_retry_budget_init(struct aws_retry_budget *, int64_t now_ms);
/* Whether the cost of one more try is there; then it is taken. */
bool aws_retry_budget_take(struct aws_retry_budget *, int cost, int64_t now_ms);
/* A good answer: what its last retry cost comes back, or else 1. */
void aws_retry_budget_good(struct aws_retry_budget *, int cost);

/*
 * Milliseconds before try n + 1 (n = 1 after the first): u in [0, 1) times the
 * smaller of 1 s * 2^(n-1) and 20 s; at least what the other side asked for.
 */
int64_t aws_retry_backoff_ms(int n, double u, int64_t retry_after_ms);

/*
 * What the headers Retry-After (seconds) and x-amz-retry-after (milliseconds)
 * ask for, each or both NULL: milliseconds, 5 min at most, 0 = nothing.
 */
int64_t aws_retry_after_ms(const char *seconds, const char *ms);
/* "Sun, 06 Nov 1994 08:49:37 GMT" -> seconds since 1970; false if it is not. */
bool aws_retry_date_s(const char *, int64_t *);

#endif /* HPOTUNE_AWS_RETRY_H */
