/*
 * Effects after a commit: start and stop attempts, answer requests.  Writes no
 * rows.
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/fail.h"
#include "src/base/json/json.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "src/model/space.h"
#include "src/model/study/study.h"
#include "src/server/tuner/attempt-spec.h"
#include "src/server/tuner/tuner-internal.h"

void
effects_add(struct tuner *t, enum effect_kind kind, const struct live_trial *l)
{
	t->acts = xreallocarray(t->acts, t->n_effects + 1, sizeof *t->acts);
	t->acts[t->n_effects++] = (struct effect){
		.kind = kind,
		.trial = l->row.number,
		.attempt = l->att.attempt,
	};
}

int
effects_attempt_spec(struct attempt_spec *te, const struct tuner *t,
    const struct live_trial *l, struct err *e)
{
	struct attempt_spec_facts facts = {
		.study = t->study,
		.backend = &t->plugins.backends[l->backend],
		.row = &l->row,
		.att = &l->att,
		.state_dir = t->env.state_dir,
		.past = { .capacity = l->past.capacity },
	};

	return attempt_spec_make(te, &facts, e);
}

static void
effect_start(struct tuner *t, struct live_trial *l)
{
	struct backend *b = &t->backends[l->backend];
	struct err e = ERR_INIT;
	struct attempt_spec te;

	live_trial_set_start(l, LIVE_START_CALLED);
	if (effects_attempt_spec(&te, t, l, &e) == 0 &&
	    b->launcher->start(b->ctx, &te.spec, &e) == 0) {
		attempt_spec_free(&te);
		start_failures_begun(t, l, false);
		return;
	}
	attempt_spec_free(&te);
	if (e.kind == ERR_BUSY || e.kind == ERR_FULL) {
		live_trial_set_start(l, LIVE_START_DUE);
		start_failures_refused(t, l, e.text);
		return;
	}
	live_trial_set_start_error(l, e.text);
	loop_wake(t->env.loop);
}

/*
 * Never started: ensure that it cannot start later, then its trial may
 * continue.
 */
static bool
unsent_give_up(struct tuner *t, struct live_trial *l)
{
	struct backend *b = &t->backends[l->backend];
	struct err e = ERR_INIT;
	struct attempt_spec te;
	int rc;

	if (fail_bug("bug.no_abandon"))
		return true;
	rc = effects_attempt_spec(&te, t, l, &e);
	if (rc == 0)
		rc = b->launcher->abandon(b->ctx, &te.spec, &e);
	attempt_spec_free(&te);
	if (rc == 0)
		return true;
	if (e.kind == ERR_BUSY) {
		/* A delayed supervisor started it meanwhile: adopt it. */
		live_trial_set_start(l, LIVE_START_UNKNOWN);
		tuner_wake_in(t, 20);
		return false;
	}
	tuner_attempt_unknown(t, l, e.text);
	return false;
}

/* The end of an attempt that was never started; its cost is 0. */
static struct launch_exit
exit_never(const struct tuner *t, const struct live_trial *l, const char *why)
{
	bool costs = t->backends[l->backend].launcher->worst_cost != NULL;
	struct launch_exit x = {
		.exit_code = -1, .billed = costs, .priced = costs
	};

	(void)snprintf(x.why, sizeof x.why, "%s", why);
	return x;
}

void
tuner_settle_unstarted(struct tuner *t)
{
	struct launch_exit x;
	struct live_trial *l;
	size_t i;

	for (i = t->live.n; i-- > 0 && !t->store_failed;) {
		l = t->live.list[i];
		if (!l->open)
			continue;
		if (l->start_error != NULL) {
			/*
			 * Our start failed, but one of an earlier server may
			 * still be in progress.
			 */
			if (l->found && !unsent_give_up(t, l)) {
				live_trial_set_start_error(l, NULL);
				if (l->start != LIVE_START_UNKNOWN)
					live_trial_set_start(l, LIVE_START_DUE);
				continue;
			}
			x = exit_never(t, l, l->start_error);
			attempt_end_handle(t, l, &x, NULL);
		} else if (l->start == LIVE_START_DUE &&
			   l->att.started_us != 0) {
			/* It was started once: it must not start again. */
			if (unsent_give_up(t, l))
				attempt_end_handle(
				    t, l, NULL, "its records are gone");
		} else if (l->start == LIVE_START_DUE &&
			   l->row.cause == STOP_NONE) {
			/* A command without a server starts nothing. */
			if (!t->env.hold && start_failures_due(t, l))
				effects_add(t, EFFECT_START, l);
		} else if (l->start == LIVE_START_DUE && unsent_give_up(t, l)) {
			x = exit_never(t, l, "never started");
			attempt_end_handle(t, l, &x, NULL);
		}
	}
}

