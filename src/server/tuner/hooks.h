/*
 * Programs of the user that are run when a trial is the new best one, when one
 * has failed, and when the study has ended ("hooks").  They are started after
 * the commit, one at a time; the tuner never waits for them, and nothing of the
 * study depends on them.
 */

#ifndef HPOTUNE_HOOKS_H
#define HPOTUNE_HOOKS_H

#include <stdbool.h>

struct hooks;
struct live_trial;
struct tuner;

/* NULL when the study has none, or the tuner starts nothing. */
struct hooks *hooks_new(struct tuner *);
/* One that runs is killed, those that wait are left out. */
void hooks_free(struct hooks *);
/* In a turn: look for a new best trial. */
void hooks_settle(struct tuner *);
/* In a turn: the trial has failed for good. */
void hooks_trial_failed(struct tuner *, const struct live_trial *);
/* In the last turn: the study has ended. */
void hooks_end(struct tuner *);
/* After the commit. */
void hooks_run(struct tuner *);
/* Whether one runs or waits. */
bool hooks_busy(const struct tuner *);

#endif /* HPOTUNE_HOOKS_H */
