/* The head of the page: the study, its state and its result. */

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/html/decimate.h"
#include "src/html/section.h"
#include "src/model/plugin-options.h"
#include "src/model/space.h"
#include "src/model/study/study.h"
#include "src/store/queries.h"
#include "src/view/best-settings.h"
#include "src/view/contest-text.h"
#include "src/view/model-best.h"
#include "src/view/rows.h"
#include "src/view/sparkline.h"
#include "src/view/status.h"

enum {
	SETTING = 16, /* parameters that are in one line, at most */
	RUNNING = 8, /* trials that are named, at most */
	SPARK_WIDTH = 120,
	SPARK_HEIGHT = 18,
	SPARK_PARTS = 20 /* of a curve */
};

/* One fact, unless it is empty; clears text. */
static void
section_head_fact(struct html *h, const char *name, struct buf *text)
{
	if (text->len > 0) {
		html_leaf(h, "dt", NULL, name);
		html_leaf(h, "dd", NULL, buf_str(text));
	}
	buf_clear(text);
}

/* "2026-11-22 01:11:10 UTC" from a time of a view. */
static void
section_head_time_put(struct buf *out, const char *iso)
{
	if (strlen(iso) >= 19)
		buf_printf(out, "%.10s %.8s UTC", iso, iso + 11);
	else
		buf_puts(out, iso);
}

static int
times_put(struct page *r, struct buf *b, struct err *e)
{
	struct store_rows *rows;
	int rc = rows_first(
	    &rows, r->store, "SELECT created, ended FROM study", NULL, e);

	if (rc != 1)
		return rc;
	if (!store_rows_null(rows, 0))
		section_head_time_put(b, store_rows_text(rows, 0));
	section_head_fact(&r->h, "Created", b);
	if (!store_rows_null(rows, 1))
		section_head_time_put(b, store_rows_text(rows, 1));
	section_head_fact(&r->h, "Ended", b);
	store_rows_close(rows);
	duration_put(b, r->row.elapsed_ms);
	section_head_fact(&r->h, "Time it ran", b);
	return 0;
}

static void
section_head_counts_put(struct page *r, struct buf *b)
{
	const char *between = ": ";
	size_t i;

	buf_printf(b, "%zu", r->n);
	if (r->study->limits.trials > 0)
		buf_printf(b, " of %" PRId64, r->study->limits.trials);
	for (i = 0; i < TRIAL_STATES; i++) {
		if (r->counts[i] == 0)
			continue;
		buf_printf(b, "%s%" PRId64, between, r->counts[i]);
		if (i == TRIAL_COMPLETED && r->study->limits.completed > 0)
			buf_printf(
			    b, " of %" PRId64, r->study->limits.completed);
		buf_printf(b, " %s%s", trial_state_name((enum trial_state)i),
		    i == TRIAL_STOPPED ? " early" : "");
		between = ", ";
	}
	section_head_fact(&r->h, "Trials", b);
}

/* At the pace of the trials that have ended, as hpotune watch estimates it. */
static void
time_left_put(struct page *r, struct buf *b)
{
	int64_t limit = r->study->limits.trials, over = 0;
	double left;
	size_t i;

	for (i = 0; i < TRIAL_STATES; i++)
		if (trial_state_final((enum trial_state)i) &&
		    (limit > 0 || i == TRIAL_COMPLETED))
			over += r->counts[i];
	limit = limit > 0 ? limit : r->study->limits.completed;
	if (!(r->now > 0) || over < 3 || limit <= over)
		return;
	left = (double)r->row.elapsed_ms / 1000 / (double)over *
	       (double)(limit - over);
	if (left < 1)
		return;
	buf_puts(b, "about ");
	duration_put_rough(b, left);
	buf_puts(b, " at this pace");
	section_head_fact(&r->h, "Time left", b);
}

/* The URIs of the best trial's model and output, when they are remote. */
static int
section_head_left_put(struct page *r, struct buf *b, struct err *e)
{
	static const char *const heads[] = { "Its model", "Its output" };
	struct store_rows *rows;
	int rc = rows_first(
	    &rows, r->store, "SELECT model_uri, output_uri FROM best", NULL, e);
	int i;

	if (rc != 1)
		return rc;
	for (i = 0; i < 2; i++) {
		buf_clear(b);
		if (store_rows_null(rows, i))
			continue;
		buf_puts(b, store_rows_text(rows, i));
		section_head_fact(&r->h, heads[i], b);
	}
	store_rows_close(rows);
	return 0;
}

