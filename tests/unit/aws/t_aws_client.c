/*
 * The client as a whole: order, independence of operations, closing at any
 * moment, invalid answers, S3.
 */

#include <stdlib.h>

#include "src/base/err.h"
#include "src/base/loop.h"
#include "tests/support/aws/aws-class.h"
#include "tests/support/aws/aws-client.h"
#include "tests/support/tap.h"
#include "trials/aws/aws-internal.h"
#include "trials/aws/aws-queue.h"

enum { PACE = 200 };

static const char create[] = "CreateTrainingJob";
static const char stop[] = "StopTrainingJob";

enum { ORDERED = 40 };

/* Calls of one operation, and the turns of the loop in which they were sent. */
struct order {
	struct aws_client *rig;
	struct aws_client_answer *calls;
	int64_t turn, sent[ORDERED]; /* 0: not yet */
};

/*
 * What the server sees has no order: the requests of a turn are on connections of
 * their own.
 */
static void
order_turn(void *arg)
{
	struct order *o = arg;
	int i;

	o->turn++;
	for (i = 0; i < ORDERED; i++)
		if (o->sent[i] == 0 &&
		    (o->calls[i].call == NULL || o->calls[i].call->sent_ms > 0))
			o->sent[i] = o->turn;
	if (o->rig->open == 0)
		loop_stop(o->rig->loop);
}

/* Calls that were sent in an earlier turn than the one before them. */
static int
out_of_order(const struct order *o)
{
	int i, wrong = 0;

	for (i = 1; i < ORDERED; i++)
		wrong += o->sent[i] < o->sent[i - 1];
	return wrong;
}

/* Calls whose bodies say which they are. */
static void
ask_numbered(struct aws_client *rig, struct aws_client_answer *t, int n)
{
	char body[24];
	struct aws_ask ask = {
		.service = AWS_SAGEMAKER, .operation = create, .body = body
	};
	int i;

	for (i = 0; i < n; i++) {
		(void)snprintf(body, sizeof body, "{\"n\": %d}", i);
		t[i].rig = rig;
		rig->open++;
		t[i].call = aws_json(rig->aws, &ask, aws_rig_told, &t[i]);
	}
}

static void
test_order(void)
{
	struct aws_client_answer t[ORDERED] = { 0 };
	struct aws_client rig;
	struct order o = { .rig = &rig, .calls = t };
	int64_t begun_ms, took_ms;
	int i;

	aws_rig_open(&rig, 20);
	begun_ms = loop_now_ms(rig.loop);
	ask_numbered(&rig, t, ORDERED);
	loop_run(rig.loop, order_turn, &o);
	ok(o.sent[ORDERED - 1] > o.sent[0],
	    "more calls than the burst go out in several turns");
	is_int(out_of_order(&o), 0,
	    "calls of one operation go out in their order");
	took_ms = rig.asked[ORDERED - 1].at_ms - begun_ms;
	ok(took_ms >= 990,
	    "at the rate of the operation: 20 over the burst in %lld ms",
	    (long long)took_ms);
	for (i = 0; i < ORDERED; i++)
		aws_client_answer_free(&t[i]);
	aws_rig_close(&rig);
}

/* One operation is throttled for ever, another one goes on. */
static void
test_apart(void)
{
	struct aws_client rig;
	struct aws_client_answer slow = { 0 }, t = { 0 };
	int i;

	aws_rig_open(&rig, 5);
	for (i = 0; i < AWS_CLIENT_STEPS - 1; i++)
		aws_rig_error(&rig, create, 400, "ThrottlingException", "Rate");
	aws_rig_json(&rig, &slow, AWS_SAGEMAKER, create, -1);
	aws_rig_wait(&rig, 3);
	for (i = 0; i < 10; i++) {
		rig.open = 0;
		aws_rig_json(&rig, &t, AWS_SAGEMAKER, stop, 0);
		aws_rig_settle(&rig);
	}
	ok(t.good && slow.calls == 0, "a throttled operation blocks no other");
	ok(rig.n_asked < 20, "and is not hurried: %zu requests", rig.n_asked);
	aws_call_cancel(slow.call);
	aws_client_answer_free(&t);
	aws_client_answer_free(&slow);
	aws_rig_close(&rig);
}

