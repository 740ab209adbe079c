/* Rows of the views as JSON, as text, as curves. */

#ifndef HPOTUNE_ROWS_H
#define HPOTUNE_ROWS_H

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct err;
struct json_writer;
struct sparkline;
struct store;
struct store_rows;

/*
 * The seconds of a row of the view trials, which the query names t, as SQL: with
 * those of the attempt that runs now.
 */
#define ROWS_SECONDS(t)                                                       \
	"round(" t ".seconds + coalesce((SELECT (julianday('now') - "         \
	"julianday(a.started)) * 86400 FROM attempts AS a WHERE a.trial = " t \
	".trial AND a.ended IS NULL), 0), 3)"

/*
 * The rows of a SELECT as JSON objects in an array; with one, only the first
 * row (null when there is none).  Columns named params, outcomes and settings
 * already hold JSON.
 */
int rows_put_json(struct buf *out, struct store *, const char *sql,
    const char *const *params, bool one, struct err *);
/* The same of rows, which it closes. */
int
rows_take_json(struct buf *out, struct store_rows *, bool one, struct err *);
/* The columns of a row from column from on, as the members of such an object. */
void
rows_put_members(struct json_writer *, const struct store_rows *, int from);
/*
 * A numeric column in all its digits: integers may exceed a double.  Values
 * that are not finite are written inf or -inf.
 */
void rows_put_digits(struct buf *, const struct store_rows *, int col);
/* The first row of a SELECT: 1 with *rows on it, 0 when there is none, -1. */
int rows_first(struct store_rows **rows, struct store *, const char *sql,
    const char *const *params, struct err *);
/* Rows of step and value, which it closes. */
int rows_take_curve(struct sparkline *, struct store_rows *, struct err *);
/* A SELECT of the same. */
int rows_curve(struct sparkline *, struct store *, const char *sql,
    const char *const *params, struct err *);
/*
 * The curve of a trial, and the medians: some parts of it, each of up to 32 reports,
 * or points, spread over its steps, and its end; all of it where it is shorter.
 */
int rows_curve_of_trial(
    struct sparkline *, struct store *, int64_t trial, int parts, struct err *);
int rows_curve_of_medians(
    struct sparkline *, struct store *, int points, struct err *);
/* The column, NaN when it is NULL. */
double rows_real(const struct store_rows *, int col);
/*
 * The first n columns of the first row of a query, as rows_real; NaN where there
 * is no row.  1, 0 when there is none, or -1.
 */
int rows_numbers(
    double *out, size_t n, struct store *, const char *sql, struct err *);
/*
 * A count, from 0 to 2^53, so that a few of them can be summed; any other value
 * is an ERR_STORE: the database is corrupt.
 */
int
rows_count(const struct store_rows *, int col, int64_t *count, struct err *);

/*
 * "lr=0.0123 optimizer=adam" from a trial's params. digits > 0 shortens numbers
 * to that many; text that is not a JSON object is copied.
 */
void rows_put_params(struct buf *out, const char *json, int digits);
/* A number in that many digits, or in all it needs when digits is 0. */
void rows_put_number(struct buf *out, double, int digits);

/*
 * Rows that belong to trials, read in step with the trials.  Column 0 is the
 * trial's number, ascending.
 */
struct rows_cursor {
	struct store_rows *rows;
	bool there; /* it is on a row */
};
/* Open a cursor on its first row. */
int rows_cursor_open(
    struct rows_cursor *, struct store *, const char *sql, struct err *);
int rows_cursor_next(struct rows_cursor *, struct err *);
/* Whether a cursor is on a row of this trial. */
bool rows_cursor_is_at(const struct rows_cursor *, int64_t trial);
/* Also valid for a cursor that was never opened. */
void rows_cursor_close(struct rows_cursor *);

#endif /* HPOTUNE_ROWS_H */
