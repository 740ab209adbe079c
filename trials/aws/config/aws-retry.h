/*
 * Retry policy: classes of errors (reference: botocore's standard retry mode),
 * token buckets per operation that halve when throttled, back-off with jitter,
 * AWS's clock.  No I/O: times are arguments, in milliseconds.
 */

#ifndef HPOTUNE_AWS_RETRY_H
#define HPOTUNE_AWS_RETRY_H

#include <stdbool.h>
#include <stdint.h>

enum aws_class {
	AWS_OK,
	AWS_THROTTLE, /* too many requests */
	AWS_TRANSIENT, /* 5xx or connection: it may have taken effect */
	AWS_CLOCK, /* our clock is off */
	AWS_CREDENTIALS, /* expired or unknown keys */
	AWS_QUOTA, /* ResourceLimitExceeded */
	AWS_EXISTS, /* ResourceInUse */
	AWS_MISSING, /* no such resource */
	AWS_CALLER, /* anything else: a retry is useless */
	AWS_CLASSES
};

/* The class of an error. status 0: no response. code and message may be "". */
enum aws_class
aws_retry_classify(int status, const char *code, const char *message);
/* "com.amazonaws.sqs#QueueDoesNotExist:http://…" -> "QueueDoesNotExist". */
char *aws_retry_plain_code(const char *);

struct aws_retry_bucket {
	double rate; /* per second, current */
	double most; /* per second, without throttling */
	double burst;
	double tokens;
	int64_t at_ms; /* time of the last update of tokens */
	int64_t moved_ms; /* when rate last changed */
	int64_t cut_ms; /* when it was last halved */
};
void
aws_retry_bucket_init(struct aws_retry_bucket *, double rate, int64_t now_ms);
/* 0: a token was taken; else milliseconds to wait. */
int64_t aws_retry_bucket_take(struct aws_retry_bucket *, int64_t now_ms);
/*
 * A request sent at sent_ms was throttled: halve the rate, unless it was sent
 * before the last halving.
 */
void aws_retry_bucket_throttled(
    struct aws_retry_bucket *, int64_t sent_ms, int64_t now_ms);
/* A success: raise the rate towards most, by a fiftieth of it and by time. */
void aws_retry_bucket_good(struct aws_retry_bucket *, int64_t now_ms);

/*
 * The retry budget (botocore's standard mode) ends retries during an outage.
 * Unlike botocore's it also refills with time, because the server runs for
 * weeks.
 */
enum { AWS_BUDGET = 500, AWS_COST_RETRY = 5, AWS_COST_TIMEOUT = 10 };
struct aws_retry_budget {
	double left;
	int64_t at_ms;
};
void aws_retry_budget_init(struct aws_retry_budget *, int64_t now_ms);
/* Take the cost of a retry; false: not available. */
bool aws_retry_budget_take(struct aws_retry_budget *, int cost, int64_t now_ms);
/* A success: return the cost of its last retry, or else 1. */
void aws_retry_budget_good(struct aws_retry_budget *, int cost);

/*
 * Milliseconds before try n + 1 (n = 1 after the first): u in [0, 1) times the
 * smaller of 1 s * 2^(n-1) and 20 s; at least retry_after.
 */
int64_t aws_retry_backoff_ms(int n, double u, int64_t retry_after_ms);

/*
 * Delay requested by the headers Retry-After (seconds) and x-amz-retry-after
 * (milliseconds), each may be NULL: milliseconds, 5 min at most, 0 = none.
 */
int64_t aws_retry_after_ms(const char *seconds, const char *ms);
/* "Sun, 06 Nov 1994 08:49:37 GMT" -> seconds since 1970; false if invalid. */
bool aws_retry_date_s(const char *, int64_t *);

#endif /* HPOTUNE_AWS_RETRY_H */
