/*
 * The figure as text: the elements of its charts are drawn into a grid of cells,
 * lines as the eight dots of a braille letter (U+2800), marks and areas as signs.
 */

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/base/text.h"
#include "src/figure/figure-internal.h"
#include "src/figure/figure.h"
#include "src/figure/path-walk.h"
#include "src/html/page-data.h"

/* A cell in the units of charts. */
#define CELL_WIDTH 6.2
#define CELL_HEIGHT 13.0

enum { ROWS = 400 /* at most */ };

struct cell {
	unsigned char dots; /* of a braille letter */
	char sign[5]; /* UTF-8; covers the dots; "" = none */
};

struct canvas {
	struct cell *cells;
	size_t rows, columns;
	bool utf8;
	double x, y; /* where the chart is */
};

/* The sign of a class of marks, lines and areas, in UTF-8 and ASCII. */
static const struct sign {
	const char *class;
	const char *utf8, *ascii;
	double x, y; /* of a mark: from its first point to its middle */
	enum { SIGN_MARK, SIGN_RUN, SIGN_AREA, SIGN_LINE } kind;
} signs[] = {
	{ "m dot small", "\xc2\xb7", ".", 0, 0, SIGN_MARK },
	{ "m dot", "\xe2\x80\xa2", "*", 0, 0, SIGN_MARK },
	{ "m ring", "\xe2\x97\x8b", "o", 3, 0, SIGN_MARK },
	{ "m held", "\xe2\x97\x8c", "@", 3, 0, SIGN_MARK },
	{ "m diamond", "\xe2\x97\x86", "d", 3, 0, SIGN_MARK },
	{ "m cross", "\xc3\x97", "x", 2.5, 2.5, SIGN_MARK },
	{ "pick", "\xe2\x97\x8e", "O", 3, 0, SIGN_MARK },
	{ "b-ok", "\xe2\x96\x88", "#", 0, 0, SIGN_RUN },
	{ "b-stop", "\xe2\x96\x92", "=", 0, 0, SIGN_RUN },
	{ "b-bad", "\xc3\x97", "x", 0, 0, SIGN_RUN },
	{ "b-run", "\xe2\x96\x91", ":", 0, 0, SIGN_RUN },
	{ "level k0", "", "", 0, 0, SIGN_AREA },
	{ "level k1", "\xc2\xb7", ".", 0, 0, SIGN_AREA },
	{ "level k2", "\xe2\x96\x91", ":", 0, 0, SIGN_AREA },
	{ "level k3", "\xe2\x96\x91", "-", 0, 0, SIGN_AREA },
	{ "level k4", "\xe2\x96\x92", "+", 0, 0, SIGN_AREA },
	{ "level k5", "\xe2\x96\x93", "%", 0, 0, SIGN_AREA },
	{ "level k6", "\xe2\x96\x88", "#", 0, 0, SIGN_AREA },
	{ "base", "\xe2\x94\x80", "-", 0, 0, SIGN_RUN },
	{ "axis", "\xe2\x94\x82", "|", 0, 0, SIGN_LINE },
	{ "axis aim", "\xe2\x94\x82", "|", 0, 0, SIGN_LINE },
};

static bool
piece_is(struct figure_piece p, const char *text)
{
	return strlen(text) == p.len && memcmp(p.text, text, p.len) == 0;
}

/* NULL: a line of dots. */
static const struct sign *sign_of(struct figure_piece class)
{
	size_t i;

	for (i = 0; i < sizeof signs / sizeof *signs; i++)
		if (piece_is(class, signs[i].class))
			return &signs[i];
	return NULL;
}

static struct cell *
cell_at(struct canvas *c, double column, double row)
{
	if (!(column >= 0 && row >= 0 && column < (double)c->columns &&
		row < (double)c->rows))
		return NULL;
	return &c->cells[(size_t)row * c->columns + (size_t)column];
}

