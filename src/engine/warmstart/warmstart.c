/*
 * Reads the sources listed in study.json, converted to this study's parameters
 * and objectives, and records their trials in our own database.
 */

#include <inttypes.h>
#include <libgen.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/log.h"
#include "src/base/mem.h"
#include "src/engine/warmstart/warmstart-internal.h"
#include "src/model/param.h"
#include "src/model/space.h"
#include "src/model/study/study.h"
#include "src/model/where.h"
#include "src/store/store.h"

/* Record a parameter of the source that this study does not have. */
void
warmstart_source_unknown(struct warmstart_reading *r, const struct json *params)
{
	const struct json *j;

	for (j = json_first(params); j != NULL && r->source->strange[0] == '\0';
	     j = json_next(j))
		if (space_find(r->study->space, json_key(j)) < 0)
			(void)snprintf(r->source->strange,
			    sizeof r->source->strange, "%s", json_key(j));
}

void
warmstart_source_take(
    struct warmstart_reading *r, struct warmstart_trial *trial)
{
	struct warmstart *w = r->warm;
	struct buf b = { 0 };

	XGROW(w->trials, w->n, w->cap);
	space_put_json(&b, r->study->space, r->values);
	trial->params = buf_take(&b);
	trial->source = w->n_sources - 1;
	w->trials[w->n++] = *trial;
	r->source->taken++;
}

/* Whether the end of a trial is due to its setting, not to the machine. */
static bool
own_fault(const char *end)
{
	enum end_class c;

	return end_class_parse(end, &c) && end_class_retry(c) != RETRY_FREE;
}

/* Columns of the query below; one for each metric follows. */
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
warmstart_row_real(const struct store_rows *rows, int col)
{
	return store_rows_null(rows, col) ? NAN : store_rows_real(rows, col);
}

/* Whether there are several objectives, or constraints. */
bool
warmstart_source_is_multi(const struct study *s)
{
	return s->n_objectives > 1 || s->n_constraints > 0;
}

/* The last reports of all objectives and constraints, as a JSON object. */
static char *
metrics_read(const struct study *study, const struct store_rows *rows)
{
	struct buf b = { 0 };
	size_t i;

	if (!warmstart_source_is_multi(study))
		return NULL;
	for (i = 0; i < study->n_objectives + study->n_constraints; i++) {
		buf_putc(&b, i == 0 ? '{' : ',');
		json_put_string(&b, study_aim_metric(study, i));
		buf_putc(&b, ':');
		json_put_number(
		    &b, warmstart_row_real(rows, COL_METRICS + (int)i));
	}
	buf_putc(&b, '}');
	return buf_take(&b);
}

/* Whether a trial has a value for each objective. */
static bool
result_whole(const struct warmstart_reading *r, const struct store_rows *rows)
{
	size_t i;

	if (!isfinite(warmstart_row_real(rows, COL_OBJECTIVE)))
		return false;
	for (i = 0; i < r->study->n_objectives && r->study->n_objectives > 1;
	     i++)
		if (!isfinite(warmstart_row_real(rows, COL_METRICS + (int)i)))
			return false;
	return true;
}

static void
warmstart_trial_read(struct warmstart_reading *r, const struct store_rows *rows)
{
	struct warmstart_source *s = r->source;
	struct warmstart_trial trial = {
		.trial = store_rows_int(rows, COL_TRIAL),
		.objective = warmstart_row_real(rows, COL_OBJECTIVE),
		.step = store_rows_null(rows, COL_STEP)
			    ? -1
			    : store_rows_int(rows, COL_STEP),
		.value = warmstart_row_real(rows, COL_VALUE),
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
		warmstart_source_unknown(r, json_root(doc));
		fits = warmstart_source_fit(r, json_root(doc), why, sizeof why);
	}
	if (fits) {
		trial.metrics = metrics_read(r->study, rows);
		warmstart_source_take(r, &trial);
	} else if (s->unfit++ == 0)
		memcpy(s->why, why, sizeof why);
	json_free(doc);
}

/* Whether the other study derives results from reports as this one does. */
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

/* An aggregate of the reports of one metric in the current trial. */
static void
put_report(struct buf *b, const struct store_study *row, const char *what,
    const char *metric, const char *end)
{
	if (strcmp(metric, row->metric) == 0)
		buf_printf(b, "(SELECT %s FROM curves WHERE trial = t.trial%s)",
		    what, end);
	else /* metric names contain no quotes */
		buf_printf(b,
		    "(SELECT %s FROM metrics WHERE trial = t.trial AND "
		    "name = '%s'%s)",
		    what, metric, end);
}

