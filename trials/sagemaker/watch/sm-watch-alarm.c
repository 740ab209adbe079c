/*
 * A CloudWatch alarm per job on idle GPUs.  SageMaker's GPUUtilization is 0 to
 * 100 times the number of GPUs of the host, and the threshold is scaled
 * likewise.  Reference: CloudWatch API, PutMetricAlarm.
 */

#include <stdlib.h>

#include "src/base/json/json-writer.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "trials/sagemaker/options/sm-settings.h"
#include "trials/sagemaker/request/sm-request.h"
#include "trials/sagemaker/watch/sm-watch-alarm.h"
#include "trials/sagemaker/watch/sm-watch-internal.h"

enum {
	IDLE_PERCENT = 10, /* of one GPU */
	IDLE_MINUTES = 15
};

/* "key": ["text"] */
static void
alarm_list_put(struct json_writer *o, const char *key, const char *text)
{
	json_writer_array(o, key);
	json_writer_text(o, NULL, text);
	json_writer_end(o);
}

static char *
alarm_name(const char *job)
{
	return xasprintf("hpotune-%s-gpu-idle", job);
}

static int64_t
alarm_setting(const struct json *alarm, const char *key, int64_t def)
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

void
sm_watch_alarm_make(
    struct sm_watch *w, const char *job, const struct sm_plan *plan)
{
	const struct json *alarm = w->env.settings->alarm;
	const struct json *action = json_get(alarm, "action");
	int64_t minutes = alarm_setting(alarm, "minutes", IDLE_MINUTES);
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
		sm_watch_put_dimension(&o, "Host", host);
		json_writer_text(&o, "Statistic", "Average");
		json_writer_integer(&o, "Period", 60);
		json_writer_integer(&o, "EvaluationPeriods", minutes);
		json_writer_integer(&o, "DatapointsToAlarm", minutes);
		json_writer_integer(&o, "Threshold",
		    gpus * alarm_setting(alarm, "gpu_idle", IDLE_PERCENT));
		json_writer_text(&o, "ComparisonOperator", "LessThanThreshold");
		json_writer_text(&o, "TreatMissingData", "notBreaching");
		if (action != NULL && json_string(action) != NULL)
			alarm_list_put(&o, "AlarmActions", json_string(action));
		json_writer_end(&o);
		sm_watch_ask(w, AWS_CLOUDWATCH, "PutMetricAlarm", &body,
		    "the alarm on idle GPUs", &w->alarm_noted, NULL, NULL);
	}
	buf_free(&body);
	free(host);
	free(name);
}

void
sm_watch_alarm_remove(struct sm_watch *w, const char *job)
{
	char *name = alarm_name(job);
	struct buf body = { 0 };
	struct json_writer o = { .out = &body };

	json_writer_object(&o, NULL);
	alarm_list_put(&o, "AlarmNames", name);
	json_writer_end(&o);
	sm_watch_ask(w, AWS_CLOUDWATCH, "DeleteAlarms", &body,
	    "taking an alarm away", &w->alarm_noted, NULL, NULL);
	buf_free(&body);
	free(name);
}

static void
on_swept(void *arg, const struct json *json)
{
	struct sm_watch_removal *s = arg;

	(void)json;
	s->done(s->arg);
}

static void
alarm_on_list(void *arg, const struct json *json)
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

void
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
	    alarm_on_list, s);
	buf_free(&body);
	free(prefix);
}
