/*
 * Ask/tell: trials that another program runs and reports through "hpotune
 * tell".  They hold no slot, belong to no backend, and run until their end is
 * reported.
 *
 * Answers are JSON.  ask: a list of {"trial", "params"}, with "attempt" when an
 * earlier one was lost, "from" when the trial continues another one, "until" when
 * it ends at a step, and "resume", its last step, when it was stopped and gets a
 * second look; when none can begin now but may later, {"later": true}.  tell and
 * judge:
 *	{"trial": 7, "state": "running", "step": 3, "objective": 0.9,
 *	 "verdict": "keep", "rule": "median", "value": 0.9, "threshold": 0.8,
 *	 "pool": 12, "why": ""}
 * where the verdict is null once the trial has ended.
 *
 * A program that sends a request again, because its answer was lost with a
 * server or a connection, has these words in params:
 * ask: "has", the numbers of all trials that the asker runs.  Another one that it
 * has asked for is one that it does not know of: the same attempt is the answer.
 * tell: "attempt", so that a late word does not meet a later attempt; and
 * "again", so that what is recorded is not recorded twice.
 * ask: "log", that it writes a log where trials of this machine have theirs.
 */

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/json/json-writer.h"
#include "src/base/json/json.h"
#include "src/base/loop.h"
#include "src/base/rng.h"
#include "src/base/text.h"
#include "src/engine/callers/caller.h"
#include "src/engine/tuner/ask-tell.h"
#include "src/engine/tuner/attempt-end.h"
#include "src/engine/tuner/backend-events.h"
#include "src/engine/tuner/limits.h"
#include "src/engine/tuner/live-trial.h"
#include "src/engine/tuner/new-trial.h"
#include "src/engine/tuner/requests.h"
#include "src/engine/tuner/second-looks.h"
#include "src/engine/tuner/stopping.h"
#include "src/engine/tuner/tuner-internal.h"
#include "src/model/study/study.h"
#include "trials/metric-line/metric-line.h"

/*
 * An answer is one line on the socket; for more trials the client asks again.
 */
#define ASK_TELL_ANSWER_MAX 65536

enum { ASKERS_EVERY_MS = 10000, ASKERS_LAST_MS = 200 };

/* The parsed lines of tell. */
struct tell_params {
	struct metric_line *reports;
	size_t n;
	bool done, failed, stopped;
	bool crashed; /* failed as a program does: it may be tried again */
	bool interrupted; /* given back, to be asked for again */
	bool again; /* may be recorded already */
	const char *why; /* borrowed from the request */
};

/* What an ask wants, and by whom. */
struct ask_params {
	int64_t count;
	struct asker who;
	const struct json *has; /* the trials that it runs; NULL: not said */
	bool log; /* its trials write logs */
	bool ended; /* the process that asks is gone: nobody would run them */
};

