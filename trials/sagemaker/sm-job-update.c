/* Handles descriptions of a job: training, interruption, end; and stops it. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/fail.h"
#include "src/base/json/json-writer.h"
#include "src/base/loop.h"
#include "trials/sagemaker/sm-internal.h"
#include "trials/sagemaker/sm-poll.h"
#include "trials/sagemaker/sm-spec-copy.h"
#include "trials/sagemaker/watch/sm-watch.h"

void
sm_job_update_follow(struct sm_attempt *a)
{
	if (a->log == NULL)
		a->log = sm_log_follow(a->sm->logs, a->trial, a->attempt,
		    a->job, a->dir, a->cursor.log);
}

/* Send the number of GPUs. */
static void
job_update_tell_gpus(struct sm_attempt *a)
{
	struct launch_event ev = {
		.kind = LAUNCH_USAGE, .trial = a->trial, .attempt = a->attempt
	};
	int gpus = sm_plan_gpus(&a->plan, a->sm->set);

	if (gpus == 0)
		return;
	ev.u.usage = (struct gpu_usage){ .gpus = gpus,
		.energy = NAN,
		.memory = NAN,
		.busy = NAN,
		.seen = NAN };
	sm_events_emit(a->sm, &ev);
}

void
sm_job_update_started(struct sm_attempt *a, int64_t started_us)
{
	struct launch_event ev = {
		.kind = LAUNCH_UP, .trial = a->trial, .attempt = a->attempt
	};
	char place[160];

	if (a->up)
		return;
	a->up = a->trained = a->placed = true;
	sm_events_place_text(a, place, sizeof place);
	ev.u.up.started_us =
	    started_us > 0 ? started_us : loop_wall_us(a->sm->loop);
	ev.u.up.place = place;
	sm_events_emit(a->sm, &ev);
	job_update_tell_gpus(a);
}

/* What was sent of it is stored in the cursor. */
static void
cursor_emit(struct sm_attempt *a)
{
	struct launch_event ev = {
		.kind = LAUNCH_READ, .trial = a->trial, .attempt = a->attempt
	};

	ev.u.cursor = a->cursor;
	sm_events_emit(a->sm, &ev);
}

static void
interruptions_read(struct sm_attempt *a, const struct sm_job *job)
{
	if (job->interruptions <= a->cursor.metrics)
		return;
	a->cursor.metrics = job->interruptions;
	sm_events_note(a->sm, a, LAUNCH_WARNING,
	    "spot interruption %d: SageMaker restarts the job "
	    "when a machine is available",
	    job->interruptions);
	cursor_emit(a);
	if (a->log != NULL)
		sm_log_restarted(a->log);
}

/* An earlier server may have had other settings. */
static void
job_update_plan_type(struct sm_attempt *a, const char *type)
{
	const struct sm_settings *set = a->sm->set;
	size_t i;

	for (i = 0; type != NULL && i < set->n_types; i++)
		if (strcmp(set->types[i].name, type) == 0) {
			a->plan.type = &set->types[i];
			a->plan.price = set->types[i].price * set->count;
		}
}

static void
check_once(struct sm_attempt *a, const struct sm_job *job)
{
	if (a->checked)
		return;
	a->checked = true;
	/* An earlier server may have requested spot differently. */
	if (!a->found && a->plan.spot && !job->spot &&
	    !a->cursor.metrics_skip) {
		a->cursor.metrics_skip = true;
		cursor_emit(a);
		sm_events_note(a->sm, a, LAUNCH_ERROR,
		    "spot was requested, but the job %s runs on-demand, "
		    "at its full price",
		    a->job);
	}
	a->plan.spot = job->spot;
	job_update_plan_type(a, job->type);
}

/* Billed seconds of the job's warm pool; the maximum while unknown. */
static double
idle(const struct sm_attempt *a, const struct sm_job *job)
{
	if (isfinite(job->idle_s))
		return job->idle_s;
	return job->spot ? 0 : (double)a->sm->set->keep_alive_s;
}

