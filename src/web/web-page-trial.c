/* The page of one trial, and its line. */

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/file.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/base/text.h"
#include "src/html/section.h"
#include "src/model/space.h"
#include "src/model/study/study.h"
#include "src/store/queries.h"
#include "src/store/store.h"
#include "src/study-files/attempt-log.h"
#include "src/view/rows.h"
#include "src/view/shell-word.h"
#include "src/web/studies/web-studies.h"
#include "src/web/web-access.h"
#include "src/web/web-address.h"
#include "src/web/web-database.h"
#include "src/web/web-page.h"
#include "src/web/web-zoom.h"

enum {
	COLUMNS = 12,
	BEFORE = 16384 /* bytes of what a job wrote before */
};
#define JUDGEMENTS "Judgements"

/* A table of rows about one trial. */
struct part {
	const char *title;
	const char *sql; /* %1$ is the trial's number */
	struct section_column columns[COLUMNS];
};

static const struct part parts[] = {
	{ "Attempts",
	    "SELECT attempt, backend, place, state, end_class, "
	    "replace(substr(started, 1, 19), 'T', ' '), seconds, exit_code, "
	    "signal, resumed_step, cost FROM attempts WHERE trial = %" PRId64
	    " ORDER BY attempt LIMIT 200",
	    { { "attempt", COLUMN_NUMBER }, { "backend", COLUMN_WORD },
		{ "place", COLUMN_TEXT }, { "state", COLUMN_WORD },
		{ "end", COLUMN_WORD }, { "started", COLUMN_WORD },
		{ "seconds", COLUMN_NUMBER }, { "exit", COLUMN_NUMBER },
		{ "signal", COLUMN_NUMBER }, { "from step", COLUMN_NUMBER },
		{ "cost, $", COLUMN_NUMBER } } },
	{ "Where its attempts were started",
	    "SELECT attempt, host, version, substr(git_commit, 1, 12), "
	    "git_branch, CASE git_dirty WHEN 1 THEN 'changed' WHEN 0 THEN "
	    "'unchanged' ELSE git_why END, workdir FROM attempts "
	    "JOIN provenance USING (provenance) WHERE trial = %" PRId64
	    " ORDER BY attempt LIMIT 200",
	    { { "attempt", COLUMN_NUMBER }, { "host", COLUMN_WORD },
		{ "hpotune", COLUMN_WORD }, { "commit", COLUMN_WORD },
		{ "branch", COLUMN_WORD }, { "files", COLUMN_TEXT },
		{ "workdir", COLUMN_TEXT } } },
	{ "Usage",
	    "SELECT attempt, cpus, cpu_seconds, gpus, gpu_seconds, "
	    "gpu_utilization, gpu_memory / 1048576.0, energy_joules, "
	    "download_seconds, upload_seconds FROM attempts "
	    "WHERE trial = %" PRId64 " AND coalesce(cpus, gpus, "
	    "energy_joules, download_seconds, upload_seconds) IS NOT NULL "
	    "ORDER BY attempt LIMIT 200",
	    { { "attempt", COLUMN_NUMBER }, { "CPUs", COLUMN_NUMBER },
		{ "CPU seconds", COLUMN_NUMBER }, { "GPUs", COLUMN_NUMBER },
		{ "GPU seconds", COLUMN_NUMBER },
		{ "GPU use, %", COLUMN_NUMBER },
		{ "GPU memory, MiB", COLUMN_NUMBER },
		{ "joules", COLUMN_NUMBER }, { "download, s", COLUMN_NUMBER },
		{ "upload, s", COLUMN_NUMBER } } },
	{ JUDGEMENTS,
	    "SELECT step, verdict, " SECTION_VERDICT_SQL ", rule, value, "
	    "threshold, pool, replace(substr(time, 1, 19), 'T', ' '), why "
	    "FROM stops "
	    "WHERE trial = %" PRId64 " ORDER BY step, time LIMIT 200",
	    { { "step", COLUMN_NUMBER }, { "verdict", COLUMN_WORD },
		{ "meaning", COLUMN_TEXT }, { "rule", COLUMN_WORD },
		{ "value", COLUMN_NUMBER }, { "threshold", COLUMN_NUMBER },
		{ "of trials", COLUMN_NUMBER }, { "time", COLUMN_WORD },
		{ "why", COLUMN_TEXT } } },
	{ "Metrics at their last step",
	    "SELECT name, step, value FROM last_reports WHERE "
	    "trial = %" PRId64 " ORDER BY name LIMIT 200",
	    { { "metric", COLUMN_TEXT }, { "step", COLUMN_NUMBER },
		{ "value", COLUMN_NUMBER } } },
	{ "Events",
	    "SELECT replace(substr(time, 1, 19), 'T', ' '), level, area, "
	    "attempt, text FROM events WHERE trial = %" PRId64
	    " ORDER BY time LIMIT 200",
	    { { "time", COLUMN_WORD }, { "level", COLUMN_WORD },
		{ "area", COLUMN_WORD }, { "attempt", COLUMN_NUMBER },
		{ "text", COLUMN_TEXT } } },
};

