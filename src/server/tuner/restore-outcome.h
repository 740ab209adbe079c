/* Outcomes read back at a start. */

#ifndef HPOTUNE_RESTORE_OUTCOME_H
#define HPOTUNE_RESTORE_OUTCOME_H

#include <stdint.h>

#include "src/model/trial.h"

struct err;
struct live_trial;
struct tuner;

struct restored_outcomes;
/* Call after the trials were counted; free the result also after an error. */
int restore_outcomes_load(
    struct restored_outcomes **, struct tuner *, struct err *);
void restore_outcomes_free(struct restored_outcomes *);
/* outcome_ended for one that was read back. */
void restore_outcomes_ended(struct restored_outcomes *, int64_t trial,
    enum trial_state, double objective);
/* Load the last reports of a trial that has not ended. */
int restore_outcome_live(struct tuner *, struct live_trial *, struct err *);

#endif /* HPOTUNE_RESTORE_OUTCOME_H */
