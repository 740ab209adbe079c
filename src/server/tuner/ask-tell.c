/*
 * Ask/tell: trials that another program runs and reports through "hpotune
 * tell".  They hold no slot, belong to no launcher, and run until their end is
 * reported.
 *
 * Answers are JSON.  ask: a list of {"trial", "params"}, with "from" when the
 * trial continues another one, "until" when it ends at a step, and "resume", its
 * last step, when it was stopped and gets a second look.  tell and
 * judge:
 *	{"trial": 7, "state": "running", "step": 3, "objective": 0.9,
 *	 "verdict": "keep", "rule": "median", "value": 0.9, "threshold": 0.8,
 *	 "pool": 12, "why": ""}
 * where the verdict is null once the trial has ended.
 */

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/json/json-writer.h"
#include "src/base/json/json.h"
#include "src/base/rng.h"
#include "src/base/text.h"
#include "src/model/study/study.h"
#include "src/server/tuner/ask-tell.h"
#include "src/server/tuner/attempt-end.h"
#include "src/server/tuner/launcher-events.h"
#include "src/server/tuner/limits.h"
#include "src/server/tuner/live-trial.h"
#include "src/server/tuner/new-trial.h"
#include "src/server/tuner/requests.h"
#include "src/server/tuner/second-looks.h"
#include "src/server/tuner/stopping.h"
#include "src/server/tuner/tuner-internal.h"
#include "trials/metric-line/metric-line.h"

/*
 * An answer is one line on the socket; for more trials the client asks again.
 */
#define ASK_TELL_ANSWER_MAX 65536

/* The parsed lines of tell. */
struct told {
	struct metric_line *reports;
	size_t n;
	bool done, failed, stopped;
	const char *why; /* borrowed from the request */
};

static void
ask_tell_begin(struct tuner *t, struct live_trial *l)
{
	struct store_attempt att = {
		.uuid = rng_uuid(),
		.backend = xstrdup(ASK_TELL_BACKEND),
	};

	live_trial_begin(t, l, -1, &att);
	if (!t->env.without_launchers)
		t->row.ended_us = 0;
	live_trial_up(t, l, t->turn_us, 0);
}

static void
ask_answer(struct request *r, const struct live_trial *l)
{
	struct json_writer w = { .out = &r->data };

	buf_puts(&r->data, r->given++ == 0 ? "[" : ",");
	json_writer_object(&w, NULL);
	json_writer_integer(&w, "trial", l->row.number);
	json_writer_raw(&w, "params", l->row.params);
	if (l->row.from > 0)
		json_writer_integer(&w, "from", l->row.from);
	if (l->row.until > 0)
		json_writer_integer(&w, "until", l->row.until);
	if (l->looked)
		json_writer_integer(&w, "resume", l->row.last_step);
	json_writer_end(&w);
}

static int64_t
ask_count(const struct request *r)
{
	struct json_doc *doc;
	int64_t count = 1;

	if (json_parse(&doc, r->params, strlen(r->params), NULL, false, NULL) !=
	    0)
		return 1;
	(void)json_integer(json_get(json_root(doc), "count"), &count);
	json_free(doc);
	return count;
}