static void
effect_stop(struct tuner *t, struct live_trial *l, bool now)
{
	struct backend *b;

	if (!l->open || l->start == LIVE_START_DUE || l->external)
		return;
	b = &t->backends[l->backend];
	b->launcher->stop(b->ctx, l->row.number, l->att.attempt, now);
}

void
effects_run(struct tuner *t)
{
	struct live_trial *l;
	size_t i;

	for (i = 0; i < t->n_effects; i++) {
		fail_point("tuner.before_act");
		l = live_set_find(&t->live, t->acts[i].trial);
		/* In this turn it may have ended and been resumed. */
		if (l == NULL || l->att.attempt != t->acts[i].attempt)
			continue;
		switch (t->acts[i].kind) {
		case EFFECT_START:
			if (l->row.cause == STOP_NONE)
				effect_start(t, l);
			else {
				live_trial_set_start(l, LIVE_START_DUE);
				loop_wake(t->env.loop);
			}
			break;
		case EFFECT_STOP:
			effect_stop(t, l, false);
			break;
		case EFFECT_KILL:
			effect_stop(t, l, true);
			break;
		}
	}
	t->n_effects = 0;
}

void
tuner_request(struct tuner *t, enum tuner_request_kind ask, int64_t trial,
    const char *params, tuner_reply *reply, void *arg)
{
	t->requests =
	    xreallocarray(t->requests, t->n_requests + 1, sizeof *t->requests);
	t->requests[t->n_requests++] = (struct request){
		.ask = ask,
		.trial = trial,
		.params = params != NULL ? xstrdup(params) : NULL,
		.reply = reply,
		.arg = arg,
	};
	loop_wake(t->env.loop);
}

static void
request_stop_trial(struct tuner *t, struct request *r)
{
	struct live_trial *l = live_set_find(&t->live, r->trial), *p;
	struct store_trial row = { 0 };
	struct err e = ERR_INIT;

	if ((p = paused_find(t, r->trial)) != NULL) {
		paused_final(t, p, TRIAL_EV_CANCELLED, "stopped by the user");
		r->good = true;
		(void)snprintf(r->text, sizeof r->text,
		    "trial %" PRId64 " is cancelled", r->trial);
		return;
	}

	if (l == NULL) {
		if (store_trial_get(t->store, r->trial, &row, &e) != 0)
			(void)snprintf(r->text, sizeof r->text,
			    "there is no trial %" PRId64, r->trial);
		else
			(void)snprintf(r->text, sizeof r->text,
			    "trial %" PRId64 " has ended already: %s", r->trial,
			    trial_state_name(row.state));
		store_trial_fini(&row);
		return;
	}
	r->good = true;
	if (l->row.state == TRIAL_WAITING) {
		live_trial_set_state(
		    t, l, TRIAL_EV_CANCELLED, "stopped by the user");
		outcome_finish(t, l);
		live_set_remove(&t->live, l);
		(void)snprintf(r->text, sizeof r->text,
		    "trial %" PRId64 " is cancelled", r->trial);
		return;
	}
	live_trial_stop(t, l, STOP_USER, "stopped by the user");
	if (l->external && r->ask == TUNER_KILL_TRIAL) {
		ask_tell_cancel(t, l);
		(void)snprintf(r->text, sizeof r->text,
		    "trial %" PRId64 " is cancelled", r->trial);
		return;
	}
	if (l->external) {
		(void)snprintf(r->text, sizeof r->text,
		    "who runs trial %" PRId64
		    " is told to stop with its next report",
		    r->trial);
		return;
	}
	if (r->ask == TUNER_KILL_TRIAL)
		effects_add(t, EFFECT_KILL, l);
	(void)snprintf(r->text, sizeof r->text,
	    "trial %" PRId64 " is being stopped", r->trial);
}

