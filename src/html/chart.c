/* Writes frames, ticks and marks as SVG. */

#include <math.h>

#include "src/base/mem.h"
#include "src/base/text.h"
#include "src/html/chart.h"
#include "src/html/html.h"
#include "src/html/decimate.h"

#define BELOW 34 /* height for the labels and the name of the x axis */
#define ABOVE 20
#define BESIDE 12
#define HALF_LETTER 3.5 /* of a letter of 11 units */

void
chart_frame(struct chart *c, double left)
{
	c->left = left;
	c->right = c->width - BESIDE;
	c->top = ABOVE;
	c->bottom = c->height - BELOW;
	c->x.from = c->left;
	c->x.to = c->right;
	c->y.from = c->bottom;
	c->y.to = c->top;
}

static void
chart_scale_put(struct chart *c, const char *attribute, const char *name,
    double low, double high, const struct axis *a)
{
	html_attrf(c->h, attribute, "%.12g %.12g %.1f %.1f %s", low, high,
	    a->from, a->to, name);
}

static void
axis_put(struct chart *c, const char *attribute, const struct axis *a)
{
	chart_scale_put(c, attribute, a->kind == AXIS_LOG ? "log" : "linear",
	    a->low, a->high, a);
}

/* Where the values of both axes are, for a script. */
static void
zoom_put(struct chart *c)
{
	html_attr(c->h, "data-zoom", c->zoom);
	if (c->scale != NULL)
		chart_scale_put(c, "data-x", c->scale->name, c->scale->low,
		    c->scale->high, &c->x);
	else {
		axis_put(c, "data-x", &c->x);
		axis_put(c, "data-y", &c->y);
	}
}

void
chart_clip_open(struct chart *c, const char *id)
{
	struct html *h = c->h;

	if (!c->x.open && !c->y.open)
		return;
	html_open(h, "clipPath");
	html_attr(h, "id", id);
	html_open(h, "rect");
	html_attrf(h, "x", "%.1f", c->left);
	html_attrf(h, "y", "%.1f", c->top);
	html_attrf(h, "width", "%.1f", c->right - c->left);
	html_attrf(h, "height", "%.1f", c->bottom - c->top);
	html_close(h, "rect");
	html_close(h, "clipPath");
	html_open(h, "g");
	html_attrf(h, "clip-path", "url(#%s)", id);
}

void
chart_clip_close(struct chart *c)
{
	if (c->x.open || c->y.open)
		html_close(c->h, "g");
}

void
chart_open(struct chart *c, const char *name)
{
	html_open(c->h, "svg");
	html_attr(c->h, "xmlns", "http://www.w3.org/2000/svg");
	html_attrf(c->h, "viewBox", "0 0 %g %g", c->width, c->height);
	html_attr(c->h, "role", "img");
	html_attr(c->h, "aria-label", name);
	if (c->zoom != NULL)
		zoom_put(c);
	html_leaf(c->h, "title", NULL, name);
}

void
chart_close(struct chart *c)
{
	html_close(c->h, "svg");
}

static void
label(struct chart *c, const char *class, double x, double y, const char *text)
{
	html_open(c->h, "text");
	html_attr(c->h, "class", class);
	html_attrf(c->h, "x", "%.1f", x);
	html_attrf(c->h, "y", "%.1f", y);
	html_text(c->h, text);
	html_close(c->h, "text");
}

static void
rule(struct buf *d, double x, double y, char way, double length)
{
	buf_putc(d, 'M');
	decimate_put(d, x);
	buf_putc(d, ' ');
	decimate_put(d, y);
	buf_putc(d, way);
	decimate_put(d, length);
}

void
chart_x(struct chart *c, const struct tick *ticks, size_t n, const char *what)
{
	struct buf grid = { 0 }, base = { 0 };
	size_t i;

	for (i = 0; i < n; i++)
		rule(&grid, ticks[i].at, c->top, 'v', c->bottom - c->top);
	rule(&base, c->left, c->bottom, 'h', c->right - c->left);
	chart_path(c, "grid", &grid);
	chart_path(c, "base", &base);
	for (i = 0; i < n; i++)
		label(c, "xt",
		    fmin(ticks[i].at,
			c->width -
			    HALF_LETTER * (double)text_width(ticks[i].label)),
		    c->bottom + 14, ticks[i].label);
	if (what != NULL)
		label(c, "xn", c->right, c->bottom + 29, what);
}

void
chart_y(struct chart *c, const struct tick *ticks, size_t n, const char *what)
{
	struct buf grid = { 0 };
	size_t i;

	for (i = 0; i < n; i++)
		rule(&grid, c->left, ticks[i].at, 'h', c->right - c->left);
	chart_path(c, "grid", &grid);
	for (i = 0; i < n; i++)
		label(c, "yt", c->left - 6, ticks[i].at + 3.5, ticks[i].label);
	if (what != NULL)
		label(c, "yn", 0, 9, what);
}

static void
path_open(struct chart *c, const char *class, struct buf *d)
{
	html_open(c->h, "path");
	html_attr(c->h, "class", class);
	html_attr(c->h, "d", buf_str(d));
	buf_free(d);
}

void
chart_path(struct chart *c, const char *class, struct buf *d)
{
	if (d->len == 0)
		return;
	path_open(c, class, d);
	html_close(c->h, "path");
}

void
chart_path_titled(
    struct chart *c, const char *class, struct buf *d, const char *text)
{
	path_open(c, class, d);
	html_leaf(c->h, "title", NULL, text);
	html_close(c->h, "path");
}

void
chart_path_trials(
    struct chart *c, const char *class, struct buf *d, struct buf *trials)
{
	if (d->len > 0) {
		path_open(c, class, d);
		html_attr(c->h, "data-trials", buf_str(trials));
		html_close(c->h, "path");
	}
	buf_free(trials);
}

static const struct {
	const char *class;
	double x, y; /* of its first point */
	const char *d; /* the rest, from there */
} marks[MARKS] = {
	/*
	 * The line of the mark has a length: without one some printers do not
	 * draw it round.
	 */
	[MARK_DOT] = { "m dot", 0, 0, "h0.01" },
	[MARK_RING] = { "m ring", -3, 0, "a3 3 0 1 0 6 0a3 3 0 1 0-6 0" },
	[MARK_DIAMOND] = { "m diamond", -3, 0, "l3-3 3 3-3 3z" },
	[MARK_CROSS] = { "m cross", -2.5, -2.5, "l5 5m0-5l-5 5" },
};

const char *
chart_mark_class(enum chart_mark mark)
{
	return marks[mark].class;
}

void
chart_mark_put(struct buf *d, enum chart_mark mark, double x, double y)
{
	buf_putc(d, 'M');
	decimate_put(d, x + marks[mark].x);
	buf_putc(d, ' ');
	decimate_put(d, y + marks[mark].y);
	buf_puts(d, marks[mark].d);
}

void
chart_legend_open(struct chart *c)
{
	html_open(c->h, "span");
	html_attr(c->h, "class", "key");
	html_open(c->h, "svg");
	html_attr(c->h, "xmlns", "http://www.w3.org/2000/svg");
	html_attr(c->h, "viewBox", "0 0 12 12");
	html_attr(c->h, "aria-hidden", "true");
}

void
chart_legend_close(struct chart *c, const char *text)
{
	html_close(c->h, "svg");
	html_text(c->h, text);
	html_close(c->h, "span");
}