/* The number of an SQL statement with one PRId64. */
static char *
web_page_trial_sql_of(const char *sql, int64_t trial)
{
	const char *at = strstr(sql, "%" PRId64);

	return xasprintf("%.*s%" PRId64 "%s", (int)(at - sql), sql, trial,
	    at + strlen("%" PRId64));
}

static int
web_page_trial_part_put(
    struct page *r, const struct part *part, int64_t trial, struct err *e)
{
	char *sql = web_page_trial_sql_of(part->sql, trial), *count;
	size_t n = 0, shown;
	int64_t some;
	int rc;

	count = xasprintf("SELECT count(*) FROM (%s)", sql);
	rc = page_data_count(r, count, &some, e);
	while (n < COLUMNS && part->columns[n].head != NULL)
		n++;
	if (rc == 0 && some > 0) {
		section_begin(&r->h, part->title);
		rc = section_table(r, sql, part->columns, n, &shown, e);
		section_end(&r->h);
	} else if (rc == 0 && strcmp(part->title, JUDGEMENTS) == 0) {
		section_begin(&r->h, part->title);
		section_note(&r->h, "No rule has wanted to stop this trial.");
		section_end(&r->h);
	}
	free(count);
	free(sql);
	return rc;
}

static void
web_page_trial_fact(struct html *h, const char *name, const char *text)
{
	if (text == NULL || *text == '\0')
		return;
	html_leaf(h, "dt", NULL, name);
	html_leaf(h, "dd", NULL, text);
}

/* The command that runs the setting again, as a new trial. */
static void
web_page_trial_again_put(
    struct page *r, const struct web_study *s, const char *params)
{
	struct buf line = { 0 }, word = { 0 };
	struct json_doc *doc = NULL;
	const struct json *m;

	if (json_parse(&doc, params, strlen(params), NULL, false, NULL) != 0)
		return;
	buf_puts(&line, "hpotune enqueue ");
	shell_word_put(&line, s->db, SHELL_WORD_SHOWN);
	for (m = json_first(json_root(doc)); m != NULL; m = json_next(m)) {
		buf_printf(&word, "%s=", json_key(m));
		if (json_string(m) != NULL)
			buf_puts(&word, json_string(m));
		else
			json_write(&word, m);
		buf_putc(&line, ' ');
		shell_word_put(&line, buf_str(&word), SHELL_WORD_SHOWN);
		buf_clear(&word);
	}
	html_leaf(&r->h, "dt", NULL, "Runs again by");
	html_open(&r->h, "dd");
	html_leaf(&r->h, "code", NULL, buf_str(&line));
	html_close(&r->h, "dd");
	json_free(doc);
	buf_free(&line);
	buf_free(&word);
}

