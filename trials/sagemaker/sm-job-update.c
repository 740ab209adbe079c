/*
 * Handles descriptions of a job: training, interruption, end; and stops it.
 * Polls the state of our jobs: one list for all, newest first, and a
 * description of those that changed.  Lists are delayed: a job that is missing
 * is unknown, not gone, and an older status is ignored.
 */

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/fail.h"
#include "src/base/json/json-writer.h"
#include "src/base/json/json.h"
#include "src/base/loop.h"
#include "trials/sagemaker/sm-internal.h"
#include "trials/sagemaker/watch/sm-watch.h"

static void sm_job_update_missing(struct sm_attempt *);

static void sm_job_update_seen(struct sm_attempt *, const struct sm_job *);

static bool sm_job_update_stop_overdue(const struct sm_attempt *);

enum {
	CLOCKS_S = 600 /* tolerance of creation times */
};

static bool
exists(const struct sm_attempt *a)
{
	return a->state == SM_CREATED || a->state == SM_RUNNING;
}

static void
on_describe(void *arg, const struct aws_answer *r)
{
	struct sm_attempt *a = arg;
	struct sm_job job;

	a->call = NULL;
	if (a->state >= SM_DRAIN)
		return;
	if (r->good && r->json != NULL) {
		sm_job_status_read(&job, r->json);
		a->said_trouble = false;
		/* A job that is known to be ours needs no uuid. */
		if (job.uuid == NULL ? !exists(a)
				     : strcmp(job.uuid, a->uuid) != 0)
			sm_create_collision(a);
		else
			sm_job_update_seen(a, &job);
	} else if (r->what == AWS_MISSING) {
		if (exists(a) || a->up)
			sm_job_update_missing(a);
		else
			sm_create_absent(a);
	} else {
		if (!a->said_trouble)
			sm_events_note(a->sm, a, LAUNCH_WARNING,
			    "its training job cannot be described: %s; it is "
			    "tried again",
			    r->message);
		a->said_trouble = true;
		loop_timer_set(a->timer, sm_pause_ms(a->sm, a->tries++));
	}
}

void
sm_poll_describe(struct sm_attempt *a)
{
	struct aws_ask ask = { .service = AWS_SAGEMAKER,
		.operation = "DescribeTrainingJob" };
	struct buf body = { 0 };
	struct json_writer o = { .out = &body };

	if (a->call != NULL || a->state >= SM_DRAIN)
		return;
	loop_timer_stop(a->timer);
	json_writer_object(&o, NULL);
	json_writer_text(&o, "TrainingJobName", a->job);
	json_writer_end(&o);
	ask.body = buf_str(&body);
	a->call = aws_json(a->sm->aws, &ask, on_describe, a);
	buf_free(&body);
}

/* ---- the list ----------------------------------------------------------- */

static struct sm_attempt *
find_job(const struct sm *sm, const char *name)
{
	size_t i;

	for (i = 0; i < sm->n; i++)
		if (strcmp(sm->attempts[i]->job, name) == 0)
			return sm->attempts[i];
	return NULL;
}

void
sm_poll_hint(struct sm *sm, const char *job)
{
	struct sm_attempt *a = find_job(sm, job);

	if (a != NULL && exists(a))
		sm_poll_describe(a);
}

/* One line of the list. */
static void
summary_read(struct sm *sm, const struct json *o)
{
	const char *name = json_string(json_get(o, "TrainingJobName"));
	const char *word = json_string(json_get(o, "SecondaryStatus"));
	struct sm_attempt *a = name != NULL ? find_job(sm, name) : NULL;
	enum sm_status status;
	int was, is;

	if (a == NULL || !exists(a))
		return;
	a->late = false;
	status =
	    sm_job_status_parse(json_string(json_get(o, "TrainingJobStatus")));
	if (sm_job_status_over(status) || (word == NULL && !a->trained)) {
		sm_poll_describe(a);
		return;
	}
	if (status == SM_IN_PROGRESS && sm_job_update_stop_overdue(a)) {
		sm_poll_describe(a);
		return;
	}
	if (word == NULL || strcmp(word, a->secondary) == 0)
		return;
	sm_bill_listed(a, word);
	was = sm_job_status_rank(a->secondary);
	is = sm_job_status_rank(word);
	if (is == 3)
		sm_job_update_follow(a);
	/* In an intermediate phase: no description needed. */
	if (is >= was && is > 0 && (is < 3 || (is > 3 && a->up)) &&
	    (was > 0 || *a->secondary == '\0'))
		(void)snprintf(a->secondary, sizeof a->secondary, "%s", word);
	else
		sm_poll_describe(a);
}

static void
sweep_end(struct sm *sm, bool whole)
{
	struct sm_poll *p = &sm->poll;
	struct sm_attempt *a;
	bool any = false;
	size_t i;

	free(p->token);
	p->token = NULL;
	for (i = 0; i < sm->n; i++) {
		a = sm->attempts[i];
		any |= exists(a);
		if (whole && a->late && exists(a))
			sm_poll_describe(a);
	}
	p->due_ms = INT64_MAX;
	if (any)
		sm_poll_soon(
		    sm, sm_ms(sm, p->again ? SM_LIST_SOON_S : SM_LIST_S));
	p->again = false;
}

static bool
any_late(const struct sm *sm)
{
	size_t i;

	for (i = 0; i < sm->n; i++)
		if (sm->attempts[i]->late && exists(sm->attempts[i]))
			return true;
	return false;
}