static void
sign_put(struct canvas *c, double x, double y, const char *sign)
{
	struct cell *cell = cell_at(
	    c, floor((c->x + x) / CELL_WIDTH), floor((c->y + y) / CELL_HEIGHT));

	if (cell != NULL)
		memcpy(cell->sign, sign, strlen(sign) + 1);
}

static void
dot_put(struct canvas *c, double x, double y)
{
	static const unsigned char bits[4][2] = { { 0x01, 0x08 },
		{ 0x02, 0x10 }, { 0x04, 0x20 }, { 0x40, 0x80 } };
	double across = floor(2 * (c->x + x) / CELL_WIDTH);
	double down = floor(4 * (c->y + y) / CELL_HEIGHT);
	struct cell *cell = cell_at(c, floor(across / 2), floor(down / 4));

	if (cell != NULL)
		cell->dots |=
		    bits[(size_t)fmod(down, 4)][(size_t)fmod(across, 2)];
}

/* Points of the line that are half a dot apart. */
static void
line_put(struct canvas *c, struct path_point a, struct path_point b,
    const struct sign *sign)
{
	double n = fmax(fabs(b.x - a.x) / CELL_WIDTH * 4,
	    fabs(b.y - a.y) / CELL_HEIGHT * 8);
	double i, x, y;

	n = ceil(fmin(fmax(n, 1), 20000));
	for (i = 0; i <= n; i++) {
		x = a.x + (b.x - a.x) * i / n;
		y = a.y + (b.y - a.y) * i / n;
		if (sign == NULL)
			dot_put(c, x, y);
		else
			sign_put(c, x, y, c->utf8 ? sign->utf8 : sign->ascii);
	}
}

/* Each cell whose middle is in the area. */
static void
area_put(struct canvas *c, double x, double y, double wide, double high,
    const char *sign)
{
	/* Positions are rounded to tenths. */
	double right = c->x + x + wide + 0.1, below = c->y + y + high + 0.1;
	double column, row;

	for (row = fmax(0, floor((c->y + y) / CELL_HEIGHT)); row < ROWS;
	     row++) {
		if ((row + 0.5) * CELL_HEIGHT >= below)
			break;
		if ((row + 0.5) * CELL_HEIGHT < c->y + y)
			continue;
		for (column = fmax(0, ceil((c->x + x) / CELL_WIDTH - 0.5));
		     (column + 0.5) * CELL_WIDTH < right; column++) {
			struct cell *cell = cell_at(c, column, row);

			if (cell == NULL)
				break;
			memcpy(cell->sign, sign, strlen(sign) + 1);
		}
	}
}

static void
figure_text_path_put(
    struct canvas *c, struct figure_piece class, struct figure_piece d)
{
	const struct sign *sign = sign_of(class);
	const char *text = sign == NULL ? NULL
			   : c->utf8	? sign->utf8
					: sign->ascii;
	struct path_point from, corner = { 0, 0 };
	struct path_walk w;
	enum path_step step;

	path_walk_begin(&w, d.text, d.len);
	while ((step = path_walk_next(&w, &from)) != PATH_END) {
		if (step == PATH_MOVE)
			corner = w.now;
		if (sign == NULL && step == PATH_LINE)
			line_put(c, from, w.now, NULL);
		else if (sign == NULL)
			continue;
		else if (sign->kind == SIGN_MARK && step == PATH_MOVE) {
			/* A cross has a second stroke. */
			if (w.command == 'M')
				sign_put(c, w.now.x + sign->x,
				    w.now.y + sign->y, text);
		} else if (step == PATH_LINE &&
			   (sign->kind == SIGN_RUN || sign->kind == SIGN_LINE))
			line_put(c, from, w.now, sign);
		else if (sign->kind == SIGN_AREA && w.command == 'z') {
			/* hWIDTH v-HEIGHT h-WIDTH, from the lower corner. */
			area_put(c, corner.x, from.y, CELL_WIDTH, 1, text);
		} else if (sign->kind == SIGN_AREA && w.command == 'v')
			area_put(c, corner.x, w.now.y, w.now.x - corner.x,
			    corner.y - w.now.y, text);
	}
}

