/*
 * Requests of the user between turns: recorded in the next turn, answered after
 * its commit.  Those of ask, tell and judge are in request-ask.c and request-tell.c,
 * those about recorded trials in request-recorded.c.
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/json/json.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "src/engine/attempts/slots.h"
#include "src/engine/callers/caller.h"
#include "src/engine/tuner/checkpoints.h"
#include "src/engine/tuner/limits.h"
#include "src/engine/tuner/live-trial.h"
#include "src/engine/tuner/new-trial.h"
#include "src/engine/tuner/outcome.h"
#include "src/engine/tuner/paused.h"
#include "src/engine/tuner/requests.h"
#include "src/engine/tuner/start-failures.h"
#include "src/engine/tuner/tuner-internal.h"
#include "src/model/space.h"
#include "src/model/study/study.h"
#include "src/model/where.h"

void
tuner_request(struct tuner *t, enum tuner_request_kind ask, int64_t trial,
    const char *params, tuner_reply *reply, void *arg)
{
	tuner_request_by(t, ask, trial, params, NULL, reply, arg);
}

void
tuner_request_by(struct tuner *t, enum tuner_request_kind ask, int64_t trial,
    const char *params, const char *by, tuner_reply *reply, void *arg)
{
	struct requests *q = &t->requests;

	q->list = xreallocarray(q->list, q->n + 1, sizeof *q->list);
	q->list[q->n++] = (struct request){
		.ask = ask,
		.trial = trial,
		.params = params != NULL ? xstrdup(params) : NULL,
		.by = by != NULL ? caller_read(by) : NULL,
		.reply = reply,
		.arg = arg,
	};
	loop_wake(t->env.loop);
}

static void
answer_cancelled(struct request *r)
{
	r->good = true;
	(void)snprintf(r->text, sizeof r->text,
	    "trial %" PRId64 " is cancelled", r->trial);
}

/* Cancel a trial that waits for its first attempt, or for another one. */
static void
stop_waiting(struct tuner *t, struct request *r, struct live_trial *l)
{
	outcome_move(t, l, TRIAL_EV_CANCELLED, "stopped by the user");
	outcome_finish(t, l);
	live_set_remove(&t->live, l);
	answer_cancelled(r);
}

static void
stop_external(struct tuner *t, struct request *r, struct live_trial *l)
{
	if (r->ask == TUNER_KILL_TRIAL) {
		request_tell_cancel(t, l);
		answer_cancelled(r);
		return;
	}
	r->good = true;
	(void)snprintf(r->text, sizeof r->text,
	    "the answer to the next report of trial %" PRId64 " will be: stop",
	    r->trial);
}

static void
request_stop_trial(struct tuner *t, struct request *r)
{
	struct live_trial *paused = paused_find(&t->paused_set, r->trial);
	struct live_trial *l = live_set_find(&t->live, r->trial);

	if (paused != NULL) {
		paused_final(
		    t, paused, TRIAL_EV_CANCELLED, "stopped by the user");
		answer_cancelled(r);
		return;
	}
	if (l == NULL) {
		request_ended(t, r);
		return;
	}
	if (l->row.state == TRIAL_WAITING) {
		stop_waiting(t, r, l);
		return;
	}
	live_trial_stop(t, l, STOP_USER, "stopped by the user");
	if (l->external) {
		stop_external(t, r, l);
		return;
	}
	if (r->ask == TUNER_KILL_TRIAL)
		tuner_effect(t, EFFECT_KILL, l);
	r->good = true;
	(void)snprintf(r->text, sizeof r->text,
	    "trial %" PRId64 " is being stopped", r->trial);
}

