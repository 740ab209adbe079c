/* Builds the status from the views: as a screen, and as one JSON document. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/clock.h"
#include "src/base/err.h"
#include "src/base/json/json-writer.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/base/text.h"
#include "src/model/plugin-options.h"
#include "src/store/queries.h"
#include "src/store/store.h"
#include "src/view/best-settings.h"
#include "src/view/contest-text.h"
#include "src/view/objectives.h"
#include "src/view/rows.h"
#include "src/view/sparkline.h"
#include "src/view/status.h"

enum {
	PROGRESS_TRIALS = 12, /* running trials shown */
	PROGRESS_SPARK = 24, /* columns of a curve */
	PROGRESS_PARTS = 48, /* that are read of it, where it is long */
	PROGRESS_POINTS = 500,
	PROGRESS_DIGITS = 5,
	LINES_INDENT = 2 /* of a line that goes on */
};

struct screen {
	struct buf *out;
	struct store *store;
	int width;
	bool colour;
	struct store_study study;
	struct objectives aims;
	double limits[4]; /* trials, parallel, cost, completed; 0 = none */
};

struct running {
	int64_t trial;
	bool starting; /* a job may stay in this state for minutes */
	char *params;
	char *why; /* it does not run yet, or stands still; NULL: neither */
	struct sparkline curve;
};

/* Append text, cut to the width of the screen, control characters escaped. */
static void
status_line_put(struct screen *s, const char *style, const char *text)
{
	struct buf safe = { 0 };
	size_t len;

	text_put_harmless(&safe, text, strlen(text), TEXT_LINE);
	len = safe.len;
	if (s->width > 0)
		len = text_fit(buf_str(&safe), (size_t)s->width);
	if (s->colour && *style != '\0')
		buf_printf(s->out, "\033[%sm", style);
	buf_add(s->out, buf_str(&safe), len);
	if (s->colour && *style != '\0')
		buf_puts(s->out, "\033[0m");
	buf_putc(s->out, '\n');
	buf_free(&safe);
}

/* The limits of the last run: from its study.json or its command line. */
static void
limits_read(struct screen *s)
{
	static const char *const names[] = { "trials", "parallel", "cost",
		"completed" };
	const struct json *limits, *value;
	struct json_doc *doc;
	size_t i;

	if (s->study.json == NULL ||
	    json_parse(&doc, s->study.json, strlen(s->study.json), NULL, true,
		NULL) != 0)
		return;
	limits = json_get(json_root(doc), "limits");
	for (i = 0; i < 4 && limits != NULL; i++) {
		value = json_get(limits, names[i]);
		if (value != NULL)
			(void)json_number(value, &s->limits[i]);
	}
	json_free(doc);
	if (s->study.run_trials > 0)
		s->limits[0] = (double)s->study.run_trials;
	if (s->study.run_parallel > 0)
		s->limits[1] = (double)s->study.run_parallel;
}

/* What the study is for. */
static void
description_put(struct screen *s)
{
	static const char sql[] = "SELECT description FROM study "
				  "WHERE description IS NOT NULL";
	struct store_rows *rows;

	if (rows_first(&rows, s->store, sql, NULL, NULL) != 1)
		return;
	status_line_put(s, "", store_rows_text(rows, 0));
	store_rows_close(rows);
}

static void
status_title_put(struct screen *s)
{
	const struct store_study *study = &s->study;
	int64_t taken_us, age_ms;
	struct buf line = { 0 };
	char host[128];

	buf_printf(
	    &line, "%s  %s  ", study->name, study_state_name(study->state));
	objectives_put_goals(&line, &s->aims);
	buf_printf(&line, "  %s, stopping: %s  ", study->strategy, study->rule);
	duration_put(&line, study->elapsed_ms);
	status_line_put(s, "1", buf_str(&line));
	description_put(s);
	buf_clear(&line);
	if (study->why != NULL && study->state != STUDY_RUNNING) {
		/* The words of a study that was ended from outside. */
		if (strcmp(study->why, study_state_name(study->state)) == 0)
			buf_printf(&line, "%s: hpotune start goes on with it",
			    study->why);
		else
			buf_printf(&line, "ended: %s", study->why);
		status_line_put(s, "", buf_str(&line));
	}
	if (store_snapshot_read(s->store, &taken_us, host, sizeof host)) {
		buf_clear(&line);
		buf_printf(&line, "copy of %s, ", host);
		age_ms = (clock_wall_us() - taken_us) / 1000;
		duration_put(&line, age_ms > 0 ? age_ms : 0);
		buf_puts(&line, " old");
		status_line_put(s, "", buf_str(&line));
	}
	buf_free(&line);
}

