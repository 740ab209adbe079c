/* Classes of errors, buckets, budget, back-off and dates, without I/O. */

#include <limits.h>
#include <stdlib.h>

#include "src/base/mem.h"
#include "tests/support/aws/aws-class.h"
#include "tests/support/tap.h"
#include "trials/aws/config/aws-retry.h"

static void
is_class(int status, const char *code, const char *message, enum aws_class want)
{
	enum aws_class got = aws_retry_classify(status, code, message);

	ok(got == want, "%d %s %.30s: %s", status, code, message,
	    aws_class_name(want));
	if (got != want)
		printf("# got %s\n", aws_class_name(got));
}

static void
test_classes(void)
{
	static const char *const throttles[] = { "Throttling",
		"ThrottlingException", "ThrottledException", "RequestThrottled",
		"RequestThrottledException", "TooManyRequestsException",
		"RequestLimitExceeded", "BandwidthLimitExceeded",
		"LimitExceededException", "SlowDown", "PriorRequestNotComplete",
		"ProvisionedThroughputExceededException",
		"TransactionInProgressException", "EC2ThrottledException" };
	size_t i;

	for (i = 0; i < sizeof throttles / sizeof throttles[0]; i++)
		is_class(400, throttles[i], "", AWS_THROTTLE);
	is_class(503, "SlowDown", "", AWS_THROTTLE);
	is_class(429, "", "", AWS_THROTTLE);
	is_class(200, "", "", AWS_OK);
	is_class(204, "", "", AWS_OK);
	is_class(0, "", "", AWS_TRANSIENT);
	is_class(500, "", "", AWS_TRANSIENT);
	is_class(502, "", "", AWS_TRANSIENT);
	is_class(503, "", "", AWS_TRANSIENT);
	is_class(504, "", "", AWS_TRANSIENT);
	is_class(509, "", "", AWS_TRANSIENT);
	is_class(500, "Whatever", "", AWS_TRANSIENT);
	is_class(400, "RequestTimeout", "", AWS_TRANSIENT);
	is_class(400, "RequestTimeoutException", "", AWS_TRANSIENT);
	is_class(501, "NotImplemented", "", AWS_CALLER);
	is_class(404, "", "", AWS_MISSING);
	is_class(301, "PermanentRedirect", "", AWS_CALLER);
}

static void
test_messages(void)
{
	static const char *const signs[] = { "InvalidSignatureException",
		"SignatureDoesNotMatch", "AuthFailure" };
	size_t i;

	for (i = 0; i < sizeof signs / sizeof signs[0]; i++) {
		is_class(403, signs[i], "Signature expired: 20260101T000000Z",
		    AWS_CLOCK);
		is_class(403, signs[i], "Signature not yet current: 2026",
		    AWS_CLOCK);
		is_class(403, signs[i], "The request signature we calculated",
		    AWS_CREDENTIALS);
	}
	is_class(403, "RequestTimeTooSkewed", "", AWS_CLOCK);
	is_class(400, "RequestExpired", "", AWS_CLOCK);
	is_class(400, "RequestInTheFuture", "", AWS_CLOCK);
	is_class(400, "ExpiredToken", "", AWS_CREDENTIALS);
	is_class(400, "ExpiredTokenException", "", AWS_CREDENTIALS);
	is_class(400, "UnrecognizedClientException", "", AWS_CREDENTIALS);
	is_class(403, "InvalidClientTokenId", "", AWS_CREDENTIALS);
	is_class(400, "ResourceLimitExceeded", "The account-level", AWS_QUOTA);
	is_class(400, "ResourceInUse", "Training job names", AWS_EXISTS);
	is_class(400, "ResourceNotFound", "", AWS_MISSING);
	is_class(400, "ResourceNotFoundException", "", AWS_MISSING);
	is_class(404, "NoSuchKey", "", AWS_MISSING);
	is_class(400, "QueueDoesNotExist", "", AWS_MISSING);
	is_class(400, "ValidationException", "Requested resource not found.",
	    AWS_MISSING);
	is_class(400, "ValidationException",
	    "The request was rejected because the training job is in status "
	    "Stopped.",
	    AWS_CALLER);
	is_class(400, "ValidationException", "1 validation error", AWS_CALLER);
	is_class(400, "AccessDeniedException", "", AWS_CALLER);
	is_class(400, "UnknownOperationException", "", AWS_CALLER);
	is_class(404, "UnknownOperationException", "", AWS_CALLER);
	is_class(400, "", "", AWS_CALLER);
	/* Every row is found: the table is in bsearch's order. */
	is_class(
	    400, "AWS.SimpleQueueService.NonExistentQueue", "", AWS_MISSING);
	is_class(400, "TokenRefreshRequired", "", AWS_CREDENTIALS);
}

