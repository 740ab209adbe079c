/* How long trials took, for strategies that depend on it. */

#ifndef HPOTUNE_DURATIONS_H
#define HPOTUNE_DURATIONS_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct history;
struct store;
struct study_limits;

/*
 * Record in the history the seconds that each completed or stopped trial takes:
 * those of its ended attempts and, of one that a rule stopped, as many for each
 * step that it skipped as for one that it ran.  With settings the history is of
 * settings, and the seconds are the mean of their replicates.
 */
int
durations_load(struct history *, struct store *, bool settings, struct err *);
/*
 * The share of limits.wall_time, for this many trials at a time, or of
 * limits.gpu_hours that ended trials have used: the larger one, 0 to 1; 0 when
 * neither is given.
 */
int durations_used(double *share, struct store *, const struct study_limits *,
    int64_t parallel, struct err *);

#endif /* HPOTUNE_DURATIONS_H */