/* The setting of the best trial in a line, unless it is long. */
static int
section_head_setting_put(struct page *r, struct buf *b, struct err *e)
{
	struct store_rows *rows;
	int rc;

	if (r->study->space->n > SETTING)
		return 0;
	rc = rows_first(&rows, r->store, "SELECT params FROM best", NULL, e);
	if (rc != 1)
		return rc;
	rows_put_params(b, store_rows_text(rows, 0), 5);
	section_head_fact(&r->h, "Its setting", b);
	store_rows_close(rows);
	return 0;
}

static int
section_head_best_put(struct page *r, struct buf *b, struct err *e)
{
	struct buf why = { 0 };
	const struct page_trial *t;
	char number[32];
	int rc;

	if (r->aims.several) {
		rc =
		    objectives_put_front(b, r->store, &r->aims, PAGE_DIGITS, e);
		section_head_fact(&r->h, "Front", b);
		return rc;
	}
	if (r->best == r->n) {
		buf_printf(b, "no trial has a value of %s", r->row.metric);
		section_head_fact(&r->h, "Best trial", b);
		return 0;
	}
	t = &r->trials[r->best];
	(void)snprintf(number, sizeof number, "%" PRId64, t->number);
	rc = objectives_put_broken(&why, r->store, number, PAGE_DIGITS, e);
	buf_printf(b, "trial %s: %s ", number, r->row.metric);
	rows_put_number(b, t->objective, PAGE_DIGITS);
	if (t->state != TRIAL_COMPLETED)
		buf_printf(b, " (%s)", trial_state_name(t->state));
	if (why.len > 0)
		buf_printf(b, ", though %s", buf_str(&why));
	html_leaf(&r->h, "dt", NULL, "Best trial");
	html_open(&r->h, "dd");
	section_trial_link(r, number, buf_str(b));
	html_close(&r->h, "dd");
	buf_clear(b);
	buf_free(&why);
	if (rc == 0)
		rc = best_settings_put(b, r->store, PAGE_DIGITS, "; ", e);
	if (rc == 0 && b->len > 0)
		section_head_fact(&r->h, "Best setting", b);
	else if (rc == 0)
		rc = section_head_setting_put(r, b, e);
	buf_clear(b);
	if (rc == 0)
		rc = model_best_put(b, r->store, &r->aims, PAGE_DIGITS, e);
	if (rc == 0 && b->len > 0)
		section_head_fact(&r->h, "Noise", b);
	buf_clear(b);
	if (rc == 0)
		rc = contest_text_put(b, r->store, PAGE_DIGITS, e);
	if (rc == 0 && b->len > 0)
		section_head_fact(&r->h, "Confirmed", b);
	return rc == 0 ? section_head_left_put(r, b, e) : rc;
}

/* The best trial's parameters, each with all its digits. */
static int
section_head_params_put(struct page *r, struct err *e)
{
	const struct json *m;
	struct json_doc *doc;
	struct store_rows *rows;
	struct buf b = { 0 };
	int rc;

	if (r->best == r->n)
		return 0;
	rc = rows_first(&rows, r->store, "SELECT params FROM best", NULL, e);
	if (rc != 1)
		return rc;
	rc = json_parse(&doc, store_rows_text(rows, 0),
	    strlen(store_rows_text(rows, 0)), NULL, false, e);
	store_rows_close(rows);
	if (rc == -1)
		return -1;
	section_begin(&r->h, "Parameters of the best trial");
	html_open(&r->h, "dl");
	for (m = json_first(json_root(doc)); m != NULL; m = json_next(m)) {
		if (json_string(m) != NULL)
			buf_puts(&b, json_string(m));
		else
			json_write(&b, m);
		html_leaf(&r->h, "dt", NULL, json_key(m));
		html_leaf(&r->h, "dd", NULL, buf_str(&b));
		buf_clear(&b);
	}
	html_close(&r->h, "dl");
	section_end(&r->h);
	json_free(doc);
	buf_free(&b);
	return 0;
}

/* The estimated savings and their uncertainty. */
static int
saved_put(struct page *r, struct buf *b, struct err *e)
{
	int64_t spared;

	if (status_put_savings(b, r->store, e) != 0 ||
	    page_data_count(r,
		"SELECT count(DISTINCT trial) FROM stops WHERE "
		"verdict = 'suspended'",
		&spared, e) != 0)
		return -1;
	if (b->len > 0) {
		buf_puts(b, ". The steps are counted; all else is an estimate: "
			    "each stopped trial is taken to have gone on at "
			    "its own pace");
		if (spared > 0)
			buf_printf(b,
			    ". %" PRId64
			    " trial%s behind continued, because the rule would "
			    "have stopped the best trial, too",
			    spared, spared == 1 ? "" : "s");
		buf_putc(b, '.');
	}
	section_head_fact(&r->h, "Saved by stopping", b);
	if (status_put_hindsight(b, r->store, e) != 0)
		return -1;
	section_head_fact(&r->h, "In hindsight", b);
	if (status_put_presets(b, r->store, r->turn, r->turn_arg, e) != 0)
		return -1;
	section_head_fact(&r->h, "Stopping rules", b);
	if (status_put_looks(b, r->store, e) != 0)
		return -1;
	section_head_fact(&r->h, "Second looks", b);
	if (status_put_costs(b, r->store, r->study->limits.cost, e) != 0)
		return -1;
	section_head_fact(&r->h, "Cost", b);
	if (status_put_likely(b, r->store, &r->row, e) != 0)
		return -1;
	section_head_fact(&r->h, "Cost in the end", b);
	if (status_put_usage(b, r->store, e) != 0)
		return -1;
	section_head_fact(&r->h, "Used", b);
	return 0;
}