static void
is_plain(const char *code, const char *want)
{
	char *got = aws_retry_plain_code(code);

	is_str(got, want, code);
	free(got);
}

static void
test_codes(void)
{
	is_plain("ThrottlingException", "ThrottlingException");
	is_plain("com.amazonaws.sqs#QueueDoesNotExist", "QueueDoesNotExist");
	is_plain("ValidationException:http://x/y#z", "ValidationException");
	is_plain("a.b#C:http://internal/", "C");
	is_plain("#", "");
	is_plain(":", "");
	is_plain("", "");
}

static void
test_bucket(void)
{
	struct aws_retry_bucket b;
	int64_t wait;
	int n = 0;

	aws_retry_bucket_init(&b, 2, 1000);
	is_int(aws_retry_bucket_take(&b, 1000), 0, "a full bucket gives");
	is_int(
	    aws_retry_bucket_take(&b, 1000), 0, "and again, up to its burst");
	is_int(aws_retry_bucket_take(&b, 1000), 500,
	    "then half a second at 2 a s");
	is_int(aws_retry_bucket_take(&b, 1500), 0, "which is enough");
	is_int(aws_retry_bucket_take(&b, 100000), 0, "a long pause");
	is_int(aws_retry_bucket_take(&b, 100000), 0, "fills it");
	ok(aws_retry_bucket_take(&b, 100000) > 0,
	    "a bucket is not filled beyond its burst");
	ok(aws_retry_bucket_take(&b, 99000) > 0,
	    "a clock that goes back gives none");
	aws_retry_bucket_init(&b, 0.3, 0);
	(void)aws_retry_bucket_take(&b, 0);
	wait = aws_retry_bucket_take(&b, 0);
	is_int(aws_retry_bucket_take(&b, wait), 0, "one warning suffices");
	/* Never more than rate * time + burst, whoever asks how often. */
	aws_retry_bucket_init(&b, 5, 0);
	for (int64_t now = 0; now <= 10000; now += 3)
		n += aws_retry_bucket_take(&b, now) == 0;
	ok(n <= 55 && n >= 54, "10 s at 5 a second: %d", n);
}

static void
test_throttle(void)
{
	struct aws_retry_bucket b;
	int i;

	aws_retry_bucket_init(&b, 8, 0);
	aws_retry_bucket_throttled(&b, 0, 100);
	is_near(b.rate, 4, 1e-12, "halved");
	aws_retry_bucket_throttled(&b, 50, 120);
	is_near(b.rate, 4, 1e-12, "once for all that was on its way");
	aws_retry_bucket_throttled(&b, 130, 200);
	is_near(b.rate, 2, 1e-12, "again for one that was sent after");
	ok(b.tokens <= 1, "the tokens are used up");
	for (i = 0; i < 40; i++)
		aws_retry_bucket_throttled(&b, 300 + i, 300 + i);
	is_near(b.rate, 0.5, 1e-12, "never under a sixteenth");
	aws_retry_bucket_good(&b, 340);
	ok(b.rate > 0.6 && b.rate < 0.7, "a good answer raises it a little");
	for (i = 0; i < 100; i++)
		aws_retry_bucket_good(&b, 340);
	is_near(b.rate, 8, 1e-12, "many: as it was, not more");
	aws_retry_bucket_throttled(&b, 400, 400);
	aws_retry_bucket_good(&b, 60400);
	is_near(b.rate, 8, 1e-12, "a quiet minute is as good");
}

