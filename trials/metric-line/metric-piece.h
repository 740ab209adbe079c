/*
 * The walker of JSON: every reader of a part of it, of a line or of a file, finds
 * texts, numbers and values with these functions.  Each begins at p and looks at
 * no byte from end on; NULL: the bytes end within it, or are none.  Nothing
 * recurses, and nothing is stored but what the caller gives a place for.  NaN and
 * Infinity are numbers, as Python writes them.
 */

#ifndef HPOTUNE_METRIC_PIECE_H
#define HPOTUNE_METRIC_PIECE_H

#include <stddef.h>

struct metric_number;

enum { METRIC_PIECE_LEVELS = 16 }; /* nested values that are read as JSON */

/* A place for the bytes of a text; what does not fit is counted only. */
struct metric_piece_place {
	char *bytes;
	size_t room, len;
};

/* Behind blanks. */
const char *metric_piece_blank(const char *p, const char *end);
/* Behind blanks and commas. */
const char *metric_piece_next(const char *p, const char *end);
void metric_piece_put(struct metric_piece_place *, int byte);
/*
 * Behind the text whose first quote is at p.  With a place, its bytes are added
 * there as UTF-8, and a text that is no JSON is NULL; without one it ends at the
 * next quote that has no backslash, whatever else it contains.
 */
const char *
metric_piece_text(const char *p, const char *end, struct metric_piece_place *);
/* Behind the number, which is scanned. */
const char *
metric_piece_number(const char *p, const char *end, struct metric_number *);
/*
 * Behind the piece at p: a text, all between brackets, or a word.  What is
 * between is not looked at but for quotes and brackets.
 */
const char *metric_piece_end(const char *p, const char *end);
/*
 * Behind the value at p, which is JSON; levels, at most METRIC_PIECE_LEVELS: how
 * many values may be nested, this one included.
 */
const char *metric_piece_value(const char *p, const char *end, size_t levels);

#endif /* HPOTUNE_METRIC_PIECE_H */
