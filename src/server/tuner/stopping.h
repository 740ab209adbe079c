/* Stopping by rules. */

#ifndef HPOTUNE_STOPPING_H
#define HPOTUNE_STOPPING_H

#include <stdint.h>

struct judgement;
struct live_trial;
struct tuner;

/* Ask the rules about a report that is recorded. */
void stopping_judge(struct tuner *, struct live_trial *, int64_t step);
/*
 * All available reports are read: execute a verdict that ends the trial, unless
 * all its steps are done already.
 */
void stopping_settle(struct tuner *, struct live_trial *);
/* A verdict came too late: it is kept as information. */
void stopping_verdict_late(struct tuner *, struct live_trial *);
/* Record what a rule said at this step; verdict: as in view stops. */
void stopping_record(struct tuner *, const struct live_trial *, int64_t step,
    const struct judgement *, const char *verdict);

#endif /* HPOTUNE_STOPPING_H */
