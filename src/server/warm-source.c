/*
 * The trials of one database, or of a tuning job, in the terms of this study.  Knows views and
 * what a finished trial says; refuses to know how it is used.
 */

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json.h"
#include "src/base/mem.h"
#include "src/model/space.h"
#include "src/model/study.h"
#include "src/server/warm-parts.h"
#include "src/store/store.h"

/* One database while it is read. */
struct reading {
	struct warm *warm;
	struct warm_source *source;
	const struct study *study;
	struct store *store;
	struct value *values;
};

/* Remember one of its parameters that this study does not have. */
static void
strange_note(struct reading *r, const struct json *params)
{
	const struct json *j;

	for (j = json_first(params); j != NULL && r->source->strange[0] == '\0';
	     j = json_next(j))
		if (space_find(r->study->space, json_key(j)) < 0)
			(void)snprintf(r->source->strange,
			    sizeof r->source->strange, "%s", json_key(j));
}

static void
trial_take(struct reading *r, struct warm_trial *trial)
{
	struct warm *w = r->warm;
	struct buf b = { 0 };

	if (w->n == w->cap) {
		w->cap = w->cap > 0 ? 2 * w->cap : 64;
		w->trials = xreallocarray(w->trials, w->cap, sizeof *w->trials);
	}
	space_put_json(&b, r->study->space, r->values);
	trial->params = buf_take(&b);
	trial->source = w->n_sources - 1;
	w->trials[w->n++] = *trial;
	r->source->taken++;
}

/* Whether it ended as its setting made it, and not as the machine did. */
static bool
own_fault(const char *end)
{
	enum end_class c;

	return end_class_parse(end, &c) && end_class_retry(c) != RETRY_FREE;
}

/* Columns of the query below; one for each metric that counts follows. */
enum {
	COL_TRIAL,
	COL_STATE,
	COL_PARAMS,
	COL_STEP,
	COL_VALUE,
	COL_OBJECTIVE,
	COL_END,
	COL_METRICS
};

static double
row_real(const struct store_rows *rows, int col)
{
	return store_rows_null(rows, col) ? NAN : store_rows_real(rows, col);
}

/* More than one objective counts, or constraints do. */
static bool
study_is_wide(const struct study *s)
{
	return s->n_objectives > 1 || s->n_constraints > 0;
}

static const char *
aim_metric(const struct study *s, size_t i)
{
	return i < s->n_objectives ? s->objectives[i].metric
				   : s->constraints[i - s->n_objectives].metric;
}

/* The last reports of all that counts, as a JSON object. */
static char *
metrics_read(const struct study *study, const struct store_rows *rows)
{
	struct buf b = { 0 };
	size_t i;

	if (!study_is_wide(study))
		return NULL;
	for (i = 0; i < study->n_objectives + study->n_constraints; i++) {
		buf_putc(&b, i == 0 ? '{' : ',');
		json_put_string(&b, aim_metric(study, i));
		buf_putc(&b, ':');
		json_put_number(&b, row_real(rows, COL_METRICS + (int)i));
	}
	buf_putc(&b, '}');
	return buf_take(&b);
}

/* Whether it has a result, in every objective. */
static bool
result_whole(const struct reading *r, const struct store_rows *rows)
{
	size_t i;

	if (!isfinite(row_real(rows, COL_OBJECTIVE)))
		return false;
	for (i = 0; i < r->study->n_objectives && r->study->n_objectives > 1;
	     i++)
		if (!isfinite(row_real(rows, COL_METRICS + (int)i)))
			return false;
	return true;
}

