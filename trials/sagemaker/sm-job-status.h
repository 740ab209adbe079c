/* A job as DescribeTrainingJob returns it.  No input, no output. */

#ifndef HPOTUNE_SM_JOB_STATUS_H
#define HPOTUNE_SM_JOB_STATUS_H

#include <stdbool.h>

#include "trials/sagemaker/sm-bill.h"

struct json;
struct launch_exit;

enum sm_status {
	SM_IN_PROGRESS, /* also for unknown values */
	SM_STOPPING,
	SM_COMPLETED,
	SM_FAILED,
	SM_STOPPED,
	SM_DELETING
};

struct sm_job {
	enum sm_status status;
	char secondary[32];
	/*
	 * from our environment variable or, for an algorithm, from its output
	 * path; NULL = none
	 */
	const char *uuid;
	const char *type; /* NULL with groups */
	int instances; /* 0 = unknown */
	bool spot;
	bool trained; /* its container was started */
	int interruptions;
	double interrupted_s; /* last interruption, 0 = none */
	double created_s, started_s, ended_s; /* since 1970; 0 = unknown */
	double training_s, billable_s; /* NaN = unknown */
	struct sm_bill_meter meter;
	double since_s; /* start of the last phase; 0 = unknown */
	double idle_s; /* billed for its warm pool; NaN = unknown */
	const char *reason; /* FailureReason, "" = none */
	const char *model; /* URI of its artifacts; NULL = unknown */
};

/*
 * Seconds of a member, or since 1970; otherwise if it is no number from 0 to
 * the year 10000.
 */
double
sm_job_status_seconds(const struct json *, const char *key, double otherwise);
/* Texts are borrowed from the JSON. */
void sm_job_status_read(struct sm_job *, const struct json *);
enum sm_status sm_job_status_parse(const char *);
bool sm_job_status_over(enum sm_status);
/* Rank of a secondary status; it only grows during a job. */
int sm_job_status_rank(const char *);
/*
 * Fill in the end of a job. stop: we requested it.  The caller adds the cost.
 * False: ended with unknown result (it is being deleted).
 */
bool sm_job_status_end(struct launch_exit *, const struct sm_job *, bool stop);

#endif /* HPOTUNE_SM_JOB_STATUS_H */
