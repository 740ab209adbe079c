/*
 * Watching from outside, all on request: an EventBridge rule that tells an SQS
 * queue of every change of a job (an accelerator; the poller stays the truth),
 * an alarm per job on idle GPUs, and metrics of the study in CloudWatch.
 */

#ifndef HPOTUNE_SM_WATCH_H
#define HPOTUNE_SM_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "trials/launcher.h"

struct aws;
struct loop;
struct sm_plan;
struct sm_settings;

struct sm_watch_env {
	struct loop *loop;
	struct aws *aws;
	const struct sm_settings *settings;
	const char *prefix; /* of job names, of the rule and of the queue */
	const char *study;
	bool maximize;
	/* A job has changed: have a look at it. */
	void (*changed)(void *arg, const char *job);
	void (*note)(void *arg, enum launch_level, const char *text);
	void *arg;
};

/*
 * Nothing is made before sm_watch_job, and nothing at all unless the settings
 * ask for it.  What goes wrong is noted once and left alone.
 */
struct sm_watch;
struct sm_watch *sm_watch_new(const struct sm_watch_env *);
void sm_watch_free(struct sm_watch *);
/* A job trains from now on; or: its end was heard. */
void sm_watch_job(struct sm_watch *, const char *job, const struct sm_plan *);
void sm_watch_ended(
    struct sm_watch *, const char *job, double billable_s, double cost);
/* A report of the objective. */
void sm_watch_report(struct sm_watch *, double value);
/* How many jobs hold a slot now. */
void sm_watch_running(struct sm_watch *, int jobs);
/*
 * Remove rule and queue: the study has no job any more.  Asks on a loop of its
 * own, for some seconds at most.
 */
void sm_watch_remove(const struct sm_watch_env *);

#endif /* HPOTUNE_SM_WATCH_H */
