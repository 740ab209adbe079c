/* A client, its server and their loop; records callbacks. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/loop.h"
#include "tests/support/aws/aws-client.h"

/* What is answered is so within this, on any machine; a test that hangs. */
enum { ANSWER_MS = 60 * 1000, GUARD_MS = 300 * 1000 };

/* The rig whose client asks for variables. */
static struct aws_client *current;

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
	struct aws_client *rig = arg;

	buf_printf(&rig->notes, "%s%s\n", warn ? "" : "(info) ", text);
}

static void
on_guard(void *arg)
{
	(void)arg;
	printf("Bail out! nothing happened for five minutes\n");
	exit(1);
}

void
aws_rig_open(struct aws_client *rig, double pace)
{
	struct aws_env env = {
		.env = aws_rig_getenv,
		.pace = pace,
		.note = on_note,
		.note_arg = rig,
	};
	struct err e = ERR_INIT;

	*rig = (struct aws_client){ 0 };
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
aws_rig_close(struct aws_client *rig)
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
aws_rig_step(struct aws_client *rig, struct step step)
{
	if (rig->n_steps == AWS_CLIENT_STEPS)
		abort();
	rig->steps[rig->n_steps++] = step;
}

void
aws_rig_error(struct aws_client *rig, const char *operation, int status,
    const char *code, const char *text)
{
	static char bodies[AWS_CLIENT_STEPS][512];
	char *body = bodies[rig->n_steps];

	(void)snprintf(body, sizeof bodies[0],
	    "{\"__type\": \"%s\", \"message\": \"%s\"}", code, text);
	aws_rig_step(rig, (struct step){ .operation = operation,
			      .status = status,
			      .headers = "x-amzn-RequestId: id-1234\r\n",
			      .body = body });
}

void
aws_rig_good(struct aws_client *rig, const char *operation, const char *body)
{
	aws_rig_step(
	    rig, (struct step){
		     .operation = operation, .status = 200, .body = body });
}

static void
turn(void *arg)
{
	struct aws_client *rig = arg;

	if (rig->want_requests ? rig->n_asked >= rig->requests_wanted
			       : rig->open == 0)
		loop_stop(rig->loop);
}

void
aws_rig_settle(struct aws_client *rig)
{
	rig->want_requests = false;
	loop_timer_set(rig->guard, GUARD_MS);
	loop_run(rig->loop, turn, rig);
}

void
aws_rig_wait(struct aws_client *rig, size_t requests)
{
	rig->want_requests = true;
	rig->requests_wanted = requests;
	loop_timer_set(rig->guard, GUARD_MS);
	loop_run(rig->loop, turn, rig);
}

static void
aws_client_keep(struct aws_client_answer *t, const struct aws_answer *a)
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
	struct aws_client_answer *t = arg;

	aws_client_keep(t, a);
	if (t->also != NULL)
		t->also(t);
}

static void
on_list(void *arg, const struct aws_answer *a,
    const struct aws_s3_object *objects, size_t n)
{
	struct aws_client_answer *t = arg;
	size_t i;

	aws_client_keep(t, a);
	t->n = n;
	for (i = 0; i < n; i++)
		buf_printf(&t->keys, "%s %lld %lld\n", objects[i].key,
		    (long long)objects[i].size,
		    (long long)objects[i].modified_s);
}

void
aws_client_answer_free(struct aws_client_answer *t)
{
	free(t->code);
	free(t->message);
	free(t->request_id);
	free(t->json);
	free(t->body);
	buf_free(&t->keys);
	*t = (struct aws_client_answer){ 0 };
}

static void
aws_client_call_begin(struct aws_client *rig, struct aws_client_answer *t)
{
	void (*also)(struct aws_client_answer *) = t->also;

	aws_client_answer_free(t);
	t->also = also;
	t->rig = rig;
	rig->open++;
}

void
aws_rig_json(struct aws_client *rig, struct aws_client_answer *t,
    enum aws_service service, const char *operation, int tries)
{
	struct aws_ask ask = { .service = service,
		.operation = operation,
		.body = "{\"A\": 1}",
		.tries = tries,
		.timeout_ms =
		    rig->timeout_ms > 0 ? rig->timeout_ms : ANSWER_MS };

	aws_client_call_begin(rig, t);
	t->call = aws_json(rig->aws, &ask, aws_rig_told, t);
}

void
aws_rig_s3(struct aws_client *rig, struct aws_client_answer *t,
    const struct aws_s3_ask *ask)
{
	aws_client_call_begin(rig, t);
	t->call = aws_s3(rig->aws, ask, aws_rig_told, t);
}

void
aws_rig_list(struct aws_client *rig, struct aws_client_answer *t,
    const char *bucket, const char *prefix, size_t most)
{
	aws_client_call_begin(rig, t);
	t->call = aws_s3_list(rig->aws, bucket, prefix, most, on_list, t);
}