/* Trials that another program runs (ask/tell): they hold no slot. */
static int
count_external(struct screen *s, double *n, struct err *e)
{
	int64_t asked;

	if (store_attempts_asked(s->store, &asked, e) != 0)
		return -1;
	*n = (double)asked;
	return 0;
}

/* The newest trial that failed, and why. */
static int
failure_put(struct screen *s, struct err *e)
{
	static const char *const sql =
	    "SELECT trial, coalesce(why, '') FROM trials WHERE "
	    "state = 'failed' ORDER BY trial DESC LIMIT 1";
	struct store_rows *rows;
	struct buf line = { 0 };
	int rc = rows_first(&rows, s->store, sql, NULL, e);

	if (rc != 1)
		return rc;
	buf_printf(&line, "failed: trial %s: ", store_rows_text(rows, 0));
	buf_puts(&line, store_rows_text(rows, 1));
	status_line_put(s, "31", buf_str(&line));
	buf_free(&line);
	store_rows_close(rows);
	return 0;
}

/* "trials 23 of 40: 4 running, 12 completed"; busy slots when known. */
/* Trials that do not count, or not for the strategy, and the queue. */
static int
aside_put(struct screen *s, struct err *e)
{
	static const char *const sql = "SELECT coalesce((SELECT outside FROM "
				       "changes WHERE outside IS NOT NULL "
				       "ORDER BY time DESC LIMIT 1), 0)";
	static const char *const words[] = { "forgotten",
		"outside of the space", "in the queue" };
	struct buf line = { 0 };
	int64_t queued, forgotten;
	double n[3];
	size_t i;

	if (store_trials_forgotten(s->store, &forgotten, e) != 0 ||
	    rows_numbers(&n[1], 1, s->store, sql, e) != 1 ||
	    store_queue_length(s->store, &queued, e) != 0)
		return -1;
	n[0] = (double)forgotten;
	n[2] = (double)queued;
	for (i = 0; i < 3; i++)
		if (n[i] > 0)
			buf_printf(&line, "%s%.0f %s", line.len > 0 ? ", " : "",
			    n[i], words[i]);
	if (line.len > 0)
		status_line_put(s, "", buf_str(&line));
	buf_free(&line);
	return 0;
}

/* Trials of different code can hardly be compared. */
static int
status_code_put(struct screen *s, struct err *e)
{
	static const char *const sql =
	    "SELECT count(DISTINCT git_commit || coalesce(git_dirty, 0)) "
	    "FROM provenance";
	char text[100];
	double n;

	if (rows_numbers(&n, 1, s->store, sql, e) != 1)
		return -1;
	(void)snprintf(text, sizeof text,
	    "trials ran with %.0f states of the code: see the view provenance",
	    n);
	if (n > 1)
		status_line_put(s, "", text);
	return 0;
}

