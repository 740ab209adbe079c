/* The client of the simulated AWS: implements trials/aws/aws.h without I/O. */

#include <stdlib.h>
#include <string.h>

#include "src/base/json/json.h"
#include "src/base/loop.h"
#include "tests/support/sagemaker-world/sm-world.h"

struct aws {
	struct sm_world *world;
	char *region;
};

struct aws_call {
	struct sm_world *world;
	struct aws_call *next;
	char *operation, *body;
	aws_cb *cb; /* NULL: nobody waits */
	aws_s3_list_cb *list_cb;
	void *arg;
	struct loop_timer *timer;
	struct aws *of;
	bool late; /* it acts when its timer fires, and says nothing */
	bool dead;
};

static void
call_free(struct aws_call *c)
{
	loop_timer_free(c->timer);
	free(c->operation);
	free(c->body);
	free(c);
}

/* What is done is taken out of the list. */
static void
calls_sweep(struct sm_world *w)
{
	struct aws_call **at = &w->calls, *c;

	while ((c = *at) != NULL)
		if (c->dead) {
			*at = c->next;
			call_free(c);
		} else
			at = &c->next;
}

void
sm_client_drop_calls(struct sm_world *w)
{
	struct aws_call *c;

	for (c = w->calls; c != NULL; c = c->next)
		c->dead = true;
	calls_sweep(w);
}

/* Hand over an answer. */
static void
say(struct aws_call *c, const struct aws_answer *r)
{
	struct aws_s3_object object = { .key = "k",
		.modified_s = c->world->checkpoint_s };
	aws_s3_list_cb *list_cb = c->list_cb;
	aws_cb *cb = c->cb;

	if (c->world->checkpoints)
		object.modified_s = loop_wall_us(c->world->loop) / 1000000;
	c->cb = NULL;
	c->list_cb = NULL;
	if (cb != NULL)
		cb(c->arg, r);
	if (list_cb != NULL)
		list_cb(c->arg, r, &object, object.modified_s != 0);
}

/* … and the call is over. */
static void
answer(struct aws_call *c, const struct aws_answer *r)
{
	c->dead = true;
	c->world->open_calls--;
	say(c, r);
}

/* Whether it makes or ends a job. */
static bool
changes(const struct aws_call *c)
{
	return strcmp(c->operation, "CreateTrainingJob") == 0 ||
	       strcmp(c->operation, "StopTrainingJob") == 0;
}

static void
answer_outcome(struct aws_call *c, struct outcome *o, bool unclear)
{
	struct aws_answer r = { .what = o->what,
		.good = o->what == AWS_OK,
		.sent = true,
		.unclear = unclear,
		.status = o->what == AWS_OK ? 200 : 400,
		.code = o->code,
		.message = o->message,
		.request_id = "r" };
	struct json_doc *doc = NULL;

	if (o->body.len > 0 &&
	    json_parse(&doc, o->body.data, o->body.len, NULL, false, NULL) == 0)
		r.json = json_root(doc);
	answer(c, &r);
	json_free(doc);
	buf_free(&o->body);
}

static void
answer_none(struct aws_call *c, enum aws_class what)
{
	struct aws_answer r = { .what = what,
		.sent = true,
		.unclear = what == AWS_TRANSIENT,
		.code = "",
		.message = "no answer" };

	c->world->lost += what == AWS_TRANSIENT && changes(c);
	answer(c, &r);
}

static void
on_call(void *arg)
{
	struct aws_call *c = arg;
	struct sm_world *w = c->world;
	const struct sm_world_faults *bad = &w->bad;
	struct outcome o;

	if (!c->late && strcmp(c->operation, "CreateTrainingJob") == 0)
		w->tried++;
	if (c->late) {
		sm_world_serve(w, &o, c->operation, c->body);
		buf_free(&o.body);
		c->dead = true;
		w->open_calls--;
		return;
	}
	if (bad->only != NULL && strcmp(bad->only, c->operation) != 0) {
		sm_world_serve(w, &o, c->operation, c->body);
		answer_outcome(c, &o, false);
	} else if (sm_world_chance(w, bad->throttle))
		answer_none(c, AWS_THROTTLE);
	else if (sm_world_chance(w, bad->denied))
		answer_none(c, AWS_CREDENTIALS);
	else if (sm_world_chance(w, bad->lose_before))
		answer_none(c, AWS_TRANSIENT);
	else if (sm_world_chance(w, bad->late)) {
		struct aws_answer r = { .what = AWS_TRANSIENT,
			.sent = true,
			.unclear = true,
			.code = "",
			.message = "timed out" };

		w->lost += changes(c);
		c->late = true;
		loop_timer_set(c->timer, sm_world_between(w, 1, 14 * 60000));
		say(c, &r);
	} else {
		sm_world_serve(w, &o, c->operation, c->body);
		if (sm_world_chance(w, bad->lose_after)) {
			buf_free(&o.body);
			answer_none(c, AWS_TRANSIENT);
		} else if (sm_world_chance(w, bad->hidden)) {
			/*
			 * The first try of the request acted, the second one
			 * gets this answer.
			 */
			w->doubled += changes(c);
			buf_free(&o.body);
			sm_world_serve(w, &o, c->operation, c->body);
			answer_outcome(c, &o, true);
		} else
			answer_outcome(c, &o, false);
	}
}

