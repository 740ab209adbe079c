/*
 * Metrics without logs: GetMetricData on the values that SageMaker's own
 * patterns (MetricDefinitions) store in CloudWatch, one per minute.  Several
 * reports in one minute are averaged, and only the greatest step is kept.
 * Reference: CloudWatch API, GetMetricData.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/json/json-writer.h"
#include "src/base/json/json.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "src/model/study/study.h"
#include "trials/sagemaker/logs/sm-log-internal.h"
#include "trials/sagemaker/options/sm-settings.h"

#define POLL_S 30.0
#define LAST_S 120.0 /* delay until the values of an ended job are complete */
#define BACK_S 300.0 /* time in which values may still change */

#define NEW_S (6.0 * 3600) /* of a job without any value yet */

enum {
	QUERIES_MOST = 500, /* of one request */
	QUERIES_FIXED = 3, /* of one job: the objective, its count, the step */
	OTHERS_MOST = 38 /* further names that a job may define */
};

struct sm_log_metric_data {
	struct sm_logs *logs;
	struct loop_timer *timer;
	struct aws_call *call;
	const char **others; /* names of further metrics, borrowed */
	size_t n_others, jobs_most;
	size_t jobs; /* per request: reduced while answers take several pages */
	size_t first; /* job of the next request */
	size_t asked; /* jobs of this request */
	int64_t *trials; /* of this request */
	int *attempts;
	bool merged_noted;
};

/* One minute of one job. */
struct bucket {
	int64_t second;
	double value, step, count; /* NaN = missing */
};

static struct sm_log *
log_find(const struct sm_logs *logs, int64_t trial, int attempt)
{
	size_t i;

	for (i = 0; i < logs->n; i++)
		if (logs->all[i]->trial == trial &&
		    logs->all[i]->attempt == attempt)
			return logs->all[i];
	return NULL;
}

/* kind: 'v' 's' 'n', or 'm' with the number of a further metric. */
static void
metric_data_query_put(struct json_writer *o, size_t job, char kind,
    size_t other, const char *metric, const char *stat, const char *name)
{
	char id[64];

	(void)snprintf(id, sizeof id, "%c%zu_%zu", kind, job, other);
	json_writer_object(o, NULL);
	json_writer_text(o, "Id", id);
	json_writer_bool(o, "ReturnData", true);
	json_writer_object(o, "MetricStat");
	json_writer_object(o, "Metric");
	json_writer_text(o, "Namespace", "/aws/sagemaker/TrainingJobs");
	json_writer_text(o, "MetricName", metric);
	json_writer_array(o, "Dimensions");
	json_writer_object(o, NULL);
	json_writer_text(o, "Name", "TrainingJobName");
	json_writer_text(o, "Value", name);
	json_writer_end(o);
	json_writer_end(o);
	json_writer_end(o);
	json_writer_integer(o, "Period", 60);
	json_writer_text(o, "Stat", stat);
	json_writer_end(o);
	json_writer_end(o);
}

static void on_data(void *, const struct aws_answer *);

static void
metrics_ask(struct sm_log_metric_data *m)
{
	struct sm_logs *logs = m->logs;
	struct buf body = { 0 };
	struct json_writer o = { .out = &body };
	struct aws_ask ask = { .service = AWS_CLOUDWATCH,
		.operation = "GetMetricData" };
	int64_t now_s = loop_wall_us(logs->env.loop) / 1000000;
	int64_t from_s = now_s, at;
	size_t i, k;

	json_writer_object(&o, NULL);
	json_writer_array(&o, "MetricDataQueries");
	for (i = 0; i < m->jobs && m->first + i < logs->n; i++) {
		const struct sm_log *log = logs->all[m->first + i];

		m->trials[i] = log->trial;
		m->attempts[i] = log->attempt;
		metric_data_query_put(
		    &o, i, 'v', 0, SM_METRIC_OBJECTIVE, "Average", log->job);
		metric_data_query_put(
		    &o, i, 's', 0, SM_METRIC_STEP, "Maximum", log->job);
		metric_data_query_put(&o, i, 'n', 0, SM_METRIC_OBJECTIVE,
		    "SampleCount", log->job);
		for (k = 0; k < m->n_others; k++)
			metric_data_query_put(
			    &o, i, 'm', k, m->others[k], "Average", log->job);
		at = log->cursor_ms > 0 ? log->cursor_ms / 1000
					: log->begun_ms / 1000 - (int64_t)NEW_S;
		at -= (int64_t)BACK_S;
		if (at < from_s)
			from_s = at;
	}
	m->asked = i;
	/* CloudWatch drops the seconds of the end. */
	json_writer_end(&o);
	json_writer_integer(&o, "StartTime", from_s - from_s % 60);
	json_writer_integer(&o, "EndTime", now_s + 120);
	json_writer_text(&o, "ScanBy", "TimestampAscending");
	json_writer_end(&o);
	ask.body = buf_str(&body);
	if (m->asked > 0)
		m->call = aws_json(logs->env.aws, &ask, on_data, m);
	buf_free(&body);
}

