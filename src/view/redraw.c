/* Text on a terminal that is redrawn in place. */

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "src/base/mem.h"
#include "src/base/text.h"
#include "src/view/redraw.h"

void
redraw_size(int *columns, int *rows)
{
	struct winsize size = { 0 };

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0)
		size = (struct winsize){ 0 };
	*columns = size.ws_col > 0 ? size.ws_col : 80;
	*rows = size.ws_row > 0 ? size.ws_row : 24;
}

/* Columns of a line, without colour sequences (ESC [ … m). */
static size_t
line_width(const char *line, size_t len)
{
	struct buf shown = { 0 };
	size_t i, width;

	for (i = 0; i < len; i++) {
		if (line[i] == '\033' && i + 1 < len && line[i + 1] == '[') {
			while (i < len && line[i] != 'm')
				i++;
			continue;
		}
		buf_putc(&shown, line[i]);
	}
	width = text_width(buf_str(&shown));
	buf_free(&shown);
	return width;
}

/* Rows of the text on a terminal of so many columns. */
static size_t
redraw_rows_of(const char *text, size_t columns)
{
	size_t rows = 0, len, width;

	for (; *text != '\0'; text += len + (text[len] == '\n')) {
		len = strcspn(text, "\n");
		width = line_width(text, len);
		rows += width > columns ? (width + columns - 1) / columns : 1;
	}
	return rows;
}

void
redraw_clear(struct redraw *r, struct buf *out, int columns)
{
	size_t rows = 0;

	if (r->drawn != NULL)
		rows =
		    redraw_rows_of(r->drawn, columns > 0 ? (size_t)columns : 1);
	if (rows > 0)
		buf_printf(out, "\033[%zuA\033[J", rows);
	free(r->drawn);
	r->drawn = NULL;
}

size_t
redraw_length(const char *text, int rows)
{
	const char *p = text, *end;
	int lines = rows > 1 ? rows - 1 : 1;

	for (; lines > 0 && (end = strchr(p, '\n')) != NULL; lines--)
		p = end + 1;
	return (size_t)(p - text);
}

void
redraw_text(
    struct redraw *r, struct buf *out, const char *text, int columns, int rows)
{
	size_t len = redraw_length(text, rows);

	redraw_clear(r, out, columns);
	buf_add(out, text, len);
	r->drawn = xstrndup(text, len);
}

void
redraw_fini(struct redraw *r)
{
	free(r->drawn);
	r->drawn = NULL;
}