/* Append escaped text as it is meant. */
static void
plain_put(struct buf *out, struct figure_piece p)
{
	static const struct {
		const char *entity;
		char is;
	} entities[] = { { "&amp;", '&' }, { "&lt;", '<' }, { "&gt;", '>' },
		{ "&quot;", '"' } };
	size_t i, k;

	for (i = 0; i < p.len; i++) {
		for (k = 0; k < sizeof entities / sizeof *entities; k++)
			if (strncmp(p.text + i, entities[k].entity,
				strlen(entities[k].entity)) == 0)
				break;
		if (k == sizeof entities / sizeof *entities) {
			buf_putc(out, p.text[i]);
			continue;
		}
		buf_putc(out, entities[k].is);
		i += strlen(entities[k].entity) - 1;
	}
}

/* A label; its class says on which side of x it stands. */
static void
label_put(struct canvas *c, struct figure_piece class, double x, double y,
    const char *text)
{
	double width = (double)text_width(text);
	double column = (c->x + x) / CELL_WIDTH;
	size_t len;

	if (strncmp(class.text, "xt", 2) == 0)
		column -= width / 2;
	else if (strncmp(class.text, "yt", 2) == 0 ||
		 strncmp(class.text, "xn", 2) == 0 ||
		 strncmp(class.text, "at", 2) == 0)
		column -= width;
	column = fmax(0, floor(fmin(column, (double)c->columns - width) + 0.3));
	for (; *text != '\0'; text += len, column++) {
		struct cell *cell =
		    cell_at(c, column, floor((c->y + y - 4) / CELL_HEIGHT));

		for (len = 1; ((unsigned char)text[len] & 0xc0) == 0x80; len++)
			;
		if (cell == NULL || len >= sizeof cell->sign)
			continue;
		memcpy(cell->sign, text, len);
		cell->sign[len] = '\0';
	}
}

static double
number_of(const char *tag, const char *name)
{
	return strtod(figure_parts_attribute(tag, name).text, NULL);
}

static void
figure_text_tag(struct canvas *c, const char *tag)
{
	const char *end = strstr(tag, "</text>"), *from = end;
	struct buf text = { 0 };

	while (from != NULL && from > tag && from[-1] != '>')
		from--;
	if (from != NULL)
		plain_put(
		    &text, (struct figure_piece){ from, (size_t)(end - from) });
	label_put(c, figure_parts_attribute(tag, " class=\""),
	    number_of(tag, " x=\""), number_of(tag, " y=\""), buf_str(&text));
	buf_free(&text);
}

/* Lines first, then what covers them; labels last. */
static void
elements_put(struct canvas *c, struct figure_piece inner)
{
	const char *at, *end = inner.text + inner.len;
	int pass;

	for (pass = 0; pass < 2; pass++)
		for (at = inner.text;
		     (at = strchr(at, '<')) != NULL && at < end; at++) {
			struct figure_piece class =
			    figure_parts_attribute(at, " class=\"");

			if (piece_is(class, "grid"))
				continue;
			if (strncmp(at, "<path", 5) == 0 && pass == 0)
				figure_text_path_put(c, class,
				    figure_parts_attribute(at, " d=\""));
			else if (strncmp(at, "<rect", 5) == 0 && pass == 0 &&
				 piece_is(class, "bar"))
				area_put(c, number_of(at, " x=\""),
				    number_of(at, " y=\""),
				    number_of(at, " width=\""),
				    number_of(at, " height=\""),
				    c->utf8 ? "\xe2\x96\x88" : "#");
			else if (strncmp(at, "<text", 5) == 0 && pass == 1)
				figure_text_tag(c, at);
		}
}

/* The places of the charts, as in the figure's SVG; draw them when c has cells. */
static double
figure_text_charts_put(
    struct canvas *c, const struct figure_parts *p, double width)
{
	double high = 0;
	size_t i;

