/*
 * The reports of an ended trial in one value of t_curve: how many there are, and in
 * the order of steps of each its step and its number, as differences from the one
 * before, and the eight bytes of its value.  The count and the differences are
 * zigzag numbers in groups of seven bits, the lowest first; all but the last have
 * the highest bit set.
 */

#include <math.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/store/row-columns.h"
#include "src/store/row-curve.h"

enum { VARINT_MAX = 10, REPORT_MAX = 2 * VARINT_MAX + 8 };

static size_t
put_difference(unsigned char *to, int64_t now, int64_t before)
{
	uint64_t d = (uint64_t)now - (uint64_t)before;
	size_t n = 0;

	d = d << 1 ^ (uint64_t) - (int64_t)(d >> 63);
	for (; d > 0x7f; d >>= 7)
		to[n++] = (unsigned char)(0x80 | (d & 0x7f));
	to[n++] = (unsigned char)d;
	return n;
}

static bool
get_long_number(struct row_curve *c, uint64_t *d)
{
	int shift;

	*d = 0;
	for (shift = 0;; shift += 7) {
		if (c->at == c->end || shift > 63)
			return false;
		*d |= (uint64_t)(*c->at & 0x7f) << shift;
		if ((*c->at++ & 0x80) == 0)
			return true;
	}
}

/* Most are of one byte. */
static inline bool
get_difference(struct row_curve *c, int64_t *value)
{
	uint64_t d;

	if (c->at < c->end && (*c->at & 0x80) == 0)
		d = *c->at++;
	else if (!get_long_number(c, &d))
		return false;
	*value = (int64_t)((uint64_t)*value + (d >> 1 ^ (0 - (d & 1))));
	return true;
}

/* In one expression, which compilers read as one load. */
static uint64_t
get_bytes(const unsigned char *p)
{
	return (uint64_t)p[0] | (uint64_t)p[1] << 8 | (uint64_t)p[2] << 16 |
	       (uint64_t)p[3] << 24 | (uint64_t)p[4] << 32 |
	       (uint64_t)p[5] << 40 | (uint64_t)p[6] << 48 |
	       (uint64_t)p[7] << 56;
}

void
row_curve_open(struct row_curve *c, const void *bytes, size_t n)
{
	*c = (struct row_curve){ .at = bytes, .end = bytes, .left = -1 };
	if (n == 0)
		return;
	c->end += n;
	c->left = 0;
	if (!get_difference(c, &c->left))
		c->left = -1;
}

int
row_curve_next(struct row_curve *c, double *value)
{
	uint64_t bits;

	if (c->left <= 0)
		return c->left == 0 && c->at == c->end ? 0 : -1;
	c->left--;
	if (!get_difference(c, &c->step) || !get_difference(c, &c->seq) ||
	    c->end - c->at < 8 || c->step < 0 || c->step > TRIAL_STEP_MAX ||
	    c->seq < 0 || c->seq > ROW_INT_MAX)
		return -1;
	bits = get_bytes(c->at);
	c->at += sizeof bits;
	memcpy(value, &bits, sizeof *value);
	return 1;
}

static void
report_add(struct buf *b, const struct row_curve *before, int64_t step,
    int64_t seq, double value)
{
	unsigned char report[REPORT_MAX];
	uint64_t bits;
	size_t n;
	int i;

	memcpy(&bits, &value, sizeof bits);
	n = put_difference(report, step, before->step);
	n += put_difference(report + n, seq, before->seq);
	for (i = 0; i < 8; i++, bits >>= 8)
		report[n++] = (unsigned char)(bits & 0xff);
	buf_add(b, (const char *)report, n);
}

static int
reports_read(
    struct store *s, int64_t trial, struct buf *b, int64_t *n, struct err *e)
{
	struct row r = row_begin(s, STMT_CURVE_READ, "t_metric", 0, e);
	struct row_curve last = { 0 };
	int64_t step, seq;
	int end = 0;

	if (r.st == NULL)
		return -1;
	stmt_int(r.st, 1, trial);
	while (row_walk(&r, &end)) {
		step = row_int(&r, 0, 0, TRIAL_STEP_MAX);
		seq = row_int(&r, 1, 0, ROW_INT_MAX);
		report_add(b, &last, step, seq, row_real(&r, 2));
		last.step = step;
		last.seq = seq;
		++*n;
		end = row_end(&r);
	}
	return end;
}

int
row_curve_write(struct store *s, int64_t trial, struct err *e)
{
	struct buf b = { 0 }, all = { 0 };
	unsigned char count[VARINT_MAX];
	sqlite3_stmt *st;
	int64_t n = 0;
	int rc = reports_read(s, trial, &b, &n, e);

	buf_add(&all, (const char *)count, put_difference(count, n, 0));
	buf_add(&all, buf_str(&b), b.len);
	st = rc == 0 ? stmt_get(s, STMT_CURVE_PUT, e) : NULL;
	rc = -1;
	if (st != NULL) {
		stmt_int(st, 1, trial);
		(void)sqlite3_bind_blob(
		    st, 2, all.data, (int)all.len, SQLITE_STATIC);
		rc = stmt_write(s, st, e);
	}
	buf_free(&b);
	buf_free(&all);
	s->reporting[trial % STORE_REPORTING] = 0;
	return rc;
}

int
row_curve_reports(struct store *s, int64_t trial, struct err *e)
{
	int64_t *at = &s->reporting[trial % STORE_REPORTING];
	sqlite3_stmt *st;

	if (*at == trial)
		return 0;
	st = stmt_get(s, STMT_CURVE_DROP, e);
	if (st == NULL)
		return -1;
	stmt_int(st, 1, trial);
	*at = trial;
	return stmt_write(s, st, e);
}