static void
metric_data_on_timer(void *arg)
{
	struct sm_log_metric_data *m = arg;

	if (m->call != NULL)
		return;
	m->first = 0;
	m->jobs = 2 * m->jobs < m->jobs_most ? 2 * m->jobs : m->jobs_most;
	metrics_ask(m);
	if (m->call == NULL)
		loop_timer_set(m->timer, sm_logs_ms(m->logs, POLL_S));
}

static const struct json *
result_find(const struct json *results, char kind, size_t job, size_t other)
{
	const struct json *j;
	char want[64];
	const char *id;

	(void)snprintf(want, sizeof want, "%c%zu_%zu", kind, job, other);
	for (j = json_first(results); j != NULL; j = json_next(j)) {
		id = json_string(json_get(j, "Id"));
		if (id != NULL && strcmp(id, want) == 0)
			return j;
	}
	return NULL;
}

/* The value of a result at one time, NaN when it has none. */
static double
result_at(const struct json *result, double second)
{
	const struct json *t, *v;
	double at, x;

	if (result == NULL)
		return NAN;
	t = json_get(result, "Timestamps");
	v = json_get(result, "Values");
	if (t == NULL || v == NULL)
		return NAN;
	for (t = json_first(t), v = json_first(v); t != NULL && v != NULL;
	     t = json_next(t), v = json_next(v))
		if (json_number(t, &at) && at == second && json_number(v, &x))
			return x;
	return NAN;
}

static void
bucket_emit(struct sm_log_metric_data *m, struct sm_log *log, const char *name,
    const struct bucket *b)
{
	struct launch_event ev = { .kind = LAUNCH_REPORT,
		.trial = log->trial,
		.attempt = log->attempt };
	struct sm_logs *logs = m->logs;

	if (b->count > 1 && !m->merged_noted) {
		m->merged_noted = true;
		sm_logs_note(logs, log, LAUNCH_WARNING,
		    "CloudWatch averages the reports of each minute: curves "
		    "are coarser than the reports");
	}
	ev.u.report.name = name;
	ev.u.report.has_step = b->step >= 0 && b->step <= TRIAL_STEP_MAX;
	ev.u.report.step = ev.u.report.has_step ? (int64_t)b->step : 0;
	ev.u.report.value = b->value;
	ev.u.report.time_us = b->second * 1000000;
	ev.u.report.again = true;
	logs->env.emit(logs->env.arg, &ev);
	sm_log_events_advance(log, b->second * 1000);
}

/* Every minute of one metric. */
static void
metric_data_series_read(struct sm_log_metric_data *m, struct sm_log *log,
    const char *name, const struct json *value, const struct json *step,
    const struct json *count)
{
	const struct json *t, *v;
	struct bucket b;
	double at;

	if (value == NULL || (t = json_get(value, "Timestamps")) == NULL ||
	    (v = json_get(value, "Values")) == NULL)
		return;
	for (t = json_first(t), v = json_first(v); t != NULL && v != NULL;
	     t = json_next(t), v = json_next(v)) {
		if (!json_number(t, &at) || !json_number(v, &b.value) ||
		    !(fabs(at) < 1e12))
			continue;
		b.second = (int64_t)at;
		/* The running minute still changes. */
		if (log->phase == SM_LOG_FOLLOW &&
		    b.second + 60 > loop_wall_us(m->logs->env.loop) / 1000000)
			continue;
		b.step = result_at(step, at);
		b.count = result_at(count, at);
		bucket_emit(m, log, name, &b);
	}
}