static struct aws_call *
call_new(struct aws *aws, const char *operation, const char *body, aws_cb *cb,
    void *arg)
{
	struct sm_world *w = aws->world;
	struct aws_call *c = xcalloc(1, sizeof *c);

	calls_sweep(w);
	c->world = w;
	c->of = aws;
	c->operation = xstrdup(operation);
	c->body = xstrdup(body != NULL ? body : "{}");
	c->cb = cb;
	c->arg = arg;
	c->next = w->calls;
	w->calls = c;
	w->open_calls++;
	c->timer = loop_timer_new(w->loop, on_call, c);
	loop_timer_set(c->timer, sm_world_between(w, 20, 400));
	return c;
}

/* ---- trials/aws/aws.h ---------------------------------------------------------- */

int
aws_open(struct aws **out, const struct aws_env *env, struct err *e)
{
	struct aws *aws = xcalloc(1, sizeof *aws);

	(void)e;
	(void)env;
	aws->world = sm_world_current;
	*out = aws;
	return 0;
}

/* Nobody waits any more; what was on its way may act, now or later. */
static void
drop(struct aws_call *c)
{
	struct sm_world *w = c->world;

	if (c->dead || c->late)
		return;
	c->cb = NULL;
	c->list_cb = NULL;
	if (sm_world_chance(w, 0.5)) {
		c->dead = true;
		w->open_calls--;
		return;
	}
	w->lost += changes(c);
	c->late = true;
	if (sm_world_chance(w, 0.3))
		loop_timer_set(c->timer, sm_world_between(w, 1, 14 * 60000));
}

void
aws_close(struct aws *aws)
{
	struct aws_call *c;

	for (c = aws->world->calls; c != NULL; c = c->next)
		if (c->of == aws)
			drop(c);
	free(aws->region);
	free(aws);
}

void
aws_call_cancel(struct aws_call *c)
{
	drop(c);
}

int
aws_keys_ask(aws_getenv *env, const char *profile, struct err *e)
{
	(void)env;
	(void)profile;
	(void)e;
	return 0;
}

bool
aws_keys_visible(aws_getenv *env, const char *profile)
{
	(void)env;
	(void)profile;
	return true;
}

const char *
aws_client_region(const struct aws *aws)
{
	(void)aws;
	return "eu-west-1";
}

const char *
aws_client_region_other(const struct aws *aws)
{
	(void)aws;
	return NULL;
}

const char *
aws_source(const struct aws *aws)
{
	(void)aws;
	return "the world";
}

int64_t
aws_now_s(const struct aws *aws)
{
	return loop_wall_us(aws->world->loop) / 1000000;
}

struct aws_call *
aws_json(struct aws *aws, const struct aws_ask *ask, aws_cb *cb, void *arg)
{
	return call_new(aws, ask->operation, ask->body, cb, arg);
}

struct aws_call *
aws_s3(struct aws *aws, const struct aws_s3_ask *ask, aws_cb *cb, void *arg)
{
	return call_new(aws, ask->method, NULL, cb, arg);
}

struct aws_call *
aws_s3_list(struct aws *aws, const char *bucket, const char *prefix,
    size_t most, aws_s3_list_cb *cb, void *arg)
{
	struct aws_call *c;

	(void)bucket;
	(void)prefix;
	(void)most;
	c = call_new(aws, "LIST", NULL, NULL, arg);
	c->list_cb = cb;
	return c;
}

struct aws_call *
aws_whoami(struct aws *aws, aws_cb *cb, void *arg)
{
	return call_new(aws, "GetCallerIdentity", NULL, cb, arg);
}