/* State, value, setting and reason of the trial. */
static int
web_page_trial_facts_put(
    struct page *r, const struct web_study *s, int64_t trial, struct err *e)
{
	static const char *const names[] = { "State", NULL, "Step", "Started",
		"Ended", "Seconds", "Cost", "Why", "Suggested by", "Because",
		"Its model", "Its output", "Note", "Tags", "Forgotten",
		"Outside of the space" };
	struct store_rows *rows;
	struct buf b = { 0 };
	char *sql = xasprintf(
	    "SELECT t.state, objective, step, "
	    "replace(substr(started, 1, 19), 'T', ' ') || ' UTC', "
	    "replace(substr(ended, 1, 19), 'T', ' ') || ' UTC', %s, "
	    "cost, why, coalesce(strategy, source), reason, model_uri, "
	    "output_uri, note, tags, "
	    "iif(forgotten, 'no strategy, rule or result counts it', NULL), "
	    "outside, params FROM trials AS t LEFT JOIN suggestions AS s "
	    "ON s.trial = t.trial WHERE t.trial = %" PRId64,
	    r->now > 0 ? ROWS_SECONDS("t") : "t.seconds", trial);
	int rc = rows_first(&rows, r->store, sql, NULL, e), i;

	free(sql);
	if (rc != 1)
		return rc;
	html_open(&r->h, "dl");
	for (i = 0; i < (int)(sizeof names / sizeof *names); i++) {
		if (i == 1 && !store_rows_null(rows, 1)) {
			rows_put_number(&b, store_rows_real(rows, 1), 6);
			web_page_trial_fact(
			    &r->h, r->study->metric, buf_str(&b));
			buf_clear(&b);
		} else if (i != 1)
			web_page_trial_fact(
			    &r->h, names[i], store_rows_text(rows, i));
	}
	rows_put_params(&b, store_rows_text(rows, 16), 0);
	web_page_trial_fact(&r->h, "Setting", buf_str(&b));
	web_page_trial_again_put(r, s, store_rows_text(rows, 16));
	html_close(&r->h, "dl");
	buf_free(&b);
	store_rows_close(rows);
	return 0;
}

/* Where the trial has its output, its checkpoints and its attempts. */
static int
web_page_trial_folder_put(struct page *r, const struct web_study *s,
    int64_t trial, int64_t attempt, struct err *e)
{
	char *sql = xasprintf("SELECT log FROM attempts WHERE trial = %" PRId64
			      " AND attempt = %" PRId64,
	    trial, attempt);
	struct store_rows *rows;
	char *path, *end;
	int i, rc = rows_first(&rows, r->store, sql, NULL, e);

	free(sql);
	if (rc != 1)
		return rc;
	path = attempt_log_path(
	    s->db, s->db_dir, trial, (int)attempt, store_rows_text(rows, 0), 0);
	store_rows_close(rows);
	/* Without "/attempt-1/log". */
	for (i = 0; i < 2 && (end = strrchr(path, '/')) != NULL; i++)
		*end = '\0';
	html_open(&r->h, "p");
	html_attr(&r->h, "class", "note");
	html_textf(&r->h, "Its folder: %s", path);
	html_close(&r->h, "p");
	free(path);
	return 0;
}

/* What the job of an attempt wrote before its log, if it did. */
static int
web_page_trial_before_put(struct page *r, const struct web_study *s,
    int64_t trial, int64_t attempt, struct err *e)
{
	struct store_attempt row = { 0 };
	char *log, *path, bytes[BEFORE];
	struct buf text = { 0 };
	ssize_t n;

	if (store_attempt_get(r->store, trial, (int)attempt, &row, e) != 0)
		return -1;
	log =
	    attempt_log_path(s->db, s->db_dir, trial, (int)attempt, row.log, 0);
	path = attempt_log_before(row.backend, log);
	n = path != NULL ? file_read(AT_FDCWD, path, bytes, sizeof bytes) : 0;
	if (n > 0) {
		section_begin(&r->h, "What its job wrote before");
		html_open(&r->h, "pre");
		text_put_harmless(&text, bytes, (size_t)n, TEXT_LINES);
		html_text(&r->h, buf_str(&text));
		html_close(&r->h, "pre");
		section_end(&r->h);
	}
	buf_free(&text);
	free(path);
	free(log);
	store_attempt_fini(&row);
	return 0;
}