void
ask_tell_ask(struct tuner *t, struct request *r)
{
	int64_t count = ask_count(r);
	struct live_trial *l;

	/* No trial and no reason: an entry of the queue was dropped. */
	r->later = false;
	while (r->given < count && r->data.len < ASK_TELL_ANSWER_MAX &&
	       !store_failed(t->store) &&
	       (l = second_looks_resume_external(t)) != NULL) {
		ask_tell_begin(t, l);
		ask_answer(r, l);
	}
	while (r->given < count && r->data.len < ASK_TELL_ANSWER_MAX &&
	       !r->later && !store_failed(t->store) &&
	       !limits_block_new(t, r->text, sizeof r->text)) {
		l = new_trial_next(t);
		r->later = l == NULL && t->asking;
		if (l == NULL && !limits_allow_new(t))
			break;
		if (l == NULL)
			continue;
		ask_tell_begin(t, l);
		ask_answer(r, l);
	}
	if (r->later)
		return;
	if (r->given > 0)
		buf_putc(&r->data, ']');
	else if (!limits_block_new(t, r->text, sizeof r->text))
		(void)snprintf(
		    r->text, sizeof r->text, "no trial can start now");
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
put_trial(struct json_writer *w, const struct store_trial *row)
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

static void
answer_live(struct tuner *t, struct request *r, const struct live_trial *l,
    const struct judgement *verdict)
{
	struct json_writer w = { .out = &r->data };
	struct judgement j = *verdict;

	verdict_recall(t, l, &j);
	r->good = true;
	put_trial(&w, &l->row);
	put_verdict(&w, l, &j);
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
	put_trial(&w, &row);
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
lines_read(struct told *told, const struct json *root, char *text, size_t n)
{
	const struct json *j, *lines = json_get(root, "lines");
	struct metric_line *rep;
	const char *line;
	bool strict = false, is;

	(void)json_bool(json_get(root, "strict"), &strict);
	told->reports = xcalloc(json_count(lines) + 1, sizeof *told->reports);
	for (j = json_first(lines); j != NULL; j = json_next(j)) {
		line = json_string(j);
		if (line == NULL)
			continue;
		rep = &told->reports[told->n];
		is = metric_line_parse(rep, NULL, line, strlen(line));
		if (!is && rep->why == NULL)
			is = metric_json_parse(rep, line, strlen(line));
		if (is)
			told->n++;
		else if (strict) {
			line_refused(text, n, line, rep->why);
			return false;
		}
	}
	return true;
}

static bool
tell_read(struct told *told, const struct json *root, char *text, size_t n)
{
	const char *end = json_string(json_get(root, "end"));

	told->why = json_string(json_get(root, "why"));
	if (end != NULL) {
		told->done = strcmp(end, "done") == 0;
		told->failed = strcmp(end, "failed") == 0;
		told->stopped = strcmp(end, "stopped") == 0;
	}
	return lines_read(told, root, text, n);
}

static void
report_lines(
    struct tuner *t, const struct live_trial *l, const struct told *told)
{
	struct launch_event ev = {
		.kind = LAUNCH_REPORT,
		.trial = l->row.number,
		.attempt = l->att.attempt,
	};
	const struct metric_line *rep;
	size_t i, k;

	for (i = 0; i < told->n; i++) {
		rep = &told->reports[i];
		ev.u.report.has_step = rep->has_step;
		ev.u.report.step = rep->step;
		for (k = 0; k < rep->n; k++) {
			ev.u.report.name = rep->values[k].name;
			ev.u.report.value = rep->values[k].value;
			tuner_on_event(t, &ev);
		}
	}
}

static void
ask_tell_end(struct tuner *t, struct live_trial *l, const struct told *told)
{
	struct launch_exit x = { .ran = !told->failed,
		.exit_code = told->failed ? -1 : 0,
		.stopped = l->row.cause != STOP_NONE,
		.ended_us = t->turn_us,
		.end = told->failed    ? END_ERROR
		       : told->stopped ? END_STOPPED
				       : END_NONE };

	if (told->failed)
		text_cut(x.why, sizeof x.why,
		    told->why != NULL ? told->why : "reported as failed");
	if (told->stopped)
		stopping_settle(t, l);
	if (told->stopped && l->row.cause == STOP_NONE)
		live_trial_stop(t, l, STOP_RULE,
		    told->why != NULL ? told->why
				      : "stopped by the program that runs it");
	attempt_end_handle(t, l, &x, NULL);
}

void
ask_tell_cancel(struct tuner *t, struct live_trial *l)
{
	struct told told = { .done = true };

	ask_tell_end(t, l, &told);
}

/* Whether the trial's end may be reported now; otherwise the reason. */
static bool
end_good(const struct tuner *t, const struct live_trial *l,
    const struct told *told, char *text, size_t n)
{
	if (!told->done || l->row.reports > 0 || l->row.cause != STOP_NONE)
		return true;
	(void)snprintf(text, n,
	    "trial %" PRId64
	    " has no report of %s: report one, or use --failed",
	    l->row.number, t->study->metric);
	return false;
}

static void
tell(
    struct tuner *t, struct live_trial *l, struct request *r, struct told *told)
{
	report_lines(t, l, told);
	if (store_failed(t->store))
		return;
	if (!told->done && !told->failed && !told->stopped) {
		stopping_settle(t, l);
		answer_live(t, r, l, &l->verdict);
		return;
	}
	if (!end_good(t, l, told, r->text, sizeof r->text))
		return;
	ask_tell_end(t, l, told);
	/*
	 * Without a server, checkpoint now, so that one file remains instead of
	 * three.
	 */
	if (t->env.without_launchers)
		store_checkpoint_at_close(t->store);
	answer_ended(t, r);
}

void
ask_tell_tell(struct tuner *t, struct request *r)
{
	struct live_trial *l = request_live(t, r);
	struct told told = { 0 };
	struct json_doc *doc = NULL;
	struct err e = ERR_INIT;

	if (l == NULL)
		return;
	if (!l->external) {
		(void)snprintf(r->text, sizeof r->text,
		    "trial %" PRId64 " is run by hpotune, not by hpotune ask",
		    r->trial);
		return;
	}
	if (json_parse(&doc, r->params, strlen(r->params), NULL, false, &e) !=
	    0)
		(void)snprintf(r->text, sizeof r->text, "%.180s", e.text);
	else if (tell_read(&told, json_root(doc), r->text, sizeof r->text))
		tell(t, l, r, &told);
	free(told.reports);
	json_free(doc);
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

	if (l == NULL)
		return;
	rules = judged_rules(&t->judged, l->row.number);
	h = judged_history(&t->judged, l->row.number);
	j = l->verdict;
	if (l->row.last_step >= 0)
		stop_rule_set_judge(
		    rules, h, l->row.number, l->row.last_step, &j);
	for (; *metric != NULL && j.verdict == VERDICT_KEEP; metric++)
		stop_rule_set_judge_metric(
		    rules, h, l->row.number, *metric, &j);
	answer_live(t, r, l, &j);
}