static int
status_counts_put(struct screen *s, struct err *e)
{
	int64_t counts[TRIAL_STATES] = { 0 }, all = 0, busy;
	double elsewhere, contests[2];
	struct store_rows *rows;
	struct buf line = { 0 };
	enum trial_state state;
	const char *between = ": ";
	size_t i;
	int rc;

	if (store_list_counts(&rows, s->store, e) != 0)
		return -1;
	while ((rc = store_rows_next(rows, e)) == 1) {
		if (!trial_state_parse(store_rows_text(rows, 0), &state))
			continue;
		if ((rc = rows_count(rows, 1, &counts[state], e)) == -1)
			break;
		all += counts[state];
	}
	store_rows_close(rows);
	if (rc == -1 || count_external(s, &elsewhere, e) != 0 ||
	    store_contest_trials(s->store, contests, e) != 0)
		return -1;
	busy = counts[TRIAL_STARTING] + counts[TRIAL_RUNNING] +
	       counts[TRIAL_STOPPING] - (int64_t)elsewhere;
	buf_printf(&line, "trials %" PRId64,
	    all - (int64_t)(contests[0] + contests[1]));
	if (s->limits[0] > 0)
		buf_printf(&line, " of %.0f", s->limits[0]);
	if (contests[0] > 0)
		buf_printf(&line, ", and %.0f to confirm", contests[0]);
	if (contests[1] > 0)
		buf_printf(&line, ", and %.0f for proposals", contests[1]);
	for (i = 0; i < TRIAL_STATES; i++) {
		if (counts[i] == 0)
			continue;
		buf_printf(&line, "%s%" PRId64, between, counts[i]);
		if (i == TRIAL_COMPLETED && s->limits[3] > 0)
			buf_printf(&line, " of %.0f", s->limits[3]);
		buf_printf(&line, " %s", trial_state_name((enum trial_state)i));
		between = ", ";
	}
	if (s->limits[1] > 0)
		buf_printf(&line, "; slots: %" PRId64 " of %.0f busy", busy,
		    s->limits[1]);
	if (elsewhere > 0)
		buf_printf(&line, "; %.0f elsewhere", elsewhere);
	status_line_put(s, "", buf_str(&line));
	buf_free(&line);
	return counts[TRIAL_FAILED] > 0 ? failure_put(s, e) : 0;
}

static int
status_front_put(struct screen *s, struct err *e)
{
	struct buf line = { 0 }, front = { 0 };
	int rc = objectives_put_front(
	    &front, s->store, &s->aims, PROGRESS_DIGITS, e);

	if (rc == 0 && front.len > 0) {
		buf_printf(&line, "front %s", buf_str(&front));
		status_line_put(s, "32", buf_str(&line));
	}
	buf_free(&line);
	buf_free(&front);
	return rc;
}

/* Below the best trial, when no trial satisfies all constraints. */
static int
broken_put(struct screen *s, const char *trial, struct err *e)
{
	struct buf line = { 0 };
	int rc;

	buf_puts(&line, "  though ");
	rc = objectives_put_broken(&line, s->store, trial, PROGRESS_DIGITS, e);
	if (rc == 0 && line.len > strlen("  though "))
		status_line_put(s, "33", buf_str(&line));
	buf_free(&line);
	return rc;
}

/* Below the best trial: its setting, compared with the second one. */
static int
settings_put(struct screen *s, struct err *e)
{
	struct buf line = { 0 };
	int rc;

	buf_puts(&line, "  ");
	rc = best_settings_put(&line, s->store, PROGRESS_DIGITS, "; ", e);
	if (rc == 0 && line.len > strlen("  "))
		status_line_put(s, "", buf_str(&line));
	buf_clear(&line);
	buf_puts(&line, "  ");
	if (rc == 0)
		rc = contest_text_put(&line, s->store, PROGRESS_DIGITS, e);
	if (rc == 0 && line.len > strlen("  "))
		status_line_put(s, "", buf_str(&line));
	buf_free(&line);
	return rc;
}

static int
status_best_put(struct screen *s, struct err *e)
{
	static const char *const sql =
	    "SELECT trial, (SELECT best FROM study), step, params FROM best";
	struct store_rows *rows;
	struct buf line = { 0 };
	int rc;

	if (s->aims.several)
		return status_front_put(s, e);
	if ((rc = rows_first(&rows, s->store, sql, NULL, e)) != 1)
		return rc;
	buf_printf(&line, "best %s ", s->study.metric);
	rows_put_number(&line, store_rows_real(rows, 1), PROGRESS_DIGITS);
	buf_printf(&line, "  trial %s  ", store_rows_text(rows, 0));
	rows_put_params(&line, store_rows_text(rows, 3), PROGRESS_DIGITS - 1);
	status_line_put(s, "32", buf_str(&line));
	buf_free(&line);
	rc = broken_put(s, store_rows_text(rows, 0), e);
	store_rows_close(rows);
	return rc == 0 ? settings_put(s, e) : rc;
}

