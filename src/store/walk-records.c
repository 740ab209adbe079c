/*
 * Reports and ends in the order they were recorded, without sorting the table.
 *
 * The table of reports is ordered by trial.  A trial is added before its first
 * report, trials are added in the order of their numbers, and both have numbers
 * of one counter.  So only the records of trials that ran at the same time are
 * held in memory: a heap of open trials, to which the next trial is added
 * before any record younger than its start is returned.
 *
 * ORDER BY seq would do the same: for a million reports of 10,000 trials, 64 at
 * a time, it took 0.64 s where a scan in the table's own order took 0.37 s
 * (SQLite 3.40), at each start of a server.
 */

#include <math.h>
#include <stdlib.h>

#include "src/base/err.h"
#include "src/base/json/json-writer.h"
#include "src/base/mem.h"
#include "src/store/row-block.h"

struct record {
	int64_t seq;
	int64_t step;
	double value;
	enum trial_state state;
	const char *metric;
	double seconds, dollars;
};

/* One trial's records by seq; at is the next to return. */
struct run {
	int64_t trial;
	size_t n, at, cap;
	struct record *records;
};

/* The row at the cursor of each statement. */
struct trial_row {
	int64_t trial, begin_seq;
	struct record end; /* seq 0: not ended */
};
struct report_row {
	int64_t trial;
	struct record record;
};
/* An end after which the user retried the trial, or a second look came. */
struct again_row {
	int64_t trial;
	struct record before, again;
};

enum { SPARE_MAX = 4096 }; /* records that are kept for the next run */

enum again { AGAIN_RETRY, AGAIN_LOOK, AGAINS };

struct merge {
	struct row trials, reports;
	struct row again[AGAINS];
	/* the cursor is on a row */
	bool more_trials, more_reports, more_again[AGAINS];
	struct trial_row trial;
	struct report_row report; /* of a block only the trial */
	struct row_block block; /* where no metrics are read */
	struct again_row ended[AGAINS];
	struct run *heap; /* smallest next seq first */
	size_t n, cap;
	struct record *spare; /* of a run that was returned: for the next one */
	size_t spare_cap;
	const char *const *metrics; /* that are read, too; NULL = none */
	size_t n_metrics;
};

static int
compare_seq(const void *a, const void *b)
{
	int64_t x = ((const struct record *)a)->seq;
	int64_t y = ((const struct record *)b)->seq;

	return (x > y) - (x < y);
}

static int64_t
run_seq(const struct run *r)
{
	/* first_return takes a run whose records it frees off the heap. */
	return r->records[r->at].seq; /* NOLINT(clang-analyzer-unix.Malloc) */
}

static void
swap_runs(struct run *a, struct run *b)
{
	struct run t = *a;

	*a = *b;
	*b = t;
}

static void
walk_records_heap_up(struct merge *m, size_t i)
{
	for (; i > 0 && run_seq(&m->heap[i]) < run_seq(&m->heap[(i - 1) / 2]);
	     i = (i - 1) / 2)
		swap_runs(&m->heap[i], &m->heap[(i - 1) / 2]);
}

static void
walk_records_heap_down(struct merge *m)
{
	size_t i = 0, child;

	while ((child = 2 * i + 1) < m->n) {
		if (child + 1 < m->n &&
		    run_seq(&m->heap[child + 1]) < run_seq(&m->heap[child]))
			child++;
		if (run_seq(&m->heap[i]) <= run_seq(&m->heap[child]))
			break;
		swap_runs(&m->heap[i], &m->heap[child]);
		i = child;
	}
}

static void
run_add(struct run *r, const struct record *record)
{
	XGROW(r->records, r->n, r->cap);
	r->records[r->n++] = *record;
}

/* Advance to the next row: 1, 0 at the end, -1. */
static int
next_row(struct row *r, bool *more)
{
	int rc = row_next(r);

	*more = rc > 0;
	return rc;
}

/* Trial numbers have no gaps: callers of the walk rely on it. */
static int
next_trial(struct merge *m)
{
	struct row *r = &m->trials;
	struct trial_row *t = &m->trial;
	int64_t next = t->trial + 1;
	int rc;

	if ((rc = next_row(r, &m->more_trials)) <= 0)
		return rc;
	*t = (struct trial_row){
		.trial = row_int(r, 0, next, next),
		.begin_seq = row_int(r, 1, 0, ROW_INT_MAX),
		.end = {
			.step = -1,
			.seq = row_int_or(r, 2, 0, 1, ROW_INT_MAX),
			.state = row_state(r, 3),
			.value = row_real(r, 4),
		},
	};
	if (t->end.seq != 0 && !trial_state_final(t->end.state))
		(void)row_damaged(r, 3, "the trial has ended");
	return row_end(r);
}

