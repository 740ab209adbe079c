/*
 * Drawing no more than can be seen: marks of which one stands for all that lie
 * on it, lines with two points a column.  So a drawing has a bounded size,
 * however much it shows.  Numbers and the text of paths; knows no page.
 */

#ifndef HPOTUNE_DECIMATE_H
#define HPOTUNE_DECIMATE_H

#include <stdbool.h>
#include <stddef.h>

struct buf;

/* Squares of which each takes one mark. */
struct decimate {
	unsigned char *taken;
	size_t columns, rows;
	double size; /* of a square */
};

/* For a drawing of width x height. */
void decimate_init(struct decimate *, double width, double height, double size);
void decimate_fini(struct decimate *);
/* Whether a mark here is the first of its square; outside is at the edge. */
bool decimate_take(struct decimate *, double x, double y);

/* A line from left to right, as the d of a path. */
struct decimate_line {
	struct buf *d;
	double column; /* width: of points within it the lowest, highest and
			* last one count */
	size_t drawn; /* points since the pen came down */
	size_t n; /* points of this column */
	double start; /* of the column */
	double x[3], y[3]; /* lowest, highest, last */
	size_t order[2]; /* when lowest and highest came */
};

/* x ascends; a y that is not finite interrupts the line. */
void decimate_line_add(struct decimate_line *, double x, double y);
void decimate_line_end(struct decimate_line *);
/* A coordinate, in tenths. */
void decimate_put(struct buf *, double);

#endif /* HPOTUNE_DECIMATE_H */
