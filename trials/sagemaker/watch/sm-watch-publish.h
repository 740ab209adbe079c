/* Metrics of the study in CloudWatch. */

#ifndef HPOTUNE_SM_WATCH_PUBLISH_H
#define HPOTUNE_SM_WATCH_PUBLISH_H

struct sm_watch;

void sm_watch_publish(struct sm_watch *);

#endif /* HPOTUNE_SM_WATCH_PUBLISH_H */
