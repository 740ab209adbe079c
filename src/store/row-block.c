/*
 * The last block of each metric of a trial stays in memory and is written again
 * with what was added in a turn, until it is full: a statement for up to 32 reports,
 * where a row for each was most of what a report cost.
 *
 * The steps of a block rise, and the blocks of a metric in a trial follow each other:
 * read in the order of the table they are the curve.  A report whose step is not the
 * greatest, of an attempt that began again, cuts the block that has its step; an
 * earlier report of the step goes to the old ones, which are behind the curve.
 */

#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/base/search.h"
#include "src/store/row-block.h"

enum {
	DIGITS_MAX = 18, /* of a difference */
	/*
	 * Digits of a report in all three columns: with its value, a full block
	 * is then less than the 1,002 bytes that SQLite keeps on the page.
	 */
	DIGITS_ALL = 20,
	SERIES_MAX = 4096 /* blocks that are kept in memory */
};

/* How a column tells its numbers. */
struct numbers {
	int64_t first, last, least, most;
	int64_t stride;
	bool even; /* each is so much more than the one before */
};

struct block {
	int64_t name_id, trial;
	int attempt;
	int n; /* reports */
	bool dirty; /* has reports that the file has not */
	int64_t top; /* the greatest step of the metric; -1 = none */
	struct numbers steps, seqs, times;
	int64_t step[ROW_BLOCK_REPORTS], seq[ROW_BLOCK_REPORTS],
	    time_us[ROW_BLOCK_REPORTS];
	double value[ROW_BLOCK_REPORTS];
};

/* After one more number; n is how many there were. */
static struct numbers
numbers_with(struct numbers x, int n, int64_t v)
{
	int64_t stride = v - x.last;

	if (n == 0)
		return (struct numbers){ v, v, v, v, 0, true };
	x.even = x.even && stride >= 0 && (n == 1 || stride == x.stride);
	if (n == 1)
		x.stride = stride;
	x.last = v;
	if (v < x.least)
		x.least = v;
	if (v > x.most)
		x.most = v;
	return x;
}

/* Digits for each; 0: the stride says it. */
static int
numbers_digits(const struct numbers *x)
{
	int64_t most = x->most - x->least;
	int n = 1;

	if (x->even)
		return 0;
	for (; most > 9; most /= 10)
		n++;
	return n;
}

/* Bind the differences from the least; text has room and is borrowed. */
static void
numbers_bind(sqlite3_stmt *st, int i, const struct numbers *x,
    const int64_t *all, int n, char *text)
{
	int digits = numbers_digits(x), k, d;
	char *to = text;
	int64_t left;

	if (digits == 0) {
		stmt_int(st, i, x->stride);
		return;
	}
	for (k = 0; k < n; k++, to += digits) {
		left = all[k] - x->least;
		for (d = digits; d-- > 0; left /= 10)
			to[d] = (char)('0' + left % 10);
	}
	(void)sqlite3_bind_text(st, i, text, n * digits, SQLITE_STATIC);
}

/* The next so many digits as a number, or -1. */
static int64_t
digits_read(const char *s, int digits)
{
	int64_t v = 0;
	int i;

	for (i = 0; i < digits; i++) {
		if (s[i] < '0' || s[i] > '9')
			return -1;
		v = v * 10 + (s[i] - '0');
	}
	return v;
}

static bool
numbers_read_text(
    const char *s, int len, int64_t base, int n, int64_t most, int64_t *out)
{
	int digits = len / n, i;
	int64_t v;

	if (digits < 1 || digits > DIGITS_MAX || digits * n != len)
		return false;
	for (i = 0; i < n; i++, s += digits) {
		v = digits_read(s, digits);
		if (v < 0 || v > most - base)
			return false;
		out[i] = base + v;
	}
	return true;
}

/* Column i: n numbers from base to most; false: it has others. */
static bool
block_numbers_read(
    sqlite3_stmt *st, int i, int64_t base, int n, int64_t most, int64_t *out)
{
	int64_t stride;
	int k;

	if (sqlite3_column_type(st, i) == SQLITE_TEXT)
		return numbers_read_text(stmt_col_text(st, i),
		    sqlite3_column_bytes(st, i), base, n, most, out);
	if (sqlite3_column_type(st, i) != SQLITE_INTEGER)
		return false;
	stride = sqlite3_column_int64(st, i);
	if (stride < 0 || (n > 1 && stride > (most - base) / (n - 1)))
		return false;
	for (k = 0; k < n; k++)
		out[k] = base + k * stride;
	return true;
}

