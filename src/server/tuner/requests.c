/*
 * Requests of the user between turns: recorded in the next turn, answered after
 * its commit.  Those of ask, tell and judge are in ask-tell.c.
 *
 * A retried trial waits like one whose attempt has failed and is repeated: it is
 * placed, recorded and, after a crash, adopted by the same code.  A trial is
 * forgotten in the database; the tuner is then opened again, and reads a
 * history without it.
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/json/json.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "src/model/space.h"
#include "src/model/study/study.h"
#include "src/model/where.h"
#include "src/server/attempts/slots.h"
#include "src/server/status/rows.h"
#include "src/server/tuner/ask-tell.h"
#include "src/server/tuner/checkpoints.h"
#include "src/server/tuner/limits.h"
#include "src/server/tuner/live-trial.h"
#include "src/server/tuner/new-trial.h"
#include "src/server/tuner/outcome.h"
#include "src/server/tuner/paused.h"
#include "src/server/tuner/requests.h"
#include "src/server/tuner/start-failures.h"
#include "src/server/tuner/tuner-internal.h"

void
tuner_request(struct tuner *t, enum tuner_request_kind ask, int64_t trial,
    const char *params, tuner_reply *reply, void *arg)
{
	struct requests *q = &t->requests;

	q->list = xreallocarray(q->list, q->n + 1, sizeof *q->list);
	q->list[q->n++] = (struct request){
		.ask = ask,
		.trial = trial,
		.params = params != NULL ? xstrdup(params) : NULL,
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

/* There is no such trial, or it is over. */
static void
stop_ended(struct tuner *t, struct request *r)
{
	struct store_trial row = { 0 };
	struct err e = ERR_INIT;

	if (store_trial_get(t->store, r->trial, &row, &e) != 0)
		(void)snprintf(r->text, sizeof r->text,
		    "there is no trial %" PRId64, r->trial);
	else
		(void)snprintf(r->text, sizeof r->text,
		    "trial %" PRId64 " has ended already: %s", r->trial,
		    trial_state_name(row.state));
	store_trial_fini(&row);
}

/* One that waits for its first attempt, or for another. */
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
		ask_tell_cancel(t, l);
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
		stop_ended(t, r);
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
	else if (most > 0 && t->n_trials >= most)
		(void)snprintf(text, n,
		    "the setting is kept, but %s is reached: it is tried "
		    "when more than %" PRId64 " may run",
		    name, t->n_trials);
	else if (most > 0 && waiting > most - t->n_trials)
		(void)snprintf(text, n,
		    "the setting is kept, but %" PRId64 " wait and %s leaves "
		    "room for %" PRId64,
		    waiting, name, most - t->n_trials);
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

/* ---- recorded trials: notes, tags, retries, forgetting ------------------ */

enum {
	NOTE_MAX = 2000, /* bytes */
	TAG_MAX = 64,
	RETRIED_SHOWN = 10 /* numbers in an answer */
};

/* The params of a request, or NULL. */
static struct json_doc *
params_parse(const struct request *r)
{
	struct json_doc *doc;

	if (r->params == NULL || json_parse(&doc, r->params, strlen(r->params),
				     NULL, false, NULL) != 0)
		return NULL;
	return doc;
}

/* Whether a switch of the params is on. */
static bool
params_flag(const struct request *r, const char *key)
{
	struct json_doc *doc = params_parse(r);
	bool on = false;

	if (doc == NULL)
		return false;
	(void)json_bool(json_get(json_root(doc), key), &on);
	json_free(doc);
	return on;
}

/* Read its row, or answer that there is none. */
static bool
trial_read(struct tuner *t, struct request *r, struct store_trial *row)
{
	*row = (struct store_trial){ 0 };
	if (r->trial > 0 && r->trial <= t->n_trials)
		return store_trial_get(t->store, r->trial, row, NULL) == 0;
	(void)snprintf(
	    r->text, sizeof r->text, "there is no trial %" PRId64, r->trial);
	return false;
}

