/*
 * Runs of MLflow (REST API, docs/rest-api).  A run is found again by two tags,
 * so that creating it twice is impossible but for two exports at the same time;
 * the same metric with the same time, step and value, and the same parameter
 * again, change nothing there.
 */

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/http/http.h"
#include "src/base/json/json-writer.h"
#include "src/base/json/json.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "src/export/export-mlflow.h"
#include "src/server/status/rows.h"
#include "src/store/store.h"

/* Limits of log-batch, and of a value. */
enum { METRICS_MOST = 1000, PARAMS_MOST = 100, VALUE_MOST = 6000 };

/* ---- one request at a time: the loop runs until its answer is there ----- */

struct mlflow_call {
	struct loop *loop;
	struct http *http;
	struct loop_timer *timer;
	char *url; /* without a slash at its end */
	char *authorization; /* a header, or NULL */
	/* The answer to the last request. */
	int status;
	struct buf body;
	char *error;
};

static void
on_turn(void *arg)
{
	(void)arg;
}

static void
on_time(void *arg)
{
	loop_stop(arg);
}

static void
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
	free(c);
}

static int
mlflow_call_open(
    struct mlflow_call **out, const char *url, const char *token, struct err *e)
{
	struct mlflow_call *c = xcalloc(1, sizeof *c);
	size_t n = strlen(url);

	while (n > 0 && url[n - 1] == '/')
		n--;
	c->url = xasprintf("%.*s", (int)n, url);
	if (token != NULL)
		c->authorization = xasprintf("Authorization: Bearer %s", token);
	if (loop_open(&c->loop, LOOP_REAL, e) == 0 &&
	    http_open(&c->http, c->loop, NULL, e) == 0) {
		c->timer = loop_timer_new(c->loop, on_time, c->loop);
		*out = c;
		return 0;
	}
	mlflow_call_close(c);
	return -1;
}

/* Let time pass. */
static void
mlflow_call_wait(struct mlflow_call *c, int64_t ms)
{
	loop_timer_set(c->timer, ms);
	loop_run(c->loop, on_turn, NULL);
}

static void
on_answer(void *arg, const struct http_answer *a)
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
refused(struct mlflow_call *c, const char *path, struct err *e)
{
	struct json_doc *doc = NULL;
	const char *text, *code;
	int rc;

	if (json_parse(
		&doc, buf_str(&c->body), c->body.len, NULL, false, NULL) != 0)
		return err_set(e, ERR_REMOTE,
		    "%s: %s: HTTP status %d: is this an MLflow server?", c->url,
		    path, c->status);
	text = json_string(json_get(json_root(doc), "message"));
	code = json_string(json_get(json_root(doc), "error_code"));
	if (code != NULL && strcmp(code, "RESOURCE_DOES_NOT_EXIST") == 0)
		rc = 1;
	else
		rc = err_set(e, ERR_REMOTE, "%s: %s: HTTP status %d: %.200s",
		    c->url, path, c->status, text != NULL ? text : "");
	json_free(doc);
	return rc;
}

/*
 * Call METHOD api/2.0/mlflow/PATH, with a JSON body or NULL.  0 with *answer,
 * which the caller frees (NULL: it is not wanted); 1: RESOURCE_DOES_NOT_EXIST;
 * -1: ERR_REMOTE.
 */
static int
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

	http_start(c->http, &send, on_answer, c);
	loop_run(c->loop, on_turn, NULL);
	free(url);
	if (c->status == 0)
		return err_set(e, ERR_REMOTE, "%s: %s", c->url, c->error);
	if (c->status != 200)
		return refused(c, path, e);
	if (answer == NULL)
		return 0;
	if (json_parse(
		answer, buf_str(&c->body), c->body.len, NULL, false, e) == 0)
		return 0;
	e->kind = ERR_REMOTE;
	return err_add(e, "%s: %s", c->url, path);
}

/* ---- runs --------------------------------------------------------------- */

struct run {
	int64_t trial;
	char *id; /* there */
	char *state; /* ours, when it was last sent; "" = none */
	int64_t sent; /* seq of the last metric that was sent; -1 = none */
	bool params; /* they were sent */
};

