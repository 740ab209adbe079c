/*
 * Whether a trial fits into memory: a regression of the peaks of earlier trials on
 * their settings, for searches that have seen a trial run out of memory.  The limit
 * is the largest peak that any trial had, so that it is of what is measured: the
 * memory of the largest process, or of a GPU.
 */

#ifndef HPOTUNE_MEMORY_MODEL_H
#define HPOTUNE_MEMORY_MODEL_H

#include <stdbool.h>

struct history;
struct memory_model;
struct space;

/* A trial is to fit with this probability. */
#define MEMORY_MODEL_LEAST 0.95

/*
 * NULL unless a trial ran out of memory and one with a known peak did not, and with
 * fewer than seven trials of which something is known.  The caller frees it; space must
 * outlive it.  Of more than 128 trials some old ones and the newest count.
 */
struct memory_model *
memory_model_new(const struct space *, const struct history *);
/*
 * The same, also where none ran out of memory: it tells what a trial needs.  NULL with
 * fewer than seven trials of which something is known, or when no peak is.
 */
struct memory_model *
memory_model_of_peaks(const struct space *, const struct history *);
void memory_model_free(struct memory_model *);
/*
 * The probability that a trial with this point (one number per parameter, snapped)
 * fits.  bytes: NULL, or receives the median of its peak.
 */
double memory_model_fits(
    const struct memory_model *, const double *point, double *bytes);
/* Whether that probability is MEMORY_MODEL_LEAST: faster where it is not. */
bool memory_model_allows(const struct memory_model *, const double *point);
/* The bytes that a trial with this point needs at most, with that probability. */
double memory_model_need(const struct memory_model *, const double *point);
/* The limit in bytes. */
double memory_model_limit(const struct memory_model *);

#endif /* HPOTUNE_MEMORY_MODEL_H */