void
row_block_read(struct row *r, int i, struct row_block *b)
{
	int64_t step, seq;
	int k;

	b->n = (int)row_int(r, i, 1, ROW_BLOCK_REPORTS);
	step = row_int(r, i + 1, 0, TRIAL_STEP_MAX);
	seq = row_int(r, i + 3, 0, ROW_INT_MAX);
	if (r->bad)
		return;
	if (!block_numbers_read(
		r->st, i + 2, step, b->n, TRIAL_STEP_MAX, b->steps))
		(void)row_damaged(r, i + 2, "not the steps of its reports");
	if (!block_numbers_read(r->st, i + 4, seq, b->n, ROW_INT_MAX, b->seqs))
		(void)row_damaged(r, i + 4, "not the numbers of its reports");
	/* NULL and what is no number read as 0: only then they are looked at. */
	for (k = 0; k < b->n; k++) {
		b->values[k] = sqlite3_column_double(r->st, i + 5 + k);
		if (b->values[k] == 0)
			b->values[k] = row_real(r, i + 5 + k);
	}
}

/* Index of the first block that is not before this one's. */
static size_t
block_at(const struct store *s, int64_t trial, int64_t name_id)
{
	size_t at;

	SEARCH_FIRST(at, s->n_blocks,
	    s->blocks[at]->trial < trial ||
		(s->blocks[at]->trial == trial &&
		    s->blocks[at]->name_id < name_id));
	return at;
}

static bool
block_is(const struct block *b, int64_t trial, int64_t name_id)
{
	return b->trial == trial && b->name_id == name_id;
}

static void
block_append(struct block *b, const struct row_report *r)
{
	int n = b->n++;

	b->attempt = r->attempt;
	b->steps = numbers_with(b->steps, n, r->step);
	b->seqs = numbers_with(b->seqs, n, r->seq);
	b->times = numbers_with(b->times, n, r->time_us);
	b->step[n] = r->step;
	b->seq[n] = r->seq;
	b->time_us[n] = r->time_us;
	b->value[n] = r->value;
}

/* The last block in the file that begins at its step or before: 1, 0, or -1. */
static int
block_before(struct store *s, const struct row_report *r, bool old,
    struct block *b, struct err *e)
{
	struct row row = row_begin(s, STMT_BLOCK_BEFORE, "t_block", 0, e);
	int64_t times[ROW_BLOCK_REPORTS], least;
	struct row_report one;
	struct row_block all;
	int rc, i;

	if (row.st == NULL)
		return -1;
	stmt_int(row.st, 1, r->name_id);
	stmt_int(row.st, 2, r->trial);
	stmt_int(row.st, 3, old);
	stmt_int(row.st, 4, r->step);
	if ((rc = row_next(&row)) <= 0)
		return rc;
	*b = (struct block){ .name_id = r->name_id, .trial = r->trial };
	one = *r;
	one.attempt = row_count(&row, 0);
	least = row_int(&row, 1, 0, ROW_INT_MAX);
	row_block_read(&row, 3, &all);
	if (!row.bad &&
	    !block_numbers_read(row.st, 2, least, all.n, ROW_INT_MAX, times))
		(void)row_damaged(&row, 2, "not the times of its reports");
	for (i = 0; !row.bad && i < all.n; i++) {
		one.step = all.steps[i];
		one.seq = all.seqs[i];
		one.time_us = times[i];
		one.value = all.values[i];
		block_append(b, &one);
	}
	stmt_done(row.st);
	return row_end(&row) == 0 ? 1 : -1;
}

/*
 * The last block of the metric in the file, which goes on where it has room: this
 * may be another process, or the block was forgotten.  NULL with err.
 */
static struct block *
block_load(struct store *s, const struct row_report *r, struct err *e)
{
	struct row_report last = {
		.name_id = r->name_id, .trial = r->trial, .step = TRIAL_STEP_MAX
	};
	struct block *b = xcalloc(1, sizeof *b);
	int rc = block_before(s, &last, false, b, e);

	if (rc < 0) {
		free(b);
		return NULL;
	}
	b->trial = r->trial;
	b->name_id = r->name_id;
	b->top = rc > 0 ? b->steps.last : -1;
	return b;
}

