/*
 * GPU use of a job from CloudWatch: GPUUtilization of each of its machines
 * (dimension Host, JOB/algo-N), 0 to 100 times the number of GPUs.  Always read
 * from the start of the job, so nothing is stored for a restart.  Values arrive
 * minutes late: those of the last minutes may be missing.  Reference:
 * CloudWatch API, GetMetricData.
 */

#include <math.h>
#include <stdlib.h>

#include "src/base/json/json-writer.h"
#include "src/base/json/json.h"
#include "src/base/loop.h"
#include "trials/sagemaker/sm-internal.h"

enum {
	USAGE_S = 300, /* between two queries, which are billed */
	HOSTS_MOST = 500, /* queries of one request */
	POINTS_MOST = 100000, /* of one request */
	HOST_POINTS_MOST = 1440,
	PAGES_MOST = 50
};

static void usage_ask(struct sm_attempt *);

static void
gpu_usage_tell(struct sm_attempt *a)
{
	struct launch_event ev = {
		.kind = LAUNCH_USAGE, .trial = a->trial, .attempt = a->attempt
	};
	struct sm_gpu_usage *u = &a->usage;
	int gpus = sm_plan_gpus(&a->plan, a->sm->set);
	int hosts = a->plan.instances;

	/* In a mixed cluster machines without GPUs have no such metric. */
	if (a->plan.type == NULL && u->hosts < hosts)
		hosts = u->hosts;
	if (u->points == 0 || gpus == 0 || hosts == 0)
		return;
	ev.u.usage = (struct gpu_usage){ .gpus = gpus,
		.energy = NAN,
		.memory = NAN,
		.busy = u->busy,
		.seen = u->points * u->period * gpus / hosts };
	sm_events_emit(a->sm, &ev);
}

static void
usage_done(struct sm_attempt *a)
{
	struct sm_gpu_usage *u = &a->usage;

	free(u->body);
	u->body = NULL;
	if (u->last)
		sm_events_over(a);
	else
		loop_timer_set(u->timer, sm_ms(a->sm, USAGE_S));
}

/* One machine's values. */
static void
series_add(struct sm_gpu_usage *u, const struct json *result)
{
	const struct json *v = json_get(result, "Values");
	double x;
	int n = 0;

	for (v = json_first(v); v != NULL; v = json_next(v))
		if (json_number(v, &x) && x >= 0 && x < 1e6) {
			u->busy += x / 100 * u->period;
			n++;
		}
	u->points += n;
	u->hosts += n > 0;
}

static void
on_usage(void *arg, const struct aws_answer *r)
{
	struct sm_attempt *a = arg;
	struct sm_gpu_usage *u = &a->usage;
	const struct json *j;
	const char *token;

	u->call = NULL;
	if (!r->good || r->json == NULL) {
		if (r->what == AWS_CALLER && !a->sm->usage_denied) {
			a->sm->usage_denied = true;
			sm_events_note(a->sm, NULL, LAUNCH_WARNING,
			    "the use of GPUs cannot be read "
			    "(cloudwatch:GetMetricData): %s",
			    r->message);
		}
		usage_done(a);
		return;
	}
	j = json_get(r->json, "MetricDataResults");
	for (j = json_first(j); j != NULL; j = json_next(j))
		series_add(u, j);
	token = json_string(json_get(r->json, "NextToken"));
	if (token != NULL && *token != '\0' && ++u->pages < PAGES_MOST) {
		free(u->token);
		u->token = xstrdup(token);
		usage_ask(a);
		return;
	}
	gpu_usage_tell(a);
	usage_done(a);
}

/* The same request for each page. */
static void
usage_ask(struct sm_attempt *a)
{
	struct sm_gpu_usage *u = &a->usage;
	struct aws_ask ask = { .service = AWS_CLOUDWATCH,
		.operation = "GetMetricData",
		.tries = 2 };
	struct buf body = { 0 };
	struct json_writer w = { .out = &body, .comma = true };

	buf_puts(&body, u->body);
	if (u->token != NULL)
		json_writer_text(&w, "NextToken", u->token);
	buf_putc(&body, '}');
	ask.body = buf_str(&body);
	u->call = aws_json(a->sm->aws, &ask, on_usage, a);
	buf_free(&body);
}