static void
test_budget(void)
{
	struct aws_retry_budget b;
	int n = 0;

	aws_retry_budget_init(&b, 1000);
	while (aws_retry_budget_take(&b, AWS_COST_RETRY, 1000))
		n++;
	is_int(n, 100, "a hundred tries again in a row");
	aws_retry_budget_good(&b, 0);
	ok(!aws_retry_budget_take(&b, AWS_COST_RETRY, 1000),
	    "one good answer is too few");
	aws_retry_budget_good(&b, AWS_COST_TIMEOUT);
	ok(aws_retry_budget_take(&b, AWS_COST_TIMEOUT, 1000),
	    "a cost comes back");
	ok(!aws_retry_budget_take(&b, AWS_COST_RETRY, 2000),
	    "a second is too short");
	ok(aws_retry_budget_take(&b, AWS_COST_RETRY, 12000),
	    "time fills it, too");
	ok(!aws_retry_budget_take(&b, AWS_COST_RETRY, 11000),
	    "an earlier time does not fill the budget");
	ok(aws_retry_budget_take(&b, AWS_BUDGET, 10000000), "an hour wholly");
	for (n = 0; n < 2 * AWS_BUDGET; n++)
		aws_retry_budget_good(&b, 0);
	is_near(b.left, AWS_BUDGET, 0, "no more than there was");
}

static void
test_backoff(void)
{
	is_int(aws_retry_backoff_ms(1, 0.999999, 0), 999, "first: up to 1 s");
	is_int(aws_retry_backoff_ms(2, 0.5, 0), 1000, "second: up to 2 s");
	is_int(aws_retry_backoff_ms(5, 0.5, 0), 8000, "fifth: up to 16 s");
	is_int(aws_retry_backoff_ms(6, 0.5, 0), 10000, "sixth: up to 20 s");
	is_int(aws_retry_backoff_ms(INT_MAX, 0.5, 0), 10000, "ever after");
	is_int(aws_retry_backoff_ms(3, 0, 0), 0, "jitter may be nothing");
	is_int(aws_retry_backoff_ms(1, 0.5, 7000), 7000,
	    "what they ask is the least");
	is_int(aws_retry_backoff_ms(6, 0.5, 7000), 10000, "not the most");
	is_int(aws_retry_after_ms(NULL, NULL), 0, "no header");
	is_int(aws_retry_after_ms("3", NULL), 3000, "seconds");
	is_int(aws_retry_after_ms(NULL, "250"), 250, "milliseconds");
	is_int(aws_retry_after_ms("1", "2500"), 2500, "both: the longer");
	is_int(aws_retry_after_ms("99999999999999999999", NULL), 300000,
	    "no call waits forever");
	is_int(aws_retry_after_ms("1e300", "nan"), 300000,
	    "a wait of 1e300 s is limited, too");
	is_int(aws_retry_after_ms("-1", "soon"), 0, "nonsense is nothing");
	is_int(aws_retry_after_ms("", "5x"), 0,
	    "a number with a unit counts as no wait");
}

static void
is_date(const char *text, int64_t want)
{
	int64_t got = -1;

	if (want < 0)
		ok(!aws_retry_date_s(text, &got), "no date: %s", text);
	else
		ok(aws_retry_date_s(text, &got) && got == want, "%s", text);
}

static void
test_dates(void)
{
	int64_t s;

	is_date("Sun, 06 Nov 1994 08:49:37 GMT", 784111777);
	is_date("Thu, 01 Jan 1970 00:00:00 GMT", 0);
	is_date("Tue, 29 Feb 2028 23:59:59 GMT", 1835481599);
	is_date("Sun, 06 Nov 1994 08:49:37 CET", -1);
	is_date("Sun, 06 anF 1994 08:49:37 GMT", -1);
	is_date("Sun, 06 J 1994 08:49:37 GMT", -1);
	is_date("Sun, 06 Nov 1994 -8:49:37 GMT", -1);
	is_date("Sunday, 06-Nov-94 08:49:37 GMT", -1);
	is_date("Sun Nov  6 08:49:37 1994", -1);
	is_date("", -1);
	ok(!aws_retry_date_s(NULL, &s), "no header, no date");
}

int
main(void)
{
	test_classes();
	test_messages();
	test_codes();
	test_bucket();
	test_throttle();
	test_budget();
	test_backoff();
	test_dates();
	return done_testing();
}