/* The block of this report; NULL with err. */
static struct block *
block_get(struct store *s, const struct row_report *r, struct err *e)
{
	size_t at = s->block_last;
	struct block *b;

	if (at < s->n_blocks && block_is(s->blocks[at], r->trial, r->name_id))
		return s->blocks[at];
	at = block_at(s, r->trial, r->name_id);
	if (at == s->n_blocks ||
	    !block_is(s->blocks[at], r->trial, r->name_id)) {
		if (s->n_blocks == SERIES_MAX) {
			if (row_blocks_write(s, e) != 0)
				return NULL;
			row_blocks_forget(s, 0);
			at = 0;
		}
		if ((b = block_load(s, r, e)) == NULL)
			return NULL;
		XGROW(s->blocks, s->n_blocks, s->cap_blocks);
		memmove(s->blocks + at + 1, s->blocks + at,
		    (s->n_blocks - at) * sizeof *s->blocks);
		s->blocks[at] = b;
		s->n_blocks++;
	}
	s->block_last = at;
	return s->blocks[at];
}

void
row_blocks_forget(struct store *s, int64_t trial)
{
	size_t i, n = 0;

	for (i = 0; i < s->n_blocks; i++)
		if (trial == 0 ||
		    (s->blocks[i]->trial == trial && !s->blocks[i]->dirty))
			free(s->blocks[i]);
		else
			s->blocks[n++] = s->blocks[i];
	s->n_blocks = n;
	s->block_last = 0;
	if (trial == 0) {
		free(s->blocks);
		s->blocks = NULL;
		s->cap_blocks = 0;
		s->n_dirty = 0;
	}
}

/* Write a block; old: its reports are followed by others of their steps. */
static int
block_put(struct store *s, const struct block *b, bool old, struct err *e)
{
	char text[3][DIGITS_ALL * ROW_BLOCK_REPORTS]; /* one may have all */
	sqlite3_stmt *st = stmt_get(s, STMT_BLOCK_PUT, e);
	int i;

	if (st == NULL)
		return -1;
	stmt_int(st, 1, b->name_id);
	stmt_int(st, 2, b->trial);
	stmt_int(st, 3, b->seq[0]);
	stmt_int(st, 4, b->attempt);
	stmt_int(st, 5, b->n);
	stmt_int(st, 6, b->step[0]);
	stmt_int(st, 7, b->step[b->n - 1]);
	stmt_int(st, 8, old);
	stmt_int(st, 9, b->times.least);
	stmt_int(st, 10, b->times.most);
	numbers_bind(st, 11, &b->steps, b->step, b->n, text[0]);
	numbers_bind(st, 12, &b->seqs, b->seq, b->n, text[1]);
	numbers_bind(st, 13, &b->times, b->time_us, b->n, text[2]);
	for (i = 0; i < b->n; i++)
		stmt_real(st, 14 + i, b->value[i]);
	return stmt_write(s, st, e);
}

static int
block_write(struct store *s, struct block *b, struct err *e)
{
	if (!b->dirty)
		return 0;
	b->dirty = false;
	s->n_dirty--;
	return block_put(s, b, false, e);
}

int
row_blocks_write(struct store *s, struct err *e)
{
	size_t i;

	for (i = 0; i < s->n_blocks && s->n_dirty > 0; i++)
		if (block_write(s, s->blocks[i], e) != 0)
			return -1;
	return 0;
}

/* Whether a report can be added to the block. */
static bool
block_takes(const struct block *b, const struct row_report *r)
{
	struct numbers steps, seqs, times;

	if (b->n == 0)
		return true;
	if (b->n == ROW_BLOCK_REPORTS || b->attempt != r->attempt ||
	    r->step <= b->steps.last || r->seq <= b->seqs.last)
		return false;
	steps = numbers_with(b->steps, b->n, r->step);
	seqs = numbers_with(b->seqs, b->n, r->seq);
	times = numbers_with(b->times, b->n, r->time_us);
	return numbers_digits(&steps) + numbers_digits(&seqs) +
		   numbers_digits(&times) <=
	       DIGITS_ALL;
}