struct mlflow {
	struct store *store;
	struct mlflow_call *call;
	char *experiment; /* id; NULL = not looked up yet */
	char *study; /* NAME-ID, the value of a tag */
	char *name;
	struct run *runs; /* ascending by trial */
	size_t n_runs, cap_runs;
	int64_t changed;
};

int
export_mlflow_open(struct mlflow **out, struct store *store, const char *url,
    const char *token, struct err *e)
{
	struct mlflow *m = xcalloc(1, sizeof *m);
	struct store_study row = { 0 };
	char id[STUDY_ID];
	int rc;

	m->store = store;
	rc = store_study_get(store, &row, e);
	if (rc == 0) {
		store_study_id(id, &row);
		m->study = xasprintf("%s-%s", row.name, id);
		m->name = xstrdup(row.name);
		rc = mlflow_call_open(&m->call, url, token, e);
	}
	store_study_fini(&row);
	if (rc == 0)
		*out = m;
	else
		export_mlflow_close(m);
	return rc;
}

void
export_mlflow_close(struct mlflow *m)
{
	size_t i;

	if (m == NULL)
		return;
	for (i = 0; i < m->n_runs; i++) {
		free(m->runs[i].id);
		free(m->runs[i].state);
	}
	free(m->runs);
	mlflow_call_close(m->call);
	free(m->experiment);
	free(m->study);
	free(m->name);
	free(m);
}

void
export_mlflow_wait(struct mlflow *m, int64_t ms)
{
	mlflow_call_wait(m->call, ms);
}

int64_t
export_mlflow_changed(const struct mlflow *m)
{
	return m->changed;
}

/* ---- what is there --------------------------------------------------------- */

/* A text of an answer, at a.b; the caller frees it. */
static int
answer_text(char **out, struct json_doc *doc, const char *a, const char *b,
    struct err *e)
{
	const struct json *j = json_get(json_root(doc), a);
	const char *text = json_string(b != NULL ? json_get(j, b) : j);

	if (text != NULL)
		*out = xstrdup(text);
	json_free(doc);
	return text != NULL
		   ? 0
		   : err_set(e, ERR_REMOTE, "the answer of MLflow has no %s",
			 b != NULL ? b : a);
}

static int
experiment_find(struct mlflow *m, struct err *e)
{
	struct buf path = { 0 }, body = { 0 };
	struct json_writer w = { .out = &body };
	struct json_doc *doc = NULL;
	int rc;

	buf_puts(&path, "experiments/get-by-name?experiment_name=");
	http_put_encoded(&path, m->name, strlen(m->name), false);
	rc = mlflow_call(m->call, "GET", buf_str(&path), NULL, &doc, e);
	if (rc == 0)
		rc = answer_text(
		    &m->experiment, doc, "experiment", "experiment_id", e);
	else if (rc == 1) {
		json_writer_object(&w, NULL);
		json_writer_text(&w, "name", m->name);
		json_writer_end(&w);
		rc = mlflow_call(
		    m->call, "POST", "experiments/create", &body, &doc, e);
		if (rc == 1)
			rc = err_set(e, ERR_REMOTE,
			    "MLflow does not create an experiment");
		if (rc == 0)
			rc = answer_text(
			    &m->experiment, doc, "experiment_id", NULL, e);
	}
	buf_free(&path);
	buf_free(&body);
	return rc;
}

static struct run *
run_find(struct mlflow *m, int64_t trial)
{
	size_t i;

	for (i = m->n_runs; i > 0 && m->runs[i - 1].trial >= trial; i--)
		if (m->runs[i - 1].trial == trial)
			return &m->runs[i - 1];
	return NULL;
}

/* A new one, in its place. */
static struct run *
run_add(struct mlflow *m, int64_t trial, const char *id, const char *state)
{
	size_t i;

	XGROW(m->runs, m->n_runs, m->cap_runs);
	for (i = m->n_runs++; i > 0 && m->runs[i - 1].trial > trial; i--)
		m->runs[i] = m->runs[i - 1];
	m->runs[i] = (struct run){
		.trial = trial,
		.id = xstrdup(id),
		.state = xstrdup(state),
		.sent = -1,
	};
	return &m->runs[i];
}

