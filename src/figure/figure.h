/*
 * A chart of the page as a figure: an SVG file of its own, for papers, or text for a
 * terminal.
 */

#ifndef HPOTUNE_FIGURE_H
#define HPOTUNE_FIGURE_H

#include <stdbool.h>

struct buf;
struct err;
struct page;

struct figure_kind {
	const char *name; /* of the command line */
	const char *about;
	const struct page_section *section;
	const char *none; /* when there is nothing to draw */
};

/* All kinds; the last one has no name. */
extern const struct figure_kind figure_kinds[];
/* The kind of this name, or NULL. */
const struct figure_kind *figure_kind_find(const char *name);

/* Widths of charts in the units of charts, in which letters are 11 high. */
enum figure_width {
	FIGURE_ONE_COLUMN =
	    339, /* with its margins 89 mm; letters of 8 points */
	FIGURE_TWO_COLUMNS = 705 /* 183 mm */
};

/*
 * Append the figure, drawn as wide as the page says; *mm: its size.  ERR_USAGE
 * when the study has nothing to draw.
 */
int figure_svg(struct buf *, struct page *, const struct figure_kind *,
    double mm[2], struct err *);
/*
 * Append the same as text of at most this many columns.  utf8: with signs beyond
 * ASCII.
 */
int figure_text(struct buf *, struct page *, const struct figure_kind *,
    int columns, bool utf8, struct err *);

#endif /* HPOTUNE_FIGURE_H */