/* Write the query of machine i of the job, from 1. */
static void
gpu_usage_query_put(struct json_writer *w, const struct sm_attempt *a, int i)
{
	json_writer_object(w, NULL);
	buf_printf(json_writer_value(w, "Id"), "\"g%d\"", i);
	json_writer_bool(w, "ReturnData", true);
	json_writer_object(w, "MetricStat");
	json_writer_object(w, "Metric");
	json_writer_text(w, "Namespace", "/aws/sagemaker/TrainingJobs");
	json_writer_text(w, "MetricName", "GPUUtilization");
	json_writer_array(w, "Dimensions");
	json_writer_object(w, NULL);
	json_writer_text(w, "Name", "Host");
	buf_printf(json_writer_value(w, "Value"), "\"%s/algo-%d\"", a->job, i);
	json_writer_end(w);
	json_writer_end(w);
	json_writer_end(w);
	json_writer_number(w, "Period", a->usage.period);
	json_writer_text(w, "Stat", "Average");
	json_writer_end(w);
	json_writer_end(w);
}

/* The request but for its page and its closing bracket. */
static void
usage_begin(struct sm_attempt *a)
{
	struct sm_gpu_usage *u = &a->usage;
	int hosts =
	    a->plan.instances < HOSTS_MOST ? a->plan.instances : HOSTS_MOST;
	int64_t now_s = loop_wall_us(a->sm->loop) / 1000000;
	int64_t from_s = (int64_t)a->created_s, most, n;
	struct buf body = { 0 };
	struct json_writer w = { .out = &body };
	int i;

	if (from_s <= 0 || from_s > now_s)
		from_s = now_s;
	most = POINTS_MOST / (hosts > 0 ? hosts : 1);
	most = most < HOST_POINTS_MOST ? most : HOST_POINTS_MOST;
	n = (now_s - from_s) / 60 / most + 1; /* minutes of a value */
	u->period = 60.0 * (double)n;
	u->busy = u->points = 0;
	u->hosts = u->pages = 0;
	free(u->token);
	u->token = NULL;
	json_writer_object(&w, NULL);
	json_writer_array(&w, "MetricDataQueries");
	for (i = 1; i <= hosts; i++)
		gpu_usage_query_put(&w, a, i);
	json_writer_end(&w);
	/* CloudWatch drops the seconds of the end. */
	json_writer_integer(&w, "StartTime", from_s - from_s % 60);
	json_writer_integer(&w, "EndTime", now_s + 120);
	json_writer_text(&w, "ScanBy", "TimestampAscending");
	u->body = buf_take(&body);
	usage_ask(a);
}

static bool
gpu_usage_is_wanted(const struct sm_attempt *a)
{
	return a->trained && !a->sm->usage_denied && !a->sm->hold &&
	       sm_plan_gpus(&a->plan, a->sm->set) > 0;
}

static void
gpu_usage_on_timer(void *arg)
{
	struct sm_attempt *a = arg;

	if (a->usage.call == NULL && !a->usage.last && gpu_usage_is_wanted(a))
		usage_begin(a);
}

void
sm_gpu_usage_follow(struct sm_attempt *a)
{
	struct sm_gpu_usage *u = &a->usage;

	if (u->timer == NULL)
		u->timer = loop_timer_new(a->sm->loop, gpu_usage_on_timer, a);
	if (u->call == NULL && !loop_timer_pending(u->timer) &&
	    gpu_usage_is_wanted(a))
		loop_timer_set(u->timer, sm_ms(a->sm, USAGE_S));
}

void
sm_gpu_usage_last(struct sm_attempt *a)
{
	struct sm_gpu_usage *u = &a->usage;

	loop_timer_free(u->timer);
	u->timer = NULL;
	u->last = true;
	if (u->call != NULL)
		return; /* its answer will do */
	if (gpu_usage_is_wanted(a))
		usage_begin(a);
	else
		sm_events_over(a);
}

void
sm_gpu_usage_free(struct sm_attempt *a)
{
	struct sm_gpu_usage *u = &a->usage;

	if (u->call != NULL)
		aws_call_cancel(u->call);
	loop_timer_free(u->timer);
	free(u->body);
	free(u->token);
}
