/*
 * The requests tell and judge, about trials that another program runs
 * (request-ask.c).  The answer is JSON:
 *	{"trial": 7, "state": "running", "step": 3, "objective": 0.9,
 *	 "verdict": "keep", "rule": "median", "value": 0.9, "threshold": 0.8,
 *	 "pool": 12, "why": ""}
 * where the verdict is null once the trial has ended.
 *
 * A program that tells again, because the answer was lost, has in params "attempt",
 * so that a late word does not meet a later attempt; and "again", so that what is
 * recorded is not recorded twice.
 */

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/json/json-writer.h"
#include "src/base/json/json.h"
#include "src/base/loop.h"
#include "src/base/text.h"
#include "src/engine/tuner/attempt-end.h"
#include "src/engine/tuner/backend-events.h"
#include "src/engine/tuner/limits.h"
#include "src/engine/tuner/live-trial.h"
#include "src/engine/tuner/requests.h"
#include "src/engine/tuner/stopping.h"
#include "src/engine/tuner/tuner-internal.h"
#include "src/model/study/study.h"
#include "trials/metric-line/metric-line.h"

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

/* The trial of a request, or NULL with an answer that gives the reason. */
static struct live_trial *
request_live(struct tuner *t, struct request *r)
{
	struct live_trial *l = live_set_find(&t->live, r->trial);

	if (l == NULL)
		request_ended(t, r);
	return l;
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
tell_put_trial(struct json_writer *w, const struct store_trial *row)
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
	tell_put_trial(&w, &l->row);
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
	tell_put_trial(&w, &row);
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
tell_lines_read(
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
	return tell_lines_read(tell, root, text, n);
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
tell_obeys(const struct live_trial *l, const struct tell_params *tell)
{
	return l->row.cause != STOP_NONE &&
	       !(tell->done && l->row.cause == STOP_SHUTDOWN);
}

static void
request_tell_end(
    struct tuner *t, struct live_trial *l, const struct tell_params *tell)
{
	struct launch_exit x = { .ran = !tell->failed,
		.exit_code = tell->failed ? -1 : tell->crashed,
		.stopped = tell->interrupted || tell_obeys(l, tell),
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
request_tell_cancel(struct tuner *t, struct live_trial *l)
{
	struct tell_params tell = { .done = true };

	request_tell_end(t, l, &tell);
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
tell_take(struct tuner *t, struct live_trial *l, struct request *r,
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
	request_tell_end(t, l, tell);
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
tell_is_of_attempt(const struct live_trial *l, const struct json *root)
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
	if (l != NULL && l->row.state != TRIAL_WAITING &&
	    tell_is_of_attempt(l, root))
		return false;
	if (again && r->trial > 0 && r->trial <= t->n_trials) {
		*r->text = '\0';
		answer_ended(t, r);
		return true;
	}
	if (l == NULL || tell_is_of_attempt(l, root))
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
		tell_take(t, l, r, &tell);
	}
	free(tell.reports);
}

void
request_tell(struct tuner *t, struct request *r)
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
		request_tell_end(t, l, &tell);
	else
		attempt_end_handle(t, l, NULL, why);
}

/*
 * Whether the study ends now but for trials that run elsewhere: those whose process is
 * gone are not left behind.
 */
static bool
only_elsewhere(const struct tuner *t)
{
	return !t->env.asked && t->live.n == live_set_n_external(&t->live) &&
	       !limits_allow_new(t);
}

void
request_tell_check(struct tuner *t)
{
	int64_t now_ms = loop_now_ms(t->env.loop);
	struct live_trial *l;
	bool watches = false;
	size_t i;

	if (now_ms < t->askers_due_ms && !request_comes(t, TUNER_ASK, 0) &&
	    !t->end.shutdown && !only_elsewhere(t))
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
request_tell_judge(struct tuner *t, struct request *r)
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
