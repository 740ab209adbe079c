/*
 * Frames of drawings: an SVG with a name, axes, ticks and their labels.  Knows
 * pages and axes; refuses to know what is drawn.
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
};

/* Set the edges, and where the axes run: within width x height. */
void chart_frame(struct chart *, double left);
/* Begin the drawing; name is what a reader who cannot see it is told. */
void chart_open(struct chart *, const char *name);
void chart_close(struct chart *);
/* Lines and labels of ticks on either axis, and what it shows (or NULL). */
void chart_x(struct chart *, const struct tick *, size_t n, const char *what);
void chart_y(struct chart *, const struct tick *, size_t n, const char *what);
/* A path with a class, whose d is taken away; nothing when it is empty. */
void chart_path(struct chart *, const char *class, struct buf *d);
/* The same of one mark that says what it is when it is pointed at. */
void chart_path_titled(
    struct chart *, const char *class, struct buf *d, const char *text);

enum chart_mark { MARK_DOT, MARK_RING, MARK_DIAMOND, MARK_CROSS, MARKS };

/* Class and form of marks: they differ by form, not by colour alone. */
const char *chart_mark_class(enum chart_mark);
/* Add a mark of this form at a place to the d of a path. */
void chart_mark_put(struct buf *d, enum chart_mark, double x, double y);
/* An entry of a legend: a square of 12 x 12, and what is drawn in it means. */
void chart_legend_open(struct chart *);
void chart_legend_close(struct chart *, const char *text);
/* The entry of a mark. */
void chart_legend(struct html *, enum chart_mark, const char *text);

#endif /* HPOTUNE_CHART_H */