/* The columns of STMT_RECORD_SERIES. */
static void
read_series(const struct merge *m, struct row *r, struct record *record)
{
	int64_t i = row_int_or(r, 4, -1, 0, (int64_t)m->n_metrics - 1);

	record->metric = i >= 0 ? m->metrics[i] : NULL;
	record->seconds = row_real(r, 5);
	record->dollars = row_real(r, 6);
}

static int
next_report(struct merge *m)
{
	struct row *r = &m->reports;
	int rc;

	if ((rc = next_row(r, &m->more_reports)) <= 0)
		return rc;
	m->report = (struct report_row){
		.trial = row_int(r, 0, 1, ROW_INT_MAX),
		.record = {
			.step = row_int(r, 1, 0, TRIAL_STEP_MAX),
			.seq = row_int(r, 2, 0, ROW_INT_MAX),
			.value = row_real(r, 3),
			.state = TRIAL_RUNNING,
			.seconds = NAN,
			.dollars = NAN,
		},
	};
	if (m->metrics != NULL)
		read_series(m, r, &m->report.record);
	return row_end(r);
}

/* Of a second look only the numbers are recorded: the trial was stopped. */
static int
next_again(struct merge *m, enum again kind)
{
	struct row *r = &m->again[kind];
	struct again_row *a = &m->ended[kind];
	bool look = kind == AGAIN_LOOK;
	int rc;

	if ((rc = next_row(r, &m->more_again[kind])) <= 0)
		return rc;
	*a = (struct again_row){
		.trial = row_int(r, 0, 1, ROW_INT_MAX),
		.before = {
			.step = -1,
			.seq = look ? row_int_or(r, 1, 0, 1, ROW_INT_MAX)
				    : row_int(r, 1, 1, ROW_INT_MAX),
			.state = look ? TRIAL_STOPPED : row_state(r, 3),
			.value = look ? NAN : row_real(r, 4),
		},
		.again = {
			.step = -1,
			.seq = row_int(r, 2, 1, ROW_INT_MAX),
			.state = TRIAL_WAITING,
			.value = NAN,
		},
	};
	if (!trial_state_final(a->before.state))
		(void)row_damaged(r, 3, "the trial has ended");
	return row_end(r);
}

/* Sort by seq: usually only the end of a trial comes behind its reports. */
static void
run_sort(struct run *r)
{
	size_t i;

	for (i = 1; i < r->n; i++)
		if (r->records[i].seq < r->records[i - 1].seq) {
			qsort(
			    r->records, r->n, sizeof *r->records, compare_seq);
			return;
		}
}

/* The next block; its reports are in m->block. */
static int
next_block(struct merge *m)
{
	struct row *r = &m->reports;
	int rc;

	if ((rc = next_row(r, &m->more_reports)) <= 0)
		return rc;
	m->report.trial = row_int(r, 0, 1, ROW_INT_MAX);
	row_block_read(r, 1, &m->block);
	return row_end(r);
}

static void
add_block(const struct merge *m, struct run *r)
{
	const struct row_block *b = &m->block;
	int i;

	if (r->cap < r->n + (size_t)b->n) {
		r->cap = r->cap < SPARE_MAX / 2 ? SPARE_MAX : 2 * r->cap;
		r->records =
		    xreallocarray(r->records, r->cap, sizeof *r->records);
	}
	for (i = 0; i < b->n; i++)
		r->records[r->n++] = (struct record){
			.seq = b->seqs[i],
			.step = b->steps[i],
			.value = b->values[i],
			.state = TRIAL_RUNNING,
			.seconds = NAN,
			.dollars = NAN,
		};
}

/* All records of the run were returned. */
static void
run_end(struct merge *m, struct run *r)
{
	if (m->spare != NULL || r->cap > SPARE_MAX) {
		free(r->records);
		return;
	}
	m->spare = r->records;
	m->spare_cap = r->cap;
}

static int
next_reports(struct merge *m)
{
	return m->metrics != NULL ? next_report(m) : next_block(m);
}

/* All reports of the trial at the cursor of trials. */
static int
read_reports(struct merge *m, struct run *r)
{
	while (m->more_reports && m->report.trial <= r->trial) {
		if (m->report.trial == r->trial && m->metrics != NULL)
			run_add(r, &m->report.record);
		else if (m->report.trial == r->trial)
			add_block(m, r);
		if (next_reports(m) < 0)
			return -1;
	}
	return 0;
}

/* The same for its ends before retries or a second look. */
static int
read_again(struct merge *m, struct run *r, enum again kind)
{
	const struct again_row *a = &m->ended[kind];

	while (m->more_again[kind] && a->trial <= r->trial) {
		if (a->trial == r->trial && a->before.seq != 0)
			run_add(r, &a->before);
		if (a->trial == r->trial)
			run_add(r, &a->again);
		if (next_again(m, kind) < 0)
			return -1;
	}
	return 0;
}

