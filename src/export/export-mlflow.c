/*
 * Runs of MLflow (REST API, docs/rest-api).  A run is found again by two tags,
 * so that creating it twice is impossible but for two exports at the same time;
 * the same metric with the same time, step and value, and the same parameter
 * again, change nothing there.
 */

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json-writer.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/export/export-mlflow.h"
#include "src/export/mlflow-call.h"
#include "src/export/mlflow-runs.h"
#include "src/store/queries.h"
#include "src/store/store.h"
#include "src/view/rows.h"

/* Limits of log-batch, and of a value. */
enum { METRICS_MOST = 1000, PARAMS_MOST = 100, VALUE_MOST = 6000 };

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

enum { COL_TRIAL, COL_STATE, COL_PARAMS, COL_STARTED, COL_ENDED };

static const char trials_sql[] =
    "SELECT trial, state, params, started_us / 1000, ended_us / 1000 "
    "FROM " STORE_SQL_TRIALS
    " WHERE started_us > 0 AND forgotten = 0 ORDER BY trial";

static const char *
mlflow_status_of(const char *state)
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

static struct mlflow_run *
run_create(struct mlflow *m, int64_t trial, int64_t started, struct err *e)
{
	char *name = xasprintf("trial-%" PRId64, trial);
	struct buf body = { 0 };
	struct json_writer w = { .out = &body };
	struct json_doc *doc = NULL;
	struct mlflow_run *run = NULL;
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
		run = mlflow_runs_add(m, trial, id);
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
mlflow_put_param(struct json_writer *w, const struct json *j)
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
    struct mlflow *m, struct mlflow_run *run, const char *params, struct err *e)
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
			mlflow_put_param(&w, j);
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
mlflow_metrics_put(struct mlflow *m, const struct mlflow_run *run,
    struct buf *body, int64_t *last, struct err *e)
{
	struct json_writer w = { .out = body };
	struct store_rows *rows;
	int rc, n = 0;

	if (store_list_reports_after(
		&rows, m->store, run->trial, run->sent, METRICS_MOST, e) != 0)
		return -1;
	json_writer_object(&w, NULL);
	json_writer_text(&w, "run_id", run->id);
	json_writer_array(&w, "metrics");
	for (; (rc = store_rows_next(rows, e)) == 1; n++) {
		json_writer_object(&w, NULL);
		put_key(&w, store_rows_text(rows, 0));
		put_value(&w, rows_real(rows, 1));
		json_writer_integer(
		    &w, "timestamp", store_rows_int(rows, 2) / 1000);
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
metrics_send(struct mlflow *m, struct mlflow_run *run, struct err *e)
{
	struct buf body = { 0 };
	int64_t last = -1;
	int n, rc = 0;

	do {
		buf_clear(&body);
		n = mlflow_metrics_put(m, run, &body, &last, e);
		if (n > 0)
			rc = batch_send(m, &body, e);
		if (n > 0 && rc == 0)
			run->sent = last;
	} while (n == METRICS_MOST && rc == 0);
	buf_free(&body);
	return n < 0 ? -1 : rc;
}

static int
state_send(struct mlflow *m, struct mlflow_run *run, const char *state,
    int64_t ended, struct err *e)
{
	struct buf body = { 0 };
	struct json_writer w = { .out = &body };
	int rc;

	json_writer_object(&w, NULL);
	json_writer_text(&w, "run_id", run->id);
	json_writer_text(&w, "status", mlflow_status_of(state));
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
	struct mlflow_run *run = mlflow_runs_find(m, t->number);
	bool ended = strcmp(mlflow_status_of(t->state), "RUNNING") != 0;
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
	    (mlflow_runs_experiment(m, e) != 0 || mlflow_runs_read(m, e) != 0))
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
