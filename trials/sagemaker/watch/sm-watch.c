/*
 * External watching: creates and removes its resources.  No influence on
 * trials; a failed service is noted and not used again.  A CloudWatch alarm per
 * job on idle GPUs.  SageMaker's GPUUtilization is 0 to 100 times the number of
 * GPUs of the host, and the threshold is scaled likewise.  Reference:
 * CloudWatch API, PutMetricAlarm.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json-writer.h"
#include "src/base/json/json.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "trials/sagemaker/options/sm-settings.h"
#include "trials/sagemaker/request/sm-request.h"
#include "trials/sagemaker/watch/sm-watch-internal.h"

enum {
	IDLE_PERCENT = 10, /* of one GPU */
	IDLE_MINUTES = 15
};

/* "key": ["text"] */
static void
list_put(struct json_writer *o, const char *key, const char *text)
{
	json_writer_array(o, key);
	json_writer_text(o, NULL, text);
	json_writer_end(o);
}

static void
dimension_put(struct json_writer *o, const char *name, const char *value)
{
	json_writer_array(o, "Dimensions");
	json_writer_object(o, NULL);
	json_writer_text(o, "Name", name);
	json_writer_text(o, "Value", value);
	json_writer_end(o);
	json_writer_end(o);
}

static char *
alarm_name(const char *job)
{
	return xasprintf("hpotune-%s-gpu-idle", job);
}

static int64_t
setting(const struct json *alarm, const char *key, int64_t def)
{
	const struct json *j = json_get(alarm, key);
	int64_t n;

	return j != NULL && json_integer(j, &n) ? n : def;
}

static void
alarm_note(struct sm_watch *w, const struct sm_plan *plan)
{
	char *text;

	if (w->alarm_noted)
		return;
	w->alarm_noted = true;
	text = xasprintf(
	    "no alarm on idle GPUs: the number of GPUs of %s is unknown",
	    plan->type != NULL ? plan->type->name : "a mixed cluster");
	w->env.note(w->env.arg, LAUNCH_WARNING, text);
	free(text);
}

static void
sm_watch_alarm_make(
    struct sm_watch *w, const char *job, const struct sm_plan *plan)
{
	const struct json *alarm = w->env.settings->alarm;
	const struct json *action = json_get(alarm, "action");
	int64_t minutes = setting(alarm, "minutes", IDLE_MINUTES);
	int gpus =
	    plan->type != NULL ? sm_instance_type_gpus(plan->type->name) : -1;
	char *name = alarm_name(job), *host = xasprintf("%s/algo-1", job);
	struct buf body = { 0 };
	struct json_writer o = { .out = &body };

	if (gpus <= 0) {
		alarm_note(w, plan);
	} else {
		json_writer_object(&o, NULL);
		json_writer_text(&o, "AlarmName", name);
		json_writer_text(
		    &o, "Namespace", "/aws/sagemaker/TrainingJobs");
		json_writer_text(&o, "MetricName", "GPUUtilization");
		dimension_put(&o, "Host", host);
		json_writer_text(&o, "Statistic", "Average");
		json_writer_integer(&o, "Period", 60);
		json_writer_integer(&o, "EvaluationPeriods", minutes);
		json_writer_integer(&o, "DatapointsToAlarm", minutes);
		json_writer_integer(&o, "Threshold",
		    gpus * setting(alarm, "gpu_idle", IDLE_PERCENT));
		json_writer_text(&o, "ComparisonOperator", "LessThanThreshold");
		json_writer_text(&o, "TreatMissingData", "notBreaching");
		if (action != NULL && json_string(action) != NULL)
			list_put(&o, "AlarmActions", json_string(action));
		json_writer_end(&o);
		sm_watch_ask(w, AWS_CLOUDWATCH, "PutMetricAlarm", &body,
		    "the alarm on idle GPUs", &w->alarm_noted, NULL, NULL);
	}
	buf_free(&body);
	free(host);
	free(name);
}

static void
sm_watch_alarm_remove(struct sm_watch *w, const char *job)
{
	char *name = alarm_name(job);
	struct buf body = { 0 };
	struct json_writer o = { .out = &body };

	json_writer_object(&o, NULL);
	list_put(&o, "AlarmNames", name);
	json_writer_end(&o);
	sm_watch_ask(w, AWS_CLOUDWATCH, "DeleteAlarms", &body,
	    "taking an alarm away", &w->alarm_noted, NULL, NULL);
	buf_free(&body);
	free(name);
}

/* ---- all that are left ------------------------------------------------------ */

static void
on_swept(void *arg, const struct json *json)
{
	struct sm_watch_removal *s = arg;

	(void)json;
	s->done(s->arg);
}

