/* What the limits of a study, its results and its user allow. */

#ifndef HPOTUNE_LIMITS_H
#define HPOTUNE_LIMITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct caller;
struct tuner;

/* The greatest number of trials, and which limit sets it; 0 = none. */
int64_t limits_trials_max(const struct tuner *, const char **name);
/* Whether a result ended the study, and the reason: a clause. */
bool limits_result(const struct tuner *, bool *failed, char *why, size_t n);
/* Whether the search had converged at the latest check. */
bool limits_converged(const struct tuner *);
/*
 * Whether second looks may begin.  They are also given when the search has
 * ended by limits.no_improvement or limits.convergence: a trial that becomes the
 * best in its second look lets the search go on.
 */
bool limits_allow_look(const struct tuner *);
/* Whether paused trials may be resumed. */
bool limits_allow_resume(const struct tuner *);
/*
 * Whether a new trial may be placed.  With limits.completed not, either, while
 * the trials that run or wait may be all that are needed.
 */
bool limits_allow_new(const struct tuner *);
/*
 * Whether the search is over: no new trial may follow, however those that run
 * end.
 */
bool limits_search_over(const struct tuner *);
/* Whether as many trials have completed as limits.completed wants. */
bool limits_completed(const struct tuner *);
/* Why nothing is left to try, when the suggestions are exhausted: a clause. */
void limits_exhausted_text(const struct tuner *, char *text, size_t n);
/*
 * GPU seconds of all attempts until now; rate: how many more in a second.  Only
 * with limits.gpu_hours, else 0.
 */
double limits_gpu_seconds(const struct tuner *, double *rate);
/*
 * Whether a result, or a limit other than the number of trials, prevents new
 * trials, and which: a clause.
 */
bool limits_reached(const struct tuner *, char *why, size_t n);
/*
 * Whether a limit or a result ends the study with the trials that wait, if fewer
 * of those that failed had not failed; which: a clause.
 */
bool
limits_end_waiting(const struct tuner *, int64_t fewer, char *why, size_t n);
/*
 * Whether a cap of the caller forbids another trial, or so many that are to wait,
 * and which: a clause.  Never for a caller that is NULL.
 */
bool limits_capped(const struct tuner *, const struct caller *, int64_t waits,
    char *why, size_t n);
/* Whether no trial can be asked for now, and why: a clause. */
bool limits_block_new(const struct tuner *, char *why, size_t n);

/*
 * When the study is likely to end at the pace of the trials that have ended, in
 * microseconds since 1970; 0 = not known: fewer than three have ended, or no limit
 * tells how many there will be.
 */
int64_t limits_end_us(const struct tuner *);

/* Whether no trial works, and none is to be started: a clause. */
bool limits_hopeless(const struct tuner *, char *why, size_t n);

/* Trials that limits count: all but those of contests. */
int64_t limits_trials(const struct tuner *);
/* Whether objective.target is reached: a clause. */
bool limits_target(const struct tuner *, char *why, size_t n);

#endif /* HPOTUNE_LIMITS_H */
