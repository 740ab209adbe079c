/* Log lines of trials: their settings, their results and the best so far. */

#ifndef HPOTUNE_TRIAL_LOG_H
#define HPOTUNE_TRIAL_LOG_H

#include <stdint.h>

struct store_trial;

/* Log that a trial's state has changed; for its end see below. */
void trial_log_moved(const struct store_trial *);
/*
 * Log that a trial has ended.  metric is the objective; best and best_trial are
 * the best result so far and its trial, 0 = none.
 */
void trial_log_ended(const struct store_trial *, const char *metric,
    double best, int64_t best_trial);

#endif /* HPOTUNE_TRIAL_LOG_H */
