/* A client, its server and its loop together; what is told is kept. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/loop.h"
#include "tests/support/aws/aws-client.h"

enum { GUARD_MS = 60 * 1000 };

/* The rig whose client asks for variables. */
static struct rig *current;

/* Whatever the environment of the tests says, only this counts. */
static const char *
aws_rig_getenv(const char *name)
{
	static char url[64];

	if (strcmp(name, "AWS_REGION") == 0)
		return "eu-west-1";
	if (strcmp(name, "AWS_CONFIG_FILE") == 0 ||
	    strcmp(name, "AWS_SHARED_CREDENTIALS_FILE") == 0)
		return "/nonexistent";
	if (strcmp(name, "AWS_ENDPOINT_URL") != 0 || current->real)
		return NULL;
	(void)snprintf(url, sizeof url, "http://127.0.0.1:%d", current->port);
	return url;
}

static void
on_note(void *arg, bool warn, const char *text)
{
	struct rig *rig = arg;

	buf_printf(&rig->notes, "%s%s\n", warn ? "" : "(info) ", text);
}

static void
on_guard(void *arg)
{
	(void)arg;
	printf("Bail out! nothing happened for a minute\n");
	exit(1);
}

void
aws_rig_open(struct rig *rig, double pace)
{
	struct aws_env env = {
		.env = aws_rig_getenv,
		.pace = pace,
		.note = on_note,
		.note_arg = rig,
	};
	struct err e = ERR_INIT;

	*rig = (struct rig){ 0 };
	unsetenv("http_proxy");
	unsetenv("https_proxy");
	unsetenv("all_proxy");
	unsetenv("ALL_PROXY");
	current = rig;
	aws_rig_keys(rig);
	if (loop_open(&rig->loop, LOOP_REAL, &e) != 0)
		abort();
	rig->guard = loop_timer_new(rig->loop, on_guard, rig);
	loop_timer_set(rig->guard, GUARD_MS);
	aws_rig_listen(rig);
	env.loop = rig->loop;
	if (aws_open(&rig->aws, &env, &e) != 0) {
		printf("Bail out! %s\n", e.text);
		exit(1);
	}
}

void
aws_rig_close(struct rig *rig)
{
	aws_close(rig->aws);
	aws_rig_deaf(rig);
	while (rig->n_asked > 0) {
		rig->n_asked--;
		free(rig->asked[rig->n_asked].head);
		free(rig->asked[rig->n_asked].body);
	}
	buf_free(&rig->notes);
	loop_timer_free(rig->guard);
	loop_close(rig->loop);
}

void
aws_rig_step(struct rig *rig, struct step step)
{
	if (rig->n_steps == RIG_STEPS)
		abort();
	rig->steps[rig->n_steps++] = step;
}

void
aws_rig_error(struct rig *rig, const char *operation, int status,
    const char *code, const char *text)
{
	static char bodies[RIG_STEPS][512];
	char *body = bodies[rig->n_steps];

	(void)snprintf(body, sizeof bodies[0],
	    "{\"__type\": \"%s\", \"message\": \"%s\"}", code, text);
	aws_rig_step(rig, (struct step){ .operation = operation,
			      .status = status,
			      .headers = "x-amzn-RequestId: id-1234\r\n",
			      .body = body });
}

void
aws_rig_good(struct rig *rig, const char *operation, const char *body)
{
	aws_rig_step(
	    rig, (struct step){
		     .operation = operation, .status = 200, .body = body });
}

static void
turn(void *arg)
{
	struct rig *rig = arg;

	rig->turns++;
	if (rig->want_requests ? rig->n_asked >= rig->requests_wanted
			       : rig->open == 0)
		loop_stop(rig->loop);
}

void
aws_rig_settle(struct rig *rig)
{
	rig->want_requests = false;
	loop_timer_set(rig->guard, GUARD_MS);
	loop_run(rig->loop, turn, rig);
}

void
aws_rig_wait(struct rig *rig, size_t requests)
{
	rig->want_requests = true;
	rig->requests_wanted = requests;
	loop_timer_set(rig->guard, GUARD_MS);
	loop_run(rig->loop, turn, rig);
}

static void
told_keep(struct told *t, const struct aws_answer *a)
{
	struct buf json = { 0 };

	t->calls++;
	t->rig->open--;
	t->good = a->good;
	t->what = a->what;
	t->unclear = a->unclear;
	t->sent = a->sent;
	t->status = a->status;
	t->code = xstrdup(a->code);
	t->message = xstrdup(a->message);
	t->request_id = xstrdup(a->request_id);
	if (a->json != NULL)
		json_write(&json, a->json);
	t->json = a->json != NULL ? buf_take(&json) : NULL;
	t->body = xmalloc(a->len + 1);
	memcpy(t->body, a->body, a->len + 1);
	t->len = a->len;
	t->call = NULL;
}

void
aws_rig_told(void *arg, const struct aws_answer *a)
{
	struct told *t = arg;

	told_keep(t, a);
	if (t->also != NULL)
		t->also(t);
}

static void
on_list(void *arg, const struct aws_answer *a,
    const struct aws_s3_object *objects, size_t n)
{
	struct told *t = arg;
	size_t i;

	told_keep(t, a);
	t->n = n;
	for (i = 0; i < n; i++)
		buf_printf(&t->keys, "%s %lld %lld\n", objects[i].key,
		    (long long)objects[i].size,
		    (long long)objects[i].modified_s);
}

void
told_free(struct told *t)
{
	free(t->code);
	free(t->message);
	free(t->request_id);
	free(t->json);
	free(t->body);
	buf_free(&t->keys);
	*t = (struct told){ 0 };
}

static void
told_begin(struct rig *rig, struct told *t)
{
	void (*also)(struct told *) = t->also;

	told_free(t);
	t->also = also;
	t->rig = rig;
	rig->open++;
}

void
aws_rig_json(struct rig *rig, struct told *t, enum aws_service service,
    const char *operation, int tries)
{
	struct aws_ask ask = { .service = service,
		.operation = operation,
		.body = "{\"A\": 1}",
		.tries = tries,
		.timeout_ms = 2000 };

	told_begin(rig, t);
	t->call = aws_json(rig->aws, &ask, aws_rig_told, t);
}

void
aws_rig_s3(struct rig *rig, struct told *t, const struct aws_s3_ask *ask)
{
	told_begin(rig, t);
	t->call = aws_s3(rig->aws, ask, aws_rig_told, t);
}

void
aws_rig_list(struct rig *rig, struct told *t, const char *bucket,
    const char *prefix, size_t most)
{
	told_begin(rig, t);
	t->call = aws_s3_list(rig->aws, bucket, prefix, most, on_list, t);
}