static void
on_list(void *arg, const struct json *json)
{
	struct sm_watch_removal *s = arg;
	const struct json *list = json_get(json, "MetricAlarms");
	const struct json *j;
	const char *name;
	struct buf body = { 0 };
	struct json_writer o = { .out = &body };
	int n = 0;

	json_writer_object(&o, NULL);
	json_writer_array(&o, "AlarmNames");
	for (j = json_first(list); j != NULL && n < 100; j = json_next(j)) {
		name = json_string(json_get(j, "AlarmName"));
		if (name == NULL)
			continue;
		json_writer_text(&o, NULL, name);
		n++;
	}
	json_writer_end(&o);
	json_writer_end(&o);
	if (n > 0)
		sm_watch_ask(s->watch, AWS_CLOUDWATCH, "DeleteAlarms", &body,
		    "", &s->quiet, on_swept, s);
	else
		on_swept(s, NULL);
	buf_free(&body);
}

/* Remove all alarms of the study; done is called when all answers have come. */
static void
sm_watch_alarm_remove_all(
    struct sm_watch *w, void (*done)(void *arg), void *arg)
{
	struct sm_watch_removal *s = &w->alarm_removal;
	char *prefix = xasprintf("hpotune-%s", w->env.prefix);
	struct buf body = { 0 };
	struct json_writer o = { .out = &body };

	*s = (struct sm_watch_removal){
		.watch = w, .quiet = true, .done = done, .arg = arg
	};
	json_writer_object(&o, NULL);
	json_writer_text(&o, "AlarmNamePrefix", prefix);
	json_writer_integer(&o, "MaxRecords", 100);
	json_writer_end(&o);
	sm_watch_ask(w, AWS_CLOUDWATCH, "DescribeAlarms", &body, "", &s->quiet,
	    on_list, s);
	buf_free(&body);
	free(prefix);
}

static void sm_watch_publish(struct sm_watch *);

enum {
	PUBLISH_MS = 60000, /* the resolution of CloudWatch */
	REMOVE_MS = 15000 /* limit; then resources remain */
};

struct sm_watch_call {
	struct sm_watch *watch;
	struct sm_watch_call *next;
	struct aws_call *call;
	char *what;
	bool *noted;
	sm_watch_cb *then;
	void *arg;
	bool removes; /* missing resources are no error */
};

static void
call_unlink(struct sm_watch_call *call)
{
	struct sm_watch_call **at = &call->watch->calls;

	while (*at != call)
		at = &(*at)->next;
	*at = call->next;
}

static void
on_answer(void *arg, const struct aws_answer *a)
{
	struct sm_watch_call *call = arg;
	struct sm_watch *w = call->watch;
	char *text;

	call_unlink(call);
	if (!a->good && !(call->removes && a->what == AWS_MISSING) &&
	    (call->noted == NULL || !*call->noted)) {
		text = xasprintf("%s: %s", call->what,
		    *a->message != '\0' ? a->message : a->code);
		w->env.note(w->env.arg, LAUNCH_WARNING, text);
		free(text);
		if (call->noted != NULL)
			*call->noted = true;
	}
	if (call->then != NULL)
		call->then(call->arg, a->good ? a->json : NULL);
	free(call->what);
	free(call);
}

void
sm_watch_ask(struct sm_watch *w, enum aws_service service,
    const char *operation, const struct buf *body, const char *what,
    bool *noted, sm_watch_cb *then, void *arg)
{
	struct sm_watch_call *call = xcalloc(1, sizeof *call);
	struct aws_ask ask = { .service = service,
		.operation = operation,
		.body = buf_str(body) };

	*call = (struct sm_watch_call){ .watch = w,
		.next = w->calls,
		.what = xstrdup(what),
		.noted = noted,
		.then = then,
		.arg = arg,
		.removes = strncmp(operation, "Delete", 6) == 0 };
	w->calls = call;
	call->call = aws_json(w->env.aws, &ask, on_answer, call);
}

static void
on_publish(void *arg)
{
	struct sm_watch *w = arg;

	sm_watch_publish(w);
	loop_timer_set(
	    w->publish, (int64_t)(PUBLISH_MS / w->env.settings->pace));
}

struct sm_watch *
sm_watch_new(const struct sm_watch_env *env)
{
	struct sm_watch *w = xcalloc(1, sizeof *w);

	w->env = *env;
	w->env.prefix = xstrdup(env->prefix);
	w->env.study = xstrdup(env->study);
	w->best = NAN;
	return w;
}

void
sm_watch_free(struct sm_watch *w)
{
	struct sm_watch_call *call;

	if (w == NULL)
		return;
	sm_watch_eventbridge_free(w->events);
	if (w->publish != NULL)
		loop_timer_free(w->publish);
	while ((call = w->calls) != NULL) {
		w->calls = call->next;
		aws_call_cancel(call->call);
		free(call->what);
		free(call);
	}
	free((char *)w->env.prefix);
	free((char *)w->env.study);
	free(w);
}

