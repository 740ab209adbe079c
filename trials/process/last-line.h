/* What a trial wrote last, to say why it failed. */

#ifndef HPOTUNE_LAST_LINE_H
#define HPOTUNE_LAST_LINE_H

#include <stddef.h>

/*
 * The last line of a log of this path that says something: with a letter in it,
 * and no report with the tag "hpotune:".  Of a line that a progress bar has
 * overwritten it is the visible part.  Made harmless for a terminal and cut to
 * n bytes; "" when there is none in the last 8 KiB.
 */
void last_line_read(const char *path, char *out, size_t n);

#endif /* HPOTUNE_LAST_LINE_H */
