/*
 * Decides which notices are due and sends them.  A channel sends one at a time,
 * in order; after a refusal it pauses, and the notice stays due.
 *
 * A notice is sent at least once: a server that crashes between a channel's
 * answer and the commit that records it leaves it due.  So each has an id that
 * is the same in all copies.  Its text is lines for people, and a JSON object for
 * programs.
 */

#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/fail.h"
#include "src/base/json/json-writer.h"
#include "src/base/log.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "src/base/rng.h"
#include "src/base/text.h"
#include "src/model/goal.h"
#include "src/model/plugin-options.h"
#include "src/model/study/study.h"
#include "src/server/announce/announce.h"
#include "src/server/announce/notices.h"
#include "src/server/status/objectives.h"
#include "src/server/status/rows.h"
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

/* ---- the text, from the views ------------------------------------------- */

struct notice_facts {
	const struct study *study;
	const char *id; /* a UUID */
	enum study_moment moment;
	const char *state; /* of the study */
	const char *why; /* one clause */
	int64_t time_us, elapsed_ms;
};

enum {
	FIGURES = 6, /* digits */
	PARAMS_MOST = 32 << 10, /* bytes: SNS and EventBridge accept 256 KiB */
	HOST_BYTES = 256
};

static const char counts_sql[] =
    "SELECT state, trials FROM t_total WHERE trials > 0 ORDER BY state";
static const char best_sql[] =
    "SELECT trial, objective, state, params FROM best";
static const char cost_sql[] = "SELECT cost FROM costs";

static void
host_name(char host[HOST_BYTES])
{
	memset(host, 0, HOST_BYTES);
	(void)gethostname(host, HOST_BYTES - 1);
}

static void
time_put(struct buf *b, int64_t us)
{
	time_t s = (time_t)(us / 1000000);
	char text[32];
	struct tm tm;

	if (gmtime_r(&s, &tm) == NULL ||
	    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &tm) == 0)
		*text = '\0';
	buf_puts(b, text);
}

/* "12: 9 completed, 3 stopped" */
static int
counts_put(struct buf *b, struct store *store, struct err *e)
{
	struct buf list = { 0 };
	struct store_rows *rows;
	int64_t n, all = 0;
	int rc;

	if (store_rows_open(&rows, store, counts_sql, NULL, e) != 0)
		return -1;
	while ((rc = store_rows_next(rows, e)) == 1) {
		if ((rc = rows_count(rows, 1, &n, e)) != 0)
			break;
		buf_printf(&list, "%s%" PRId64 " %s", list.len > 0 ? ", " : "",
		    n, store_rows_text(rows, 0));
		all += n;
	}
	store_rows_close(rows);
	buf_printf(b, "%" PRId64 "%s%s", all, list.len > 0 ? ": " : "",
	    buf_str(&list));
	buf_free(&list);
	return rc;
}

/* "trial 3 with loss 0.01 (stopped), though latency 63 is above 50" */
static int
best_put(struct buf *b, const struct notice_facts *f, struct store *store,
    struct err *e)
{
	struct buf broken = { 0 };
	struct store_rows *rows;
	int rc = rows_first(&rows, store, best_sql, NULL, e);

	if (rc == 0)
		buf_printf(b, "no trial has a value of %s", f->study->metric);
	if (rc != 1)
		return rc;
	buf_printf(b, "trial %" PRId64 " with %s ", store_rows_int(rows, 0),
	    f->study->metric);
	rows_put_number(b, rows_real(rows, 1), FIGURES);
	if (strcmp(store_rows_text(rows, 2), "completed") != 0)
		buf_printf(b, " (%s)", store_rows_text(rows, 2));
	rc = objectives_put_broken(
	    &broken, store, store_rows_text(rows, 0), FIGURES, e);
	if (broken.len > 0)
		buf_printf(b, ", though %s", buf_str(&broken));
	if (strlen(store_rows_text(rows, 3)) <= PARAMS_MOST) {
		buf_puts(b, "\n        ");
		rows_put_params(b, store_rows_text(rows, 3), FIGURES);
	}
	buf_free(&broken);
	store_rows_close(rows);
	return rc;
}

/* With several objectives: "3 trials, accuracy 0.71 to 0.93". */
static int
front_put(struct buf *b, struct store *store, struct err *e)
{
	struct objectives aims;
	size_t was = b->len;
	int rc;

	if (objectives_read(&aims, store, e) != 0)
		return -1;
	rc = objectives_put_front(b, store, &aims, FIGURES, e);
	if (b->len == was)
		buf_puts(b, "no trial");
	objectives_fini(&aims);
	return rc;
}

/* Dollars, NaN when nothing has a cost. */
static int
cost_get(double *cost, struct store *store, struct err *e)
{
	return rows_numbers(cost, 1, store, cost_sql, e) < 0 ? -1 : 0;
}

/* Build the notice from these facts and the database, as text and as JSON. */
static int
notice_put_text(struct buf *out, const struct notice_facts *f,
    struct store *store, struct err *e)
{
	bool several = f->study->n_objectives > 1;
	char host[HOST_BYTES];
	struct buf b = { 0 };
	double cost;
	int rc;

