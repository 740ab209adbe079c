/*
 * Charts as SVG: a frame with a name, axes, ticks and their labels.  The caller
 * adds the data.
 */

#ifndef HPOTUNE_CHART_H
#define HPOTUNE_CHART_H

#include <stddef.h>

#include "src/html/axis.h"

struct buf;
struct html;

struct chart {
	struct html *h;
	double width, height; /* of the whole drawing, in its own units */
	double left, right, top, bottom; /* edges of the frame */
	struct axis x, y;
	/*
	 * For charts a range of which can be chosen, or NULL: the first word of
	 * the names of its ranges in an address ("curves": curves.x, curves.y).
	 */
	const char *zoom;
	/* What the ends of the x axis mean, when x is not of the values. */
	const struct chart_scale *scale; /* NULL = as x and y say */
};

/* The values at the ends of an axis. */
struct chart_scale {
	const char *name; /* linear, log, reverse-log */
	double low, high;
};

/* Set the edges and the positions of both axes, within width x height. */
void chart_frame(struct chart *, double left);
/*
 * Open the chart; name is its description for screen readers.  zoom and scale
 * become attributes, for scripts.
 */
void chart_open(struct chart *, const char *name);
void chart_close(struct chart *);
/*
 * Open the group of what is cut at the frame, and close it; nothing when no axis
 * is open.  id: one of the page.
 */
void chart_clip_open(struct chart *, const char *id);
void chart_clip_close(struct chart *);
/*
 * Lines and labels of the ticks of either axis, and the name of the axis (or
 * NULL).
 */
void chart_x(struct chart *, const struct tick *, size_t n, const char *what);
void chart_y(struct chart *, const struct tick *, size_t n, const char *what);
/*
 * A path with a class; takes the text from d.  Nothing is written when it is
 * empty.
 */
void chart_path(struct chart *, const char *class, struct buf *d);
/* The same for one mark with a tooltip. */
void chart_path_titled(
    struct chart *, const char *class, struct buf *d, const char *text);
/*
 * The same for marks of many trials: trials names them, "1 5 8", in the order
 * of the marks in d; both texts are taken.
 */
void chart_path_trials(
    struct chart *, const char *class, struct buf *d, struct buf *trials);

enum chart_mark { MARK_DOT, MARK_RING, MARK_DIAMOND, MARK_CROSS, MARKS };

/* Class and shape of marks: they differ by shape, not by colour alone. */
const char *chart_mark_class(enum chart_mark);
/* Append a mark of this shape at a position to the d of a path. */
void chart_mark_put(struct buf *d, enum chart_mark, double x, double y);
/* Open an entry of a legend: a square of 12 x 12, for the caller to draw in. */
void chart_legend_open(struct chart *);
void chart_legend_close(struct chart *, const char *text);

#endif /* HPOTUNE_CHART_H */
