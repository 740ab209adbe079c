/* Notes for the user on the curves that a replay reads. */

#ifndef HPOTUNE_CURVE_NOTES_H
#define HPOTUNE_CURVE_NOTES_H

#include <stdbool.h>
#include <stddef.h>

struct buf;
struct curve_file;

/* Fewer curves decide nothing about how often a best trial is lost. */
enum { CURVES_FEW = 20 };

/*
 * Append a line for each: few curves, results that are all equal or not finite,
 * and trials of which most end before half of the greatest step.
 */
void curve_notes_put(
    struct buf *, const struct curve_file *, bool maximize, const char *path);
/* The first of them, for a study with this number of trials. */
void curve_notes_put_few(struct buf *, size_t trials, const char *path);
/* A line for a study of trials with one report each. */
void curve_notes_put_single(
    struct buf *, size_t trials, size_t reports, const char *path);

#endif /* HPOTUNE_CURVE_NOTES_H */
