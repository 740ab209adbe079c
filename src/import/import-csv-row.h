/* Rows of CSV (RFC 4180). */

#ifndef HPOTUNE_IMPORT_CSV_ROW_H
#define HPOTUNE_IMPORT_CSV_ROW_H

#include <stdbool.h>
#include <stddef.h>

enum { IMPORT_CSV_COLUMNS = 4096 };

struct import_csv_cell {
	char *text; /* in the text that is read */
	bool quoted;
};

struct import_csv_row {
	char *next; /* rest of the text */
	char separator; /* of fields */
	size_t line; /* lines before next */
	struct import_csv_cell fields[IMPORT_CSV_COLUMNS];
	size_t n;
};

/*
 * A comma, or without one in the first line a semicolon or a tab, as spreadsheets
 * write them where numbers have decimal commas, or as plain text.
 */
char import_csv_row_separator(const char *text);
/* Read a row; false at the end.  An empty line has one empty field. */
bool import_csv_row_next(struct import_csv_row *);

#endif /* HPOTUNE_IMPORT_CSV_ROW_H */