/* The place of the second request with the same body. */
static size_t
place_again(const struct aws_client *rig)
{
	size_t i, j;

	for (i = 1; i < rig->n_asked; i++)
		for (j = 0; j < i; j++)
			if (strcmp(rig->asked[i].body, rig->asked[j].body) == 0)
				return i;
	return 0;
}

/* One that is tried again goes before those that were asked later. */
static void
test_age(void)
{
	enum { N = 12 };
	struct aws_client_answer t[N] = { 0 };
	struct aws_client rig;
	struct aws_retry_bucket *b;
	int i;

	aws_rig_open(&rig, 5);
	aws_rig_error(&rig, create, 400, "ThrottlingException", "Rate");
	b = &aws_queue_of(rig.aws, AWS_SAGEMAKER, create)->bucket;
	is_near(b->rate, 5, 1e-9, "the rate of Create at this pace");
	ask_numbered(&rig, t, N);
	aws_rig_wait(&rig, 6);
	ok(b->rate < 5, "is lowered by a throttle");
	aws_rig_settle(&rig);
	ok(rig.n_asked == N + 1 && place_again(&rig) > 0 &&
		place_again(&rig) < N - 2,
	    "what is tried again is not the last: %zu", place_again(&rig));
	for (i = 0; i < N; i++)
		aws_client_answer_free(&t[i]);
	aws_rig_close(&rig);
}

/* Whether a call is passed that the server asks to wait for these seconds. */
static bool
is_passed(int seconds)
{
	struct aws_client rig;
	struct aws_client_answer first = { 0 }, second = { 0 };
	char wait[32];
	bool passed;

	(void)snprintf(wait, sizeof wait, "Retry-After: %d\r\n", seconds);
	aws_rig_open(&rig, PACE);
	aws_rig_step(&rig, (struct step){ .status = 429, .headers = wait });
	aws_rig_json(&rig, &first, AWS_SAGEMAKER, create, 0);
	aws_rig_wait(&rig, 1);
	aws_rig_json(&rig, &second, AWS_SAGEMAKER, create, 0);
	rig.open = 1;
	aws_rig_settle(&rig);
	passed = second.calls == 1 && first.calls == 0;
	rig.open = 2 - first.calls - second.calls;
	aws_rig_settle(&rig);
	ok(first.good && second.good, "both have their turn");
	aws_client_answer_free(&first);
	aws_client_answer_free(&second);
	aws_rig_close(&rig);
	return passed;
}

static void
test_pass(void)
{
	int seconds = 1;

	/* Longer, where the time to wait was over before the second was sent. */
	while (!is_passed(seconds) && seconds < 64)
		seconds *= 4;
	ok(seconds < 64, "a call that waits to be tried again is passed");
}

/* Leave a call where it stands. */
static void
test_cancel(void)
{
	struct aws_client rig;
	struct aws_client_answer t = { 0 }, other = { 0 };

	aws_rig_open(&rig, PACE);
	aws_rig_json(&rig, &t, AWS_SAGEMAKER, stop, 0);
	aws_call_cancel(t.call);
	rig.open--;
	aws_rig_json(&rig, &other, AWS_SAGEMAKER, create, 0);
	aws_rig_settle(&rig);
	ok(t.calls == 0 && other.good && rig.n_asked == 1,
	    "one in its queue never goes out");
	aws_rig_step(
	    &rig, (struct step){ .operation = stop, .kind = STEP_SILENT });
	aws_rig_json(&rig, &t, AWS_SAGEMAKER, stop, 0);
	aws_rig_wait(&rig, 2);
	aws_call_cancel(t.call);
	rig.open--;
	aws_rig_json(&rig, &other, AWS_SAGEMAKER, stop, 0);
	aws_rig_settle(&rig);
	ok(t.calls == 0 && other.good,
	    "a callback of a request in flight is not called");
	rig.slow_keys = true;
	aws_rig_json(&rig, &t, AWS_SAGEMAKER, stop, 0);
	aws_rig_json(&rig, &other, AWS_SAGEMAKER, create, 0);
	rig.open--;
	/* A turn begins before the first timer: the second sees both wait. */
	rig.open++;
	aws_rig_wait(&rig, 4);
	aws_rig_settle(&rig);
	ok(t.good && other.good, "keys that come later");
	aws_call_cancel(NULL);
	aws_client_answer_free(&t);
	aws_client_answer_free(&other);
	aws_rig_close(&rig);
}

