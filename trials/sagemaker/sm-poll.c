/*
 * Polls the state of our jobs: one list for all, newest first, and a
 * description of those that changed.  Lists are delayed: a job that is missing
 * is unknown, not gone, and an older status is ignored.
 */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/json/json-writer.h"
#include "src/base/json/json.h"
#include "src/base/loop.h"
#include "trials/sagemaker/sm-internal.h"
#include "trials/sagemaker/sm-poll.h"

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
sm_poll_summary_read(struct sm *sm, const struct json *o)
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
sm_poll_on_page(void *arg, const struct aws_answer *r)
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
		sm_poll_summary_read(sm, o);
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
	p->call = aws_json(sm->aws, &ask, sm_poll_on_page, sm);
	buf_free(&body);
}

static void
sm_poll_on_timer(void *arg)
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
		p->timer = loop_timer_new(sm->loop, sm_poll_on_timer, sm);
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
