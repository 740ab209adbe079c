/*
 * Decides which notices are due and sends them.  A channel sends one at a time,
 * in order; after a refusal it pauses, and the notice stays due.
 *
 * A notice is sent at least once: a server that crashes between a channel's
 * answer and the commit that records it leaves it due.  So each has an id that
 * is the same in all copies.  Its text is lines for people, and a JSON object for
 * programs.
 */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/fail.h"
#include "src/base/log.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "src/base/rng.h"
#include "src/engine/announce/announce.h"
#include "src/engine/announce/notice-text.h"
#include "src/engine/announce/notices.h"
#include "src/model/study/study.h"
#include "src/store/queries.h"
#include "src/store/store.h"
#include "trials/notify/notify.h"

enum {
	PAUSE_MS = 60 * 1000, /* after the first refusal */
	PAUSE_MOST_MS = 60 * 60 * 1000,
	MARK_BYTES = 240
};

struct notice_channel {
	bool used; /* study.json names it */
	bool look; /* a notice may be due */
	bool pending; /* waiting for an answer */
	bool answered; /* an answer is not recorded yet: */
	char *why; /* NULL = accepted */
	int64_t id; /* of the notice being sent or sent last */
	int refused; /* consecutive */
	int64_t next_ms; /* earliest time of the next attempt */
};

struct notices {
	struct announce_env env;
	struct notify *notify;
	struct notice_channel channels[STUDY_CHANNELS];
};

static void
notices_on_answer(void *arg, enum study_channel which, const char *why)
{
	struct notices *n = arg;
	struct notice_channel *c = &n->channels[which];

	c->pending = false;
	c->answered = true;
	c->why = why != NULL ? xstrdup(why) : NULL;
	loop_wake(n->env.loop);
}

static void
on_note(void *arg, bool warn, const char *text)
{
	const struct notices *n = arg;

	n->env.event(
	    n->env.arg, warn ? LOG_LEVEL_WARN : LOG_LEVEL_INFO, "notify", text);
}

struct notices *
notices_new(const struct announce_env *announce)
{
	const struct study_notify *to = &announce->study->notify;
	struct notify_env env = { .loop = announce->loop,
		.to = to,
		.study = announce->study->name,
		.answer = notices_on_answer,
		.note = on_note };
	struct notices *n;
	bool any = false;
	int i;

	for (i = 0; i < STUDY_CHANNELS; i++)
		any = any || to->channels[i].to != NULL;
	if (!any)
		return NULL;
	env.arg = n = xcalloc(1, sizeof *n);
	n->env = *announce;
	n->notify = notify_new(&env);
	for (i = 0; i < STUDY_CHANNELS; i++)
		n->channels[i].used = n->channels[i].look =
		    to->channels[i].to != NULL;
	return n;
}

void
notices_free(struct notices *n)
{
	int i;

	if (n == NULL)
		return;
	notify_free(n->notify);
	for (i = 0; i < STUDY_CHANNELS; i++)
		free(n->channels[i].why);
	free(n);
}

/* Decide which notices are due. */

/*
 * The same reason again, while no trial has ended, is not reported; the varying
 * parts (numbers, and text in parentheses) are ignored in the comparison.
 */
static void
mark_reason(char mark[MARK_BYTES], const char *why)
{
	size_t n = strlen(mark);
	int depth = 0;

	for (; *why != '\0' && n + 1 < MARK_BYTES; why++) {
		depth += *why == '(';
		if (depth == 0 && (*why < '0' || *why > '9'))
			mark[n++] = *why;
		depth -= *why == ')' && depth > 0;
	}
	mark[n] = '\0';
}

/* Add a notice on each channel that does not have it yet. */
static void
notice_add(struct notices *n, struct store_notice *row)
{
	struct store *store = n->env.store;
	struct notice_channel *c;
	int i;

	for (i = 0; i < STUDY_CHANNELS; i++) {
		c = &n->channels[i];
		if (!c->used)
			continue;
		row->channel =
		    (char *)study_channel_name((enum study_channel)i);
		if (store_notice_there(
			store, row->channel, row->moment, row->mark, NULL) == 0)
			(void)store_notice_add(store, row, NULL);
		c->look = true;
		c->next_ms = 0;
	}
}

static void
notice_make(struct notices *n, enum study_moment moment,
    const struct announce_facts *about, char *mark)
{
	struct buf text = { 0 }, detail = { 0 };
	char *id = rng_uuid();
	struct notice_facts facts = { .study = n->env.study,
		.id = id,
		.moment = moment,
		.state = study_state_name(about->state),
		.why = about->why,
		.time_us = about->time_us,
		.elapsed_ms = about->elapsed_ms };
	struct store_notice row = { .uuid = id,
		.moment = (char *)study_moment_name(moment),
		.mark = mark,
		.time_us = about->time_us };
	struct err e = ERR_INIT;

	if (notice_text_put(&text, &facts, n->env.store, &e) != 0 ||
	    notice_text_put_detail(&detail, &facts, n->env.store, &e) != 0)
		store_fail_with(n->env.store, &e);
	row.text = buf_take(&text);
	row.detail = buf_take(&detail);
	notice_add(n, &row);
	free(row.text);
	free(row.detail);
	free(id);
}

/* The moment that matches the study's row; false: its owner paused it. */
static bool
moment_of(enum study_state state, bool waits, enum study_moment *moment)
{
	switch (state) {
	case STUDY_FINISHED:
		*moment = waits ? STUDY_MOMENT_WAITING : STUDY_MOMENT_FINISHED;
		return true;
	case STUDY_FAILED:
		*moment = STUDY_MOMENT_FAILED;
		return true;
	case STUDY_INTERRUPTED:
		*moment = STUDY_MOMENT_INTERRUPTED;
		return true;
	case STUDY_RUNNING:
	case STUDY_PAUSED:
		break;
	}
	return false;
}