#define LAST " ORDER BY step DESC LIMIT 1"
#define FINITE                                            \
	" AND value BETWEEN -1.7976931348623157e308 AND " \
	"1.7976931348623157e308"

/* Convert one trial. */
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
	for (i = 0; warmstart_source_is_multi(study) &&
		    i < study->n_objectives + study->n_constraints;
	     i++) {
		buf_puts(b, ", ");
		put_report(b, row, "value", study_aim_metric(study, i), LAST);
	}
	buf_puts(b, " FROM trials AS t WHERE forgotten = 0 ORDER BY trial");
}

static int
warmstart_trials_read(
    struct warmstart_reading *r, const struct store_study *row, struct err *e)
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
		warmstart_trial_read(r, rows);
	store_rows_close(rows);
	return rc;
}

/* The source must have reports of all objectives of this study. */
static int
source_check(const struct warmstart_reading *r, const struct store_study *row,
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
		    "no trial there has reported %s: its objective is %s",
		    params[0], row->metric);
	return 0;
}

/* A source without any usable trial is most likely a mistake: an error. */
int
warmstart_source_useless(const struct warmstart_source *s,
    const struct study_warm *from, struct err *e)
{
	struct buf b = { 0 };

	if (s->trials == 0)
		return json_err(from->where, e, "it has no trials");
	warmstart_put_source(&b, s);
	(void)json_err(from->where, e, "%s", buf_str(&b));
	buf_free(&b);
	return -1;
}

static int
source_read(
    struct warmstart_reading *r, const struct study_warm *from, struct err *e)
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
		rc = warmstart_trials_read(r, &row, &why);
		if (rc != 0)
			(void)json_err(from->where, e, "%s", why.text);
	}
	store_study_fini(&row);
	store_close(r->store);
	if (rc == 0 && r->source->taken == 0)
		rc = warmstart_source_useless(r->source, from, e);
	return rc;
}

static bool
is_json(const char *path)
{
	size_t n = strlen(path);

	return n > 5 && strcmp(path + n - 5, ".json") == 0;
}

/* Read one source; its row in sources is the last. */
static int
warmstart_source_read(struct warmstart *w, const struct study *study,
    const struct study_warm *from, struct err *e)
{
	struct warmstart_reading r = {
		.warm = w,
		.source = &w->sources[w->n_sources - 1],
		.study = study,
		.values = xcalloc(study->space->n, sizeof *r.values),
	};
	int rc = from->path == NULL    ? warmstart_tuning_job_fetch(&r, from, e)
		 : is_json(from->path) ? warmstart_tuning_job_load(&r, from, e)
				       : source_read(&r, from, e);

	free(r.values);
	return rc;
}

/* Converts settings of another study to this study's space. */

/* A parameter without a value there: whether it has one here all the same. */
static bool
value_absent(struct value *v, const struct param *p)
{
	if (p->type == PARAM_FIXED)
		*v = p->values[0];
	else if (p->has_default)
		*v = p->def;
	else
		return false;
	return true;
}

/* Record why one parameter excludes a trial. */
static void
warmstart_unfit_text(
    char *why, size_t n, const struct param *p, const struct json *j)
{
	struct buf is = { 0 }, domain = { 0 };

	if (j == NULL) {
		(void)snprintf(why, n, "%s is missing", p->name);
		return;
	}
	json_write(&is, j);
	param_put_domain(&domain, p);
	(void)snprintf(why, n, "%.32s is %.40s, not %.80s", p->name,
	    buf_str(&is), buf_str(&domain));
	buf_free(&is);
	buf_free(&domain);
}

/* Parameters that this study does not have are skipped. */
bool
warmstart_fit(const struct space *space, const struct json *params,
    struct value *values, char *why, size_t n)
{
	const struct param *p;
	const struct json *j;
	size_t i, k;

	for (i = 0; i < space->n; i++)
		values[i] = (struct value){ .kind = VALUE_NONE };
	for (k = 0; k < space->n; k++) {
		i = (size_t)space->order[k];
		p = &space->params[i];
		if (!space_active(space, i, values))
			continue;
		j = json_get(params, p->name);
		if (j != NULL)
			param_value_read(&values[i], j);
		if (j != NULL ? param_fit(p, &values[i])
			      : value_absent(&values[i], p))
			continue;
		warmstart_unfit_text(why, n, p, j);
		return false;
	}
	return true;
}

