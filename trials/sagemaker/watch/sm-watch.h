/*
 * External watching, all optional: an EventBridge rule that sends every change
 * of a job to an SQS queue (only an acceleration; polling decides), an alarm
 * per job on idle GPUs, and metrics of the study in CloudWatch.
 */

#ifndef HPOTUNE_SM_WATCH_H
#define HPOTUNE_SM_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "trials/backend.h"

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
	/* A job has changed: describe it. */
	void (*changed)(void *arg, const char *job);
	void (*note)(void *arg, enum launch_level, const char *text);
	void *arg;
};

/*
 * Creates nothing before sm_watch_job, and nothing unless the settings ask for
 * it.  A failure is noted once.
 */
struct sm_watch;
struct sm_watch *sm_watch_new(const struct sm_watch_env *);
void sm_watch_free(struct sm_watch *);
/* A job starts to train; a job has ended. */
void sm_watch_job(struct sm_watch *, const char *job, const struct sm_plan *);
void sm_watch_ended(
    struct sm_watch *, const char *job, double billable_s, double cost);
/* A report of the objective. */
void sm_watch_report(struct sm_watch *, double value);
/* Number of running jobs. */
void sm_watch_running(struct sm_watch *, int jobs);
/*
 * Remove rule and queue: the study has no jobs left.  Runs a loop of its own,
 * for some seconds at most.
 */
void sm_watch_remove(const struct sm_watch_env *);

#endif /* HPOTUNE_SM_WATCH_H */
