/*
 * Reports and ends in the order they were recorded, without sorting the table.
 *
 * The table of reports is ordered by trial.  A trial was added before its
 * first report, trials were added in the order of their numbers, and both
 * moments have numbers of one counter.  So it is enough to hold the records of
 * the trials that ran at the same time: a heap of open trials, into which the
 * next trial goes before anything younger than its beginning comes out.
 */

#include <math.h>
#include <stdlib.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/store/stmt.h"

struct record {
	int64_t seq;
	int64_t step;
	double value;
	enum trial_state state;
};

/* One trial's records by seq; at is the next to come out. */
struct run {
	int64_t trial;
	size_t n, at, cap;
	struct record *records;
};

struct merge {
	struct store *store;
	sqlite3_stmt *trials, *reports;
	bool more_trials, more_reports; /* a row stands at the cursor */
	struct run *heap; /* smallest next seq first */
	size_t n, cap;
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
	return r->records[r->at].seq;
}

static void
swap_runs(struct run *a, struct run *b)
{
	struct run t = *a;

	*a = *b;
	*b = t;
}

static void
heap_up(struct merge *m, size_t i)
{
	for (; i > 0 && run_seq(&m->heap[i]) < run_seq(&m->heap[(i - 1) / 2]);
	     i = (i - 1) / 2)
		swap_runs(&m->heap[i], &m->heap[(i - 1) / 2]);
}

static void
heap_down(struct merge *m)
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
	if (r->n == r->cap) {
		r->cap = r->cap > 0 ? 2 * r->cap : 32;
		r->records =
		    xreallocarray(r->records, r->cap, sizeof *r->records);
	}
	r->records[r->n++] = *record;
}

static int
next_row(struct merge *m, sqlite3_stmt *st, bool *more, struct err *e)
{
	int rc = stmt_step(m->store, st, e);

	*more = rc > 0;
	return rc < 0 ? -1 : 0;
}

/* By seq.  Steps that come in their order, nearly all do, are sorted already. */
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

/* All reports of the trial at the cursor of trials. */
static int
read_reports(struct merge *m, struct run *r, struct err *e)
{
	struct record record = { .state = TRIAL_RUNNING };
	int64_t trial;

	while (m->more_reports) {
		trial = sqlite3_column_int64(m->reports, 0);
		if (trial > r->trial)
			break;
		record.step = sqlite3_column_int64(m->reports, 1);
		record.seq = sqlite3_column_int64(m->reports, 2);
		record.value = stmt_col_real(m->reports, 3);
		if (trial == r->trial)
			run_add(r, &record);
		if (next_row(m, m->reports, &m->more_reports, e) < 0)
			return -1;
	}
	return 0;
}

/* Move the trial at the cursor, with its records, into the heap. */
static int
open_trial(struct merge *m, struct err *e)
{
	struct run r = { .trial = sqlite3_column_int64(m->trials, 0) };
	struct record end = { .step = -1 };

	if (read_reports(m, &r, e) < 0) {
		free(r.records);
		return -1;
	}
	end.seq = stmt_col_int(m->trials, 2, 0);
	end.value = stmt_col_real(m->trials, 4);
	(void)trial_state_parse(stmt_col_text(m->trials, 3), &end.state);
	if (end.seq != 0)
		run_add(&r, &end);
	if (r.n > 0) {
		run_sort(&r);
		if (m->n == m->cap) {
			m->cap = m->cap > 0 ? 2 * m->cap : 16;
			m->heap =
			    xreallocarray(m->heap, m->cap, sizeof *m->heap);
		}
		m->heap[m->n] = r;
		heap_up(m, m->n++);
	}
	return next_row(m, m->trials, &m->more_trials, e);
}

/* Whether the trial at the cursor began before the next record. */
static bool
is_due(const struct merge *m)
{
	return m->more_trials && (m->n == 0 || sqlite3_column_int64(m->trials,
						   1) < run_seq(&m->heap[0]));
}

static int
open_due(struct merge *m, struct err *e)
{
	while (is_due(m))
		if (open_trial(m, e) < 0)
			return -1;
	return 0;
}

static void
drop_first(struct merge *m)
{
	struct run *r = &m->heap[0];

	if (++r->at == r->n) {
		free(r->records);
		m->heap[0] = m->heap[--m->n];
	}
	heap_down(m);
}

static int
merge_all(struct merge *m,
    int (*f)(
	void *, int64_t trial, int64_t step, double value, enum trial_state),
    void *arg, struct err *e)
{
	const struct record *record;
	int end;

	for (;;) {
		if (open_due(m, e) < 0)
			return -1;
		if (m->n == 0)
			return 0;
		record = &m->heap[0].records[m->heap[0].at];
		end = f(arg, m->heap[0].trial, record->step, record->value,
		    record->state);
		if (end != 0)
			return end;
		drop_first(m);
	}
}

int
store_each_record(struct store *s,
    int (*f)(
	void *, int64_t trial, int64_t step, double value, enum trial_state),
    void *arg, struct err *e)
{
	struct merge m = { .store = s };
	int rc = -1;
	size_t i;

	m.trials = stmt_get(s, STMT_RECORD_TRIAL, e);
	m.reports = stmt_get(s, STMT_RECORD_REPORT, e);
	if (m.trials == NULL || m.reports == NULL)
		return -1;
	if (next_row(&m, m.trials, &m.more_trials, e) == 0 &&
	    next_row(&m, m.reports, &m.more_reports, e) == 0)
		rc = merge_all(&m, f, arg, e);
	for (i = 0; i < m.n; i++)
		free(m.heap[i].records);
	free(m.heap);
	stmt_done(m.trials);
	stmt_done(m.reports);
	return rc;
}