static const char *
tag_of(const struct json *run, const char *key)
{
	const struct json *tag = json_get(json_get(run, "data"), "tags");
	const char *name;

	for (tag = json_first(tag); tag != NULL; tag = json_next(tag)) {
		name = json_string(json_get(tag, "key"));
		if (name != NULL && strcmp(name, key) == 0)
			return json_string(json_get(tag, "value"));
	}
	return NULL;
}

static void
runs_take(struct mlflow *m, const struct json *list)
{
	const struct json *run;
	const char *trial, *state, *id;

	for (run = json_first(list); run != NULL; run = json_next(run)) {
		trial = tag_of(run, "hpotune.trial");
		state = tag_of(run, "hpotune.state");
		id = json_string(json_get(json_get(run, "info"), "run_id"));
		if (trial != NULL && id != NULL &&
		    run_find(m, strtoll(trial, NULL, 10)) == NULL)
			(void)run_add(m, strtoll(trial, NULL, 10), id,
			    state != NULL ? state : "");
	}
}

/* The runs of this study, by pages. */
static int
runs_find(struct mlflow *m, struct err *e)
{
	char *filter = xasprintf("tags.`hpotune.study` = '%s'", m->study);
	struct json_doc *doc = NULL;
	struct buf body = { 0 };
	const char *token;
	char *next = NULL;
	int rc;

	do {
		struct json_writer w = { .out = &body };

		buf_clear(&body);
		json_writer_object(&w, NULL);
		json_writer_array(&w, "experiment_ids");
		json_writer_text(&w, NULL, m->experiment);
		json_writer_end(&w);
		json_writer_text(&w, "filter", filter);
		json_writer_integer(&w, "max_results", 1000);
		if (next != NULL)
			json_writer_text(&w, "page_token", next);
		json_writer_end(&w);
		free(next);
		next = NULL;
		rc =
		    mlflow_call(m->call, "POST", "runs/search", &body, &doc, e);
		if (rc != 0)
			break;
		runs_take(m, json_get(json_root(doc), "runs"));
		token =
		    json_string(json_get(json_root(doc), "next_page_token"));
		if (token != NULL && *token != '\0')
			next = xstrdup(token);
		json_free(doc);
	} while (next != NULL);
	buf_free(&body);
	free(filter);
	return rc == 1 ? err_set(e, ERR_REMOTE,
			     "MLflow has deleted the experiment %s: restore it",
			     m->name)
		       : rc;
}

/* ---- one trial -------------------------------------------------------------- */

enum { COL_TRIAL, COL_STATE, COL_PARAMS, COL_STARTED, COL_ENDED };

static const char trials_sql[] =
    "SELECT trial, state, params, started_us / 1000, ended_us / 1000 "
    "FROM t_trial WHERE started_us > 0 AND forgotten = 0 ORDER BY trial";

static const char metrics_sql[] =
    "SELECT n.name, m.value, m.time_us / 1000, m.step, m.seq "
    "FROM t_metric AS m JOIN t_name AS n ON m.name_id = n.id "
    "WHERE m.trial = ?1 AND m.seq > CAST(?2 AS INTEGER) "
    "ORDER BY m.seq LIMIT 1000";

static const char *
status_of(const char *state)
{
	if (strcmp(state, "completed") == 0 || strcmp(state, "stopped") == 0)
		return "FINISHED";
	if (strcmp(state, "failed") == 0)
		return "FAILED";
	if (strcmp(state, "cancelled") == 0)
		return "KILLED";
	return "RUNNING";
}

static void
put_tag(struct json_writer *w, const char *key, const char *value)
{
	json_writer_object(w, NULL);
	json_writer_text(w, "key", key);
	json_writer_text(w, "value", value);
	json_writer_end(w);
}

