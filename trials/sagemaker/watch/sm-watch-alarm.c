/*
 * A CloudWatch alarm per job on idle GPUs.  SageMaker's GPUUtilization is 0 to
 * 100 times the number of GPUs of the host, and the threshold is scaled
 * likewise.  Reference: CloudWatch API, PutMetricAlarm.
 */

#include <stdlib.h>
#include <string.h>

#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "trials/sagemaker/watch/sm-watch-internal.h"
#include "trials/sagemaker/request/sm-request.h"

enum {
	IDLE_PERCENT = 10, /* of one GPU */
	IDLE_MINUTES = 15
};

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

void
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

	if (gpus <= 0) {
		alarm_note(w, plan);
	} else {
		buf_putc(&body, '{');
		sm_watch_put(&body, "AlarmName", name);
		sm_watch_put(&body, "Namespace", "/aws/sagemaker/TrainingJobs");
		sm_watch_put(&body, "MetricName", "GPUUtilization");
		buf_puts(&body, ",\"Dimensions\":[{\"Name\":\"Host\"");
		sm_watch_put(&body, "Value", host);
		buf_printf(&body,
		    "}],\"Statistic\":\"Average\",\"Period\":60,"
		    "\"EvaluationPeriods\":%lld,\"DatapointsToAlarm\":%lld,"
		    "\"Threshold\":%lld,\"ComparisonOperator\":"
		    "\"LessThanThreshold\",\"TreatMissingData\":"
		    "\"notBreaching\"",
		    (long long)minutes, (long long)minutes,
		    (long long)(gpus *
				setting(alarm, "gpu_idle", IDLE_PERCENT)));
		if (action != NULL && json_string(action) != NULL) {
			buf_puts(&body, ",\"AlarmActions\":[");
			json_put_string(&body, json_string(action));
			buf_putc(&body, ']');
		}
		buf_putc(&body, '}');
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

	buf_puts(&body, "{\"AlarmNames\":[");
	json_put_string(&body, name);
	buf_puts(&body, "]}");
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
	const struct json *list =
	    json != NULL ? json_get(json, "MetricAlarms") : NULL;
	const struct json *j;
	const char *name;
	struct buf body = { 0 };
	int n = 0;

	buf_puts(&body, "{\"AlarmNames\":[");
	for (j = list != NULL ? json_first(list) : NULL; j != NULL && n < 100;
	     j = json_next(j)) {
		name = json_string(json_get(j, "AlarmName"));
		if (name == NULL)
			continue;
		if (n++ > 0)
			buf_putc(&body, ',');
		json_put_string(&body, name);
	}
	buf_puts(&body, "]}");
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

	*s = (struct sm_watch_removal){
		.watch = w, .quiet = true, .done = done, .arg = arg
	};
	buf_putc(&body, '{');
	sm_watch_put(&body, "AlarmNamePrefix", prefix);
	buf_puts(&body, ",\"MaxRecords\":100}");
	sm_watch_ask(w, AWS_CLOUDWATCH, "DescribeAlarms", &body, "", &s->quiet,
	    on_list, s);
	buf_free(&body);
	free(prefix);
}