static void
ask_tell_begin(
    struct tuner *t, struct live_trial *l, const struct ask_params *ask)
{
	struct store_attempt att = {
		.uuid = rng_uuid(),
		.backend = xstrdup(ASK_TELL_BACKEND),
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
		    strcmp(l->row.backend, ASK_TELL_BACKEND) == 0 &&
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
	return r->given < count && r->data.len < ASK_TELL_ANSWER_MAX &&
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
		ask_tell_begin(t, l, ask);
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
		ask_tell_begin(t, l, ask);
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
ask_tell_ask(struct tuner *t, struct request *r)
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

/* The trial of a request, or NULL with an answer that gives the reason. */
static struct live_trial *
request_live(struct tuner *t, struct request *r)
{
	struct live_trial *l = live_set_find(&t->live, r->trial);
	struct store_trial row = { 0 };
	struct err e = ERR_INIT;

	if (l != NULL)
		return l;
	if (store_trial_get(t->store, r->trial, &row, &e) != 0)
		(void)snprintf(r->text, sizeof r->text,
		    "there is no trial %" PRId64, r->trial);
	else
		(void)snprintf(r->text, sizeof r->text,
		    "trial %" PRId64 " has ended already: %s", r->trial,
		    trial_state_name(row.state));
	store_trial_fini(&row);
	return NULL;
}

static void
put_verdict(struct json_writer *w, const struct live_trial *l,
    const struct judgement *j)
{
	bool over = l->row.cause != STOP_NONE, rule = j->rule != NULL;
	bool ends =
	    over || j->verdict == VERDICT_STOP || j->verdict == VERDICT_PAUSE;

	json_writer_text(w, "verdict", ends ? "stop" : "keep");
	json_writer_text(w, "rule", j->rule);
	json_writer_number(w, "value", rule ? j->value : NAN);
	json_writer_number(w, "threshold", rule ? j->threshold : NAN);
	json_writer_integer(w, "pool", rule ? j->pool : 0);
	if (over && l->row.why != NULL)
		json_writer_text(w, "why", l->row.why);
	else
		json_writer_text(w, "why", rule ? j->why : "");
}

static void
ask_tell_put_trial(struct json_writer *w, const struct store_trial *row)
{
	json_writer_object(w, NULL);
	json_writer_integer(w, "trial", row->number);
	json_writer_text(w, "state", trial_state_name(row->state));
	json_writer_number(
	    w, "step", row->last_step >= 0 ? (double)row->last_step : NAN);
	json_writer_number(w, "objective", row->objective);
}

/* Into j: the decision that stopped it, when an earlier command recorded it. */
static void
verdict_recall(struct tuner *t, const struct live_trial *l, struct judgement *j)
{
	static const char sql[] =
	    "SELECT rule, value, threshold, pool, why FROM stops "
	    "WHERE trial = ?1 AND verdict = 'stop' ORDER BY step DESC LIMIT 1";
	const char *params[2] = { NULL, NULL };
	const struct stopper *rule;
	struct store_rows *rows;
	struct err e = ERR_INIT;
	char number[24];

	if (j->rule != NULL || l->row.cause == STOP_NONE ||
	    l->row.cause == STOP_USER)
		return;
	(void)snprintf(number, sizeof number, "%" PRId64, l->row.number);
	params[0] = number;
	if (store_rows_open(&rows, t->store, sql, params, &e) != 0)
		return;
	if (store_rows_next(rows, &e) == 1) {
		rule = stopper_find(store_rows_text(rows, 0));
		*j = (struct judgement){
			.verdict = VERDICT_STOP,
			.rule = rule != NULL ? rule->name : NULL,
			.value = store_rows_real(rows, 1),
			.threshold = store_rows_real(rows, 2),
			.pool = store_rows_int(rows, 3),
		};
		(void)snprintf(
		    j->why, sizeof j->why, "%s", store_rows_text(rows, 4));
	}
	store_rows_close(rows);
}

/*
 * A metric of this trial that may be the objective by a mistake in its name; what
 * it was named, to be freed; NULL: none, or the objective was reported.
 */
static char *
metric_misspelt(struct tuner *t, const struct live_trial *l)
{
	static const char sql[] =
	    "SELECT DISTINCT name FROM metrics WHERE trial = ?1";
	char number[24], *found = NULL;
	const char *params[2] = { number, NULL };
	struct store_rows *rows;
	struct strv names = { 0 };
	const char *near;

	(void)snprintf(number, sizeof number, "%" PRId64, l->row.number);
	if (l->row.reports > 0 ||
	    store_rows_open(&rows, t->store, sql, params, NULL) != 0)
		return NULL;
	while (store_rows_next(rows, NULL) == 1)
		strv_add(&names, xstrdup(store_rows_text(rows, 0)));
	store_rows_close(rows);
	near = names.n > 0 ? text_nearest(
				 t->study->metric, (const char *const *)names.v)
			   : NULL;
	if (near != NULL)
		found = xstrdup(near);
	strv_free(names.v);
	return found;
}

static void
answer_live(struct tuner *t, struct request *r, const struct live_trial *l,
    const struct judgement *verdict)
{
	struct json_writer w = { .out = &r->data };
	struct judgement j = *verdict;
	char text[256], *name;

	verdict_recall(t, l, &j);
	r->good = true;
	ask_tell_put_trial(&w, &l->row);
	put_verdict(&w, l, &j);
	name = metric_misspelt(t, l);
	if (name != NULL) {
		(void)snprintf(text, sizeof text,
		    "%s is recorded, but the objective is %s: did you mean it?",
		    name, t->study->metric);
		json_writer_text(&w, "warning", text);
	}
	free(name);
	json_writer_end(&w);
}

static void
answer_ended(struct tuner *t, struct request *r)
{
	struct json_writer w = { .out = &r->data };
	struct store_trial row = { 0 };
	struct err e = ERR_INIT;

	if (store_trial_get(t->store, r->trial, &row, &e) != 0) {
		store_fail_with(t->store, &e);
		return;
	}
	r->good = true;
	ask_tell_put_trial(&w, &row);
	json_writer_null(&w, "verdict");
	json_writer_text(&w, "why", row.why != NULL ? row.why : "");
	json_writer_end(&w);
	store_trial_fini(&row);
}

/* The first words of a line that is not a report, without the tag. */
static void
line_refused(char *text, size_t n, const char *line, const char *why)
{
	static const char tag[] = "hpotune: ";

	if (strncmp(line, tag, sizeof tag - 1) == 0)
		line += sizeof tag - 1;
	(void)snprintf(text, n, "%.*s: %s", (int)text_fit(line, 100), line,
	    why != NULL ? why : "not a report");
}

/* False: strict, and a line is not a report; text holds the reason. */
static bool
ask_tell_lines_read(
    struct tell_params *tell, const struct json *root, char *text, size_t n)
{
	const struct json *j, *lines = json_get(root, "lines");
	struct metric_line *rep;
	const char *line;
	bool strict = false, is;