static struct run *
run_create(struct mlflow *m, int64_t trial, int64_t started, struct err *e)
{
	char *name = xasprintf("trial-%" PRId64, trial);
	struct buf body = { 0 };
	struct json_writer w = { .out = &body };
	struct json_doc *doc = NULL;
	struct run *run = NULL;
	char *id = NULL;
	int rc;

	json_writer_object(&w, NULL);
	json_writer_text(&w, "experiment_id", m->experiment);
	json_writer_text(&w, "run_name", name);
	json_writer_integer(&w, "start_time", started);
	json_writer_array(&w, "tags");
	put_tag(&w, "hpotune.study", m->study);
	put_tag(&w, "hpotune.trial", name + strlen("trial-"));
	json_writer_end(&w);
	json_writer_end(&w);
	rc = mlflow_call(m->call, "POST", "runs/create", &body, &doc, e);
	if (rc == 1)
		err_set(e, ERR_REMOTE, "MLflow does not create a run");
	else if (rc == 0) {
		const struct json *info =
		    json_get(json_get(json_root(doc), "run"), "info");

		if (json_string(json_get(info, "run_id")) != NULL)
			id = xstrdup(json_string(json_get(info, "run_id")));
		else
			err_set(e, ERR_REMOTE,
			    "the answer of MLflow has no run_id");
		json_free(doc);
	}
	if (id != NULL)
		run = run_add(m, trial, id, "");
	free(id);
	free(name);
	buf_free(&body);
	return run;
}

/* Names have fewer signs there. */
static void
put_key(struct json_writer *w, const char *name)
{
	char *key = xstrdup(name), *at;

	for (at = key; (at = strchr(at, '@')) != NULL;)
		*at = '_';
	json_writer_text(w, "key", key);
	free(key);
}

static int
batch_send(struct mlflow *m, struct buf *body, struct err *e)
{
	int rc = mlflow_call(m->call, "POST", "runs/log-batch", body, NULL, e);

	return rc == 1 ? err_set(e, ERR_REMOTE, "a run of MLflow was deleted")
		       : rc;
}

static void
put_param(struct json_writer *w, const struct json *j)
{
	struct buf text = { 0 };

	if (json_string(j) != NULL)
		buf_puts(&text, json_string(j));
	else
		json_write(&text, j);
	if (text.len > VALUE_MOST)
		text.data[VALUE_MOST] = '\0';
	json_writer_object(w, NULL);
	put_key(w, json_key(j));
	json_writer_text(w, "value", buf_str(&text));
	json_writer_end(w);
	buf_free(&text);
}

static int
params_send(
    struct mlflow *m, struct run *run, const char *params, struct err *e)
{
	struct buf body = { 0 };
	struct json_doc *doc;
	const struct json *j;
	int i, rc = 0;

	if (json_parse(&doc, params, strlen(params), NULL, false, e) != 0)
		return -1;
	for (j = json_first(json_root(doc)); j != NULL && rc == 0;) {
		struct json_writer w = { .out = &body };

		buf_clear(&body);
		json_writer_object(&w, NULL);
		json_writer_text(&w, "run_id", run->id);
		json_writer_array(&w, "params");
		for (i = 0; i < PARAMS_MOST && j != NULL; i++, j = json_next(j))
			put_param(&w, j);
		json_writer_end(&w);
		json_writer_end(&w);
		rc = batch_send(m, &body, e);
	}
	json_free(doc);
	buf_free(&body);
	run->params = rc == 0;
	return rc;
}

/* Protocol buffers in JSON: what is not finite is a text. */
static void
put_value(struct json_writer *w, double x)
{
	if (isfinite(x))
		json_writer_number(w, "value", x);
	else
		json_writer_text(w, "value",
		    isnan(x) ? "NaN"
		    : x > 0  ? "Infinity"
			     : "-Infinity");
}

/*
 * The next metrics, at most METRICS_MOST: how many they are, or -1; *last is the
 * seq of the last of them.
 */
static int
metrics_put(struct mlflow *m, const struct run *run, struct buf *body,
    int64_t *last, struct err *e)
{
	struct json_writer w = { .out = body };
	char trial[24], after[24];
	const char *params[] = { trial, after, NULL };
	struct store_rows *rows;
	int rc, n = 0;

	(void)snprintf(trial, sizeof trial, "%" PRId64, run->trial);
	(void)snprintf(after, sizeof after, "%" PRId64, run->sent);
	if (store_rows_open(&rows, m->store, metrics_sql, params, e) != 0)
		return -1;
	json_writer_object(&w, NULL);
	json_writer_text(&w, "run_id", run->id);
	json_writer_array(&w, "metrics");
	for (; (rc = store_rows_next(rows, e)) == 1; n++) {
		json_writer_object(&w, NULL);
		put_key(&w, store_rows_text(rows, 0));
		put_value(&w, rows_real(rows, 1));
		json_writer_integer(&w, "timestamp", store_rows_int(rows, 2));
		json_writer_integer(&w, "step", store_rows_int(rows, 3));
		*last = store_rows_int(rows, 4);
		json_writer_end(&w);
	}
	json_writer_end(&w);
	json_writer_end(&w);
	store_rows_close(rows);
	return rc == 0 ? n : -1;
}