static int
savings_put(struct screen *s, struct err *e)
{
	struct buf line = { 0 };
	int rc;

	buf_puts(&line, "saved ");
	rc = status_put_savings(&line, s->store, e);
	if (rc == 0 && line.len > strlen("saved "))
		status_line_put(s, "", buf_str(&line));
	buf_free(&line);
	return rc;
}

static int
hindsight_put(struct screen *s, struct err *e)
{
	struct buf line = { 0 };
	int rc;

	buf_puts(&line, "hindsight: ");
	rc = status_put_hindsight(&line, s->store, e);
	if (rc == 0 && line.len > strlen("hindsight: "))
		status_line_put(s, "", buf_str(&line));
	buf_free(&line);
	return rc;
}

static int
presets_put(struct screen *s, struct err *e)
{
	struct buf line = { 0 };
	int rc;

	buf_puts(&line, "presets: ");
	rc = status_put_presets(&line, s->store, NULL, NULL, e);
	if (rc == 0 && line.len > strlen("presets: "))
		status_line_put(s, "", buf_str(&line));
	buf_free(&line);
	return rc;
}

/* A text that may be wider than the terminal, in several lines. */
static void
status_lines_put(struct screen *s, const char *style, const char *text)
{
	struct buf line = { 0 };
	size_t n, fit;

	while (*text != '\0') {
		n = strlen(text);
		fit = s->width > LINES_INDENT
			  ? text_fit(text, (size_t)s->width - LINES_INDENT)
			  : n;
		if (fit < n)
			for (n = fit; n > 0 && text[n] != ' '; n--)
				;
		n = n > 0 ? n : fit > 0 ? fit : strlen(text);
		buf_add(&line, text, n);
		status_line_put(s, style, buf_str(&line));
		buf_clear(&line);
		for (text += n; *text == ' '; text++)
			;
		buf_puts(&line, *text != '\0' ? "  " : "");
	}
	buf_free(&line);
}

static void
status_doubt_put(void *arg, const char *text)
{
	struct buf line = { 0 };

	buf_printf(&line, "doubt: %s", text);
	status_lines_put(arg, "33", buf_str(&line));
	buf_free(&line);
}

static int
status_looks_put(struct screen *s, struct err *e)
{
	struct buf line = { 0 };
	int rc;

	buf_puts(&line, "second looks: ");
	rc = status_put_looks(&line, s->store, e);
	if (rc == 0 && line.len > strlen("second looks: "))
		status_line_put(s, "", buf_str(&line));
	buf_free(&line);
	return rc;
}

static int
start_put(struct screen *s, struct err *e)
{
	struct buf line = { 0 };
	int rc = status_put_start(&line, s->store, e);

	if (rc == 0 && line.len > 0)
		status_lines_put(s, "", buf_str(&line));
	buf_free(&line);
	return rc;
}

static int
costs_put(struct screen *s, struct err *e)
{
	struct buf line = { 0 };
	int rc;

	buf_puts(&line, "cost ");
	rc = status_put_costs(&line, s->store, s->limits[2], e);
	if (rc == 0 && line.len > strlen("cost "))
		status_line_put(s, "", buf_str(&line));
	buf_clear(&line);
	if (rc == 0)
		rc = status_put_likely(&line, s->store, &s->study, e);
	if (rc == 0)
		status_lines_put(s, "", buf_str(&line));
	buf_free(&line);
	return rc;
}

/* GPU hours and joules of all ended attempts. */
static int
status_usage_put(struct screen *s, struct err *e)
{
	struct buf line = { 0 };
	int rc;

	buf_puts(&line, "used ");
	rc = status_put_usage(&line, s->store, e);
	if (rc == 0 && line.len > strlen("used "))
		status_line_put(s, "", buf_str(&line));
	buf_free(&line);
	return rc;
}

static void
gpu_put(void *arg, bool bad, const char *text)
{
	status_line_put(arg, bad ? "33" : "", text);
}

