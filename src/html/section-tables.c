/* Tables: the best trials, stops, failures, notes and tags, warnings. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/html/section.h"
#include "src/model/study/study.h"
#include "src/view/rows.h"

/* Attempts that failed; a trial may keep its value at max_run. */
#define NOT_WELL                                          \
	"end_class NOT IN ('ok', 'stopped', 'user') AND " \
	"(end_class <> 'timeout' OR trial IN "            \
	"(SELECT trial FROM trials WHERE state = 'failed'))"

/* The best trials beside each other when each has many parameters. */
enum { BESIDE = 8 };

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

/* "The newest 25 of 123." below a table that is cut. */
static void
more_note_put(struct page *r, int64_t all, size_t shown, const char *which)
{
	if ((size_t)all > shown)
		section_note(
		    &r->h, "%s %zu of %" PRId64 ".", which, shown, all);
}

/*
 * The condition for trials that may be the best, or for all when there are
 * none.
 */
static char *
best_sql(const struct page *r, bool all, bool cost)
{
	return xasprintf(
	    "SELECT trial, state, objective, step, seconds, %sparams "
	    "FROM trials WHERE forgotten = 0 AND "
	    "objective BETWEEN -1.7976931348623157e308 AND "
	    "1.7976931348623157e308 AND (%d OR (state = 'completed' AND "
	    "NOT EXISTS (SELECT 1 FROM outcomes WHERE "
	    "outcomes.trial = trials.trial AND violation > 0))) "
	    "ORDER BY objective %s, trial LIMIT %d",
	    cost ? "cost, " : "", all, r->study->maximize ? "DESC" : "ASC",
	    PAGE_ROWS);
}

static int
section_tables_best_put(struct page *r, struct err *e)
{
	struct section_column columns[] = { { "trial", COLUMN_NUMBER },
		{ "state", COLUMN_TEXT }, { r->study->metric, COLUMN_NUMBER },
		{ "step", COLUMN_NUMBER }, { "seconds", COLUMN_NUMBER },
		{ "cost", COLUMN_NUMBER }, { "parameters", COLUMN_PARAMS } };
	size_t n = COUNT(columns), i, shown, counting = 0;
	int64_t cost;
	char *sql;
	int rc;

	if (r->aims.several || r->with_value == 0)
		return 0;
	if (page_data_count(r, "SELECT cost > 0 FROM study", &cost, e) != 0)
		return -1;
	if (cost == 0) {
		columns[n - 2] = columns[n - 1];
		n--;
	}
	for (i = 0; i < r->n; i++)
		counting += page_data_is_candidate(&r->trials[i]);
	section_begin(&r->h, "Best trials");
	sql = best_sql(r, counting == 0, cost != 0);
	rc = section_params_part(r)
		 ? section_table(r, sql, columns, n, &shown, e)
		 : section_table_turned(r, sql, columns, n, BESIDE, &shown, e);
	free(sql);
	if (rc == -1)
		return -1;
	if (counting == 0)
		section_note(&r->h,
		    "No trial has completed%s: these are the best others.",
		    r->aims.constraints ? " and kept all constraints" : "");
	else if (counting > shown)
		section_note(&r->h, "The best %zu of %zu.", shown, counting);
	section_end(&r->h);
	return 0;
}

const struct page_section section_best = { "best", section_tables_best_put };

/* Judgements of one rule with one verdict. */
struct verdicts {
	char *rule, *verdict;
	int64_t judgements, trials;
	unsigned char *seen; /* a bit for each trial of the page */
};

enum { VERDICTS = 20 /* rows at most */ };

struct stops {
	struct verdicts *of;
	size_t n, cap;
	int64_t all, shown; /* shown: those that are not suspended */
};

/* What is known of this rule with this verdict; the newest is the likeliest. */
static struct verdicts *
verdicts_find(struct stops *s, const struct page *r, const char *rule,
    const char *verdict)
{
	size_t i;

	for (i = s->n; i-- > 0;)
		if (strcmp(s->of[i].verdict, verdict) == 0 &&
		    strcmp(s->of[i].rule, rule) == 0)
			return &s->of[i];
	XGROW(s->of, s->n, s->cap);
	s->of[s->n] = (struct verdicts){ .rule = xstrdup(rule),
		.verdict = xstrdup(verdict),
		.seen = xcalloc(r->n / 8 + 1, 1) };
	return &s->of[s->n++];
}