static void
trial_read(struct reading *r, const struct store_rows *rows)
{
	struct warm_source *s = r->source;
	struct warm_trial trial = {
		.trial = store_rows_int(rows, COL_TRIAL),
		.objective = row_real(rows, COL_OBJECTIVE),
		.step = store_rows_null(rows, COL_STEP)
			    ? -1
			    : store_rows_int(rows, COL_STEP),
		.value = row_real(rows, COL_VALUE),
	};
	const char *params = store_rows_text(rows, COL_PARAMS);
	struct json_doc *doc = NULL;
	char why[sizeof s->why] = "its parameters cannot be read";
	bool fits = false;

	(void)trial_state_parse(store_rows_text(rows, COL_STATE), &trial.state);
	s->trials++;
	if (trial.state != TRIAL_COMPLETED && trial.state != TRIAL_STOPPED &&
	    trial.state != TRIAL_FAILED) {
		s->running++;
		return;
	}
	if (trial.state == TRIAL_FAILED &&
	    !own_fault(store_rows_text(rows, COL_END))) {
		s->blameless++;
		return;
	}
	if (trial.state == TRIAL_COMPLETED && !result_whole(r, rows)) {
		s->empty++;
		return;
	}
	if (json_parse(&doc, params, strlen(params), NULL, false, NULL) == 0) {
		strange_note(r, json_root(doc));
		fits = warm_fit(r->study->space, json_root(doc), r->values, why,
		    sizeof why);
	}
	if (fits) {
		trial.metrics = metrics_read(r->study, rows);
		trial_take(r, &trial);
	} else if (s->unfit++ == 0)
		memcpy(s->why, why, sizeof why);
	json_free(doc);
}

/* Whether the other study makes a result of reports as this one does. */
static bool
same_result(const struct store_study *row, const struct study *study)
{
	struct json_doc *doc;
	const char *counts;
	bool same;

	if (study->n_objectives > 1 || row->maximize != study->maximize ||
	    strcmp(row->metric, study->metric) != 0 ||
	    json_parse(
		&doc, row->fixed, strlen(row->fixed), NULL, false, NULL) != 0)
		return false;
	counts = json_string(
	    json_get(json_get(json_root(doc), "objective"), "value"));
	same = counts != NULL &&
	       strcmp(counts, study->value_last ? "last" : "best") == 0;
	json_free(doc);
	return same;
}

/* Something of the reports of one metric in the trial at hand. */
static void
put_report(struct buf *b, const struct store_study *row, const char *what,
    const char *metric, const char *end)
{
	if (strcmp(metric, row->metric) == 0)
		buf_printf(b, "(SELECT %s FROM curves WHERE trial = t.trial%s)",
		    what, end);
	else /* the name of a metric has no quotes */
		buf_printf(b,
		    "(SELECT %s FROM metrics WHERE trial = t.trial AND "
		    "name = '%s'%s)",
		    what, metric, end);
}

#define LAST " ORDER BY step DESC LIMIT 1"
#define FINITE                                            \
	" AND value BETWEEN -1.7976931348623157e308 AND " \
	"1.7976931348623157e308"

/* What one trial came to, in the terms of this study. */
static void
put_columns(
    struct buf *b, const struct store_study *row, const struct study *study)
{
	size_t i;

	buf_puts(b, "SELECT trial, state, params, ");
	put_report(b, row, "max(step)", study->metric, "");
	buf_puts(b, ", ");
	put_report(b, row, "value", study->metric, LAST);
	buf_puts(b, ", ");
	if (same_result(row, study))
		buf_puts(b, "objective");
	else if (study->value_last || study->n_objectives > 1)
		put_report(b, row, "value", study->metric, LAST);
	else
		put_report(b, row,
		    study->maximize ? "max(value)" : "min(value)",
		    study->metric, FINITE);
	buf_puts(b, ", (SELECT end_class FROM attempts WHERE trial = t.trial "
		    "ORDER BY attempt DESC LIMIT 1)");
	for (i = 0; study_is_wide(study) &&
		    i < study->n_objectives + study->n_constraints;
	     i++) {
		buf_puts(b, ", ");
		put_report(b, row, "value", aim_metric(study, i), LAST);
	}
	buf_puts(b, " FROM trials AS t ORDER BY trial");
}

static int
trials_read(struct reading *r, const struct store_study *row, struct err *e)
{
	struct store_rows *rows;
	struct buf sql = { 0 };
	int rc;

	put_columns(&sql, row, r->study);
	rc = store_rows_open(&rows, r->store, buf_str(&sql), NULL, e);
	buf_free(&sql);
	if (rc != 0)
		return -1;
	while ((rc = store_rows_next(rows, e)) == 1)
		trial_read(r, rows);
	store_rows_close(rows);
	return rc;
}