static int
metrics_send(struct mlflow *m, struct run *run, struct err *e)
{
	struct buf body = { 0 };
	int64_t last = -1;
	int n, rc = 0;

	do {
		buf_clear(&body);
		n = metrics_put(m, run, &body, &last, e);
		if (n > 0)
			rc = batch_send(m, &body, e);
		if (n > 0 && rc == 0)
			run->sent = last;
	} while (n == METRICS_MOST && rc == 0);
	buf_free(&body);
	return n < 0 ? -1 : rc;
}

static int
state_send(struct mlflow *m, struct run *run, const char *state, int64_t ended,
    struct err *e)
{
	struct buf body = { 0 };
	struct json_writer w = { .out = &body };
	int rc;

	json_writer_object(&w, NULL);
	json_writer_text(&w, "run_id", run->id);
	json_writer_text(&w, "status", status_of(state));
	if (ended > 0)
		json_writer_integer(&w, "end_time", ended);
	json_writer_end(&w);
	rc = mlflow_call(m->call, "POST", "runs/update", &body, NULL, e);
	if (rc == 1)
		rc = err_set(e, ERR_REMOTE, "a run of MLflow was deleted");
	/* The tag is last: with it everything is there. */
	buf_clear(&body);
	w = (struct json_writer){ .out = &body };
	json_writer_object(&w, NULL);
	json_writer_text(&w, "run_id", run->id);
	json_writer_array(&w, "tags");
	put_tag(&w, "hpotune.state", state);
	json_writer_end(&w);
	json_writer_end(&w);
	if (rc == 0)
		rc = batch_send(m, &body, e);
	if (rc == 0) {
		free(run->state);
		run->state = xstrdup(state);
	}
	buf_free(&body);
	return rc;
}

struct trial {
	int64_t number, started, ended;
	char *state, *params;
};

static int
trial_send(struct mlflow *m, const struct trial *t, struct err *e)
{
	struct run *run = run_find(m, t->number);
	bool ended = strcmp(status_of(t->state), "RUNNING") != 0;
	int64_t sent;

	/* All of it is there. */
	if (run != NULL && ended && strcmp(run->state, t->state) == 0)
		return 0;
	if (run == NULL &&
	    (run = run_create(m, t->number, t->started, e)) == NULL)
		return -1;
	sent = run->sent;
	if (!run->params && params_send(m, run, t->params, e) != 0)
		return -1;
	if (metrics_send(m, run, e) != 0)
		return -1;
	m->changed += sent < run->sent || strcmp(run->state, t->state) != 0;
	return strcmp(run->state, t->state) != 0
		   ? state_send(m, run, t->state, ended ? t->ended : 0, e)
		   : 0;
}

int
export_mlflow_pass(struct mlflow *m, struct err *e)
{
	struct store_rows *rows;
	struct trial *trials = NULL;
	size_t n = 0, cap = 0, i;
	int rc = 0;

	if (m->experiment == NULL &&
	    (experiment_find(m, e) != 0 || runs_find(m, e) != 0))
		return -1;
	/* No transaction stays open while the server is waited for. */
	if (store_rows_open(&rows, m->store, trials_sql, NULL, e) != 0)
		return -1;
	while ((rc = store_rows_next(rows, e)) == 1) {
		XGROW(trials, n, cap);
		trials[n++] = (struct trial){
			.number = store_rows_int(rows, COL_TRIAL),
			.state = xstrdup(store_rows_text(rows, COL_STATE)),
			.params = xstrdup(store_rows_text(rows, COL_PARAMS)),
			.started = store_rows_int(rows, COL_STARTED),
			.ended = store_rows_int(rows, COL_ENDED),
		};
	}
	store_rows_close(rows);
	for (i = 0; i < n; i++) {
		if (rc == 0)
			rc = trial_send(m, &trials[i], e);
		free(trials[i].state);
		free(trials[i].params);
	}
	free(trials);
	return rc;
}