/* params: {"text": "…"}; an empty text removes the note. */
static void
request_note(struct tuner *t, struct request *r)
{
	struct json_doc *doc = params_parse(r);
	const char *text = NULL;
	struct store_trial row;

	if (doc != NULL)
		text = json_string(json_get(json_root(doc), "text"));
	if (!trial_read(t, r, &row))
		;
	else if (text == NULL || strlen(text) > NOTE_MAX)
		(void)snprintf(r->text, sizeof r->text,
		    "a note is a text of at most %d bytes", NOTE_MAX);
	else if (store_note_put(t->store, r->trial, text, t->turn_us, NULL) ==
		 0) {
		r->good = t->durable = true;
		(void)snprintf(r->text, sizeof r->text,
		    *text != '\0' ? "trial %" PRId64 " has the note"
				  : "trial %" PRId64 " has no note",
		    r->trial);
	}
	store_trial_fini(&row);
	json_free(doc);
}

/* One word: of tags joined by commas each can be found again. */
static bool
tag_good(const char *tag)
{
	size_t i, n = strlen(tag);

	for (i = 0; i < n; i++)
		if ((unsigned char)tag[i] <= ' ' || tag[i] == ',' ||
		    tag[i] == 0x7f)
			return false;
	return n > 0 && n <= TAG_MAX;
}

/* Whether all are tags; else the answer names the first that is none. */
static bool
tags_good(struct request *r, const struct json *tags)
{
	const struct json *j;
	const char *tag;

	for (j = json_first(tags); j != NULL; j = json_next(j)) {
		tag = json_string(j);
		if (tag == NULL || !tag_good(tag)) {
			(void)snprintf(r->text, sizeof r->text,
			    "%.80s: a tag is one word without a comma, of at "
			    "most %d bytes",
			    tag != NULL ? tag : "?", TAG_MAX);
			return false;
		}
	}
	return true;
}

static void
tags_put(struct tuner *t, int64_t trial, const struct json *tags, bool on)
{
	const struct json *j;

	for (j = json_first(tags); j != NULL; j = json_next(j))
		(void)store_tag_put(t->store, trial, json_string(j), on, NULL);
}

/* The tags that the trial has now. */
static void
tags_answer(struct tuner *t, struct request *r)
{
	static const char sql[] = "SELECT tags FROM trials WHERE trial = ?1";
	const char *params[2] = { NULL, NULL };
	struct store_rows *rows;
	char number[24];

	(void)snprintf(number, sizeof number, "%" PRId64, r->trial);
	params[0] = number;
	if (rows_first(&rows, t->store, sql, params, NULL) != 1)
		return;
	if (store_rows_null(rows, 0))
		(void)snprintf(
		    r->text, sizeof r->text, "trial %s has no tags", number);
	else
		(void)snprintf(r->text, sizeof r->text, "trial %s has: %.150s",
		    number, store_rows_text(rows, 0));
	store_rows_close(rows);
}

/* params: {"tags": ["…"], "remove": ["…"]} */
static void
request_tag(struct tuner *t, struct request *r)
{
	struct json_doc *doc = params_parse(r);
	const struct json *tags = NULL, *remove = NULL;
	struct store_trial row;

	if (doc != NULL) {
		tags = json_get(json_root(doc), "tags");
		remove = json_get(json_root(doc), "remove");
	}
	if (trial_read(t, r, &row) && tags_good(r, tags) &&
	    tags_good(r, remove)) {
		tags_put(t, r->trial, tags, true);
		tags_put(t, r->trial, remove, false);
		r->good = t->durable = true;
		tags_answer(t, r);
	}
	store_trial_fini(&row);
	json_free(doc);
}

/*
 * Whether an ended trial may have another attempt, with fewer failed ones than
 * there are; else why not: a clause.
 */
