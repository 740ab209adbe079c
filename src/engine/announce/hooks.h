/*
 * Programs of the user that are run when a trial is the new best one, when one
 * has failed, and when the study has ended ("hooks").  They are started after
 * the commit, one at a time; the tuner never waits for them, and nothing of the
 * study depends on them.
 *
 * All functions take NULL for a study without hooks.
 */

#ifndef HPOTUNE_HOOKS_H
#define HPOTUNE_HOOKS_H

#include <stdbool.h>
#include <stdint.h>

struct announce_env;
struct announce_facts;
struct hooks;
struct store_trial;

/* NULL when the study has none.  Free it with hooks_free. */
struct hooks *hooks_new(const struct announce_env *);
/* A hook that runs is killed, hooks that wait are left out. */
void hooks_free(struct hooks *);
/*
 * In a turn: the best trial, 0 = none; ended: it does not go on.  The first one
 * is of an earlier server, and no news.
 */
void hooks_best(struct hooks *, int64_t trial, bool ended);
/* In a turn: the trial has failed for good. */
void hooks_trial_failed(struct hooks *, const struct store_trial *);
/* In the last turn: the study has ended. */
void hooks_end(struct hooks *, const struct announce_facts *);
/* After the commit: run the hooks that are due. */
void hooks_run(struct hooks *);
/* Whether a hook runs or waits. */
bool hooks_busy(const struct hooks *);

#endif /* HPOTUNE_HOOKS_H */