	(void)json_bool(json_get(root, "strict"), &strict);
	tell->reports = xcalloc(json_count(lines) + 1, sizeof *tell->reports);
	for (j = json_first(lines); j != NULL; j = json_next(j)) {
		line = json_string(j);
		if (line == NULL)
			continue;
		rep = &tell->reports[tell->n];
		is = metric_line_parse(rep, NULL, line, strlen(line));
		if (!is && rep->why == NULL)
			is = metric_json_parse(rep, line, strlen(line));
		if (is)
			tell->n++;
		else if (strict) {
			line_refused(text, n, line, rep->why);
			return false;
		}
	}
	return true;
}

static bool
tell_read(
    struct tell_params *tell, const struct json *root, char *text, size_t n)
{
	const char *end = json_string(json_get(root, "end"));

	tell->why = json_string(json_get(root, "why"));
	if (end != NULL) {
		tell->done = strcmp(end, "done") == 0;
		tell->failed = strcmp(end, "failed") == 0;
		tell->stopped = strcmp(end, "stopped") == 0;
		tell->crashed = strcmp(end, "crashed") == 0;
		tell->interrupted = strcmp(end, "interrupted") == 0;
	}
	(void)json_bool(json_get(root, "again"), &tell->again);
	return ask_tell_lines_read(tell, root, text, n);
}

static void
report_lines(
    struct tuner *t, const struct live_trial *l, const struct tell_params *tell)
{
	struct launch_event ev = {
		.kind = LAUNCH_REPORT,
		.trial = l->row.number,
		.attempt = l->att.attempt,
	};
	const struct metric_line *rep;
	size_t i, k;

	for (i = 0; i < tell->n; i++) {
		rep = &tell->reports[i];
		ev.u.report.has_step = rep->has_step;
		ev.u.report.step = rep->step;
		ev.u.report.again = tell->again;
		for (k = 0; k < rep->n; k++) {
			ev.u.report.name = rep->values[k].name;
			ev.u.report.value = rep->values[k].value;
			tuner_on_event(t, &ev);
		}
	}
}

/*
 * Whether its program has stopped because it was asked to.  One that has
 * completed while its server shuts down has its whole result.
 */
static bool
ask_tell_obeys(const struct live_trial *l, const struct tell_params *tell)
{
	return l->row.cause != STOP_NONE &&
	       !(tell->done && l->row.cause == STOP_SHUTDOWN);
}

static void
ask_tell_end(
    struct tuner *t, struct live_trial *l, const struct tell_params *tell)
{
	struct launch_exit x = { .ran = !tell->failed,
		.exit_code = tell->failed ? -1 : tell->crashed,
		.stopped = tell->interrupted || ask_tell_obeys(l, tell),
		.ended_us = t->turn_us,
		.end = tell->stopped ? END_STOPPED : END_NONE };