/* The log of the trial's newest attempt, which the script follows. */
static int
web_page_trial_log_put(struct page *r, const char *root,
    const struct web_study *s, int64_t trial, struct err *e)
{
	char *sql = xasprintf("SELECT max(attempt) FROM attempts WHERE "
			      "log IS NOT NULL AND trial = %" PRId64,
	    trial);
	char *rest, *address;
	int64_t attempt;
	int rc = page_data_count(r, sql, &attempt, e);

	free(sql);
	if (rc != 0 || attempt == 0)
		return rc;
	if (web_page_trial_before_put(r, s, trial, attempt, e) != 0)
		return -1;
	rest = xasprintf(
	    "/trial/%" PRId64 "/log?attempt=%" PRId64, trial, attempt);
	address = web_page_address(root, s->id, rest);
	section_begin(&r->h, "Log");
	html_open(&r->h, "pre");
	html_attr(&r->h, "class", "log");
	html_attr(&r->h, "tabindex", "0");
	html_attr(&r->h, "data-log", address);
	html_text(&r->h, "");
	html_close(&r->h, "pre");
	html_open(&r->h, "p");
	html_attr(&r->h, "class", "note");
	web_page_link(&r->h, address, "the end of the log as text");
	html_close(&r->h, "p");
	rc = web_page_trial_folder_put(r, s, trial, attempt, e);
	section_end(&r->h);
	free(address);
	free(rest);
	return rc;
}

static void
web_page_trial_steps_put(
    struct page *r, const char *root, const struct web_study *s, int64_t trial)
{
	struct html *h = &r->h;
	char *address, *rest;
	int i;

	html_open(h, "p");
	html_attr(h, "class", "note");
	for (i = -1; i <= 1; i += 2) {
		if (trial + i < 1 || (uint64_t)(trial + i) > r->n)
			continue;
		if (i > 0 && trial > 1)
			html_text(h, "\xc2\xb7 ");
		rest = xasprintf("/trial/%" PRId64, trial + i);
		address = web_page_address(root, s->id, rest);
		web_page_link(
		    h, address, i < 0 ? "trial before" : "trial after");
		html_text(h, " ");
		free(address);
		free(rest);
	}
	html_close(h, "p");
}

/* What the state of the trial allows. */
static int
web_page_trial_buttons_put(struct page *r, const char *number, struct err *e)
{
	char *sql = xasprintf("SELECT state, forgotten "
			      "FROM trials WHERE trial = %s",
	    number);
	enum trial_state state = TRIAL_COMPLETED;
	struct store_rows *rows;
	struct html *h = &r->h;
	int rc = rows_first(&rows, r->store, sql, NULL, e);

	free(sql);
	if (rc != 1)
		return rc;
	(void)trial_state_parse(store_rows_text(rows, 0), &state);
	html_open(h, "p");
	html_attr(h, "class", "buttons");
	if (!trial_state_final(state) && r->now > 0)
		web_page_button(h, "stop", number, "Stop this trial",
		    "The trial gets its grace time for a checkpoint and ends "
		    "as stopped. Stop it?");
	if (store_rows_int(rows, 1) > 0)
		web_page_button(h, "count", number, "Count it again", NULL);
	else if (trial_state_final(state)) {
		if (state != TRIAL_COMPLETED)
			web_page_button(h, "retry", number, "Retry it",
			    "The trial gets another attempt, from its "
			    "checkpoint if it has one. Retry it?");
		web_page_button(h, "forget", number, "Forget it",
		    "The trial stays recorded, and no strategy, rule or "
		    "result counts it. Forget it?");
	}
	html_close(h, "p");
	store_rows_close(rows);
	return 0;
}

static void
web_page_trial_input_put(struct html *h, const char *action, const char *value,
    const char *holder, const char *label)
{
	html_open(h, "input");
	html_attr(h, "data-words", action);
	if (strcmp(action, "note") != 0) /* an empty one removes the note */
		html_attr(h, "required", "required");
	html_attr(h, "value", value);
	html_attr(h, "placeholder", holder);
	html_attr(h, "aria-label", label);
	html_close(h, "input");
}

/*
 * The note and the tags of a trial, outside of what is replaced when it
 * changes.
 */
