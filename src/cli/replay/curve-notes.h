/* Notes on curves whose figures would have no meaning. */

#ifndef HPOTUNE_CURVE_NOTES_H
#define HPOTUNE_CURVE_NOTES_H

#include <stdbool.h>
#include <stddef.h>

struct buf;
struct curve_file;

/* Append that a file has few trials; 0: it is not known how many. */
void curve_notes_put_few(struct buf *notes, size_t trials, const char *path);

/* Append that trials have one report each, where no rule can save any. */
void curve_notes_put_single(
    struct buf *notes, size_t trials, size_t reports, const char *path);

/*
 * Append a line for each: few curves, results that are all equal or not finite,
 * and trials of which most end before half of the greatest step.
 */
void curve_notes_put(struct buf *notes, const struct curve_file *,
    bool maximize, const char *path);

#endif /* HPOTUNE_CURVE_NOTES_H */