static struct aws_client_answer *victim;

static void
cancel_both(struct aws_client_answer *t)
{
	(void)t;
	if (victim->call != NULL && victim->calls == 0) {
		aws_call_cancel(victim->call);
		victim->call = NULL;
	}
}

static struct aws_call *own;

static void
cancel_own(struct aws_client_answer *t)
{
	(void)t;
	aws_call_cancel(own);
}

static void
ask_again(struct aws_client_answer *t)
{
	t->also = NULL;
	aws_rig_json(t->rig, t, AWS_SAGEMAKER, stop, 0);
}

/* Callbacks that do things. */
static void
test_inside(void)
{
	struct aws_client rig;
	struct aws_client_answer a = { .also = cancel_both },
				 b = { .also = cancel_both };
	struct aws_client_answer c = { .also = cancel_own },
				 d = { .also = ask_again };

	aws_rig_open(&rig, PACE);
	rig.keyless = true;
	aws_rig_json(&rig, &a, AWS_SAGEMAKER, stop, 1);
	aws_rig_json(&rig, &b, AWS_SAGEMAKER, stop, 1);
	victim = &b;
	rig.open = 1;
	aws_rig_settle(&rig);
	ok(a.calls == 1 && b.calls == 0,
	    "a callback that is due is not called any more");
	rig.keyless = false;
	aws_rig_json(&rig, &c, AWS_SAGEMAKER, stop, 1);
	own = c.call;
	aws_rig_settle(&rig);
	ok(c.calls == 1, "one may cancel itself from its own callback");
	aws_rig_json(&rig, &d, AWS_SAGEMAKER, stop, 1);
	aws_rig_settle(&rig);
	ok(d.calls == 1 && d.good && rig.n_asked == 3,
	    "and ask again from there");
	aws_client_answer_free(&a);
	aws_client_answer_free(&b);
	aws_client_answer_free(&c);
	aws_client_answer_free(&d);
	aws_rig_close(&rig);
}

static void
close_inside(struct aws_client_answer *t)
{
	aws_close(t->rig->aws);
	t->rig->aws = NULL;
}

/* Close while calls are in every state there is. */
static void
test_close(void)
{
	struct aws_client_answer t[8] = { 0 };
	struct aws_client rig;
	int i, how;

	for (how = 0; how < 4; how++) {
		aws_rig_open(&rig, PACE);
		rig.slow_keys = how == 1;
		rig.keyless = how == 2;
		aws_rig_step(&rig,
		    (struct step){ .operation = create, .kind = STEP_SILENT });
		aws_rig_error(&rig, create, 400, "Throttling", "wait");
		aws_rig_json(&rig, &t[0], AWS_SAGEMAKER, create, 0);
		aws_rig_json(&rig, &t[1], AWS_SAGEMAKER, create, 0);
		if (how == 0)
			aws_rig_wait(&rig, 2);
		t[2].also = close_inside;
		for (i = 2; i < 8; i++)
			aws_rig_json(&rig, &t[i], AWS_SAGEMAKER,
			    i % 2 == 0 ? stop : "DescribeTrainingJob",
			    how == 2 ? 1 : 0);
		if (how == 3) {
			aws_close(rig.aws);
			rig.aws = NULL;
		} else {
			/* Until a callback closes it. */
			while (rig.aws != NULL) {
				rig.open = 1;
				aws_rig_settle(&rig);
			}
		}
		ok(how == 3 ? t[2].calls == 0 : t[2].calls == 1,
		    "closed with calls in every state: %d", how);
		for (i = 0; i < 8; i++)
			aws_client_answer_free(&t[i]);
		aws_rig_close(&rig);
	}
}