static bool
retry_allowed(struct tuner *t, const struct store_trial *row, int64_t fewer,
    char *why, size_t n)
{
	*why = '\0';
	if (row->state == TRIAL_COMPLETED)
		(void)snprintf(why, n, "it has completed");
	else if (!trial_state_final(row->state))
		(void)snprintf(why, n, "it has not ended: it is %s",
		    trial_state_name(row->state));
	else if (row->forgotten)
		(void)snprintf(
		    why, n, "it is forgotten: hpotune forget --undo first");
	else if (row->outside != NULL)
		(void)snprintf(why, n, "%.100s", row->outside);
	else if (row->backend != NULL &&
		 strcmp(row->backend, ASK_TELL_BACKEND) == 0)
		(void)snprintf(why, n,
		    "another program ran it: hpotune enqueue tries its "
		    "setting again");
	else if (row->member > 0)
		(void)snprintf(why, n,
		    "it is a member of a population, which has continued "
		    "without it");
	else if (t->end.over)
		(void)snprintf(why, n, "the study is over: %.100s", t->end.why);
	else
		(void)limits_end_waiting(t, fewer, why, n);
	return *why == '\0';
}

/*
 * It waits again: no rule stops one a second time that a rule had stopped, and
 * its retries begin anew.
 */
static bool
retry_begin(struct tuner *t, int64_t trial)
{
	struct live_trial *l = outcome_read_ended(t, trial);
	enum trial_state ended;

	if (l == NULL)
		return false;
	ended = l->row.state;
	(void)store_retry_add(t->store, trial, t->turn_us, NULL);
	outcome_revive(t, trial, ended == TRIAL_FAILED);
	(void)store_trial_revive(t->store, trial, NULL);
	if (ended == TRIAL_STOPPED)
		live_trial_set_looked(l);
	live_trial_renew(l);
	live_trial_set_state(t, l, TRIAL_EV_RESUME, "retried by the user");
	tuner_event(t, LOG_LEVEL_INFO, "retry", trial, l->row.attempts,
	    "retried by the user: it was %s", trial_state_name(ended));
	live_set_add(&t->live, l);
	t->looks.known = false;
	return !store_failed(t->store);
}

/* A study that had ended runs at the next start. */
static void
retry_reopen_study(struct tuner *t)
{
	t->durable = true;
	if (!t->env.hold ||
	    (t->row.state != STUDY_FINISHED && t->row.state != STUDY_FAILED))
		return;
	t->row.state = STUDY_INTERRUPTED;
	(void)store_study_put(t->store, &t->row, NULL);
}

/* All trials that have failed and may be retried: the answer lists them. */
static void
retry_failed(struct tuner *t, struct request *r)
{
	static const char sql[] = "SELECT trial FROM t_trial WHERE "
				  "state = 'failed' AND forgotten = 0 "
				  "ORDER BY trial";
	struct store_trial row = { 0 };
	struct store_rows *rows;
	int64_t *failed = NULL;
	size_t i, n = 0, cap = 0, done = 0;
	char why[160] = "", numbers[128] = "";

	if (store_rows_open(&rows, t->store, sql, NULL, NULL) != 0)
		return;
	while (store_rows_next(rows, NULL) == 1) {
		XGROW(failed, n, cap);
		failed[n++] = store_rows_int(rows, 0);
	}
	store_rows_close(rows);
	for (i = 0; i < n; i++) {
		if (store_trial_get(t->store, failed[i], &row, NULL) != 0)
			break;
		if (retry_allowed(t, &row, (int64_t)(n - i), why, sizeof why) &&
		    retry_begin(t, failed[i]) && ++done <= RETRIED_SHOWN)
			(void)snprintf(numbers + strlen(numbers),
			    sizeof numbers - strlen(numbers), "%s%" PRId64,
			    done > 1 ? ", " : "", failed[i]);
		store_trial_fini(&row);
	}
	free(failed);
	r->good = done > 0 || n == 0;
	if (n == 0)
		(void)snprintf(r->text, sizeof r->text, "no trial has failed");
	else if (done == 0)
		(void)snprintf(
		    r->text, sizeof r->text, "none is retried: %s", why);
	else
		(void)snprintf(r->text, sizeof r->text,
		    "%zu trial%s retried: %s%s", done,
		    done == 1 ? " is" : "s are", numbers,
		    done > RETRIED_SHOWN ? ", …" : "");
	if (done > 0)
		retry_reopen_study(t);
}