/* Dollars, of the machines that the job itself names. */
static void
price(struct sm_attempt *a, const struct sm_job *job)
{
	struct launch_exit *x = &a->exit;
	int instances = job->instances > 0 ? job->instances : a->plan.instances;
	const char *type = job->type;

	if (type == NULL && a->plan.type != NULL)
		type = a->plan.type->name;
	if (!x->billed && !job->trained && !isfinite(job->training_s)) {
		/* a machine that was never allocated is not billed */
		x->billed = true;
		x->billable_s = 0;
	}
	if (!x->billed)
		return;
	x->cost = x->billable_s == 0 ? 0
				     : sm_plan_cost(a->sm->set, type, instances,
					   x->billable_s + idle(a, job));
	x->priced = isfinite(x->cost);
	if (x->billable_s > 0 && idle(a, job) > 0 && !isfinite(job->idle_s))
		a->idle_rate = sm_plan_cost(a->sm->set, type, instances, 1);
	if (!x->priced)
		x->cost = 0;
}

static void
on_drained(void *arg)
{
	fail_point("sagemaker.drained");
	sm_gpu_usage_last(arg);
}

/* Whether our entry script ran to its end. */
static bool
was_orderly(const struct sm_attempt *a)
{
	const struct launch_exit *x = &a->exit;

	return !a->lost && !sm_distribution_is_toolkit(a->sm->set) &&
	       (x->exit_code >= 0 || x->signal > 0 || x->timeout);
}

static void
drain(struct sm_attempt *a)
{
	a->state = SM_DRAIN;
	loop_timer_stop(a->timer);
	loop_timer_stop(a->stop_timer);
	sm_quota_ended(a);
	if (a->trained)
		sm_job_update_follow(a);
	if (a->log != NULL)
		sm_log_finish(a->log, was_orderly(a), on_drained, a);
	else
		sm_gpu_usage_last(a);
}

/* "…/output/model.tar.gz" or "…/output/model/" -> the same of its output. */
static char *
output_uri(const char *model)
{
	static const char packed[] = "model.tar.gz";
	size_t n = strlen(model), m = sizeof packed - 1;

	if (n > m && strcmp(model + n - m, packed) == 0)
		return xasprintf("%.*soutput.tar.gz", (int)(n - m), model);
	while (n > 0 && model[n - 1] == '/')
		n--;
	if (n > 6 && strncmp(model + n - 6, "/model", 6) == 0)
		return xasprintf("%.*s/data/", (int)(n - 6), model);
	return xstrdup("");
}

/* Send the URIs of artifacts; a job that never trained has none. */
static void
artifacts_emit(struct sm_attempt *a, const struct sm_job *job)
{
	struct launch_event ev = { .kind = LAUNCH_ARTIFACTS,
		.trial = a->trial,
		.attempt = a->attempt };
	char *output;

	if (job->model == NULL || *job->model == '\0' || !job->trained ||
	    (job->status != SM_COMPLETED && job->status != SM_STOPPED))
		return;
	output = output_uri(job->model);
	ev.u.left.model = job->model;
	ev.u.left.output = output;
	sm_events_emit(a->sm, &ev);
	free(output);
}

static void
ended(struct sm_attempt *a, const struct sm_job *job)
{
	if (!sm_job_status_end(&a->exit, job, a->stop)) {
		a->lost = true;
		(void)snprintf(a->lost_why, sizeof a->lost_why,
		    "its training job is being deleted");
	}
	/* Missing permissions of the job appear before it trains. */
	if (!a->lost && job->status == SM_FAILED && !job->trained && !a->stop &&
	    strncmp(job->reason, "ClientError", 11) == 0)
		a->exit.not_yet = sm_owner_errors_why(a->exit.why,
		    sizeof a->exit.why, a->sm->set, "", job->reason);
	fail_point("sagemaker.ended");
	price(a, job);
	artifacts_emit(a, job);
	sm_watch_ended(a->sm->watch, a->job, a->exit.billable_s, a->exit.cost);
	drain(a);
}

bool
sm_job_update_stop_overdue(const struct sm_attempt *a)
{
	return a->stop_sent &&
	       loop_now_ms(a->sm->loop) - a->stop_ms > sm_ms(a->sm, SM_LOST_S);
}

/* Watch the job from outside, once. */
static void
watch_up(struct sm_attempt *a)
{
	if (a->watched)
		return;
	a->watched = a->sm->watched = true;
	sm_watch_job(a->sm->watch, a->job, &a->plan);
}

