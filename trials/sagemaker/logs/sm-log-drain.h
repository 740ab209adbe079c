/* The rest of a log, after its job has ended. */

#ifndef HPOTUNE_SM_LOG_DRAIN_H
#define HPOTUNE_SM_LOG_DRAIN_H

struct sm_log;

/* Begin, and the next poll or pass, at the time of its timer. */
void sm_log_drain(struct sm_log *);
void sm_log_drain_pass(struct sm_log *);

#endif /* HPOTUNE_SM_LOG_DRAIN_H */