/* All judgements, in one walk: to group them by SQL takes three times as long. */
static int
stops_count(struct stops *s, struct page *r, struct err *e)
{
	struct store_rows *rows;
	struct verdicts *v;
	const char *verdict;
	size_t at;
	int rc;

	if (store_rows_open(&rows, r->store,
		"SELECT trial, rule, verdict FROM stops", NULL, e) != 0)
		return -1;
	while ((rc = store_rows_next(rows, e)) == 1) {
		verdict = store_rows_text(rows, 2);
		v = verdicts_find(s, r, store_rows_text(rows, 1), verdict);
		s->all++;
		s->shown += strcmp(verdict, "suspended") != 0;
		v->judgements++;
		at = (size_t)store_rows_int(rows, 0) - 1;
		if (at < r->n && (v->seen[at / 8] >> at % 8 & 1) == 0) {
			v->seen[at / 8] |= (unsigned char)(1 << at % 8);
			v->trials++;
		}
	}
	store_rows_close(rows);
	return rc;
}

/* The most frequent first; equals by their names. */
static int
verdicts_compare(const void *a, const void *b)
{
	const struct verdicts *x = a, *y = b;
	int order;

	if (x->judgements != y->judgements)
		return x->judgements > y->judgements ? -1 : 1;
	order = strcmp(x->rule, y->rule);
	return order != 0 ? order : strcmp(x->verdict, y->verdict);
}

static void
stops_free(struct stops *s)
{
	size_t i;

	for (i = 0; i < s->n; i++) {
		free(s->of[i].rule);
		free(s->of[i].verdict);
		free(s->of[i].seen);
	}
	free(s->of);
}

static void
stops_counts_put(struct page *r, struct stops *s)
{
	static const struct section_column heads[] = { { "rule", COLUMN_TEXT },
		{ "verdict", COLUMN_TEXT }, { "judgements", COLUMN_NUMBER },
		{ "trials", COLUMN_NUMBER }, { "meaning", COLUMN_TEXT } };
	struct html *h = &r->h;
	const struct verdicts *v;
	char text[32];
	size_t i;

	qsort(s->of, s->n, sizeof *s->of, verdicts_compare);
	section_rows_open(r, heads, COUNT(heads));
	for (i = 0; i < s->n && i < VERDICTS; i++) {
		v = &s->of[i];
		html_open(h, "tr");
		html_leaf(h, "td", NULL, v->rule);
		html_leaf(h, "td", NULL, v->verdict);
		(void)snprintf(text, sizeof text, "%" PRId64, v->judgements);
		html_leaf(h, "td", "n", text);
		(void)snprintf(text, sizeof text, "%" PRId64, v->trials);
		html_leaf(h, "td", "n", text);
		html_leaf(h, "td", NULL, section_verdict(v->verdict));
		html_close(h, "tr");
	}
	section_rows_close(r);
}

static int
stops_put(struct page *r, struct err *e)
{
	static const struct section_column columns[] = {
		{ "trial", COLUMN_NUMBER }, { "step", COLUMN_NUMBER },
		{ "rule", COLUMN_TEXT }, { "verdict", COLUMN_TEXT },
		{ "value", COLUMN_NUMBER }, { "threshold", COLUMN_NUMBER },
		{ "pool", COLUMN_NUMBER }, { "why", COLUMN_TEXT }
	};
	struct stops s = { 0 };
	char sql[400];
	size_t n;
	int rc = stops_count(&s, r, e);

	if (rc != 0 || s.all == 0) {
		stops_free(&s);
		return rc;
	}
	section_begin(&r->h, "Stops");
	stops_counts_put(r, &s);
	/* Rows come as they were recorded; the time of each would be dear. */
	(void)snprintf(sql, sizeof sql,
	    "SELECT trial, step, rule, verdict, value, threshold, pool, why "
	    "FROM (SELECT * FROM stops WHERE verdict <> 'suspended' "
	    "LIMIT %d OFFSET %" PRId64 ") ORDER BY time DESC, trial DESC",
	    PAGE_ROWS, s.shown > PAGE_ROWS ? s.shown - PAGE_ROWS : 0);
	rc = section_table(r, sql, columns, COUNT(columns), &n, e);
	if (rc == 0) {
		more_note_put(r, s.shown, n, "The newest");
		section_end(&r->h);
	}
	stops_free(&s);
	return rc;
}

const struct page_section section_stops = { "stops", stops_put };

