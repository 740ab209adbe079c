/* Classifies AWS errors and computes retry times.  No I/O. */

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "src/base/mem.h"
#include "trials/aws/config/aws-retry.h"

enum {
	BACKOFF_BASE_MS = 1000,
	BACKOFF_MOST_MS = 20 * 1000,
	RETRY_AFTER_MOST_MS = 5 * 60 * 1000,
	BUDGET_FILLS_S = 1000 /* all of it */
};

/*
 * Error codes of the services used here, sorted.  LimitExceeded of EventBridge
 * is a quota, but the code means throttling elsewhere: see the client.
 */
static const struct code_row {
	const char *code;
	enum aws_class what;
} codes[] = {
	{ "AWS.SimpleQueueService.NonExistentQueue", AWS_MISSING },
	{ "AuthFailure", AWS_CREDENTIALS },
	{ "BandwidthLimitExceeded", AWS_THROTTLE },
	{ "ConcurrentModificationException", AWS_TRANSIENT },
	{ "EC2ThrottledException", AWS_THROTTLE },
	{ "ExpiredToken", AWS_CREDENTIALS },
	{ "ExpiredTokenException", AWS_CREDENTIALS },
	{ "IncompleteBody", AWS_TRANSIENT },
	{ "InternalError", AWS_TRANSIENT },
	{ "InternalFailure", AWS_TRANSIENT },
	{ "InternalServerError", AWS_TRANSIENT },
	{ "InternalServiceException", AWS_TRANSIENT },
	{ "InvalidAccessKeyId", AWS_CREDENTIALS },
	{ "InvalidClientTokenId", AWS_CREDENTIALS },
	{ "InvalidSignatureException", AWS_CREDENTIALS },
	{ "InvalidToken", AWS_CREDENTIALS },
	{ "LimitExceededException", AWS_THROTTLE },
	{ "NoSuchBucket", AWS_MISSING },
	{ "NoSuchKey", AWS_MISSING },
	{ "PriorRequestNotComplete", AWS_THROTTLE },
	{ "ProvisionedThroughputExceededException", AWS_THROTTLE },
	{ "QueueDoesNotExist", AWS_MISSING },
	{ "QueueNameExists", AWS_EXISTS },
	{ "RequestExpired", AWS_CLOCK },
	{ "RequestInTheFuture", AWS_CLOCK },
	{ "RequestLimitExceeded", AWS_THROTTLE },
	{ "RequestThrottled", AWS_THROTTLE },
	{ "RequestThrottledException", AWS_THROTTLE },
	{ "RequestTimeTooSkewed", AWS_CLOCK },
	{ "RequestTimeout", AWS_TRANSIENT },
	{ "RequestTimeoutException", AWS_TRANSIENT },
	{ "ResourceAlreadyExistsException", AWS_EXISTS },
	{ "ResourceInUse", AWS_EXISTS },
	{ "ResourceInUseException", AWS_EXISTS },
	{ "ResourceLimitExceeded", AWS_QUOTA },
	{ "ResourceNotFound", AWS_MISSING },
	{ "ResourceNotFoundException", AWS_MISSING },
	{ "ServiceUnavailable", AWS_TRANSIENT },
	{ "ServiceUnavailableException", AWS_TRANSIENT },
	{ "SignatureDoesNotMatch", AWS_CREDENTIALS },
	{ "SlowDown", AWS_THROTTLE },
	{ "ThrottledException", AWS_THROTTLE },
	{ "Throttling", AWS_THROTTLE },
	{ "ThrottlingException", AWS_THROTTLE },
	{ "TokenRefreshRequired", AWS_CREDENTIALS },
	{ "TooManyRequestsException", AWS_THROTTLE },
	{ "TransactionInProgressException", AWS_THROTTLE },
	{ "UnrecognizedClientException", AWS_CREDENTIALS },
};

/* Messages that are more specific than their code; code NULL = any. */
static const struct text_row {
	const char *code, *prefix;
	enum aws_class what;
} texts[] = {
	{ "AuthFailure", "Signature expired", AWS_CLOCK },
	{ "AuthFailure", "Signature not yet current", AWS_CLOCK },
	{ "InvalidSignatureException", "Signature expired", AWS_CLOCK },
	{ "InvalidSignatureException", "Signature not yet current", AWS_CLOCK },
	{ "SignatureDoesNotMatch", "Signature expired", AWS_CLOCK },
	{ "SignatureDoesNotMatch", "Signature not yet current", AWS_CLOCK },
	{ "ValidationException", "Requested resource not found", AWS_MISSING },
};

static int
code_compare(const void *a, const void *b)
{
	return strcmp(a, ((const struct code_row *)b)->code);
}

static enum aws_class
classify_status(int status)
{
	if (status == 0 || status == 408)
		return AWS_TRANSIENT;
	if (status == 404)
		return AWS_MISSING;
	if (status == 429)
		return AWS_THROTTLE;
	if (status >= 500 && status != 501)
		return AWS_TRANSIENT;
	return AWS_CALLER;
}

enum aws_class
aws_retry_classify(int status, const char *code, const char *message)
{
	const struct code_row *row;
	size_t i;

	if (status >= 200 && status < 300)
		return AWS_OK;
	for (i = 0; i < sizeof texts / sizeof texts[0]; i++)
		if (strcmp(code, texts[i].code) == 0 &&
		    strncmp(
			message, texts[i].prefix, strlen(texts[i].prefix)) == 0)
			return texts[i].what;
	row = bsearch(code, codes, sizeof codes / sizeof codes[0],
	    sizeof codes[0], code_compare);
	if (row != NULL)
		return row->what;
	/*
	 * A 404 with an unknown code does not prove that the resource is
	 * missing.
	 */
	if (status == 404 && code[0] != '\0')
		return AWS_CALLER;
	return classify_status(status);
}