/* Every objective of this study must have been reported there. */
static int
source_check(const struct reading *r, const struct store_study *row,
    const struct study_warm *from, struct err *e)
{
	static const char sql[] = "SELECT 1 FROM metrics WHERE name = ?1";
	const char *params[2] = { NULL, NULL };
	struct store_rows *rows;
	struct err why = ERR_INIT;
	int rc = 1;
	size_t i;

	for (i = 0; i < r->study->n_objectives && rc == 1; i++) {
		params[0] = r->study->objectives[i].metric;
		if (strcmp(params[0], row->metric) == 0)
			continue;
		rc = store_rows_open(&rows, r->store, sql, params, &why);
		if (rc != 0)
			break;
		rc = store_rows_next(rows, &why);
		store_rows_close(rows);
	}
	if (rc < 0)
		return json_err(from->where, e, "%s", why.text);
	if (rc == 0)
		return json_err(from->where, e,
		    "nothing there has reported %s: its objective is %s",
		    params[0], row->metric);
	return 0;
}

/* Nothing of it can be used: rather a mistake than what was wanted. */
static int
source_useless(
    const struct warm_source *s, const struct study_warm *from, struct err *e)
{
	struct buf b = { 0 };

	if (s->trials == 0)
		return json_err(from->where, e, "it has no trials");
	warm_put_source(&b, s);
	(void)json_err(from->where, e, "%s", buf_str(&b));
	buf_free(&b);
	return -1;
}

/* ---- the trials of a tuning job of SageMaker ----------------------------- */

/*
 * A hyperparameter, which is a text there, as the value it has here: the SDK
 * writes texts as JSON, other tools as they are.
 */
static void
put_hyperparameter(struct buf *b, const struct param *p, const char *text)
{
	struct json_doc *doc = NULL;
	enum json_type type = JSON_NULL;
	bool raw = false;
	size_t i;

	for (i = 0; p != NULL && i < p->n_values && !raw; i++)
		raw = p->values[i].kind == VALUE_TEXT &&
		      strcmp(p->values[i].text, text) == 0;
	if (!raw &&
	    json_parse(&doc, text, strlen(text), NULL, false, NULL) == 0)
		type = json_type(json_root(doc));
	if (type == JSON_STRING || type == JSON_NUMBER || type == JSON_BOOL)
		json_write(b, json_root(doc));
	else
		json_put_string(b, text);
	json_free(doc);
}

/* What was tuned, as params of a trial; false when it is not told. */
static bool
put_tuned(struct buf *b, const struct space *space, const struct json *tuned)
{
	const struct json *j;
	const char *text;
	int i;

	if (tuned == NULL || json_type(tuned) != JSON_OBJECT)
		return false;
	buf_putc(b, '{');
	for (j = json_first(tuned); j != NULL; j = json_next(j)) {
		if ((text = json_string(j)) == NULL)
			return false;
		i = space_find(space, json_key(j));
		if (b->len > 1)
			buf_putc(b, ',');
		json_put_string(b, json_key(j));
		buf_putc(b, ':');
		put_hyperparameter(b, i >= 0 ? &space->params[i] : NULL, text);
	}
	buf_putc(b, '}');
	return true;
}

/*
 * What became of a job.  One that was stopped early has a result there, too,
 * which its tuning job has used: it counts as completed.
 */
static bool
tuned_state(struct reading *r, const struct json *job, struct warm_trial *trial)
{
	const struct json *metric =
	    json_get(job, "FinalHyperParameterTuningJobObjectiveMetric");
	const char *status = json_string(json_get(job, "TrainingJobStatus"));
	const char *used = json_string(json_get(job, "ObjectiveStatus"));
	const char *why = json_string(json_get(job, "FailureReason"));
	const char *name;

	if (status == NULL || strcmp(status, "InProgress") == 0 ||
	    strcmp(status, "Stopping") == 0) {
		r->source->running++;
		return false;
	}
	if (strcmp(status, "Failed") == 0) {
		trial->state = TRIAL_FAILED;
		if (why != NULL && strncmp(why, "AlgorithmError", 14) == 0)
			return true;
		r->source->blameless++;
		return false;
	}
	trial->state = TRIAL_COMPLETED;
	name =
	    metric != NULL ? json_string(json_get(metric, "MetricName")) : NULL;
	if (name != NULL && strcmp(name, r->study->metric) == 0 &&
	    (used == NULL || strcmp(used, "Succeeded") == 0) &&
	    json_number(json_get(metric, "Value"), &trial->objective) &&
	    isfinite(trial->objective))
		return true;
	r->source->empty++;
	return false;
}