/* When the last of so many waiting settings will be tried: a clause. */
static void
enqueue_answer_text(
    const struct tuner *t, int64_t waiting, char *text, size_t n)
{
	const char *name;
	int64_t most = limits_trials_max(t, &name);
	char why[160];

	if (limits_reached(t, why, sizeof why))
		(void)snprintf(text, n, "the setting is kept, but %s", why);
	else if (t->study->limits.completed > 0 && limits_completed(t))
		(void)snprintf(text, n,
		    "the setting is kept, but limits.completed is reached: it "
		    "is tried when more than %" PRId64 " may complete",
		    t->outcomes.n_completed);
	else if (most > 0 && limits_trials(t) >= most)
		(void)snprintf(text, n,
		    "the setting is kept, but %s is reached: it is tried "
		    "when more than %" PRId64 " may run",
		    name, limits_trials(t));
	else if (most > 0 && waiting > most - limits_trials(t))
		(void)snprintf(text, n,
		    "the setting is kept, but %" PRId64 " wait and %s leaves "
		    "room for %" PRId64,
		    waiting, name, most - limits_trials(t));
	else
		(void)snprintf(text, n, "%s",
		    t->env.hold ? "the next start tries the setting first"
		    : waiting > 1
			? "the setting will be tried after those already "
			  "waiting"
			: "the setting will be tried next");
}

static void
request_enqueue(struct tuner *t, struct request *r)
{
	const struct space *space = t->study->space;
	struct value *values = xcalloc(space->n, sizeof *values);
	struct err e = ERR_INIT;
	const char *broken;
	int64_t waiting;

	if (space_parse_values(space, r->params, values, &e) != 0)
		(void)snprintf(r->text, sizeof r->text, "%.180s", e.text);
	else if (t->replicates.count > 0 &&
		 values[t->study->replicates.param].kind != VALUE_NONE)
		(void)snprintf(r->text, sizeof r->text,
		    "%s is the parameter of replicates: a setting is tried "
		    "with all its values",
		    space->params[t->study->replicates.param].name);
	else if ((broken = where_broken(space, values)) != NULL)
		(void)snprintf(r->text, sizeof r->text,
		    "the setting does not satisfy %.150s", broken);
	else if (store_queue_add(t->store, r->params, SOURCE_ENQUEUE, NULL) ==
		     0 &&
		 store_queue_length(t->store, &waiting, NULL) == 0) {
		r->good = true;
		t->durable = true;
		/*
		 * Check the queue before the strategy, also after the end of a
		 * grid.
		 */
		new_trial_reopen(&t->suggestions);
		enqueue_answer_text(t, waiting, r->text, sizeof r->text);
	}
	free(values);
}

/* Without a server (hold) the next one does it, if one is started. */
static void
request_pause(struct tuner *t, struct request *r, bool paused)
{
	const char *paused_text =
	    "no further trial is started until hpotune resume";
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
	if (!paused) {
		place_blame_forgive(&t->blame, t->store);
		t->refused[0] = '\0';
		start_failures_reset(t);
	}
	t->row.state = paused	     ? STUDY_PAUSED
		       : t->env.hold ? STUDY_INTERRUPTED
				     : STUDY_RUNNING;
	(void)store_study_put(t->store, &t->row, NULL);
	tuner_event(t, LOG_LEVEL_INFO, "study", 0, 0,
	    paused ? "paused by the user" : "resumed by the user");
	(void)snprintf(r->text, sizeof r->text, "%s",
	    paused	  ? paused_text
	    : t->env.hold ? "the next start resumes the study"
			  : "trials are started again");
}

/* Only the record is made, in request_record. */
static void
request_called(struct request *r)
{
	r->good = true;
	(void)snprintf(r->text, sizeof r->text, "recorded");
}

static void
request_execute(struct tuner *t, struct request *r)
{
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
	case TUNER_UNQUEUE:
		request_unqueue(t, r);
		break;
	case TUNER_NOTE:
		request_note(t, r);
		break;
	case TUNER_TAG:
		request_tag(t, r);
		break;
	case TUNER_RETRY:
		request_retry(t, r);
		break;
	case TUNER_FORGET:
		request_forget(t, r);
		break;
	case TUNER_CONFIRM:
		request_confirm(t, r);
		break;
	case TUNER_PROPOSE:
	case TUNER_PROPOSE_COMMIT:
		request_propose(t, r);
		break;
	case TUNER_CLEAN:
		checkpoints_clean(t, r);
		break;
	case TUNER_ASK:
		request_ask(t, r);
		break;
	case TUNER_TELL:
		request_tell(t, r);
		break;
	case TUNER_JUDGE:
		request_tell_judge(t, r);
		break;
	case TUNER_CALLED:
		request_called(r);
		break;
	}
}