static void
request_enqueue(struct tuner *t, struct request *r)
{
	const struct space *space = t->study->space;
	struct value *values = xcalloc(space->n, sizeof *values);
	struct json_doc *doc = NULL;
	struct err e = ERR_INIT;
	int64_t waiting;

	if (json_parse(&doc, r->params, strlen(r->params), NULL, false, &e) !=
		0 ||
	    space_read_values(space, json_root(doc), values, &e) != 0)
		(void)snprintf(r->text, sizeof r->text, "%.180s", e.text);
	else if (store_queue_add(t->store, r->params, "enqueue", &e) != 0 ||
		 store_queue_length(t->store, &waiting, &e) != 0)
		tuner_store_failed(t, &e);
	else {
		r->good = true;
		t->durable = true;
		/*
		 * Check the queue before the strategy, also after the end of a
		 * grid.
		 */
		t->exhausted = false;
		enqueue_answer_text(t, waiting, r->text, sizeof r->text);
	}
	json_free(doc);
	free(values);
}

/* Without a server (hold) the next one does it, if one is started. */
static void
request_pause(struct tuner *t, struct request *r, bool paused)
{
	const char *paused_text = "no further trial is placed until resume";
	struct err e = ERR_INIT;
	int i;

	if (t->env.hold &&
	    (t->row.state == STUDY_FINISHED || t->row.state == STUDY_FAILED)) {
		(void)snprintf(r->text, sizeof r->text, "the study has ended");
		return;
	}
	r->good = true;
	t->durable = true;
	t->paused = paused;
	for (i = 0; i < t->n_backends && !paused; i++)
		slots_restore(&t->backends[i].slots);
	if (!paused)
		start_failures_reset(t);
	t->row.state = paused	     ? STUDY_PAUSED
		       : t->env.hold ? STUDY_INTERRUPTED
				     : STUDY_RUNNING;
	if (store_study_put(t->store, &t->row, &e) != 0)
		tuner_store_failed(t, &e);
	tuner_event(t, "info", "study", 0, 0,
	    paused ? "paused by the user" : "resumed by the user");
	(void)snprintf(r->text, sizeof r->text, "%s",
	    paused	  ? paused_text
	    : t->env.hold ? "the next start places trials"
			  : "trials are placed again");
}

/* Execute requests and record them; answers are sent after the commit. */
void
effects_serve_requests(struct tuner *t)
{
	struct request *r;
	size_t i;

	t->asking = false;
	for (i = 0; i < t->n_requests && !t->store_failed; i++) {
		r = &t->requests[i];
		switch (r->ask) {
		case TUNER_STOP_TRIAL:
		case TUNER_KILL_TRIAL:
			request_stop_trial(t, r);
			break;
		case TUNER_PAUSE:
			request_pause(t, r, true);
			break;
		case TUNER_RESUME:
			request_pause(t, r, false);
			break;
		case TUNER_ENQUEUE:
			request_enqueue(t, r);
			break;
		case TUNER_ASK:
			ask_tell_ask(t, r);
			break;
		case TUNER_TELL:
			ask_tell_tell(t, r);
			break;
		case TUNER_JUDGE:
			ask_tell_judge(t, r);
			break;
		}
	}
	t->n_served = 0;
	for (i = 0; i < t->n_requests; i++)
		t->n_served += !t->requests[i].later;
}

void
effects_reply_all(struct tuner *t, bool good)
{
	struct request *r;
	size_t i, kept = 0;

	for (i = 0; i < t->n_requests; i++) {
		r = &t->requests[i];
		if (good && r->later) {
			t->requests[kept++] = *r;
			continue;
		}
		r->reply(r->arg, good && r->good,
		    good ? r->text : "the store failed; ask again",
		    good && r->data.len > 0 ? buf_str(&r->data) : NULL);
		free(r->params);
		buf_free(&r->data);
	}
	t->n_requests = kept;
	t->n_served = 0;
}
