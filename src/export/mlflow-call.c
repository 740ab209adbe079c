/*
 * One request at a time to an MLflow server: the loop runs until its answer is
 * there.
 */

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/http/http.h"
#include "src/base/json/json.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "src/base/text.h"
#include "src/export/mlflow-call.h"

struct mlflow_call {
	struct loop *loop;
	struct http *http;
	struct loop_timer *timer;
	char *url; /* without a slash at its end */
	char *shown; /* the same for messages */
	char *authorization; /* a header, or NULL */
	/* The answer to the last request. */
	int status;
	struct buf body;
	char *error;
};

static void
mlflow_call_on_turn(void *arg)
{
	(void)arg;
}

static void
mlflow_call_on_time(void *arg)
{
	loop_stop(arg);
}

void
mlflow_call_close(struct mlflow_call *c)
{
	if (c == NULL)
		return;
	if (c->timer != NULL)
		loop_timer_free(c->timer);
	if (c->http != NULL)
		http_close(c->http);
	if (c->loop != NULL)
		loop_close(c->loop);
	buf_free(&c->body);
	free(c->error);
	free(c->authorization);
	free(c->url);
	free(c->shown);
	free(c);
}

int
mlflow_call_open(
    struct mlflow_call **out, const char *url, const char *token, struct err *e)
{
	struct mlflow_call *c = xcalloc(1, sizeof *c);
	struct buf shown = { 0 };
	size_t n = strlen(url);

	while (n > 0 && url[n - 1] == '/')
		n--;
	c->url = xasprintf("%.*s", (int)n, url);
	text_put_url(&shown, c->url);
	c->shown = buf_take(&shown);
	if (token != NULL)
		c->authorization = xasprintf("Authorization: Bearer %s", token);
	if (loop_open(&c->loop, LOOP_REAL, e) == 0 &&
	    http_open(&c->http, c->loop, NULL, e) == 0) {
		c->timer =
		    loop_timer_new(c->loop, mlflow_call_on_time, c->loop);
		*out = c;
		return 0;
	}
	mlflow_call_close(c);
	return -1;
}

const char *
mlflow_call_url(const struct mlflow_call *c)
{
	return c->shown;
}

void
mlflow_call_wait(struct mlflow_call *c, int64_t ms)
{
	loop_timer_set(c->timer, ms);
	loop_run(c->loop, mlflow_call_on_turn, NULL);
}

static void
mlflow_call_on_answer(void *arg, const struct http_answer *a)
{
	struct mlflow_call *c = arg;

	c->status = a->status;
	buf_clear(&c->body);
	buf_add(&c->body, a->body, a->len);
	free(c->error);
	c->error = xstrdup(a->error);
	loop_stop(c->loop);
}

/* What a refusal says of itself. */
static int
mlflow_call_refused(struct mlflow_call *c, const char *path, struct err *e)
{
	struct json_doc *doc = NULL;
	const char *text, *code;
	int rc;

	if (json_parse(
		&doc, buf_str(&c->body), c->body.len, NULL, false, NULL) != 0)
		return err_set(e, ERR_REMOTE,
		    "%s: %s: HTTP status %d: is this an MLflow server?",
		    c->shown, path, c->status);
	text = json_string(json_get(json_root(doc), "message"));
	code = json_string(json_get(json_root(doc), "error_code"));
	if (code != NULL && strcmp(code, "RESOURCE_DOES_NOT_EXIST") == 0)
		rc = 1;
	else
		rc = err_set(e, ERR_REMOTE, "%s: %s: HTTP status %d: %.200s",
		    c->shown, path, c->status, text != NULL ? text : "");
	json_free(doc);
	return rc;
}

int
mlflow_call(struct mlflow_call *c, const char *method, const char *path,
    const struct buf *body, struct json_doc **answer, struct err *e)
{
	const char *headers[3] = { "Content-Type: application/json",
		c->authorization, NULL };
	char *url = xasprintf("%s/api/2.0/mlflow/%s", c->url, path);
	struct http_send send = {
		.method = method,
		.url = url,
		.headers = headers,
		.body = body != NULL ? buf_str(body) : NULL,
		.body_len = body != NULL ? body->len : 0,
		.plain = true,
	};

	http_start(c->http, &send, mlflow_call_on_answer, c);
	loop_run(c->loop, mlflow_call_on_turn, NULL);
	free(url);
	if (c->status == 0)
		return err_set(e, ERR_REMOTE, "%s: %s", c->shown, c->error);
	if (c->status != 200)
		return mlflow_call_refused(c, path, e);
	if (answer == NULL)
		return 0;
	if (json_parse(
		answer, buf_str(&c->body), c->body.len, NULL, false, e) == 0)
		return 0;
	e->kind = ERR_REMOTE;
	return err_add(e, "%s: %s", c->shown, path);
}
