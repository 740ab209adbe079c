/*
 * The request ask: trials that another program runs, and reports through "hpotune
 * tell" (request-tell.c).  They hold no slot, belong to no backend, and run until
 * their end is reported.
 *
 * The answer is JSON, a list of {"trial", "params"}, with "attempt" when an earlier
 * one was lost, "from" when the trial continues another one, "until" when it ends at
 * a step, and "resume", its last step, when it was stopped and gets a second look;
 * when none can begin now but may later, {"later": true}.
 *
 * A program that asks again, because the answer was lost with a server or a
 * connection, has in params "has", the numbers of all trials that it runs.  Another
 * one that it has asked for is one that it does not know of: the same attempt is the
 * answer.  "log" says that it writes a log where trials of this machine have theirs.
 */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "src/base/json/json-writer.h"
#include "src/base/json/json.h"
#include "src/base/rng.h"
#include "src/engine/callers/caller.h"
#include "src/engine/tuner/limits.h"
#include "src/engine/tuner/live-trial.h"
#include "src/engine/tuner/new-trial.h"
#include "src/engine/tuner/requests.h"
#include "src/engine/tuner/second-looks.h"
#include "src/engine/tuner/tuner-internal.h"

/*
 * An answer is one line on the socket; for more trials the client asks again.
 */
#define ASK_ANSWER_MAX 65536

/* What an ask wants, and by whom. */
struct ask_params {
	int64_t count;
	struct asker who;
	const struct json *has; /* the trials that it runs; NULL: not said */
	bool log; /* its trials write logs */
	bool ended; /* the process that asks is gone: nobody would run them */
};

static void
ask_begin(struct tuner *t, struct live_trial *l, const struct ask_params *ask)
{
	struct store_attempt att = {
		.uuid = rng_uuid(),
		.backend = xstrdup(ASK_BACKEND),
	};

	if (ask->log)
		att.log = xasprintf("%s/trials/%" PRId64 "/attempt-%d/log",
		    strrchr(t->env.state_dir, '/') + 1, l->row.number,
		    l->row.attempts + 1);
	live_trial_begin(t, l, -1, &att);
	if (!t->env.without_backends)
		study_end_reopen(t);
	live_trial_up(t, l, t->turn_us, 0);
	live_trial_set_asker(l, &ask->who);
	(void)asker_put(
	    &ask->who, t->store, l->row.number, l->att.attempt, NULL);
}

static void
ask_answer(struct request *r, const struct live_trial *l, bool whole)
{
	struct json_writer w = { .out = &r->data };

	buf_puts(&r->data, r->given++ == 0 ? "[" : ",");
	json_writer_object(&w, NULL);
	json_writer_integer(&w, "trial", l->row.number);
	json_writer_raw(&w, "params", l->row.params);
	if (whole || (l->att.attempt > 1 && !l->looked))
		json_writer_integer(&w, "attempt", l->att.attempt);
	if (l->row.from > 0)
		json_writer_integer(&w, "from", l->row.from);
	if (l->row.until > 0)
		json_writer_integer(&w, "until", l->row.until);
	if (l->looked)
		json_writer_integer(&w, "resume", l->row.last_step);
	json_writer_end(&w);
}

/* A trial that was asked for and waits for another attempt, or NULL. */
static struct live_trial *
ask_waiting(const struct tuner *t)
{
	struct live_trial *l, *first = NULL;
	char why[160];
	size_t i;

	if (t->paused || limits_reached(t, why, sizeof why))
		return NULL;
	for (i = 0; i < t->live.n; i++) {
		l = t->live.list[i];
		if (l->row.state == TRIAL_WAITING && !l->row.is_paused &&
		    l->row.backend != NULL &&
		    strcmp(l->row.backend, ASK_BACKEND) == 0 &&
		    (first == NULL || l->row.number < first->row.number))
			first = l;
	}
	return first;
}

/* The asker has begun it, and does not know of it. */
static bool
ask_undelivered(const struct live_trial *l, const struct ask_params *ask)
{
	const struct json *j;
	int64_t number;

	if (!l->open || !l->external || ask->who.mark.pid == 0 ||
	    !process_mark_same(&l->asker.mark, &ask->who.mark))
		return false;
	for (j = json_first(ask->has); j != NULL; j = json_next(j))
		if (json_integer(j, &number) && number == l->row.number)
			return false;
	return true;
}