static void
section_head_doubt_put(void *arg, const char *text)
{
	struct page *r = arg;
	struct buf b = { 0 };

	buf_puts(&b, text);
	section_head_fact(&r->h, "Doubt", &b);
	buf_free(&b);
}

/* A state that will change is shown with its time. */
static void
state_put(struct page *r, struct buf *b)
{
	time_t now = (time_t)r->now;
	char text[32];
	struct tm tm;

	buf_puts(b, study_state_name(r->row.state));
	if (r->row.why != NULL && r->row.state != STUDY_RUNNING &&
	    strcmp(r->row.why, study_state_name(r->row.state)) != 0)
		buf_printf(b, ": %s", r->row.why);
	if (now > 0 && gmtime_r(&now, &tm) != NULL &&
	    strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &tm) > 0)
		buf_printf(b, ", as of %s", text);
	else if (r->row.state == STUDY_RUNNING || r->row.state == STUDY_PAUSED)
		buf_puts(
		    b, ", but no server runs it: hpotune start resumes it");
	section_head_fact(&r->h, "State", b);
}

/* The curve of a trial in a cell, without axes. */
static int
section_head_spark_put(struct page *r, int64_t trial, struct err *e)
{
	struct axis x = {
		.kind = AXIS_COUNT, .from = 1, .to = SPARK_WIDTH - 1
	};
	struct axis y = {
		.kind = AXIS_LINEAR, .from = SPARK_HEIGHT - 2, .to = 2
	};
	struct chart c = { .h = &r->h };
	struct sparkline s = { 0 };
	struct buf d = { 0 };
	struct decimate_line line = { .d = &d, .column = 1 };
	double *values;
	size_t i;

	if (rows_curve_of_trial(&s, r->store, trial, SPARK_PARTS, e) != 0)
		return -1;
	values = xcalloc(s.n + 1, sizeof *values);
	for (i = 0; i < s.n; i++)
		values[i] = s.values[i];
	axis_fit(&y, values, s.n);
	free(values);
	x.low = s.n > 0 ? (double)s.steps[0] : 0;
	x.high = s.n > 0 ? (double)s.steps[s.n - 1] : 1;
	if (!(x.high > x.low))
		x.high = x.low + 1;
	for (i = 0; i < s.n; i++)
		decimate_line_add(&line, axis_at(&x, (double)s.steps[i]),
		    isfinite(s.values[i]) ? axis_at(&y, s.values[i]) : NAN);
	decimate_line_end(&line);
	html_open(&r->h, "td");
	if (d.len > 0) {
		html_open(&r->h, "svg");
		html_attr(&r->h, "xmlns", "http://www.w3.org/2000/svg");
		html_attr(&r->h, "class", "spark");
		html_attrf(
		    &r->h, "viewBox", "0 0 %d %d", SPARK_WIDTH, SPARK_HEIGHT);
		html_attr(&r->h, "aria-hidden", "true");
		chart_path(&c, "top", &d);
		html_close(&r->h, "svg");
	}
	html_text(&r->h, NULL);
	html_close(&r->h, "td");
	sparkline_free(&s);
	return 0;
}

static void
section_head_column_put(struct html *h, const char *text, bool number)
{
	html_open(h, "th");
	html_attr(h, "scope", "col");
	if (number)
		html_attr(h, "class", "n");
	html_text(h, text);
	html_close(h, "th");
}

