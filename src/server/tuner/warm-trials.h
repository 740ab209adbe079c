/* Adds the trials of other studies to the history, before our own. */

#ifndef HPOTUNE_WARM_TRIALS_H
#define HPOTUNE_WARM_TRIALS_H

struct err;
struct tuner;

/* Before any trial of our own. */
int warm_trials_load(struct tuner *, struct err *);

#endif /* HPOTUNE_WARM_TRIALS_H */
