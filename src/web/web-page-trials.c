/* Several trials of a study side by side. */

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/html/page-data.h"
#include "src/html/section.h"
#include "src/model/space.h"
#include "src/model/study/study.h"
#include "src/store/queries.h"
#include "src/store/store.h"
#include "src/view/rows.h"
#include "src/web/studies/web-studies.h"
#include "src/web/web-address.h"
#include "src/web/web-database.h"
#include "src/web/web-page.h"
#include "src/web/web-zoom.h"

enum { SIDE = 12, METRICS = 50 }; /* trials and metrics at most */

/* The value of a parameter of a trial, as text; "" when it is inactive. */
static int
web_page_trials_value_read(struct buf *out, struct page *r, size_t trial,
    const char *name, struct err *e)
{
	char number[32];
	const char *bind[] = { number, name, NULL };
	struct store_rows *rows;
	int rc;

	(void)snprintf(
	    number, sizeof number, "%" PRId64, r->trials[trial].number);
	rc = rows_first(&rows, r->store,
	    "SELECT value FROM trials, json_each(params) "
	    "WHERE trial = CAST(? AS INTEGER) AND key = ?",
	    bind, e);
	if (rc == 1) {
		buf_puts(out, store_rows_text(rows, 0));
		store_rows_close(rows);
	}
	return rc == -1 ? -1 : 0;
}

static void
web_page_trials_head_put(struct html *h, const char *scope, const char *text)
{
	html_open(h, "th");
	html_attr(h, "scope", scope);
	html_text(h, text);
	html_close(h, "th");
}

/* A row for each parameter; those that differ are marked. */
static int
web_page_trials_param_put(struct page *r, const char *name,
    const size_t *trials, size_t n, struct err *e)
{
	struct buf values[SIDE] = { { 0 } };
	bool differ = false;
	size_t i;
	int rc = 0;

	for (i = 0; i < n && rc == 0; i++) {
		rc = web_page_trials_value_read(
		    &values[i], r, trials[i], name, e);
		if (strcmp(buf_str(&values[i]), buf_str(&values[0])) != 0)
			differ = true;
	}
	html_open(&r->h, "tr");
	if (differ)
		html_attr(&r->h, "class", "differs");
	web_page_trials_head_put(&r->h, "row", name);
	for (i = 0; i < n; i++) {
		html_leaf(&r->h, "td", "n", buf_str(&values[i]));
		buf_free(&values[i]);
	}
	html_close(&r->h, "tr");
	return rc;
}

/*
 * A row for each other metric at its last step, while they are few; those that
 * differ are not marked: nearly all do.
 */
static int
web_page_trials_metrics_put(
    struct page *r, const size_t *trials, size_t n, struct err *e)
{
	int64_t *numbers = xcalloc(n + 1, sizeof *numbers);
	struct buf value = { 0 };
	struct store_rows *metrics = NULL, *rows;
	char *sql;
	const char *bind[2] = { NULL, NULL };
	size_t i;
	int rc;

	for (i = 0; i < n; i++)
		numbers[i] = r->trials[trials[i]].number;
	rc = store_list_metric_names_of(
	    &metrics, r->store, numbers, n, METRICS, e);
	while (rc == 0 && (rc = store_rows_next(metrics, e)) == 1) {
		bind[0] = store_rows_text(metrics, 0);
		html_open(&r->h, "tr");
		web_page_trials_head_put(&r->h, "row", bind[0]);
		for (i = 0, rc = 0; i < n && rc == 0; i++) {
			sql = xasprintf("SELECT value FROM last_reports WHERE "
					"name = ? AND trial = %" PRId64,
			    r->trials[trials[i]].number);
			rc = rows_first(&rows, r->store, sql, bind, e);
			free(sql);
			if (rc == 1) {
				rows_put_number(
				    &value, rows_real(rows, 0), PAGE_DIGITS);
				store_rows_close(rows);
			}
			html_leaf(&r->h, "td", "n", buf_str(&value));
			buf_clear(&value);
			rc = rc == -1 ? -1 : 0;
		}
		html_close(&r->h, "tr");
	}
	store_rows_close(metrics);
	free(numbers);
	buf_free(&value);
	return rc;
}