void
sm_watch_job(struct sm_watch *w, const char *job, const struct sm_plan *plan)
{
	const struct sm_settings *s = w->env.settings;

	if (s->watch_events && w->events == NULL)
		w->events = sm_watch_eventbridge_new(w);
	if (s->publish && w->publish == NULL) {
		w->publish = loop_timer_new(w->env.loop, on_publish, w);
		loop_timer_set(w->publish, (int64_t)(PUBLISH_MS / s->pace));
	}
	if (s->alarm != NULL)
		sm_watch_alarm_make(w, job, plan);
}

void
sm_watch_ended(
    struct sm_watch *w, const char *job, double billable_s, double cost)
{
	if (isfinite(billable_s))
		w->billable_s += billable_s;
	if (isfinite(cost))
		w->cost += cost;
	w->ended++;
	if (w->env.settings->alarm != NULL)
		sm_watch_alarm_remove(w, job);
}

void
sm_watch_report(struct sm_watch *w, double value)
{
	if (!isfinite(value))
		return;
	if (!isfinite(w->best) ||
	    (w->env.maximize ? value > w->best : value < w->best))
		w->best = value;
}

void
sm_watch_running(struct sm_watch *w, int jobs)
{
	w->running = jobs;
}

/* ---- taking it all away ------------------------------------------------- */

struct removal {
	struct loop *loop;
	int left;
};

static void
on_removed(void *arg)
{
	struct removal *r = arg;

	if (--r->left == 0)
		loop_stop(r->loop);
}

static void
on_late(void *arg)
{
	struct removal *r = arg;

	loop_stop(r->loop);
}

static void
no_turn(void *arg)
{
	(void)arg;
}

static void
removal_run(struct removal *r, struct sm_watch *w)
{
	const struct sm_settings *s = w->env.settings;
	struct loop_timer *late = loop_timer_new(r->loop, on_late, r);

	r->left = s->watch_events + (s->alarm != NULL);
	loop_timer_set(late, REMOVE_MS);
	if (s->watch_events)
		sm_watch_eventbridge_remove(w, on_removed, r);
	if (s->alarm != NULL)
		sm_watch_alarm_remove_all(w, on_removed, r);
	loop_run(r->loop, no_turn, r);
	loop_timer_free(late);
}

void
sm_watch_remove(const struct sm_watch_env *env)
{
	const struct sm_settings *s = env->settings;
	struct sm_watch_env own = *env;
	struct aws_env aws = { .region = s->region,
		.profile = s->profile,
		.env = (aws_getenv *)getenv,
		.pace = s->pace };
	struct removal r = { 0 };
	struct err e = ERR_INIT;
	struct sm_watch *w;

	if (!s->watch_events && s->alarm == NULL)
		return;
	if (loop_open(&r.loop, LOOP_REAL, &e) != 0)
		return;
	aws.loop = own.loop = r.loop;
	if (aws_open(&own.aws, &aws, &e) == 0) {
		w = sm_watch_new(&own);
		removal_run(&r, w);
		sm_watch_free(w);
		aws_close(own.aws);
	}
	loop_close(r.loop);
}

/*
 * Publishes metrics of the study to CloudWatch, once a minute: namespace
 * "hpotune", one dimension, the study.  CloudWatch accepts finite numbers up to
 * 2^360.  Reference: CloudWatch API, PutMetricData.
 */

#define VALUE_MOST 0x1p360

static void
datum_put(struct json_writer *o, const struct sm_watch *w, const char *name,
    const char *unit, double value)
{
	if (!isfinite(value) || fabs(value) > VALUE_MOST)
		return;
	json_writer_object(o, NULL);
	json_writer_text(o, "MetricName", name);
	dimension_put(o, "Study", w->env.study);
	json_writer_text(o, "Unit", unit);
	json_writer_number(o, "Value", value);
	json_writer_integer(
	    o, "Timestamp", loop_wall_us(w->env.loop) / 1000000);
	json_writer_end(o);
}

static void
sm_watch_publish(struct sm_watch *w)
{
	struct buf body = { 0 };
	struct json_writer o = { .out = &body };

	json_writer_object(&o, NULL);
	json_writer_text(&o, "Namespace", "hpotune");
	json_writer_array(&o, "MetricData");
	datum_put(&o, w, "BestObjective", "None", w->best);
	datum_put(&o, w, "JobsRunning", "Count", w->running);
	datum_put(&o, w, "JobsEnded", "Count", w->ended);
	datum_put(&o, w, "BillableSeconds", "Seconds", w->billable_s);
	datum_put(&o, w, "Cost", "None", w->cost);
	json_writer_end(&o);
	json_writer_end(&o);
	sm_watch_ask(w, AWS_CLOUDWATCH, "PutMetricData", &body,
	    "metrics of the study", &w->publish_noted, NULL, NULL);
	buf_free(&body);
}
