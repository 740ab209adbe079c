/* Checkpoints that do not reach S3. */

#ifndef HPOTUNE_SM_CHECKPOINT_WATCH_H
#define HPOTUNE_SM_CHECKPOINT_WATCH_H

struct sm_attempt;

/* Look at the checkpoints of all attempts that reported. */
void sm_checkpoint_watch_poll(void *arg);
/* An attempt has reported. */
void sm_checkpoint_watch_report(struct sm_attempt *);

#endif /* HPOTUNE_SM_CHECKPOINT_WATCH_H */