	host_name(host);
	buf_printf(&b, "The study %s %s: %s.\n\n", f->study->name,
	    study_moment_phrase(f->moment), f->why);
	buf_puts(&b, several ? "front:  " : "best:   ");
	rc = several ? front_put(&b, store, e) : best_put(&b, f, store, e);
	buf_puts(&b, "\ntrials: ");
	if (rc == 0)
		rc = counts_put(&b, store, e);
	if (rc == 0)
		rc = cost_get(&cost, store, e);
	if (rc == 0 && !isnan(cost))
		buf_printf(&b, "\ncost:   $%.2f", cost);
	buf_puts(&b, "\nran:    ");
	duration_put(&b, f->elapsed_ms / 1000 * 1000);
	buf_printf(
	    &b, "\nhost:   %s\nfolder: %s\ntime:   ", host, f->study->dir);
	time_put(&b, f->time_us);
	buf_printf(&b, "\nnotice: %s (the same in every copy)\n", f->id);
	if (rc == 0)
		text_put_harmless(out, buf_str(&b), b.len, TEXT_LINES);
	buf_free(&b);
	return rc;
}

/* All states with at least one trial. */
static int
counts_put_json(struct json_writer *w, struct store *store, struct err *e)
{
	struct store_rows *rows;
	int64_t n;
	int rc;

	if (store_rows_open(&rows, store, counts_sql, NULL, e) != 0)
		return -1;
	json_writer_object(w, "trials");
	while ((rc = store_rows_next(rows, e)) == 1) {
		if ((rc = rows_count(rows, 1, &n, e)) != 0)
			break;
		json_writer_integer(w, store_rows_text(rows, 0), n);
	}
	json_writer_end(w);
	store_rows_close(rows);
	return rc;
}

static int
best_put_json(struct json_writer *w, struct store *store, struct err *e)
{
	struct buf best = { 0 };
	int rc;

	rc = rows_put_json(&best, store, best_sql, NULL, true, e);
	json_writer_raw(
	    w, "best", best.len <= PARAMS_MOST ? buf_str(&best) : "null");
	buf_free(&best);
	return rc;
}

static int
front_put_json(struct json_writer *w, struct store *store, struct err *e)
{
	struct buf front = { 0 };
	int rc = front_put(&front, store, e);

	json_writer_text(w, "front", buf_str(&front));
	buf_free(&front);
	return rc;
}

static int
notice_put_detail(struct buf *out, const struct notice_facts *f,
    struct store *store, struct err *e)
{
	bool several = f->study->n_objectives > 1;
	char host[HOST_BYTES];
	struct buf when = { 0 }, why = { 0 };
	struct json_writer w = { .out = out };
	double cost;
	int rc;

	host_name(host);
	time_put(&when, f->time_us);
	text_put_harmless(&why, f->why, strlen(f->why), TEXT_LINE);
	json_writer_object(&w, NULL);
	json_writer_text(&w, "notice", f->id);
	json_writer_text(&w, "study", f->study->name);
	json_writer_text(&w, "moment", study_moment_name(f->moment));
	json_writer_text(&w, "state", f->state);
	json_writer_text(&w, "why", buf_str(&why));
	json_writer_text(&w, "time", buf_str(&when));
	if (!several) {
		json_writer_text(&w, "metric", f->study->metric);
		json_writer_text(&w, "goal", goal_name(f->study->maximize));
	}
	rc = several ? front_put_json(&w, store, e)
		     : best_put_json(&w, store, e);
	if (rc == 0)
		rc = counts_put_json(&w, store, e);
	if (rc == 0)
		rc = cost_get(&cost, store, e);
	if (rc == 0 && !isnan(cost))
		json_writer_number(&w, "cost", cost);
	json_writer_integer(&w, "seconds", f->elapsed_ms / 1000);
	json_writer_text(&w, "host", host);
	json_writer_text(&w, "folder", f->study->dir);
	json_writer_text(&w, "version", PACKAGE_VERSION);
	json_writer_end(&w);
	buf_free(&when);
	buf_free(&why);
	return rc;
}

/* ---- channels ----------------------------------------------------------- */

static void
on_answer(void *arg, enum study_channel which, const char *why)
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
		.answer = on_answer,
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
 * The progress of the trials.  A start of a finished study starts no trials and
 * ends as the run before, so it is not reported again.
 */
static int
mark_make(char mark[MARK_BYTES], struct store *store, const char *columns)
{
	char *sql = xasprintf("SELECT %s FROM t_trial", columns);
	struct store_rows *rows;
	int rc = rows_first(&rows, store, sql, NULL, NULL);

	free(sql);
	if (rc != 1)
		return -1;
	(void)snprintf(mark, MARK_BYTES, "%s", store_rows_text(rows, 0));
	store_rows_close(rows);
	return 0;
}

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

	if (notice_put_text(&text, &facts, n->env.store, &e) != 0 ||
	    notice_put_detail(&detail, &facts, n->env.store, &e) != 0)
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
	if (mark_make(mark, n->env.store,
		"printf('end %d %d %d', count(*), total(attempts), "
		"total(state IN ('completed', 'stopped', 'failed', "
		"'cancelled')))") == 0)
		notice_make(n, moment, facts, mark);
}

bool
notices_wait(struct notices *n, const struct announce_facts *facts)
{
	char mark[MARK_BYTES];

	if (n == NULL || !n->env.study->notify.on[STUDY_MOMENT_WAITING])
		return false;
	if (mark_make(mark, n->env.store,
		"printf('wait %d ', total(state IN ('completed', 'stopped', "
		"'failed', 'cancelled')))") != 0)
		return false;
	mark_reason(mark, facts->why);
	notice_make(n, STUDY_MOMENT_WAITING, facts, mark);
	return true;
}

/* Send them. */

static int64_t
pause_ms(int refused)
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
	c->next_ms = loop_now_ms(n->env.loop) + pause_ms(c->refused);
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
		on_answer(n, which, e.text);
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
