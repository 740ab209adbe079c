/*
 * From an attempt to a training job: create, adopt, quarantine.
 *
 * The name of the job is the guard: it holds the study, the trial, the attempt
 * and six digits of a uuid that is in the store before anything is sent, so
 * the same Create may be sent twice and acts once.  Whose a job is tells the
 * whole uuid, which its environment carries.  What may go wrong, and when:
 *
 *  the server dies, or …           look, and then
 *  ------------------------------  -------------------------------------------
 *  before start                    no note "create", Describe finds nothing:
 *                                  it is created now; stop wanted: it ends
 *  after the note, before Create   Describe finds nothing, the note is young:
 *                                  the same Create again; stop wanted: Describe
 *                                  until no request can act any more, 15 min
 *  Create sent, answer lost        the same Create again: it acts, or says
 *                                  ResourceInUse, and Describe shows our uuid
 *  … and somebody else's job       a collision: this attempt is lost, the next
 *  has the name                    one has another name
 *  … a refusal after a lost        Describe first: the lost one may have acted
 *  answer
 *  … a refusal that the owner has  the note goes, the attempt is taken back;
 *  to mend (rights, role, bucket)  the tuner tries one trial now and then
 *  created, server dead            Describe finds it with our uuid: adopted
 *  the note is old, no job         nothing can act any more: the attempt is
 *                                  lost (created, ended and deleted, perhaps)
 *  stop sent, server dead          the stop is in the store: it is sent again;
 *                                  a job that has ended refuses it: Describe
 *  stop wanted, Create under way   its answer is waited for, then it is stopped
 *  ended while the server is dead  Describe tells how; its output is read from
 *                                  the last recorded event on, then its end
 *  end told, not committed         the same
 *  reports told, not committed     the cursor was not either: read again;
 *                                  what is recorded already is passed over
 *  missing in a list               not known: Describe
 *  Describe: no such job           three times, over a minute, and then lost
 *  another region, or account      the note says where it is: it cannot be told
 *  in study.json                   what it does, until the old one is back
 *  code half in S3                 run.sh goes last: without it all is sent
 *                                  again under the same name of its content
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/fail.h"
#include "src/base/loop.h"
#include "trials/sagemaker/sm-internal.h"

static bool
may_act(const struct sm_attempt *a)
{
	return loop_now_ms(a->sm->loop) < a->may_act_until_ms;
}

void
sm_create_queue(struct sm_attempt *a)
{
	a->state = SM_CODE;
	if (a->sm->hold)
		return;
	sm_code_upload_start(a->sm);
	if (a->sm->code.step != SM_CODE_READY)
		return;
	a->state = SM_QUEUED;
	sm_create_pump(a->sm);
}

/* Try again after a while; without the code there is nothing to send. */
static void
queue_later(struct sm_attempt *a)
{
	a->state = a->sm->code.step == SM_CODE_READY ? SM_QUEUED : SM_CODE;
	loop_timer_set(a->timer, sm_pause_ms(a->sm, a->tries++));
}

/* The job is there. */
static void
born(struct sm_attempt *a)
{
	const struct sm_plan *p = &a->plan;

	a->state = SM_CREATED;
	a->tries = a->misses = 0;
	a->may_act_until_ms = 0;
	sm_events_accepted(a);
	sm_events_note(a->sm, a, LAUNCH_INFO, "training job %s created: %s%s",
	    a->job, p->type != NULL ? p->type->name : "instance groups",
	    p->spot ? ", spot" : "");
	sm_poll_describe_in(a, sm_ms(a->sm, SM_LIST_SOON_S));
	sm_poll_soon(a->sm, sm_ms(a->sm, SM_LIST_S));
	if (a->stop)
		sm_job_update_stop(a);
}

/* A refusal for good. */
static void
refused(struct sm_attempt *a, const struct aws_answer *r)
{
	struct sm_limit limit;
	char why[LAUNCH_WHY];

	if (a->stop) {
		sm_events_over_unrun(
		    a, END_NONE, true, "stopped before it started");
		return;
	}
	if (r->what == AWS_QUOTA &&
	    !(sm_quota_limit_read(&limit, r->message) && limit.warm)) {
		sm_quota_hit(a, r->message);
		sm_events_over_unrun(a, END_QUOTA, false, r->message);
		return;
	}
	if (sm_owner_errors_why(
		why, sizeof why, a->sm->set, r->code, r->message)) {
		sm_create_note_drop(a);
		sm_events_over_unmade(a, why);
		return;
	}
	sm_events_over_unrun(a, END_NONE, false, r->message);
}

static void
trouble_note(struct sm_attempt *a, const struct aws_answer *r)
{
	if (!a->said_trouble)
		sm_events_note(a->sm, a, LAUNCH_WARNING,
		    "the training job is not created yet: %s; it is tried "
		    "again",
		    r->message);
	a->said_trouble = true;
}

/* No answer that says yes or no. */
static void
unanswered(struct sm_attempt *a, const struct aws_answer *r)
{
	trouble_note(a, r);
	if (a->stop) {
		a->state = SM_QUEUED;
		sm_create_cancel(a);
	} else
		queue_later(a);
}