static struct row_report
block_report(const struct block *b, int i)
{
	return (struct row_report){ b->name_id, b->trial, b->attempt,
		b->step[i], b->seq[i], b->time_us[i], b->value[i] };
}

/* The reports from i on, fewer than end. */
static struct block
block_part(const struct block *b, int i, int end)
{
	struct block part = { .name_id = b->name_id, .trial = b->trial };
	struct row_report r;

	for (; i < end; i++) {
		r = block_report(b, i);
		block_append(&part, &r);
	}
	return part;
}

static int
block_drop(struct store *s, const struct block *b, struct err *e)
{
	sqlite3_stmt *st = stmt_get(s, STMT_BLOCK_DROP, e);

	if (st == NULL)
		return -1;
	stmt_int(st, 1, b->name_id);
	stmt_int(st, 2, b->trial);
	stmt_int(st, 3, b->step[0]);
	stmt_int(st, 4, b->seq[0]);
	return stmt_write(s, st, e);
}

/* Add a report to the block before its step in the file, or as a block. */
static int
report_put(struct store *s, const struct row_report *r, bool old, struct err *e)
{
	struct block b;
	int rc = block_before(s, r, old, &b, e);

	if (rc < 0)
		return -1;
	if (rc == 0 || !block_takes(&b, r))
		b = (struct block){ .name_id = r->name_id, .trial = r->trial };
	block_append(&b, r);
	return block_put(s, &b, old, e);
}

/* Cut the block that has this step in two; its report of the step is old. */
static int
block_cut(struct store *s, const struct block *b, int64_t step, struct err *e)
{
	struct row_report was;
	struct block part;
	int i = 0, next;

	while (i < b->n && b->step[i] < step)
		i++;
	next = i < b->n && b->step[i] == step ? i + 1 : i;
	if (block_drop(s, b, e) != 0)
		return -1;
	part = block_part(b, 0, i);
	if (part.n > 0 && block_put(s, &part, false, e) != 0)
		return -1;
	part = block_part(b, next, b->n);
	if (part.n > 0 && block_put(s, &part, false, e) != 0)
		return -1;
	if (next == i)
		return 0;
	was = block_report(b, i);
	return report_put(s, &was, true, e);
}

/* Record a report whose step is not the greatest of its metric in the trial. */
static int
report_insert(struct store *s, const struct row_report *r, struct err *e)
{
	struct block b;
	int rc = block_before(s, r, false, &b, e);

	if (rc < 0 || (rc > 0 && b.steps.last >= r->step &&
			  block_cut(s, &b, r->step, e) != 0))
		return -1;
	return report_put(s, r, false, e);
}

int
row_block_add(struct store *s, const struct row_report *r, struct err *e)
{
	struct block *b;

	if (stmt_may_write(s, e) != 0 || (b = block_get(s, r, e)) == NULL)
		return -1;
	if (r->step <= b->top || !block_takes(b, r)) {
		if (block_write(s, b, e) != 0)
			return -1;
		b->n = 0;
	}
	if (r->step <= b->top)
		return report_insert(s, r, e);
	block_append(b, r);
	b->top = r->step;
	if (!b->dirty)
		s->n_dirty++;
	b->dirty = true;
	return b->n < ROW_BLOCK_REPORTS ? 0 : block_write(s, b, e);
}

int
row_blocks_fill(struct store *s, struct err *e)
{
	struct row r = row_begin(s, STMT_BLOCK_FILL, "t_metric", 2, e);
	struct row_report one;
	int end = 0;

	while (row_walk(&r, &end)) {
		one = (struct row_report){
			.name_id = row_int(&r, 0, INT64_MIN, INT64_MAX),
			.trial = row_int(&r, 1, 1, ROW_INT_MAX),
			.attempt = row_count(&r, 2),
			.step = row_int(&r, 3, 0, TRIAL_STEP_MAX),
			.seq = row_int(&r, 4, 0, ROW_INT_MAX),
			.time_us = row_int(&r, 5, 0, ROW_INT_MAX),
			.value = row_real(&r, 6),
		};
		end = r.bad ? -1 : row_block_add(s, &one, e);
	}
	if (end == 0)
		end = row_blocks_write(s, e);
	row_blocks_forget(s, 0);
	return end;
}