static int
web_page_trial_words_put(struct page *r, const char *number, struct err *e)
{
	char *sql = xasprintf(
	    "SELECT coalesce(note, '') FROM trials WHERE trial = %s", number);
	struct store_rows *rows;
	struct html *h = &r->h;
	int rc = rows_first(&rows, r->store, sql, NULL, e);

	free(sql);
	if (rc != 1)
		return rc;
	html_open(h, "p");
	html_attr(h, "class", "buttons");
	web_page_trial_input_put(h, "note", store_rows_text(rows, 0),
	    "a note about the trial", "note about the trial");
	web_page_button(h, "note", number, "Save the note", NULL);
	web_page_trial_input_put(h, "tag", "",
	    "tags: good, or -good to take it away", "tags of the trial");
	web_page_button(h, "tag", number, "Tag", NULL);
	html_close(h, "p");
	store_rows_close(rows);
	return 0;
}

static int
web_page_trial_put(struct page *r, const struct web_access *access,
    const struct web_study *s, const struct web_address *a, size_t at,
    struct err *e)
{
	int64_t trial = r->trials[at].number;
	char number[32], *title;
	char *address = web_page_address(a->root, s->id, "");
	char *live = web_page_address(a->root, s->id, "/live");
	size_t i;
	int rc;

	(void)snprintf(number, sizeof number, "%" PRId64, trial);
	title = xasprintf("trial %s of %s", number, s->id);
	web_page_begin(&r->h, access, a->root, title, live,
	    (struct web_step[]){
		{ "studies", a->root }, { s->id, address }, { title, NULL } },
	    3);
	free(live);
	html_leaf(&r->h, "h1", NULL, title);
	html_open(&r->h, "div");
	html_attr(&r->h, "id", "part-trial");
	html_attr(&r->h, "data-trial", number);
	rc = access->read_only ? 0 : web_page_trial_buttons_put(r, number, e);
	if (rc == 0)
		rc = web_page_trial_facts_put(r, s, trial, e);
	if (rc == 0)
		rc = section_trial_curves(r, &at, 1, e);
	if (rc == 0)
		web_zoom_put(r, "curves", a);
	if (rc == 0)
		rc = section_trial_metrics(r, &at, 1, e);
	for (i = 0; rc == 0 && i < sizeof parts / sizeof *parts; i++)
		rc = web_page_trial_part_put(r, &parts[i], trial, e);
	web_page_trial_steps_put(r, a->root, s, trial);
	html_close(&r->h, "div");
	if (rc == 0 && !access->read_only)
		rc = web_page_trial_words_put(r, number, e);
	if (rc == 0)
		rc = web_page_trial_log_put(r, a->root, s, trial, e);
	web_page_end(&r->h);
	free(title);
	free(address);
	return rc == -1 ? -1 : 0;
}

int
web_page_trial(struct buf *out, const struct web_access *access,
    const struct web_study *s, const struct web_address *address, struct err *e)
{
	struct page r;
	size_t at;
	int rc;

	rc = web_database_open(&r, address->root, s, e);
	web_zoom_read(&r, address);
	if (rc == 0)
		rc = web_database_trial(&at, &r, address->trial, e);
	if (rc == 0)
		rc = web_page_trial_put(&r, access, s, address, at, e);
	if (rc == 0)
		buf_add(out, r.h.out.data, r.h.out.len);
	web_database_close(&r);
	return rc;
}

/* Read from the row alone: it is asked for at each movement of the mouse. */
int
web_page_trial_line(struct buf *out, const struct web_study *s,
    const struct web_address *address, struct err *e)
{
	struct store *store;
	struct store_rows *rows;
	char *sql;
	int rc;

	if (store_open(&store, s->db, STORE_READ, e) != 0)
		return -1;
	sql = xasprintf("SELECT state, objective, params, " STORE_SQL_METRIC
			" FROM trials WHERE trial = %" PRId64,
	    address->trial);
	rc = rows_first(&rows, store, sql, NULL, e);
	if (rc == 1) {
		buf_printf(out, "trial %" PRId64 ", %s: %s ", address->trial,
		    store_rows_text(rows, 0), store_rows_text(rows, 3));
		rows_put_number(out, rows_real(rows, 1), 6);
		buf_putc(out, '\n');
		rows_put_params(out, store_rows_text(rows, 2), 5);
		store_rows_close(rows);
	} else if (rc == 0)
		rc = err_set(
		    e, ERR_USAGE, "there is no trial %" PRId64, address->trial);
	free(sql);
	store_close(store);
	return rc == -1 ? -1 : 0;
}