	if (tell->failed || tell->crashed)
		text_cut(x.why, sizeof x.why,
		    tell->why != NULL ? tell->why
		    : tell->failed    ? "reported as failed"
				      : "reported as crashed");
	if (tell->interrupted && l->row.cause == STOP_NONE)
		live_trial_stop(t, l, STOP_SHUTDOWN, "interrupted");
	if (tell->stopped)
		stopping_settle(t, l);
	if (tell->stopped && l->row.cause == STOP_NONE)
		live_trial_stop(t, l, STOP_RULE,
		    tell->why != NULL ? tell->why
				      : "stopped by the program that runs it");
	attempt_end_handle(t, l, &x, NULL);
}

void
ask_tell_cancel(struct tuner *t, struct live_trial *l)
{
	struct tell_params tell = { .done = true };

	ask_tell_end(t, l, &tell);
}

/* Whether the trial's end may be reported now; otherwise the reason. */
static bool
end_good(struct tuner *t, const struct live_trial *l,
    const struct tell_params *tell, char *text, size_t n)
{
	char *name;

	if (!tell->done || l->row.reports > 0 || l->row.cause != STOP_NONE)
		return true;
	name = metric_misspelt(t, l);
	(void)snprintf(text, n,
	    "trial %" PRId64
	    " has no report of %s: report one, or use --failed%s%s%s",
	    l->row.number, t->study->metric,
	    name != NULL ? "; it has one of " : "", name != NULL ? name : "",
	    name != NULL ? ": did you mean it?" : "");
	free(name);
	return false;
}

static void
ask_tell_take(struct tuner *t, struct live_trial *l, struct request *r,
    struct tell_params *tell)
{
	report_lines(t, l, tell);
	if (store_failed(t->store))
		return;
	if (!tell->done && !tell->failed && !tell->stopped && !tell->crashed &&
	    !tell->interrupted) {
		stopping_settle(t, l);
		answer_live(t, r, l, &l->verdict);
		return;
	}
	if (!end_good(t, l, tell, r->text, sizeof r->text))
		return;
	ask_tell_end(t, l, tell);
	/*
	 * Without a server, checkpoint now, so that one file remains instead of
	 * three.
	 */
	if (t->env.without_backends)
		store_checkpoint_at_close(t->store);
	answer_ended(t, r);
}

/*
 * Who tells shows whether the process that asked is still at work: it is
 * watched from now on, or no longer.
 */
static void
teller_note(struct tuner *t, struct live_trial *l, const struct json *teller)
{
	struct asker asker = l->asker;

	if (!asker_told(&asker, teller))
		return;
	live_trial_set_asker(l, &asker);
	(void)asker_put(&asker, t->store, l->row.number, l->att.attempt, NULL);
}

/* Whether this word is about the attempt that runs. */
static bool
told_attempt(const struct live_trial *l, const struct json *root)
{
	int64_t attempt = l->att.attempt;

	(void)json_integer(json_get(root, "attempt"), &attempt);
	return attempt == l->att.attempt;
}

/*
 * A request that tells again of an attempt that is over is answered by what is
 * recorded; false: the attempt runs.
 */
static bool
tell_over(struct tuner *t, struct request *r, const struct live_trial *l,
    const struct json *root)
{
	bool again = false;

	(void)json_bool(json_get(root, "again"), &again);
	if (l != NULL && l->row.state != TRIAL_WAITING && told_attempt(l, root))
		return false;
	if (again && r->trial > 0 && r->trial <= t->n_trials) {
		*r->text = '\0';
		answer_ended(t, r);
		return true;
	}
	if (l == NULL || told_attempt(l, root))
		return false;
	(void)snprintf(r->text, sizeof r->text,
	    "this attempt of trial %" PRId64 " is over: attempt %d runs",
	    r->trial, l->att.attempt);
	return true;
}

static void
tell_parsed(struct tuner *t, struct request *r, struct live_trial *l,
    const struct json *root)
{
	struct tell_params tell = { 0 };

	if (tell_over(t, r, l, root) || l == NULL)
		return;
	if (l->row.state == TRIAL_WAITING) {
		(void)snprintf(r->text, sizeof r->text,
		    "trial %" PRId64 " waits for another attempt: %.120s",
		    r->trial, l->row.why != NULL ? l->row.why : "");
		return;
	}
	if (!l->external) {
		(void)snprintf(r->text, sizeof r->text,
		    "trial %" PRId64 " is run by hpotune, not by hpotune ask",
		    r->trial);
		return;
	}
	if (tell_read(&tell, root, r->text, sizeof r->text)) {
		teller_note(t, l, json_get(root, "asker"));
		ask_tell_take(t, l, r, &tell);
	}
	free(tell.reports);
}

void
ask_tell_tell(struct tuner *t, struct request *r)
{
	struct live_trial *l = request_live(t, r);
	struct json_doc *doc = NULL;
	struct err e = ERR_INIT;

	if (json_parse(&doc, r->params, strlen(r->params), NULL, false, &e) !=
	    0) {
		(void)snprintf(r->text, sizeof r->text, "%.180s", e.text);
		return;
	}
	tell_parsed(t, r, l, json_root(doc));
	json_free(doc);
}

/* Whether a request of this turn asks, or tells of this trial. */
static bool
request_comes(const struct tuner *t, enum tuner_request_kind ask, int64_t trial)
{
	size_t i;

	for (i = 0; i < t->requests.n; i++)
		if (t->requests.list[i].ask == ask &&
		    (trial == 0 || t->requests.list[i].trial == trial))
			return true;
	return false;
}

/*
 * The process that asked has ended: a trial that has all its steps only lacked
 * the report of its end, another one has lost its attempt.
 */
static void
asker_lost(struct tuner *t, struct live_trial *l)
{
	struct tell_params tell = { .done = true };
	char why[LAUNCH_WHY];

	asker_put_why(&l->asker, why, sizeof why);
	if (live_trial_all_steps(t, l))
		ask_tell_end(t, l, &tell);
	else
		attempt_end_handle(t, l, NULL, why);
}

void
ask_tell_check(struct tuner *t)
{
	int64_t now_ms = loop_now_ms(t->env.loop);
	struct live_trial *l;
	bool watches = false;
	size_t i;

	if (now_ms < t->askers_due_ms && !request_comes(t, TUNER_ASK, 0) &&
	    !t->end.shutdown)
		return;
	t->askers_due_ms = now_ms + ASKERS_EVERY_MS;
	for (i = t->live.n; i-- > 0 && !store_failed(t->store);) {
		l = t->live.list[i];
		if (!l->open || !l->external || !l->asker.watched)
			continue;
		if (asker_gone(&l->asker) &&
		    !request_comes(t, TUNER_TELL, l->row.number))
			asker_lost(t, l);
		else
			watches = true;
	}
	if (watches)
		tuner_wake_in(
		    t, t->end.shutdown ? ASKERS_LAST_MS : ASKERS_EVERY_MS);
}

/* The current decision of the rules; it is not executed. */
void
ask_tell_judge(struct tuner *t, struct request *r)
{
	struct live_trial *l = request_live(t, r);
	const char *const *metric = stop_rule_set_metrics(t->judged.rules);
	struct stop_rule_set *rules;
	struct history *h;
	struct judgement j;
	int64_t at;

	if (l == NULL)
		return;
	rules = judged_rules(&t->judged, l->row.number);
	h = judged_history(&t->judged, l->row.number);
	j = l->verdict;
	at = judged_at(&t->judged, l->row.number, l->row.last_step);
	if (at >= 0)
		stop_rule_set_judge(rules, h, l->row.number, at, &j);
	for (; *metric != NULL && j.verdict == VERDICT_KEEP; metric++)
		stop_rule_set_judge_metric(
		    rules, h, l->row.number, *metric, &j);
	answer_live(t, r, l, &j);
}
