/* An alarm on idle GPUs for each job. */

#ifndef HPOTUNE_SM_WATCH_ALARM_H
#define HPOTUNE_SM_WATCH_ALARM_H

struct sm_plan;
struct sm_watch;

void
sm_watch_alarm_make(struct sm_watch *, const char *job, const struct sm_plan *);
void sm_watch_alarm_remove(struct sm_watch *, const char *job);
/* Remove all alarms of the study; done is called when all answers have come. */
void sm_watch_alarm_remove_all(
    struct sm_watch *, void (*done)(void *arg), void *arg);

#endif /* HPOTUNE_SM_WATCH_ALARM_H */
