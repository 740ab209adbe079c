/*
 * Decimation: drop marks and points that fall on the same pixels, so that an
 * SVG has bounded size.  Marks: one per square; lines: at most three points per
 * column.
 */

#ifndef HPOTUNE_DECIMATE_H
#define HPOTUNE_DECIMATE_H

#include <stdbool.h>
#include <stddef.h>

struct buf;

/* Squares that take one mark each. */
struct decimate {
	unsigned char *taken;
	size_t columns, rows;
	double size; /* edge length of a square */
};

/* For a chart of width x height. */
void decimate_init(struct decimate *, double width, double height, double size);
void decimate_fini(struct decimate *);
/*
 * Whether a mark here is the first in its square; positions outside are clamped
 * to the edge.
 */
bool decimate_take(struct decimate *, double x, double y);

/* A line from left to right, as the d of a path. */
struct decimate_line {
	struct buf *d;
	double column; /* width; at most three points are drawn in it */
	size_t drawn; /* points drawn since the line last started */
	size_t n; /* points of this column */
	double start; /* of the column */
	double x[3], y[3]; /* lowest, highest, last */
	size_t order[2]; /* order in which lowest and highest came */
};

/* Add a point; x ascends; a y that is not finite interrupts the line. */
void decimate_line_add(struct decimate_line *, double x, double y);
void decimate_line_end(struct decimate_line *);
/* Append a coordinate with one decimal. */
void decimate_put(struct buf *, double);

#endif /* HPOTUNE_DECIMATE_H */