void
sm_job_update_seen(struct sm_attempt *a, const struct sm_job *job)
{
	if (a->state < SM_CREATED) {
		a->state = SM_CREATED;
		sm_events_accepted(a);
		sm_poll_soon(a->sm, sm_ms(a->sm, SM_LIST_S));
		watch_up(a);
	}
	sm_spec_copy_free(a->spec);
	free(a->body);
	a->spec = NULL;
	a->body = NULL;
	a->missing_ms = -1;
	a->misses = a->tries = 0;
	a->may_act_until_ms = 0;
	a->status = job->status;
	a->created_s = job->created_s;
	(void)snprintf(a->secondary, sizeof a->secondary, "%s", job->secondary);
	check_once(a, job);
	sm_events_place(a);
	sm_bill_described(a, job);
	interruptions_read(a, job);
	if (job->trained) {
		a->state = SM_RUNNING;
		a->trained = true;
		sm_job_update_started(a, (int64_t)(job->started_s * 1e6));
		sm_job_update_follow(a);
		sm_gpu_usage_follow(a);
		watch_up(a);
	}
	if (sm_job_status_over(job->status)) {
		ended(a, job);
		return;
	}
	if (job->status == SM_IN_PROGRESS && sm_job_update_stop_overdue(a))
		a->stop_sent = false;
	if (a->stop)
		sm_job_update_stop(a);
}

void
sm_job_update_missing(struct sm_attempt *a)
{
	struct sm *sm = a->sm;
	int64_t now = loop_now_ms(sm->loop);

	if (a->missing_ms < 0)
		a->missing_ms = now;
	if (++a->misses < SM_MISSING_TIMES ||
	    now - a->missing_ms < sm_ms(sm, SM_LOST_S)) {
		loop_timer_set(
		    a->timer, sm_ms(sm, SM_LOST_S) / (SM_MISSING_TIMES - 1));
		return;
	}
	a->lost = true;
	(void)snprintf(
	    a->lost_why, sizeof a->lost_why, "its training job was deleted");
	drain(a);
}

static void
job_update_on_stop(void *arg, const struct aws_answer *r)
{
	struct sm_attempt *a = arg;
	struct sm *sm = a->sm;

	a->stop_call = NULL;
	fail_point("sagemaker.stopped");
	if (r->good) {
		a->stop_sent = true;
		a->stop_ms = loop_now_ms(sm->loop);
		sm_poll_soon(sm, sm_ms(sm, SM_LIST_SOON_S));
		return;
	}
	/* A job that may not be stopped has ended by itself, as a rule. */
	if (r->what == AWS_CALLER && !a->noted_stop &&
	    strcmp(r->code, "ValidationException") != 0) {
		a->noted_stop = true;
		sm_events_note(sm, a, LAUNCH_ERROR,
		    "its training job cannot be stopped: %s; it is tried again",
		    r->message);
	}
	loop_timer_set(a->stop_timer, sm_ms(sm, SM_RETRY_MOST_S));
	sm_poll_describe(a);
}

static void
stop_send(struct sm_attempt *a)
{
	struct aws_ask ask = { .service = AWS_SAGEMAKER,
		.operation = "StopTrainingJob",
		.tries = -1 };
	struct buf body = { 0 };
	struct json_writer o = { .out = &body };

	if (a->stop_call != NULL || a->stop_sent ||
	    loop_timer_pending(a->stop_timer))
		return;
	fail_point("sagemaker.before_stop");
	json_writer_object(&o, NULL);
	json_writer_text(&o, "TrainingJobName", a->job);
	json_writer_end(&o);
	ask.body = buf_str(&body);
	a->stop_call = aws_json(a->sm->aws, &ask, job_update_on_stop, a);
	buf_free(&body);
}

void
sm_job_update_stop(struct sm_attempt *a)
{
	switch (a->state) {
	case SM_CODE:
	case SM_QUEUED:
		sm_create_cancel(a);
		break;
	case SM_ADOPT:
		if (a->up)
			stop_send(a);
		break;
	case SM_CREATED:
	case SM_RUNNING:
		stop_send(a);
		break;
	case SM_SENT: /* its answer shows whether a job exists */
	case SM_ABANDON:
	case SM_DRAIN:
	case SM_OVER:
		break;
	}
}