/* "3 trials are …", unless there are none. */
static void
some_put(struct screen *s, const char *colour, int64_t n, const char *what)
{
	struct buf line = { 0 };

	if (n == 0)
		return;
	buf_printf(
	    &line, "%" PRId64 " trial%s %s", n, n == 1 ? " is" : "s are", what);
	status_line_put(s, colour, buf_str(&line));
	buf_free(&line);
}

static int
waits_put(struct screen *s, struct err *e)
{
	int64_t machine, paused;

	if (store_trials_waiting(s->store, &machine, &paused, e) != 0)
		return -1;
	some_put(s, "33", machine,
	    "waiting for capacity: tried again every few minutes");
	some_put(
	    s, "", paused, "paused by the rule: resumed when among the best");
	return 0;
}

/*
 * Trials that hold a slot, with their curves; those that do not fit are
 * counted.
 */
static int
running_read(struct screen *s, struct running *list, size_t *n, int64_t *more,
    struct err *e)
{
	static const char *const sql =
	    "SELECT trial, params, state, coalesce(why, '') FROM trials "
	    "WHERE state IN "
	    "('starting', 'running', 'stopping') ORDER BY trial";
	struct store_rows *rows;
	int rc;

	*n = 0;
	*more = 0;
	if (store_rows_open(&rows, s->store, sql, NULL, e) != 0)
		return -1;
	while ((rc = store_rows_next(rows, e)) == 1) {
		if (*n == PROGRESS_TRIALS) {
			(*more)++;
			continue;
		}
		list[*n].trial = store_rows_int(rows, 0);
		list[*n].params = xstrdup(store_rows_text(rows, 1));
		list[*n].starting =
		    strcmp(store_rows_text(rows, 2), "starting") == 0;
		if (strcmp(store_rows_text(rows, 2), "stopping") != 0 &&
		    *store_rows_text(rows, 3) != '\0')
			list[*n].why = xstrdup(store_rows_text(rows, 3));
		rc = rows_curve_of_trial(&list[*n].curve, s->store,
		    list[*n].trial, PROGRESS_PARTS, e);
		(*n)++;
		if (rc == -1)
			break;
	}
	store_rows_close(rows);
	return rc;
}

/* One line: number, step, value, curve, parameters. */
static void
curve_line(struct screen *s, const char *name, const char *none,
    const struct sparkline *curve, const struct sparkline_frame *frame,
    size_t columns, const char *params)
{
	struct buf line = { 0 };

	buf_printf(&line, "%7s ", name);
	if (curve->n > 0) {
		buf_printf(&line, "%7" PRId64 "  %-10.*g ",
		    curve->steps[curve->n - 1], PROGRESS_DIGITS,
		    curve->values[curve->n - 1]);
		sparkline_put(&line, curve, frame, columns);
	} else
		buf_printf(
		    &line, "%7s  %-10s %*s", "-", none, (int)columns, "");
	if (columns < strlen("curve"))
		buf_printf(&line, "%*s", (int)(strlen("curve") - columns), "");
	buf_puts(&line, "  ");
	rows_put_params(&line, params, PROGRESS_DIGITS - 1);
	while (line.len > 0 && line.data[line.len - 1] == ' ')
		line.data[--line.len] = '\0';
	status_line_put(s, "", buf_str(&line));
	buf_free(&line);
}

/* Below its trial, in the column of the values. */
static void
why_line(struct screen *s, const char *why)
{
	char *text = xasprintf("%17s%s", "", why);

	status_line_put(s, "", text);
	free(text);
}