static void
tuned_read(struct reading *r, const struct json *job)
{
	struct warm_source *s = r->source;
	struct warm_trial trial = {
		.trial = ++s->trials, .objective = NAN, .step = -1, .value = NAN
	};
	char why[sizeof s->why] = "its parameters cannot be read";
	struct json_doc *doc = NULL;
	struct buf b = { 0 };
	bool fits = false;

	if (!tuned_state(r, job, &trial))
		return;
	if (put_tuned(
		&b, r->study->space, json_get(job, "TunedHyperParameters")) &&
	    json_parse(&doc, buf_str(&b), b.len, NULL, false, NULL) == 0) {
		strange_note(r, json_root(doc));
		fits = warm_fit(r->study->space, json_root(doc), r->values, why,
		    sizeof why);
	}
	if (fits)
		trial_take(r, &trial);
	else if (s->unfit++ == 0)
		memcpy(s->why, why, sizeof why);
	json_free(doc);
	buf_free(&b);
}

static bool
is_json(const char *path)
{
	size_t n = strlen(path);

	return n > 5 && strcmp(path + n - 5, ".json") == 0;
}

/* The answer of ListTrainingJobsForHyperParameterTuningJob, in a file. */
static int
tuning_read(struct reading *r, const struct study_warm *from, struct err *e)
{
	struct json_doc *doc;
	struct err why = ERR_INIT;
	const struct json *list, *j;
	int rc = 0;

	if (study_is_wide(r->study))
		return json_err(from->where, e,
		    "a tuning job has one objective and no constraints");
	if (json_load(&doc, from->path, &why) != 0)
		return json_err(from->where, e, "%s", why.text);
	list = json_get(json_root(doc), "TrainingJobSummaries");
	if (list == NULL || json_type(list) != JSON_ARRAY)
		rc = json_err(from->where, e,
		    "it has no TrainingJobSummaries: expected what aws "
		    "sagemaker "
		    "list-training-jobs-for-hyper-parameter-tuning-job prints");
	else
		for (j = json_first(list); j != NULL; j = json_next(j))
			tuned_read(r, j);
	json_free(doc);
	if (rc == 0 && r->source->taken == 0)
		rc = source_useless(r->source, from, e);
	return rc;
}

static int
source_read(struct reading *r, const struct study_warm *from, struct err *e)
{
	struct store_study row = { 0 };
	struct err why = ERR_INIT;
	int rc;

	if (store_open(&r->store, from->path, STORE_READ, &why) != 0)
		return json_err(from->where, e, "%s", why.text);
	rc = store_study_get(r->store, &row, &why);
	if (rc == 0)
		rc = store_begin(r->store, &why);
	if (rc != 0)
		(void)json_err(from->where, e, "%s", why.text);
	else if ((rc = source_check(r, &row, from, e)) == 0) {
		rc = trials_read(r, &row, &why);
		if (rc != 0)
			(void)json_err(from->where, e, "%s", why.text);
	}
	store_study_fini(&row);
	store_close(r->store);
	if (rc == 0 && r->source->taken == 0)
		rc = source_useless(r->source, from, e);
	return rc;
}

int
warm_source_read(struct warm *w, const struct study *study,
    const struct study_warm *from, struct err *e)
{
	struct reading r = {
		.warm = w,
		.source = &w->sources[w->n_sources - 1],
		.study = study,
		.values = xcalloc(study->space->n, sizeof *r.values),
	};
	int rc = is_json(from->path) ? tuning_read(&r, from, e)
				     : source_read(&r, from, e);

	free(r.values);
	return rc;
}
