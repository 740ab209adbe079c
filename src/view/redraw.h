/*
 * Text on a terminal that is redrawn in place, while the terminal may change
 * its size.  No I/O: sizes are arguments, output is appended to a buffer.
 */

#ifndef HPOTUNE_REDRAW_H
#define HPOTUNE_REDRAW_H

#include <stddef.h>

struct buf;

struct redraw {
	char *drawn; /* what the terminal shows, NULL = nothing */
};

/* Columns and rows of standard output; 80 and 24 when unknown. */
void redraw_size(int *columns, int *rows);
/*
 * Append sequences that erase the earlier text and leave the cursor at its
 * start.  Terminals rewrap lines to a new width, so the rows to go up are
 * counted at the current width.
 */
void redraw_clear(struct redraw *, struct buf *out, int columns);
/*
 * Bytes of the first lines of text that fit into rows less one for the cursor:
 * lines that scrolled off the top could not be erased.
 */
size_t redraw_length(const char *text, int rows);
/*
 * Append sequences that replace the earlier text by the part of text that
 * redraw_length allows: lines ended by newlines, cut to the width already.
 */
void redraw_text(
    struct redraw *, struct buf *out, const char *text, int columns, int rows);
void redraw_fini(struct redraw *);

#endif /* HPOTUNE_REDRAW_H */