/* Links to the logs of the newest attempts. */
static int
web_page_trials_logs_put(struct page *r, const char *root,
    const struct web_study *s, const size_t *trials, size_t n, struct err *e)
{
	char *sql, *rest, *address;
	int64_t number, attempt = 0;
	size_t i;
	int rc = 0;

	html_open(&r->h, "tr");
	web_page_trials_head_put(&r->h, "row", "log");
	for (i = 0; i < n && rc == 0; i++) {
		number = r->trials[trials[i]].number;
		sql = xasprintf("SELECT max(attempt) FROM attempts WHERE log "
				"IS NOT NULL AND trial = %" PRId64,
		    number);
		rc = page_data_count(r, sql, &attempt, e);
		free(sql);
		rest = xasprintf(
		    "/trial/%" PRId64 "/log?attempt=%" PRId64, number, attempt);
		address = web_page_address(root, s->id, rest);
		html_open(&r->h, "td");
		html_attr(&r->h, "class", "n");
		if (attempt > 0)
			web_page_link(&r->h, address, "its end");
		html_text(&r->h, NULL);
		html_close(&r->h, "td");
		free(address);
		free(rest);
	}
	html_close(&r->h, "tr");
	return rc;
}

static int
web_page_trials_side_put(struct page *r, const char *root,
    const struct web_study *s, const size_t *trials, size_t n, struct err *e)
{
	struct buf b = { 0 };
	char *rest, *address;
	size_t i;
	int rc = 0;

	html_open(&r->h, "div");
	html_attr(&r->h, "class", "wide");
	html_open(&r->h, "table");
	html_open(&r->h, "tr");
	html_leaf(&r->h, "td", NULL, "");
	for (i = 0; i < n; i++) {
		buf_printf(&b, "trial %" PRId64, r->trials[trials[i]].number);
		rest =
		    xasprintf("/trial/%" PRId64, r->trials[trials[i]].number);
		address = web_page_address(root, s->id, rest);
		html_open(&r->h, "th");
		html_attr(&r->h, "scope", "col");
		html_attr(&r->h, "class", "n");
		web_page_link(&r->h, address, buf_str(&b));
		html_close(&r->h, "th");
		buf_clear(&b);
		free(address);
		free(rest);
	}
	html_close(&r->h, "tr");
	html_open(&r->h, "tr");
	web_page_trials_head_put(&r->h, "row", "state");
	for (i = 0; i < n; i++)
		html_leaf(&r->h, "td", "n",
		    trial_state_name(r->trials[trials[i]].state));
	html_close(&r->h, "tr");
	html_open(&r->h, "tr");
	web_page_trials_head_put(&r->h, "row", r->study->metric);
	for (i = 0; i < n; i++) {
		if (!isnan(r->trials[trials[i]].objective))
			rows_put_number(&b, r->trials[trials[i]].objective, 6);
		html_leaf(&r->h, "td", "n", buf_str(&b));
		buf_clear(&b);
	}
	html_close(&r->h, "tr");
	for (i = 0; i < r->study->space->n && rc == 0; i++)
		rc = web_page_trials_param_put(
		    r, r->study->space->params[i].name, trials, n, e);
	if (rc == 0)
		rc = web_page_trials_metrics_put(r, trials, n, e);
	if (rc == 0)
		rc = web_page_trials_logs_put(r, root, s, trials, n, e);
	html_close(&r->h, "table");
	html_close(&r->h, "div");
	buf_free(&b);
	return rc;
}

int
web_page_trials(struct buf *out, const struct web_access *access,
    const struct web_study *s, const struct web_address *address, struct err *e)
{
	char *back = web_page_address(address->root, s->id, "");
	size_t trials[SIDE], n = 0, i;
	const char *text;
	struct page r;
	int rc;

	rc = web_database_open(&r, address->root, s, e);
	web_zoom_read(&r, address);
	for (i = 0; rc == 0 && n < SIDE &&
		    (text = web_address_param(address, "trial", i)) != NULL;
	     i++) {
		rc = web_database_trial(
		    &trials[n++], &r, strtoll(text, NULL, 10), e);
	}
	if (rc == 0 && n == 0)
		rc = err_set(e, ERR_USAGE,
		    "no trial is given: s/NAME/trials?trial=1&trial=2");
	if (rc == 0) {
		web_page_begin(&r.h, access, address->root, "trials",
		    WEB_PAGE_REFETCH,
		    (struct web_step[]){ { "studies", address->root },
			{ s->id, back }, { "trials side by side", NULL } },
		    3);
		html_leaf(&r.h, "h1", NULL, "Trials side by side");
		html_open(&r.h, "div");
		html_attr(&r.h, "id", "part-side");
		rc = web_page_trials_side_put(
		    &r, address->root, s, trials, n, e);
		if (rc == 0)
			rc = section_trial_curves(&r, trials, n, e);
		if (rc == 0)
			rc = section_trial_metrics(&r, trials, n, e);
		html_close(&r.h, "div");
		if (web_address_param(address, "trial", SIDE) != NULL)
			section_note(
			    &r.h, "The first %d trials are shown.", SIDE);
		web_zoom_put(&r, "curves", address);
		web_page_end(&r.h);
	}
	if (rc == 0)
		buf_add(out, r.h.out.data, r.h.out.len);
	web_database_close(&r);
	free(back);
	return rc == -1 ? -1 : 0;
}
