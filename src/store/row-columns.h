/*
 * A row that a SELECT of ours gives, column by column.  The file may be
 * anybody's, or damaged: what the schema promises is not believed but looked
 * at.  Only src/store includes this.
 */

#ifndef HPOTUNE_ROW_COLUMNS_H
#define HPOTUNE_ROW_COLUMNS_H

#include "src/store/store-internal.h"

/* Times, offsets and sums: what can be added up without an overflow. */
#define ROW_INT_MAX (INT64_C(1) << 62)

struct row {
	struct store *store;
	sqlite3_stmt *st;
	const char *table; /* for the message */
	int keys; /* so many first columns say which row it is */
	struct err *err; /* filled by the first column that is wrong */
	bool bad; /* … then the values read are of no meaning */
};

/* To read what statement id gives; st is NULL when it cannot be prepared. */
struct row row_begin(
    struct store *, enum stmt_id, const char *table, int keys, struct err *);
/* The next row: 1, 0 at the end, -1; after the last two it is done. */
int row_next(struct row *);
/*
 * Column i.  NULL, another type and a number that is not in [min, max] are
 * damage: row_end tells, and what is read has a value that is safe to have
 * (min, 0, "").  Texts are borrowed until the statement's next step.
 */
int64_t row_int(struct row *, int i, int64_t min, int64_t max);
bool row_bool(struct row *, int i);
char *row_text(struct row *, int i);
/* Counts that fit an int, with one more to come. */
int row_count(struct row *, int i);
enum trial_state row_state(struct row *, int i);
/* "strategy", "enqueue" or "default" as static text. */
const char *row_source(struct row *, int i);
/* The same where NULL may be: it reads as none, NaN or NULL. */
int64_t row_int_or(struct row *, int i, int64_t none, int64_t min, int64_t max);
double row_real(struct row *, int i);
char *row_text_or(struct row *, int i);
enum end_class row_class(struct row *, int i);
/* Say that column i is wrong, unless an earlier one was; always -1. */
int row_damaged(struct row *, int i, const char *why);
/* 0, or -1 when a column was wrong: then err says which and where. */
int row_end(const struct row *);

/* Rows of SELECTs over all columns; texts are borrowed. */
int store_trial_row(struct row *, struct store_trial *);
int store_attempt_row(struct row *, struct store_attempt *);

#endif /* HPOTUNE_ROW_COLUMNS_H */
