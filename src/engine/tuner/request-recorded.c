/*
 * Requests about recorded trials: notes, tags, retries, forgetting, and the
 * queue emptied.
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
#include "src/base/mem.h"
#include "src/engine/tuner/limits.h"
#include "src/engine/tuner/live-trial.h"
#include "src/engine/tuner/outcome.h"
#include "src/engine/tuner/requests.h"
#include "src/engine/tuner/tuner-internal.h"
#include "src/store/queries.h"
#include "src/view/rows.h"

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

/* Read the row of the trial, or answer that there is none. */
static bool
request_recorded_trial_read(
    struct tuner *t, struct request *r, struct store_trial *row)
{
	*row = (struct store_trial){ 0 };
	if (r->trial > 0 && r->trial <= t->n_trials)
		return store_trial_get(t->store, r->trial, row, NULL) == 0;
	(void)snprintf(
	    r->text, sizeof r->text, "there is no trial %" PRId64, r->trial);
	return false;
}

void
request_ended(struct tuner *t, struct request *r)
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

void
request_note(struct tuner *t, struct request *r)
{
	struct json_doc *doc = params_parse(r);
	const char *text = NULL;
	struct store_trial row;

	if (doc != NULL)
		text = json_string(json_get(json_root(doc), "text"));
	if (!request_recorded_trial_read(t, r, &row))
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
request_recorded_tags_put(
    struct tuner *t, int64_t trial, const struct json *tags, bool on)
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

void
request_tag(struct tuner *t, struct request *r)
{
	struct json_doc *doc = params_parse(r);
	const struct json *tags = NULL, *remove = NULL;
	struct store_trial row;

	if (doc != NULL) {
		tags = json_get(json_root(doc), "tags");
		remove = json_get(json_root(doc), "remove");
	}
	if (request_recorded_trial_read(t, r, &row) && tags_good(r, tags) &&
	    tags_good(r, remove)) {
		request_recorded_tags_put(t, r->trial, tags, true);
		request_recorded_tags_put(t, r->trial, remove, false);
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
	else if (row->backend != NULL && strcmp(row->backend, ASK_BACKEND) == 0)
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
 * Let a trial wait again: no rule stops one a second time that a rule had
 * stopped, and its retries begin anew.
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
	struct store_trial row = { 0 };
	struct store_rows *rows;
	int64_t *failed = NULL;
	size_t i, n = 0, cap = 0, done = 0;
	char why[160] = "", numbers[128] = "";

	if (store_list_failed(&rows, t->store, NULL) != 0)
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

void
request_retry(struct tuner *t, struct request *r)
{
	struct store_trial row;
	char why[160];

	if (r->trial == 0 && params_flag(r, "failed")) {
		retry_failed(t, r);
		return;
	}
	if (!request_recorded_trial_read(t, r, &row))
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

void
request_forget(struct tuner *t, struct request *r)
{
	bool forget = !params_flag(r, "undo");
	struct store_trial row;

	if (!request_recorded_trial_read(t, r, &row))
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

void
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

/* Why the setting of the request cannot be confirmed, in its answer. */
static bool
confirm_refused(
    const struct tuner *t, struct request *r, int64_t setting, int64_t baseline)
{
	const struct contest *c;

	if (t->study->confirm.pairs == 0)
		(void)snprintf(r->text, sizeof r->text,
		    "study.json has no confirm, which names the baseline");
	else if (baseline == 0)
		(void)snprintf(r->text, sizeof r->text,
		    "the baseline, which confirm.baseline names, has no trial");
	else if (setting == 0 && r->trial > 0)
		(void)snprintf(r->text, sizeof r->text,
		    "there is no trial %" PRId64, r->trial);
	else if (setting == 0)
		(void)snprintf(r->text, sizeof r->text,
		    "no setting that breaks no constraint has a result yet");
	else if (setting == baseline)
		(void)snprintf(r->text, sizeof r->text,
		    "setting %" PRId64 " is the baseline itself", setting);
	else if ((c = contests_find(&t->contests, setting)) != NULL)
		(void)snprintf(r->text, sizeof r->text,
		    "setting %" PRId64 " %s (contest %" PRId64 ")", setting,
		    c->verdict == CONTEST_OPEN ? "is being confirmed"
					       : "has its verdict",
		    c->number);
	else
		return false;
	return true;
}

void
request_confirm(struct tuner *t, struct request *r)
{
	int64_t setting = 0, baseline = 0;

	replicates_race(&t->replicates);
	if (t->study->confirm.pairs > 0) {
		baseline = contests_baseline(&t->contests);
		if (r->trial == 0)
			setting = contests_best(&t->contests);
		else if (r->trial <= t->n_trials)
			setting = t->replicates.setting_of[r->trial];
	}
	if (confirm_refused(t, r, setting, baseline))
		return;
	(void)contests_begin(&t->contests, t->store, setting, t->turn_us);
	r->good = t->durable = true;
	(void)snprintf(r->text, sizeof r->text,
	    "setting %" PRId64 " %s beside the baseline, setting %" PRId64,
	    setting,
	    t->env.hold ? "runs again with the next start" : "runs again",
	    baseline);
}