static void
status_curves_put(struct screen *s, const struct running *list, size_t n,
    int64_t more, const struct sparkline *median)
{
	struct sparkline all[PROGRESS_TRIALS + 1];
	size_t i, columns = PROGRESS_SPARK;
	struct sparkline_frame frame;
	char name[32], head[128];

	for (i = 0; i < n; i++)
		all[i] = list[i].curve;
	all[n] = *median;
	sparkline_frame_fit(&frame, all, n + 1);
	if (frame.first <= frame.last &&
	    frame.last - frame.first < PROGRESS_SPARK)
		columns = (size_t)(frame.last - frame.first + 1);
	buf_putc(s->out, '\n');
	(void)snprintf(head, sizeof head, "%7s %7s  %-10s %-*s  parameters",
	    "trial", "step", "value", (int)columns, "curve");
	status_line_put(s, "1", head);
	for (i = 0; i < n; i++) {
		(void)snprintf(name, sizeof name, "%" PRId64, list[i].trial);
		curve_line(s, name, list[i].starting ? "starting" : "-",
		    &list[i].curve, &frame, columns, list[i].params);
		if (list[i].why != NULL)
			why_line(s, list[i].why);
	}
	if (median->n > 0)
		curve_line(s, "median", "-", median, &frame, columns, NULL);
	if (more > 0) {
		(void)snprintf(name, sizeof name, "and %" PRId64 " more", more);
		status_line_put(s, "", name);
	}
}

static int
status_trials_put(struct screen *s, struct err *e)
{
	struct running list[PROGRESS_TRIALS] = { 0 };
	struct sparkline median = { 0 };
	int64_t more;
	size_t i, n;
	int rc;

	rc = running_read(s, list, &n, &more, e);
	if (rc == 0)
		rc = rows_curve_of_medians(
		    &median, s->store, PROGRESS_POINTS, e);
	if (rc == 0 && n > 0)
		status_curves_put(s, list, n, more, &median);
	for (i = 0; i < n; i++) {
		free(list[i].params);
		free(list[i].why);
		sparkline_free(&list[i].curve);
	}
	sparkline_free(&median);
	return rc;
}

int
status_render(
    struct buf *out, struct store *store, int width, bool colour, struct err *e)
{
	struct screen s = {
		.out = out, .store = store, .width = width, .colour = colour
	};
	bool runs;
	int rc = 0;

	if (store_study_get(store, &s.study, e) != 0)
		return -1;
	if (objectives_read(&s.aims, store, e) != 0) {
		store_study_fini(&s.study);
		return -1;
	}
	runs = s.study.state == STUDY_RUNNING || s.study.state == STUDY_PAUSED;
	limits_read(&s);
	status_title_put(&s);
	if (status_counts_put(&s, e) != 0 || aside_put(&s, e) != 0 ||
	    status_code_put(&s, e) != 0 || status_best_put(&s, e) != 0 ||
	    status_doubts(store, status_doubt_put, &s, e) != 0 ||
	    waits_put(&s, e) != 0 || savings_put(&s, e) != 0 ||
	    hindsight_put(&s, e) != 0 || presets_put(&s, e) != 0 ||
	    status_looks_put(&s, e) != 0 || start_put(&s, e) != 0 ||
	    costs_put(&s, e) != 0 || status_usage_put(&s, e) != 0 ||
	    (runs && status_gpus(store, gpu_put, &s, e) == -1) ||
	    status_trials_put(&s, e) != 0)
		rc = -1;
	objectives_fini(&s.aims);
	store_study_fini(&s.study);
	return rc;
}

int
status_put_blocked(struct buf *out, struct store *store, struct err *e)
{
	struct store_rows *rows;
	const char *text;
	int rc;

	/*
	 * src/engine/tuner/start-failures.c writes both; older ones are over,
	 * or were repeated.
	 */
	if (store_list_late_event(&rows, store, "launch",
		"%: no trial can be started: %",
		"%: trials can be started again", e) != 0)
		return -1;
	if ((rc = store_rows_next(rows, e)) == 1) {
		text = store_rows_text(rows, 0);
		if (strstr(text, "no trial can be started") != NULL)
			buf_puts(out, text);
	}
	store_rows_close(rows);
	return rc == -1 ? -1 : 0;
}