static void
on_create(void *arg, const struct aws_answer *r)
{
	struct sm_attempt *a = arg;
	struct sm *sm = a->sm;

	a->call = NULL;
	sm->creating--;
	fail_point("sagemaker.created");
	if (r->unclear || (r->what == AWS_TRANSIENT && r->sent))
		a->may_act_until_ms =
		    loop_now_ms(sm->loop) + sm_ms(sm, SM_QUARANTINE_S);
	switch (r->what) {
	case AWS_OK:
		born(a);
		break;
	case AWS_EXISTS:
		sm_poll_describe(a);
		break;
	case AWS_THROTTLE:
	case AWS_TRANSIENT:
	case AWS_CLOCK:
	case AWS_CREDENTIALS:
		unanswered(a, r);
		break;
	case AWS_QUOTA:
	case AWS_MISSING:
	case AWS_CALLER:
	case AWS_CLASSES:
		if (!may_act(a)) {
			refused(a, r);
			break;
		}
		/* An earlier request may act yet: both are asked again. */
		trouble_note(a, r);
		a->tries++;
		a->state = SM_ADOPT;
		sm_poll_describe(a);
		break;
	}
	sm_create_pump(sm);
}

static int
body_make(struct sm_attempt *a, struct err *e)
{
	struct sm *sm = a->sm;
	struct sm_request request = {
		.settings = sm->set,
		.plan = &a->plan,
		.spec = a->spec,
		.job = a->job,
		.study_id = sm->study_id,
		.metric = sm->metric,
		.study_key = sm->study_key,
		.code_key = sm->code.key,
		.region = aws_client_region(sm->aws),
	};
	struct buf body = { 0 };

	if (sm_create_job_put(&body, &request, e) == -1) {
		buf_free(&body);
		return -1;
	}
	a->body = buf_take(&body);
	return 0;
}

static void
send(struct sm_attempt *a)
{
	struct sm *sm = a->sm;
	struct aws_ask ask = { .service = AWS_SAGEMAKER,
		.operation = "CreateTrainingJob" };
	struct err e = ERR_INIT;

	if (a->body == NULL && body_make(a, &e) == -1) {
		if (may_act(a)) {
			/* Never with the same settings: a job may be there. */
			a->state = SM_ADOPT;
			sm_poll_describe(a);
		} else
			sm_events_over_unrun(a, END_NONE, false, e.text);
		return;
	}
	if (sm_create_note_set(a, loop_wall_us(sm->loop) / 1000000, &e) == -1) {
		if (!a->said_trouble)
			sm_events_note(sm, a, LAUNCH_WARNING, "%s", e.text);
		a->said_trouble = true;
		queue_later(a);
		return;
	}
	fail_point("sagemaker.before_create");
	a->state = SM_SENT;
	a->found = false;
	sm->creating++;
	ask.body = a->body;
	a->call = aws_json(sm->aws, &ask, on_create, a);
}

void
sm_create_pump(struct sm *sm)
{
	struct sm_attempt *a;
	size_t i;

	for (i = 0; i < sm->n && sm->creating < SM_LANES; i++) {
		a = sm->attempts[i];
		if (a->state == SM_QUEUED && !loop_timer_pending(a->timer))
			send(a);
	}
}

void
sm_create_on_timer(void *arg)
{
	struct sm_attempt *a = arg;

	switch (a->state) {
	case SM_CODE:
		sm_create_queue(a);
		break;
	case SM_QUEUED:
		sm_create_pump(a->sm);
		break;
	case SM_SENT:
	case SM_ADOPT:
	case SM_ABANDON:
	case SM_CREATED:
	case SM_RUNNING:
		sm_poll_describe(a);
		break;
	case SM_DRAIN:
	case SM_OVER:
		break;
	}
}

int
sm_create_adopt(struct sm_attempt *a, int64_t wall_s, struct err *e)
{
	struct sm *sm = a->sm;
	int64_t most = sm_ms(sm, SM_QUARANTINE_S) + sm_ms(sm, SM_CALL_S);
	int64_t age_ms;
	struct sm_create_note mark;

	sm_create_note_get(&mark, a);
	/* There it would not be found, and begun a second time. */
	if (*mark.place != '\0' && strcmp(mark.place, sm->place) != 0)
		return err_set(e, ERR_LAUNCH,
		    "its training job is in %s, but study.json names %s now",
		    mark.place, sm->place);
	a->state = SM_ADOPT;
	a->found = mark.sent_s != 0;
	/* Of a note from the future nothing is known. */
	age_ms = mark.sent_s < wall_s ? (wall_s - mark.sent_s) * 1000 : 0;
	if (a->found && age_ms < most)
		a->may_act_until_ms = loop_now_ms(sm->loop) + most - age_ms;
	return 0;
}

/* It is watched until no request of ours can make it any more. */
static void
quarantine(struct sm_attempt *a)
{
	int64_t left = a->may_act_until_ms - loop_now_ms(a->sm->loop);
	int64_t pause = sm_pause_ms(a->sm, a->tries++);

	if (left <= 0) {
		sm_events_over_unrun(
		    a, END_NONE, true, "stopped before it started");
		return;
	}
	a->state = SM_ABANDON;
	sm_poll_describe_in(a, pause < left ? pause : left);
}

void
sm_create_cancel(struct sm_attempt *a)
{
	loop_timer_stop(a->timer);
	a->tries = 0;
	quarantine(a);
}

void
sm_create_absent(struct sm_attempt *a)
{
	if (a->stop)
		quarantine(a);
	else if (a->state == SM_SENT && ++a->misses < SM_MISSING_TIMES)
		/* Create said that it exists. */
		sm_poll_describe_in(a, sm_pause_ms(a->sm, a->misses));
	else if (a->found && !may_act(a))
		sm_events_over_unrun(a, END_LOST, false,
		    "its training job never came to be, or was deleted");
	else if (a->tries == 0)
		sm_create_queue(a);
	else
		queue_later(a);
}

void
sm_create_collision(struct sm_attempt *a)
{
	sm_events_over_unrun(a, END_LOST, a->stop,
	    "a training job that is not ours has its name");
}
