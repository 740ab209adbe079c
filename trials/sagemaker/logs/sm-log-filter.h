/* The sweep over all streams of a study. */

#ifndef HPOTUNE_SM_LOG_FILTER_H
#define HPOTUNE_SM_LOG_FILTER_H

struct sm_log;
struct sm_logs;

/* From where the slowest of the followed jobs has been read to. */
void sm_log_filter_start(struct sm_logs *);
/* Add a job: the next sweep starts where its stream was read to. */
void sm_log_filter_join(struct sm_logs *, const struct sm_log *);
void sm_log_filter_stop(struct sm_logs *);

#endif /* HPOTUNE_SM_LOG_FILTER_H */
