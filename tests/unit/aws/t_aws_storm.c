/*
 * Many calls against a server that fails in every way, by seed, with calls
 * cancelled and the client closed.  The result of a call must be true: the
 * server records whether it acted. $SEED and $SEEDS: first seed and their
 * number (30).
 */

#include <stdlib.h>

#include "src/base/loop.h"
#include "src/base/rng.h"
#include "tests/support/aws/aws-class.h"
#include "tests/support/aws/aws-client.h"
#include "tests/support/tap.h"

enum { CALLS = 60, TIMEOUT_MS = 120 };

static const char *const operations[] = { "CreateTrainingJob",
	"StopTrainingJob", "DescribeTrainingJob" };

struct storm {
	struct aws_client rig;
	struct rng rng;
	struct loop_timer *wind;
	struct aws_client_answer told[CALLS];
	bool left[CALLS]; /* cancelled */
	int seen[CALLS], acted[CALLS]; /* by the server */
	int closes_after; /* told calls; 0 = never */
	int n_told, wrong;
};

static bool
chance(struct storm *s, double p)
{
	return rng_uniform(&s->rng) < p;
}

static void
blame(struct storm *s, int i, const char *what)
{
	const struct aws_client_answer *t = &s->told[i];

	s->wrong++;
	printf("# call %d: %s: %s %s, seen %d, acted %d: %s\n", i, what,
	    aws_class_name(t->what), t->unclear ? "unclear" : "clear",
	    s->seen[i], s->acted[i], t->message);
}

/* Nothing happened, and it says so, or somebody between says something. */
static void
refuse(struct storm *s, struct step *step)
{
	static const struct {
		int status;
		const char *headers, *body;
	} says[] = {
		{ 400, NULL, "{\"__type\": \"ThrottlingException\"}" },
		{ 503, NULL, "{\"__type\": \"Throttling\"}" },
		{ 429, "x-amz-retry-after: 5\r\n", NULL },
		{ 500, NULL, "{\"__type\": \"InternalFailure\"}" },
		{ 503, NULL, "<html>" },
		{ 403, NULL, "<html>" },
		{ 403, NULL, "{\"__type\": \"RequestTimeTooSkewed\"}" },
		{ 400, NULL, "{\"__type\": \"ExpiredTokenException\"}" },
		{ 400, NULL, "{\"__type\": \"ValidationException\"}" },
		{ 400, NULL, "{\"__type\": \"ResourceLimitExceeded\"}" },
	};
	size_t i = rng_below(&s->rng, sizeof says / sizeof says[0]);

	step->status = says[i].status;
	step->headers = says[i].headers;
	step->body = says[i].body;
}

/* The service acted or not, and a broken answer is all that comes back. */
static void
fall_silent(struct storm *s, struct step *step)
{
	switch (rng_below(&s->rng, 5)) {
	case 0:
		step->kind = STEP_CLOSE;
		break;
	case 1:
		step->kind = STEP_SILENT;
		break;
	case 2:
		step->kind = STEP_RAW;
		step->body = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{";
		break;
	case 3:
		step->body = "{\"half";
		break;
	case 4:
		step->status = 500;
		step->body = "{\"__type\": \"InternalFailure\"}";
		break;
	}
}

static void
decide(struct aws_client *rig, const struct asked *q, struct step *step)
{
	/* The rig is the first member. */
	struct storm *s = (struct storm *)rig;
	int i = atoi(q->body + 6);

	s->seen[i]++;
	if (chance(s, 0.25)) {
		refuse(s, step);
		return;
	}
	if (chance(s, 0.15)) {
		fall_silent(s, step);
		return;
	}
	if (s->acted[i] > 0) {
		step->status = 400;
		step->body = "{\"__type\": \"ResourceInUse\"}";
		return;
	}
	s->acted[i]++;
	if (chance(s, 0.3))
		fall_silent(s, step);
}

static void
leave(struct storm *s, int i)
{
	if (s->told[i].calls > 0 || s->left[i] || s->rig.aws == NULL)
		return;
	s->left[i] = true;
	s->rig.open--;
	aws_call_cancel(s->told[i].call);
}

static void
judge(struct aws_client_answer *t)
{
	struct storm *s = (struct storm *)t->rig;
	int i = (int)(t - s->told);

	if (s->left[i] || t->calls != 1)
		blame(s, i, "told though it was left or told");
	if (t->good && s->acted[i] == 0)
		blame(s, i, "yes, but nothing happened");
	if (!t->good && !t->unclear && s->acted[i] > 0)
		blame(s, i, "certainly not, but it happened");
	if (t->what == AWS_EXISTS && !t->unclear)
		blame(s, i, "somebody else, but there is nobody");
	if (!t->sent && s->seen[i] > 0)
		blame(s, i, "unsent, but it came");
	s->n_told++;
	if (s->n_told == s->closes_after) {
		aws_close(s->rig.aws);
		s->rig.aws = NULL;
		s->rig.open = 0;
	} else if (chance(s, 0.1))
		leave(s, (int)rng_below(&s->rng, CALLS));
}

static void
on_wind(void *arg)
{
	struct storm *s = arg;

	if (chance(s, 0.1))
		leave(s, (int)rng_below(&s->rng, CALLS));
	s->rig.slow_keys = chance(s, 0.5);
	if (s->rig.open > 0)
		loop_timer_set(s->wind, (int64_t)rng_below(&s->rng, 10));
}

static void
ask(struct storm *s, int i)
{
	static const int tries[] = { 1, 3, 0, -1 };
	char body[24];
	struct aws_ask a = { .service = AWS_SAGEMAKER,
		.operation = operations[rng_below(&s->rng, 3)],
		.body = body,
		.tries = tries[rng_below(&s->rng, 4)],
		.timeout_ms = TIMEOUT_MS };

	(void)snprintf(body, sizeof body, "{\"n\": %d}", i);
	s->told[i].rig = &s->rig;
	s->told[i].also = judge;
	s->rig.open++;
	s->told[i].call = aws_json(s->rig.aws, &a, aws_rig_told, &s->told[i]);
}

static void
storm(uint64_t seed)
{
	struct storm *s = xcalloc(1, sizeof *s);
	int i;

	rng_init(&s->rng, seed, 0);
	aws_rig_open(&s->rig, 1e4);
	s->rig.decide = decide;
	if (chance(s, 0.3))
		s->closes_after = 1 + (int)rng_below(&s->rng, CALLS);
	for (i = 0; i < CALLS; i++)
		ask(s, i);
	s->wind = loop_timer_new(s->rig.loop, on_wind, s);
	loop_timer_set(s->wind, 1);
	aws_rig_settle(&s->rig);
	for (i = 0; i < CALLS && s->rig.aws != NULL; i++)
		if (s->told[i].calls + s->left[i] != 1)
			blame(s, i, "neither told nor left");
	ok(s->wrong == 0, "seed %llu: %d calls told, %zu requests%s",
	    (unsigned long long)seed, s->n_told, s->rig.n_asked,
	    s->rig.aws == NULL ? ", closed" : "");
	loop_timer_free(s->wind);
	aws_rig_close(&s->rig);
	for (i = 0; i < CALLS; i++)
		aws_client_answer_free(&s->told[i]);
	free(s);
}

static uint64_t
number(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text != NULL ? strtoull(text, NULL, 10) : otherwise;
}

int
main(void)
{
	uint64_t seed = number("SEED", 1), n = number("SEEDS", 30);

	while (n-- > 0)
		storm(seed++);
	return done_testing();
}
