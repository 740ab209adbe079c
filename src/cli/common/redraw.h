/*
 * Text on a terminal that is drawn again and again in its own place, while the
 * terminal may change its size.  Pure: sizes are arguments, what the terminal
 * has to be told is appended to a buffer.
 */

#ifndef HPOTUNE_REDRAW_H
#define HPOTUNE_REDRAW_H

#include <stddef.h>

struct buf;

struct redraw {
	char *drawn; /* what stands on the terminal, NULL = nothing */
};

/* Columns and rows of standard output; 80 and 24 where nobody says. */
void redraw_size(int *columns, int *rows);
/*
 * Append what takes the text before away and leaves the cursor where it began.
 * Terminals break lines again that a new width is too small for, so the rows
 * to go up are counted at the width that the terminal has now.
 */
void redraw_clear(struct redraw *, struct buf *out, int columns);
/*
 * Bytes of the first lines of text, no more of them than leave a row for the
 * cursor: what has left the screen at its top cannot be taken away.
 */
size_t redraw_length(const char *text, int rows);
/*
 * Append what takes the text before away, and as much of text as redraw_length
 * says in its place: lines that end with newlines, cut to the width already.
 */
void redraw_text(
    struct redraw *, struct buf *out, const char *text, int columns, int rows);
void redraw_fini(struct redraw *);

#endif /* HPOTUNE_REDRAW_H */
