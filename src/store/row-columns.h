/*
 * Reads the row of a SELECT, column by column.  The file may be corrupt or
 * forged: types and ranges that the schema promises are checked.  Only
 * src/store includes this.
 */

#ifndef HPOTUNE_ROW_COLUMNS_H
#define HPOTUNE_ROW_COLUMNS_H

#include "src/store/store-internal.h"

/* Limit of times, offsets and sums, so that adding them cannot overflow. */
#define ROW_INT_MAX (INT64_C(1) << 62)

struct row {
	struct store *store;
	sqlite3_stmt *st;
	const char *table; /* for the message */
	int keys; /* number of leading columns that identify the row */
	struct err *err; /* set by the first column that is wrong */
	bool bad; /* … then the values read are meaningless */
};

/* Start reading statement id; st is NULL when it cannot be prepared. */
struct row row_begin(
    struct store *, enum stmt_id, const char *table, int keys, struct err *);
/* The next row: 1, 0 at the end, -1 on an error; both end the reading. */
int row_next(struct row *);
/*
 * The next row of a walk: true while there is one.  *end is 0 before the first
 * row, then what the callback returned for the last one; another value than 0
 * ends the walk.  A statement that was not prepared or a read that fails sets
 * *end to -1, with err filled.  The statement is reset when the walk ends.
 */
bool row_walk(struct row *, int *end);
/*
 * Column i.  NULL, another type and a number outside [min, max] are corruption:
 * row_end reports it, and the value returned is a safe one (min, 0, "").  Texts
 * are borrowed until the statement's next step.
 */
int64_t row_int(struct row *, int i, int64_t min, int64_t max);
bool row_bool(struct row *, int i);
char *row_text(struct row *, int i);
/* A count that fits an int and can be incremented. */
int row_count(struct row *, int i);
enum trial_state row_state(struct row *, int i);
/* "strategy", "enqueue" or "default" as static text. */
enum trial_source row_source(struct row *, int i);
/* The same where NULL is allowed: it reads as none, NaN or NULL. */
int64_t row_int_or(struct row *, int i, int64_t none, int64_t min, int64_t max);
double row_real(struct row *, int i);
char *row_text_or(struct row *, int i);
enum end_class row_class(struct row *, int i);
/* Report column i as corrupt, unless an earlier one was; always -1. */
int row_damaged(struct row *, int i, const char *why);
/* 0, or -1 when a column was corrupt: err names it and its row. */
int row_end(const struct row *);

#endif /* HPOTUNE_ROW_COLUMNS_H */