static const char *
request_name(enum tuner_request_kind kind)
{
	static const char *const names[] = {
		[TUNER_STOP_TRIAL] = "stop",
		[TUNER_KILL_TRIAL] = "kill",
		[TUNER_PAUSE] = "pause",
		[TUNER_RESUME] = "resume",
		[TUNER_ENQUEUE] = "enqueue",
		[TUNER_UNQUEUE] = "unqueue",
		[TUNER_NOTE] = "note",
		[TUNER_TAG] = "tag",
		[TUNER_RETRY] = "retry",
		[TUNER_FORGET] = "forget",
		[TUNER_CONFIRM] = "confirm",
		[TUNER_PROPOSE] = "propose",
		[TUNER_PROPOSE_COMMIT] = "propose",
		[TUNER_CLEAN] = "clean",
		[TUNER_ASK] = "ask",
		[TUNER_TELL] = "tell",
		[TUNER_JUDGE] = "judge",
		[TUNER_CALLED] = "read",
	};

	return names[kind];
}

/* The row of a request of a caller, with its answer. */
static void
request_record(struct tuner *t, const struct request *r)
{
	struct store_request row = {
		.time_us = t->turn_us,
		.request = request_name(r->ask),
		.trial = r->trial,
		.asked = r->params,
		.good = r->good,
		.answer =
		    r->data.len > 0 && r->good ? buf_str(&r->data) : r->text,
	};
	struct json_doc *doc = NULL;
	struct buf asked = { 0 };
	const struct json *j;

	if (r->ask == TUNER_CALLED && r->params != NULL &&
	    json_parse(&doc, r->params, strlen(r->params), NULL, false, NULL) ==
		0) {
		j = json_get(json_root(doc), "request");
		if (json_string(j) != NULL)
			row.request = json_string(j);
		j = json_get(json_root(doc), "asked");
		if (j != NULL)
			json_write(&asked, j);
		row.asked = j != NULL ? buf_str(&asked) : NULL;
		(void)json_integer(json_get(j, "trial"), &row.trial);
	}
	if (r->ask == TUNER_CALLED) {
		row.good = -1;
		row.answer = NULL;
	}
	(void)caller_record(r->by, t->store, &row, NULL);
	buf_free(&asked);
	json_free(doc);
}

/* How many trials the request would let wait. */
static int64_t
request_waits(const struct tuner *t, const struct request *r)
{
	if (r->ask == TUNER_PROPOSE || r->ask == TUNER_PROPOSE_COMMIT)
		return (int64_t)t->study->confirm.pairs;
	return r->ask == TUNER_ENQUEUE;
}

/* Execute requests and record them; answers are sent after the commit. */
void
requests_serve(struct tuner *t)
{
	struct request *r;
	int64_t waits;
	size_t i;

	t->suggesting = false;
	for (i = 0; i < t->requests.n && !store_failed(t->store); i++) {
		r = &t->requests.list[i];
		waits = request_waits(t, r);
		if (waits == 0 ||
		    !limits_capped(t, r->by, waits, r->text, sizeof r->text))
			request_execute(t, r);
		if (r->by != NULL && !r->later && !store_failed(t->store))
			request_record(t, r);
	}
	t->requests.n_served = 0;
	for (i = 0; i < t->requests.n; i++)
		t->requests.n_served += !t->requests.list[i].later;
}

void
requests_reply_all(struct requests *q, bool good)
{
	struct request *r;
	size_t i, kept = 0;

	for (i = 0; i < q->n; i++) {
		r = &q->list[i];
		if (good && r->later) {
			q->list[kept++] = *r;
			continue;
		}
		r->reply(r->arg, good && r->good,
		    good ? r->text : "a database error occurred; try again",
		    good && r->data.len > 0 ? buf_str(&r->data) : NULL);
		free(r->params);
		caller_free(r->by);
		buf_free(&r->data);
	}
	q->n = kept;
	q->n_served = 0;
}

void
requests_free(struct requests *q)
{
	free(q->list);
	*q = (struct requests){ 0 };
}