void
notices_end(struct notices *n, const struct announce_facts *facts, bool waits)
{
	char mark[MARK_BYTES];
	enum study_moment moment;

	if (n == NULL || !moment_of(facts->state, waits, &moment) ||
	    !n->env.study->notify.on[moment])
		return;
	/*
	 * A start of a finished study starts no trials and ends as the run
	 * before, so it is not reported again.
	 */
	if (store_trials_mark(n->env.store, true, mark, sizeof mark))
		notice_make(n, moment, facts, mark);
}

bool
notices_wait(struct notices *n, const struct announce_facts *facts)
{
	char mark[MARK_BYTES];

	if (n == NULL || !n->env.study->notify.on[STUDY_MOMENT_WAITING])
		return false;
	if (!store_trials_mark(n->env.store, false, mark, sizeof mark))
		return false;
	mark_reason(mark, facts->why);
	notice_make(n, STUDY_MOMENT_WAITING, facts, mark);
	return true;
}

/* The pause after so many refusals of a channel in a row. */
static int64_t
notices_pause_ms(int refused)
{
	int64_t ms =
	    refused < 8 ? (int64_t)PAUSE_MS << (refused - 1) : PAUSE_MOST_MS;

	return ms < PAUSE_MOST_MS ? ms : PAUSE_MOST_MS;
}

static void
channel_record(struct notices *n, enum study_channel which, int64_t time_us)
{
	struct notice_channel *c = &n->channels[which];
	const char *name = study_channel_name(which);
	char *text;

	fail_point("notices.before_record");
	(void)store_notice_told(
	    n->env.store, c->id, c->why == NULL ? time_us : 0, c->why, NULL);
	c->answered = false;
	c->look = true;
	if (c->why == NULL) {
		text = xasprintf(
		    "%s: a notice about the study was delivered", name);
		n->env.event(n->env.arg, LOG_LEVEL_INFO, "notify", text);
		free(text);
		c->refused = 0;
		return;
	}
	if (c->refused++ == 0) {
		text = xasprintf("%s: a notice about the study was not "
				 "delivered: %s; it is sent again later, and "
				 "the study continues",
		    name, c->why);
		n->env.event(n->env.arg, LOG_LEVEL_WARN, "notify", text);
		free(text);
	}
	c->next_ms = loop_now_ms(n->env.loop) + notices_pause_ms(c->refused);
	free(c->why);
	c->why = NULL;
}

void
notices_record(struct notices *n, int64_t time_us)
{
	int i;

	for (i = 0; n != NULL && i < STUDY_CHANNELS; i++)
		if (n->channels[i].answered)
			channel_record(n, (enum study_channel)i, time_us);
}

static void
channel_send(struct notices *n, enum study_channel which,
    const struct store_notice *row, enum study_moment moment)
{
	struct notice_channel *c = &n->channels[which];
	struct notify_message m = { .id = row->uuid,
		.moment = moment,
		.text = row->text,
		.detail = row->detail,
		.time_us = row->time_us };
	struct err e = ERR_INIT;

	fail_point("notices.before_send");
	c->id = row->id;
	c->pending = true;
	if (notify_send(n->notify, which, &m, &e) != 0)
		notices_on_answer(n, which, e.text);
}

static bool
moment_find(const char *name, enum study_moment *moment)
{
	int i;

	for (i = 0; i < STUDY_MOMENTS; i++) {
		*moment = (enum study_moment)i;
		if (strcmp(name, study_moment_name(*moment)) == 0)
			return true;
	}
	return false;
}

/* Send the oldest due; a database error is left to the turns to handle. */
static void
channel_next(struct notices *n, enum study_channel which)
{
	struct notice_channel *c = &n->channels[which];
	struct store_notice row = { 0 };
	enum study_moment moment;
	struct err e = ERR_INIT;
	int64_t left;

	left = c->next_ms - loop_now_ms(n->env.loop);
	if (!c->used || !c->look || c->pending || c->answered)
		return;
	if (left > 0) {
		n->env.wake_in(n->env.arg, left);
		return;
	}
	c->look = false;
	if (store_notice_next(
		n->env.store, study_channel_name(which), &row, &e) != 1)
		return;
	if (moment_find(row.moment, &moment))
		channel_send(n, which, &row, moment);
	store_notice_fini(&row);
}

void
notices_send(struct notices *n)
{
	int i;

	for (i = 0; n != NULL && i < STUDY_CHANNELS; i++)
		channel_next(n, (enum study_channel)i);
}

bool
notices_answered(const struct notices *n)
{
	int i;

	for (i = 0; n != NULL && i < STUDY_CHANNELS; i++)
		if (n->channels[i].answered)
			return true;
	return false;
}

bool
notices_busy(const struct notices *n)
{
	int i;

	for (i = 0; n != NULL && i < STUDY_CHANNELS; i++)
		if (n->channels[i].pending || n->channels[i].answered)
			return true;
	return false;
}

void
notices_leave(struct notices *n)
{
	struct store_notice row = { 0 };
	struct err e = ERR_INIT;
	const char *name;
	int i;

	for (i = 0; n != NULL && i < STUDY_CHANNELS; i++) {
		name = study_channel_name((enum study_channel)i);
		if (!n->channels[i].used ||
		    store_notice_next(n->env.store, name, &row, &e) != 1)
			continue;
		store_notice_fini(&row);
		log_warn("notify",
		    "a notice to %s is not delivered yet: the next start "
		    "sends it",
		    name);
	}
}