static void
job_values_read(struct sm_log_metric_data *m, struct sm_log *log,
    const struct json *results, size_t job)
{
	const struct json *step = result_find(results, 's', job, 0);
	size_t k;

	for (k = 0; k < m->n_others; k++)
		metric_data_series_read(m, log, m->others[k],
		    result_find(results, 'm', job, k), step, NULL);
	metric_data_series_read(m, log, m->logs->env.metric,
	    result_find(results, 'v', job, 0), step,
	    result_find(results, 'n', job, 0));
}

/* End the logs of jobs that are over, when late values had their time. */
static void
finished_emit(struct sm_log_metric_data *m)
{
	struct sm_logs *logs = m->logs;
	int64_t now = loop_now_ms(logs->env.loop);
	struct sm_log *log;
	size_t i;

	for (i = logs->n; i-- > 0;) {
		log = logs->all[i];
		if (log->phase != SM_LOG_END || log->end_ms > now)
			continue;
		log->phase = SM_LOG_DONE;
		/* The callback may free this log, but no others. */
		log->done(log->done_arg);
	}
}

/*
 * The values of a page may have their steps in another one.  Then request fewer
 * jobs at once; for a single job the oldest values come first, and the rest the
 * next time.
 */
static bool
is_page(const struct sm_log_metric_data *m, const struct aws_answer *a)
{
	return a->good && a->json != NULL && m->asked > 1 &&
	       json_string(json_get(a->json, "NextToken")) != NULL;
}

static void
on_data(void *arg, const struct aws_answer *a)
{
	struct sm_log_metric_data *m = arg;
	const struct json *results;
	struct sm_log *log;
	size_t i;

	m->call = NULL;
	if (is_page(m, a)) {
		m->jobs = m->asked / 2;
		metrics_ask(m);
		if (m->call == NULL)
			loop_timer_set(m->timer, 0);
		return;
	}
	results = a->good ? json_get(a->json, "MetricDataResults") : NULL;
	for (i = 0; results != NULL && i < m->asked; i++) {
		log = log_find(m->logs, m->trials[i], m->attempts[i]);
		if (log != NULL)
			job_values_read(m, log, results, i);
	}
	if (!a->good && !m->logs->said_trouble) {
		m->logs->said_trouble = true;
		sm_logs_note(m->logs, NULL, LAUNCH_ERROR,
		    "metrics cannot be read from CloudWatch either "
		    "(cloudwatch:GetMetricData): no trial reports anything");
	}
	m->first += m->asked;
	if (a->good && m->first < m->logs->n) {
		metrics_ask(m);
		return;
	}
	finished_emit(m);
	loop_timer_set(m->timer, sm_logs_ms(m->logs, POLL_S));
}

/* The patterns' other metrics: a job defines them under their own names. */
static void
others_find(struct sm_log_metric_data *m)
{
	const struct study_trial *t = m->logs->env.settings;
	size_t i, k;

	m->others = xcalloc(OTHERS_MOST, sizeof *m->others);
	for (i = 0; i < t->n_metrics && m->n_others < OTHERS_MOST; i++) {
		for (k = 0; k < i; k++)
			if (strcmp(t->metrics[k].name, t->metrics[i].name) == 0)
				break;
		if (k == i &&
		    strcmp(t->metrics[i].name, m->logs->env.metric) != 0)
			m->others[m->n_others++] = t->metrics[i].name;
	}
}

struct sm_log_metric_data *
sm_log_metric_data_new(struct sm_logs *logs)
{
	struct sm_log_metric_data *m = xcalloc(1, sizeof *m);

	m->logs = logs;
	others_find(m);
	m->jobs_most = QUERIES_MOST / (QUERIES_FIXED + m->n_others);
	m->jobs = m->jobs_most;
	m->trials = xcalloc(m->jobs_most, sizeof *m->trials);
	m->attempts = xcalloc(m->jobs_most, sizeof *m->attempts);
	m->timer = loop_timer_new(logs->env.loop, metric_data_on_timer, m);
	loop_timer_set(m->timer, 0);
	return m;
}

void
sm_log_metric_data_free(struct sm_log_metric_data *m)
{
	if (m == NULL)
		return;
	if (m->call != NULL)
		aws_call_cancel(m->call);
	loop_timer_free(m->timer);
	free(m->others);
	free(m->trials);
	free(m->attempts);
	free(m);
}

void
sm_log_metric_data_finish(struct sm_log_metric_data *m, struct sm_log *log)
{
	log->end_ms =
	    loop_now_ms(m->logs->env.loop) + sm_logs_ms(m->logs, LAST_S);
}