static void page_ask(struct sm *);

static void
on_page(void *arg, const struct aws_answer *r)
{
	struct sm *sm = arg;
	struct sm_poll *p = &sm->poll;
	const struct json *o;
	const char *token;

	p->call = NULL;
	if (!r->good || r->json == NULL) {
		if (!p->said_trouble)
			sm_events_note(sm, NULL, LAUNCH_WARNING,
			    "the training jobs cannot be listed: %s; it is "
			    "tried again",
			    r->message);
		p->said_trouble = true;
		/* If listing is denied, describe each job by its name. */
		sweep_end(sm, true);
		return;
	}
	p->said_trouble = false;
	o = json_get(r->json, "TrainingJobSummaries");
	for (o = json_first(o); o != NULL; o = json_next(o))
		summary_read(sm, o);
	token = json_string(json_get(r->json, "NextToken"));
	/* Empty pages may precede full ones; a repeated token ends the list. */
	if (token == NULL || *token == '\0' || !any_late(sm) ||
	    (p->token != NULL && strcmp(p->token, token) == 0) ||
	    p->pages >= SM_PAGES) {
		sweep_end(sm, p->pages < SM_PAGES);
		return;
	}
	free(p->token);
	p->token = xstrdup(token);
	page_ask(sm);
}

static void
page_ask(struct sm *sm)
{
	struct sm_poll *p = &sm->poll;
	struct aws_ask ask = { .service = AWS_SAGEMAKER,
		.operation = "ListTrainingJobs" };
	struct buf body = { 0 };
	struct json_writer o = { .out = &body };

	json_writer_object(&o, NULL);
	json_writer_text(&o, "NameContains", sm->prefix);
	json_writer_integer(&o, "MaxResults", 100);
	json_writer_text(&o, "SortBy", "CreationTime");
	json_writer_text(&o, "SortOrder", "Descending");
	if (p->oldest_s > 0)
		json_writer_integer(
		    &o, "CreationTimeAfter", llround(p->oldest_s));
	if (p->token != NULL)
		json_writer_text(&o, "NextToken", p->token);
	json_writer_end(&o);
	p->pages++;
	ask.body = buf_str(&body);
	p->call = aws_json(sm->aws, &ask, on_page, sm);
	buf_free(&body);
}

static void
on_poll(void *arg)
{
	struct sm *sm = arg;
	struct sm_poll *p = &sm->poll;
	struct sm_attempt *a;
	size_t i;

	p->due_ms = INT64_MAX;
	if (p->call != NULL)
		return;
	p->oldest_s = 0;
	p->pages = 0;
	for (i = 0; i < sm->n; i++) {
		a = sm->attempts[i];
		a->late = exists(a);
		if (a->late && a->created_s > CLOCKS_S &&
		    (p->oldest_s == 0 || a->created_s - CLOCKS_S < p->oldest_s))
			p->oldest_s = a->created_s - CLOCKS_S;
	}
	if (any_late(sm))
		page_ask(sm);
}

void
sm_poll_soon(struct sm *sm, int64_t ms)
{
	struct sm_poll *p = &sm->poll;
	int64_t due = loop_now_ms(sm->loop) + ms;

	if (p->call != NULL) {
		p->again = true;
		return;
	}
	if (p->due_ms <= due)
		return;
	p->due_ms = due;
	if (p->timer == NULL)
		p->timer = loop_timer_new(sm->loop, on_poll, sm);
	loop_timer_set(p->timer, ms);
}

void
sm_poll_close(struct sm *sm)
{
	if (sm->poll.call != NULL)
		aws_call_cancel(sm->poll.call);
	free(sm->poll.token);
	if (sm->poll.timer != NULL)
		loop_timer_free(sm->poll.timer);
}

void
sm_job_update_follow(struct sm_attempt *a)
{
	if (a->log == NULL)
		a->log = sm_log_follow(a->sm->logs, a->trial, a->attempt,
		    a->job, a->dir, a->cursor.log);
}

/* Send the number of GPUs. */
static void
tell_gpus(struct sm_attempt *a)
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
	tell_gpus(a);
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
plan_type(struct sm_attempt *a, const char *type)
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
	plan_type(a, job->type);
}

/* Billed seconds of its warm pool; the maximum while unknown. */
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

static bool
sm_job_update_stop_overdue(const struct sm_attempt *a)
{
	return a->stop_sent &&
	       loop_now_ms(a->sm->loop) - a->stop_ms > sm_ms(a->sm, SM_LOST_S);
}

/* Watch it from outside, once. */
static void
watch_up(struct sm_attempt *a)
{
	if (a->watched)
		return;
	a->watched = a->sm->watched = true;
	sm_watch_job(a->sm->watch, a->job, &a->plan);
}

static void
sm_job_update_seen(struct sm_attempt *a, const struct sm_job *job)
{
	if (a->state < SM_CREATED) {
		a->state = SM_CREATED;
		sm_events_accepted(a);
		sm_poll_soon(a->sm, sm_ms(a->sm, SM_LIST_S));
		watch_up(a);
	}
	sm_spec_free(a->spec);
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

static void
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
on_stop(void *arg, const struct aws_answer *r)
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
	/* It has ended by itself, as a rule. */
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
	a->stop_call = aws_json(a->sm->aws, &ask, on_stop, a);
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