bool
warmstart_source_fit(
    struct warmstart_reading *r, const struct json *params, char *why, size_t n)
{
	const struct space *space = r->study->space;
	const char *broken;

	if (!warmstart_fit(space, params, r->values, why, n))
		return false;
	broken = where_broken(space, r->values);
	if (broken != NULL)
		(void)snprintf(why, n, "not where %.120s", broken);
	return broken == NULL;
}

void
warmstart_free(struct warmstart *w)
{
	size_t i;

	for (i = 0; i < w->n_sources; i++)
		free(w->sources[i].name);
	for (i = 0; i < w->n; i++) {
		free(w->trials[i].params);
		free(w->trials[i].metrics);
	}
	free(w->sources);
	free(w->trials);
	*w = (struct warmstart){ 0 };
}

void
warmstart_put_source(struct buf *b, const struct warmstart_source *s)
{
	const char *before = "; left out: ";

	buf_printf(b, "%" PRId64 " of %" PRId64 " trials of %s", s->taken,
	    s->trials, s->name);
	if (s->unfit > 0) {
		buf_printf(b, "%s%" PRId64 " that %s not fit (%s)", before,
		    s->unfit, s->unfit == 1 ? "does" : "do", s->why);
		before = ", ";
	}
	if (s->running > 0) {
		buf_printf(b, "%s%" PRId64 " cancelled or still running",
		    before, s->running);
		before = ", ";
	}
	if (s->blameless > 0) {
		buf_printf(b, "%s%" PRId64 " failed by no fault of %s own",
		    before, s->blameless, s->blameless == 1 ? "its" : "their");
		before = ", ";
	}
	if (s->empty > 0)
		buf_printf(
		    b, "%s%" PRId64 " without a result", before, s->empty);
	if (s->strange[0] != '\0')
		buf_printf(b, "; their %s is ignored", s->strange);
	if (s->note[0] != '\0')
		buf_printf(b, "; %s", s->note);
}

/* Whether two paths lead to one file, which need not exist. */
static bool
warmstart_same_file(const char *a, const char *b)
{
	char *x = xstrdup(a), *y = xstrdup(b), *p, *q;
	bool same;

	p = realpath(dirname(x), NULL);
	q = realpath(dirname(y), NULL);
	same = p != NULL && q != NULL && strcmp(p, q) == 0 &&
	       strcmp(strrchr(a, '/') + 1, strrchr(b, '/') + 1) == 0;
	free(p);
	free(q);
	free(x);
	free(y);
	return same;
}

int
warmstart_read(struct warmstart *w, const struct study *study, const char *own,
    struct err *e)
{
	const struct study_warm *from;
	int rc = 0;
	size_t i;

	*w = (struct warmstart){ 0 };
	w->sources = xcalloc(study->n_warm_start + 1, sizeof *w->sources);
	for (i = 0; i < study->n_warm_start && rc == 0; i++) {
		from = &study->warm_start[i];
		w->sources[w->n_sources++].name =
		    from->path != NULL
			? xstrdup(json_string(from->where))
			: xasprintf("tuning job %s", from->tuning_job);
		rc = from->path != NULL && warmstart_same_file(from->path, own)
			 ? json_err(from->where, e,
			       "this is the study's own database")
			 : warmstart_source_read(w, study, from, e);
	}
	if (rc != 0)
		warmstart_free(w);
	return rc;
}

void
warmstart_put(struct store *store, const struct warmstart *w, int64_t now_us)
{
	const struct warmstart_trial *t;
	struct store_warm row;
	struct buf b = { 0 };
	size_t i;

	for (i = 0; i < w->n; i++) {
		t = &w->trials[i];
		row = (struct store_warm){
			.source = w->sources[t->source].name,
			.trial = t->trial,
			.state = t->state,
			.objective = t->objective,
			.last_step = t->step,
			.last_value = t->value,
			.params = t->params,
			.metrics = t->metrics,
		};
		(void)store_warm_add(store, &row, NULL);
	}
	for (i = 0; i < w->n_sources; i++) {
		buf_clear(&b);
		buf_puts(&b, "warm_start: ");
		warmstart_put_source(&b, &w->sources[i]);
		log_info("study", "%s", buf_str(&b));
		(void)store_event_add(store, now_us, LOG_LEVEL_INFO, "study", 0,
		    0, buf_str(&b), NULL);
	}
	buf_free(&b);
}
