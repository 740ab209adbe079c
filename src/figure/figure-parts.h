/*
 * The parts of a section of the page (src/html) that a figure is made of: its
 * charts, the entries of its legend and its notes.
 */

#ifndef HPOTUNE_FIGURE_PARTS_H
#define HPOTUNE_FIGURE_PARTS_H

#include <stddef.h>

enum { FIGURE_CHARTS = 24, FIGURE_KEYS = 24, FIGURE_NOTES = 24 }; /* at most */

/* A piece of the section's text, borrowed. */
struct figure_piece {
	const char *text;
	size_t len;
};

struct figure_chart {
	struct figure_piece inner; /* what its svg contains */
	struct figure_piece name; /* for readers who do not see it */
	double width, height;
};

struct figure_key {
	struct figure_piece inner; /* of a square of 12 x 12; empty = none */
	struct figure_piece label;
};

struct figure_parts {
	struct figure_chart charts[FIGURE_CHARTS];
	size_t n_charts;
	struct figure_key keys[FIGURE_KEYS];
	size_t n_keys;
	struct figure_piece notes[FIGURE_NOTES];
	size_t n_notes;
};

/* Find them in the text of sections, which must outlive them. */
void figure_parts_find(struct figure_parts *, const char *text);
/*
 * The value of an attribute of the start tag, or an empty piece.  name: with a
 * blank before it, an equals sign and a quote behind (" class=\"").
 */
struct figure_piece figure_parts_attribute(const char *tag, const char *name);

#endif /* HPOTUNE_FIGURE_PARTS_H */