/* Add the trial at the cursor, with its records, to the heap. */
static int
open_trial(struct merge *m)
{
	struct run r = { .trial = m->trial.trial,
		.records = m->spare,
		.cap = m->spare_cap };

	m->spare = NULL;
	m->spare_cap = 0;
	if (read_reports(m, &r) != 0 || read_again(m, &r, AGAIN_RETRY) != 0 ||
	    read_again(m, &r, AGAIN_LOOK) != 0) {
		free(r.records);
		return -1;
	}
	if (m->trial.end.seq != 0)
		run_add(&r, &m->trial.end);
	if (r.n > 0) {
		run_sort(&r);
		XGROW(m->heap, m->n, m->cap);
		m->heap[m->n] = r;
		walk_records_heap_up(m, m->n++);
	} else
		run_end(m, &r);
	return next_trial(m);
}

/* Whether the trial at the cursor started before the next record. */
static bool
walk_records_is_due(const struct merge *m)
{
	return m->more_trials &&
	       (m->n == 0 || m->trial.begin_seq < run_seq(&m->heap[0]));
}

static int
open_due(struct merge *m)
{
	while (walk_records_is_due(m))
		if (open_trial(m) < 0)
			return -1;
	return 0;
}

/*
 * Up to which number the first run has the next records: those of the other runs,
 * and the start of the trial at the cursor, come later.
 */
static int64_t
run_until(const struct merge *m)
{
	int64_t until = m->more_trials ? m->trial.begin_seq : INT64_MAX;
	size_t i;

	for (i = 1; i <= 2 && i < m->n; i++)
		if (run_seq(&m->heap[i]) < until)
			until = run_seq(&m->heap[i]);
	return until;
}

/* Return the records of the first run up to this number, and at least one. */
static int
first_return(struct merge *m, int64_t until,
    int (*f)(void *, const struct store_record *), void *arg)
{
	struct run *r = &m->heap[0];
	const struct record *record;
	struct store_record one = { .trial = r->trial };
	int end;

	do {
		/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): as in run_seq */
		record = &r->records[r->at];
		one.step = record->step;
		one.value = record->value;
		one.state = record->state;
		one.metric = record->metric;
		one.seconds = record->seconds;
		one.dollars = record->dollars;
		end = f(arg, &one);
		if (end != 0)
			return end;
	} while (++r->at < r->n && run_seq(r) <= until);
	if (r->at == r->n) {
		run_end(m, r);
		m->heap[0] = m->heap[--m->n];
	}
	walk_records_heap_down(m);
	return 0;
}

static int
merge_all(
    struct merge *m, int (*f)(void *, const struct store_record *), void *arg)
{
	int end;

	for (;;) {
		if (open_due(m) != 0)
			return -1;
		if (m->n == 0)
			return 0;
		end = first_return(m, run_until(m), f, arg);
		if (end != 0)
			return end;
	}
}

/* The names as a JSON array, for the statement; bound until it is done. */
static void
names_bind(struct merge *m, struct buf *text)
{
	struct json_writer w = { .out = text };

	json_writer_array(&w, NULL);
	for (m->n_metrics = 0; m->metrics[m->n_metrics] != NULL; m->n_metrics++)
		json_writer_text(&w, NULL, m->metrics[m->n_metrics]);
	json_writer_end(&w);
	stmt_text(m->reports.st, 1, buf_str(text));
}

int
store_walk_records(struct store *s, const char *const *metrics,
    int (*f)(void *, const struct store_record *), void *arg, struct err *e)
{
	bool series = metrics != NULL && metrics[0] != NULL;
	struct merge m = {
		.trials = row_begin(s, STMT_RECORD_TRIAL, "t_trial", 1, e),
		.reports = row_begin(s,
		    series ? STMT_RECORD_SERIES : STMT_RECORD_BLOCK, "t_block",
		    series ? 3 : 1, e),
		.metrics = series ? metrics : NULL,
	};
	struct row *retries = &m.again[AGAIN_RETRY],
		   *looks = &m.again[AGAIN_LOOK];
	struct buf names = { 0 };
	int rc = -1;
	size_t i;

	*retries = row_begin(s, STMT_RECORD_RETRY, "t_retry", 1, e);
	*looks = row_begin(s, STMT_RECORD_LOOK, "t_stop", 1, e);
	if (m.trials.st == NULL || m.reports.st == NULL ||
	    retries->st == NULL || looks->st == NULL)
		return -1;
	if (series)
		names_bind(&m, &names);
	if (next_trial(&m) >= 0 && next_reports(&m) >= 0 &&
	    next_again(&m, AGAIN_RETRY) >= 0 && next_again(&m, AGAIN_LOOK) >= 0)
		rc = merge_all(&m, f, arg);
	for (i = 0; i < m.n; i++)
		free(m.heap[i].records);
	free(m.heap);
	free(m.spare);
	stmt_done(m.trials.st);
	stmt_done(m.reports.st);
	stmt_done(retries->st);
	stmt_done(looks->st);
	buf_free(&names);
	return rc;
}