/* The key and the rows of each part. */
static int
parts_put(struct json_writer *w, struct store *store, bool brief, struct err *e)
{
	static const struct {
		const char *key, *sql;
		bool one;
		bool brief; /* also in a brief one */
	} parts[] = {
		{ "study", "SELECT * FROM study", true, true },
		{ "best",
		    "SELECT * FROM trials WHERE trial = "
		    "(SELECT trial FROM best)",
		    true, true },
		/* With one objective the best trial is sufficient. */
		{ "front",
		    "SELECT * FROM front WHERE "
		    "(SELECT best_trial FROM study) IS NULL",
		    false, true },
		{ "settings",
		    "SELECT * FROM settings WHERE rank <= 2 ORDER BY rank",
		    false, false },
		{ "savings", "SELECT * FROM savings", true, false },
		{ "hindsight", "SELECT * FROM hindsight", false, false },
		{ "doubts",
		    "SELECT trial, text, time FROM events WHERE area = 'doubt'",
		    false, true },
		{ "second_looks",
		    "SELECT trial, step, rank, hindsight, budget, price, spent "
		    "FROM stops WHERE rank IS NOT NULL ORDER BY spent, trial",
		    false, false },
		{ "costs", "SELECT * FROM costs", true, false },
		{ "usage",
		    "SELECT " STORE_SQL_GPU_SECONDS
		    " AS gpu_seconds, " STORE_SQL_JOULES " AS energy_joules, "
		    "(SELECT sum(cpu_seconds) FROM attempts "
		    "WHERE cpus IS NOT NULL) AS cpu_seconds",
		    true, false },
		{ "gpus", "SELECT * FROM gpus", false, false },
		{ "placed",
		    "SELECT * FROM trials WHERE state IN "
		    "('starting', 'running', 'stopping') "
		    "ORDER BY trial",
		    false, false },
		{ "medians", "SELECT * FROM medians ORDER BY step", false,
		    false },
		/* All but the packages, which may be long. */
		{ "provenance",
		    "SELECT provenance, since, host, user, system, version, "
		    "command, folder, workdir, git_commit, git_branch, "
		    "git_dirty, git_why FROM provenance",
		    false, false },
	};
	const char *sql;
	size_t i;
	int rc;

	for (i = 0; i < sizeof parts / sizeof parts[0]; i++) {
		sql = parts[i].sql;
		if (brief && !parts[i].brief)
			continue;
		if (strcmp(parts[i].key, "hindsight") == 0 &&
		    (rc = status_hindsight_long(store, e)) != 0) {
			if (rc < 0)
				return -1;
			sql = "SELECT * FROM hindsight LIMIT 0";
		}
		json_writer_line(w);
		if (rows_put_json(json_writer_value(w, parts[i].key), store,
			sql, NULL, parts[i].one, e) != 0)
			return -1;
	}
	return 0;
}

static int
blocked_put(struct json_writer *w, struct store *store, struct err *e)
{
	struct buf blocked = { 0 };
	int rc = status_put_blocked(&blocked, store, e);

	json_writer_line(w);
	json_writer_text(
	    w, "blocked", blocked.len > 0 ? buf_str(&blocked) : NULL);
	buf_free(&blocked);
	return rc;
}

int
status_json_brief(struct json_writer *w, struct store *store, struct err *e)
{
	return parts_put(w, store, true, e) == 0 ? blocked_put(w, store, e)
						 : -1;
}

int
status_json(struct json_writer *w, struct store *store, struct err *e)
{
	struct buf start = { 0 }, likely = { 0 };
	struct store_study row;
	int64_t waits, paused;
	int rc;

	if (parts_put(w, store, false, e) != 0 ||
	    store_trials_waiting(store, &waits, &paused, e) != 0)
		return -1;
	json_writer_line(w);
	json_writer_integer(w, "waiting_for_capacity", waits);
	json_writer_line(w);
	json_writer_integer(w, "paused", paused);
	rc = status_put_start(&start, store, e);
	json_writer_line(w);
	json_writer_text(w, "start", start.len > 0 ? buf_str(&start) : NULL);
	buf_free(&start);
	if (rc == 0 && (rc = store_study_get(store, &row, e)) == 0) {
		rc = status_put_likely(&likely, store, &row, e);
		store_study_fini(&row);
	}
	json_writer_line(w);
	json_writer_text(w, "likely", likely.len > 0 ? buf_str(&likely) : NULL);
	buf_free(&likely);
	return rc == 0 ? blocked_put(w, store, e) : rc;
}