	c->x = c->y = 0;
	for (i = 0; i < p->n_charts; i++) {
		const struct figure_chart *chart = &p->charts[i];

		if (c->x > 0 && c->x + chart->width > width + 1) {
			c->x = 0;
			c->y += high;
			high = 0;
		}
		if (c->cells != NULL)
			elements_put(c, chart->inner);
		c->x += ceil(chart->width / CELL_WIDTH) * CELL_WIDTH;
		high =
		    fmax(high, ceil(chart->height / CELL_HEIGHT) * CELL_HEIGHT);
	}
	return c->y + high;
}

static void
dots_put(struct buf *out, const struct canvas *c, unsigned char dots)
{
	if (dots == 0)
		buf_putc(out, ' ');
	else if (!c->utf8)
		buf_putc(out, '.');
	else
		buf_printf(
		    out, "\xe2%c%c", 0xa0 | (dots >> 6), 0x80 | (dots & 0x3f));
}

/* The rows, without blanks at their ends. */
static void
canvas_put(struct buf *out, const struct canvas *c)
{
	size_t row, column, last;

	for (row = 0; row < c->rows; row++) {
		const struct cell *cells = c->cells + row * c->columns;

		for (last = c->columns; last > 0; last--)
			if (cells[last - 1].dots != 0 ||
			    strcmp(cells[last - 1].sign, "") != 0)
				break;
		for (column = 0; column < last; column++)
			if (cells[column].sign[0] != '\0')
				buf_puts(out, cells[column].sign);
			else
				dots_put(out, c, cells[column].dots);
		buf_putc(out, '\n');
	}
}

/* Words in lines of at most this many columns. */
static void
wrapped_put(struct buf *out, const char *text, int columns)
{
	size_t at = 0, len, wide;

	for (; *text != '\0'; text += len) {
		text += strspn(text, " \n");
		len = strcspn(text, " \n");
		if (len == 0)
			break;
		wide = text_width(text) - text_width(text + len);
		if (at > 0 && at + 1 + wide > (size_t)columns) {
			buf_putc(out, '\n');
			at = 0;
		} else if (at > 0) {
			buf_putc(out, ' ');
			at++;
		}
		buf_add(out, text, len);
		at += wide;
	}
	buf_putc(out, '\n');
}

static void
figure_text_keys_put(
    struct buf *out, const struct figure_parts *p, bool utf8, int columns)
{
	struct buf line = { 0 };
	size_t i;

	for (i = 0; i < p->n_keys; i++) {
		const struct figure_key *k = &p->keys[i];
		const struct sign *sign = NULL;

		if (k->inner.len > 0)
			sign = sign_of(
			    figure_parts_attribute(k->inner.text, " class=\""));
		if (sign != NULL)
			buf_printf(
			    &line, "%s ", utf8 ? sign->utf8 : sign->ascii);
		plain_put(&line, k->label);
		buf_puts(&line, i + 1 < p->n_keys ? ",\n" : "");
	}
	if (p->n_keys > 0)
		wrapped_put(out, buf_str(&line), columns);
	buf_free(&line);
}

int
figure_text(struct buf *out, struct page *page, const struct figure_kind *kind,
    int columns, bool utf8, struct err *e)
{
	struct canvas c = { .columns = (size_t)columns, .utf8 = utf8 };
	struct figure_parts parts;
	struct buf note = { 0 };
	double height;
	size_t i;

	page->width = (double)columns * CELL_WIDTH;
	page->coarse = true;
	if (figure_draw(&parts, page, kind, e) != 0)
		return -1;
	height = figure_text_charts_put(&c, &parts, page->width);
	c.rows = (size_t)fmin(ROWS, height / CELL_HEIGHT);
	c.cells = xcalloc(c.rows * c.columns + 1, sizeof *c.cells);
	(void)figure_text_charts_put(&c, &parts, page->width);
	canvas_put(out, &c);
	free(c.cells);
	figure_text_keys_put(out, &parts, utf8, columns);
	for (i = 0; i < parts.n_notes; i++) {
		buf_clear(&note);
		plain_put(&note, parts.notes[i]);
		wrapped_put(out, buf_str(&note), columns);
	}
	buf_free(&note);
	return 0;
}
