/*
 * What a report costs, in steps of SQLite's virtual machine and in bytes: counts,
 * which no load of the machine changes.  A path that becomes dearer fails here.
 */

#include <sqlite3.h>
#include <stddef.h>

#include "src/store/store-internal.h"
#include "src/view/rows.h"
#include "src/view/sparkline.h"
#include "src/view/status.h"
#include "tests/support/store-fixture.h"

static struct err e;

static int
on_step(void *arg)
{
	++*(int64_t *)arg;
	return 0;
}

/* From here on *steps counts. */
static void
count(struct store *s, int64_t *steps)
{
	*steps = 0;
	sqlite3_progress_handler(s->db, 1, on_step, steps);
}

static int64_t
number(struct store *s, const char *sql)
{
	char *text = fixture_query(s, sql);
	int64_t n = strtoll(text, NULL, 10);

	free(text);
	return n;
}

static void
at_most(int64_t n, double most, const char *what)
{
	if (!ok((double)n <= most, "%s: at most %g", what, most))
		printf("# %lld\n", (long long)n);
}

/* A trial of n reports, each_turn of them a turn, that has ended if told. */
static void
trial_report(
    struct store *s, int64_t trial, int64_t n, int64_t each_turn, bool end)
{
	static const enum trial_state running[] = { TRIAL_STARTING,
		TRIAL_RUNNING, TRIAL_STATES };
	struct store_trial t = fixture_trial(trial, TRIAL_WAITING);
	int64_t i;

	must(store_begin(s, &e), &e);
	must(store_trial_add(s, &t, &e), &e);
	fixture_walk(s, &t, running);
	for (i = 1; i <= n; i++) {
		must(
		    store_metric_add(s, trial, 1, "acc", i,
			(double)(i % 97) / 97, T0 + i / each_turn * SECOND, &e),
		    &e);
		must(store_median_put(s, i, trial, 0.5, &e), &e);
		if (i % each_turn != 0)
			continue;
		must(store_commit(s, false, &e), &e);
		must(store_begin(s, &e), &e);
	}
	t.last_step = t.reports = n;
	t.objective = 0.5;
	t.state = end ? TRIAL_COMPLETED : TRIAL_RUNNING;
	must(store_trial_put(s, &t, &e), &e);
	must(store_commit(s, false, &e), &e);
}

static int
on_record(void *arg, const struct store_record *r)
{
	(void)arg;
	(void)r;
	return 0;
}

/* Without the medians, which are a row of each step. */
static int64_t
report_steps(struct store *s, int64_t trial, int64_t n, int64_t each_turn)
{
	static const enum trial_state running[] = { TRIAL_STARTING,
		TRIAL_RUNNING, TRIAL_STATES };
	struct store_trial t = fixture_trial(trial, TRIAL_WAITING);
	int64_t i, steps;

	must(store_begin(s, &e), &e);
	must(store_trial_add(s, &t, &e), &e);
	fixture_walk(s, &t, running);
	must(store_commit(s, false, &e), &e);
	count(s, &steps);
	for (i = 1; i <= n; i++) {
		if (i % each_turn == 1 % each_turn)
			must(store_begin(s, &e), &e);
		must(
		    store_metric_add(s, trial, 1, "acc", i,
			(double)(i % 97) / 97, T0 + i / each_turn * SECOND, &e),
		    &e);
		if (i % each_turn == 0)
			must(store_commit(s, false, &e), &e);
	}
	must(store_begin(s, &e), &e);
	t.last_step = t.reports = n;
	t.state = TRIAL_COMPLETED;
	must(store_trial_put(s, &t, &e), &e);
	must(store_commit(s, false, &e), &e);
	return steps;
}

static void
test_reports(void)
{
	struct store *s = fixture_create("reports.db", true);
	int64_t before = number(s, "PRAGMA page_count"), steps, pages, more;

	steps = report_steps(s, 1, 6400, 64);
	/* As rows: 34, the copy at the end of the trial, and its pace 20 more. */
	at_most(steps, 8.0 * 6400, "steps for 6,400 reports, 64 a turn");
	pages = number(s, "PRAGMA page_count") - before;
	/* As rows and their copy: 48 each; the value is 8. */
	at_most(pages * 4096, 16.0 * 6400, "bytes");
	at_most(report_steps(s, 2, 640, 1), 200.0 * 640,
	    "steps for 640 reports, one a turn");
	more = report_steps(s, 3, 25600, 64);
	at_most(more, 4.4 * (double)steps, "steps for four times as many");
	count(s, &steps);
	must(store_walk_records(s, NULL, on_record, NULL, &e), &e);
	at_most(steps, 4.0 * (6400 + 640 + 25600), "steps for a start");
	store_close(s);
}

/* The same of a study with few reports and with many. */
static int64_t
status_steps(int64_t reports)
{
	struct store *s =
	    fixture_create(reports > 8000 ? "many.db" : "few.db", true);
	struct sparkline curve = { 0 };
	struct buf out = { 0 };
	int64_t steps, i;

	for (i = 1; i <= 4; i++)
		trial_report(s, i, reports, 100, i < 3);
	count(s, &steps);
	must(status_render(&out, s, 80, false, &e), &e);
	must(rows_curve_of_trial(&curve, s, 1, 100, &e), &e);
	must(rows_curve_of_medians(&curve, s, 500, &e), &e);
	sparkline_free(&curve);
	buf_free(&out);
	store_close(s);
	return steps;
}

static void
test_status(void)
{
	int64_t few = status_steps(8000), many = status_steps(40000);

	at_most(many, 1.3 * (double)few,
	    "steps for a status with five times the reports");
}

int
main(void)
{
	fixture_begin();
	test_reports();
	test_status();
	return fixture_end();
}