/* Answers that cannot be: never a crash, never a yes. */
static void
test_nonsense(void)
{
	static const struct {
		const char *what;
		struct step step;
		enum aws_class want;
		bool unclear;
	} rows[] = {
		{ "200 and no JSON", { .status = 200, .body = "<html>" },
		    AWS_TRANSIENT, true },
		{ "200 and half of it", { .status = 200, .body = "{\"a\": 1" },
		    AWS_TRANSIENT, true },
		{ "200 and an array", { .status = 200, .body = "[]" },
		    AWS_TRANSIENT, true },
		{ "403 of a proxy", { .status = 403, .body = "<html>" },
		    AWS_TRANSIENT, false },
		{ "404 of a proxy", { .status = 404, .body = "<html>" },
		    AWS_TRANSIENT, false },
		{ "302 of a portal",
		    { .status = 302,
			.headers = "Location: https://example.invalid/\r\n" },
		    AWS_TRANSIENT, false },
		{ "502 of a proxy", { .status = 502, .body = "<html>" },
		    AWS_TRANSIENT, true },
		{ "404 with a message",
		    { .status = 404,
			.body = "{\"Message\": \"nothing here\"}" },
		    AWS_CALLER, false },
		{ "codes that are numbers",
		    { .status = 400, .body = "{\"__type\": 7, \"code\": []}" },
		    AWS_TRANSIENT, false },
		{ "no HTTP", { .kind = STEP_RAW, .body = "what?\r\n\r\n" },
		    AWS_TRANSIENT, true },
		{ "a code in a header",
		    { .status = 400,
			.headers = "x-amzn-ErrorType: "
				   "AccessDeniedException:http://x/\r\n" },
		    AWS_CALLER, false },
	};
	struct aws_client rig;
	struct aws_client_answer t = { 0 };
	size_t i;

	aws_rig_open(&rig, PACE);
	for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		aws_rig_step(&rig, rows[i].step);
		aws_rig_json(&rig, &t, AWS_SAGEMAKER, create, 1);
		aws_rig_settle(&rig);
		if (!ok(!t.good && t.what == rows[i].want &&
			    t.unclear == rows[i].unclear,
			"%s: %s", rows[i].what, t.message))
			printf(
			    "# got %s %d\n", aws_class_name(t.what), t.unclear);
	}
	aws_rig_error(&rig, "PutRule", 400, "LimitExceededException", "rules");
	aws_rig_json(&rig, &t, AWS_EVENTS, "PutRule", -1);
	aws_rig_settle(&rig);
	is_int(t.what, AWS_QUOTA, "a limit of EventBridge is no throttle");
	aws_client_answer_free(&t);
	aws_rig_close(&rig);
}

/* What a trial may print comes back in the answer that holds its log. */
static void
test_log(void)
{
	static const char body[] =
	    "{\"events\": [{\"message\": \"a\\u0000b\\ud800c\\ud83d\\ude00"
	    "\xff\x01\\\\u0000\"}]}";
	struct aws_client rig;
	struct aws_client_answer t = { 0 };

	aws_rig_open(&rig, PACE);
	aws_rig_good(&rig, NULL, body);
	aws_rig_json(&rig, &t, AWS_LOGS, "GetLogEvents", 1);
	aws_rig_settle(&rig);
	ok(t.good, "bytes that JSON cannot hold do not spoil a page");
	is_str(t.json,
	    "{\"events\":[{\"message\":\"a\xef\xbf\xbd"
	    "b\xef\xbf\xbd"
	    "c\\ud83d\\ude00\xef\xbf\xbd \\\\u0000\"}]}",
	    "they become the replacement character");
	aws_client_answer_free(&t);
	aws_rig_close(&rig);
}

static void
test_huge(void)
{
	size_t len = (size_t)17 << 20;
	char *body = xmalloc(len);
	struct aws_client rig;
	struct aws_client_answer t = { 0 };

	memset(body, ' ', len);
	aws_rig_open(&rig, PACE);
	aws_rig_step(
	    &rig, (struct step){ .status = 200, .body = body, .len = len });
	aws_rig_json(&rig, &t, AWS_LOGS, "GetLogEvents", 1);
	aws_rig_settle(&rig);
	ok(!t.good && t.what == AWS_TRANSIENT, "too much: %s", t.message);
	aws_client_answer_free(&t);
	aws_rig_close(&rig);
	free(body);
}

int
main(void)
{
	test_order();
	test_apart();
	test_age();
	test_pass();
	test_cancel();
	test_inside();
	test_close();
	test_nonsense();
	test_log();
	test_huge();
	return done_testing();
}
