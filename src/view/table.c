/* Measures, shrinks and prints columns. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/base/text.h"
#include "src/view/table.h"

enum {
	TABLE_GAP = 2, /* spaces between columns */
	TABLE_LEAST = 8 /* least width of a shrunk column */
};

struct column {
	char *head;
	enum table_column kind;
	size_t width;
	bool used;
};

struct cell {
	char *text;
	enum table_tint tint;
};

struct table {
	struct column *columns;
	size_t n_columns;
	struct cell *cells;
	size_t n_cells, cap;
};

struct table *
table_new(void)
{
	return xcalloc(1, sizeof(struct table));
}

void
table_free(struct table *table)
{
	size_t i;

	if (table == NULL)
		return;
	table_drop_rows(table);
	for (i = 0; i < table->n_columns; i++)
		free(table->columns[i].head);
	free(table->columns);
	free(table->cells);
	free(table);
}

/* A new string with control characters escaped. */
static char *
text_harmless(const char *text)
{
	struct buf out = { 0 };

	text_put_harmless(&out, text, strlen(text), TEXT_LINE);
	if (out.data == NULL)
		return xstrdup("");
	return buf_take(&out);
}

void
table_column(struct table *table, const char *head, enum table_column kind)
{
	struct column *column;

	table->columns = xreallocarray(
	    table->columns, table->n_columns + 1, sizeof *table->columns);
	column = &table->columns[table->n_columns++];
	*column = (struct column){ .head = text_harmless(head), .kind = kind };
	column->width = text_width(column->head);
}

void
table_cell(struct table *table, const char *text, enum table_tint tint)
{
	struct column *column =
	    &table->columns[table->n_cells % table->n_columns];
	struct cell *cell;
	size_t width;

	XGROW(table->cells, table->n_cells, table->cap);
	cell = &table->cells[table->n_cells++];
	cell->text = text_harmless(text != NULL ? text : "");
	cell->tint = tint;
	if (*cell->text != '\0')
		column->used = true;
	if ((width = text_width(cell->text)) > column->width)
		column->width = width;
}

void
table_cell_real(struct table *table, double value, int digits)
{
	char text[64];

	(void)snprintf(text, sizeof text, "%.*g", digits, value);
	table_cell(table, isnan(value) ? "" : text, TABLE_PLAIN);
}

size_t
table_rows(const struct table *table)
{
	return table->n_columns == 0 ? 0 : table->n_cells / table->n_columns;
}

void
table_drop_rows(struct table *table)
{
	size_t i;

	for (i = 0; i < table->n_cells; i++)
		free(table->cells[i].text);
	table->n_cells = 0;
}

static size_t
table_width(const struct column *columns, size_t n)
{
	size_t i, sum = 0;

	for (i = 0; i < n; i++)
		if (columns[i].used)
			sum += columns[i].width + TABLE_GAP;
	return sum > 0 ? sum - TABLE_GAP : 0;
}

/*
 * Shrink the widest column that may shrink until the table fits; if it never
 * does, drop such columns, from the right.
 */
static void
columns_shrink(struct column *columns, size_t n, size_t width)
{
	struct column *widest;
	size_t i = n;

	while (table_width(columns, n) > width) {
		widest = NULL;
		for (i = 0; i < n; i++)
			if (columns[i].used &&
			    columns[i].kind == TABLE_SHRINK &&
			    columns[i].width > TABLE_LEAST &&
			    (widest == NULL ||
				columns[i].width > widest->width))
				widest = &columns[i];
		if (widest == NULL)
			break;
		widest->width--;
	}
	while (i-- > 0 && table_width(columns, n) > width)
		if (columns[i].kind == TABLE_SHRINK)
			columns[i].used = false;
}

static void
pad(struct buf *out, size_t n)
{
	while (n-- > 0)
		buf_putc(out, ' ');
}

/* One cell; the last of a row is not padded, so that no line ends in blanks. */
static void
table_cell_put(
    struct buf *out, const struct column *column, const char *text, bool last)
{
	const char *more = text_is_utf8() ? "…" : "...";
	size_t width = text_width(text), fit;

	if (width > column->width) {
		fit = text_fit(text, column->width - text_width(more));
		buf_add(out, text, fit);
		buf_puts(out, more);
		return;
	}
	if (column->kind == TABLE_RIGHT)
		pad(out, column->width - width);
	buf_puts(out, text);
	if (column->kind != TABLE_RIGHT && !last)
		pad(out, column->width - width);
}

/* Drop blanks at the end of the line begun at from, and end it. */
static void
line_end(struct buf *out, size_t from)
{
	while (out->len > from && out->data[out->len - 1] == ' ')
		out->data[--out->len] = '\0';
	buf_putc(out, '\n');
}

static void
table_heads_put(struct buf *out, const struct column *columns, size_t n,
    size_t last, bool colour)
{
	size_t i, from;

	if (colour)
		buf_puts(out, "\033[1m");
	from = out->len;
	for (i = 0; i < n; i++) {
		if (!columns[i].used)
			continue;
		table_cell_put(out, &columns[i], columns[i].head, i == last);
		pad(out, i == last ? 0 : TABLE_GAP);
	}
	line_end(out, from);
	if (colour)
		buf_puts(out, "\033[0m");
}

static void
table_row_put(struct buf *out, const struct column *columns,
    const struct cell *row, size_t n, size_t last, bool colour)
{
	static const char *const tints[] = { [TABLE_PLAIN] = "",
		[TABLE_GOOD] = "\033[32m",
		[TABLE_BAD] = "\033[31m",
		[TABLE_FAINT] = "\033[2m" };
	size_t i, from = out->len;
	bool tinted;

	for (i = 0; i < n; i++) {
		if (!columns[i].used)
			continue;
		tinted = colour && row[i].tint != TABLE_PLAIN;
		if (tinted)
			buf_puts(out, tints[row[i].tint]);
		table_cell_put(out, &columns[i], row[i].text, i == last);
		if (tinted)
			buf_puts(out, "\033[0m");
		pad(out, i == last ? 0 : TABLE_GAP);
	}
	line_end(out, from);
}

void
table_put(struct buf *out, const struct table *table, int width, bool colour,
    bool heads)
{
	size_t n = table->n_columns, i, last = 0;
	struct column *columns = xcalloc(n + 1, sizeof *columns);

	for (i = 0; i < n; i++)
		columns[i] = table->columns[i];
	if (width > 0)
		columns_shrink(columns, n, (size_t)width);
	for (i = 0; i < n; i++)
		if (columns[i].used)
			last = i;
	if (heads)
		table_heads_put(out, columns, n, last, colour);
	for (i = 0; i + n <= table->n_cells; i += n)
		table_row_put(out, columns, &table->cells[i], n, last, colour);
	free(columns);
}
