/* Reports, and stopping by rules. */

#ifndef HPOTUNE_STOPPING_H
#define HPOTUNE_STOPPING_H

#include <stdint.h>

#include "src/store/store.h"

struct judgement;
struct launch_event;
struct live_trial;
struct tuner;

/*
 * All available reports are read: execute a verdict that ends the trial, unless
 * all its steps are done already.
 */
void stopping_settle(struct tuner *, struct live_trial *);
/* A verdict came too late: it is kept as information. */
void stopping_verdict_late(struct tuner *, struct live_trial *);
/* Record the judgement of a rule at this step. */
void stopping_record(struct tuner *, const struct live_trial *, int64_t step,
    const struct judgement *, enum store_verdict);
/* Record a report (LAUNCH_REPORT) of any metric, and ask the rules about it. */
void stopping_report(
    struct tuner *, struct live_trial *, const struct launch_event *);
/*
 * The last attempt of a trial has ended, and all its reports are read: when
 * steps per second are an aim and were never reported, compute them and record
 * them as a report of its last step.
 */
void stopping_add_speed(struct tuner *, struct live_trial *);

/*
 * Trials that have reported all their steps and do not end, such as a deadlock
 * while an interpreter is torn down.  A program may work on after its last step,
 * so only one that does nothing at all is stopped; it is completed.  Once in each
 * turn, after its reports.
 */
void stopping_look_hangs(struct tuner *);

#endif /* HPOTUNE_STOPPING_H */
