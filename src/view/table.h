/* Aligned columns of text.  Cells may hold any bytes: they are escaped. */

#ifndef HPOTUNE_TABLE_H
#define HPOTUNE_TABLE_H

#include <stdbool.h>
#include <stddef.h>

struct buf;
struct table;

enum table_column {
	TABLE_LEFT,
	TABLE_RIGHT, /* numbers */
	TABLE_SHRINK /* left, and cut when the table is too wide */
};

enum table_tint { TABLE_PLAIN, TABLE_GOOD, TABLE_BAD, TABLE_FAINT };

struct table *table_new(void);
void table_free(struct table *);
/* Add a column, left to right; call before the first cell. */
void table_column(struct table *, const char *head, enum table_column);
/* Add the next cell, row by row; NULL is an empty one. */
void table_cell(struct table *, const char *, enum table_tint);
/* digits significant digits; NaN is an empty cell. */
void table_cell_real(struct table *, double, int digits);
/* The rows that are held: those added since the last table_drop_rows. */
size_t table_rows(const struct table *);
/*
 * Free the rows.  Columns keep the width that these had, so that a long table is
 * printed in parts after it was measured: add all its rows, dropping them from
 * time to time, then add them again and print and drop some at a time.
 */
void table_drop_rows(struct table *);
/*
 * Append the table. width 0 = unlimited.  Columns that are empty in all rows
 * are omitted.  Without heads the first line is the first row.
 */
void table_put(
    struct buf *, const struct table *, int width, bool colour, bool heads);

#endif /* HPOTUNE_TABLE_H */