/* The trials that run, each with its curve; those that began last are first. */
static int
section_head_running_put(struct page *r, struct err *e)
{
	static const struct section_column columns[] = { { "trial",
							     COLUMN_NUMBER },
		{ "runs", COLUMN_WORD }, { "step", COLUMN_NUMBER },
		{ "value", COLUMN_NUMBER }, { "seconds", COLUMN_NUMBER } };
	enum { COLUMNS = sizeof columns / sizeof *columns };
	struct store_rows *rows;
	size_t i, n = 0;
	char *sql;
	int rc;

	sql = xasprintf(
	    "SELECT trial, state, nullif(step, -1), (SELECT value FROM "
	    "last_reports AS l WHERE l.trial = t.trial AND l.name = %s), %s "
	    "FROM trials AS t WHERE state IN ('starting', 'running', "
	    "'stopping') ORDER BY trial DESC LIMIT %d",
	    STORE_SQL_METRIC, r->now > 0 ? ROWS_SECONDS("t") : "t.seconds",
	    RUNNING);
	rc = store_rows_open(&rows, r->store, sql, NULL, e);
	free(sql);
	if (rc != 0)
		return -1;
	while ((rc = store_rows_next(rows, e)) == 1) {
		if (n++ == 0) {
			html_open(&r->h, "div");
			html_attr(&r->h, "class", "wide");
			html_open(&r->h, "table");
			html_attr(&r->h, "class", "now");
			html_open(&r->h, "thead");
			html_open(&r->h, "tr");
			for (i = 0; i < COLUMNS; i++)
				section_head_column_put(&r->h,
				    i == 3 ? r->study->metric : columns[i].head,
				    columns[i].kind == COLUMN_NUMBER);
			section_head_column_put(&r->h, "curve", false);
			html_close(&r->h, "tr");
			html_close(&r->h, "thead");
			html_open(&r->h, "tbody");
		}
		html_open(&r->h, "tr");
		html_attr(&r->h, "data-trial", store_rows_text(rows, 0));
		section_cells(r, rows, columns, 0, COLUMNS);
		if (section_head_spark_put(r, store_rows_int(rows, 0), e) !=
		    0) {
			rc = -1;
			break;
		}
		html_close(&r->h, "tr");
	}
	store_rows_close(rows);
	if (n > 0 && rc == 0) {
		html_close(&r->h, "tbody");
		html_close(&r->h, "table");
		html_close(&r->h, "div");
	}
	return rc;
}

/* How many failed, with the newest reason. */
static int
section_head_failed_put(struct page *r, struct buf *b, struct err *e)
{
	struct store_rows *rows;
	int rc;

	if (r->counts[TRIAL_FAILED] == 0)
		return 0;
	rc = rows_first(&rows, r->store,
	    "SELECT trial, why FROM trials WHERE state = 'failed' AND NOT "
	    "forgotten ORDER BY ended DESC LIMIT 1",
	    NULL, e);
	if (rc != 1)
		return rc;
	buf_printf(b, "%" PRId64 "; the last one is trial %s: %s",
	    r->counts[TRIAL_FAILED], store_rows_text(rows, 0),
	    store_rows_null(rows, 1) ? "no reason is known"
				     : store_rows_text(rows, 1));
	store_rows_close(rows);
	section_head_fact(&r->h, "Failed", b);
	return 0;
}

static int
section_head_put(struct page *r, struct err *e)
{
	struct html *h = &r->h;
	struct buf b = { 0 };
	int rc;

	html_open(h, "header");
	html_leaf(h, "h1", NULL, r->row.name);
	objectives_put_goals(&b, &r->aims);
	html_leaf(h, "p", "sub", buf_str(&b));
	buf_clear(&b);
	if (r->study->description != NULL)
		html_leaf(h, "p", NULL, r->study->description);
	html_open(h, "dl");
	state_put(r, &b);
	section_head_counts_put(r, &b);
	time_left_put(r, &b);
	rc = section_head_best_put(r, &b, e);
	if (rc == 0)
		rc = section_head_failed_put(r, &b, e);
	if (rc == 0)
		rc = status_doubts(r->store, section_head_doubt_put, r, e);
	html_close(h, "dl");
	if (rc == 0)
		rc = section_head_running_put(r, e);
	html_close(h, "header");
	buf_free(&b);
	return rc;
}

const struct page_section section_head = { "head", section_head_put };

/* What is asked less often: what was saved and spent, and how it searches. */
static int
section_about_put(struct page *r, struct err *e)
{
	struct html *h = &r->h;
	struct buf b = { 0 };
	int rc;

	section_begin(h, "What it took");
	html_open(h, "dl");
	rc = saved_put(r, &b, e);
	buf_printf(&b, "%s, seed %" PRIu64, r->row.strategy, r->row.seed);
	section_head_fact(h, "Strategy", &b);
	buf_puts(&b, r->row.rule);
	section_head_fact(h, "Stopping rule", &b);
	if (rc == 0)
		rc = times_put(r, &b, e);
	html_close(h, "dl");
	section_end(h);
	if (rc == 0)
		rc = section_head_params_put(r, e);
	buf_free(&b);
	return rc;
}

const struct page_section section_about = { "about", section_about_put };