/* trial, or 0 with params {"failed": true}: all that have failed. */
static void
request_retry(struct tuner *t, struct request *r)
{
	struct store_trial row;
	char why[160];

	if (r->trial == 0 && params_flag(r, "failed")) {
		retry_failed(t, r);
		return;
	}
	if (!trial_read(t, r, &row))
		return;
	if (!retry_allowed(t, &row, row.state == TRIAL_FAILED, why, sizeof why))
		(void)snprintf(r->text, sizeof r->text,
		    "trial %" PRId64 " cannot be retried: %s", r->trial, why);
	else if (retry_begin(t, r->trial)) {
		r->good = true;
		retry_reopen_study(t);
		(void)snprintf(r->text, sizeof r->text,
		    t->env.hold ? "trial %" PRId64
				  " is retried by the next start"
				: "trial %" PRId64 " is retried",
		    r->trial);
	}
	store_trial_fini(&row);
}

/* params: {"undo": false} */
static void
request_forget(struct tuner *t, struct request *r)
{
	bool forget = !params_flag(r, "undo");
	struct store_trial row;

	if (!trial_read(t, r, &row))
		return;
	if (!trial_state_final(row.state))
		(void)snprintf(r->text, sizeof r->text,
		    "trial %" PRId64 " has not ended: hpotune stop it first",
		    r->trial);
	else if (row.member > 0)
		(void)snprintf(r->text, sizeof r->text,
		    "trial %" PRId64
		    " is a member of a population: later trials "
		    "continue from it",
		    r->trial);
	else if (store_trial_forget(t->store, r->trial, forget, NULL) == 0 &&
		 outcome_front_again(t) == 0) {
		r->good = t->durable = t->stale = true;
		if (row.forgotten != forget)
			tuner_event(t, LOG_LEVEL_INFO, "forget", r->trial, 0,
			    forget ? "forgotten by the user"
				   : "no longer forgotten by the user");
		(void)snprintf(r->text, sizeof r->text,
		    forget ? "trial %" PRId64 " no longer counts"
			   : "trial %" PRId64 " counts again",
		    r->trial);
	}
	store_trial_fini(&row);
}

/* trial is an entry of the queue; 0: all that wait. */
static void
request_unqueue(struct tuner *t, struct request *r)
{
	int64_t n;

	if (store_queue_drop(t->store, r->trial, &n, NULL) != 0)
		return;
	r->good = t->durable = n > 0 || r->trial == 0;
	if (r->trial > 0)
		(void)snprintf(r->text, sizeof r->text,
		    n > 0 ? "setting %" PRId64 " of the queue is dropped"
			  : "no setting %" PRId64 " waits in the queue",
		    r->trial);
	else
		(void)snprintf(r->text, sizeof r->text,
		    "%" PRId64 " setting%s of the queue %s dropped", n,
		    n == 1 ? "" : "s", n == 1 ? "is" : "are");
}

/* ---- the requests of a turn --------------------------------------------- */

/* Execute requests and record them; answers are sent after the commit. */
void
requests_serve(struct tuner *t)
{
	struct request *r;
	size_t i;

	t->asking = false;
	for (i = 0; i < t->requests.n && !store_failed(t->store); i++) {
		r = &t->requests.list[i];
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
		case TUNER_CLEAN:
			checkpoints_clean(t, r);
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
