/* The experiment and the runs that an MLflow server has. */

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/http/http.h"
#include "src/base/json/json-writer.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/base/search.h"
#include "src/export/mlflow-call.h"
#include "src/export/mlflow-runs.h"

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

int
mlflow_runs_experiment(struct mlflow *m, struct err *e)
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

/* The index of the first run that is not of a trial before this one. */
static size_t
run_at(const struct mlflow *m, int64_t trial)
{
	size_t at;

	SEARCH_FIRST(at, m->n_runs, m->runs[at].trial < trial);
	return at;
}

struct mlflow_run *
mlflow_runs_find(struct mlflow *m, int64_t trial)
{
	size_t at = run_at(m, trial);

	return at < m->n_runs && m->runs[at].trial == trial ? &m->runs[at]
							    : NULL;
}

static struct mlflow_run
run_make(int64_t trial, const char *id, const char *state)
{
	return (struct mlflow_run){
		.trial = trial,
		.id = xstrdup(id),
		.state = xstrdup(state),
		.sent = -1,
	};
}

struct mlflow_run *
mlflow_runs_add(struct mlflow *m, int64_t trial, const char *id)
{
	size_t at = run_at(m, trial);

	XGROW(m->runs, m->n_runs, m->cap_runs);
	memmove(m->runs + at + 1, m->runs + at,
	    (m->n_runs++ - at) * sizeof *m->runs);
	m->runs[at] = run_make(trial, id, "");
	return &m->runs[at];
}

static void
run_free(struct mlflow_run *run)
{
	free(run->id);
	free(run->state);
}

static int
run_compare(const void *a, const void *b)
{
	const struct mlflow_run *x = a, *y = b;

	if (x->trial != y->trial)
		return x->trial < y->trial ? -1 : 1;
	return strcmp(x->id, y->id);
}

/*
 * Add the runs of a page, which is consumed, those of new trials: MLflow lists
 * the newest first, so that one by one each would move all that are there.
 */
static void
runs_merge(struct mlflow *m, struct mlflow_run *page, size_t n)
{
	struct mlflow_run *all = xcalloc(m->n_runs + n + 1, sizeof *all);
	size_t i = 0, k = 0, at = 0;

	qsort(page, n, sizeof *page, run_compare);
	while (i < m->n_runs || k < n)
		if (k == n ||
		    (i < m->n_runs && m->runs[i].trial <= page[k].trial))
			all[at++] = m->runs[i++];
		else if (at > 0 && all[at - 1].trial == page[k].trial)
			run_free(&page[k++]);
		else
			all[at++] = page[k++];
	free(m->runs);
	m->runs = all;
	m->cap_runs = m->n_runs + n + 1;
	m->n_runs = at;
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
	struct mlflow_run *page = NULL;
	const char *trial, *state, *id;
	size_t n = 0, cap = 0;
	const struct json *run;

	for (run = json_first(list); run != NULL; run = json_next(run)) {
		trial = tag_of(run, "hpotune.trial");
		state = tag_of(run, "hpotune.state");
		id = json_string(json_get(json_get(run, "info"), "run_id"));
		if (trial == NULL || id == NULL)
			continue;
		XGROW(page, n, cap);
		page[n++] = run_make(
		    strtoll(trial, NULL, 10), id, state != NULL ? state : "");
	}
	if (n > 0)
		runs_merge(m, page, n);
	free(page);
}

enum { IDLE_PAGES = 16 }; /* in a row, without a run of ours */

int
mlflow_runs_read(struct mlflow *m, struct err *e)
{
	char *filter = xasprintf("tags.`hpotune.study` = '%s'", m->study);
	struct json_doc *doc = NULL;
	struct buf body = { 0 };
	size_t known = m->n_runs;
	const char *token;
	char *next = NULL;
	int rc, idle = 0;

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
		/* A page of a list that ends has something new. */
		idle = m->n_runs > known ? 0 : idle + 1;
		known = m->n_runs;
		if (next != NULL && idle == IDLE_PAGES)
			rc = err_set(e, ERR_REMOTE,
			    "%s: runs/search: the list of runs has no end",
			    mlflow_call_url(m->call));
	} while (rc == 0 && next != NULL);
	free(next);
	buf_free(&body);
	free(filter);
	return rc == 1 ? err_set(e, ERR_REMOTE,
			     "MLflow has deleted the experiment %s: restore it",
			     m->name)
		       : rc;
}