char *
aws_retry_plain_code(const char *code)
{
	size_t n = strcspn(code, ":");
	const char *hash = memchr(code, '#', n);

	if (hash != NULL) {
		n -= (size_t)(hash + 1 - code);
		code = hash + 1;
	}
	return xstrndup(code, n);
}

void
aws_retry_bucket_init(struct aws_retry_bucket *b, double rate, int64_t now_ms)
{
	double burst = rate > 1 ? rate : 1;

	*b = (struct aws_retry_bucket){
		.rate = rate,
		.most = rate,
		.burst = burst,
		.tokens = burst,
		.at_ms = now_ms,
		.moved_ms = now_ms,
		.cut_ms = INT64_MIN,
	};
}

static void
bucket_fill(struct aws_retry_bucket *b, int64_t now_ms)
{
	double gone_s = (double)(now_ms - b->at_ms) / 1000;

	if (gone_s > 0)
		b->tokens = fmin(b->burst, b->tokens + gone_s * b->rate);
	b->at_ms = now_ms;
}

int64_t
aws_retry_bucket_take(struct aws_retry_bucket *b, int64_t now_ms)
{
	bucket_fill(b, now_ms);
	/* Tolerance for rounding errors of summed fractions. */
	if (b->tokens >= 1 - 1e-9) {
		b->tokens = fmax(0, b->tokens - 1);
		return 0;
	}
	return (int64_t)ceil((1 - b->tokens) / b->rate * 1000);
}

void
aws_retry_bucket_throttled(
    struct aws_retry_bucket *b, int64_t sent_ms, int64_t now_ms)
{
	if (sent_ms < b->cut_ms)
		return;
	bucket_fill(b, now_ms);
	b->rate = fmax(b->rate / 2, b->most / 16);
	/* What was saved up was saved for a rate that is too high. */
	b->tokens = fmin(b->tokens, 1);
	b->cut_ms = now_ms;
	b->moved_ms = now_ms;
}

void
aws_retry_bucket_good(struct aws_retry_bucket *b, int64_t now_ms)
{
	double minutes = (double)(now_ms - b->moved_ms) / 60000;

	if (b->rate >= b->most)
		return;
	bucket_fill(b, now_ms);
	b->rate = fmin(b->most, b->rate + b->most * (0.02 + fmax(0, minutes)));
	b->moved_ms = now_ms;
}

void
aws_retry_budget_init(struct aws_retry_budget *b, int64_t now_ms)
{
	*b = (struct aws_retry_budget){ .left = AWS_BUDGET, .at_ms = now_ms };
}

bool
aws_retry_budget_take(struct aws_retry_budget *b, int cost, int64_t now_ms)
{
	double gone_s = (double)(now_ms - b->at_ms) / 1000;

	if (gone_s > 0)
		b->left = fmin(
		    AWS_BUDGET, b->left + gone_s * AWS_BUDGET / BUDGET_FILLS_S);
	b->at_ms = now_ms;
	if (b->left < cost)
		return false;
	b->left -= cost;
	return true;
}

void
aws_retry_budget_good(struct aws_retry_budget *b, int cost)
{
	b->left = fmin(AWS_BUDGET, b->left + (cost > 0 ? cost : 1));
}

int64_t
aws_retry_backoff_ms(int n, double u, int64_t retry_after_ms)
{
	int64_t most = BACKOFF_BASE_MS, wait;

	for (; n > 1 && most < BACKOFF_MOST_MS; n--)
		most *= 2;
	if (most > BACKOFF_MOST_MS)
		most = BACKOFF_MOST_MS;
	wait = (int64_t)(u * (double)most);
	return wait > retry_after_ms ? wait : retry_after_ms;
}

/* A number without a sign times unit; 0 for anything else. */
static int64_t
wait_read(const char *text, double unit)
{
	char *end;
	double x;

	if (text == NULL || !isdigit((unsigned char)text[0]))
		return 0;
	x = strtod(text, &end) * unit;
	if (*end != '\0')
		return 0;
	return x < RETRY_AFTER_MOST_MS ? (int64_t)x : RETRY_AFTER_MOST_MS;
}

int64_t
aws_retry_after_ms(const char *seconds, const char *ms)
{
	int64_t a = wait_read(seconds, 1000), b = wait_read(ms, 1);

	return a > b ? a : b;
}

bool
aws_retry_date_s(const char *text, int64_t *out)
{
	static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	char month[4], zone[4];
	const char *at;
	struct tm t = { 0 };

	/* Parsed by hand: strptime depends on the locale, RFC 9110 does not. */
	if (text == NULL ||
	    sscanf(text, "%*3s, %2d %3s %4d %2d:%2d:%2d %3s", &t.tm_mday, month,
		&t.tm_year, &t.tm_hour, &t.tm_min, &t.tm_sec, zone) != 7)
		return false;
	at = strlen(month) == 3 ? strstr(months, month) : NULL;
	if (at == NULL || (at - months) % 3 != 0 || strcmp(zone, "GMT") != 0)
		return false;
	if (t.tm_year < 1970 || t.tm_mday < 1 || t.tm_mday > 31 ||
	    t.tm_hour < 0 || t.tm_hour > 23 || t.tm_min < 0 || t.tm_min > 59 ||
	    t.tm_sec < 0 || t.tm_sec > 60)
		return false;
	t.tm_mon = (int)(at - months) / 3;
	t.tm_year -= 1900;
	*out = (int64_t)timegm(&t);
	return true;
}
