/* The trialTemplate of an Experiment of Katib. */

#ifndef HPOTUNE_IMPORT_KATIB_TRIAL_H
#define HPOTUNE_IMPORT_KATIB_TRIAL_H

struct err;
struct import;

/* Write the trial; the root of im is the spec, whose parameters are written. */
int import_katib_trial_put(struct import *, struct err *);

#endif /* HPOTUNE_IMPORT_KATIB_TRIAL_H */