/* Answers that were lost: those trials are begun already. */
static void
ask_repeat(struct tuner *t, struct request *r, const struct ask_params *ask)
{
	size_t i;

	if (ask->has == NULL || r->given > 0)
		return;
	for (i = 0; i < t->live.n && r->given < ask->count; i++)
		if (ask_undelivered(t->live.list[i], ask))
			ask_answer(r, t->live.list[i], true);
}

static bool
ask_more(const struct tuner *t, const struct request *r, int64_t count)
{
	return r->given < count && r->data.len < ASK_ANSWER_MAX &&
	       !store_failed(t->store);
}

/* Give trials that exist already: lost ones, then second looks. */
static void
ask_again(struct tuner *t, struct request *r, const struct ask_params *ask)
{
	struct live_trial *l;

	while (ask_more(t, r, ask->count) &&
	       ((l = ask_waiting(t)) != NULL ||
		   (l = second_looks_resume_external(t)) != NULL)) {
		ask_begin(t, l, ask);
		ask_answer(r, l, ask->has != NULL);
	}
}

static void
ask_new(struct tuner *t, struct request *r, const struct ask_params *ask)
{
	struct live_trial *l;

	while (ask_more(t, r, ask->count) && !r->later &&
	       !limits_capped(t, r->by, 0, r->text, sizeof r->text) &&
	       !limits_block_new(t, r->text, sizeof r->text)) {
		l = new_trial_next(t);
		r->later = l == NULL && t->suggesting;
		if (l == NULL && !limits_allow_new(t))
			break;
		/* No trial and no reason: an entry of the queue was dropped. */
		if (l == NULL)
			continue;
		ask_begin(t, l, ask);
		ask_answer(r, l, ask->has != NULL);
	}
}

static void
ask_read(struct ask_params *ask, const struct json *root, struct tuner *t)
{
	*ask = (struct ask_params){ .count = 1 };
	(void)json_integer(json_get(root, "count"), &ask->count);
	(void)json_bool(json_get(root, "log"), &ask->log);
	ask->has = json_get(root, "has");
	asker_read(&ask->who, json_get(root, "asker"), t->store);
	ask->ended = asker_ended(&ask->who, json_get(root, "asker"));
}

/* No more trials than may run beside the others of a caller. */
static void
ask_cap(struct tuner *t, const struct request *r, struct ask_params *ask)
{
	int64_t room, running = 0;
	size_t i;

	if (r->by == NULL)
		return;
	for (i = 0; i < t->live.n; i++)
		running += t->live.list[i]->open;
	room = caller_room(r->by, running);
	if (room < INT64_MAX - r->given && ask->count > room + r->given)
		ask->count = room + r->given;
}

/* No trial: the reason, and whether there may be one later. */
static void
ask_refuse(struct tuner *t, struct request *r, const struct ask_params *ask)
{
	bool over = limits_capped(t, r->by, 0, r->text, sizeof r->text) ||
		    limits_block_new(t, r->text, sizeof r->text);

	if (ask->count == 0 && r->by != NULL)
		(void)snprintf(r->text, sizeof r->text,
		    "the cap of this caller, %" PRId64
		    " trials at a time, is reached",
		    r->by->caps.parallel);
	else if (ask->ended)
		(void)snprintf(r->text, sizeof r->text,
		    "the process that asks has ended: no trial is begun for "
		    "it");
	else if (!over)
		(void)snprintf(
		    r->text, sizeof r->text, "no trial can start now");
	if (ask->has != NULL && !t->end.shutdown &&
	    (!over || t->paused || t->held))
		buf_puts(&r->data, "{\"later\":true}");
}

void
request_ask(struct tuner *t, struct request *r)
{
	struct json_doc *doc = NULL;
	struct ask_params ask;

	if (json_parse(&doc, r->params, strlen(r->params), NULL, false, NULL) !=
	    0)
		doc = NULL;
	ask_read(&ask, doc != NULL ? json_root(doc) : NULL, t);
	ask_cap(t, r, &ask);
	r->later = false;
	if (!ask.ended) {
		ask_repeat(t, r, &ask);
		ask_again(t, r, &ask);
		ask_new(t, r, &ask);
	}
	if (!r->later && r->given == 0)
		ask_refuse(t, r, &ask);
	json_free(doc);
	if (r->later)
		return;
	if (r->given > 0)
		buf_putc(&r->data, ']');
	r->good = r->given > 0;
}