/* Failed trials by class and reason; then attempts that were retried. */
static int
failures_put(struct page *r, struct err *e)
{
	static const struct section_column failed[] = { { "class",
							    COLUMN_TEXT },
		{ "trials", COLUMN_NUMBER }, { "first", COLUMN_NUMBER },
		{ "last", COLUMN_NUMBER }, { "why", COLUMN_TEXT } };
	static const struct section_column classes[] = { { "class",
							     COLUMN_TEXT },
		{ "attempts", COLUMN_NUMBER }, { "trials", COLUMN_NUMBER } };
	char sql[400];
	int64_t bad;
	size_t n;

	if (page_data_count(r, "SELECT count(*) FROM attempts WHERE " NOT_WELL,
		&bad, e) != 0)
		return -1;
	if (bad == 0 && r->counts[TRIAL_FAILED] == 0)
		return 0;
	section_begin(&r->h, "Failures");
	(void)snprintf(sql, sizeof sql,
	    "SELECT (SELECT end_class FROM attempts WHERE "
	    "attempts.trial = trials.trial ORDER BY attempt DESC LIMIT 1) "
	    "AS class, count(*) AS n, min(trial), max(trial), why "
	    "FROM trials WHERE state = 'failed' GROUP BY class, why "
	    "ORDER BY n DESC, 3 LIMIT %d",
	    PAGE_ROWS);
	if (section_table(r, sql, failed, COUNT(failed), &n, e) != 0)
		return -1;
	if (n == PAGE_ROWS)
		section_note(
		    &r->h, "No more than %d reasons are shown.", PAGE_ROWS);
	html_leaf(&r->h, "h3", NULL, "Attempts that did not end well");
	if (section_table(r,
		"SELECT end_class, count(*) AS n, count(DISTINCT trial) "
		"FROM attempts WHERE " NOT_WELL " GROUP BY end_class "
		"ORDER BY n DESC",
		classes, COUNT(classes), &n, e) != 0)
		return -1;
	section_end(&r->h);
	return 0;
}

const struct page_section section_failures = { "failures", failures_put };

/*
 * A section with one table: the newest rows that sql lists, of those that all
 * counts; nothing when there are none.
 */
static int
newest_put(struct page *r, const char *title, const char *all, const char *sql,
    const struct section_column *columns, size_t n, struct err *e)
{
	int64_t some;

	if (page_data_count(r, all, &some, e) != 0)
		return -1;
	if (some == 0)
		return 0;
	section_begin(&r->h, title);
	if (section_table(r, sql, columns, n, &n, e) != 0)
		return -1;
	more_note_put(r, some, n, "The newest");
	section_end(&r->h);
	return 0;
}

static int
section_tables_notes_put(struct page *r, struct err *e)
{
	static const struct section_column columns[] = { { "trial",
							     COLUMN_NUMBER },
		{ "state", COLUMN_TEXT }, { "objective", COLUMN_NUMBER },
		{ "tags", COLUMN_TEXT }, { "note", COLUMN_TEXT } };
	char sql[400];

	(void)snprintf(sql, sizeof sql,
	    "SELECT trial, state || iif(forgotten, ', forgotten', ''), "
	    "objective, tags, note FROM trials WHERE note IS NOT NULL OR "
	    "tags IS NOT NULL OR forgotten = 1 ORDER BY trial DESC LIMIT %d",
	    PAGE_ROWS);
	return newest_put(r, "Notes and tags",
	    "SELECT count(*) FROM (SELECT trial FROM notes UNION "
	    "SELECT trial FROM tags UNION "
	    "SELECT trial FROM trials WHERE forgotten = 1)",
	    sql, columns, COUNT(columns), e);
}

const struct page_section section_notes = { "notes", section_tables_notes_put };

static int
events_put(struct page *r, struct err *e)
{
	static const struct section_column columns[] = { { "time",
							     COLUMN_WORD },
		{ "level", COLUMN_TEXT }, { "area", COLUMN_TEXT },
		{ "trial", COLUMN_NUMBER }, { "text", COLUMN_TEXT } };
	char sql[300];

	(void)snprintf(sql, sizeof sql,
	    "SELECT replace(substr(time, 1, 19), 'T', ' '), level, area, "
	    "trial, text FROM events WHERE level IN ('error', 'warning') "
	    "ORDER BY time DESC LIMIT %d",
	    PAGE_ROWS);
	return newest_put(r, "Warnings and errors",
	    "SELECT count(*) FROM events WHERE level IN ('error', 'warning')",
	    sql, columns, COUNT(columns), e);
}

const struct page_section section_events = { "events", events_put };
