/* A view as CSV: RFC 4180, with lines ended by a newline only. */

#include <string.h>

#include "src/base/err.h"
#include "src/export/export.h"
#include "src/store/store.h"
#include "src/view/rows.h"

/* Quote where needed, and an empty text: unquoted it would be NULL. */
static void
export_csv_text_put(struct buf *out, const char *text, bool spreadsheet)
{
	/* Characters that make spreadsheets compute; OWASP, CSV injection. */
	bool mark =
	    spreadsheet && *text != '\0' && strchr("=+-@\t\r", *text) != NULL;

	if (!mark && *text != '\0' && strpbrk(text, ",\"\r\n") == NULL) {
		buf_puts(out, text);
		return;
	}
	buf_putc(out, '"');
	if (mark)
		buf_putc(out, '\'');
	for (; *text != '\0'; text++) {
		if (*text == '"')
			buf_putc(out, '"');
		buf_putc(out, *text);
	}
	buf_putc(out, '"');
}

static void
export_csv_head_put(struct export *x, const struct store_rows *rows)
{
	int col;

	for (col = 0; col < store_rows_columns(rows); col++) {
		if (col > 0)
			buf_putc(&x->text, ',');
		export_csv_text_put(
		    &x->text, store_rows_name(rows, col), x->spreadsheet);
	}
	buf_putc(&x->text, '\n');
}

static void
export_csv_row_put(struct export *x, const struct store_rows *rows)
{
	int col;

	for (col = 0; col < store_rows_columns(rows); col++) {
		if (col > 0)
			buf_putc(&x->text, ',');
		if (store_rows_null(rows, col))
			continue;
		if (store_rows_is_number(rows, col))
			rows_put_digits(&x->text, rows, col);
		else
			export_csv_text_put(&x->text,
			    store_rows_text(rows, col), x->spreadsheet);
	}
	buf_putc(&x->text, '\n');
}

int
export_csv(struct export *x, struct err *e)
{
	struct store_rows *rows;
	struct buf sql = { 0 };
	int rc;

	export_put_select(
	    &sql, x->store, x->table != NULL ? x->table : "results");
	rc = store_rows_open(&rows, x->store, buf_str(&sql), NULL, e);
	buf_free(&sql);
	if (rc == -1)
		return -1;
	export_csv_head_put(x, rows);
	while ((rc = store_rows_next(rows, e)) == 1) {
		export_csv_row_put(x, rows);
		if ((rc = export_flush(x, e)) == -1)
			break;
	}
	store_rows_close(rows);
	return rc;
}
